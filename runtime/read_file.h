/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, of which nothing is believed. */
#ifndef FRONT_READ_FILE_H
#define FRONT_READ_FILE_H

#include <stdbool.h>

#include "front.h"

enum { IMAGE_BYTES_MAX = 256 << 20 }; /* of a code object */

/* Reads a regular file of at most `most` bytes, malloc'd, at least one byte. `folder`: an open folder, or AT_FDCWD. `own`: the last part of
   the name may not be a symbolic link. Errors begin with `shown`: NOT_FOUND (the system's reason), CODE_OBJECT (a folder, a device, a
   link, empty, too large), MEMORY. */
enum front_status file_read(int folder, const char *name, const char *shown, bool own, size_t most, void **image, size_t *bytes);

#endif
