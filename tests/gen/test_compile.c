/* SPDX-License-Identifier: Apache-2.0 */
/* IR -> code object: failures that must be named, limits that must hold, files that must not be left, bytes that must not vary. */
#include "bitcode.h"
#include "frontgen.h"
#include "output.h"
#include "support.h"
#include "tool.h"
#include "toolchain_config.h"

#include "codeobject.h"
#include "note.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct plan planned(const char *key) {
  struct plan plan = {0};
  char error[FRONTGEN_ERROR_MAX] = "";
  if (frontgen_plan(key, "gfx950", &plan, error) != FRONTGEN_GOOD) fail_msg("%s", error);
  return plan;
}

struct object {
  void *data;
  size_t bytes;
};

static struct object built(const char *key, const struct frontgen_options *options) {
  struct plan plan = planned(key);
  struct object o = {0};
  char error[FRONTGEN_ERROR_MAX] = "";
  if (frontgen_build(&plan, options, &o.data, &o.bytes, error) != FRONTGEN_GOOD) fail_msg("%s", error);
  return o;
}

static void expect_failure(const struct frontgen_options *options, enum frontgen_status status, const char *const *names) {
  struct plan plan = planned("tokens=1,tp=8");
  void *object = &plan;
  size_t bytes = 0;
  char error[FRONTGEN_ERROR_MAX] = "";
  assert_int_equal(frontgen_build(&plan, options, &object, &bytes, error), status);
  for (; *names; names++)
    if (!strstr(error, *names)) fail_msg("the message does not name \"%s\": %s", *names, error);
  assert_null(strchr(error, '\n'));
  assert_null(object);
}

/* A program of ours in place of a tool. */
static const char *script(const char *name, const char *body) {
  const char *path = path_in(temp_dir(), name);
  char text[1024];
  int n = snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
  write_file(path, text, (size_t)n);
  assert_int_equal(chmod(path, 0755), 0);
  return path;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_missing_tools(void **state) {
  (void)state;
  expect_failure(&(struct frontgen_options){.llc = "/nowhere/llc"}, FRONTGEN_ENVIRONMENT,
      NAMES("llc not found", "/nowhere/llc", "install llvm-22", "FRONTGEN_LLC"));
  expect_failure(&(struct frontgen_options){.opt = "/nowhere/opt"}, FRONTGEN_ENVIRONMENT, NAMES("opt not found", "FRONTGEN_OPT"));
  expect_failure(
      &(struct frontgen_options){.lld = "/nowhere/lld"}, FRONTGEN_ENVIRONMENT, NAMES("ld.lld not found", "install lld-22", "FRONTGEN_LLD"));
  expect_failure(&(struct frontgen_options){.llc = temp_dir()}, FRONTGEN_ENVIRONMENT, NAMES("llc cannot be run", "FRONTGEN_LLC"));
  setenv("FRONTGEN_LLC", "/nowhere/else/llc", 1);
  expect_failure(NULL, FRONTGEN_ENVIRONMENT, NAMES("/nowhere/else/llc"));
  unsetenv("FRONTGEN_LLC");
}

static void test_failing_tool(void **state) {
  (void)state;
  const char *opt = script("opt", "echo 'note: first' >&2; echo 'opt: line 7: error: no such thing' >&2; exit 3");
  expect_failure(
      &(struct frontgen_options){.opt = opt}, FRONTGEN_ENVIRONMENT, NAMES("opt failed", "exit code 3", "line 7: error: no such thing"));
  const char *silent = script("silent", "exit 1");
  expect_failure(&(struct frontgen_options){.opt = silent}, FRONTGEN_ENVIRONMENT, NAMES("opt failed", "it said nothing"));
  const char *killed = script("killed", "kill -SEGV $$");
  expect_failure(&(struct frontgen_options){.opt = killed}, FRONTGEN_ENVIRONMENT, NAMES("opt was ended by signal 11"));
  const char *empty = script("empty", "exit 0");
  expect_failure(&(struct frontgen_options){.opt = empty}, FRONTGEN_ENVIRONMENT, NAMES("empty", "wrote nothing", "FRONTGEN_OPT"));
  /* The user gave no file: it is not his that is bad. */
  const char *junk = script("junk", "echo junk");
  expect_failure(&(struct frontgen_options){.lld = junk}, FRONTGEN_ENVIRONMENT, NAMES("ld.lld made no code object", "no ELF"));
}

static void test_old_llvm(void **state) {
  (void)state;
  const char *old = script("llc", "echo 'LLVM (http://llvm.org/):'; echo '  LLVM version 19.1.7'");
  expect_failure(&(struct frontgen_options){.llc = old}, FRONTGEN_ENVIRONMENT, NAMES("LLVM 19.1.7", "llvm-22", "FRONTGEN_LLC"));
  const char *other = script("other", "echo 'I am no llc'");
  expect_failure(&(struct frontgen_options){.llc = other}, FRONTGEN_ENVIRONMENT, NAMES("names no LLVM version"));
}

/* Against llc's own word. */
static void test_version(void **state) {
  (void)state;
  struct plan plan = planned("tokens=1,tp=8");
  char error[FRONTGEN_ERROR_MAX] = "", version[32] = "", *text, line[64];
  size_t bytes;
  assert_int_equal(frontgen_emit(&plan, &text, &bytes, error), FRONTGEN_GOOD);
  struct run_options input = {.input = text, .input_bytes = bytes};
  struct outcome opt = run_argv(NAMES(OPT_PATH, "-O1", "-o", "-"), &input), llc = run(LLC_PATH, "--version");
  assert_code(&opt, 0);
  assert_code(&llc, 0);
  assert_true(bitcode_version(opt.out, opt.out_bytes, version));
  snprintf(line, sizeof line, "LLVM version %s\n", version);
  assert_non_null(strstr(llc.out, line));
  for (size_t n = 0; n < 24; n++) assert_false(bitcode_version(opt.out, n, version)); /* a truncated file */
  assert_false(bitcode_version(text, bytes, version));
  outcome_free(&opt);
  outcome_free(&llc);
  free(text);
}

static void test_time_limit(void **state) {
  (void)state;
  /* What the script starts must end too: its number is in the file. */
  const char *dir = temp_dir(), *pid_file = path_in(dir, "pid");
  char body[512], gone[64];
  snprintf(body, sizeof body, "sleep 60 & echo $! > %s; wait", pid_file);
  time_t began = time(NULL);
  expect_failure(
      &(struct frontgen_options){.opt = script("slow", body), .seconds = 1}, FRONTGEN_ENVIRONMENT, NAMES("opt took longer", "1 s"));
  assert_true(time(NULL) - began < 20);
  char *pid = read_file(pid_file, NULL), *stat = NULL;
  snprintf(gone, sizeof gone, "/proc/%d/stat", atoi(pid));
  bool dead = false;
  for (int i = 0; i < 200 && !dead; i++, usleep(10000)) {
    stat = file_exists(gone) ? read_file(gone, NULL) : NULL;
    dead = !stat || strstr(stat, ") Z "); /* or only not yet collected by init */
    free(stat);
  }
  assert_true(dead);
  free(pid);
}

static void test_memory_limit(void **state) {
  (void)state;
  expect_failure(&(struct frontgen_options){.mebibytes = 1}, FRONTGEN_ENVIRONMENT, NAMES("opt ran out of memory", "1 MiB"));
}

static void test_bad_ir(void **state) {
  (void)state;
  static const char *const bad[] = {"", "this is no IR", "define void @f() {", "define i32 @f() { ret i64 0 }"};
  struct plan plan = planned("tokens=8");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    void *object;
    size_t bytes;
    char error[FRONTGEN_ERROR_MAX] = "";
    assert_int_not_equal(frontgen_compile_ir(bad[i], strlen(bad[i]), &plan, NULL, &object, &bytes, error), FRONTGEN_GOOD);
    assert_null(object);
    assert_true(error[0] && !strchr(error, '\n'));
  }
}

static void test_same_bytes(void **state) {
  (void)state;
  struct object a = built("tokens=8,tp=8", NULL), b;
  char *home = getcwd(NULL, 0);
  assert_int_equal(chdir(temp_dir()), 0);
  setenv("LC_ALL", "C.UTF-8", 1);
  int extra[5]; /* other descriptors in use: the tools' files have other numbers */
  for (int i = 0; i < 5; i++) extra[i] = tool_file("x", 1);
  b = built("tp=8,tokens=8", NULL);
  for (int i = 0; i < 5; i++) close(extra[i]);
  assert_int_equal(chdir(home), 0);
  assert_int_equal(a.bytes, b.bytes);
  assert_memory_equal(a.data, b.data, a.bytes);
  free(home);
  free(a.data);
  free(b.data);
}

static void *build_in_thread(void *out) {
  static const char *const key = "tokens=2,tp=8";
  struct plan plan = {0};
  struct object *o = out;
  char error[FRONTGEN_ERROR_MAX];
  if (frontgen_plan(key, "gfx950", &plan, error) || frontgen_build(&plan, NULL, &o->data, &o->bytes, error)) o->data = NULL;
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  pthread_t thread[3];
  struct object o[3] = {0};
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&thread[i], NULL, build_in_thread, &o[i]), 0);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < 3; i++) {
    assert_non_null(o[i].data);
    assert_int_equal(o[i].bytes, o[0].bytes);
    assert_memory_equal(o[i].data, o[0].data, o[0].bytes);
  }
  for (int i = 0; i < 3; i++) free(o[i].data);
}

/* The hash by another program: IR text, then a zero byte and a flag for each flag. */
static void test_note(void **state) {
  (void)state;
  struct plan plan = planned("tokens=1,tp=8");
  char error[FRONTGEN_ERROR_MAX] = "", hex[SHA256_HEX], *text;
  size_t bytes;
  struct code_object co;
  struct front_note note;
  assert_int_equal(frontgen_emit(&plan, &text, &bytes, error), FRONTGEN_GOOD);
  const char *const *const flags[] = {plan.target->opt_flags, plan.target->llc_flags, plan.target->lld_flags};
  text = realloc(text, bytes + 1024);
  assert_non_null(text);
  for (int t = 0; t < 3; t++)
    for (int f = 0; flags[t][f]; f++) bytes += (size_t)snprintf(text + bytes, 512, "%c%s", 0, flags[t][f]);
  struct run_options input = {.input = text, .input_bytes = bytes};
  struct outcome sum = run_argv(NAMES("sha256sum"), &input);
  assert_code(&sum, 0);
  struct object o = built("tokens=1,tp=8", NULL);
  if (!code_object_open(o.data, o.bytes, &co, error) || !front_note_read(&co, &note, error)) fail_msg("%s", error);
  sha256_hex(note.sha256, hex);
  assert_memory_equal(hex, sum.out, 64);
  assert_string_equal(note.key, "front_s1_tp8_r2_w128_t0");
  assert_string_equal(note.arch, "gfx950");
  assert_int_equal(note.kernarg_abi, 1);
  assert_true(atoi(note.llvm_version) >= 22);
  assert_true(note.events > 20);
  assert_non_null(code_object_kernel(&co, note.key));
  front_note_free(&note);
  code_object_close(&co);
  outcome_free(&sum);
  free(o.data);
  free(text);
}

static void test_save_temps(void **state) {
  (void)state;
  const char *dir = temp_dir();
  struct object o = built("tokens=1,tp=8", &(struct frontgen_options){.save_temps = dir});
  static const char *const endings[] = {"ll", "bc", "o", "note.o"};
  for (size_t i = 0; i < 4; i++) {
    char name[128];
    snprintf(name, sizeof name, "front_s1_tp8_r2_w128_t0.gfx950.%s", endings[i]);
    assert_true(file_exists(path_in(dir, name)));
  }
  assert_int_equal(count_files(dir), 4);
  free(o.data);
}

static void test_bad_places(void **state) {
  (void)state;
  static const char *const places[] = {"/nowhere/x.hsaco", "/dev/null/x.hsaco", "/proc/x.hsaco", "", "/tmp/"};
  struct plan plan = planned("tokens=1,tp=8");
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char error[FRONTGEN_ERROR_MAX] = "";
    assert_int_equal(frontgen_build_file(&plan, NULL, places[i], error), FRONTGEN_USAGE);
    assert_non_null(strstr(error, "cannot write"));
    assert_non_null(strstr(error, places[i]));
  }
}

/* rename() would make a plain file of /dev/null. */
static void test_only_plain_files_are_replaced(void **state) {
  (void)state;
  const char *dir = temp_dir(), *pipe = path_in(dir, "pipe"), *link = path_in(dir, "link");
  char error[FRONTGEN_ERROR_MAX] = "";
  struct stat st;
  assert_int_equal(mkfifo(pipe, 0600), 0);
  assert_int_equal(symlink("/nowhere/at/all", link), 0);
  assert_int_equal(output_check(pipe, error), FRONTGEN_USAGE);
  assert_int_equal(output_write(pipe, "x", 1, error), FRONTGEN_USAGE);
  assert_non_null(strstr(error, "device or a pipe"));
  assert_int_equal(output_write(link, "x", 1, error), FRONTGEN_USAGE);
  assert_non_null(strstr(error, "symbolic link"));
  assert_true(lstat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
  assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
  assert_int_equal(count_files(dir), 2);
}

/* In a container every run may have the same process number. */
static void test_leftovers_of_a_killed_run(void **state) {
  (void)state;
  const char *dir = temp_dir();
  char name[64], error[FRONTGEN_ERROR_MAX] = "";
  size_t bytes;
  for (int i = 0; i < 200; i++) {
    snprintf(name, sizeof name, ".x.%ld-%d.tmp", (long)getpid(), i);
    write_file(path_in(dir, name), "left", 4);
  }
  if (output_write(path_in(dir, "x"), "new", 3, error) != FRONTGEN_GOOD) fail_msg("%s", error);
  char *made = read_file(path_in(dir, "x"), &bytes);
  assert_int_equal(bytes, 3);
  assert_memory_equal(made, "new", 3);
  assert_int_equal(count_files(dir), 201);
  free(made);
}

static void test_failure_leaves_nothing(void **state) {
  (void)state;
  const char *dir = temp_dir(), *path = path_in(dir, "old.hsaco");
  char error[FRONTGEN_ERROR_MAX] = "", *kept;
  size_t bytes;
  struct plan plan = planned("tokens=1,tp=8");
  write_file(path, "old", 3);
  assert_int_equal(frontgen_build_file(&plan, &(struct frontgen_options){.lld = "/nowhere/lld"}, path, error), FRONTGEN_ENVIRONMENT);
  /* A disk that fills up in the middle of a write. */
  struct rlimit old_limit, limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  limit = (struct rlimit){4096, old_limit.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  char *large = calloc(1, 10000);
  enum frontgen_status status = output_write(path, large, 10000, error);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  signal(SIGXFSZ, SIG_DFL);
  assert_int_equal(status, FRONTGEN_ENVIRONMENT);
  assert_non_null(strstr(error, "File too large: make room"));
  kept = read_file(path, &bytes);
  assert_int_equal(bytes, 3);
  assert_memory_equal(kept, "old", 3);
  assert_int_equal(count_files(dir), 1);
  free(kept);
  free(large);
}

static void interrupted(int signal_number) {
  (void)signal_number;
  frontgen_interrupt();
  _exit(7);
}

/* The signal of a file size limit comes in the middle of a write, always at the same place. */
static void test_interrupted_write(void **state) {
  (void)state;
  const char *dir = temp_dir(), *path = path_in(dir, "x.hsaco");
  static const char large[10000];
  int status;
  pid_t child = fork();
  if (child == 0) {
    char error[FRONTGEN_ERROR_MAX];
    struct rlimit limit = {4096, 4096};
    signal(SIGXFSZ, interrupted);
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(output_write(path, large, sizeof large, error) == FRONTGEN_GOOD ? 0 : 1);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 7);
  assert_int_equal(count_files(dir), 0);
}

static void test_permissions(void **state) {
  (void)state;
  const char *path = path_in(temp_dir(), "x.hsaco");
  struct stat st;
  char error[FRONTGEN_ERROR_MAX] = "";
  static const mode_t masks[] = {0022, 0077};
  mode_t before = umask(0);
  for (size_t i = 0; i < 2; i++) {
    umask(masks[i]);
    assert_int_equal(output_write(path, "x", 1, error), FRONTGEN_GOOD);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~masks[i]);
  }
  umask(before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      {"a missing tool is named, with the package and the variable that mend it", test_missing_tools, NULL, NULL, NULL},
      {"a tool's own complaint reaches the user", test_failing_tool, NULL, NULL, NULL},
      {"an LLVM that encodes scaled MFMA wrongly is refused", test_old_llvm, NULL, NULL, NULL},
      {"the note's LLVM is the one that compiled", test_version, NULL, NULL, NULL},
      {"a tool that hangs is ended, with all that it started", test_time_limit, NULL, NULL, NULL},
      {"a tool that wants too much memory is an error and not a dead machine", test_memory_limit, NULL, NULL, NULL},
      {"text that is no kernel gives an error and no object", test_bad_ir, NULL, NULL, NULL},
      {"the same key gives the same bytes in any folder", test_same_bytes, NULL, NULL, NULL},
      {"threads may build at the same time", test_threads, NULL, NULL, NULL},
      {"the note says what the kernel is and hashes the IR and the flags", test_note, NULL, NULL, NULL},
      {"save-temps keeps each step", test_save_temps, NULL, NULL, NULL},
      {"a place that cannot be written is refused before any work", test_bad_places, NULL, NULL, NULL},
      {"a device, a pipe or a link is not replaced by a file", test_only_plain_files_are_replaced, NULL, NULL, NULL},
      {"what a killed run left is in nobody's way", test_leftovers_of_a_killed_run, NULL, NULL, NULL},
      {"a failed build leaves the old file and nothing else", test_failure_leaves_nothing, NULL, NULL, NULL},
      {"an interrupted write leaves no temporary file", test_interrupted_write, NULL, NULL, NULL},
      {"a code object can be read by those whom the umask lets", test_permissions, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
