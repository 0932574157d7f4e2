/* SPDX-License-Identifier: Apache-2.0 */
/* Vector arithmetic: the rows of isa_valu.def. */
#include "valu_math.h"

/* A row's function: `fetch` declares its sources, `lanes` the values of one lane. */
#define RUN(name, D, fetch, lanes, value)                                                                                                  \
  LANES static void run_##name(struct wave *w, const struct inst *in) {                                                                    \
    const bool ieee = w->mode & MODE_IEEE;                                                                                                 \
    const uint32_t imm = in->imm;                                                                                                          \
    (void)ieee, (void)imm;                                                                                                                 \
    vgpr room[N_##D], *r = result_room(room, w, in, N_##D);                                                                                \
    fetch FOR_OWN_LANES { lanes PUT_LANE(D, r, l, (t_##D)(value)); }                                                                       \
    commit(w, in, r, N_##D);                                                                                                               \
  }

/* The same with a bit a lane beside the result. The destination of the bits may be a source: they are written last. */
#define RUN_FLAG(name, D, fetch, lanes, value, flag)                                                                                       \
  LANES static void run_##name(struct wave *w, const struct inst *in) {                                                                    \
    vgpr room[N_##D], flags, *r = result_room(room, w, in, N_##D);                                                                         \
    fetch FOR_OWN_LANES {                                                                                                                  \
      lanes PUT_LANE(D, r, l, (t_##D)(value));                                                                                             \
      flags.w[l] = (uint32_t)(flag);                                                                                                       \
    }                                                                                                                                      \
    commit(w, in, r, N_##D);                                                                                                               \
    put_scalar_bits(w, in->dst2.reg, 2, lanes_to_bits(&flags) & wave_exec(w));                                                             \
  }

#define FETCH(X, type, i)                                                                                                                  \
  vgpr room_##X[N_##type];                                                                                                                 \
  const vgpr *X = operand(room_##X, w, in, i);
#define FETCH_MASK(bits)                                                                                                                   \
  vgpr M;                                                                                                                                  \
  bits_to_lanes(&M, bits);
#define TAKE(x, X, type) const t_##type x = LANE(type, X, l);
#define TAKE_MASK        const bool m = M.w[l];
#define TAKE_CARRY       const uint32_t c = M.w[l] & 1;

#define V1(name, D, A, value)    RUN(name, D, FETCH(SA, A, 0), TAKE(a, SA, A), value)
#define V2(name, D, A, B, value) RUN(name, D, FETCH(SA, A, 0) FETCH(SB, B, 1), TAKE(a, SA, A) TAKE(b, SB, B), value)
#define V3(name, D, A, B, C, value)                                                                                                        \
  RUN(name, D, FETCH(SA, A, 0) FETCH(SB, B, 1) FETCH(SC, C, 2), TAKE(a, SA, A) TAKE(b, SB, B) TAKE(c, SC, C), value)
#define VI3(name, value)             V3(name, u32, u32, u32, u32, value)
#define VIK3(name, value)            V3(name, u16, u16, u16, u16, value)
#define V1X(name, D, A, value)       V1(name, D, A, value)
#define V2C(name, D, A, B, value)    V2(name##_clamp, D, A, B, value)
#define VK2(name, D, A, B, value)    V2(name, D, A, B, value)
#define VK2C(name, D, A, B, value)   V2(name##_clamp, D, A, B, value)
#define VK3(name, D, A, B, C, value) V3(name, D, A, B, C, value)
#define VA(name, T, value)           V3(name, T, T, T, T, value)
#define VS(name, value)                                                                                                                    \
  RUN(name, u32, FETCH(SA, u32, 0) FETCH(SB, u32, 1) FETCH_MASK(scalar_bits(w, in, 2)), TAKE(a, SA, u32) TAKE(b, SB, u32) TAKE_MASK, value)
#define VM3(name, D, A, B, C, value)                                                                                                       \
  RUN(name, D, FETCH(SA, A, 0) FETCH(SB, B, 1) FETCH(SC, C, 2) FETCH_MASK(wave_vcc(w)),                                                    \
      TAKE(a, SA, A) TAKE(b, SB, B) TAKE(c, SC, C) TAKE_MASK, value)
#define VO(name, value, flag) RUN_FLAG(name, u32, FETCH(SA, u32, 0) FETCH(SB, u32, 1), TAKE(a, SA, u32) TAKE(b, SB, u32), value, flag)
#define VOC(name, value, flag)                                                                                                             \
  RUN_FLAG(name, u32, FETCH(SA, u32, 0) FETCH(SB, u32, 1) FETCH_MASK(scalar_bits(w, in, 2)), TAKE(a, SA, u32) TAKE(b, SB, u32) TAKE_CARRY, \
      value, flag)
#define VO3(name, D, A, B, C, value, flag)                                                                                                 \
  RUN_FLAG(name, D, FETCH(SA, A, 0) FETCH(SB, B, 1) FETCH(SC, C, 2), TAKE(a, SA, A) TAKE(b, SB, B) TAKE(c, SC, C), value, flag)
#include "isa_valu.def"
#undef V1
#undef V2
#undef V3
#undef VI3
#undef VIK3
#undef V1X
#undef V2C
#undef VK2
#undef VK2C
#undef VK3
#undef VA
#undef VS
#undef VM3
#undef VO
#undef VOC
#undef VO3

#define ROW(text, name, shape, fidelity, extra, ...) {text, shape, run_##name, CLASS_VALU, fidelity, {__VA_ARGS__}, extra},
#define V1(name, D, A, value)                        ROW(#name, name, read_vector, EXACT, 0, T_##D, T_##A)
#define V1X(name, D, A, value)                       ROW(#name, name, read_vector, APPROXIMATE, 0, T_##D, T_##A)
#define V2(name, D, A, B, value)                     ROW(#name, name, read_vector, EXACT, 0, T_##D, T_##A, T_##B)
#define V2C(name, D, A, B, value)                    ROW(#name " clamp", name##_clamp, read_vector, EXACT, 0, T_##D, T_##A, T_##B)
#define VK2(name, D, A, B, value)                    ROW(#name, name, read_vector, EXACT, ROW_KEEP_OTHER, T_##D, T_##A, T_##B)
#define VK2C(name, D, A, B, value)                   ROW(#name " clamp", name##_clamp, read_vector, EXACT, ROW_KEEP_OTHER, T_##D, T_##A, T_##B)
#define V3(name, D, A, B, C, value)                  ROW(#name, name, read_vector, EXACT, 0, T_##D, T_##A, T_##B, T_##C)
#define VI3(name, value)                             V3(name, u32, u32, u32, u32, value)
#define VIK3(name, value)                            VK3(name, u16, u16, u16, u16, value)
#define VK3(name, D, A, B, C, value)                 ROW(#name, name, read_vector, EXACT, ROW_KEEP_OTHER, T_##D, T_##A, T_##B, T_##C)
#define VA(name, T, value)                           ROW(#name, name, read_vector_acc, EXACT, 0, T_##T, T_##T, T_##T, T_##T)
#define VS(name, value)                              ROW(#name, name, read_select, EXACT, 0, T_u32, T_u32, T_u32)
#define VM3(name, D, A, B, C, value)                 V3(name, D, A, B, C, value)
#define VO(name, value, flag)                        ROW(#name, name, read_carry, EXACT, 0, T_u32, T_u32, T_u32)
#define VOC(name, value, flag)                       ROW(#name, name, read_carry, EXACT, ROW_CARRY_IN, T_u32, T_u32, T_u32)
#define VO3(name, D, A, B, C, value, flag)           ROW(#name, name, read_carry, EXACT, 0, T_##D, T_##A, T_##B, T_##C)
static const struct isa_row rows[] = {
#include "isa_valu.def"
};

const struct isa_table isa_valu = {"valu", rows, sizeof rows / sizeof rows[0]};
