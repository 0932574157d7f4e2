/* SPDX-License-Identifier: Apache-2.0 */
#include "refuse.h"

#include <stdarg.h>
#include <stdio.h>

bool refuse(char *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, REFUSE_ERROR_MAX, format, args);
  va_end(args);
  return false;
}
