/* SPDX-License-Identifier: Apache-2.0 */
/* The serving loop, a program that knows nothing of the emulator, in strict mode. test_serving PROGRAM BUNDLE LIBRARY. */
#include <string.h>

#include "support.h"

static const char *program, *bundle, *library;

static void a_serving_loop_relies_on_no_luck(void **state) {
  (void)state;
  const char *const env[] = {"FRONT_EMU_STRICT=1", "FRONT_EMU_SEED=11", "FRONT_EMU_L2=probed", NULL};
  struct outcome o = run_argv((const char *const[]){program, bundle, "1", library, NULL}, &(struct run_options){.env = env});
  assert_code(&o, 0);
  assert_non_null(strstr(o.out, "1 steps of 4 layers"));
  assert_string_equal(o.err, "");
  outcome_free(&o);
}

static void a_policy_that_there_is_not_fails_its_launches(void **state) {
  (void)state;
  const char *const env[] = {"FRONT_EMU_STRICT=1", "FRONT_EMU_L2=warm", NULL};
  struct outcome o = run_argv((const char *const[]){program, bundle, "1", library, NULL}, &(struct run_options){.env = env});
  assert_int_not_equal(o.code, 0);
  assert_non_null(strstr(o.err, "FRONT_EMU_L2"));
  assert_non_null(strstr(o.err, "warm"));
  outcome_free(&o);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  program = argv[1];
  bundle = argv[2];
  library = argv[3];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_serving_loop_relies_on_no_luck),
      cmocka_unit_test(a_policy_that_there_is_not_fails_its_launches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
