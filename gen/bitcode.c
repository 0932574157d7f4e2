/* SPDX-License-Identifier: Apache-2.0 */
/* The bit stream as far as the identification block's string: magic, block header, one abbreviation (a literal code, an array of 6-bit
   characters), one record. Another shape is no error: the caller then asks llc. */
#include "bitcode.h"

#include <stdint.h>
#include <string.h>

enum {
  OUTER_WIDTH = 2, /* bits of an abbreviation id outside blocks */
  ENTER_BLOCK = 1, /* abbreviation ids */
  DEFINE_ABBREVIATION = 2,
  FIRST_DEFINED = 4,
  IDENTIFICATION_BLOCK = 13,
  CODE_STRING = 1,
  ENCODING_ARRAY = 3,
  ENCODING_CHAR6 = 4,
};

struct bits {
  const uint8_t *data;
  size_t bytes, at; /* at: in bits */
  bool over;
};

static uint32_t take(struct bits *b, uint32_t count) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count; i++, b->at++) {
    if (b->at / 8 >= b->bytes) {
      b->over = true;
      return 0;
    }
    value |= (uint32_t)(b->data[b->at / 8] >> b->at % 8 & 1) << i;
  }
  return value;
}

/* A variable-width number: groups of `width` bits, the top one says that another follows. */
static uint32_t take_vbr(struct bits *b, uint32_t width) {
  uint32_t value = 0, more = 1u << (width - 1);
  for (uint32_t shift = 0; shift < 32; shift += width - 1) {
    uint32_t part = take(b, width);
    value |= (part & (more - 1)) << shift;
    if (!(part & more)) break;
  }
  return value;
}

/* Up to the string's first character; its length, or 0. */
static uint32_t find_string(struct bits *b) {
  if (take(b, 32) != 0xdec04342u || take(b, OUTER_WIDTH) != ENTER_BLOCK || take_vbr(b, 8) != IDENTIFICATION_BLOCK) return 0;
  uint32_t width = take_vbr(b, 4);
  b->at = (b->at + 31) / 32 * 32;
  take(b, 32); /* the block's length */
  if (width == 0 || width > 32 || take(b, width) != DEFINE_ABBREVIATION || take_vbr(b, 5) != 3) return 0;
  if (take(b, 1) != 1 || take_vbr(b, 8) != CODE_STRING) return 0; /* a literal operand */
  if (take(b, 1) != 0 || take(b, 3) != ENCODING_ARRAY || take(b, 1) != 0 || take(b, 3) != ENCODING_CHAR6) return 0;
  return take(b, width) == FIRST_DEFINED ? take_vbr(b, 6) : 0;
}

bool bitcode_version(const void *data, size_t bytes, char version[32]) {
  static const char char6[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
  struct bits b = {.data = data, .bytes = bytes};
  char text[36];
  uint32_t length = find_string(&b);
  if (length < 5 || length >= sizeof text) return false;
  for (uint32_t i = 0; i < length; i++) text[i] = char6[take(&b, 6)];
  text[length] = 0;
  size_t digits = strspn(text + 4, "0123456789.");
  if (b.over || strncmp(text, "LLVM", 4) != 0 || digits == 0) return false;
  memcpy(version, text + 4, digits);
  version[digits] = 0;
  return true;
}
