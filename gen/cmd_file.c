/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command reads, folders that it makes. */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 20 }; /* far beyond any code object of ours */

int cmd_read_file(const char *path, char **data, size_t *bytes) {
  struct stat st;
  const char *why = NULL;
  *data = NULL;
  *bytes = 0;
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe without a writer would hold it for ever */
  if (file < 0 || fstat(file, &st) != 0) {
    why = strerror(errno);
  } else if (!S_ISREG(st.st_mode)) {
    why = "not a file";
  } else if (st.st_size > FILE_MAX) {
    why = "larger than any code object of ours (64 MiB)";
  } else if (!(*data = malloc((size_t)st.st_size + 1))) {
    why = "out of memory";
  } else {
    ssize_t n;
    while (*bytes < (size_t)st.st_size && (n = read(file, *data + *bytes, (size_t)st.st_size - *bytes)) > 0) *bytes += (size_t)n;
    if (*bytes < (size_t)st.st_size) why = "it cannot be read to its end";
  }
  if (file >= 0) close(file);
  if (!why) return FRONTGEN_GOOD;
  free(*data);
  *data = NULL;
  return cmd_fail(FRONTGEN_USAGE, "cannot read %.300s: %s: name a code object (.hsaco)", path, why);
}

int cmd_make_folder(const char *path) {
  char part[PATH_MAX];
  size_t length = strlen(path);
  if (length == 0 || length >= sizeof part) return cmd_fail(FRONTGEN_USAGE, "-o \"%.60s\": not a path", path);
  for (size_t i = 1; i <= length; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    snprintf(part, sizeof part, "%.*s", (int)i, path);
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return cmd_fail(FRONTGEN_USAGE, "cannot make the folder %.400s: %s: name another with -o", part, strerror(errno));
  }
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return cmd_fail(FRONTGEN_USAGE, "-o %.400s is not a folder: name another", path);
  return FRONTGEN_GOOD;
}
