/* SPDX-License-Identifier: Apache-2.0 */
/* frontrun --device gpu on a machine that has none it can use: one line that says why, exit code 3, and never the emulator. */
#include "support.h"

#include <stdio.h>
#include <string.h>

static const char *object;

/* `env`: null-terminated. */
static void expect(const char *device, const char *const env[], const char *const words[]) {
  const struct run_options options = {.env = env};
  struct outcome o = run_argv((const char *const[]){built_path("frontrun/frontrun"), object, "--device", device, NULL}, &options);
  assert_code(&o, 3);
  for (; *words; words++)
    if (!strstr(o.err, *words)) fail_msg("no \"%s\" in: %s", *words, o.err);
  const char *end = strchr(o.err, '\n');
  assert_true(end && !end[1]); /* one line */
  assert_null(strstr(o.out, "emulator"));
  outcome_free(&o);
}

static const char *stub_library(void) {
  static char text[4200];
  snprintf(text, sizeof text, "FRONT_HSA_LIBRARY=%s", built_path("tests/runtime/libstub_hsa.so"));
  return text;
}

static const char *kfd_shim(void) {
  static char text[4200];
  snprintf(text, sizeof text, "LD_PRELOAD=%s", built_path("tests/runtime/libkfd_shim.so"));
  return text;
}

#define EXPECT(device, env, ...) expect(device, (const char *const *)(env), (const char *const[]){__VA_ARGS__, NULL})

static void without_dev_kfd_that_is_said(void **context) {
  (void)context;
  const char *const env[] = {stub_library(), kfd_shim(), "FRONT_STUB=no driver", "FRONT_KFD=missing", NULL};
  EXPECT("gpu", env, "frontrun: ", "there is no /dev/kfd", "--device /dev/kfd");
}

static void without_permission_the_group_is_named(void **context) {
  (void)context;
  const char *const env[] = {stub_library(), kfd_shim(), "FRONT_STUB=no driver", "FRONT_KFD=forbidden", NULL};
  EXPECT("gpu", env, "/dev/kfd may not be opened", "Permission denied", "group");
}

static void without_the_library_every_name_that_was_tried_is_said(void **context) {
  (void)context;
  static const char *const env[] = {"FRONT_HSA_LIBRARY=libno-such-hsa.so", NULL};
  EXPECT("gpu", env, "no HSA library", "libno-such-hsa.so", "No such file");
}

static void a_gpu_of_another_kind_is_said_with_both_names(void **context) {
  (void)context;
  const char *const env[] = {stub_library(), "FRONT_STUB=other", NULL};
  EXPECT("gpu", env, "the GPU is gfx90a, the kernel is for gfx950");
}

static void a_gpu_that_is_too_small_is_said_with_both_numbers(void **context) {
  (void)context;
  const char *const env[] = {stub_library(), "FRONT_STUB=small", NULL};
  EXPECT("gpu", env, "80 compute units", "256 workgroups");
}

static void the_emulator_is_no_gpu(void **context) {
  (void)context;
  char library[4200];
  snprintf(library, sizeof library, "FRONT_HSA_LIBRARY=%s", built_path("emulator/libhsa-emu.so"));
  const char *const env[] = {library, NULL};
  EXPECT("gpu", env, "is the emulator, not a GPU");
}

static void auto_says_both_reasons_if_there_is_neither(void **context) {
  (void)context;
  static const char *const env[] = {"FRONT_HSA_LIBRARY=libno-such-hsa.so", "FRONT_EMU_LIBRARY=libno-such-emu.so", NULL};
  EXPECT("auto", env, "libno-such-hsa.so", "libno-such-emu.so");
}

int main(int argc, char **argv) {
  if (argc != 2) return 1;
  object = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_dev_kfd_that_is_said),
      cmocka_unit_test(without_permission_the_group_is_named),
      cmocka_unit_test(without_the_library_every_name_that_was_tried_is_said),
      cmocka_unit_test(a_gpu_of_another_kind_is_said_with_both_names),
      cmocka_unit_test(a_gpu_that_is_too_small_is_said_with_both_numbers),
      cmocka_unit_test(the_emulator_is_no_gpu),
      cmocka_unit_test(auto_says_both_reasons_if_there_is_neither),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
