/* SPDX-License-Identifier: Apache-2.0 */
/* How a loaded byte or half fills a register. */
#ifndef EMULATOR_PARTS_H
#define EMULATOR_PARTS_H

#include <stdint.h>

/* The whole register, zero- or sign-extended; or one half, the other staying. */
enum part { PART_ZERO, PART_SIGN, PART_LOW, PART_HIGH, PART_LOW_SIGN, PART_HIGH_SIGN };

/* `old` with `value` (1 or 2 bytes, the rest 0) put in. */
static inline uint32_t part_in(uint32_t old, uint32_t value, uint32_t bytes, enum part part) {
  uint32_t sign = 1u << (8 * bytes - 1), extended = (value ^ sign) - sign;
  switch (part) {
  case PART_ZERO:
    return value;
  case PART_SIGN:
    return extended;
  case PART_LOW:
    return (old & 0xFFFF0000u) | value;
  case PART_HIGH:
    return (old & 0xFFFF) | value << 16;
  case PART_LOW_SIGN:
    return (old & 0xFFFF0000u) | (extended & 0xFFFF);
  case PART_HIGH_SIGN:
    return (old & 0xFFFF) | extended << 16;
  }
  return value;
}

#endif
