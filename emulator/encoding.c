/* SPDX-License-Identifier: Apache-2.0 */
/* Fields as AMD's instruction set documents have them for gfx942 and gfx950 (CDNA3, CDNA4). */
#include "encoding.h"

#include <string.h>

enum format { FORMAT_OTHER, FORMAT_VOP, FORMAT_SDWA, FORMAT_DPP, FORMAT_VOP3, FORMAT_VOP3P, FORMAT_DS, FORMAT_BUFFER };

enum { SOURCE_LITERAL = 0xFF, SOURCE_SDWA = 0xF9, SOURCE_DPP = 0xFA };

static uint32_t bits(uint32_t word, uint32_t first, uint32_t count) { return word >> first & ((1u << count) - 1); }

static enum format format_of(uint32_t word) {
  if (!(word >> 31)) return bits(word, 0, 9) == SOURCE_SDWA ? FORMAT_SDWA : bits(word, 0, 9) == SOURCE_DPP ? FORMAT_DPP : FORMAT_VOP;
  switch (word >> 26) {
  case 0x34:
    return word >> 23 == 0x1A7 ? FORMAT_VOP3P : FORMAT_VOP3;
  case 0x36:
    return FORMAT_DS;
  case 0x38:
  case 0x3A:
    return FORMAT_BUFFER;
  default:
    return FORMAT_OTHER;
  }
}

/* SDWA selects of 7, dst_unused of 3; literals in VOP3 and VOP3P; a literal as a buffer's scalar offset; compares and lane reads into no
   scalar; f8f6f4 matrices of no format, or out of scalars. */
bool encoding_stops_llvm(const uint8_t code[8]) {
  uint32_t w[2], op;
  memcpy(w, code, sizeof w);
  switch (format_of(w[0])) {
  case FORMAT_SDWA:
    return bits(w[1], 16, 3) == 7 || bits(w[1], 24, 3) == 7 || (w[0] >> 25 != 0x3E && (bits(w[1], 8, 3) == 7 || bits(w[1], 11, 2) == 3));
  case FORMAT_BUFFER:
    return w[1] >> 24 == SOURCE_LITERAL;
  case FORMAT_VOP3P:
    op = bits(w[0], 16, 7);
    if (op == 0x2D || op == 0x2E) return bits(w[0], 8, 3) > 4 || w[1] >> 29 > 4 || !bits(w[1], 8, 1) || !bits(w[1], 17, 1);
    break;
  case FORMAT_VOP3:
    op = bits(w[0], 16, 10);
    if ((op < 0x100 || op == 0x289) && bits(w[0], 7, 1)) return true;
    break;
  default:
    return false;
  }
  return bits(w[1], 0, 9) == SOURCE_LITERAL || bits(w[1], 9, 9) == SOURCE_LITERAL || bits(w[1], 18, 9) == SOURCE_LITERAL;
}

/* Of the sources: how many have a minus, and a bar. */
static void count_signs(const struct inst_text *t, uint32_t *neg, uint32_t *abs) {
  *neg = *abs = 0;
  for (uint32_t i = 0; i < t->operands; i++) {
    *neg += t->operand[i].neg;
    *abs += t->operand[i].abs;
  }
}

static const char *vop3_loses(const uint32_t w[2], const struct inst_text *t) {
  uint32_t op = bits(w[0], 16, 10), neg, abs;
  bool second_result = (op >= 0x119 && op <= 0x11E) || op == 0x1E0 || op == 0x1E1 || op == 0x1E8 || op == 0x1E9;
  if (inst_text_has(t, TEXT_MOD_BITOP3)) return NULL; /* its table lies in these fields */
  count_signs(t, &neg, &abs);
  if ((uint32_t)__builtin_popcount(w[1] >> 29) != neg) return "its encoding negates a source that has no sign";
  if (bits(w[1], 27, 2) && !inst_text_has(t, TEXT_MOD_MUL) && !inst_text_has(t, TEXT_MOD_DIV))
    return "its encoding scales a result that has no exponent";
  if (bits(w[0], 15, 1) && !inst_text_has(t, TEXT_MOD_CLAMP)) return "its encoding clamps a result that it cannot clamp";
  if (second_result) return NULL;
  if ((uint32_t)__builtin_popcount(bits(w[0], 8, 3)) != abs) return "its encoding takes the magnitude of a source that has no sign";
  bool told = inst_text_has(t, TEXT_MOD_OP_SEL) || inst_text_has(t, TEXT_MOD_BOUND_CTRL) || inst_text_has(t, TEXT_MOD_BYTE_SEL);
  if (bits(w[0], 11, 4) && !told && !inst_text_has(t, TEXT_MOD_FI)) return "its encoding selects halves of operands that have none";
  return NULL;
}

const char *encoding_loses(const uint8_t code[8], const struct inst_text *t) {
  uint32_t w[2], neg, abs;
  memcpy(w, code, sizeof w);
  switch (format_of(w[0])) {
  case FORMAT_DS:
    return bits(w[0], 16, 1) ? "its encoding asks for global data share, which this GPU does not have" : NULL;
  case FORMAT_DPP:
    count_signs(t, &neg, &abs);
    if (bits(w[1], 20, 1) + bits(w[1], 22, 1) != neg || bits(w[1], 21, 1) + bits(w[1], 23, 1) != abs)
      return "its encoding has a sign or magnitude of a source that has none";
    return NULL;
  case FORMAT_VOP3:
    return vop3_loses(w, t);
  default:
    return NULL;
  }
}
