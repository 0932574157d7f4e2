/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear whole or not at all: written under a temporary name beside the target, then renamed. */
#ifndef FRONT_OUTPUT_H
#define FRONT_OUTPUT_H

#include "frontgen.h"

/* Writes `bytes` of `data` to `path`, replacing what is there. FRONTGEN_USAGE if the place cannot be written (the old file stays as it
   was, no temporary is left). Permissions are 0666 less the umask. Thread safe. */
enum frontgen_status output_write(const char *path, const void *data, size_t bytes, char error[FRONTGEN_ERROR_MAX]);

/* Whether output_write() can work there, without doing it: FRONTGEN_USAGE if the folder is missing or cannot be written. */
enum frontgen_status output_check(const char *path, char error[FRONTGEN_ERROR_MAX]);

/* Removes the temporary files that there are now. Async-signal-safe. */
void output_interrupt(void);

#endif
