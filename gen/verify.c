/* SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MAX = 256 };

bool verify_find(char path[4096]) {
  static const char *const places[] = {"frontrun", "../frontrun/frontrun"}; /* installed; in a build's folder */
  const char *named = getenv("FRONTGEN_FRONTRUN");
  char self[3000];
  if (named && *named) {
    snprintf(path, 4096, "%s", named);
    return true;
  }
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = 0;
  char *slash = strrchr(self, '/');
  if (slash) *slash = 0;
  for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
    snprintf(path, 4096, "%s/%s", self, places[i]);
    if (access(path, X_OK) == 0) return true;
  }
  snprintf(path, 4096, "%s/frontrun", self);
  return false;
}

/* A frontrun that runs. */
struct job {
  _Atomic pid_t pid; /* 0: none */
  size_t which;
  int said, complaints; /* standard output and error */
  double began;
};

static struct job jobs_running[JOBS_MAX];

void verify_interrupt(void) {
  for (size_t i = 0; i < JOBS_MAX; i++) {
    pid_t pid = atomic_load(&jobs_running[i].pid);
    if (pid > 0) kill(pid, SIGKILL);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool open_files(struct job *job) {
  job->said = tool_file(NULL, 0);
  job->complaints = job->said < 0 ? -1 : tool_file(NULL, 0);
  if (job->complaints >= 0) return true;
  int why = errno;
  if (job->said >= 0) close(job->said);
  errno = why;
  return false;
}

static void close_files(const struct job *job) {
  close(job->said);
  close(job->complaints);
}

static int spawn_one(const char *frontrun, const char *bundle, const struct verify_case *c, uint32_t seconds, struct job *job) {
  char limit[16];
  const char *argv[16] = {
      "frontrun", bundle, "--key", c->name, "--arch", c->arch, "--device", "emulator", "--no-traffic", "--threads", "1"};
  posix_spawn_file_actions_t actions;
  snprintf(limit, sizeof limit, "%u", seconds);
  if (seconds) {
    argv[11] = "--timeout";
    argv[12] = limit;
  }
  if (!open_files(job)) return errno;
  int why = posix_spawn_file_actions_init(&actions);
  if (!why) why = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!why) why = posix_spawn_file_actions_adddup2(&actions, job->said, STDOUT_FILENO);
  if (!why) why = posix_spawn_file_actions_adddup2(&actions, job->complaints, STDERR_FILENO);
  if (!why) why = tool_spawn_noted(frontrun, &actions, argv, &job->pid);
  posix_spawn_file_actions_destroy(&actions);
  if (why) close_files(job);
  return why;
}

/* A program that ends well has shown nothing yet: frontrun's last line is a verdict. */
static void check_said(const struct job *job, struct verify_case *c) {
  char line[64];
  tool_file_last_line(job->said, "", line, sizeof line);
  if (!strncmp(line, "good: ", 6)) return;
  c->code = FRONTGEN_ENVIRONMENT;
  snprintf(c->message, sizeof c->message, "what ran is no frontrun, it gives no verdict: set FRONTGEN_FRONTRUN to frontgen's own");
}

static void take_message(const struct job *job, struct verify_case *c) {
  if (*c->message) return;
  if (c->code) tool_file_last_line(job->complaints, "frontrun: ", c->message, sizeof c->message);
  if (c->code && !*c->message) snprintf(c->message, sizeof c->message, "it ended without a word");
}

static void settle(struct job *job, struct verify_case *cases, int status) {
  struct verify_case *c = &cases[job->which];
  c->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  c->seconds = now() - job->began;
  if (!c->code) check_said(job, c);
  take_message(job, c);
  close_files(job);
  job->pid = 0;
}

/* On a terminal one line that changes; else a line a kernel that failed. */
static void show(const struct verify_case *c, size_t done, size_t count, size_t failed) {
  bool terminal = isatty(STDERR_FILENO);
  if (c->code) fprintf(stderr, "%sfrontgen: %s: %s\n", terminal ? "\r\033[K" : "", c->name, c->message);
  if (terminal) fprintf(stderr, "\r\033[K[%zu/%zu] %zu failed: %s", done, count, failed, c->name);
  if (terminal && done == count) fprintf(stderr, "\r\033[K");
  if (!terminal && (done == count || done % 16 == 0)) fprintf(stderr, "[%zu/%zu] %zu failed\n", done, count, failed);
}

static struct job *job_of(struct job *jobs, uint32_t count, pid_t pid) {
  for (uint32_t i = 0; i < count; i++)
    if (jobs[i].pid == pid) return &jobs[i];
  return NULL;
}

static uint32_t job_count(uint32_t jobs) {
  cpu_set_t set;
  if (!jobs) jobs = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
  return jobs > JOBS_MAX ? JOBS_MAX : jobs;
}

enum frontgen_status verify_run(const char *frontrun, const char *bundle, struct verify_case *cases, size_t count, uint32_t jobs,
    uint32_t seconds, char error[FRONTGEN_ERROR_MAX]) {
  struct job *job = jobs_running;
  uint32_t at_once = job_count(jobs), running = 0;
  size_t next = 0, done = 0, failed = 0;
  int why = 0;
  setenv("FRONT_EMU_THREADS", "1", 1); /* a process a CPU is faster than threads of one */
  while (done < count && (!why || running)) {
    struct job *idle = !why && next < count && running < at_once ? job_of(job, at_once, 0) : NULL;
    if (idle) {
      idle->which = next;
      idle->began = now();
      why = spawn_one(frontrun, bundle, &cases[next++], seconds, idle);
      running += !why;
      continue;
    }
    int status;
    pid_t pid = wait(&status);
    struct job *ended = pid > 0 ? job_of(job, at_once, pid) : NULL;
    if (pid < 0 && errno != EINTR) why = errno;
    if (pid < 0 && errno == ECHILD) break;
    if (!ended) continue;
    settle(ended, cases, status);
    running--;
    failed += cases[ended->which].code != 0;
    show(&cases[ended->which], ++done, count, failed);
  }
  if (!why) return FRONTGEN_GOOD;
  snprintf(error, FRONTGEN_ERROR_MAX, "cannot run frontrun (%.300s: %s): install it beside frontgen, or set FRONTGEN_FRONTRUN", frontrun,
      strerror(why));
  return FRONTGEN_ENVIRONMENT;
}

static void put_escaped(struct text *out, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '&' || c == '<' || c == '>' || c == '"')
      text_print(out, "&#%u;", c);
    else
      text_put(out, c < ' ' || c > '~' ? "?" : text, 1);
  }
}

void verify_junit(const char *bundle, const struct verify_case *cases, size_t count, struct text *out) {
  size_t failures = 0, errors = 0;
  double seconds = 0;
  for (size_t i = 0; i < count; i++) {
    failures += cases[i].code == 1;
    errors += cases[i].code > 1;
    seconds += cases[i].seconds;
  }
  text_string(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"");
  put_escaped(out, bundle);
  text_print(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\">\n", count, failures, errors, seconds);
  for (size_t i = 0; i < count; i++) {
    const struct verify_case *c = &cases[i];
    text_print(out, "<testcase classname=\"frontgen.%s\" name=\"%s\" time=\"%.3f\"", c->arch, c->name, c->seconds);
    if (!c->code) {
      text_string(out, "/>\n");
      continue;
    }
    text_print(out, "><%s message=\"", c->code == 1 ? "failure" : "error");
    put_escaped(out, c->message);
    text_print(out, "\" type=\"exit code %d\"/></testcase>\n", c->code);
  }
  text_string(out, "</testsuite>\n</testsuites>\n");
}
