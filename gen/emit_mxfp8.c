/* SPDX-License-Identifier: Apache-2.0 */
/* MXFP8 of a group of 32: 4 neighbouring lanes with 8 values each. */
#include "emit.h"

static const float TINIEST = 0x1p-126f; /* floor of a group's amax */

void emit_unpack_bf16(struct emit *e, val words, val out[8]) {
  struct ir *b = e->b;
  for (uint32_t i = 0; i < 4; i++) {
    val pair = ir_extract(b, words, i);
    val low = ir_shl(b, pair, ir_i32(16));
    val high = ir_and(b, pair, ir_i32(0xFFFF0000u));
    out[2 * i] = ir_bits(b, low, T_F32);
    out[2 * i + 1] = ir_bits(b, high, T_F32);
  }
}

static val group_amax(struct emit *e, const val v[8]) {
  struct ir *b = e->b;
  val amax = ir_fabs(b, v[0]);
  for (uint32_t i = 1; i < 8; i++) {
    val magnitude = ir_fabs(b, v[i]);
    amax = ir_fmaximum(b, amax, magnitude);
  }
  for (uint32_t mask = 1; mask <= 2; mask *= 2) {
    val other = amd_lane_xor(b, amax, mask);
    amax = ir_fmaximum(b, amax, other);
  }
  return amax;
}

/* Four values -> four e4m3 bytes. */
static val pack_word(struct emit *e, const val v[4], val multiplier) {
  struct ir *b = e->b;
  val c[4], m = ir_f32(e->plan->target->fp8_max);
  for (uint32_t i = 0; i < 4; i++) c[i] = leaf_clamped(b, v[i], multiplier, m);
  val low = amd_pack_fp8(b, c[0], c[1], ir_i32(0), false);
  return amd_pack_fp8(b, c[2], c[3], low, true);
}

struct quantised emit_quantise(struct emit *e, const val v[8]) {
  struct ir *b = e->b;
  float m = e->plan->target->fp8_max;
  val amax = group_amax(e, v);
  struct quantised q;
  q.code = leaf_mx_code(b, amax, ir_f32(TINIEST), ir_f32(m), ir_f32(1.0f / m));
  val multiplier = leaf_mx_mul(b, q.code);
  val words[2];
  for (uint32_t i = 0; i < 2; i++) words[i] = pack_word(e, v + 4 * i, multiplier);
  q.words = ir_vector(b, T_V2I32, words);
  return q;
}
