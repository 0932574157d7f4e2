/* SPDX-License-Identifier: Apache-2.0 */
/* Option structs of older and newer programs. */
#include "extensible.h"

#include <string.h>

#include "status.h"

enum { OPTIONS_BYTES_MAX = 4096 };

enum front_status options_take(void *to, size_t known, const void *from, const char *call) {
  size_t size = known;
  memset(to, 0, known);
  if (!from) return FRONT_OK;
  memcpy(&size, from, sizeof size);
  if (size < sizeof size || size % sizeof size || size > OPTIONS_BYTES_MAX) /* no struct ends within a pointer */
    return status_fail(FRONT_ERR_ARGUMENT, "%s: options->size is %zu: set it to the struct's sizeof", call, size);
  memcpy(to, from, size < known ? size : known);
  for (size_t i = known; i < size; i++)
    if (((const unsigned char *)from)[i])
      return status_fail(FRONT_ERR_ARGUMENT, "%s: the option at byte %zu is unknown to this library (%s): it is older than the program",
          call, i, front_version());
  return FRONT_OK;
}
