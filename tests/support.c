/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, files and code objects for tests: see support.h. */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "toolchain_config.h"

extern char **environ;

enum { PATHS = 8 };

static char *next_path(void) {
  static char paths[PATHS][PATH_MAX];
  static unsigned next;
  return paths[next++ % PATHS];
}

const char *path_in(const char *dir, const char *name) {
  char *path = next_path();
  if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX) fail_msg("%s/%s: path too long", dir, name);
  return path;
}

const char *built_path(const char *folder_and_name) { return path_in(BUILD_ROOT, folder_and_name); }

const char *source_path(const char *name) { return path_in(SOURCE_ROOT, name); }

static void *must_alloc(size_t bytes) {
  void *p = malloc(bytes);
  if (!p) fail_msg("out of memory for %zu bytes", bytes);
  return p;
}

/* An anonymous file for a child's stdin, stdout or stderr: no pipe that could fill up. */
static int memory_file(const void *data, size_t bytes) {
  int fd = memfd_create("test", MFD_CLOEXEC);
  if (fd < 0) fail_msg("memfd_create: %s", strerror(errno));
  for (size_t done = 0; done < bytes;) {
    ssize_t n = write(fd, (const char *)data + done, bytes - done);
    if (n < 0) fail_msg("write: %s", strerror(errno));
    done += (size_t)n;
  }
  lseek(fd, 0, SEEK_SET);
  return fd;
}

/* All of a file from its start, closed afterwards. */
static char *read_all(int fd, const char *name, size_t *bytes) {
  struct stat st;
  if (fstat(fd, &st) != 0) fail_msg("%s: %s", name, strerror(errno));
  size_t size = (size_t)st.st_size, done = 0;
  char *data = must_alloc(size + 1);
  while (done < size) {
    ssize_t n = pread(fd, data + done, size - done, (off_t)done);
    if (n <= 0) fail_msg("%s: cannot read", name);
    done += (size_t)n;
  }
  data[size] = 0;
  close(fd);
  if (bytes) *bytes = size;
  return data;
}

static bool same_variable(const char *a, const char *b) {
  size_t name = strcspn(b, "=");
  return strncmp(a, b, name) == 0 && a[name] == '=';
}

/* The test's environment with the changes applied. The array is the caller's, its strings are borrowed. */
static char **changed_environment(const char *const *changes) {
  size_t have = 0, extra = 0, n = 0;
  while (environ[have]) have++;
  while (changes && changes[extra]) extra++;
  char **env = must_alloc((have + extra + 1) * sizeof *env);
  for (size_t i = 0; i < have; i++) {
    bool keep = true;
    for (size_t j = 0; j < extra; j++) keep = keep && !same_variable(environ[i], changes[j]);
    if (keep) env[n++] = environ[i];
  }
  for (size_t j = 0; j < extra; j++)
    if (strchr(changes[j], '=')) env[n++] = (char *)(uintptr_t)changes[j];
  env[n] = NULL;
  return env;
}

struct outcome run_argv(const char *const argv[], const struct run_options *options) {
  struct run_options none = {0};
  const struct run_options *o = options ? options : &none;
  int fd[3] = {memory_file(o->input, o->input_bytes), memory_file(NULL, 0), memory_file(NULL, 0)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (o->dir) posix_spawn_file_actions_addchdir_np(&actions, o->dir);
  for (int i = 0; i < 3; i++) posix_spawn_file_actions_adddup2(&actions, fd[i], i);
  char **env = changed_environment(o->env);
  pid_t pid;
  int error = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, env);
  free(env);
  posix_spawn_file_actions_destroy(&actions);
  if (error) fail_msg("%s: cannot run: %s", argv[0], strerror(error));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) fail_msg("waitpid: %s", strerror(errno));
  struct outcome result = {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
  close(fd[0]);
  result.out = read_all(fd[1], "stdout", &result.out_bytes);
  result.err = read_all(fd[2], "stderr", &result.err_bytes);
  return result;
}

void outcome_free(struct outcome *o) {
  free(o->out);
  free(o->err);
  *o = (struct outcome){0};
}

void assert_code(const struct outcome *o, int code) {
  if (o->code != code) fail_msg("exit code %d, wanted %d; stderr: %.2000s", o->code, code, o->err);
}

enum { TEMP_DIRS = 64 };
static char temp_dirs[TEMP_DIRS][PATH_MAX];
static unsigned temp_count;
static pid_t temp_owner;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk) {
  (void)st, (void)type, (void)walk;
  return remove(path);
}

static void remove_temp_dirs(void) {
  if (getpid() != temp_owner) return;
  for (unsigned i = 0; i < temp_count; i++) nftw(temp_dirs[i], remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *temp_dir(void) {
  if (temp_count == TEMP_DIRS) fail_msg("more than %d temporary folders in one test program", TEMP_DIRS);
  if (temp_count == 0) {
    temp_owner = getpid();
    atexit(remove_temp_dirs);
  }
  const char *base = getenv("TMPDIR");
  char *dir = temp_dirs[temp_count];
  snprintf(dir, PATH_MAX, "%s/frontgen-test-XXXXXX", base && *base ? base : P_tmpdir);
  if (!mkdtemp(dir)) fail_msg("%s: %s", dir, strerror(errno));
  temp_count++;
  return dir;
}

char *read_file(const char *path, size_t *bytes) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_msg("%s: %s", path, strerror(errno));
  return read_all(fd, path, bytes);
}

void write_file(const char *path, const void *data, size_t bytes) {
  FILE *f = fopen(path, "wb");
  if (!f) fail_msg("%s: %s", path, strerror(errno));
  bool good = fwrite(data, 1, bytes, f) == bytes;
  if (fclose(f) != 0 || !good) fail_msg("%s: cannot write", path);
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

size_t count_files(const char *dir) {
  DIR *d = opendir(dir);
  if (!d) fail_msg("%s: %s", dir, strerror(errno));
  size_t n = 0;
  for (struct dirent *e; (e = readdir(d));) n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  closedir(d);
  return n;
}

/* Runs a tool that must succeed. */
static void run_tool(const char *const argv[]) {
  struct outcome o = run_argv(argv, NULL);
  if (o.code != 0) fail_msg("%s: exit code %d: %.2000s", argv[0], o.code, o.err);
  outcome_free(&o);
}

/* A folder for intermediate files, the same for the program's life. */
static const char *work_dir(void) {
  static const char *dir;
  if (!dir) dir = temp_dir();
  return dir;
}

static void *link_object(const char *object, size_t *bytes) {
  const char *linked = path_in(work_dir(), "kernel.hsaco");
  run_tool((const char *const[]){LLD_PATH, "-shared", object, "-o", linked, NULL});
  return read_file(linked, bytes);
}

void *ir_to_code_object(const char *ir, const char *cpu, bool optimise, const char *const *llc_flags, size_t *bytes) {
  const char *source = path_in(work_dir(), "kernel.ll"), *object = path_in(work_dir(), "kernel.o");
  write_file(source, ir, strlen(ir));
  char cpu_flag[64];
  snprintf(cpu_flag, sizeof cpu_flag, "-mcpu=%s", cpu);
  if (optimise) run_tool((const char *const[]){OPT_PATH, "-O3", "-mtriple=amdgcn-amd-amdhsa", cpu_flag, source, "-o", source, NULL});
  const char *argv[32] = {LLC_PATH, "-O3", "-mtriple=amdgcn-amd-amdhsa", cpu_flag, "-filetype=obj", source, "-o", object};
  for (size_t n = 8; llc_flags && *llc_flags && n < 31; n++) argv[n] = *llc_flags++;
  run_tool(argv);
  return link_object(object, bytes);
}

void *assembly_to_code_object(const char *assembly, const char *cpu, size_t *bytes) {
  const char *source = path_in(work_dir(), "kernel.s"), *object = path_in(work_dir(), "kernel.o");
  write_file(source, assembly, strlen(assembly));
  char cpu_flag[64];
  snprintf(cpu_flag, sizeof cpu_flag, "-mcpu=%s", cpu);
  run_tool((const char *const[]){LLVM_MC_PATH, "-triple=amdgcn-amd-amdhsa", cpu_flag, "-filetype=obj", source, "-o", object, NULL});
  return link_object(object, bytes);
}

const char *ir_to_host_library(const char *ir) {
  static unsigned number;
  char name[64];
  snprintf(name, sizeof name, "host%u.so", number++);
  const char *source = path_in(work_dir(), "host.ll"), *library = path_in(work_dir(), name);
  write_file(source, ir, strlen(ir));
  run_tool((const char *const[]){
      CLANG_PATH, "-O1", "-ffp-contract=off", "-Wno-override-module", "-shared", "-fPIC", source, "-o", library, NULL});
  return library;
}
