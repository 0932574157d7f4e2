/* SPDX-License-Identifier: Apache-2.0 */
/* Running LLVM's programs. Input, output and complaints are memory files, so nothing is left on disk and no pipe can block or raise. */
#include "tool.h"
#include "bitcode.h"
#include "toolchain_config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { RUNNING_MAX = 64, ARGUMENTS_MAX = 32, COMPLAINT_MAX = 4096, LLVM_OLDEST = 22, DEFAULT_SECONDS = 60, DEFAULT_MEBIBYTES = 4096 };

static const struct {
  const char *name, *variable, *package;
  const char *built_with, *on_path; /* where to look when nobody said: as configured, then on PATH */
} tools[TOOLS] = {
    [TOOL_OPT] = {"opt", "FRONTGEN_OPT", "llvm-22", OPT_PATH, "opt-22"},
    [TOOL_LLC] = {"llc", "FRONTGEN_LLC", "llvm-22", LLC_PATH, "llc-22"},
    [TOOL_LLD] = {"ld.lld", "FRONTGEN_LLD", "lld-22", LLD_PATH, "ld.lld-22"},
    [TOOL_OBJDUMP] = {"llvm-objdump", "FRONTGEN_OBJDUMP", "llvm-22", OBJDUMP_PATH, "llvm-objdump-22"},
};

static _Atomic pid_t running[RUNNING_MAX]; /* process groups, for tool_interrupt() */

int tool_file(const void *data, size_t bytes) {
  int file = memfd_create("frontgen", MFD_CLOEXEC);
  if (file >= 0 && file <= STDERR_FILENO) { /* the caller runs without standard streams: keep off the child's */
    int low = file;
    file = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(low);
  }
  for (size_t done = 0; file >= 0 && done < bytes;) {
    ssize_t n = pwrite(file, (const char *)data + done, bytes - done, (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      close(file);
      return -1;
    }
    done += (size_t)n;
  }
  return file;
}

void tool_file_path(int file, char path[TOOL_PATH_MAX]) { snprintf(path, TOOL_PATH_MAX, "/proc/self/fd/%d", file); }

char *tool_file_read(int file, size_t *bytes) {
  struct stat st;
  if (fstat(file, &st) != 0) return NULL;
  char *data = malloc((size_t)st.st_size + 1);
  size_t done = 0;
  while (data && done < (size_t)st.st_size) {
    ssize_t n = pread(file, data + done, (size_t)st.st_size - done, (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += (size_t)n;
  }
  if (data) data[done] = 0;
  *bytes = done;
  return data;
}

void tool_file_last_line(int file, const char *prefix, char *line, size_t room) {
  size_t bytes = 0;
  char *text = tool_file_read(file, &bytes);
  while (text && bytes && text[bytes - 1] == '\n') text[--bytes] = 0;
  const char *newline = text ? strrchr(text, '\n') : NULL, *last = newline ? newline + 1 : text ? text : "";
  if (strncmp(last, prefix, strlen(prefix)) == 0) last += strlen(prefix);
  snprintf(line, room, "%s", last);
  free(text);
}

static const char *option_path(enum tool tool, const struct frontgen_options *o) {
  const char *const given[TOOLS] = {[TOOL_OPT] = o->opt, [TOOL_LLC] = o->llc, [TOOL_LLD] = o->lld, [TOOL_OBJDUMP] = o->objdump};
  if (given[tool]) return given[tool];
  const char *variable = getenv(tools[tool].variable);
  return variable && *variable ? variable : NULL;
}

const char *tool_named(enum tool tool, const struct frontgen_options *options) {
  static const struct frontgen_options defaults;
  return option_path(tool, options ? options : &defaults);
}

const char *tool_program(enum tool tool, const struct frontgen_options *options) {
  const char *named = tool_named(tool, options);
  return named ? named : tools[tool].built_with;
}

const char *tool_variable(enum tool tool) { return tools[tool].variable; }

/* The line of a tool's stderr that says what was wrong: the first with "error" in it, else the first that is not empty. */
static void complaint_line(int complaints, char line[FRONTGEN_ERROR_MAX]) {
  char text[COMPLAINT_MAX + 1], *found = NULL;
  ssize_t n = pread(complaints, text, COMPLAINT_MAX, 0);
  text[n > 0 ? n : 0] = 0;
  for (char *at = text, *next; *at; at = next) {
    size_t length = strcspn(at, "\n");
    next = at + length + (at[length] == '\n');
    at[length] = 0;
    bool error = strcasestr(at, "error") != NULL;
    if (length && (!found || error)) found = at;
    if (error) break;
  }
  snprintf(line, FRONTGEN_ERROR_MAX, "%.400s", found ? found : "it said nothing");
  for (char *c = line; *c; c++)
    if (!isprint((unsigned char)*c)) *c = '?';
}

static enum frontgen_status cannot_start(enum tool tool, const char *path, int why, char error[FRONTGEN_ERROR_MAX]) {
  const char *variable = tools[tool].variable;
  if (!path)
    snprintf(error, FRONTGEN_ERROR_MAX, "%s not found: install %s or set %s", tools[tool].on_path, tools[tool].package, variable);
  else if (why == ENOENT)
    snprintf(
        error, FRONTGEN_ERROR_MAX, "%s not found at %.300s: install %s or set %s", tools[tool].name, path, tools[tool].package, variable);
  else
    snprintf(error, FRONTGEN_ERROR_MAX, "%s cannot be run (%.300s: %s): install %s or set %s", tools[tool].name, path, strerror(why),
        tools[tool].package, variable);
  return FRONTGEN_ENVIRONMENT;
}

static int spawn(enum tool tool, const char *path, char *const *argv, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attr, pid_t *pid) {
  if (path) return posix_spawnp(pid, path, actions, attr, argv, environ);
  int why = posix_spawn(pid, tools[tool].built_with, actions, attr, argv, environ);
  return why == ENOENT ? posix_spawnp(pid, tools[tool].on_path, actions, attr, argv, environ) : why;
}

/* A group of its own, so that a limit also ends what a wrapper script has started; default signals. */
static int start(enum tool tool, const char *path, char *const *argv, const int standard[3], const int *files, size_t count, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  sigset_t none, all;
  int why = posix_spawn_file_actions_init(&actions);
  if (why) return why;
  why = posix_spawnattr_init(&attr);
  if (why) {
    posix_spawn_file_actions_destroy(&actions);
    return why;
  }
  for (int i = 0; i < 3 && !why; i++)
    why = standard[i] >= 0 ? posix_spawn_file_actions_adddup2(&actions, standard[i], i)
                           : posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
  /* A descriptor duplicated to itself loses its close-on-exec flag in the child. */
  for (size_t i = 0; i < count && !why; i++) why = posix_spawn_file_actions_adddup2(&actions, files[i], files[i]);
  sigemptyset(&none);
  sigfillset(&all);
  if (!why) why = posix_spawnattr_setsigmask(&attr, &none);
  if (!why) why = posix_spawnattr_setsigdefault(&attr, &all);
  if (!why) why = posix_spawnattr_setpgroup(&attr, 0);
  if (!why) why = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  if (!why) why = spawn(tool, path, argv, &actions, &attr, pid);
  posix_spawnattr_destroy(&attr);
  posix_spawn_file_actions_destroy(&actions);
  return why;
}

static void limit(pid_t pid, uint32_t seconds, uint32_t mebibytes) {
  struct rlimit none = {0, 0}, memory = {(rlim_t)mebibytes << 20, (rlim_t)mebibytes << 20}, cpu = {seconds + 1, seconds + 1};
  prlimit(pid, RLIMIT_CORE, &none, NULL);
  prlimit(pid, RLIMIT_AS, &memory, NULL);
  prlimit(pid, RLIMIT_CPU, &cpu, NULL); /* ends it even if this process is killed meanwhile */
}

static int64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for the process; after `seconds` kills its group. Returns the wait status. */
static int await(pid_t pid, uint32_t seconds, bool *late) {
  int64_t end = milliseconds() + (int64_t)seconds * 1000;
  int handle = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
  *late = false;
  for (;;) {
    pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid || (done < 0 && errno != EINTR)) break;
    int64_t left = end - milliseconds();
    if (left <= 0 && !*late) {
      *late = true;
      kill(-pid, SIGKILL);
    }
    if (*late) left = 1000;
    struct pollfd until = {.fd = handle, .events = POLLIN};
    poll(&until, handle >= 0, handle >= 0 ? (int)(left < 1000 ? left : 1000) : 1); /* an old kernel has no handle: look each 1 ms */
  }
  if (handle >= 0) close(handle);
  return status;
}

static enum frontgen_status verdict(
    enum tool tool, int status, bool late, int complaints, uint32_t seconds, uint32_t mebibytes, char error[FRONTGEN_ERROR_MAX]) {
  char line[FRONTGEN_ERROR_MAX];
  if (late) {
    snprintf(error, FRONTGEN_ERROR_MAX, "%s took longer than its limit of %u s and was ended: raise the limit or take another key",
        tools[tool].name, seconds);
    return FRONTGEN_ENVIRONMENT;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return FRONTGEN_GOOD;
  complaint_line(complaints, line);
  if (strcasestr(line, "out of memory") || strstr(line, "bad_alloc") || strcasestr(line, "allocat") || strstr(line, "failed to map"))
    snprintf(error, FRONTGEN_ERROR_MAX, "%s ran out of memory (limit %u MiB): raise the limit: %.300s", tools[tool].name, mebibytes, line);
  else if (WIFSIGNALED(status))
    snprintf(error, FRONTGEN_ERROR_MAX, "%s was ended by signal %d: %.400s", tools[tool].name, WTERMSIG(status), line);
  else
    snprintf(error, FRONTGEN_ERROR_MAX, "%s failed (exit code %d): %.400s", tools[tool].name, WEXITSTATUS(status), line);
  return FRONTGEN_ENVIRONMENT;
}

/* Notes the process for tool_interrupt(). A full table only means that an interrupt leaves this one to its limits. */
static size_t note_running(pid_t pid) {
  size_t slot = 0;
  for (pid_t empty = 0; slot < RUNNING_MAX && !atomic_compare_exchange_strong(&running[slot], &empty, pid); slot++) empty = 0;
  return slot;
}

enum frontgen_status tool_run(enum tool tool, const char *const *arguments, int input, int output, const int *files, size_t count,
    const struct frontgen_options *options, char error[FRONTGEN_ERROR_MAX]) {
  static const struct frontgen_options defaults;
  const struct frontgen_options *o = options ? options : &defaults;
  const char *path = option_path(tool, o);
  uint32_t seconds = o->seconds ? o->seconds : DEFAULT_SECONDS, mebibytes = o->mebibytes ? o->mebibytes : DEFAULT_MEBIBYTES;
  char *argv[ARGUMENTS_MAX] = {(char *)(uintptr_t)tools[tool].name};
  for (size_t i = 0; arguments[i] && i < ARGUMENTS_MAX - 2; i++) argv[i + 1] = (char *)(uintptr_t)arguments[i];
  int complaints = tool_file(NULL, 0);
  if (complaints < 0) {
    snprintf(error, FRONTGEN_ERROR_MAX, "no memory file for %s: %s", tools[tool].name, strerror(errno));
    return FRONTGEN_ENVIRONMENT;
  }
  if (input >= 0) lseek(input, 0, SEEK_SET);
  pid_t pid;
  size_t slot = 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before); /* an interrupt finds the tool noted, or not started */
  int why = start(tool, path, argv, (const int[]){input, output, complaints}, files, count, &pid);
  if (!why) slot = note_running(pid);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  enum frontgen_status result;
  if (why) {
    result = cannot_start(tool, path ? path : why == ENOENT ? NULL : tools[tool].built_with, why, error);
  } else {
    bool late;
    limit(pid, seconds, mebibytes);
    int status = await(pid, seconds, &late);
    if (slot < RUNNING_MAX) atomic_store(&running[slot], 0);
    result = verdict(tool, status, late, complaints, seconds, mebibytes, error);
  }
  close(complaints);
  return result;
}

int tool_spawn_noted(const char *path, const posix_spawn_file_actions_t *actions, const char *const *argv, _Atomic pid_t *noted) {
  sigset_t all, before;
  posix_spawnattr_t attr;
  pid_t pid = 0;
  int why = posix_spawnattr_init(&attr);
  if (why) return why;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  posix_spawnattr_setsigmask(&attr, &before);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
  why = posix_spawn(&pid, path, actions, &attr, (char *const *)(uintptr_t)argv, environ);
  if (!why) atomic_store(noted, pid);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  posix_spawnattr_destroy(&attr);
  return why;
}

void tool_interrupt(void) {
  for (size_t i = 0; i < RUNNING_MAX; i++) {
    pid_t pid = atomic_load(&running[i]);
    if (pid > 0) kill(-pid, SIGKILL);
  }
}

static enum frontgen_status ask_version(const struct frontgen_options *options, char version[32], char error[FRONTGEN_ERROR_MAX]) {
  int output = tool_file(NULL, 0);
  size_t bytes = 0;
  enum frontgen_status status = tool_run(TOOL_LLC, (const char *const[]){"--version", NULL}, -1, output, NULL, 0, options, error);
  char *text = status ? NULL : tool_file_read(output, &bytes);
  const char *at = text ? strstr(text, "LLVM version ") : NULL;
  if (output >= 0) close(output);
  if (at) {
    at += strlen("LLVM version ");
    size_t length = strspn(at, "0123456789.");
    snprintf(version, 32, "%.*s", (int)(length < 31 ? length : 31), at);
  } else if (!status) {
    snprintf(error, FRONTGEN_ERROR_MAX, "llc --version names no LLVM version: set %s to an llc of LLVM %d or newer",
        tools[TOOL_LLC].variable, LLVM_OLDEST);
    status = FRONTGEN_ENVIRONMENT;
  }
  free(text);
  return status;
}

static enum frontgen_status remembered_version(const char *path, const struct frontgen_options *options, char version[32], char *error) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char known_path[512], known_version[32];
  enum frontgen_status status = FRONTGEN_GOOD;
  pthread_mutex_lock(&lock);
  if (known_version[0] && strcmp(known_path, path) == 0) {
    strcpy(version, known_version);
  } else {
    status = ask_version(options, version, error);
    if (!status && strlen(path) < sizeof known_path) {
      strcpy(known_path, path);
      strcpy(known_version, version);
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static enum frontgen_status check_age(const char *version, char error[FRONTGEN_ERROR_MAX]) {
  if (atoi(version) >= LLVM_OLDEST) return FRONTGEN_GOOD;
  snprintf(error, FRONTGEN_ERROR_MAX, "llc is LLVM %s, which encodes scaled MFMA wrongly: install llvm-%d or newer, or set %s", version,
      LLVM_OLDEST, tools[TOOL_LLC].variable);
  return FRONTGEN_ENVIRONMENT;
}

enum frontgen_status tool_llvm_version(const struct frontgen_options *options, char version[32], char error[FRONTGEN_ERROR_MAX]) {
  static const struct frontgen_options defaults;
  const char *llc = option_path(TOOL_LLC, options ? options : &defaults);
  enum frontgen_status status = remembered_version(llc ? llc : "", options, version, error);
  return status ? status : check_age(version, error);
}

enum frontgen_status tool_bitcode_version(
    const void *bitcode, size_t bytes, const struct frontgen_options *options, char version[32], char error[FRONTGEN_ERROR_MAX]) {
  static const struct frontgen_options defaults;
  const struct frontgen_options *o = options ? options : &defaults;
  bool ours = !option_path(TOOL_LLC, o) && !option_path(TOOL_OPT, o);
  if (ours && bitcode_version(bitcode, bytes, version)) return check_age(version, error);
  return tool_llvm_version(options, version, error);
}
