/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text buffer. A failed allocation latches: later appends do nothing, and text_take() says so. Not thread safe. */
#ifndef FRONT_TEXT_H
#define FRONT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
  char *data;
  size_t bytes, room;
  bool failed;
};

/* Makes room for `more` bytes and a zero behind them. */
bool text_reserve(struct text *text, size_t more);

/* Inline, so that a literal's length and copy are the compiler's: an emission is some 100,000 of these. */
static inline __attribute__((always_inline)) void text_put(struct text *text, const char *from, size_t bytes) {
  if (text->room - text->bytes <= bytes && !text_reserve(text, bytes)) return;
  memcpy(text->data + text->bytes, from, bytes);
  text->bytes += bytes;
  text->data[text->bytes] = 0;
}
static inline __attribute__((always_inline)) void text_string(struct text *text, const char *string) {
  text_put(text, string, strlen(string));
}
void text_number(struct text *text, uint64_t number); /* decimal */
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the zero-terminated buffer to the caller, who frees it; null if an allocation failed. The text is empty afterwards. */
char *text_take(struct text *text, size_t *bytes);
void text_free(struct text *text);

#endif
