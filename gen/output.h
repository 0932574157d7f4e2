/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear whole or not at all: written under a temporary name beside the target, then renamed. */
#ifndef FRONT_OUTPUT_H
#define FRONT_OUTPUT_H

#include "frontgen.h"

/* Writes `bytes` of `data` to `path`, replacing a plain file that is there. FRONTGEN_USAGE if the place cannot be written, or is a link, a
   device or a pipe; FRONTGEN_ENVIRONMENT if there is no room. The old file then stays as it was and no temporary is left. Permissions are
   0666 less the umask. Thread safe. */
enum frontgen_status output_write(const char *path, const void *data, size_t bytes, char error[FRONTGEN_ERROR_MAX]);

struct output_part {
  const void *data;
  size_t bytes;
};

/* The same with a file's parts, one behind the other. */
enum frontgen_status output_write_parts(const char *path, const struct output_part *parts, size_t count, char error[FRONTGEN_ERROR_MAX]);

/* Whether output_write() can work there, without doing it: FRONTGEN_USAGE if the folder is missing or cannot be written. */
enum frontgen_status output_check(const char *path, char error[FRONTGEN_ERROR_MAX]);

/* Removes the temporary files that there are now. Async-signal-safe. */
void output_interrupt(void);

#endif
