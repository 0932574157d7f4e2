/* SPDX-License-Identifier: Apache-2.0 */
/* The program frontrun: exit codes and messages of what cannot run. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect(struct outcome o, int code, const char *says) {
  assert_code(&o, code);
  if (!strstr(o.err, says)) fail_msg("\"%s\" is not in \"%s\"", says, o.err);
  size_t length = strlen(o.err);
  assert_true(length > 0 && strchr(o.err, '\n') == o.err + length - 1); /* one line */
  outcome_free(&o);
}

#define FRONTRUN built_path("frontrun/frontrun")

static void bad_usage_is_one_line_and_code_2(void **context) {
  (void)context;
  expect(run(FRONTRUN), 2, "no KEY or FILE");
  expect(run(FRONTRUN, "tokens=8", "tokens=9"), 2, "one KEY or FILE");
  expect(run(FRONTRUN, "tokens=8", "--seeds", "3"), 2, "--strict");
  expect(run(FRONTRUN, "tokens=8", "--strict", "--timing"), 2, "--strict");
  expect(run(FRONTRUN, "tokens=8", "--workgroups"), 2, "--timing");
  expect(run(FRONTRUN, "tokens=8", "--report", "r.json"), 2, "--accept");
  expect(run(FRONTRUN, "bundle", "--accept", "--seed", "7"), 2, "leave all but --device and --report out");
  expect(run(FRONTRUN, "bundle", "--accept", "--strict"), 2, "leave all but --device and --report out");
  expect(run(FRONTRUN, "tokens=8", "--strict", "--l2", "cold"), 2, "probed");
  expect(run(FRONTRUN, "tokens=8", "--seed", "-1"), 2, "--seed");
  expect(run(FRONTRUN, "tokens=8", "--seed", "1x"), 2, "--seed");
  expect(run(FRONTRUN, "tokens=8", "--repeat", "0"), 2, "--repeat");
  expect(run(FRONTRUN, "tokens=8", "--device", "tpu"), 2, "auto, gpu or emulator");
  expect(run(FRONTRUN, "tokens=8", "--case", "worst"), 2, "allpad");
  expect(run(FRONTRUN, "tokens=8", "--rank", "4"), 2, "ranks 0 to 3");
  expect(run(FRONTRUN, "tokens=8", "--timeout", "0"), 2, "above 0");
  expect(run(FRONTRUN, "tokens=8", "--seed", " -1"), 2, "--seed");
  expect(run(FRONTRUN, "--fast", "tokens=8"), 2, "\"--fast\"");
  expect(run(FRONTRUN, "tokens=8", "--seed"), 2, "\"--seed\"");
  expect(run(FRONTRUN, "no/such\nfile"), 2, "no/such?file");
}

/* A pipe would hold the program for ever; a device would be replaced by a plain file. */
static void pipes_devices_and_links_are_refused_before_any_work(void **context) {
  (void)context;
  const char *dir = temp_dir(), *pipe = path_in(dir, "pipe"), *link = path_in(dir, "link");
  assert_int_equal(mkfifo(pipe, 0600), 0);
  assert_int_equal(symlink("/nowhere/at/all", link), 0);
  expect(run(FRONTRUN, pipe), 2, "pipe");
  expect(run(FRONTRUN, "tokens=8", "--input", pipe), 2, "no plain file");
  expect(run(FRONTRUN, "tokens=8", "--dump", pipe), 2, "device or a pipe");
  expect(run(FRONTRUN, "tokens=8", "--dump", link), 2, "symbolic link");
  expect(run(FRONTRUN, "tokens=8", "--trace", pipe), 2, "device or a pipe");
  expect(run(FRONTRUN, "tokens=8", "--dump", path_in(dir, "none/x")), 2, "No such file");
  assert_int_equal(count_files(dir), 2);
}

static void what_could_not_be_printed_is_code_3(void **context) {
  (void)context;
  static const char *const ends[] = {"--help >/dev/full", "--help >&-", "tokens=1,tp=8 --case=allpad --no-traffic --device=emulator >&-"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    char script[4096];
    snprintf(script, sizeof script, "exec %s %s", FRONTRUN, ends[i]);
    expect(run("/bin/sh", "-c", script), 3, "standard output");
  }
}

/* A limit on files stands for a full disk; the compiler, which works in files, has run before. */
static void a_file_without_room_is_code_3_and_leaves_nothing(void **context) {
  (void)context;
  static const char *const options[] = {"--dump", "--trace"};
  const char *dir = temp_dir(), *object = path_in(dir, "front_s1_tp8_r2_w128_t0.gfx950.hsaco");
  struct outcome made = run(built_path("gen/frontgen"), "build", "tokens=1,tp=8", "-o", dir);
  assert_int_equal(made.code, 0);
  outcome_free(&made);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char script[8192];
    snprintf(script, sizeof script, "ulimit -f 64; exec %s %s --case=allpad --no-traffic --device=emulator %s=%s", FRONTRUN, object,
        options[i], path_in(dir, "written"));
    expect(run("/bin/sh", "-c", script), 3, "written: File too large");
    assert_int_equal(count_files(dir), 1);
  }
}

static void a_bad_key_or_file_is_one_line_and_code_2(void **context) {
  (void)context;
  const char *dir = temp_dir();
  write_file(path_in(dir, "text.hsaco"), "no ELF", 6);
  expect(run(FRONTRUN, "tokens=49"), 2, "49");
  expect(run(FRONTRUN, "tp=4"), 2, "tokens");
  expect(run(FRONTRUN, "tokens=8,index=1"), 2, "index");
  expect(run(FRONTRUN, "tokens=8", "--arch", "gfx90a"), 2, "gfx90a");
  expect(run(FRONTRUN, "tokens=8", "--key", "tokens=8"), 2, "--key");
  expect(run(FRONTRUN, dir), 2, "SHA256SUMS");
  expect(run(FRONTRUN, path_in(dir, "none.hsaco")), 2, "No such file");
  expect(run(FRONTRUN, path_in(dir, "text.hsaco")), 2, "text.hsaco");
  expect(run(FRONTRUN, "tokens=8", "--input", path_in(dir, "none")), 2, "No such file");
  expect(run(FRONTRUN, "tokens=8", "--input", path_in(dir, "text.hsaco")), 2, "safetensors");
}

static void no_device_and_no_compiler_are_one_line_and_code_3(void **context) {
  (void)context;
  static const char *const no_hsa[] = {"FRONT_HSA_LIBRARY=libno-such-hsa.so", NULL},
                           *const no_emulator[] = {"FRONT_EMU_LIBRARY=libno-emu.so", NULL},
                           *const no_llc[] = {"FRONTGEN_LLC=/no/such/llc", NULL};
  const struct run_options hsa = {.env = no_hsa}, emulator = {.env = no_emulator}, llc = {.env = no_llc};
  expect(run_argv((const char *const[]){FRONTRUN, "tokens=1", "--device", "gpu", NULL}, &hsa), 3, "libno-such-hsa.so");
  expect(run_argv((const char *const[]){FRONTRUN, "tokens=1", "--device", "emulator", NULL}, &emulator), 3,
      "libno-emu.so: cannot open shared object file: No such file or directory: name libhsa-emu.so");
  expect(run_argv((const char *const[]){FRONTRUN, "tokens=1", NULL}, &llc), 3, "/no/such/llc");
}

/* A device that does nothing: what it leaves is what was there before. */
static struct outcome run_on_stub(const char *behaviour, const char *option, const char *value) {
  char library[4096], how[64];
  snprintf(library, sizeof library, "FRONT_HSA_LIBRARY=%s", built_path("tests/runtime/libstub_hsa.so"));
  snprintf(how, sizeof how, "FRONT_STUB=%s", behaviour);
  const char *const env[] = {library, how, NULL};
  const struct run_options options = {.env = env};
  return run_argv((const char *const[]){FRONTRUN, "tokens=1,tp=8", "--device", "gpu", option, value, NULL}, &options);
}

static void results_that_differ_are_code_1_and_a_fault_or_a_timeout_is_code_4(void **context) {
  (void)context;
  struct outcome o = run_on_stub("works", "--repeat", "2");
  assert_non_null(strstr(o.out, "launch 2 of 2"));
  assert_non_null(strstr(o.out, "DIFFERS"));
  expect(o, 1, "kt: ");
  expect(run_on_stub("hangs", "--timeout", "0.05"), 4, "has not ended");
  expect(run_on_stub("stops", "--seed", "2"), 4, "illegal instruction");
  expect(run_on_stub("small", "--seed", "2"), 3, "80 compute units");
}

static void json_has_what_the_table_has_also_when_a_launch_fails(void **context) {
  (void)context;
  static const char *const words[] = {"\"kernel\": \"front_s1_tp8_r2_w128_t0\"", "\"kind\": \"gpu\"", "\"stage\": \"wqkv\"",
      "\"worst\": ", "\"exit_code\": 1", "\"error\": "};
  struct outcome o = run_on_stub("works", "--json", NULL);
  assert_code(&o, 1);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (!strstr(o.out, words[i])) fail_msg("no %s in %s", words[i], o.out);
  outcome_free(&o);
  o = run_on_stub("stops", "--json", NULL);
  assert_non_null(strstr(o.out, "\"exit_code\": 4"));
  expect(o, 4, "illegal instruction");
}

static void help_lists_every_option_and_the_exit_codes(void **context) {
  (void)context;
  static const char *const words[] = {
      "--key", "--arch", "--device", "--seed", "--input", "--dump", "--repeat", "--json", "--epoch", "Exit codes"};
  struct outcome o = run(FRONTRUN, "--help");
  assert_code(&o, 0);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) assert_non_null(strstr(o.out, words[i]));
  outcome_free(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_usage_is_one_line_and_code_2),
      cmocka_unit_test(pipes_devices_and_links_are_refused_before_any_work),
      cmocka_unit_test(what_could_not_be_printed_is_code_3),
      cmocka_unit_test(a_file_without_room_is_code_3_and_leaves_nothing),
      cmocka_unit_test(a_bad_key_or_file_is_one_line_and_code_2),
      cmocka_unit_test(no_device_and_no_compiler_are_one_line_and_code_3),
      cmocka_unit_test(results_that_differ_are_code_1_and_a_fault_or_a_timeout_is_code_4),
      cmocka_unit_test(json_has_what_the_table_has_also_when_a_launch_fails),
      cmocka_unit_test(help_lists_every_option_and_the_exit_codes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
