/* SPDX-License-Identifier: Apache-2.0 */
/* Every conversion goes through f64, which holds all values of all these formats, and a rounding done on its bits. */
#include "small_float.h"

#include <math.h>
#include <pthread.h>

const struct small_float float_f16 = {5, 10, 15, true, false, false};
const struct small_float float_bf16 = {8, 7, 127, true, false, false};
const struct small_float float_e4m3 = {4, 3, 7, false, false, false};
const struct small_float float_e5m2 = {5, 2, 15, true, false, false};
const struct small_float float_e4m3_fnuz = {4, 3, 8, false, true, false};
const struct small_float float_e5m2_fnuz = {5, 2, 16, false, true, false};
const struct small_float float_e2m3 = {2, 3, 1, false, false, true};
const struct small_float float_e3m2 = {3, 2, 3, false, false, true};
const struct small_float float_e2m1 = {2, 1, 1, false, false, true};

double small_to_f64(const struct small_float *f, uint32_t code) {
  uint32_t sign_bit = 1u << (f->exponent + f->mantissa);
  uint32_t magnitude = code & (sign_bit - 1);
  uint32_t e = magnitude >> f->mantissa, m = magnitude & ((1u << f->mantissa) - 1), top = (1u << f->exponent) - 1;
  double sign = code & sign_bit ? -1.0 : 1.0;
  if (f->fnuz && (code & (2 * sign_bit - 1)) == sign_bit) return NAN;
  if (f->infinity && e == top) return m ? NAN : sign * INFINITY;
  if (!f->infinity && !f->fnuz && !f->finite && magnitude == sign_bit - 1) return NAN;
  if (e == 0) return sign * ldexp(m, 1 - f->bias - f->mantissa);
  return sign * ldexp(m + (1u << f->mantissa), (int)e - f->bias - f->mantissa);
}

/* The code of the largest finite magnitude. */
static uint32_t largest(const struct small_float *f) {
  uint32_t all = (1u << (f->exponent + f->mantissa)) - 1;
  if (f->infinity) return (((1u << f->exponent) - 1) << f->mantissa) - 1;
  return f->fnuz || f->finite ? all : all - 1;
}

static uint32_t nan_code(const struct small_float *f, uint32_t sign) {
  uint32_t sign_bit = 1u << (f->exponent + f->mantissa);
  if (f->fnuz) return sign_bit;
  if (f->infinity) return sign | ((1u << f->exponent) - 1) << f->mantissa | 1u << (f->mantissa - 1);
  return sign | (sign_bit - 1);
}

/* |value| in units of the last place at its magnitude, and the code that unit count is added to. Exact scaling: no rounding here. */
static double in_ulps(const struct small_float *f, double size, uint32_t *base) {
  int lowest = 1 - f->bias, e = lowest; /* of 0 */
  if (size > 0) frexp(size, &e);
  e = e - 1 < lowest ? lowest : e - 1;
  *base = (uint32_t)(e - lowest) << f->mantissa;
  return ldexp(size, f->mantissa - e);
}

/* A magnitude that rounding has found, or an overflow, as a code. */
static uint32_t code_of(const struct small_float *f, uint32_t sign, uint32_t magnitude, bool over, bool saturate) {
  if (!over && magnitude <= largest(f)) return f->fnuz && magnitude == 0 ? 0 : sign | magnitude;
  if (saturate || f->finite) return sign | largest(f);
  return f->infinity ? sign | (largest(f) + 1) : nan_code(f, sign);
}

uint32_t small_from_f64(const struct small_float *f, double value, bool saturate) {
  uint32_t sign = signbit(value) ? 1u << (f->exponent + f->mantissa) : 0, base;
  if (isnan(value)) return nan_code(f, sign);
  if (isinf(value)) return code_of(f, sign, 0, true, saturate);
  double ulps = in_ulps(f, fabs(value), &base), whole = floor(ulps), rest = ulps - whole;
  uint32_t magnitude = base + (uint32_t)whole;
  if (rest > 0.5 || (rest == 0.5 && magnitude & 1)) magnitude++;
  return code_of(f, sign, magnitude, false, saturate);
}

uint32_t small_from_f64_random(const struct small_float *f, double value, uint32_t mantissa, uint32_t random, bool saturate) {
  uint32_t sign = signbit(value) ? 1u << (f->exponent + f->mantissa) : 0, below = mantissa - f->mantissa, base;
  if (isnan(value)) return nan_code(f, sign);
  if (isinf(value)) return code_of(f, sign, 0, true, saturate);
  uint64_t ulps = (uint64_t)ldexp(in_ulps(f, fabs(value), &base), (int)below);
  return code_of(f, sign, base + (uint32_t)((ulps + (random >> (32 - below))) >> below), false, saturate);
}

uint32_t f16_from_f64_rtz(double value) {
  const struct small_float *f = &float_f16;
  uint32_t sign = signbit(value) ? 0x8000u : 0, base;
  if (isnan(value)) return nan_code(f, sign);
  if (isinf(value)) return sign | 0x7C00;
  double ulps = in_ulps(f, fabs(value), &base);
  if (ulps >= 4096 || base + (uint32_t)ulps > largest(f)) return sign | largest(f);
  return sign | (base + (uint32_t)ulps);
}

float f16_to_f32(uint32_t code) {
  uint32_t sign = (code & 0x8000u) << 16, magnitude = code & 0x7FFFu;
  if (magnitude >= 0x7C00) return f32_of(sign | 0x7F800000u | (magnitude & 0x3FF) << 13);
  if (magnitude >= 0x400) return f32_of(sign | ((magnitude << 13) + ((127u - 15) << 23)));
  float v = (float)magnitude * 0x1p-24f;
  return sign ? -v : v;
}

uint32_t f16_from_f32(float value) {
  uint32_t bits = f32_bits(value), sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
  if (size > 0x7F800000) return sign | 0x7E00 | (size >> 13 & 0x3FF);
  if (size >= 0x47800000) return sign | 0x7C00;
  if (size < 0x38800000) { /* a denormal f16: adding 0.5 puts its last place at the float's last place */
    float shifted = f32_of(size) + 0.5f;
    return sign | (f32_bits(shifted) - f32_bits(0.5f));
  }
  size += 0xFFF + (size >> 13 & 1);
  return sign | ((size - ((127u - 15) << 23)) >> 13);
}

uint32_t f16_fma(uint32_t a, uint32_t b, uint32_t c) {
  double p = (double)f16_to_f32(a) * (double)f16_to_f32(b), d = (double)f16_to_f32(c), s = p + d;
  /* The product is exact; the sum's error decides a tie: make an inexact sum odd, so that the second rounding is right. */
  double back = s - p, error = (p - (s - back)) + (d - back);
  if (isfinite(s) && error != 0) {
    uint64_t bits = f64_bits(s);
    if (!(bits & 1)) s = f64_of((error > 0) == (s > 0) ? bits + 1 : bits - 1);
  }
  return small_from_f64(&float_f16, s, false);
}

uint32_t bf16_from_f32(float value) {
  uint32_t bits = f32_bits(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return bits >> 16 | 0x40;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

static double fp8_values[4][256], mx_values[3][64];
static pthread_once_t fp8_once = PTHREAD_ONCE_INIT;

static void fill_fp8_tables(void) {
  const struct small_float *const formats[4] = {&float_e4m3, &float_e5m2, &float_e4m3_fnuz, &float_e5m2_fnuz};
  for (uint32_t f = 0; f < 4; f++)
    for (uint32_t code = 0; code < 256; code++) fp8_values[f][code] = small_to_f64(formats[f], code);
  const struct small_float *const mx[3] = {&float_e2m3, &float_e3m2, &float_e2m1};
  for (uint32_t f = 0; f < 3; f++)
    for (uint32_t code = 0; code < (f == 2 ? 16 : 64); code++) mx_values[f][code] = small_to_f64(mx[f], code);
}

const double *fp8_table(bool fnuz, bool e5m2) {
  pthread_once(&fp8_once, fill_fp8_tables);
  return fp8_values[(fnuz ? 2 : 0) + (e5m2 ? 1 : 0)];
}

const double *mx_table(uint32_t format) {
  pthread_once(&fp8_once, fill_fp8_tables);
  return mx_values[format - 2];
}
