/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled and stochastic conversions: the rows of isa_scale.def, lane by lane. Elements lie in a row of bits from the first register on.
   op_sel says which bytes of its register a result or a source of less than a register is; the rest of such a result's stays. */
#include <math.h>

#include "operand.h"

enum narrow { FP8, BF8, FP6, BF6, FP4, HALF, BHALF };
enum wide { F32, F16, BF16 };
enum kind { KIND_WIDEN, KIND_NARROW, KIND_RANDOM, KIND_INTERLEAVE, KIND_PLAIN_RANDOM };

struct form {
  uint8_t kind, narrow, count, wide;
};

static const struct form forms[] = {
#define WIDEN(name, narrow, count, wide)      {KIND_WIDEN, narrow, count, wide},
#define NARROW(name, narrow, count, wide)     {KIND_NARROW, narrow, count, wide},
#define RANDOM(name, narrow, count, wide)     {KIND_RANDOM, narrow, count, wide},
#define INTERLEAVE(name, narrow, count, wide) {KIND_INTERLEAVE, narrow, count, wide},
#define PLAIN_RANDOM(name, narrow)            {KIND_PLAIN_RANDOM, narrow, 1, F32},
#include "isa_scale.def"
#undef WIDEN
#undef NARROW
#undef RANDOM
#undef INTERLEAVE
#undef PLAIN_RANDOM
};

enum { WORDS_MAX = 32, MODE_FP8_SATURATES = 23, SCALE_ONE = 127, SCALE_NAN = 255, DATA = 0, MORE_DATA = 1, SEED = 3, SCALE = 4 };

static const struct small_float *format_of(uint32_t narrow, bool fnuz) {
  static const struct small_float *const formats[] = {
      &float_e4m3, &float_e5m2, &float_e2m3, &float_e3m2, &float_e2m1, &float_f16, &float_bf16};
  if (fnuz && narrow <= BF8) return narrow == FP8 ? &float_e4m3_fnuz : &float_e5m2_fnuz;
  return formats[narrow];
}

static uint32_t narrow_bits(uint32_t narrow) {
  static const uint8_t bits[] = {8, 8, 6, 6, 4, 16, 16};
  return bits[narrow];
}

static uint32_t wide_bits(uint32_t wide) { return wide == F32 ? 32 : 16; }
static uint32_t wide_mantissa(uint32_t wide) { return wide == F32 ? 23 : wide == F16 ? 10 : 7; }
static uint32_t words_of(uint32_t bits) { return bits < 32 ? 1 : bits / 32; }

/* --- shape ------------------------------------------------------------------------------------------------------------------ */

static void take_one(struct reading *r, uint32_t at, enum isa_type type, bool constants) {
  r->in->sources = (uint8_t)at;
  take_source(r, type);
  if (!constants && r->in->src[at].kind == OPERAND_CONST) reading_error(r, "a constant as operand %u is not modelled", r->next);
  if (!constants && (r->in->src[at].flip[0] || r->in->src[at].keep[0] != UINT32_MAX) && type != T_u16)
    reading_error(r, "a sign of operand %u is not modelled", r->next);
}

/* One element, a packed register, or a group of registers. */
static void take_data(struct reading *r, const struct form *f) {
  uint32_t bits = f->count * (f->kind == KIND_WIDEN ? narrow_bits(f->narrow) : wide_bits(f->wide)), group = words_of(bits);
  bool pair = f->count == 2 && f->kind == KIND_NARROW && f->wide == F32;
  if (f->kind == KIND_INTERLEAVE) {
    r->in->src[DATA] = take_vgprs(r, group / 2);
    r->in->src[MORE_DATA] = take_vgprs(r, group / 2);
  } else if (pair || (f->count == 1 && f->kind != KIND_WIDEN)) {
    take_one(r, DATA, f->wide == F32 ? T_f32 : f->wide == F16 ? T_f16 : T_u16, f->wide != BF16);
    if (pair) take_one(r, MORE_DATA, T_f32, true);
  } else if (group == 1) {
    take_one(r, DATA, T_u32, false);
  } else {
    r->in->src[DATA] = take_vgprs(r, group);
  }
}

static void read_scale(struct reading *r) {
  const struct form *f = &forms[r->row->extra];
  uint32_t out = f->count * (f->kind == KIND_WIDEN ? wide_bits(f->wide) : narrow_bits(f->narrow));
  take_vgpr_result(r, words_of(out));
  take_data(r, f);
  if (f->kind == KIND_RANDOM || f->kind == KIND_PLAIN_RANDOM) take_one(r, SEED, T_u32, true);
  if (f->kind != KIND_PLAIN_RANDOM) take_one(r, SCALE, T_f32, true);
  r->in->sources = 0; /* none is of a shape that modifiers know */
  take_mod(r, TEXT_MOD_OP_SEL);
  r->in->imm = r->code[1] >> 3 & 15;
  r->in->dst.keep_other = out < 32;
}

/* --- elements ---------------------------------------------------------------------------------------------------------------- */

static uint32_t bits_at(const uint32_t *words, uint32_t at, uint32_t count) {
  uint64_t both = words[at / 32];
  if (at % 32 + count > 32) both |= (uint64_t)words[at / 32 + 1] << 32;
  return (uint32_t)(both >> (at % 32)) & (count == 32 ? UINT32_MAX : (1u << count) - 1);
}

static void put_bits(uint32_t *words, uint32_t at, uint32_t count, uint32_t value) {
  words[at / 32] |= value << (at % 32);
  if (at % 32 + count > 32) words[at / 32 + 1] |= value >> (32 - at % 32);
}

static double wide_value(uint32_t wide, uint32_t bits) {
  return (double)(wide == F32 ? f32_of(bits) : wide == F16 ? f16_to_f32(bits) : bf16_to_f32(bits));
}

static uint32_t wide_code(uint32_t wide, double value) {
  if (wide == F16) return small_from_f64(&float_f16, value, false);
  return wide == F32 ? f32_bits((float)value) : bf16_from_f32((float)value);
}

static double scaled(double value, uint32_t scale, bool widen) {
  if (scale == SCALE_NAN) return copysign((double)NAN, value);
  return ldexp(value, widen ? (int)scale - SCALE_ONE : SCALE_ONE - (int)scale);
}

static uint32_t next_random(uint32_t v) { return v << 1 ^ (v >> 31 ? 197 : 0); }

/* Where the first bit lies in the register that `bits` of it are taken from, or put into. */
static uint32_t first_bit(uint32_t bits, uint32_t op_sel) { return bits == 8 ? 8 * (op_sel & 3) : bits == 16 ? 16 * (op_sel & 1) : 0; }

/* The source's bits, all of one lane. */
struct lane_data {
  uint32_t words[WORDS_MAX];
  uint32_t seed, scale;
};

static void widen(const struct form *f, const struct wave *w, const struct inst *in, const struct lane_data *d, uint32_t *out) {
  const struct small_float *format = format_of(f->narrow, w->program->fnuz);
  uint32_t bits = narrow_bits(f->narrow), from = first_bit(bits * f->count, in->imm);
  for (uint32_t i = 0; i < f->count; i++) {
    double value = scaled(small_to_f64(format, bits_at(d->words, from + i * bits, bits)), d->scale, true);
    put_bits(out, i * wide_bits(f->wide), wide_bits(f->wide), wide_code(f->wide, value));
  }
}

static void narrow(const struct form *f, const struct wave *w, const struct lane_data *d, uint32_t *out) {
  const struct small_float *format = format_of(f->narrow, w->program->fnuz);
  bool saturate = f->narrow <= BF8 && (w->mode >> MODE_FP8_SATURATES & 1), random = f->kind == KIND_RANDOM || f->kind == KIND_PLAIN_RANDOM;
  uint32_t bits = narrow_bits(f->narrow), seed = d->seed, wide = wide_bits(f->wide);
  for (uint32_t i = 0; i < f->count; i++, seed = next_random(seed)) {
    uint32_t from = f->kind == KIND_INTERLEAVE ? i % 2 * (f->count / 2) + i / 2 : i;
    double value = scaled(wide_value(f->wide, bits_at(d->words, from * wide, wide)), d->scale, false);
    put_bits(out, i * bits, bits,
        random ? small_from_f64_random(format, value, wide_mantissa(f->wide), seed, saturate) : small_from_f64(format, value, saturate));
  }
}

/* --- execution --------------------------------------------------------------------------------------------------------------- */

static const vgpr *source(vgpr *room, const struct wave *w, const struct inst *in, int i) {
  return in->src[i].words > 1 ? &w->v[in->src[i].reg] : operand(room, w, in, i);
}

static void take_lane(struct lane_data *d, const struct inst *in, const vgpr *data, const vgpr *more, uint32_t l) {
  uint32_t words = in->src[DATA].words;
  for (uint32_t k = 0; k < words; k++) d->words[k] = data[k].w[l];
  for (uint32_t k = 0; k < in->src[MORE_DATA].words; k++) d->words[words + k] = more[k].w[l];
}

/* A result of less than a register goes to its bytes. */
static void put_lane_words(struct wave *w, const struct inst *in, uint32_t l, const uint32_t *out, uint32_t bits, uint32_t at) {
  for (uint32_t k = 0; k < in->dst.words; k++) {
    uint32_t *to = &w->v[in->dst.reg + k].w[l], mask = bits < 32 ? ((1u << bits) - 1) << at : UINT32_MAX;
    *to = (*to & ~mask) | (out[k] << at & mask);
  }
}

static void run_scale(struct wave *w, const struct inst *in) {
  const struct form *f = &forms[in->row->extra];
  vgpr room[4];
  const vgpr *data = source(&room[0], w, in, DATA), *more = in->src[MORE_DATA].words ? source(&room[1], w, in, MORE_DATA) : NULL;
  const vgpr *seed = in->src[SEED].words ? operand(&room[2], w, in, SEED) : NULL;
  const vgpr *scale = in->src[SCALE].words ? operand(&room[3], w, in, SCALE) : NULL;
  uint32_t bits = f->count * (f->kind == KIND_WIDEN ? wide_bits(f->wide) : narrow_bits(f->narrow));
  uint32_t at = bits == 8 ? 8 * (in->imm >> 2) : bits == 16 ? 16 * (in->imm >> 3) : 0;
  FOR_LANES {
    struct lane_data d;
    uint32_t out[WORDS_MAX + 1] = {0};
    if (!w->exec_mask.w[l]) continue;
    take_lane(&d, in, data, more, (uint32_t)l);
    d.seed = seed ? seed->w[l] : 0;
    d.scale = scale ? scale->w[l] >> 23 & 255 : SCALE_ONE;
    if (f->kind == KIND_WIDEN)
      widen(f, w, in, &d, out);
    else
      narrow(f, w, &d, out);
    put_lane_words(w, in, (uint32_t)l, out, bits, at);
  }
}

enum scale_index {
#define WIDEN(name, ...)        INDEX_##name,
#define NARROW(name, ...)       INDEX_##name,
#define RANDOM(name, ...)       INDEX_##name,
#define INTERLEAVE(name, ...)   INDEX_##name,
#define PLAIN_RANDOM(name, ...) INDEX_##name,
#include "isa_scale.def"
#undef WIDEN
#undef NARROW
#undef RANDOM
#undef INTERLEAVE
#undef PLAIN_RANDOM
};

#define ROW(name, fidelity)     {#name, read_scale, run_scale, CLASS_VALU, fidelity, {T_NONE}, INDEX_##name},
#define WIDEN(name, ...)        ROW(name, EXACT)
#define NARROW(name, ...)       ROW(name, EXACT)
#define INTERLEAVE(name, ...)   ROW(name, EXACT)
#define RANDOM(name, ...)       ROW(name, APPROXIMATE)
#define PLAIN_RANDOM(name, ...) ROW(name, APPROXIMATE)
static const struct isa_row rows[] = {
#include "isa_scale.def"
};

const struct isa_table isa_scale = {"scale", rows, sizeof rows / sizeof rows[0]};
