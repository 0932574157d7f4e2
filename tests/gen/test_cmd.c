/* SPDX-License-Identifier: Apache-2.0 */
/* The program frontgen as a user runs it: exit codes, one-line errors, what stands on standard output, what is left on disk. */
#include "frontgen.h"
#include "support.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define FRONTGEN built_path("gen/frontgen")

/* A command line that must fail, its exit code, and what its one line must name. */
static const struct {
  const char *argument[6], *names[3];
  int code;
} bad_lines[] = {
    {{NULL}, {"no command", "emit, build, keys, check, info"}, 2},
    {{"bake"}, {"unknown command \"bake\"", "emit, build, keys, check, info"}, 2},
    {{"bundle"}, {"argument is missing", "PATTERN"}, 2},
    {{"bundle", "tokens=8", "-o", "x"}, {"--arch", "gfx950"}, 2},
    {{"bundle", "tokens=8", "--arch=gfx950"}, {"-o", "folder"}, 2},
    {{"bundle", "tokens=8", "--arch=gfx942", "-o", "x"}, {"gfx942", "gfx950"}, 2},
    {{"bundle", "tokens=8", "--arch=gfx950", "--shard=2/1"}, {"--shard=2/1", "1/4"}, 2},
    {{"bundle", "tokens=8", "--arch=gfx950", "--shard=1"}, {"--shard=1", "1/4"}, 2},
    {{"bundle", "tokens=8", "--arch=gfx950", "-o/dev/null/x"}, {"/dev/null is not a folder"}, 2},
    {{"bundle", "tokens=8", "--arch=gfx950", "-o."}, {"working folder", "-o kernels"}, 2},
    {{"bundle", "tokens=8", "--arch=gfx950", "-o/"}, {"root folder"}, 2},
    {{"bundle-step", "emit"}, {"ninja", "frontgen bundle"}, 2},
    {{"repack"}, {"unknown command \"repack\""}, 2},
    {{"--bad"}, {"unknown command \"--bad\""}, 2},
    {{"emit"}, {"argument is missing", "KEY"}, 2},
    {{"emit", "tokens=8", "tokens=9"}, {"one argument too many", "\"tokens=9\""}, 2},
    {{"emit", "tokens=8", "--fast"}, {"\"--fast\"", "--help"}, 2},
    {{"emit", "--arch"}, {"--arch", "--help"}, 2},
    {{"keys", "-x", "tokens=8"}, {"\"-x\""}, 2},
    {{"keys", "--arch", "gfx950", "tokens=8"}, {"\"--arch\""}, 2},
    {{"emit", "tokens=8", "--json"}, {"--json"}, 2},
    {{"emit", "tokens=8", "--arch", "gfx942"}, {"gfx942 is not in this version", "gfx950"}, 2},
    {{"emit", "tokens=8", "--arch=sm_90"}, {"sm_90", "gfx950"}, 2},
    {{"emit", "tokens=1-8", "--arch=gfx950"}, {"tokens=1-8", "one value"}, 2},
    {{"emit", "tokens=49", "--arch=gfx950"}, {"tokens=49", "1..48"}, 2},
    {{"emit", "tokens=49"}, {"tokens=49", "1..48"}, 2},
    {{"build", "tokens=49"}, {"tokens=49", "1..48"}, 2},
    {{"emit", "tp=4", "--arch=gfx950"}, {"tokens is missing"}, 2},
    {{"emit", "tokens=8,index=1", "--arch=gfx950"}, {"index=1 is not in this version"}, 2},
    {{"emit", "front_s8", "--arch=gfx950"}, {"front_s8", "not a key's name"}, 2},
    {{"keys", "tokens=4-1"}, {"tokens=4-1", "reversed"}, 2},
    {{"keys"}, {"argument is missing", "PATTERN"}, 2},
    {{"build"}, {"argument is missing", "KEY|PATTERN"}, 2},
    {{"build", "tokens=8", "tokens=", "--arch=gfx950"}, {"tokens=", "missing"}, 2},
    {{"build", "tokens=8", "--arch=gfx942"}, {"gfx942"}, 2},
    {{"build", "tokens=8", "--arch=gfx950", "-o", "/dev/null/x"}, {"/dev/null"}, 2},
    {{"build", "tokens=8", "--arch=gfx950", "-o", "/dev/null"}, {"/dev/null is not a folder"}, 2},
    {{"build", "tokens=8", "--arch=gfx950", "-o", "/proc"}, {"cannot write", "/proc"}, 2},
    {{"build", "tokens=8", "--arch=gfx950", "--time-limit=soon"}, {"time-limit=soon"}, 2},
    {{"build", "tokens=8", "--arch=gfx950", "--memory-limit=0"}, {"memory-limit=0"}, 2},
    {{"check"}, {"argument is missing", "FILE"}, 2},
    {{"check", "/nowhere/x.hsaco"}, {"/nowhere/x.hsaco", "No such file"}, 2},
    {{"check", "/"}, {"cannot read /", "not a file"}, 2},
    {{"check", "/bin/sh"}, {"/bin/sh"}, 2},
    {{"info", "/nowhere"}, {"/nowhere", "No such file"}, 2},
    {{"info", "/bin/sh"}, {"/bin/sh"}, 2},
    {{"info", "tokens=0"}, {"tokens=0", "1..48"}, 2},
};

static void expect_line(const struct outcome *o, const char *const names[3]) {
  if (strncmp(o->err, "frontgen: ", 10) != 0) fail_msg("not frontgen's line: %s", o->err);
  if (strchr(o->err, '\n') != o->err + o->err_bytes - 1) fail_msg("not one line: %s", o->err);
  for (int n = 0; n < 3 && names[n]; n++)
    if (!strstr(o->err, names[n])) fail_msg("the message does not name \"%s\": %s", names[n], o->err);
  assert_int_equal(o->out_bytes, 0);
}

static void test_bad_lines(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++) {
    const char *argv[8] = {FRONTGEN};
    for (int a = 0; a < 6; a++) argv[a + 1] = bad_lines[i].argument[a];
    struct outcome o = run_argv(argv, NULL);
    assert_code(&o, bad_lines[i].code);
    expect_line(&o, bad_lines[i].names);
    outcome_free(&o);
  }
}

static void test_pipe(void **state) {
  (void)state;
  const char *pipe = path_in(temp_dir(), "pipe");
  static const char *const commands[] = {"check", "info"};
  assert_int_equal(mkfifo(pipe, 0600), 0);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    struct outcome o = run(FRONTGEN, commands[i], pipe);
    assert_code(&o, 2);
    expect_line(&o, (const char *const[3]){"not a file"});
    outcome_free(&o);
  }
}

static void test_emit(void **state) {
  (void)state;
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], *text;
  size_t bytes;
  assert_int_equal(frontgen_plan("tokens=17,tp=2", "gfx950", &plan, error), 0);
  assert_int_equal(frontgen_emit(&plan, &text, &bytes, error), 0);
  struct outcome o = run(FRONTGEN, "emit", "tokens=17,tp=2"), named = run(FRONTGEN, "emit", "front_s17_tp2_r2_w128_t0", "--arch", "gfx950");
  assert_code(&o, 0);
  assert_code(&named, 0);
  assert_int_equal(o.out_bytes, bytes);
  assert_memory_equal(o.out, text, bytes);
  assert_int_equal(named.out_bytes, bytes);
  assert_memory_equal(named.out, text, bytes);
  assert_non_null(strstr(o.err, "gfx950")); /* it says what it took for granted, */
  assert_string_equal(named.err, "");       /* and nothing if it was told */
  outcome_free(&o);
  outcome_free(&named);
  free(text);
}

static void test_keys(void **state) {
  (void)state;
  struct outcome o = run(FRONTGEN, "keys", "tokens=7-8,tp=2/4", "tokens=1");
  assert_code(&o, 0);
  assert_string_equal(o.out, "front_s7_tp2_r2_w128_t0\nfront_s7_tp4_r2_w128_t0\nfront_s8_tp2_r2_w128_t0\nfront_s8_tp4_r2_w128_t0\n"
                             "front_s1_tp4_r2_w128_t0\n");
  assert_string_equal(o.err, "");
  outcome_free(&o);
}

static void test_help(void **state) {
  (void)state;
  static const char *const commands[] = {"emit", "build", "keys", "check", "info"};
  struct outcome all = run(FRONTGEN, "--help"), version = run(FRONTGEN, "--version");
  assert_code(&all, 0);
  assert_code(&version, 0);
  assert_int_equal(strncmp(version.out, "frontgen ", 9), 0);
  for (size_t i = 0; i < 5; i++) {
    assert_non_null(strstr(all.out, commands[i]));
    struct outcome one = run(FRONTGEN, commands[i], "--help");
    assert_code(&one, 0);
    assert_non_null(strstr(one.out, commands[i]));
    assert_string_equal(one.err, "");
    outcome_free(&one);
  }
  outcome_free(&all);
  outcome_free(&version);
}

static void test_no_output(void **state) {
  (void)state;
  static const char *const lines[] = {
      "emit tokens=8 --arch gfx950", "keys tokens=8", "info tokens=8", "--help", "emit --help", "--version"};
  static const char *const places[] = {"> /dev/full", ">&-"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    for (size_t p = 0; p < 2; p++) {
      char script[512];
      snprintf(script, sizeof script, "exec %s %s %s", FRONTGEN, lines[i], places[p]);
      struct outcome o = run("/bin/sh", "-c", script);
      assert_code(&o, 3);
      expect_line(&o, (const char *const[3]){"standard output", p ? "Bad file descriptor" : "No space left"});
      outcome_free(&o);
    }
}

static void test_build(void **state) {
  (void)state;
  const char *dir = temp_dir(), *out = path_in(dir, "made/by/build");
  struct outcome o = run(FRONTGEN, "build", "tokens=1-2,tp=8", "-o", out);
  char expected[1024];
  assert_code(&o, 0);
  snprintf(expected, sizeof expected, "%s/front_s1_tp8_r2_w128_t0.gfx950.hsaco\n%s/front_s2_tp8_r2_w128_t0.gfx950.hsaco\n", out, out);
  assert_string_equal(o.out, expected);
  assert_string_equal(o.err, "frontgen: for gfx950 (no --arch)\n");
  assert_int_equal(count_files(out), 2);
  struct outcome check = run(FRONTGEN, "check", path_in(out, "front_s1_tp8_r2_w128_t0.gfx950.hsaco"));
  assert_code(&check, 0);
  assert_non_null(strstr(check.out, "issue order"));
  outcome_free(&o);
  outcome_free(&check);
}

/* An installation of another user: nothing of the environment is there, and the folder has no name of ours. */
static void test_bare_environment(void **state) {
  (void)state;
  const char *dir = temp_dir();
  struct run_options bare = {.dir = dir, .env = (const char *const[]){"HOME", "PATH", "TMPDIR=/nowhere", "LANG", NULL}};
  struct outcome o = run_argv((const char *const[]){FRONTGEN, "build", "tokens=1,tp=8", "--arch=gfx950", NULL}, &bare);
  assert_code(&o, 0);
  assert_string_equal(o.out, "front_s1_tp8_r2_w128_t0.gfx950.hsaco\n");
  assert_int_equal(count_files(dir), 1);
  outcome_free(&o);
}

static void test_build_without_llc(void **state) {
  (void)state;
  const char *dir = temp_dir();
  struct run_options broken = {.env = (const char *const[]){"FRONTGEN_LLC=/nowhere/llc", NULL}};
  struct outcome o = run_argv((const char *const[]){FRONTGEN, "build", "tokens=8", "--arch=gfx950", "-o", dir, NULL}, &broken);
  assert_code(&o, 3);
  expect_line(&o, (const char *const[3]){"llc not found", "install llvm-22", "FRONTGEN_LLC"});
  assert_int_equal(count_files(dir), 0);
  outcome_free(&o);
}

/* Interrupts `frontgen build` while its opt, a script, sleeps. */
static void interrupt_with(int signal_number) {
  const char *dir = temp_dir(), *tools = temp_dir(), *ready = path_in(tools, "ready"), *opt = path_in(tools, "opt");
  char script[512], variable[512];
  int n = snprintf(script, sizeof script, "#!/bin/sh\necho $$ > %s.part; mv %s.part %s; exec sleep 60\n", ready, ready, ready);
  write_file(opt, script, (size_t)n);
  assert_int_equal(chmod(opt, 0755), 0);
  snprintf(variable, sizeof variable, "%s", opt);
  setenv("FRONTGEN_OPT", variable, 1);
  const char *argv[] = {FRONTGEN, "build", "tokens=8", "--arch=gfx950", "-o", dir, NULL};
  pid_t pid;
  int status;
  assert_int_equal(posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ), 0);
  unsetenv("FRONTGEN_OPT");
  for (int i = 0; i < 2000 && !file_exists(ready); i++) usleep(5000);
  assert_int_equal(kill(pid, signal_number), 0);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), signal_number);
  assert_int_equal(count_files(dir), 0);
  char *tool = read_file(ready, NULL), path[64], *stat;
  bool dead = false;
  snprintf(path, sizeof path, "/proc/%d/stat", atoi(tool));
  for (int i = 0; i < 400 && !dead; i++, usleep(5000)) {
    stat = file_exists(path) ? read_file(path, NULL) : NULL;
    dead = !stat || strstr(stat, ") Z ");
    free(stat);
  }
  assert_true(dead);
  free(tool);
}

static void test_interrupt(void **state) {
  (void)state;
  interrupt_with(SIGINT);
  interrupt_with(SIGTERM);
}

static void test_check_fails(void **state) {
  (void)state;
  static const char good[] = "!{i32 512, i32 1, i32 1}", bad[] = "!{i32 256, i32 1, i32 1}";
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX] = "", *text;
  void *object;
  size_t bytes, object_bytes;
  const char *path = path_in(temp_dir(), "planted.hsaco");
  assert_int_equal(frontgen_plan("tokens=1,tp=8", "gfx950", &plan, error), 0);
  assert_int_equal(frontgen_emit(&plan, &text, &bytes, error), 0);
  char *at = strstr(text, good);
  assert_non_null(at);
  memcpy(at, bad, sizeof bad - 1);
  assert_int_not_equal(frontgen_compile_ir(text, bytes, &plan, NULL, &object, &object_bytes, error), FRONTGEN_GOOD);
  if (frontgen_compile_ir(text, bytes, &plan, &(struct frontgen_options){.no_gates = true}, &object, &object_bytes, error))
    fail_msg("%s", error);
  write_file(path, object, object_bytes);
  struct outcome o = run(FRONTGEN, "check", path);
  assert_code(&o, 1);
  assert_non_null(strstr(o.out, "workgroup"));
  assert_non_null(strstr(o.err, path));
  outcome_free(&o);
  write_file(path, object, object_bytes / 2);
  o = run(FRONTGEN, "check", path);
  assert_code(&o, 2);
  expect_line(&o, (const char *const[3]){path});
  outcome_free(&o);
  memset((char *)object + offsetof(Elf64_Ehdr, e_shstrndx), 0x55, 2); /* only llvm-objdump looks at it: its word is the file's fault too */
  write_file(path, object, object_bytes);
  o = run(FRONTGEN, "check", path);
  assert_code(&o, 2);
  expect_line(&o, (const char *const[3]){path, "index 21845", "damaged"});
  outcome_free(&o);
  free(object);
  free(text);
}

static void test_info(void **state) {
  (void)state;
  const char *dir = temp_dir();
  struct outcome key = run(FRONTGEN, "info", "tokens=8"), json = run(FRONTGEN, "info", "tokens=8", "--json");
  struct outcome built = run(FRONTGEN, "build", "tokens=8", "-o", dir);
  assert_code(&key, 0);
  assert_code(&json, 0);
  assert_code(&built, 0);
  static const char *const lines[] = {
      "guard: 1\n", "name: front_s8_tp4_r2_w128_t0\n", "lds:\n  bytes: 51520\n", "scratch:\n  bytes: 287744\n", "kernarg:\n  bytes: 216\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) assert_non_null(strstr(key.out, lines[i]));
  struct run_options input = {.input = json.out, .input_bytes = json.out_bytes};
  struct outcome parsed = run_argv(
      (const char *const[]){"python3", "-c",
          "import json,sys; d=json.load(sys.stdin); print(d['name'], d['guard'], d['lds']['bytes'], d['scratch']['qkvp']['bytes'])", NULL},
      &input);
  assert_code(&parsed, 0);
  assert_string_equal(parsed.out, "front_s8_tp4_r2_w128_t0 1 51520 229376\n");
  struct outcome file = run(FRONTGEN, "info", path_in(dir, "front_s8_tp4_r2_w128_t0.gfx950.hsaco"));
  assert_code(&file, 0);
  assert_int_equal(strncmp(file.out, key.out, key.out_bytes), 0); /* a file's report is its key's, and more */
  assert_non_null(strstr(file.out, "  kernarg_bytes: 216\n"));
  assert_non_null(strstr(file.out, "  private_bytes: 0\n"));
  outcome_free(&key);
  outcome_free(&json);
  outcome_free(&built);
  outcome_free(&parsed);
  outcome_free(&file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      {"a bad command line is one clear line and exit code 2", test_bad_lines, NULL, NULL, NULL},
      {"a pipe that nobody writes does not hold the program", test_pipe, NULL, NULL, NULL},
      {"emit prints the library's IR, for a key or a name", test_emit, NULL, NULL, NULL},
      {"keys prints the names that build will make", test_keys, NULL, NULL, NULL},
      {"help and version are on standard output", test_help, NULL, NULL, NULL},
      {"a full disk or a closed output is an error and not a success", test_no_output, NULL, NULL, NULL},
      {"build makes each key's file and nothing else", test_build, NULL, NULL, NULL},
      {"build needs no HOME, PATH or TMPDIR", test_bare_environment, NULL, NULL, NULL},
      {"a missing llc is exit code 3 and leaves no file", test_build_without_llc, NULL, NULL, NULL},
      {"an interrupt ends the tool and leaves no file", test_interrupt, NULL, NULL, NULL},
      {"check fails an object whose gate does not hold, and names a truncated one", test_check_fails, NULL, NULL, NULL},
      {"info says the plan of a key, and of a file its registers too", test_info, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
