/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command reads. */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
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
  int file = open(path, O_RDONLY | O_CLOEXEC);
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
