/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions should give, by the host's own arithmetic: bits in, bits out. Written apart from the emulator: libm, __int128, the
   compiler's _Float16, loops over bits. */
#ifndef FRONT_TESTS_HOST_MATH_H
#define FRONT_TESTS_HOST_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef int64_t i64;
typedef uint32_t u32;
typedef int32_t i32;

static inline float f(u64 b) {
  u32 w = (u32)b;
  float v;
  memcpy(&v, &w, 4);
  return v;
}

static inline u64 fb(float v) {
  u32 w;
  memcpy(&w, &v, 4);
  return w;
}

static inline double d64(u64 b) {
  double v;
  memcpy(&v, &b, 8);
  return v;
}

static inline u64 db(double v) {
  u64 b;
  memcpy(&b, &v, 8);
  return b;
}

static inline double h(u64 b) {
  uint16_t w = (uint16_t)b;
  _Float16 v;
  memcpy(&v, &w, 2);
  return (double)v;
}

static inline u64 hb(double x) {
  _Float16 v = (_Float16)x;
  uint16_t w;
  memcpy(&w, &v, 2);
  return w;
}

static inline i64 s8(u64 v) { return (int8_t)(uint8_t)v; }
static inline i64 s16(u64 v) { return (int16_t)(uint16_t)v; }
static inline i64 s24(u64 v) { return (i64)(v << 40) >> 40; }
static inline i64 s32(u64 v) { return (i32)(u32)v; }
static inline u64 lo(u64 v) { return v & 0xFFFF; }
static inline u64 hi(u64 v) { return v >> 16 & 0xFFFF; }
static inline u64 halves(u64 low, u64 high) { return (low & 0xFFFF) | (high & 0xFFFF) << 16; }
static inline u64 words(u64 low, u64 high) { return (low & UINT32_MAX) | high << 32; }
static inline i64 least(i64 x, i64 y) { return x < y ? x : y; }
static inline i64 most(i64 x, i64 y) { return x > y ? x : y; }
static inline i64 middle(i64 x, i64 y, i64 z) { return most(least(x, y), least(most(x, y), z)); }
static inline i64 within(i64 v, i64 low, i64 high) { return v < low ? low : v > high ? high : v; }

static inline u64 bit_loop_reverse(u64 v, int bits) {
  u64 r = 0;
  for (int i = 0; i < bits; i++) r |= (v >> i & 1) << (bits - 1 - i);
  return r;
}

static inline u64 bit_loop_count(u64 v) {
  u64 n = 0;
  for (; v; v >>= 1) n += v & 1;
  return n;
}

/* Index of the first set bit from below or from above, -1 (all ones) if there is none. */
static inline u64 lowest_bit(u64 v, int bits) {
  for (int i = 0; i < bits; i++)
    if (v >> i & 1) return (u64)i;
  return UINT32_MAX;
}

static inline u64 highest_bit_from_top(u64 v, int bits) {
  for (int i = 0; i < bits; i++)
    if (v >> (bits - 1 - i) & 1) return (u64)i;
  return UINT32_MAX;
}

static inline u64 sign_run(u64 v, int bits) {
  u64 top = v >> (bits - 1) & 1;
  for (int i = 1; i < bits; i++)
    if ((v >> (bits - 1 - i) & 1) != top) return (u64)i;
  return UINT32_MAX;
}

/* Fours of bits that are not all 0: a bit each, or all four. */
static inline u64 quads(u64 v, int bits, bool whole) {
  u64 r = 0;
  for (int i = 0; i < bits; i++)
    if (v >> (i / 4 * 4) & 15) r |= UINT64_C(1) << (whole ? i : i / 4);
  return r;
}

static inline u64 field(u64 v, u64 offset, u64 width, bool sign, int bits) {
  u64 r = 0;
  for (u64 i = 0; i < width && offset + i < (u64)bits; i++) r |= (v >> (offset + i) & 1) << i;
  u64 there = width < (u64)bits - offset ? width : (u64)bits - offset;
  if (sign && there && r >> (there - 1) & 1)
    for (u64 i = there; i < 64; i++) r |= UINT64_C(1) << i;
  return r;
}

static inline u64 table3(u64 a, u64 b, u64 c, u32 table) {
  u64 r = 0;
  for (int i = 0; i < 32; i++) r |= (u64)(table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
  return r;
}

static inline u64 bytes_of(u64 a, u64 b, u64 c) {
  uint8_t from[8], r[4];
  for (int i = 0; i < 4; i++) from[i] = (uint8_t)(b >> (8 * i)), from[4 + i] = (uint8_t)(a >> (8 * i));
  for (int i = 0; i < 4; i++) {
    unsigned s = c >> (8 * i) & 255;
    r[i] = s < 8 ? from[s] : s < 12 ? (from[2 * (s - 8) + 1] & 0x80 ? 255 : 0) : s == 12 ? 0 : 255;
  }
  return r[0] | (u64)r[1] << 8 | (u64)r[2] << 16 | (u64)r[3] << 24;
}

static inline bool snan32(u64 b) { return isnan(f(b)) && !(b & 0x400000); }
static inline bool snan64(u64 b) { return isnan(d64(b)) && !(b >> 51 & 1); }

/* minNum and maxNum in IEEE mode: a signalling NaN comes back quiet, a quiet one loses. */
static inline u64 num32(u64 a, u64 b, bool max) {
  if (snan32(a)) return a | 0x400000;
  if (snan32(b)) return b | 0x400000;
  if (isnan(f(a))) return b;
  if (isnan(f(b))) return a;
  if (f(a) == f(b)) return (signbit(f(a)) != 0) == max ? b : a;
  return (f(a) > f(b)) == max ? a : b;
}

static inline u64 num64(u64 a, u64 b, bool max) {
  const u64 quiet = UINT64_C(1) << 51;
  if (snan64(a)) return a | quiet;
  if (snan64(b)) return b | quiet;
  if (isnan(d64(a))) return b;
  if (isnan(d64(b))) return a;
  if (d64(a) == d64(b)) return (signbit(d64(a)) != 0) == max ? b : a;
  return (d64(a) > d64(b)) == max ? a : b;
}

static inline u64 num16(u64 a, u64 b, bool max) {
  bool a_nan = isnan(h(a)), b_nan = isnan(h(b));
  if (a_nan && !(a & 0x200)) return a | 0x200;
  if (b_nan && !(b & 0x200)) return b | 0x200;
  if (a_nan) return b;
  if (b_nan) return a;
  if (h(a) == h(b)) return (signbit(h(a)) != 0) == max ? b : a;
  return (h(a) > h(b)) == max ? a : b;
}

static inline u64 med32(u64 a, u64 b, u64 c) {
  if (isnan(f(a)) || isnan(f(b)) || isnan(f(c))) return num32(num32(a, b, false), c, false);
  return num32(num32(a, b, false), num32(num32(a, b, true), c, false), true);
}

static inline u64 med16(u64 a, u64 b, u64 c) {
  if (isnan(h(a)) || isnan(h(b)) || isnan(h(c))) return num16(num16(a, b, false), c, false);
  return num16(num16(a, b, false), num16(num16(a, b, true), c, false), true);
}

/* IEEE 754-2019 minimum and maximum. */
static inline u64 whole32(u64 a, u64 b, bool max) {
  if (isnan(f(a))) return a | 0x400000;
  if (isnan(f(b))) return b | 0x400000;
  return num32(a, b, max);
}

static inline u64 whole16(u64 a, u64 b, bool max) { return isnan(h(a)) || isnan(h(b)) ? 0x7E00 : num16(a, b, max); }

static inline u64 to_int(double v, double low, double high) {
  if (isnan(v)) return 0;
  if (v <= low) return (u64)(i64)low;
  if (v >= high) return (u64)(i64)high;
  return (u64)(i64)v;
}

/* The nearest of all codes of an fp8 format, ties to the even one, by search; `e5m2` or e4m3, OCP. */
static inline double fp8_value(u64 code, bool e5m2) {
  int mbits = e5m2 ? 2 : 3, e = (int)(code >> mbits & (e5m2 ? 31 : 15)), m = (int)(code & ((1u << mbits) - 1)), bias = e5m2 ? 15 : 7;
  double sign = code & 0x80 ? -1 : 1;
  if (e5m2 && e == 31) return m ? (double)NAN : sign * (double)INFINITY;
  if (!e5m2 && (code & 0x7F) == 0x7F) return (double)NAN;
  return sign * (e ? (1 + m / (double)(1 << mbits)) * pow(2, e - bias) : m / (double)(1 << mbits) * pow(2, 1 - bias));
}

static inline u64 fp8_code(float v, bool e5m2) {
  u64 sign = signbit(v) ? 0x80 : 0, best = 0;
  u64 top = e5m2 ? 0x7B : 0x7E;
  double size = fabs((double)v), limit = e5m2 ? 61440 : 464;
  if (isnan(v)) return sign | (e5m2 ? 0x7E : 0x7F);
  if (e5m2 ? size >= limit : size > limit) return sign | (e5m2 ? 0x7C : 0x7F);
  for (u64 code = 0; code <= top; code++) {
    double now = fabs(size - fp8_value(code, e5m2)), before = fabs(size - fp8_value(best, e5m2));
    if (now < before || (now == before && !(code & 1))) best = code;
  }
  return sign | best;
}

/* The code of a small integer. FNUZ codes mean half of what the OCP ones do. */
static inline u64 small_code(const char *type, int v, bool fnuz) {
  if (strcmp(type, "f64") == 0) return db(v);
  if (strstr(type, "f32")) return fb((float)v);
  if (strcmp(type, "bf16") == 0) return fb((float)v) >> 16;
  if (strcmp(type, "f16") == 0) return hb(v);
  if (strcmp(type, "i8") == 0) return (uint8_t)(int8_t)v;
  return fp8_code((float)(fnuz ? 2 * v : v), strcmp(type, "bf8") == 0);
}

/* Round to nearest even of f32 to bf16, by comparing the two neighbours. */
static inline u64 bf16_code(float v) {
  u64 down = fb(v) >> 16;
  if (isnan(v)) return down | 0x40;
  u64 up = down + 1;
  double size = fabs((double)v), x = fabs((double)f((down & 0x7FFF) << 16)),
         y = (up & 0x7FFF) == 0x7F80 ? 0x1p128 : (double)f((up & 0x7FFF) << 16);
  if (isinf(v)) return down;
  if (size - x == y - size) return down & 1 ? up : down;
  return size - x < y - size ? down : up;
}

/* a b + c with one rounding to f16: in integers of 2^-48. */
static inline u64 hb_fma(double a, double b, double c) {
  double near = fma(a, b, c);
  if (!isfinite(a) || !isfinite(b) || !isfinite(c) || near == 0) return hb(near);
  __int128 sum = (__int128)(a * 0x1p24) * (__int128)(b * 0x1p24) + (__int128)(c * 0x1p48), size = sum < 0 ? -sum : sum;
  int shift = 24;
  while (size >> shift >= 2048) shift++;
  __int128 whole = size >> shift, rest = size - (whole << shift), half = (__int128)1 << (shift - 1);
  if (rest > half || (rest == half && (whole & 1))) whole++;
  return hb((sum < 0 ? -1.0 : 1.0) * ldexp((double)whole, shift - 48));
}

static inline u64 hb_rtz(float v) {
  u64 code = hb((double)v);
  return !isnan(v) && fabs(h(code)) > fabs((double)v) ? code - 1 : code;
}

static inline u64 byte_set(u64 old, u64 at, u64 byte) { return (old & ~(UINT64_C(0xFF) << (8 * at))) | byte << (8 * at); }

static inline u64 sad_bytes(u64 a, u64 b) {
  u64 sum = 0;
  for (int i = 0; i < 4; i++) sum += (u64)llabs((i64)(a >> (8 * i) & 255) - (i64)(b >> (8 * i) & 255));
  return sum;
}

static inline float fract_below(double x, int bits) {
  if (!isfinite(x)) return NAN;
  float r = (float)(x - floor(x));
  return r >= 1 ? (float)(1 - ldexp(1, -bits)) : r;
}

static inline u64 exponent_of(double x) { return isfinite(x) && x != 0 ? (u64)(i64)(ilogb(x) + 1) : 0; }
static inline double mantissa_of(double x) { return isfinite(x) && x != 0 ? scalbn(x, -(ilogb(x) + 1)) : x; }

/* A sum as an integer of 5,120 bits: f64's products and sums are exact in it. */
struct wide_sum {
  uint32_t limb[160];
};

static inline void wide_add(struct wide_sum *s, u64 v, int shift, bool minus) {
  unsigned __int128 part = (unsigned __int128)v << (shift % 32);
  i64 carry = 0;
  for (int i = shift / 32, k = 0; i < 160; i++, k++) {
    i64 d = k < 4 ? (i64)(uint32_t)(part >> (32 * k)) : 0, sum = (i64)s->limb[i] + (minus ? -d : d) + carry;
    s->limb[i] = (uint32_t)sum;
    carry = sum >> 32;
  }
}

static inline u64 significand_of(double v, int *exponent) {
  double m = frexp(fabs(v), exponent);
  *exponent -= 53;
  return (u64)ldexp(m, 53);
}

/* Of a sum whose bit `zero` is 1: its value times 2^by, nearest even, `bits` long but not below 2^least. */
static inline double wide_round(const struct wide_sum *s, bool minus, int zero, int bits, int least, int by) {
  int top = 160 * 32 - 1;
  while (top > 0 && !(s->limb[top / 32] >> (top % 32) & 1)) top--;
  int last = top - bits + 1 > least + zero - by ? top - bits + 1 : least + zero - by; /* the result's last place */
  u64 whole = 0, rest = 0;
  for (int i = top; i >= last; i--) whole = whole << 1 | (s->limb[i / 32] >> (i % 32) & 1);
  for (int i = last - 2; i >= 0; i--) rest |= s->limb[i / 32] >> (i % 32) & 1;
  u64 half = last > 0 ? s->limb[(last - 1) / 32] >> ((last - 1) % 32) & 1 : 0;
  if (half && (rest || (whole & 1))) whole++;
  double v = ldexp((double)whole, last - zero + by);
  return minus ? -v : v;
}

/* A division's last step: a b + c, times 2^by, with one rounding to a format of `bits` whose least denormal is 2^least. */
static inline double fmas_once(double a, double b, double c, int bits, int least, int by) {
  double near = fma(a, b, c);
  if (!isfinite(near) || near == 0) return ldexp(near, by);
  struct wide_sum s = {{0}};
  int ea, eb, ec, zero = 2300;
  u64 ma = significand_of(a, &ea), mb = significand_of(b, &eb), mc = significand_of(c, &ec);
  unsigned __int128 m = (unsigned __int128)ma * mb;
  bool flip = near < 0, product_minus = (signbit(a) != signbit(b)) != flip;
  for (int i = 0; m && i < 4; i++) wide_add(&s, (u64)(m >> (32 * i)) & UINT32_MAX, ea + eb + zero + 32 * i, product_minus);
  if (mc) wide_add(&s, mc, ec + zero, (signbit(c) != 0) != flip);
  return wide_round(&s, flip, zero, bits, least, by);
}

static inline u64 fmas32(u64 a, u64 b, u64 c, u64 scaled) {
  int by = fabs((double)f(c)) >= 2 ? 64 : -64;
  return scaled ? fb((float)fmas_once((double)f(a), (double)f(b), (double)f(c), 24, -149, by)) : fb(fmaf(f(a), f(b), f(c)));
}

static inline u64 fmas64(u64 a, u64 b, u64 c, u64 scaled) {
  int by = fabs(d64(c)) >= 2 ? 128 : -128;
  return scaled ? db(fmas_once(d64(a), d64(b), d64(c), 53, -1074, by)) : db(fma(d64(a), d64(b), d64(c)));
}

static inline u64 byte_products(u64 a, u64 b) {
  u64 sum = 0;
  for (int i = 0; i < 32; i += 8) sum += (u64)(int64_t)((int8_t)(a >> i) * (int8_t)(b >> i));
  return sum & UINT32_MAX;
}

/* The quotient n / d is what it must be where it is not an ordinary number, else |q| with its sign. */
static inline double fixup(double q, double d, double n, int over, int under) {
  double quotient = n / d, sign = signbit(n) == signbit(d) ? 1.0 : -1.0;
  if (isnan(quotient) || isinf(n) || d == 0 || isinf(d) || n == 0) return quotient;
  if (ilogb(n) - ilogb(d) > over) return copysign(INFINITY, sign);
  if (ilogb(n) - ilogb(d) < under) return copysign(0.0, sign);
  return copysign(q, sign);
}

static inline u64 fixup32(u64 q, u64 d, u64 n) { return fb((float)fixup((double)f(q), (double)f(d), (double)f(n), 128, -150)); }
static inline u64 fixup64(u64 q, u64 d, u64 n) { return db(fixup(d64(q), d64(d), d64(n), 1024, -1075)); }

static inline u64 fixup16(u64 q, u64 d, u64 n) { return hb(fixup(h(q), h(d), h(n), 4096, -4096)); }

/* The denominator, scaled as v_div_scale does; `e` are the format's limits. */
struct div_limits {
  double least_normal;
  int bias, apart, tiny, by;
};

static inline int biased(double x, const struct div_limits *e) {
  return isfinite(x) ? (fabs(x) < e->least_normal ? 0 : ilogb(x) + e->bias) : 2 * e->bias + 1;
}

static inline double scaled_denominator(double d, double n, double reciprocal, double quotient, const struct div_limits *e) {
  bool small_r = reciprocal != 0 && fabs(reciprocal) < e->least_normal, small_q = quotient != 0 && fabs(quotient) < e->least_normal;
  if (n == 0 || d == 0) return (double)NAN;
  if (biased(n, e) - biased(d, e) >= e->apart || fabs(d) < e->least_normal) return ldexp(d, e->by);
  if (small_r && small_q) return ldexp(d, -e->by);
  if (small_r) return ldexp(d, -e->by);
  if (small_q) return d == n ? ldexp(d, e->by) : d;
  return biased(n, e) <= e->tiny ? ldexp(d, e->by) : d;
}

static inline u64 scale32(u64 v, u64 d, u64 n) {
  const struct div_limits e = {0x1p-126, 127, 96, 23, 64};
  (void)v;
  return fb((float)scaled_denominator((double)f(d), (double)f(n), (double)(1 / f(d)), (double)(f(n) / f(d)), &e));
}

static inline u64 scale64(u64 v, u64 d, u64 n) {
  const struct div_limits e = {0x1p-1022, 1023, 768, 53, 128};
  (void)v;
  return db(scaled_denominator(d64(d), d64(n), 1 / d64(d), d64(n) / d64(d), &e));
}

static inline u64 lerp_model(u64 a, u64 b, u64 c) {
  u64 d = 0;
  for (int i = 0; i < 4; i++) d |= ((a >> (8 * i)) % 256 + (b >> (8 * i)) % 256 + (c >> (8 * i)) % 2) / 2 << (8 * i);
  return d;
}

static inline u64 msad_model(u64 a, u64 b) {
  u64 sum = 0;
  for (int i = 0; i < 4; i++) sum += (b >> (8 * i)) % 256 ? (u64)llabs((i64)((a >> (8 * i)) % 256) - (i64)((b >> (8 * i)) % 256)) : 0;
  return sum;
}

static inline u64 qsad_model(u64 a, u64 b, u64 c, bool masked) {
  u64 d = 0;
  for (int i = 0; i < 4; i++) {
    u64 window = (a >> (8 * i)) & UINT32_MAX;
    d |= lo((masked ? msad_model(window, b) : sad_bytes(window, b)) + (c >> (16 * i))) << (16 * i);
  }
  return d;
}

static inline u64 nibble_products(u64 a, u64 b, bool sign) {
  i64 sum = 0;
  for (int i = 0; i < 8; i++) {
    i64 x = (i64)(a >> (4 * i) & 15), y = (i64)(b >> (4 * i) & 15);
    sum += (sign && x > 7 ? x - 16 : x) * (sign && y > 7 ? y - 16 : y);
  }
  return (u64)sum;
}

static inline u64 fract16(double x) {
  double r = x - floor(x);
  return hb(!isfinite(x) ? (double)NAN : r > 0x1.ffcp-1 ? 0x1.ffcp-1 : r);
}

/* Sine and cosine of x turns. */
static inline double turn_sin(double x) {
  double r = x - rint(x);
  return r == 0 || fabs(r) == 0.5 ? copysign(0.0, x) : sin(2 * M_PI * r);
}

static inline double turn_cos(double x) { return fabs(x - rint(x)) == 0.25 ? 0 : cos(2 * M_PI * (x - rint(x))); }

/* 53 bits of 2 / pi, bit by bit out of its digits to base 2^24. */
static inline u64 trig_part(u64 angle, u64 segment) {
  static const u32 digits[66] = {0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041, 0xFE5163, 0xABDEBB,
      0xC561B7, 0x246E3A, 0x424DD2, 0xE00649, 0x2EEA09, 0xD1921C, 0xFE1DEB, 0x1CB129, 0xA73EE8, 0x8235F5, 0x2EBB44, 0x84E99C, 0x7026B4,
      0x5F7E41, 0x3991D6, 0x398353, 0x39F49C, 0x845F8B, 0xBDF928, 0x3B1FF8, 0x97FFDE, 0x05980F, 0xEF2F11, 0x8B5A0A, 0x6D1F6D, 0x367ECF,
      0x27CB09, 0xB74F46, 0x3F669E, 0x5FEA2D, 0x7527BA, 0xC7EBE5, 0xF17B3D, 0x0739F7, 0x8A5292, 0xEA6BFB, 0x5FB11F, 0x8D5D08, 0x560330,
      0x46FC7B, 0x6BABF0, 0xCFBC20, 0x9AF436, 0x1DA9E3, 0x91615E, 0xE61B08, 0x659985, 0x5F14A0, 0x68408D, 0xFFD880, 0x4D7327, 0x310606,
      0x1556CA, 0x73A8C9, 0x60E27B, 0xC08C6B};
  u64 whole = 0, e = angle >> 52 & 2047, first = segment % 32 * 53 + (e > 1077 ? e - 1077 : 0);
  for (u64 i = first; i < first + 53; i++) whole = whole << 1 | (i < 1201 ? digits[i / 24] >> (23 - i % 24) & 1 : 0);
  return db(ldexp((double)whole, -53 - (int)first + (e >= 1968 ? 128 : 0)));
}

#endif
