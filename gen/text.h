/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text buffer. A failed allocation latches: later appends do nothing, and text_take() says so. Not thread safe. */
#ifndef FRONT_TEXT_H
#define FRONT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
  char *data;
  size_t bytes, room;
  bool failed;
};

void text_put(struct text *text, const char *from, size_t bytes);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the zero-terminated buffer to the caller, who frees it; null if an allocation failed. The text is empty afterwards. */
char *text_take(struct text *text, size_t *bytes);
void text_free(struct text *text);

#endif
