/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions: the rows of isa_cvt.def. */
#include "valu_math.h"

enum { MODE_FP16_OVFL_BIT = 23 };

/* Towards zero, NaN is 0, out of range is the nearest. */
ALWAYS_INLINE int32_t to_i32(double v) { return v != v ? 0 : v >= 2147483647.0 ? INT32_MAX : v <= -2147483648.0 ? INT32_MIN : (int32_t)v; }
ALWAYS_INLINE uint32_t to_u32(double v) { return !(v > 0) ? 0 : v >= 4294967295.0 ? UINT32_MAX : (uint32_t)v; }
ALWAYS_INLINE uint32_t to_u16(float v) { return !(v > 0) ? 0 : v >= 65535.0f ? 65535u : (uint32_t)v; }
ALWAYS_INLINE int32_t to_i16(float v) { return v != v ? 0 : v >= 32767.0f ? 32767 : v <= -32768.0f ? -32768 : (int32_t)v; }
ALWAYS_INLINE uint32_t to_u8(float v) { return !(v > 0) ? 0 : v >= 255.0f ? 255u : (uint32_t)rintf(v); }
ALWAYS_INLINE int32_t limit_i16(int32_t v) { return v > 32767 ? 32767 : v < -32768 ? -32768 : v; }
ALWAYS_INLINE uint32_t put_byte(uint32_t old, uint32_t at, uint32_t byte) { return (old & ~(0xFFu << (8 * at))) | byte << (8 * at); }

static uint64_t pair_of(const double *table, uint32_t codes) {
  return f32_bits((float)table[codes & 0xFF]) | (uint64_t)f32_bits((float)table[codes >> 8 & 0xFF]) << 32;
}

#define RUN(name, D, fetch, lanes, value)                                                                                                  \
  LANES static void run_##name(struct wave *w, const struct inst *in) {                                                                    \
    const bool fnuz = w->program->fnuz, saturate = w->mode >> MODE_FP16_OVFL_BIT & 1;                                                      \
    (void)fnuz, (void)saturate;                                                                                                            \
    vgpr r[N_##D];                                                                                                                         \
    fetch FOR_LANES { lanes PUT_LANE(D, r, l, (t_##D)(value)); }                                                                           \
    commit(w, in, r, N_##D);                                                                                                               \
  }
#define FETCH(X, type, i)                                                                                                                  \
  vgpr room_##X[N_##type];                                                                                                                 \
  const vgpr *X = operand(room_##X, w, in, i);
#define TAKE(x, X, type)         const t_##type x = LANE(type, X, l);
#define V1(name, D, A, value)    RUN(name, D, FETCH(SA, A, 0), TAKE(a, SA, A), value)
#define V2(name, D, A, B, value) RUN(name, D, FETCH(SA, A, 0) FETCH(SB, B, 1), TAKE(a, SA, A) TAKE(b, SB, B), value)
#define V3(name, D, A, B, C, value)                                                                                                        \
  RUN(name, D, FETCH(SA, A, 0) FETCH(SB, B, 1) FETCH(SC, C, 2), TAKE(a, SA, A) TAKE(b, SB, B) TAKE(c, SC, C), value)
#define VK2(name, D, A, B, value) V2(name, D, A, B, value)
#include "isa_cvt.def"
#undef V1
#undef V2
#undef V3
#undef VK2

#define ROW(name, extra, ...)       {#name, read_vector, run_##name, CLASS_VALU, EXACT, {__VA_ARGS__}, extra},
#define V1(name, D, A, value)       ROW(name, 0, T_##D, T_##A)
#define V2(name, D, A, B, value)    ROW(name, 0, T_##D, T_##A, T_##B)
#define V3(name, D, A, B, C, value) ROW(name, 0, T_##D, T_##A, T_##B, T_##C)
#define VK2(name, D, A, B, value)   ROW(name, ROW_KEEP_OTHER, T_##D, T_##A, T_##B)
static const struct isa_row rows[] = {
#include "isa_cvt.def"
};

const struct isa_table isa_cvt = {"cvt", rows, sizeof rows / sizeof rows[0]};
