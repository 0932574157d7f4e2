/* SPDX-License-Identifier: Apache-2.0 */
/* v_trig_preop_f64: 53 bits of 2 / pi, from which a caller takes the angle modulo a quarter turn. */
#include "valu_math.h"

/* The first 1,201 bits behind the binary point. */
static const uint64_t two_over_pi[20] = {0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08, 0x56033046FC7B0000};

double two_over_pi_part(double angle, uint32_t segment) {
  int exponent = exponent_f64(angle);
  uint32_t first = (segment & 31) * 53 + (exponent > 1077 ? (uint32_t)exponent - 1077 : 0), word = first / 64, bit = first % 64;
  if (word >= 19) return 0;
  uint64_t bits = two_over_pi[word] << bit | (bit ? two_over_pi[word + 1] >> (64 - bit) : 0);
  return ldexp((double)(bits >> 11), -53 - (int)first + (exponent >= 1968 ? 128 : 0));
}
