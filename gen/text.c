/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool text_reserve(struct text *text, size_t more) {
  if (text->failed) return false;
  if (text->room - text->bytes > more) return true;
  size_t room = text->room ? text->room : (size_t)512 * 1024;
  while (room - text->bytes <= more) room *= 2;
  char *data = realloc(text->data, room);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->room = room;
  return true;
}

/* By hand: an emission writes some 20,000 numbers, and printf would take most of its time. */
void text_number(struct text *text, uint64_t number) {
  char digits[20];
  size_t at = sizeof digits;
  do digits[--at] = (char)('0' + number % 10);
  while (number /= 10);
  text_put(text, digits + at, sizeof digits - at);
}

void text_print(struct text *text, const char *format, ...) {
  if (!text_reserve(text, 512)) return;
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(text->data + text->bytes, text->room - text->bytes, format, args);
  if (n > 0 && (size_t)n >= text->room - text->bytes) {
    if (text_reserve(text, (size_t)n)) vsnprintf(text->data + text->bytes, (size_t)n + 1, format, again);
  }
  va_end(again);
  va_end(args);
  if (n > 0 && !text->failed) text->bytes += (size_t)n;
}

char *text_take(struct text *text, size_t *bytes) {
  char *data = text->failed ? NULL : text->data;
  if (!data) text_free(text);
  *bytes = text->bytes;
  *text = (struct text){0};
  return data;
}

void text_free(struct text *text) {
  free(text->data);
  *text = (struct text){0};
}
