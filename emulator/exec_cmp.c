/* SPDX-License-Identifier: Apache-2.0 */
/* Vector compares: the rows of isa_cmp.def. */
#include <math.h>

#include "operand.h"

static bool signalling(uint32_t bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u && !(bits & 0x400000u); }
static bool signalling_f16(uint32_t bits) { return (bits & 0x7FFF) > 0x7C00 && !(bits & 0x200); }
static bool nan_quiet_clear(double v) { return v != v && !(f64_bits(v) >> 51 & 1); }

/* The bit of v_cmp_class: signalling NaN, quiet NaN, then -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf. */
static uint32_t float_class(double v, bool is_signalling, double least_normal) {
  if (v != v) return is_signalling ? 0 : 1;
  double size = fabs(v);
  uint32_t from_zero = isinf(v) ? 3 : size >= least_normal ? 2 : size > 0 ? 1 : 0;
  return signbit(v) ? 5 - from_zero : 6 + from_zero;
}

#define VC(name, A, B, condition)                                                                                                          \
  LANES static uint64_t lanes_##name(struct wave *w, const struct inst *in) {                                                              \
    vgpr ra[N_##A], rb[N_##B], r;                                                                                                          \
    const vgpr *SA = operand(ra, w, in, 0), *SB = operand(rb, w, in, 1);                                                                   \
    FOR_LANES {                                                                                                                            \
      const t_##A a = LANE(A, SA, l);                                                                                                      \
      const t_##B b = LANE(B, SB, l);                                                                                                      \
      (void)a, (void)b;                                                                                                                    \
      r.w[l] = (uint32_t)(condition);                                                                                                      \
    }                                                                                                                                      \
    return lanes_to_bits(&r) & wave_exec(w);                                                                                               \
  }                                                                                                                                        \
  static void run_v_cmp_##name(struct wave *w, const struct inst *in) { put_scalar_bits(w, in->dst.reg, 2, lanes_##name(w, in)); }         \
  static void run_v_cmpx_##name(struct wave *w, const struct inst *in) {                                                                   \
    uint64_t bits = lanes_##name(w, in);                                                                                                   \
    put_scalar_bits(w, in->dst.reg, 2, bits);                                                                                              \
    wave_set_exec(w, bits);                                                                                                                \
  }
#include "isa_cmp.def"
#undef VC

#define VC(name, A, B, condition)                                                                                                          \
  {"v_cmp_" #name, read_compare, run_v_cmp_##name, CLASS_VALU, EXACT, {T_u64, T_##A, T_##B}, 0},                                           \
      {"v_cmpx_" #name, read_compare, run_v_cmpx_##name, CLASS_VALU, EXACT, {T_u64, T_##A, T_##B}, 0},
static const struct isa_row rows[] = {
#include "isa_cmp.def"
};

const struct isa_table isa_cmp = {"cmp", rows, sizeof rows / sizeof rows[0]};
