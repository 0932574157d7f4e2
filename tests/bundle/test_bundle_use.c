/* SPDX-License-Identifier: Apache-2.0 */
/* Using bundles: deployed, verified, damaged. */
#include "bundle_rig.h"
#include "toolchain_config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a deployment does: moves it, makes it read-only, runs a key of it. */
static void test_relocated(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole)), *moved = strdup(path_in(temp_dir(), "elsewhere"));
  assert_int_equal(rename(folder, moved), 0);
  assert_int_equal(chmod(moved, 0555), 0);
  struct outcome o = run(FRONTRUN, moved, "--key", "tokens=1,tp=8,ratio=0", "--device", "emulator");
  assert_code(&o, 0);
  outcome_free(&o);
  o = run(FRONTRUN, moved, "--key", "tokens=2,tp=8,ratio=0", "--device", "emulator");
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, ONE)); /* the kernels there are */
  outcome_free(&o);
  o = run(FRONTRUN, moved, "--device", "emulator");
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, "--key"));
  outcome_free(&o);
  assert_int_equal(chmod(moved, 0755), 0);
  free((void *)(uintptr_t)moved);
  free((void *)(uintptr_t)folder);
}

/* A kernel that passes the gates and computes something else. */
static void test_verify(void **state) {
  (void)state;
  const char *folder = strdup(path_in(temp_dir(), "wrong")), *report = strdup(path_in(temp_dir(), "report.xml"));
  char text[4096];
  snprintf(text, sizeof text, "#!/bin/sh\nsed 's/float 0x407C000000000000/float 0x406C000000000000/g' | '%s' \"$@\"\n", OPT_PATH);
  struct outcome o = bundle("tokens=1,tp=8,ratio=0", folder, script("FRONTGEN_OPT", text), NULL);
  assert_code(&o, 0);
  outcome_free(&o);
  o = run(FRONTGEN, "verify", folder, "--junit", report, "-j", "2");
  assert_code(&o, 1);
  assert_non_null(strstr(o.err, ONE));
  assert_non_null(strstr(o.out, "0 of 1 kernels good"));
  outcome_free(&o);
  char *xml = read_file(report, NULL);
  assert_non_null(strstr(xml, "tests=\"1\" failures=\"1\" errors=\"0\""));
  assert_non_null(strstr(xml, "<failure message=\"" ONE));
  free(xml);
  o = run(FRONTGEN, "verify", whole, "--junit", report);
  assert_code(&o, 0);
  assert_non_null(strstr(o.out, "2 of 2 kernels good"));
  assert_non_null(strstr(o.err, "[2/2] 0 failed"));
  outcome_free(&o);
  xml = read_file(report, NULL);
  assert_non_null(strstr(xml, "tests=\"2\" failures=\"0\" errors=\"0\""));
  assert_non_null(strstr(xml, "name=\"" OTHER "\""));
  free(xml);
  free((void *)(uintptr_t)report);
  free((void *)(uintptr_t)folder);
}

/* A frontrun that cannot do its work is an error, not a failure, whatever it says of it. */
static void test_verify_report_of_errors(void **state) {
  (void)state;
  const char *report = strdup(path_in(temp_dir(), "report.xml"));
  const char *setting = script("FRONTGEN_FRONTRUN", "#!/bin/sh\necho 'frontrun: a <fault> & \"more\"' >&2\nexit 4\n");
  struct outcome o = run_argv((const char *const[]){FRONTGEN, "verify", whole, "--junit", report, NULL},
      &(struct run_options){.env = (const char *const[]){setting, NULL}});
  assert_code(&o, 4);
  assert_non_null(strstr(o.err, "frontgen: " ONE ": a <fault> & \"more\"\n"));
  outcome_free(&o);
  char *xml = read_file(report, NULL);
  assert_non_null(strstr(xml, "tests=\"2\" failures=\"0\" errors=\"2\""));
  assert_non_null(strstr(xml, "<error message=\"a &#60;fault&#62; &#38; &#34;more&#34;\" type=\"exit code 4\"/>"));
  free(xml);
  o = run_argv((const char *const[]){FRONTGEN, "verify", whole, NULL},
      &(struct run_options){.env = (const char *const[]){"FRONTGEN_FRONTRUN=/nowhere/frontrun", NULL}});
  assert_code(&o, 3);
  assert_non_null(strstr(o.err, "cannot run frontrun (/nowhere/frontrun: No such file or directory)"));
  outcome_free(&o);
  o = run_argv((const char *const[]){FRONTGEN, "verify", whole, NULL}, /* ends well, and has looked at nothing */
      &(struct run_options){.env = (const char *const[]){"FRONTGEN_FRONTRUN=/bin/true", NULL}});
  assert_code(&o, 3);
  assert_non_null(strstr(o.err, "frontgen: " ONE ": what ran is no frontrun"));
  outcome_free(&o);
  free((void *)(uintptr_t)report);
}

/* Interrupted, it leaves no kernel running. */
static void test_verify_interrupted(void **state) {
  (void)state;
  const char *mark = strdup(path_in(temp_dir(), "mark"));
  char text[4096];
  snprintf(text, sizeof text, "#!/bin/sh\necho $$ >'%s.new'; mv '%s.new' '%s'; exec sleep 1000\n", mark, mark, mark);
  const char *const argv[] = {FRONTGEN, "verify", whole, "-j", "1", NULL};
  pid_t pid = start(argv, script("FRONTGEN_FRONTRUN", text));
  while (!file_exists(mark)) usleep(10000);
  kill(pid, SIGTERM);
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status));
  char *child = read_file(mark, NULL);
  assert_gone(atoi(child));
  free(child);
  free((void *)(uintptr_t)mark);
}

/* The first word of a file of /proc, as text; "" if there is none. */
static void first_word(char word[64], const char *format, pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, format, (int)pid, (int)pid);
  FILE *in = fopen(path, "r");
  if (!in || fscanf(in, "%63s", word) != 1) *word = 0;
  if (in) fclose(in);
}

/* Nor does an acceptance run, whose kernels have a process each: here one that would stand for ever. */
static void test_accept_interrupted(void **state) {
  (void)state;
  const char *report = path_in(temp_dir(), "report.json");
  const char *const argv[] = {FRONTRUN, "--accept", whole, "--device", "emulator", "--report", report, NULL};
  pid_t pid = start(argv, "FRONT_UNUSED="), child = 0;
  char word[64] = "";
  int status;
  while (strcmp(word, "frontrun") != 0) { /* it executes: a stop before that would hold the other one too */
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    usleep(1000);
    first_word(word, "/proc/%d/task/%d/children", pid);
    child = atoi(word);
    if (child > 0) first_word(word, "/proc/%d/cmdline", child);
  }
  kill(child, SIGSTOP);
  kill(pid, SIGTERM);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status));
  assert_gone(child);
  assert_false(file_exists(report));
}

/* Every program that reads a bundle refuses it in a line, and runs nothing. */
static void refused(const char *folder, const char *says) {
  for (int i = 0; i < 3; i++) {
    const char *out = path_in(temp_dir(), "merged");
    struct outcome o = i == 0   ? run(FRONTRUN, folder, "--key", ONE, "--device", "emulator")
                       : i == 1 ? run(FRONTGEN, "merge", folder, "-o", out)
                                : run(FRONTGEN, "diff", folder, folder);
    assert_code(&o, 2);
    if (!strstr(o.err, says)) fail_msg("\"%s\" is not said: %s", says, o.err);
    assert_int_equal(o.out_bytes, 0);
    outcome_free(&o);
  }
}

/* The report that is sent back says why, of the damaged kernel alone. */
static void accepted_but_one(const char *folder) {
  const char *report = path_in(temp_dir(), "report.json");
  struct outcome o = run(FRONTRUN, "--accept", folder, "--device", "emulator", "--report", report);
  assert_code(&o, 2);
  assert_non_null(strstr(o.out, "8 of 9 good"));
  outcome_free(&o);
  char *text = read_file(report, NULL);
  const char *why = strstr(text, "\"error\": ");
  if (!why || !strstr(why, "have SHA-256")) fail_msg("the report does not say why: %s", text);
  free(text);
}

static void test_damaged(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole)), *index = strdup(path_in(folder, "SHA256SUMS")),
             *object = strdup(path_in(folder, FILE_OF(ONE)));
  size_t bytes, index_bytes;
  char *data = read_file(object, &bytes), *sums = read_file(index, &index_bytes), text[1024];
  data[bytes / 2] = (char)(data[bytes / 2] ^ 1);
  write_file(object, data, bytes);
  refused(folder, "SHA-256");
  accepted_but_one(folder);
  data[bytes / 2] = (char)(data[bytes / 2] ^ 1);
  write_file(object, data, bytes - 1);
  refused(folder, FILE_OF(ONE));
  unlink(object);
  assert_int_equal(symlink(path_in(whole, FILE_OF(ONE)), object), 0);
  refused(folder, FILE_OF(ONE));
  unlink(object);
  refused(folder, FILE_OF(ONE));
  write_file(object, data, bytes);
  snprintf(text, sizeof text, "%.64s  ../whole/%s\n", sums, FILE_OF(ONE));
  write_file(index, text, strlen(text));
  refused(folder, "SHA256SUMS");
  snprintf(text, sizeof text, "%.64s  %s\n%.64s  %s\n", sums, FILE_OF(ONE), sums, FILE_OF(ONE));
  write_file(index, text, strlen(text));
  refused(folder, "SHA256SUMS");
  write_file(index, sums, index_bytes - 1);
  refused(folder, "SHA256SUMS");
  unlink(index);
  refused(folder, "SHA256SUMS");
  free(data);
  free(sums);
  free((void *)(uintptr_t)index);
  free((void *)(uintptr_t)object);
  free((void *)(uintptr_t)folder);
}

int main(void) {
  const struct CMUnitTest use[] = {
      {"a bundle that was moved and is read-only runs; a missing key lists the keys there are", test_relocated, NULL, NULL, NULL},
      {"verify finds a kernel that passes the gates and computes something else", test_verify, NULL, NULL, NULL},
      {"verify, interrupted, leaves no kernel running", test_verify_interrupted, NULL, NULL, NULL},
      {"an acceptance run, interrupted, leaves no kernel running", test_accept_interrupted, NULL, NULL, NULL},
      {"a report of errors is well-formed, and an error is no failure", test_verify_report_of_errors, NULL, NULL, NULL},
      {"a damaged or hostile bundle is refused by every program that reads one", test_damaged, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests_name("use", use, make_whole, NULL);
}
