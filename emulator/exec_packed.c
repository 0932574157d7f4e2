/* SPDX-License-Identifier: Apache-2.0 */
/* Packed arithmetic and mixed-precision fma: the rows of isa_packed.def. op_sel and neg are operand()'s. */
#include "valu_math.h"

#define BEGIN(name)                                                                                                                        \
  LANES static void run_##name(struct wave *w, const struct inst *in) {                                                                    \
    const bool ieee = w->mode & MODE_IEEE;                                                                                                 \
    (void)ieee;
#define FETCH(X, words, i)                                                                                                                 \
  vgpr room_##X[words];                                                                                                                    \
  const vgpr *X = operand(room_##X, w, in, i);

/* One half of two 16-bit lanes; `shift` 0 or 16. */
#define HALF2(T, value, shift)                                                                                                             \
  do {                                                                                                                                     \
    const t_##T a = as_##T(A->w[l] >> (shift)), b = as_##T(B->w[l] >> (shift));                                                            \
    bits |= (uint32_t)of_##T((t_##T)(value)) << (shift);                                                                                   \
  } while (0)
#define HALF3(T, value, shift)                                                                                                             \
  do {                                                                                                                                     \
    const t_##T a = as_##T(A->w[l] >> (shift)), b = as_##T(B->w[l] >> (shift)), c = as_##T(C->w[l] >> (shift));                            \
    bits |= (uint32_t)of_##T((t_##T)(value)) << (shift);                                                                                   \
  } while (0)
#define HALVES(half, T, value)                                                                                                             \
  vgpr r;                                                                                                                                  \
  FOR_LANES {                                                                                                                              \
    uint32_t bits = 0;                                                                                                                     \
    half(T, value, 0);                                                                                                                     \
    half(T, value, 16);                                                                                                                    \
    r.w[l] = bits;                                                                                                                         \
  }                                                                                                                                        \
  commit(w, in, &r, 1);                                                                                                                    \
  }
#define P2(name, T, value)  BEGIN(name) FETCH(A, 1, 0) FETCH(B, 1, 1) HALVES(HALF2, T, value)
#define P2C(name, T, value) P2(name##_clamp, T, value)
#define P3(name, T, value)  BEGIN(name) FETCH(A, 1, 0) FETCH(B, 1, 1) FETCH(C, 1, 2) HALVES(HALF3, T, value)
#define P3H(name, value)    P3(name, u16, value)

#define PF2(name, value)                                                                                                                   \
  BEGIN(name) FETCH(A, 2, 0) FETCH(B, 2, 1) vgpr r[2];                                                                                     \
  for (int k = 0; k < 2; k++) FOR_LANES {                                                                                                  \
      const float a = f32_of(A[k].w[l]), b = f32_of(B[k].w[l]);                                                                            \
      r[k].w[l] = f32_bits(value);                                                                                                         \
    }                                                                                                                                      \
  commit(w, in, r, 2);                                                                                                                     \
  }
#define PF3(name, value)                                                                                                                   \
  BEGIN(name) FETCH(A, 2, 0) FETCH(B, 2, 1) FETCH(C, 2, 2) vgpr r[2];                                                                      \
  for (int k = 0; k < 2; k++) FOR_LANES {                                                                                                  \
      const float a = f32_of(A[k].w[l]), b = f32_of(B[k].w[l]), c = f32_of(C[k].w[l]);                                                     \
      r[k].w[l] = f32_bits(value);                                                                                                         \
    }                                                                                                                                      \
  commit(w, in, r, 2);                                                                                                                     \
  }
#define PM(name)                                                                                                                           \
  BEGIN(name) FETCH(A, 2, 0) FETCH(B, 2, 1) vgpr r[2];                                                                                     \
  FOR_LANES r[0].w[l] = A[0].w[l];                                                                                                         \
  FOR_LANES r[1].w[l] = B[0].w[l];                                                                                                         \
  commit(w, in, r, 2);                                                                                                                     \
  }
#define PX(name, D, TA, TB, TC, value)                                                                                                     \
  BEGIN(name) FETCH(A, 1, 0) FETCH(B, 1, 1) FETCH(C, 1, 2) vgpr r;                                                                         \
  FOR_LANES {                                                                                                                              \
    const t_##TA a = as_##TA(A->w[l]);                                                                                                     \
    const t_##TB b = as_##TB(B->w[l]);                                                                                                     \
    const t_##TC c = as_##TC(C->w[l]);                                                                                                     \
    r.w[l] = (uint32_t)of_##D(value);                                                                                                      \
  }                                                                                                                                        \
  commit(w, in, &r, 1);                                                                                                                    \
  }
#define PXX(name, D, TA, TB, TC, value) PX(name, D, TA, TB, TC, value)
#define PXA(name, D, TA, TB, TC, value) PX(name, D, TA, TB, TC, value)
#define PXF(name, value)                P3(name, u16, value)

/* Its SDWA form prints selects that the encoding does not have. */
static void read_packed_acc(struct reading *r) {
  if (r->text->suffix == TEXT_SDWA) reading_error(r, "SDWA of packed halves is not modelled");
  read_vector_acc(r);
}

/* Source i as f32, whichever of the two it is. */
static void mix_source(float out[LANES_A_WAVE], const struct wave *w, const struct inst *in, int i) {
  vgpr room;
  const vgpr *v = operand(&room, w, in, i);
  if (in->src[i].type == T_f16)
    FOR_LANES out[l] = f16_to_f32(v->w[l] & 0xFFFF);
  else
    FOR_LANES out[l] = f32_of(v->w[l]);
}

static void run_mix(struct wave *w, const struct inst *in) {
  float a[LANES_A_WAVE], b[LANES_A_WAVE], c[LANES_A_WAVE];
  vgpr r;
  mix_source(a, w, in, 0);
  mix_source(b, w, in, 1);
  mix_source(c, w, in, 2);
  FOR_LANES {
    float d = __builtin_fmaf(a[l], b[l], c[l]);
    r.w[l] = in->row->extra ? f16_from_f32(d) : f32_bits(d);
  }
  commit(w, in, &r, 1);
}
#define MIX(name, half)
#include "isa_packed.def"
#undef P2
#undef P2C
#undef P3
#undef P3H
#undef PF2
#undef PF3
#undef PM
#undef PX
#undef PXX
#undef PXA
#undef PXF
#undef MIX

#define PT_u16                            T_pk
#define PT_i16                            T_pk
#define PT_f16                            T_pkh
#define ROW(text, run, shape, extra, ...) {text, shape, run, CLASS_VALU, EXACT, {__VA_ARGS__}, extra},
#define P2(name, T, value)                ROW(#name, run_##name, read_packed, 0, PT_##T, PT_##T, PT_##T)
#define P2C(name, T, value)               ROW(#name " clamp", run_##name##_clamp, read_packed, 0, PT_##T, PT_##T, PT_##T)
#define P3(name, T, value)                ROW(#name, run_##name, read_packed, 0, PT_##T, PT_##T, PT_##T, PT_##T)
#define P3H(name, value)                  P3(name, f16, value)
#define PF2(name, value)                  ROW(#name, run_##name, read_packed, 0, T_pkf, T_pkf, T_pkf)
#define PF3(name, value)                  ROW(#name, run_##name, read_packed, 0, T_pkf, T_pkf, T_pkf, T_pkf)
#define PM(name)                          ROW(#name, run_##name, read_packed, ROW_LOW_ONLY, T_u64, T_pkf, T_pkf)
#define PX(name, D, TA, TB, TC, value)    ROW(#name, run_##name, read_packed, 0, T_##D, T_##TA, T_##TB, T_##TC)
#define PXX(name, D, TA, TB, TC, value)   {#name, read_packed, run_##name, CLASS_VALU, APPROXIMATE, {T_##D, T_##TA, T_##TB, T_##TC}, 0},
#define PXA(name, D, TA, TB, TC, value)   {#name, read_vector_acc, run_##name, CLASS_VALU, APPROXIMATE, {T_##D, T_##TA, T_##TB, T_##TC}, 0},
#define PXF(name, value)                  ROW(#name, run_##name, read_packed_acc, 0, T_pkh, T_pkh, T_pkh, T_pkh)
#define MIX(name, half)                   ROW(#name, run_mix, read_mix, half, half ? T_f16 : T_f32, T_f32, T_f32, T_f32)
static const struct isa_row rows[] = {
#include "isa_packed.def"
};

const struct isa_table isa_packed = {"packed", rows, sizeof rows / sizeof rows[0]};
