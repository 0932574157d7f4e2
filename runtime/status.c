/* SPDX-License-Identifier: Apache-2.0 */
/* Status names and the last error's text. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "note.h"

static _Thread_local char last_error[8192];

enum front_status status_fail(enum front_status status, const char *format, ...) {
  char text[sizeof last_error]; /* an argument may be the old text */
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  status_line(text);
  memcpy(last_error, text, strlen(text) + 1);
  return status;
}

void status_line(char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < ' ' || c == 0x7f) *text = c == '\n' || c == '\t' ? ' ' : '?';
  }
}

const char *front_version(void) { return FRONT_VERSION; }

uint32_t front_kernarg_abi(void) { return FRONT_NOTE_KERNARG_ABI; }

const char *front_error(void) { return last_error; }

const char *front_status_name(enum front_status status) {
  static const char *const names[] = {
      [FRONT_OK] = "FRONT_OK",
      [FRONT_ERR_ARGUMENT] = "FRONT_ERR_ARGUMENT",
      [FRONT_ERR_LIBRARY] = "FRONT_ERR_LIBRARY",
      [FRONT_ERR_NO_DEVICE] = "FRONT_ERR_NO_DEVICE",
      [FRONT_ERR_ISA] = "FRONT_ERR_ISA",
      [FRONT_ERR_RESIDENCY] = "FRONT_ERR_RESIDENCY",
      [FRONT_ERR_CODE_OBJECT] = "FRONT_ERR_CODE_OBJECT",
      [FRONT_ERR_NOT_FOUND] = "FRONT_ERR_NOT_FOUND",
      [FRONT_ERR_MEMORY] = "FRONT_ERR_MEMORY",
      [FRONT_ERR_BUSY] = "FRONT_ERR_BUSY",
      [FRONT_ERR_TIMEOUT] = "FRONT_ERR_TIMEOUT",
      [FRONT_ERR_FAULT] = "FRONT_ERR_FAULT",
      [FRONT_ERR_HSA] = "FRONT_ERR_HSA",
      [FRONT_ERR_HIP] = "FRONT_ERR_HIP",
      [FRONT_ERR_FORKED] = "FRONT_ERR_FORKED",
  };
  unsigned index = (unsigned)status;
  return index < sizeof names / sizeof names[0] ? names[index] : "unknown status";
}
