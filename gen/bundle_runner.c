/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle_runner.h"
#include "tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic pid_t ninja;

void bundle_interrupt(void) {
  pid_t pid = atomic_load(&ninja);
  if (pid > 0) kill(pid, SIGTERM);
}

static unsigned cpus(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* A tool that is named by a relative path is another one in the work folder. */
static void absolute_tools(const struct frontgen_options *tools) {
  for (enum tool t = 0; t < TOOLS; t++) {
    char path[PATH_MAX];
    const char *named = tool_named(t, tools);
    if (named) setenv(tool_variable(t), strchr(named, '/') && realpath(named, path) ? path : named, 1);
  }
}

/* In the child. Comes back only if there is no ninja, with errno. */
static void become_ninja(const struct bundle_options *o, const struct bundle_work *w) {
  static const char *const names[] = {"ninja", "ninja-build", "samu"};
  const char *named = getenv("FRONTGEN_NINJA");
  char jobs[16], limits[32], program[PATH_MAX];
  char *argv[] = {(char *)(uintptr_t) "ninja", (char *)(uintptr_t) "-j", jobs, NULL};
  snprintf(jobs, sizeof jobs, "%u", o->jobs ? o->jobs : cpus());
  snprintf(limits, sizeof limits, "%u,%u", o->tools ? o->tools->seconds : 0, o->tools ? o->tools->mebibytes : 0);
  setenv(BUNDLE_LIMITS, limits, 1);
  setenv(BUNDLE_PROGRAM, o->program, 1);
  absolute_tools(o->tools);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  fcntl(w->lock, F_SETFD, 0);
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;
  if (named && *named) {
    if (strchr(named, '/') && realpath(named, program)) named = program;
    if (chdir(w->work) == 0) execvp(named, argv);
    return;
  }
  if (chdir(w->work) != 0) return;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) execvp(names[i], argv);
}

static enum frontgen_status no_ninja(int why, char error[FRONTGEN_ERROR_MAX]) {
  snprintf(error, FRONTGEN_ERROR_MAX, "cannot run ninja (%s): install ninja-build, or set FRONTGEN_NINJA", strerror(why));
  return FRONTGEN_ENVIRONMENT;
}

/* Starts ninja; a pipe that its start closes carries errno otherwise. Returns the wait status; -1 with *why if it did not start. */
static int run(const struct bundle_options *o, const struct bundle_work *w, int *why) {
  int report[2], status = -1;
  *why = 0;
  if (pipe2(report, O_CLOEXEC) != 0) {
    *why = errno;
    return -1;
  }
  pid_t pid = fork();
  if (pid == 0) {
    become_ninja(o, w);
    int failed = errno;
    ssize_t told = write(report[1], &failed, sizeof failed);
    _exit(told > 0 ? 126 : 127);
  }
  if (pid < 0) *why = errno;
  atomic_store(&ninja, pid);
  close(report[1]);
  if (pid > 0 && read(report[0], why, sizeof *why) != sizeof *why) *why = 0;
  close(report[0]);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  atomic_store(&ninja, 0);
  return status;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }
static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* The sentence of the first step that failed, and how many more there are. A step's file: "STATUS sentence". */
static enum frontgen_status first_failure(const struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]) {
  char path[PATH_MAX], *end;
  struct dirent **list = NULL;
  enum frontgen_status status = FRONTGEN_GOOD;
  int count = bundle_path(w, "failed", path, error) ? scandir(path, &list, visible, by_name) : 0;
  for (int i = 0; i < count; i++) {
    char part[NAME_MAX + 16];
    size_t bytes;
    snprintf(part, sizeof part, "failed/%s", list[i]->d_name);
    char *text = !status && bundle_path(w, part, path, error) ? bundle_read(path, &bytes) : NULL;
    unsigned long code = text ? strtoul(text, &end, 10) : 0;
    if (code >= FRONTGEN_GATE && code <= FRONTGEN_ENVIRONMENT) {
      status = (enum frontgen_status)code;
      snprintf(error, FRONTGEN_ERROR_MAX, "%.560s", *end ? end + 1 : end);
      if (count > 1) snprintf(error + strlen(error), FRONTGEN_ERROR_MAX - strlen(error), " (and %d more)", count - 1);
    }
    free(text);
    free(list[i]);
  }
  free(list);
  return status;
}

enum frontgen_status bundle_runner(const struct bundle_options *o, const struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]) {
  int why, result = run(o, w, &why);
  if (why) return no_ninja(why, error);
  if (WIFEXITED(result) && WEXITSTATUS(result) == 0) return FRONTGEN_GOOD;
  enum frontgen_status status = first_failure(w, error);
  if (status) return status;
  if (WIFEXITED(result))
    snprintf(
        error, FRONTGEN_ERROR_MAX, "ninja failed (exit code %d): its lines above say why; the bundle is as it was", WEXITSTATUS(result));
  else
    snprintf(error, FRONTGEN_ERROR_MAX, "ninja was ended by signal %d: run it again, it goes on where it stopped", WTERMSIG(result));
  return FRONTGEN_ENVIRONMENT;
}
