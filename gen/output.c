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

enum { TEMPORARIES_MAX = 64 };

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

static enum frontgen_status cannot_write(const char *path, int why, char error[FRONTGEN_ERROR_MAX]) {
  snprintf(error, FRONTGEN_ERROR_MAX, "cannot write %.400s: %s: name a folder that exists and can be written", path, strerror(why));
  return FRONTGEN_USAGE;
}

static int write_and_rename(const char *temporary, const char *path, const void *data, size_t bytes) {
  int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int why = write_all(file, data, bytes);
  if (close(file) != 0 && !why) why = errno;
  if (!why && rename(temporary, path) != 0) why = errno;
  if (why) unlink(temporary);
  return why;
}

enum frontgen_status output_write(const char *path, const void *data, size_t bytes, char error[FRONTGEN_ERROR_MAX]) {
  int slot = take_slot();
  if (slot < 0) {
    snprintf(
        error, FRONTGEN_ERROR_MAX, "cannot write %.400s: more than %d files are being written: use fewer threads", path, TEMPORARIES_MAX);
    return FRONTGEN_ENVIRONMENT;
  }
  char *temporary = temporaries[slot].path;
  int why = ENAMETOOLONG;
  if (!*path || path[strlen(path) - 1] == '/') {
    why = EISDIR;
  } else if (temporary_path(path, temporary)) {
    atomic_store(&temporaries[slot].state, 2);
    why = write_and_rename(temporary, path, data, bytes);
  }
  atomic_store(&temporaries[slot].state, 0);
  return why ? cannot_write(path, why, error) : FRONTGEN_GOOD;
}

enum frontgen_status output_check(const char *path, char error[FRONTGEN_ERROR_MAX]) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  struct stat st;
  if (!*path || (slash && !slash[1]) || (stat(path, &st) == 0 && S_ISDIR(st.st_mode))) return cannot_write(path, EISDIR, error);
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
