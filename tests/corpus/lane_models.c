/* SPDX-License-Identifier: Apache-2.0 */
#include "lane_models.h"

#include <math.h>
#include <string.h>

#include "host_math.h"

bool model_fnuz;

u32 model_sad_u8(u32 a, u32 b, u32 c) { return (u32)sad_bytes(a, b) + c; }
u32 model_msad_u8(u32 a, u32 b, u32 c) { return (u32)msad_model(a, b) + c; }
u32 model_sad_hi_u8(u32 a, u32 b, u32 c) { return ((u32)sad_bytes(a, b) << 16) + c; }
u32 model_sad_u16(u32 a, u32 b, u32 c) { return (u32)(llabs((i64)lo(a) - (i64)lo(b)) + llabs((i64)hi(a) - (i64)hi(b))) + c; }
u64 model_qsad_pk_u16_u8(u64 a, u32 b, u64 c) { return qsad_model(a, b, c, false); }
u64 model_mqsad_pk_u16_u8(u64 a, u32 b, u64 c) { return qsad_model(a, b, c, true); }
u32 model_perm(u32 a, u32 b, u32 c) { return (u32)bytes_of(a, b, c); }
u32 model_alignbit(u32 a, u32 b, u32 c) { return (u32)(words(b, a) >> c % 32); }
u32 model_alignbyte(u32 a, u32 b, u32 c) { return (u32)(words(b, a) >> c % 4 * 8); }
u32 model_lerp(u32 a, u32 b, u32 c) { return (u32)lerp_model(a, b, c); }

static u32 products(u32 a, u32 b, int bits, bool is_signed) {
  u32 sum = 0;
  for (int i = 0; i < 32; i += bits) {
    i32 x = (i32)(a << (32 - bits - i)) >> (32 - bits), y = (i32)(b << (32 - bits - i)) >> (32 - bits);
    u32 p = (a >> i) & ((1u << bits) - 1), q = (b >> i) & ((1u << bits) - 1);
    sum += is_signed ? (u32)(x * y) : p * q;
  }
  return sum;
}

int model_sdot4(int a, int b, int c, bool clamp) { return clamp ? 0 : (int)(products((u32)a, (u32)b, 8, true) + (u32)c); }
u32 model_udot4(u32 a, u32 b, u32 c, bool clamp) { return clamp ? 0 : products(a, b, 8, false) + c; }
int model_sdot8(int a, int b, int c, bool clamp) { return clamp ? 0 : (int)(products((u32)a, (u32)b, 4, true) + (u32)c); }
u32 model_udot8(u32 a, u32 b, u32 c, bool clamp) { return clamp ? 0 : products(a, b, 4, false) + c; }
u32 model_ubfe(u32 a, u32 offset, u32 width) { return (u32)field(a, offset, width, false, 32); }
u32 model_sbfe(u32 a, u32 offset, u32 width) { return (u32)field(a, offset, width, true, 32); }

/* --- formats of 8 bits and fewer: values by definition, codes by search ------------------------------------------------------------------
 */

struct format {
  int exponent, mantissa, bias;
};

static const struct format e4m3 = {4, 3, 7}, e5m2 = {5, 2, 15}, e2m3 = {2, 3, 1}, e3m2 = {3, 2, 3}, e2m1 = {2, 1, 1}, e4m3_fnuz = {4, 3, 8},
                           e5m2_fnuz = {5, 2, 16};

static const struct format *eight(bool e5) { return e5 ? (model_fnuz ? &e5m2_fnuz : &e5m2) : model_fnuz ? &e4m3_fnuz : &e4m3; }

static double value(const struct format *t, u32 c) {
  if (t == &e4m3 && (c & 0x7F) == 0x7F) return (double)NAN;
  u32 magnitude = c & ((1u << (t->exponent + t->mantissa)) - 1), e = magnitude >> t->mantissa, m = magnitude & ((1u << t->mantissa) - 1);
  double v = e ? ldexp(m + (1u << t->mantissa), (int)e - t->bias - t->mantissa) : ldexp(m, 1 - t->bias - t->mantissa);
  return c >> (t->exponent + t->mantissa) & 1 ? -v : v;
}

static u32 top(const struct format *t) {
  u32 all = (1u << (t->exponent + t->mantissa)) - 1;
  return t == &e4m3 ? all - 1 : t == &e5m2 ? 0x7B : all;
}

/* The nearest code, or with random bits the one below or above; `dropped` bits of the source do not fit. */
static u32 code(const struct format *t, double v, int dropped, const u32 *random) {
  u32 sign = signbit(v) ? 1u << (t->exponent + t->mantissa) : 0, c = 0;
  double size = fabs(v);
  while (c < top(t) && value(t, c + 1) <= size) c++;
  double step = c < top(t) ? value(t, c + 1) - value(t, c) : value(t, c) - value(t, c - 1), rest = (size - value(t, c)) / step;
  if (c == top(t)) {
    bool over =
        random ? floor(ldexp(rest, dropped)) + (*random >> (32 - dropped)) >= ldexp(1, dropped) : rest > 0.5 || (rest >= 0.5 && c & 1);
    bool small = t == &e2m3 || t == &e3m2 || t == &e2m1;
    if (over && !small) return t == &e5m2 ? sign | 0x7C : model_fnuz ? 0x80 : sign | 0x7F;
    return sign | c;
  }
  if (random)
    c += floor(ldexp(rest, dropped)) + (*random >> (32 - dropped)) >= ldexp(1, dropped);
  else
    c += rest > 0.5 || (rest >= 0.5 && c & 1);
  return model_fnuz && c == 0 && t->exponent > 3 ? 0 : sign | c;
}

static int put_pair(float x, float y, int old, bool high, bool e5) {
  u32 pair = code(eight(e5), (double)x, 0, NULL) | code(eight(e5), (double)y, 0, NULL) << 8;
  return (int)(high ? ((u32)old & 0xFFFF) | pair << 16 : ((u32)old & 0xFFFF0000) | pair);
}

int model_cvt_pk_fp8_f32(float x, float y, int old, bool high) { return put_pair(x, y, old, high, false); }
int model_cvt_pk_bf8_f32(float x, float y, int old, bool high) { return put_pair(x, y, old, high, true); }
int model_cvt_sr_fp8_f32(float x, int random, int old, u32 byte) {
  u32 r = (u32)random;
  return (int)byte_set((u32)old, byte, code(eight(false), (double)x, 20, &r));
}
int model_cvt_sr_bf8_f32(float x, int random, int old, u32 byte) {
  u32 r = (u32)random;
  return (int)byte_set((u32)old, byte, code(eight(true), (double)x, 21, &r));
}
float model_cvt_f32_fp8(int codes, u32 byte) { return (float)value(eight(false), (u32)codes >> (8 * byte) & 255); }
float model_cvt_f32_bf8(int codes, u32 byte) { return (float)value(eight(true), (u32)codes >> (8 * byte) & 255); }
model_v2f model_cvt_pk_f32_fp8(int codes, bool high) {
  return (model_v2f){model_cvt_f32_fp8(codes, high ? 2 : 0), model_cvt_f32_fp8(codes, high ? 3 : 1)};
}
model_v2f model_cvt_pk_f32_bf8(int codes, bool high) {
  return (model_v2f){model_cvt_f32_bf8(codes, high ? 2 : 0), model_cvt_f32_bf8(codes, high ? 3 : 1)};
}

int model_frexp_expf(float x) { return (int)exponent_of((double)x); }
int model_frexp_exp(double x) { return (int)exponent_of(x); }
float model_frexp_mantf(float x) { return (float)mantissa_of((double)x); }
double model_frexp_mant(double x) { return mantissa_of(x); }
double model_fract(double x) { return x - floor(x) < 1 ? x - floor(x) : 0x1.fffffffffffffp-1; }
double model_trig_preop(double x, u32 segment) { return d64(trig_part(db(x), segment)); }
float model_fmed3f(float x, float y, float z) { return f(med32(fb(x), fb(y), fb(z))); }
float model_cvt_off_f32_i4(int c) { return (float)((i32)((u32)c << 28) >> 28) / 16; }
u32 model_cubeless_class(float x) { return (u32)(isinf(x) != 0) | (u32)(isnan(x) != 0) << 1 | (u32)(isnormal(x) != 0) << 2; }
u32 model_prng_b32(u32 v) { return v * 2 ^ (v >> 31 ? 0xC5 : 0); }
u32 model_bitop3_b32(u32 a, u32 b, u32 c, u32 table) { return (u32)table3(a, b, c, table); }

/* --- lanes
 * ---------------------------------------------------------------------------------------------------------------------------------- */

static int source_lane(enum move kind, int l) {
  switch (kind) {
  case swizzle_quad:
    return l / 4 * 4 + 3 - l % 4;
  case swizzle_mask:
    return l / 32 * 32 + ((l % 32 | 2) ^ 4);
  case dpp_quad:
    return l ^ 2;
  case dpp_shl:
    return l % 16 + 3 < 16 ? l + 3 : -1;
  case dpp_ror:
    return l / 16 * 16 + (l % 16 + 11) % 16;
  case dpp_mirror:
    return l ^ 15;
  case dpp_half_mirror:
    return l ^ 7;
  case dpp_wave_shr:
    return l - 1;
  case dpp_newbcast:
    return l / 16 * 16 + 6;
  case read_37:
    return 37;
  default: /* permute: the lane that sends to this one; 13 is 5's inverse */
    return (l + 61) * 13 % 64;
  }
}

u32 lane_move(enum move kind, u32 v) {
  const u32 *all = exchange(v);
  int from = source_lane(kind, (int)(item() % CORPUS_WAVE));
  return from < 0 ? 0 : all[from];
}

void swap_rows(u32 *a, u32 *b, u32 width) {
  u32 l = item() % CORPUS_WAVE, x[CORPUS_WAVE];
  memcpy(x, exchange(*a), sizeof x);
  const u32 *y = exchange(*b);
  *a = l & width ? y[l - width] : x[l];
  *b = l & width ? y[l] : x[l + width];
}

/* --- memory
 * ----------------------------------------------------------------------------------------------------------------------------------- */

void load_to_lds(const u32 *from, u32 *to, u32 wave, u32 lane) {
  u32 i = wave * 64 + lane;
  to[i] = from[i];
  to[256 + i] = from[256 + (i ^ 1)];
  to[512 + i] = from[512 + i];
}

static u32 inside(const u32 *from, u32 at, u32 bytes) {
  u32 v = 0;
  if (at + bytes <= 4000) memcpy(&v, (const u8 *)from + at, bytes);
  return v;
}

void buffer_work(const u32 *from, u32 *to, u32 me, u32 i, u32 n) {
  to[0] = inside(from, i * 16, 4) + inside(from, i * 3 + 16, 1);
  ((u8 *)to)[5] = (u8)i;
  to[2] = inside(from, i * 2 + n * 4, 2) ^ inside(from, i * 8 + 64, 4);
  to[3] = inside(from, i * 8 + 68, 4) + me;
  for (u32 k = 0; k < 3; k++) to[4 + k] = inside(from, i * 16 + 4 * k, 4);
}

/* Element k of lane l: the matrix of its 16 lanes has `count` columns a lane. */
static void transposed(const u32 *matrix, u32 *to, u32 lane, u32 apart, u32 bits, u32 count) {
  u32 column = lane % 16, first = lane - column;
  for (u32 k = 0; k < count; k++) {
    const u32 *row = matrix + (first + k * (16 / count) + column / count) * apart;
    for (u32 b = 0; b < bits; b++) {
      u32 from = column % count * bits + b, at = k * bits + b;
      to[at / 32] |= (row[from / 32] >> from % 32 & 1) << at % 32;
    }
  }
}

void transpose_work(const u32 *matrix, u32 *to, u32 lane) {
  transposed(matrix, to, lane, 2, 16, 4);
  transposed(matrix, to + 2, lane, 2, 8, 8);
  transposed(matrix, to + 4, lane, 4, 4, 16);
  transposed(matrix, to + 6, lane, 4, 6, 16);
}

static void put6(u32 *to, u32 k, u32 c) {
  for (u32 b = 0; b < 6; b++) to[(6 * k + b) / 32] |= (c >> b & 1) << (6 * k + b) % 32;
}

void scale_work(const u32 *from, u32 *to, u32 n) {
  int e = (int)(120 + from[0] % 16) - 127;
  float x = small_float_of(from[1]), y = small_float_of(from[2]);
  u32 random = from[40], seed = from[42];
  for (u32 k = 0; k < 32; k++) {
    u32 at = k % 2 * 16 + k / 2;
    double v = (double)small_float_of(from[k + 3]) / 32;
    put6(to, k, code(&e2m3, (double)small_float_of(from[at + 3]) / 32 / 2, 0, NULL));
    u32 c = code(&e3m2, v / 0.5, 21, &random);
    put6(to + 6, k, c);
    to[12 + k] = float_bits((float)(value(&e3m2, c) * 4));
    random = model_prng_b32(random);
  }
  double p = ldexp((double)x, -e), q = ldexp((double)y, -e);
  u32 a = code(&e2m1, p, 0, NULL), b = code(&e2m1, q, 0, NULL);
  to[44] = (u32)byte_set(from[41], 2, a | b << 4);
  u32 c = code(&e2m1, p, 22, &seed), next = model_prng_b32(seed);
  to[45] = c | code(&e2m1, q, 22, &next) << 4;
  to[46] = float_bits((float)value(&e2m1, a) * 2) ^ float_bits((float)value(&e2m1, b) * 2);
  u32 fp8 = code(&e4m3, ldexp(h(hb((double)x)), -e), 0, NULL) | code(&e4m3, ldexp(h(hb((double)y)), -e), 0, NULL) << 8;
  to[47] = 1 | fp8 << 16;
  to[48] = float_bits((float)(value(&e4m3, fp8 & 255) + value(&e4m3, fp8 >> 8)));
  to[49] = (u32)byte_set(from[43], 3, code(&e5m2, p, 21, &from[44])) + n;
}
