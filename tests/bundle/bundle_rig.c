/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle_rig.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

const char *whole;

struct outcome bundle(const char *pattern, const char *folder, const char *change, const char *const more[3]) {
  const char *argv[12] = {FRONTGEN, "bundle", pattern, "-o", folder, "--arch", "gfx950"};
  for (int i = 0; i < 3 && more; i++) argv[7 + i] = more[i];
  return run_argv(argv, &(struct run_options){.env = (const char *const[]){change ? change : "FRONT_UNUSED", NULL}});
}

void make(const char *pattern, const char *folder) {
  struct outcome o = bundle(pattern, folder, NULL, NULL);
  assert_code(&o, 0);
  outcome_free(&o);
}

int make_whole(void **state) {
  (void)state;
  if (!whole) {
    const char *dir = temp_dir();
    whole = strdup(path_in(dir, "whole"));
    make(PATTERN, whole);
  }
  return 0;
}

const char *work_of(const char *folder, const char *part) {
  static char path[4096];
  const char *slash = strrchr(folder, '/');
  snprintf(path, sizeof path, "%.*s/.%s.frontgen/%s", (int)(slash - folder), folder, slash + 1, part);
  return path;
}

void assert_same(const char *a, const char *b) {
  struct outcome o = run("diff", "-r", a, b);
  assert_code(&o, 0);
  outcome_free(&o);
}

const char *copy_of(const char *folder) {
  char command[9000];
  const char *dir = temp_dir();
  snprintf(command, sizeof command, "cp -a '%s' '%s/b' && cp -a '%s' '%s/.b.frontgen'", folder, dir, work_of(folder, ""), dir);
  struct outcome o = run("sh", "-c", command);
  assert_code(&o, 0);
  outcome_free(&o);
  return path_in(dir, "b");
}

const char *script(const char *variable, const char *text) {
  static char setting[4096];
  const char *path = path_in(temp_dir(), "tool");
  write_file(path, text, strlen(text));
  assert_int_equal(chmod(path, 0755), 0);
  snprintf(setting, sizeof setting, "%s=%s", variable, path);
  return setting;
}

pid_t start(const char *const argv[], const char *setting) {
  char *env[512] = {(char *)(uintptr_t)setting};
  pid_t pid;
  posix_spawn_file_actions_t actions;
  for (size_t i = 0; environ[i] && i < 500; i++) env[i + 1] = environ[i];
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
  assert_int_equal(posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, env), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

void assert_gone(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  for (int waited = 0; waited < 1000; waited++, usleep(10000)) {
    FILE *in = fopen(path, "r");
    char line[256] = "", *end;
    if (!in) return;
    bool read = fgets(line, sizeof line, in) != NULL;
    fclose(in);
    if (!read || ((end = strrchr(line, ')')) && end[1] && end[2] == 'Z')) return;
  }
  fail_msg("process %d is still there", (int)pid);
}
