/* SPDX-License-Identifier: Apache-2.0 */
/* What frontrun does beside a good launch: figures, dumps, code objects that are not ours. */
#include "support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *run_json(const char *const argv[]) {
  struct outcome o = run_argv(argv, NULL);
  assert_code(&o, 0);
  json_error_t error;
  json_t *root = json_loads(o.out, JSON_REJECT_DUPLICATES, &error);
  if (!root) fail_msg("not JSON: %s", error.text);
  outcome_free(&o);
  return root;
}

static void wave_instructions_a_second_and_the_device_are_in_the_json(void **context) {
  (void)context;
  json_t *root = run_json((const char *const[]){built_path("frontrun/frontrun"), "tokens=2,tp=8", "--device", "emulator", "--json", NULL});
  const json_t *launch = json_array_get(json_object_get(root, "launches"), 0);
  assert_true(json_number_value(json_object_get(json_object_get(launch, "emulator"), "wave_instructions_per_second")) > 1000);
  assert_string_equal(json_string_value(json_object_get(json_object_get(root, "device"), "kind")), "emulator");
  json_decref(root);
}

/* The launch is as good without; but who asked would take what comes for what was asked for. */
static void an_environment_that_the_emulator_cannot_follow_is_told(void **context) {
  (void)context;
  static const char *const env[] = {"FRONT_EMU_THREADS=-2", "FRONT_EMU_EXECUTED=/no/such/folder/list", NULL};
  const struct run_options options = {.env = env};
  struct outcome o = run_argv((const char *const[]){built_path("frontrun/frontrun"), "tokens=1,tp=8", "--device", "emulator", "--case",
                                  "allpad", "--no-traffic", NULL},
      &options);
  assert_code(&o, 0);
  const char *threads = strstr(o.err, "libhsa-emu: FRONT_EMU_THREADS is \"-2\": 1 to 256");
  assert_non_null(threads);
  assert_null(strstr(threads + 1, "libhsa-emu: FRONT_EMU_THREADS")); /* once */
  assert_non_null(strstr(o.err, "libhsa-emu: FRONT_EMU_EXECUTED=/no/such/folder/list: No such file"));
  outcome_free(&o);
}

static void a_dump_is_an_input_and_gives_the_same_outputs(void **context) {
  (void)context;
  const char *dir = temp_dir(), *first = path_in(dir, "first"), *second = path_in(dir, "second");
  const char *frontrun = built_path("frontrun/frontrun");
  struct outcome o = run(frontrun, "tokens=3,tp=8,window=9", "--device", "emulator", "--seed", "7", "--dump", first);
  assert_code(&o, 0);
  outcome_free(&o);
  o = run(frontrun, "tokens=3,tp=8,window=9", "--device", "emulator", "--seed", "7", "--input", first, "--dump", second);
  assert_code(&o, 0);
  outcome_free(&o);
  size_t bytes, again;
  char *a = read_file(first, &bytes), *b = read_file(second, &again);
  assert_int_equal(bytes, again);
  assert_memory_equal(a, b, bytes);
  free(a);
  free(b);
}

static void a_code_object_without_a_note_runs_when_its_key_is_given(void **context) {
  (void)context;
  const char *dir = temp_dir(), *bare = path_in(dir, "bare.hsaco"), *key = "tokens=2,tp=8";
  struct outcome o = run(built_path("gen/frontgen"), "emit", key);
  assert_code(&o, 0);
  size_t bytes;
  void *object = ir_to_code_object(o.out, "gfx950", true, (const char *const[]){"-disable-machine-sink", NULL}, &bytes);
  write_file(bare, object, bytes);
  free(object);
  outcome_free(&o);
  o = run(built_path("frontrun/frontrun"), bare, "--device", "emulator");
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, "--key"));
  outcome_free(&o);
  o = run(built_path("frontrun/frontrun"), bare, "--key", key, "--device", "emulator");
  assert_code(&o, 0);
  outcome_free(&o);
}

static void a_cache_larger_than_the_device_is_refused_with_both_sizes(void **context) {
  (void)context;
  static const char header[] = "{\"slot\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}";
  const uint64_t length = sizeof header - 1, last_slot = INT32_MAX;
  char file[16 + sizeof header];
  memcpy(file, &length, 8);
  memcpy(file + 8, header, length);
  memcpy(file + 8 + length, &last_slot, 8);
  const char *input = path_in(temp_dir(), "input");
  write_file(input, file, 16 + length);
  struct outcome o = run(built_path("frontrun/frontrun"), "tokens=1,tp=8", "--device", "emulator", "--input", input);
  assert_code(&o, 3);
  assert_non_null(strstr(o.err, "bytes were wanted, the device has"));
  outcome_free(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wave_instructions_a_second_and_the_device_are_in_the_json),
      cmocka_unit_test(an_environment_that_the_emulator_cannot_follow_is_told),
      cmocka_unit_test(a_dump_is_an_input_and_gives_the_same_outputs),
      cmocka_unit_test(a_code_object_without_a_note_runs_when_its_key_is_given),
      cmocka_unit_test(a_cache_larger_than_the_device_is_refused_with_both_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
