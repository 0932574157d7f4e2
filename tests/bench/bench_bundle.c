/* SPDX-License-Identifier: Apache-2.0 */
/* bench_bundle FRONTGEN FOLDER: the 144 keys of a deployment, against the limits that are promised for two idle cores. Wall seconds, and
   CPU seconds a core: what two cores would take with nothing else to do. Exit code 1 if a wall time is over its limit. */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frontgen.h"

extern char **environ;

#define PATTERN "tokens=1-48,tp=4,ratio=0|1|2"

static bool good = true;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu(void) {
  struct rusage u;
  getrusage(RUSAGE_CHILDREN, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void say(const char *what, double wall, double seconds, double limit) {
  printf("%-58s %7.2f s", what, wall);
  if (seconds >= 0) printf(", %6.2f s of two cores", seconds / 2);
  printf("; limit %.1f s%s\n", limit, wall > limit ? ": TOO SLOW" : "");
  fflush(stdout);
  good = good && wall <= limit;
}

static void run(const char *what, char *const argv[], double limit) {
  pid_t pid;
  int status = -1;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
  double began = now(), before = cpu();
  bool ran = posix_spawn(&pid, argv[0], &quiet, NULL, argv, environ) == 0 && waitpid(pid, &status, 0) == pid && status == 0;
  posix_spawn_file_actions_destroy(&quiet);
  if (ran) {
    say(what, now() - began, cpu() - before, limit);
    return;
  }
  fprintf(stderr, "bench_bundle: %s: %s %s failed\n", what, argv[0], argv[1]);
  good = false;
}

/* All IR, in this process. */
static void generation(void) {
  struct front_key *key;
  size_t keys;
  char error[FRONTGEN_ERROR_MAX];
  double began = now();
  bool fine = key_expand(PATTERN, &key, &keys, error);
  for (size_t i = 0; fine && i < keys; i++) {
    struct plan plan;
    char *text;
    size_t bytes;
    fine = plan_make(&key[i], &target_gfx950, &plan, error) && frontgen_emit(&plan, &text, &bytes, error) == FRONTGEN_GOOD;
    if (fine) free(text);
  }
  if (fine) free(key);
  good = good && fine;
  say("generation of 144 keys", now() - began, -1, 0.3);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: bench_bundle FRONTGEN FOLDER\n");
    return 2;
  }
  char folder[4096], pattern[] = PATTERN, remove[9000], command[9000];
  snprintf(folder, sizeof folder, "%s/bundle", argv[2]);
  snprintf(remove, sizeof remove, "rm -rf '%s' && mkdir -p '%s'", argv[2], argv[2]);
  if (system(remove) != 0) return 1;
  char *bundle[] = {argv[1], "bundle", pattern, "-o", folder, "--arch", "gfx950", NULL};
  char *verify[] = {argv[1], "verify", folder, NULL};
  generation();
  run("cold bundle of 144 keys", bundle, 30);
  run("the same again: nothing to do", bundle, 0.5);
  snprintf(command, sizeof command, "echo '; changed' >>'%s/.bundle.frontgen/ir/front_s8_tp4_r2_w128_t0.gfx950.ll'", argv[2]);
  good = system(command) == 0 && good;
  run("one kernel changed", bundle, 2);
  run("verify of 144 keys", verify, 180);
  return good ? 0 : 1;
}
