/* SPDX-License-Identifier: Apache-2.0 */
/* bench_frontgen FRONTGEN emit, or FRONTGEN build FOLDER: the time of whole processes on one core, against the limits that are promised.
   The median of several runs a key; exit code 1 if one is over its limit. */
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const char *const keys[] = {
    "tokens=1,tp=8,ratio=0", "tokens=8,tp=4", "tokens=16,tp=4,tuned=1", "tokens=48,tp=4,tuned=1", "tokens=48,tp=1,ratio=128,window=4096"};
enum { KEYS = sizeof keys / sizeof *keys, RUNS_MAX = 50 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Seconds of one run, output thrown away; negative if it failed. */
static double run_once(char *const argv[]) {
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int status = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  double began = now();
  bool good = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) == 0 && waitpid(pid, &status, 0) == pid && status == 0;
  double seconds = now() - began;
  posix_spawn_file_actions_destroy(&actions);
  return good ? seconds : -1;
}

static bool measure(char *const argv[], int runs, double limit) {
  double seconds[RUNS_MAX];
  for (int i = 0; i < runs; i++) {
    seconds[i] = run_once(argv);
    if (seconds[i] < 0) {
      fprintf(stderr, "bench_frontgen: %s %s %s failed\n", argv[0], argv[1], argv[2]);
      return false;
    }
  }
  qsort(seconds, (size_t)runs, sizeof *seconds, ascending);
  double median = seconds[runs / 2];
  printf("%-6s %-40s median %8.2f ms, best %8.2f, worst %8.2f of %d; limit %.0f ms%s\n", argv[1], argv[2], median * 1e3, seconds[0] * 1e3,
      seconds[runs - 1] * 1e3, runs, limit * 1e3, median > limit ? ": TOO SLOW" : "");
  return median <= limit;
}

int main(int argc, char **argv) {
  bool builds = argc == 4 && strcmp(argv[2], "build") == 0;
  if (!builds && (argc != 3 || strcmp(argv[2], "emit") != 0)) {
    fprintf(stderr, "usage: bench_frontgen FRONTGEN emit | FRONTGEN build FOLDER\n");
    return 2;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((unsigned)sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) perror("sched_setaffinity: not on one core");
  bool good = true;
  for (int i = 0; i < KEYS; i++) {
    char key[64];
    snprintf(key, sizeof key, "%s", keys[i]);
    char *emit[] = {argv[1], argv[2], key, NULL}, *build[] = {argv[1], argv[2], key, "-o", argv[3], NULL};
    good = measure(builds ? build : emit, builds ? 5 : RUNS_MAX, builds ? 0.4 : 0.002) && good;
  }
  return good ? 0 : 1;
}
