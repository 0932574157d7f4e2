/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: /dev/kfd is missing (FRONT_KFD=missing), may not be opened (FRONT_KFD=forbidden), or is there and does nothing
   (FRONT_KFD=there), whoever runs the test and wherever. */
#undef _FILE_OFFSET_BITS /* or open is another name of open64 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_file(const char *path, int flags, mode_t mode) {
  const char *kfd = getenv("FRONT_KFD");
  if (kfd && !strcmp(path, "/dev/kfd") && !strcmp(kfd, "there")) {
    path = "/dev/null";
  } else if (kfd && !strcmp(path, "/dev/kfd")) {
    errno = strcmp(kfd, "missing") ? EACCES : ENOENT;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static mode_t mode_of(int flags, va_list args) { return flags & O_CREAT ? va_arg(args, mode_t) : 0; }

int open(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  int file = open_file(path, flags, mode_of(flags, args));
  va_end(args);
  return file;
}

int open64(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  int file = open_file(path, flags, mode_of(flags, args));
  va_end(args);
  return file;
}
