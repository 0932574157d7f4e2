/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats and exact operations, each written from its definition. Relies on round to nearest even being the host's mode. */
#include "numeric.h"

#include <math.h>
#include <string.h>

const struct ref_fp8 ref_fp8_ocp = {.max = 448.0f, .fnuz = false};
const struct ref_fp8 ref_fp8_fnuz = {.max = 224.0f, .fnuz = true};

uint32_t ref_bits(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

float ref_float(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

uint16_t ref_bf16(float v) {
  uint32_t bits = ref_bits(v);
  if (isnan(v)) return (uint16_t)(bits >> 16 | 0x40u); /* the set bit keeps it a NaN if its payload was low */
  uint32_t odd = bits >> 16 & 1u;
  return (uint16_t)((bits + 0x7fffu + odd) >> 16); /* a carry into the exponent is right, up to infinity */
}

float ref_bf16_value(uint16_t bits) { return ref_float((uint32_t)bits << 16); }

uint16_t ref_bf16_of_double(double v) {
  /* To f32 by rounding to odd: then no tie is made up, and the second rounding is as good as the only one. */
  float f = (float)v;
  if (isnan(v) || (double)f == v) return ref_bf16(f);
  uint32_t bits = ref_bits(f);
  if (fabs((double)f) > fabs(v)) bits -= 1;
  return ref_bf16(ref_float(bits | 1u));
}

bool ref_bf16_is_nan(uint16_t bits) { return (bits & 0x7fffu) > 0x7f80u; }

static int e4m3_bias(const struct ref_fp8 *fp8) { return fp8->fnuz ? 8 : 7; }

uint8_t ref_e4m3(float v, const struct ref_fp8 *fp8) {
  uint8_t sign = signbit(v) ? 0x80 : 0;
  uint8_t nan = fp8->fnuz ? 0x80 : (uint8_t)(sign | 0x7f);
  if (!isfinite(v)) return nan;

  /* The value in units of its last place: 8..16 for a normal, 0..8 for a denormal. */
  int exponent = 0, bias = e4m3_bias(fp8);
  frexpf(v, &exponent); /* |v| in [2^(exponent - 1), 2^exponent) */
  exponent = v == 0.0f || exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  if (exponent > 15) return nan;
  int units = (int)rintf(ldexpf(fabsf(v), 3 - exponent));

  /* Units 8 and up add 1 to the exponent field, as does the carry from 15 to 16. */
  int bits = ((exponent + bias - 1) << 3) + units;
  if (bits > (fp8->fnuz ? 0x7f : 0x7e)) return nan;
  if (fp8->fnuz && bits == 0) return 0;
  return (uint8_t)(sign | bits);
}

float ref_e4m3_value(uint8_t bits, const struct ref_fp8 *fp8) {
  if (ref_e4m3_is_nan(bits, fp8)) return NAN;
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float magnitude =
      exponent ? ldexpf((float)(8 + mantissa), exponent - e4m3_bias(fp8) - 3) : ldexpf((float)mantissa, 1 - e4m3_bias(fp8) - 3);
  return bits & 0x80 ? -magnitude : magnitude;
}

bool ref_e4m3_is_nan(uint8_t bits, const struct ref_fp8 *fp8) { return fp8->fnuz ? bits == 0x80 : (bits & 0x7f) == 0x7f; }

double ref_e8m0_value(uint8_t code) { return code == 255 ? (double)NAN : ldexp(1.0, (int)code - 127); }

float ref_max(float a, float b) {
  if (isnan(a)) return a;
  if (isnan(b)) return b;
  if (a == b) return signbit(a) ? b : a;
  return a > b ? a : b;
}

float ref_min(float a, float b) {
  if (isnan(a)) return a;
  if (isnan(b)) return b;
  if (a == b) return signbit(a) ? a : b;
  return a < b ? a : b;
}

float ref_clamp(float v, float limit) { return ref_max(ref_min(v, limit), -limit); }

float ref_div_rn(float x, float d) {
  float r = 1.0f / d; /* of a constant: rounded once */
  float q = x * r;
  return fmaf(fmaf(-q, d, x), r, q);
}

uint32_t ref_ceil_exp(float v) {
  uint32_t bits = ref_bits(v);
  return (bits >> 23 & 255u) + ((bits & 0x7fffffu) != 0);
}

uint8_t ref_mx_code(float amax, const struct ref_fp8 *fp8) {
  uint32_t code = ref_ceil_exp(ref_div_rn(ref_max(amax, 0x1p-126f), fp8->max));
  return (uint8_t)(code > 254 ? 254 : code);
}

float ref_mx_multiplier(uint8_t code) { return ref_float((254u - code) << 23); }

uint8_t ref_mx_value(float v, float multiplier, const struct ref_fp8 *fp8) { return ref_e4m3(ref_clamp(v * multiplier, fp8->max), fp8); }

void ref_mx_row(const uint16_t *v, uint32_t count, const struct ref_fp8 *fp8, uint8_t *values, uint8_t *codes) {
  for (uint32_t first = 0; first < count; first += 32) {
    float amax = 0.0f;
    for (uint32_t i = first; i < first + 32; i++) amax = ref_max(amax, fabsf(ref_bf16_value(v[i])));
    uint8_t code = ref_mx_code(amax, fp8);
    float multiplier = ref_mx_multiplier(code);
    for (uint32_t i = first; i < first + 32; i++) values[i] = ref_mx_value(ref_bf16_value(v[i]), multiplier, fp8);
    codes[first / 32] = code;
  }
}

float ref_rsq(float v, int ulps) {
  float r = (float)(1.0 / sqrt((double)v));
  return isfinite(r) && r > 0.0f ? ref_float(ref_bits(r) + (uint32_t)ulps) : r;
}

void ref_rope(float a, float b, float cos, float sin, uint16_t out[2]) {
  float ac = a * cos, bs = b * sin, as = a * sin, bc = b * cos; /* each rounded */
  out[0] = ref_bf16(ac - bs);
  out[1] = ref_bf16(as + bc);
}
