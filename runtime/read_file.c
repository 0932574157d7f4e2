/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a whole file. */
#include "read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "status.h"

/* The number of bytes that came; fewer than `bytes`: the file ended, or errno says why not. */
static size_t read_all(int file, char *to, size_t bytes) {
  size_t done = 0;
  errno = 0;
  while (done < bytes) {
    ssize_t n = read(file, to + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += (size_t)n;
  }
  return done;
}

static enum front_status read_open(int file, const char *shown, size_t most, void **image, size_t *bytes) {
  struct stat about;
  if (fstat(file, &about) != 0) return status_fail(FRONT_ERR_NOT_FOUND, "%s: %s", shown, strerror(errno));
  if (!S_ISREG(about.st_mode)) return status_fail(FRONT_ERR_CODE_OBJECT, "%s: it is not a regular file", shown);
  if (about.st_size <= 0) return status_fail(FRONT_ERR_CODE_OBJECT, "%s: it is empty", shown);
  if ((uint64_t)about.st_size > most)
    return status_fail(FRONT_ERR_CODE_OBJECT, "%s: it has %lld bytes, at most %zu are read", shown, (long long)about.st_size, most);
  size_t size = (size_t)about.st_size;
  char *made = malloc(size);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "%s: no host memory for its %zu bytes", shown, size);
  size_t got = read_all(file, made, size);
  if (got < size) {
    int why = errno;
    free(made);
    return status_fail(FRONT_ERR_NOT_FOUND, "%s: %s", shown, why ? strerror(why) : "it became shorter while it was read");
  }
  *image = made;
  *bytes = size;
  return FRONT_OK;
}

enum front_status file_read(int folder, const char *name, const char *shown, bool own, size_t most, void **image, size_t *bytes) {
  /* Nonblocking: opening a pipe must not wait for its writer. */
  int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (own ? O_NOFOLLOW : 0));
  if (file < 0 && own && errno == ELOOP)
    return status_fail(FRONT_ERR_CODE_OBJECT, "%s: it is a symbolic link: copy the file itself", shown);
  if (file < 0) return status_fail(FRONT_ERR_NOT_FOUND, "%s: %s", shown, strerror(errno));
  enum front_status status = read_open(file, shown, most, image, bytes);
  close(file);
  return status;
}
