/* SPDX-License-Identifier: Apache-2.0 */
/* Between registers and the rows' lane expressions: operand() fetches with every modifier applied, commit() writes back with every
   modifier and EXEC applied. The common case of both is inline; rows know of no modifier. */
#ifndef EMULATOR_OPERAND_H
#define EMULATOR_OPERAND_H

#include "decode.h"
#include "row.h"
#include "small_float.h"
#include "wave.h"

/* Row functions exist twice, for x86-64-v3 and for any x86-64; the loader picks. Sanitizers do not go along with its resolvers. */
#if defined(EMULATOR_CLONES) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LANES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define LANES
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define FOR_LANES     for (int l = 0; l < LANES_A_WAVE; l++)

/* The loop over a row's lanes, whose result may be one of the sources, but the lane's own: the vectoriser need not look. */
#ifdef __clang__
#define FOR_OWN_LANES FOR_LANES
#else
#define FOR_OWN_LANES _Pragma("GCC ivdep") FOR_LANES
#endif

enum { N_u16 = 1, N_i16 = 1, N_f16 = 1, N_pk = 1, N_pkh = 1, N_u32 = 1, N_i32 = 1, N_f32 = 1, N_u64 = 2, N_i64 = 2, N_f64 = 2, N_pkf = 2 };

typedef uint32_t t_u16, t_u32, t_pk;
typedef int32_t t_i16, t_i32;
typedef float t_f16, t_f32;
typedef uint64_t t_u64;
typedef int64_t t_i64;
typedef double t_f64;

/* Bits to values: of a raw word pair. f16 is computed in f32: exact for one operation that is then rounded. */
ALWAYS_INLINE t_u32 as_u32(uint64_t b) { return (uint32_t)b; }
ALWAYS_INLINE t_pk as_pk(uint64_t b) { return (uint32_t)b; }
ALWAYS_INLINE t_i32 as_i32(uint64_t b) { return (int32_t)(uint32_t)b; }
ALWAYS_INLINE t_f32 as_f32(uint64_t b) { return f32_of((uint32_t)b); }
ALWAYS_INLINE t_u16 as_u16(uint64_t b) { return (uint32_t)b & 0xFFFF; }
ALWAYS_INLINE t_i16 as_i16(uint64_t b) { return (int16_t)(uint16_t)b; }
ALWAYS_INLINE t_f16 as_f16(uint64_t b) { return f16_to_f32((uint32_t)b & 0xFFFF); }
ALWAYS_INLINE t_u64 as_u64(uint64_t b) { return b; }
ALWAYS_INLINE t_i64 as_i64(uint64_t b) { return (int64_t)b; }
ALWAYS_INLINE t_f64 as_f64(uint64_t b) { return f64_of(b); }

ALWAYS_INLINE uint64_t of_u32(t_u32 v) { return v; }
ALWAYS_INLINE uint64_t of_pk(t_pk v) { return v; }
ALWAYS_INLINE uint64_t of_i32(t_i32 v) { return (uint32_t)v; }
ALWAYS_INLINE uint64_t of_f32(t_f32 v) { return f32_bits(v); }
ALWAYS_INLINE uint64_t of_u16(t_u16 v) { return v & 0xFFFF; }
ALWAYS_INLINE uint64_t of_i16(t_i16 v) { return (uint32_t)v & 0xFFFF; }
ALWAYS_INLINE uint64_t of_f16(t_f16 v) { return f16_from_f32(v); }
ALWAYS_INLINE uint64_t of_u64(t_u64 v) { return v; }
ALWAYS_INLINE uint64_t of_i64(t_i64 v) { return (uint64_t)v; }
ALWAYS_INLINE uint64_t of_f64(t_f64 v) { return f64_bits(v); }

/* One lane of a register, or of a pair. */
ALWAYS_INLINE uint64_t lane_bits(const vgpr *r, int words, int l) {
  return words == 1 ? r[0].w[l] : r[0].w[l] | (uint64_t)r[words - 1].w[l] << 32;
}

ALWAYS_INLINE void put_lane_bits(vgpr *r, int words, int l, uint64_t bits) {
  r[0].w[l] = (uint32_t)bits;
  if (words == 2) r[words - 1].w[l] = (uint32_t)(bits >> 32);
}

#define LANE(type, reg, l)            as_##type(lane_bits(reg, N_##type, l))
#define PUT_LANE(type, reg, l, value) put_lane_bits(reg, N_##type, l, of_##type(value))

void operand_slow(vgpr *room, const struct wave *w, const struct inst *in, int i);
void commit_slow(struct wave *w, const struct inst *in, const vgpr *r, int words);

/* Source i as registers: its own, or `room` (as many registers as the type has words). */
ALWAYS_INLINE const vgpr *operand(vgpr *room, const struct wave *w, const struct inst *in, int i) {
  const struct source *s = &in->src[i];
  if (__builtin_expect(s->plain && !w->modal, 1)) return &w->v[s->reg];
  operand_slow(room, w, in, i);
  return room;
}

/* Where a row puts its result before commit(): one register that all lanes write as it is, at once; else `room`. (Of a pair the first would
   be written before the second's sources are read.) */
ALWAYS_INLINE vgpr *result_room(vgpr *room, struct wave *w, const struct inst *in, int words) {
  return words == 1 && w->exec_full && !in->slow_commit && !w->modal ? &w->v[in->dst.reg] : room;
}

/* Writes r to the active lanes of the destination. */
ALWAYS_INLINE void commit(struct wave *w, const struct inst *in, const vgpr *r, int words) {
  if (words == 1 && r == &w->v[in->dst.reg]) return;
  if (__builtin_expect(in->slow_commit || w->modal, 0)) {
    commit_slow(w, in, r, words);
    return;
  }
  for (int k = 0; k < words; k++) {
    vgpr *d = &w->v[in->dst.reg + k];
    if (w->exec_full)
      FOR_LANES d->w[l] = r[k].w[l];
    else
      FOR_LANES d->w[l] ^= (d->w[l] ^ r[k].w[l]) & w->exec_mask.w[l];
  }
}

/* Bit l is set if lane l is not 0; and the inverse, 0 or all ones a lane. */
uint64_t lanes_to_bits(const vgpr *r);
void bits_to_lanes(vgpr *r, uint64_t bits);

/* A scalar source's bits. A VGPR here is a mistake of the decoder: it never makes one for a scalar shape. */
ALWAYS_INLINE uint64_t scalar_bits(const struct wave *w, const struct inst *in, int i) {
  const struct source *s = &in->src[i];
  switch (s->kind) {
  case OPERAND_SREG:
    return s->words == 2 ? wave_sreg64(w, s->reg) : w->sreg[s->reg];
  case OPERAND_CONST:
    return s->value[0] | (uint64_t)s->value[1] << 32;
  case OPERAND_SCC:
    return w->scc;
  case OPERAND_EXECZ:
    return wave_exec(w) == 0;
  case OPERAND_VCCZ:
    return wave_vcc(w) == 0;
  default:
    return 0;
  }
}

/* Writes a scalar of 1 or 2 words; EXEC's copy follows. */
ALWAYS_INLINE void put_scalar_bits(struct wave *w, uint32_t reg, int words, uint64_t bits) {
  w->sreg[reg] = (uint32_t)bits;
  if (words == 2) w->sreg[reg + 1] = (uint32_t)(bits >> 32);
  if (reg + (uint32_t)words > SREG_EXEC) wave_set_exec(w, wave_exec(w));
}

/* Stops the wave at `in` with "what" behind the instruction and its address. */
__attribute__((format(printf, 3, 4))) void wave_fault(struct wave *w, const struct inst *in, const char *what, ...);

#endif
