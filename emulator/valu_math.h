/* SPDX-License-Identifier: Apache-2.0 */
/* What the expressions of isa_valu.def and isa_packed.def call: total functions of one lane, fit for vectorised loops. */
#ifndef EMULATOR_VALU_MATH_H
#define EMULATOR_VALU_MATH_H

#include <math.h>

#include "operand.h"

ALWAYS_INLINE uint32_t min_u(uint32_t a, uint32_t b) { return a < b ? a : b; }
ALWAYS_INLINE uint32_t max_u(uint32_t a, uint32_t b) { return a > b ? a : b; }
ALWAYS_INLINE int32_t min_i(int32_t a, int32_t b) { return a < b ? a : b; }
ALWAYS_INLINE int32_t max_i(int32_t a, int32_t b) { return a > b ? a : b; }
ALWAYS_INLINE int32_t clamp_i(int32_t v, int32_t size) { return v < -size ? -size : v > size ? size : v; }

ALWAYS_INLINE uint32_t saturate_u32(int64_t v) { return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v; }
ALWAYS_INLINE int32_t saturate_i32(int64_t v) { return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v; }
ALWAYS_INLINE int32_t saturate_i16(int32_t v) { return v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v; }

ALWAYS_INLINE uint32_t ones(uint32_t v) {
  v -= v >> 1 & 0x55555555;
  v = (v & 0x33333333) + (v >> 2 & 0x33333333);
  return ((v + (v >> 4)) & 0x0F0F0F0F) * 0x01010101u >> 24;
}

ALWAYS_INLINE uint32_t reverse_bits(uint32_t v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0F0F0F0F) | (v & 0x0F0F0F0F) << 4;
  return v >> 24 | (v >> 8 & 0xFF00) | (v & 0xFF00) << 8 | v << 24;
}

/* How many bits from the top equal the sign; all ones if they all do. */
ALWAYS_INLINE uint32_t high_bit_signed(uint32_t v) {
  uint32_t x = v >> 31 ? ~v : v;
  return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}

/* Sums of products of halves, of bytes. */
ALWAYS_INLINE uint32_t dot_i16(uint32_t a, uint32_t b) {
  return (uint32_t)(as_i16(a) * as_i16(b)) + (uint32_t)(as_i16(a >> 16) * as_i16(b >> 16));
}

ALWAYS_INLINE uint32_t dot_i8(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 32; i += 8) sum += (uint32_t)((int8_t)(uint8_t)(a >> i) * (int8_t)(uint8_t)(b >> i));
  return sum;
}

ALWAYS_INLINE uint32_t dot_u8(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 32; i += 8) sum += (a >> i & 0xFF) * (b >> i & 0xFF);
  return sum;
}

ALWAYS_INLINE int64_t sign24(uint32_t v) { return (int32_t)(v << 8) >> 8; }

ALWAYS_INLINE uint32_t field_signed(uint32_t v, uint32_t offset, uint32_t width) {
  uint32_t sign = width ? 1u << (width - 1) : 0, field = v >> offset & ((1u << width) - 1);
  return offset + width < 32 ? (field ^ sign) - sign : width ? (uint32_t)((int32_t)v >> offset) : 0;
}

/* Byte c.i of {a, b}; 8..11: the sign of a 16-bit half, 12: 0, above: all ones. */
ALWAYS_INLINE uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t c) {
  uint64_t both = (uint64_t)a << 32 | b;
  uint32_t d = 0;
  for (uint32_t i = 0; i < 32; i += 8) {
    uint32_t s = c >> i & 0xFF;
    uint32_t byte = s < 8     ? (uint32_t)(both >> (8 * (s & 7))) & 0xFF
                    : s == 12 ? 0
                    : s > 12  ? 0xFF
                              : 0u - (uint32_t)(both >> (16 * (s & 3) + 15) & 1);
    d |= (byte & 0xFF) << i;
  }
  return d;
}

ALWAYS_INLINE uint32_t byte_distance(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 32; i += 8) {
    uint32_t x = a >> i & 0xFF, y = b >> i & 0xFF;
    sum += x > y ? x - y : y - x;
  }
  return sum;
}

/* Bit by bit: bit (a << 2 | b << 1 | c) of the table. */
ALWAYS_INLINE uint32_t bits_of_table(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t d = 0;
  for (uint32_t i = 0; i < 8; i++) d |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c) & (0u - (table >> i & 1));
  return d;
}

/* Integers in the order of the floats, -0 below +0. */
ALWAYS_INLINE int32_t order_f32(float v) {
  uint32_t b = f32_bits(v);
  return (int32_t)(b ^ ((0u - (b >> 31)) >> 1));
}

ALWAYS_INLINE bool nan_f32(float v) { return (f32_bits(v) & 0x7FFFFFFFu) > 0x7F800000u; }
ALWAYS_INLINE float quiet_f32(float v) { return f32_of(f32_bits(v) | (nan_f32(v) ? 0x400000u : 0)); }

/* All ones or 0: conditions that vectorise. */
ALWAYS_INLINE uint32_t nan_mask(uint32_t b) { return 0u - (uint32_t)((int32_t)(b & 0x7FFFFFFFu) > 0x7F800000); }
enum { QUIET_32 = 0x400000 };

/* What minimum and maximum give where one is a NaN, else `r`: the number; in IEEE mode a signalling NaN wins, quieted. */
ALWAYS_INLINE float or_number_f32(float a, float b, uint32_t r, bool ieee) {
  uint32_t x = f32_bits(a), y = f32_bits(b), mode = ieee ? QUIET_32 : 0;
  uint32_t x_quiet = a != a ? x | mode : x, y_quiet = b != b ? y | mode : y;
  uint32_t of_x = (x & mode) == mode ? y_quiet : x_quiet, of_y = (y & mode) == mode ? x : y_quiet;
  r = b != b ? of_y : r;
  return f32_of(a != a ? of_x : r);
}

/* Of two zeros -0 is the lesser. */
ALWAYS_INLINE float min_f32(float a, float b, bool ieee) {
  uint32_t x = f32_bits(a), y = f32_bits(b), r = a < b ? x : y;
  return or_number_f32(a, b, a == b ? x | y : r, ieee);
}
ALWAYS_INLINE float max_f32(float a, float b, bool ieee) {
  uint32_t x = f32_bits(a), y = f32_bits(b), r = a > b ? x : y;
  return or_number_f32(a, b, a == b ? x & y : r, ieee);
}

ALWAYS_INLINE float med3_f32(float a, float b, float c, bool ieee) {
  float least = min_f32(min_f32(a, b, ieee), c, ieee);
  float middle = max_f32(min_f32(a, b, false), min_f32(max_f32(a, b, false), c, false), false);
  return nan_f32(a) || nan_f32(b) || nan_f32(c) ? least : middle;
}

/* IEEE 754-2019 minimum and maximum: a NaN passes. */
ALWAYS_INLINE float pass_nan_f32(float a, float b, uint32_t take_a) {
  uint32_t x = f32_bits(a), y = f32_bits(b);
  return f32_of(choose(nan_mask(x), x | QUIET_32, choose(nan_mask(y), y | QUIET_32, choose(take_a, x, y))));
}

ALWAYS_INLINE float minimum_f32(float a, float b) { return pass_nan_f32(a, b, 0u - (uint32_t)(order_f32(a) < order_f32(b))); }
ALWAYS_INLINE float maximum_f32(float a, float b) { return pass_nan_f32(a, b, 0u - (uint32_t)(order_f32(a) > order_f32(b))); }

ALWAYS_INLINE int64_t order_f64(double v) {
  uint64_t b = f64_bits(v);
  return (int64_t)(b ^ ((0u - (b >> 63)) >> 1));
}

ALWAYS_INLINE bool nan_f64(double v) { return (f64_bits(v) & UINT64_C(0x7FFFFFFFFFFFFFFF)) > UINT64_C(0x7FF0000000000000); }

ALWAYS_INLINE double pick_f64(double a, double b, bool take_a, bool ieee) {
  const uint64_t quiet = UINT64_C(1) << 51;
  double r = take_a ? a : b;
  r = nan_f64(b) ? a : r;
  r = nan_f64(a) ? b : r;
  if (ieee && nan_f64(b) && !(f64_bits(b) & quiet)) r = f64_of(f64_bits(b) | quiet);
  if (ieee && nan_f64(a) && !(f64_bits(a) & quiet)) r = f64_of(f64_bits(a) | quiet);
  return r;
}

ALWAYS_INLINE double min_f64(double a, double b, bool ieee) { return pick_f64(a, b, order_f64(a) < order_f64(b), ieee); }
ALWAYS_INLINE double max_f64(double a, double b, bool ieee) { return pick_f64(a, b, order_f64(a) > order_f64(b), ieee); }

/* One rounding: f64 holds a * 2^b exactly. */
ALWAYS_INLINE float ldexp_f32(float a, int32_t b) { return (float)ldexp((double)a, clamp_i(b, 400)); }

ALWAYS_INLINE float fract_f32(float a) {
  float f = a - __builtin_floorf(a);
  return f >= 1.0f ? 0x1.fffffep-1f : f;
}

ALWAYS_INLINE double fract_f64(double a) {
  double f = a - __builtin_floor(a);
  return f >= 1.0 ? 0x1.fffffffffffffp-1 : f;
}

ALWAYS_INLINE int32_t frexp_exponent(double a) {
  int e = 0;
  if (isfinite(a)) frexp(a, &e);
  return e;
}

ALWAYS_INLINE double frexp_mantissa(double a) {
  int e;
  return isfinite(a) ? frexp(a, &e) : a + a;
}

/* --- division: q is the quotient so far, d the denominator, n the numerator ---------------------------------------------------- */

/* The result of a division that is not the quotient of two numbers in range, else |q| with the right sign. */
/* Bits of an exponent between n and d beyond which the quotient is infinite, is 0: q says nothing there. */
enum { OVER_F16 = 4096, OVER_F32 = 128, OVER_F64 = 1024 };

ALWAYS_INLINE double div_fixup(double q, double d, double n, int over) {
  bool negative = (f64_bits(d) ^ f64_bits(n)) >> 63;
  if (isnan(n)) return n;
  if (isnan(d)) return d;
  if ((d == 0 && n == 0) || (isinf(d) && isinf(n))) return f64_of(UINT64_C(0xFFF8000000000000));
  if (d == 0 || isinf(n)) return negative ? -INFINITY : INFINITY;
  if (isinf(d) || n == 0) return negative ? -0.0 : 0.0;
  int distance = ilogb(n) - ilogb(d);
  if (distance > over) return negative ? -INFINITY : INFINITY;
  if (distance < (over == OVER_F32 ? -150 : over == OVER_F64 ? -1075 : -OVER_F16)) return negative ? -0.0 : 0.0;
  return negative ? -fabs(q) : fabs(q);
}

/* x + y, whose last place is odd if it is not exact: rounding it again to at least two places fewer is as rounding once. */
ALWAYS_INLINE double add_to_odd(double x, double y) {
  double sum = x + y, back = sum - x, lost = (x - (sum - back)) + (y - back);
  uint64_t bits = f64_bits(sum);
  if (!isfinite(sum) || lost == 0 || (bits & 1)) return sum;
  return f64_of((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/* The same in f128. */
static inline __float128 add_to_odd_wide(__float128 x, __float128 y) {
  __float128 sum = x + y, back = sum - x, lost = (x - (sum - back)) + (y - back);
  unsigned __int128 bits;
  memcpy(&bits, &sum, sizeof bits);
  if (lost == 0 || (bits & 1)) return sum;
  bits += (lost > 0) == (sum > 0) ? 1 : (unsigned __int128)-1;
  memcpy(&sum, &bits, sizeof sum);
  return sum;
}

/* The last step of a division, scaled back with one rounding: the product is exact in the wider format. A result in f64's range needs no
   wider one. */
ALWAYS_INLINE float div_fmas_f32(float a, float b, float c, bool scaled) {
  if (!scaled) return __builtin_fmaf(a, b, c);
  return (float)(add_to_odd((double)a * (double)b, (double)c) * (fabsf(c) >= 2 ? 0x1p64 : 0x1p-64));
}

ALWAYS_INLINE double div_fmas_f64(double a, double b, double c, bool scaled) {
  double sum = __builtin_fma(a, b, c), factor = fabs(c) >= 2 ? 0x1p128 : 0x1p-128, result = sum * factor;
  if (!scaled) return sum;
  if (!(fabs(result) < 0x1p-1020)) return result;
  return (double)(add_to_odd_wide((__float128)a * (__float128)b, (__float128)c) * (__float128)factor);
}

ALWAYS_INLINE float div_fixup_f32(float q, float d, float n) { return (float)div_fixup((double)q, (double)d, (double)n, OVER_F32); }
ALWAYS_INLINE float div_fixup_f16(float q, float d, float n) { return (float)div_fixup((double)q, (double)d, (double)n, OVER_F16); }
ALWAYS_INLINE double div_fixup_f64(double q, double d, double n) { return div_fixup(q, d, n, OVER_F64); }

ALWAYS_INLINE int exponent_f32(float v) { return (int)(f32_bits(v) >> 23 & 255); }
ALWAYS_INLINE int exponent_f64(double v) { return (int)(f64_bits(v) >> 52 & 2047); }
ALWAYS_INLINE bool denormal_f32(float v) { return v != 0 && exponent_f32(v) == 0; }
ALWAYS_INLINE bool denormal_f64(double v) { return v != 0 && exponent_f64(v) == 0; }

/* v is d or n: the one that is to be scaled. The published text scales a denominator whose reciprocal and quotient are both denormal up,
 * where it would overflow: it is scaled down. */
ALWAYS_INLINE float div_scale_f32(float v, float d, float n) {
  bool is_d = f32_bits(v) == f32_bits(d), is_n = f32_bits(v) == f32_bits(n);
  if (n == 0 || d == 0) return NAN;
  if (exponent_f32(n) - exponent_f32(d) >= 96) return is_d ? v * 0x1p64f : v;
  if (denormal_f32(d)) return v * 0x1p64f;
  if (denormal_f32(1 / d)) return denormal_f32(n / d) ? (is_d ? v * 0x1p-64f : v) : v * 0x1p-64f;
  if (denormal_f32(n / d)) return is_n ? v * 0x1p64f : v;
  return exponent_f32(n) <= 23 ? v * 0x1p64f : v;
}

ALWAYS_INLINE bool div_scale_flag_f32(float d, float n) {
  if (n == 0 || d == 0) return false;
  return exponent_f32(n) - exponent_f32(d) >= 96 || (!denormal_f32(d) && denormal_f32(n / d));
}

ALWAYS_INLINE double div_scale_f64(double v, double d, double n) {
  bool is_d = f64_bits(v) == f64_bits(d), is_n = f64_bits(v) == f64_bits(n);
  if (n == 0 || d == 0) return (double)NAN;
  if (exponent_f64(n) - exponent_f64(d) >= 768) return is_d ? v * 0x1p128 : v;
  if (denormal_f64(d)) return v * 0x1p128;
  if (denormal_f64(1 / d)) return denormal_f64(n / d) ? (is_d ? v * 0x1p-128 : v) : v * 0x1p-128;
  if (denormal_f64(n / d)) return is_n ? v * 0x1p128 : v;
  return exponent_f64(n) <= 53 ? v * 0x1p128 : v;
}

ALWAYS_INLINE bool div_scale_flag_f64(double d, double n) {
  if (n == 0 || d == 0) return false;
  return exponent_f64(n) - exponent_f64(d) >= 768 || (!denormal_f64(d) && denormal_f64(n / d));
}

/* --- bytes, nibbles, f16 ------------------------------------------------------------------------------------------------------ */

ALWAYS_INLINE uint32_t lerp_bytes(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d = 0;
  for (uint32_t i = 0; i < 32; i += 8) d |= (((a >> i & 0xFF) + (b >> i & 0xFF) + (c >> i & 1)) >> 1) << i;
  return d;
}

/* Like byte_distance, of the bytes that b has. */
ALWAYS_INLINE uint32_t masked_distance(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 32; i += 8) {
    uint32_t x = a >> i & 0xFF, y = b >> i & 0xFF;
    sum += y == 0 ? 0 : x > y ? x - y : y - x;
  }
  return sum;
}

ALWAYS_INLINE uint32_t half_distance(uint32_t a, uint32_t b) {
  uint32_t lo = as_u16(a) > as_u16(b) ? as_u16(a) - as_u16(b) : as_u16(b) - as_u16(a);
  return lo + (a >> 16 > b >> 16 ? (a >> 16) - (b >> 16) : (b >> 16) - (a >> 16));
}

/* Four windows of four bytes of a, each a byte further, against b. */
ALWAYS_INLINE uint64_t four_distances(uint64_t a, uint32_t b, uint64_t c, bool masked) {
  uint64_t d = 0;
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t window = (uint32_t)(a >> (8 * i)), sum = masked ? masked_distance(window, b) : byte_distance(window, b);
    d |= (uint64_t)((sum + (uint32_t)(c >> (16 * i) & 0xFFFF)) & 0xFFFF) << (16 * i);
  }
  return d;
}

ALWAYS_INLINE uint32_t dot_i4(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 32; i += 4) sum += (uint32_t)(((int32_t)(a << (28 - i)) >> 28) * ((int32_t)(b << (28 - i)) >> 28));
  return sum;
}

ALWAYS_INLINE uint32_t dot_u4(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 32; i += 4) sum += (a >> i & 15) * (b >> i & 15);
  return sum;
}

/* Two products and c, rounded once. */
ALWAYS_INLINE float dot_f16(uint32_t a, uint32_t b, float c) {
  return (float)((double)as_f16(a) * (double)as_f16(b) + (double)as_f16(a >> 16) * (double)as_f16(b >> 16) + (double)c);
}

ALWAYS_INLINE float dot_bf16(uint32_t a, uint32_t b, float c) {
  return (float)((double)f32_of(a << 16) * (double)f32_of(b << 16) + (double)f32_of(a & 0xFFFF0000u) * (double)f32_of(b & 0xFFFF0000u) +
                 (double)c);
}

/* Below 1 in f16 too. */
ALWAYS_INLINE float fract_f16(float a) {
  float f = a - __builtin_floorf(a);
  return f > 0x1.ffcp-1f ? 0x1.ffcp-1f : f;
}

/* v_trig_preop_f64 (trig_preop.c). */
double two_over_pi_part(double angle, uint32_t segment);

/* A product and a sum, both rounded to f16. */
ALWAYS_INLINE float mad_f16(float a, float b, float c) { return f16_to_f32(f16_from_f32(a * b)) + c; }

ALWAYS_INLINE uint32_t limit_byte(int32_t v, int32_t low, int32_t high) { return (uint32_t)(v < low ? low : v > high ? high : v) & 0xFF; }

/* Of parts of a turn: exact where the sine is. */
ALWAYS_INLINE float sin_turns(float turns) {
  double t = remainder((double)turns, 1.0);
  return t == 0 || fabs(t) == 0.5 ? copysignf(0, turns) : (float)sin(t * 6.283185307179586477);
}

ALWAYS_INLINE float cos_turns(float turns) {
  double t = remainder((double)turns, 1.0);
  return fabs(t) == 0.25 ? 0.0f : (float)cos(t * 6.283185307179586477);
}

#endif
