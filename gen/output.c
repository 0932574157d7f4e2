/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPORARIES_MAX = 64, TRIES_MAX = 1000 };

/* Temporary files in being, for output_interrupt(): a path is complete before its state says so. */
static struct {
  atomic_int state; /* 0 free, 1 being filled in, 2 the file may exist */
  char path[PATH_MAX];
} temporaries[TEMPORARIES_MAX];

static int take_slot(void) {
  for (int i = 0; i < TEMPORARIES_MAX; i++) {
    int empty = 0;
    if (atomic_compare_exchange_strong(&temporaries[i].state, &empty, 1)) return i;
  }
  return -1;
}

/* "dir/.name.pid-n.tmp" beside "dir/name". */
static bool temporary_path(const char *path, char out[PATH_MAX]) {
  static atomic_uint serial;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  int n = snprintf(out, PATH_MAX, "%.*s.%s.%ld-%u.tmp", (int)(name - path), path, name, (long)getpid(), atomic_fetch_add(&serial, 1u));
  return *name && n < PATH_MAX && strlen(strrchr(out, '/') ? strrchr(out, '/') + 1 : out) <= NAME_MAX;
}

static int write_all(int file, const char *data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = write(file, data + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    done += (size_t)n;
  }
  return 0;
}

/* A place that can be written, but not now. */
static bool no_room(int why) {
  return why == ENOSPC || why == EDQUOT || why == EFBIG || why == EIO || why == ENOMEM || why == EMFILE || why == ENFILE;
}

static enum frontgen_status cannot_write(const char *path, int why, char error[FRONTGEN_ERROR_MAX]) {
  bool room = no_room(why);
  snprintf(error, FRONTGEN_ERROR_MAX, "cannot write %.400s: %s: %s", path, strerror(why),
      room ? "make room, or name another folder" : "name a folder that exists and can be written");
  return room ? FRONTGEN_ENVIRONMENT : FRONTGEN_USAGE;
}

/* rename() would put a file where a device, a pipe or a link was: root's /dev/null, say. */
static enum frontgen_status check_name(const char *path, char error[FRONTGEN_ERROR_MAX]) {
  struct stat st;
  if (!*path || path[strlen(path) - 1] == '/') return cannot_write(path, EISDIR, error);
  if (lstat(path, &st) != 0 || S_ISREG(st.st_mode)) return FRONTGEN_GOOD;
  if (S_ISDIR(st.st_mode)) return cannot_write(path, EISDIR, error);
  snprintf(error, FRONTGEN_ERROR_MAX, "cannot write %.400s: it is a %s: name a plain file, or none that is there", path,
      S_ISLNK(st.st_mode) ? "symbolic link" : "device or a pipe");
  return FRONTGEN_USAGE;
}

/* The name may be taken by what a killed program of the same number left: then the next. */
static int open_temporary(const char *path, char temporary[PATH_MAX], atomic_int *state) {
  int file = -1;
  for (int tries = 0; tries < TRIES_MAX && file < 0; tries++) {
    atomic_store(state, 1);
    if (!temporary_path(path, temporary)) return -ENAMETOOLONG;
    atomic_store(state, 2);
    file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) break;
  }
  return file < 0 ? -errno : file;
}

static int write_and_rename(char temporary[PATH_MAX], atomic_int *state, const char *path, const struct output_part *parts, size_t count) {
  int file = open_temporary(path, temporary, state), why = 0;
  if (file < 0) return -file;
  for (size_t i = 0; i < count && !why; i++) why = write_all(file, parts[i].data, parts[i].bytes);
  if (close(file) != 0 && !why) why = errno;
  if (!why && rename(temporary, path) != 0) why = errno;
  if (why) unlink(temporary);
  return why;
}

enum frontgen_status output_write_parts(const char *path, const struct output_part *parts, size_t count, char error[FRONTGEN_ERROR_MAX]) {
  enum frontgen_status status = check_name(path, error);
  if (status) return status;
  int slot = take_slot();
  if (slot < 0) {
    snprintf(
        error, FRONTGEN_ERROR_MAX, "cannot write %.400s: more than %d files are being written: use fewer threads", path, TEMPORARIES_MAX);
    return FRONTGEN_ENVIRONMENT;
  }
  int why = write_and_rename(temporaries[slot].path, &temporaries[slot].state, path, parts, count);
  atomic_store(&temporaries[slot].state, 0);
  return why ? cannot_write(path, why, error) : FRONTGEN_GOOD;
}

enum frontgen_status output_write(const char *path, const void *data, size_t bytes, char error[FRONTGEN_ERROR_MAX]) {
  return output_write_parts(path, &(struct output_part){data, bytes}, 1, error);
}

enum frontgen_status output_check(const char *path, char error[FRONTGEN_ERROR_MAX]) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  enum frontgen_status status = check_name(path, error);
  if (status) return status;
  if (slash && slash - path >= PATH_MAX - 1) return cannot_write(path, ENAMETOOLONG, error);
  if (slash)
    snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
  else
    snprintf(folder, sizeof folder, ".");
  return access(folder, W_OK | X_OK) == 0 ? FRONTGEN_GOOD : cannot_write(path, errno, error);
}

void output_interrupt(void) {
  for (int i = 0; i < TEMPORARIES_MAX; i++)
    if (atomic_load(&temporaries[i].state) == 2) unlink(temporaries[i].path);
}
