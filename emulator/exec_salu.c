/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar arithmetic: the rows of isa_salu.def. */
#include "operand.h"

static uint32_t reverse32(uint32_t v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0F0F0F0F) | (v & 0x0F0F0F0F) << 4;
  return __builtin_bswap32(v);
}

static uint32_t count_ones(uint64_t v) { return (uint32_t)__builtin_popcountll(v); }

/* All ones where there is none. */
static uint32_t first_one64(uint64_t v) { return v ? (uint32_t)__builtin_ctzll(v) : UINT32_MAX; }
static uint32_t leading_zeros32(uint32_t v) { return v ? (uint32_t)__builtin_clz(v) : UINT32_MAX; }
static uint32_t leading_zeros64(uint64_t v) { return v ? (uint32_t)__builtin_clzll(v) : UINT32_MAX; }
#define first_one(v) first_one64(v)

/* A bit for every four that are not all 0; and all four of them. */
static uint64_t whole_quads(uint64_t v) {
  uint64_t some = (v | v >> 1 | v >> 2 | v >> 3) & UINT64_C(0x1111111111111111);
  return some * 15;
}

static uint64_t quad_mask(uint64_t v) {
  uint64_t d = 0;
  for (uint32_t i = 0; i < 16; i++) d |= (whole_quads(v) >> (4 * i) & 1) << i;
  return d;
}

static uint64_t replicate_bits(uint32_t v) {
  uint64_t d = 0;
  for (uint32_t i = 0; i < 32; i++) d |= (uint64_t)(v >> i & 1) * 3 << (2 * i);
  return d;
}

/* `width` bits of v from `offset` on; no more than there are. */
static uint64_t bit_field(uint64_t v, uint32_t offset, uint32_t width, uint32_t bits, bool sign_extend) {
  if (width > bits - offset) width = bits - offset;
  if (width == 0) return 0;
  v = v >> offset & (UINT64_MAX >> (64 - width));
  if (sign_extend && v >> (width - 1) & 1) v |= width < 64 ? UINT64_MAX << width : 0;
  return v;
}

#define BEGIN(name)                                                                                                                        \
  static void run_##name(struct wave *w, const struct inst *in) {                                                                          \
    const uint32_t scc = w->scc;                                                                                                           \
    (void)scc;
#define SOURCE(var, type, i)                                                                                                               \
  const t_##type var = as_##type(scalar_bits(w, in, i));                                                                                   \
  (void)var;
#define RESULT(type, value, new_scc)                                                                                                       \
  const t_##type d = (t_##type)(value);                                                                                                    \
  w->scc = (uint32_t)(new_scc);                                                                                                            \
  put_scalar_bits(w, in->dst.reg, N_##type, of_##type(d));                                                                                 \
  }

#define S1(name, D, A, value, new_scc)    BEGIN(name) SOURCE(a, A, 0) RESULT(D, value, new_scc)
#define S2(name, D, A, B, value, new_scc) BEGIN(name) SOURCE(a, A, 0) SOURCE(b, B, 1) RESULT(D, value, new_scc)
#define SD(name, D, B, value, new_scc)    S2(name, D, D, B, value, new_scc)
#define SC(name, A, B, new_scc)                                                                                                            \
  BEGIN(name) SOURCE(a, A, 0) SOURCE(b, B, 1) w->scc = (uint32_t)(new_scc);                                                                \
  }
#define SK(name, B, value, new_scc) S2(name, u32, u32, B, value, new_scc)
#define SKC(name, B, new_scc)       SC(name, B, B, new_scc)
#define SX(name, new_exec)                                                                                                                 \
  BEGIN(name) SOURCE(a, u64, 0) const uint64_t e = wave_exec(w);                                                                           \
  const uint64_t next = (new_exec);                                                                                                        \
  wave_put_sreg64(w, in->dst.reg, e);                                                                                                      \
  wave_set_exec(w, next);                                                                                                                  \
  w->scc = next != 0;                                                                                                                      \
  }
#include "isa_salu.def"
#undef S1
#undef S2
#undef SD
#undef SC
#undef SK
#undef SKC
#undef SX

#define ROW(name, shape, extra, ...)      {#name, shape, run_##name, CLASS_SALU, EXACT, {__VA_ARGS__}, extra},
#define S1(name, D, A, value, new_scc)    ROW(name, read_scalar, 0, T_##D, T_##A)
#define S2(name, D, A, B, value, new_scc) ROW(name, read_scalar, 0, T_##D, T_##A, T_##B)
#define SD(name, D, B, value, new_scc)    ROW(name, read_scalar, ROW_DEST_IS_SOURCE, T_##D, T_##B)
#define SC(name, A, B, new_scc)           ROW(name, read_scalar_nodest, 0, T_NONE, T_##A, T_##B)
#define SK(name, B, value, new_scc)       ROW(name, read_scalar_imm, 0, T_u32, T_u32, T_##B)
#define SKC(name, B, new_scc)             ROW(name, read_scalar_imm, ROW_COMPARE, T_NONE, T_u32, T_##B)
#define SX(name, new_exec)                ROW(name, read_scalar, 0, T_u64, T_u64)
static const struct isa_row rows[] = {
#include "isa_salu.def"
};

const struct isa_table isa_salu = {"salu", rows, sizeof rows / sizeof rows[0]};
