/* SPDX-License-Identifier: Apache-2.0 */
/* What compiled code calls where LLVM for this machine has no instruction, or rounds twice: small floats by exact arithmetic in long
   double, bytes and halves by hand. Written from the formats' definitions; shares nothing with the emulator. */
#include "host_model.h"

#include <math.h>
#include <string.h>

bool model_fnuz;

/* A small float: m fraction bits, the lowest and highest exponent of a normal number. */
struct format {
  int m, lowest, highest;
  uint32_t bits;
};

static const struct format half_format = {10, -14, 15, 16}, bfloat_format = {7, -126, 127, 16};

enum rounding { NEAREST, TO_ZERO };

/* The magnitude rounded to a multiple of the format's step there, as exponent and fraction fields; beyond the highest exponent: over. */
static uint32_t round_to(long double magnitude, const struct format *f, enum rounding how, bool *over) {
  int e;
  *over = false;
  if (magnitude == 0) return 0;
  frexpl(magnitude, &e);
  e = e - 1 < f->lowest ? f->lowest : e - 1;
  long double steps = ldexpl(magnitude, f->m - e);
  steps = how == NEAREST ? rintl(steps) : truncl(steps);
  if (steps >= ldexpl(2, f->m)) {
    steps /= 2;
    e++;
  }
  *over = e > f->highest;
  bool normal = steps >= ldexpl(1, f->m);
  return (uint32_t)(int32_t)(e - f->lowest + (normal ? 1 : 0)) << f->m | ((uint32_t)steps & ((1u << f->m) - 1));
}

/* IEEE-like: infinities, one quiet NaN. */
static uint16_t narrow(long double x, const struct format *f, enum rounding how) {
  uint32_t sign = signbit(x) ? 1u << (f->bits - 1) : 0, infinity = (1u << (f->bits - 1)) - (1u << f->m);
  bool over;
  if (isnan(x)) return (uint16_t)(infinity | 1u << (f->m - 1));
  if (isinf(x)) return (uint16_t)(sign | infinity);
  uint32_t bits = round_to(fabsl(x), f, how, &over);
  if (over) bits = how == NEAREST ? infinity : infinity - 1;
  return (uint16_t)(sign | bits);
}

static long double widen(uint32_t bits, const struct format *f) {
  uint32_t fields = bits & ((1u << (f->bits - 1)) - 1), exponent = fields >> f->m, fraction = fields & ((1u << f->m) - 1);
  uint32_t all_ones = (1u << (f->bits - 1 - (uint32_t)f->m)) - 1;
  long double x = exponent == all_ones ? (fraction ? (long double)NAN : (long double)INFINITY)
                  : exponent           ? ldexpl((long double)(fraction | 1u << f->m), (int)exponent - 1 + f->lowest - f->m)
                                       : ldexpl((long double)fraction, f->lowest - f->m);
  return bits >> (f->bits - 1) & 1 ? -x : x;
}

uint16_t model_f16_of_f64(double x);
uint16_t model_bf16_of_f32(float x);
uint16_t model_bf16_of_f64(double x);
uint16_t model_bf16_op(uint16_t a, uint16_t b, uint32_t multiply);
uint16_t model_f16_fma(uint16_t a, uint16_t b, uint16_t c);
uint32_t model_f16x2_fma(uint32_t a, uint32_t b, uint32_t c);
uint32_t model_pkrtz(float a, float b);
float model_med3(float a, float b, float c);
uint32_t model_dot4(uint32_t a, uint32_t b, uint32_t c, uint32_t is_signed);
uint32_t model_dot2(uint32_t a, uint32_t b, uint32_t c, uint32_t is_signed);
uint32_t model_perm(uint32_t a, uint32_t b, uint32_t c);
uint32_t model_sad8(uint32_t a, uint32_t b, uint32_t c);
uint32_t model_pk_fp8(float a, float b, uint32_t old, uint32_t high, uint32_t bf8);
float model_f32_fp8(uint32_t bytes, uint32_t index, uint32_t bf8);

uint16_t model_f16_of_f64(double x) { return narrow((long double)x, &half_format, NEAREST); }
uint16_t model_bf16_of_f32(float x) { return narrow((long double)x, &bfloat_format, NEAREST); }
uint16_t model_bf16_of_f64(double x) { return narrow((long double)x, &bfloat_format, NEAREST); }

uint16_t model_bf16_op(uint16_t a, uint16_t b, uint32_t multiply) {
  long double x = widen(a, &bfloat_format), y = widen(b, &bfloat_format);
  float exact_enough = multiply ? (float)x * (float)y : (float)x + (float)y; /* bf16 arithmetic is defined through f32 */
  return narrow((long double)exact_enough, &bfloat_format, NEAREST);
}

/* A product of halves and a half's sum fit into 64 bits of significand. */
uint16_t model_f16_fma(uint16_t a, uint16_t b, uint16_t c) {
  return narrow(widen(a, &half_format) * widen(b, &half_format) + widen(c, &half_format), &half_format, NEAREST);
}

uint32_t model_f16x2_fma(uint32_t a, uint32_t b, uint32_t c) {
  uint16_t low = model_f16_fma((uint16_t)a, (uint16_t)b, (uint16_t)c);
  return (uint32_t)model_f16_fma((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16)) << 16 | low;
}

uint32_t model_pkrtz(float a, float b) {
  return (uint32_t)narrow((long double)b, &half_format, TO_ZERO) << 16 | narrow((long double)a, &half_format, TO_ZERO);
}

float model_med3(float a, float b, float c) {
  float low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

uint32_t model_dot4(uint32_t a, uint32_t b, uint32_t c, uint32_t is_signed) {
  for (int i = 0; i < 32; i += 8)
    c += is_signed ? (uint32_t)((int8_t)(a >> i) * (int8_t)(b >> i)) : (uint32_t)((uint8_t)(a >> i) * (uint8_t)(b >> i));
  return c;
}

uint32_t model_dot2(uint32_t a, uint32_t b, uint32_t c, uint32_t is_signed) {
  for (int i = 0; i < 32; i += 16)
    c += is_signed ? (uint32_t)((int16_t)(a >> i) * (int16_t)(b >> i)) : (a >> i & 0xFFFF) * (b >> i & 0xFFFF);
  return c;
}

/* Byte i: selector 0..3 of b, 4..7 of a, 8..11 the sign of the bytes 1, 3, 5, 7, 12 zero, above all ones. */
uint32_t model_perm(uint32_t a, uint32_t b, uint32_t c) {
  uint8_t bytes[8];
  uint32_t d = 0;
  memcpy(bytes, &b, 4);
  memcpy(bytes + 4, &a, 4);
  for (int i = 0; i < 32; i += 8) {
    uint32_t s = c >> i & 0xFF;
    uint32_t byte = s < 8 ? bytes[s] : s < 12 ? (bytes[2 * s - 15] & 0x80 ? 0xFF : 0) : s == 12 ? 0 : 0xFF;
    d |= byte << i;
  }
  return d;
}

uint32_t model_sad8(uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < 32; i += 8) {
    int x = (int)(a >> i & 0xFF), y = (int)(b >> i & 0xFF);
    c += (uint32_t)(x > y ? x - y : y - x);
  }
  return c;
}

/* --- fp8 ---------------------------------------------------------------------------------------------------------------------- */

static const struct format *fp8_format(uint32_t bf8) {
  static const struct format formats[2][2] = {{{3, -6, 8, 8}, {2, -14, 15, 8}}, {{3, -7, 7, 8}, {2, -15, 15, 8}}};
  return &formats[model_fnuz][bf8];
}

/* OCP e4m3 has no infinity and one NaN at the top, e5m2 is IEEE-like; FNUZ has no infinity and no -0: 0x80 is its NaN. */
static uint32_t fp8_of(float x, uint32_t bf8) {
  const struct format *f = fp8_format(bf8);
  bool over;
  uint32_t sign = signbit(x) ? 0x80 : 0, nan = model_fnuz ? 0x80 : 0x7F;
  if (isnan(x)) return nan;
  if (isinf(x)) return !model_fnuz && bf8 ? sign | 0x7C : nan;
  uint32_t bits = round_to(fabsl((long double)x), f, NEAREST, &over);
  if (!model_fnuz && !bf8 && !over) over = bits == 0x7F;
  if (over) return !model_fnuz && bf8 ? sign | 0x7C : nan;
  return model_fnuz && !bits ? 0 : sign | bits;
}

uint32_t model_pk_fp8(float a, float b, uint32_t old, uint32_t high, uint32_t bf8) {
  uint32_t pair = fp8_of(a, bf8) | fp8_of(b, bf8) << 8;
  return high ? (old & 0xFFFF) | pair << 16 : (old & 0xFFFF0000u) | pair;
}

float model_f32_fp8(uint32_t bytes, uint32_t index, uint32_t bf8) {
  const struct format *f = fp8_format(bf8);
  uint32_t byte = bytes >> (8 * index) & 0xFF, magnitude = byte & 0x7F, fraction = magnitude & ((1u << f->m) - 1);
  if (model_fnuz ? byte == 0x80 : bf8 ? magnitude > 0x7C : magnitude == 0x7F) return NAN;
  if (!model_fnuz && magnitude == 0x7C && bf8) return byte >> 7 ? -INFINITY : INFINITY;
  uint32_t exponent = magnitude >> f->m;
  long double x = exponent ? ldexpl((long double)(fraction | 1u << f->m), (int)exponent - 1 + f->lowest - f->m)
                           : ldexpl((long double)fraction, f->lowest - f->m);
  return (float)(byte >> 7 ? -x : x);
}
