/* SPDX-License-Identifier: Apache-2.0 */
/* Small floating-point formats on the host: f16, bf16, e4m3 and e5m2 (OCP and FNUZ), E8M0. Round to nearest even unless said.
   Bits in, bits out: pure functions, thread safe. Deliberately not shared with reference/. */
#ifndef EMULATOR_SMALL_FLOAT_H
#define EMULATOR_SMALL_FLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t f32_bits(float v) {
  uint32_t b;
  memcpy(&b, &v, sizeof b);
  return b;
}

static inline float f32_of(uint32_t b) {
  float v;
  memcpy(&v, &b, sizeof v);
  return v;
}

static inline uint64_t f64_bits(double v) {
  uint64_t b;
  memcpy(&b, &v, sizeof b);
  return b;
}

static inline double f64_of(uint64_t b) {
  double v;
  memcpy(&v, &b, sizeof v);
  return v;
}

/* A format of `exponent` + `mantissa` + 1 bits. */
struct small_float {
  uint8_t exponent, mantissa;
  int16_t bias;
  bool infinity; /* the all-ones exponent is infinity and NaN; else only the all-ones code (OCP) or 0x80 (FNUZ) is NaN */
  bool fnuz;     /* no -0: that code is the NaN */
  bool finite;   /* every code is a number */
};

extern const struct small_float float_f16, float_bf16, float_e4m3, float_e5m2, float_e4m3_fnuz, float_e5m2_fnuz;
extern const struct small_float float_e2m3, float_e3m2, float_e2m1; /* OCP MX's formats of 6 and 4 bits */

/* The value of a code; exact. */
double small_to_f64(const struct small_float *format, uint32_t code);

/* The nearest code. Overflow is infinity or, without one, NaN; `saturate`, and always where every code is a number: the largest finite
   value instead, for infinity too. A NaN without a code is the largest magnitude. */
uint32_t small_from_f64(const struct small_float *format, double value, bool saturate);

/* Stochastic rounding of a value of `mantissa` bits of fraction (more than the format's): as many top bits of `random` as the format drops
   are added below its last place, and the rest is cut off. As AMD's host library does it. */
uint32_t small_from_f64_random(const struct small_float *format, double value, uint32_t mantissa, uint32_t random, bool saturate);

/* The nearest towards zero: overflow gives the largest finite value. Only with infinity (f16). */
uint32_t f16_from_f64_rtz(double value);

float f16_to_f32(uint32_t code); /* a signalling NaN stays one */
uint32_t f16_from_f32(float value);

/* a * b + c with one rounding to f16. */
uint32_t f16_fma(uint32_t a, uint32_t b, uint32_t c);

static inline float bf16_to_f32(uint32_t code) { return f32_of(code << 16); }
uint32_t bf16_from_f32(float value);

/* 2^(code - 127), NaN for 255. */
static inline double e8m0_to_f64(uint32_t code) {
  return f64_of(code == 255 ? UINT64_C(0x7FF8000000000000) : (uint64_t)(code + 1023 - 127) << 52);
}

/* Bits of x where the mask's are set, else of y. A condition as a mask (0 - condition) lets loops vectorise where ?: would be a branch. */
static inline uint32_t choose(uint32_t mask, uint32_t x, uint32_t y) { return (x & mask) | (y & ~mask); }

/* The same from f32 for the fp8 formats, by integer arithmetic without branches: what vectorised loops call. */
static inline uint32_t fp8_from_f32(float value, bool e5m2, bool fnuz, bool saturate) {
  uint32_t mantissa = e5m2 ? 2 : 3, bias = (e5m2 ? 15u : 7u) + fnuz, drop = 23 - mantissa;
  uint32_t top = fnuz ? 0x7F : e5m2 ? 0x7B : 0x7E, nan = fnuz ? 0x80 : e5m2 ? 0x7E : 0x7F;
  uint32_t over = saturate ? top : !fnuz && e5m2 ? 0x7C : nan;
  uint32_t least_normal = (128 - bias) << 23, last_place = least_normal + (drop << 23);
  uint32_t bits = f32_bits(value), sign = bits >> 24 & 0x80, size = bits & 0x7FFFFFFF;
  /* Below the normals a number is added whose last place is the format's; above, the last place rounds as integers do. */
  uint32_t tiny = f32_bits(f32_of(size) + f32_of(last_place)) - last_place;
  uint32_t normal = (size + ((1u << (drop - 1)) - 1) + (size >> drop & 1) - ((127 - bias) << 23)) >> drop;
  uint32_t code = choose(0u - (uint32_t)(size < least_normal), tiny, normal);
  code = choose(0u - (uint32_t)(code > top), over, code);
  code = choose(0u - (uint32_t)(size > 0x7F800000), nan, code);
  sign &= ~(0u - (uint32_t)fnuz) | (0u - (uint32_t)((code & 0x7F) != 0));
  return sign | code;
}

/* All 256 values of an fp8 format: fp8_table(fnuz, e5m2)[code]. */
const double *fp8_table(bool fnuz, bool e5m2);

/* The 64 (16) values of a matrix format below 8 bits, by its number in cbsz or blgp: 2 e2m3, 3 e3m2, 4 e2m1. */
const double *mx_table(uint32_t format);

#endif
