/* SPDX-License-Identifier: Apache-2.0 */
/* Divisions as compilers write them (scale, reciprocal, Newton steps, fmas, fixup) give the quotient that this machine's divider gives:
   an oracle of v_div_scale, v_div_fmas and v_div_fixup that knows nothing of how they scale. */
#include <math.h>

#include "isa_rig.h"

/* n in v[2:3], d in v[4:5], the quotient in v[0:1]. */
static const char *const lines[] = {
    "v_div_scale_f32 v6, s[0:1], v4, v4, v2",
    "v_div_scale_f32 v7, vcc, v2, v4, v2",
    "v_rcp_f32 v8, v6",
    "v_fma_f32 v9, -v6, v8, 1.0",
    "v_fma_f32 v8, v9, v8, v8",
    "v_mul_f32 v9, v7, v8",
    "v_fma_f32 v10, -v6, v9, v7",
    "v_fma_f32 v9, v10, v8, v9",
    "v_fma_f32 v6, -v6, v9, v7",
    "v_div_fmas_f32 v6, v6, v8, v9",
    "v_div_fixup_f32 v0, v6, v4, v2",
    "v_div_scale_f64 v[6:7], s[0:1], v[4:5], v[4:5], v[2:3]",
    "v_rcp_f64 v[8:9], v[6:7]",
    "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0",
    "v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]",
    "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0",
    "v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]",
    "v_div_scale_f64 v[10:11], vcc, v[2:3], v[4:5], v[2:3]",
    "v_mul_f64 v[12:13], v[10:11], v[8:9]",
    "v_fma_f64 v[6:7], -v[6:7], v[12:13], v[10:11]",
    "v_div_fmas_f64 v[6:7], v[6:7], v[8:9], v[12:13]",
    "v_div_fixup_f64 v[0:1], v[6:7], v[4:5], v[2:3]",
};
enum { LINES = sizeof lines / sizeof lines[0], F32_LINES = 11, VALUES = 130 };

static struct rig *rig;

/* Edges, their neighbours in exponent, random: both ends of the range meet each other. */
static uint64_t value(enum isa_type type, uint32_t i) { return rig_value(type, i); }

static void compare_all(enum isa_type type, size_t first, size_t end) {
  bool wide = type == T_f64;
  for (uint32_t pair = 0; pair < VALUES * VALUES; pair += 64) {
    uint64_t n[64], d[64];
    for (uint32_t l = 0; l < 64; l++) {
      n[l] = value(type, (pair + l) / VALUES % VALUES);
      d[l] = value(type, (pair + l) % VALUES);
      for (uint32_t k = 0; k < 2; k++) {
        rig->wave->v[2 + k].w[l] = (uint32_t)(n[l] >> (32 * k));
        rig->wave->v[4 + k].w[l] = (uint32_t)(d[l] >> (32 * k));
      }
    }
    for (size_t i = first; i < end; i++) rig_run(rig, i);
    for (uint32_t l = 0; l < 64; l++) {
      double x, y, got;
      uint64_t bits = rig->wave->v[0].w[l] | (uint64_t)rig->wave->v[1].w[l] << 32;
      float fx, fy, fgot;
      memcpy(&x, &n[l], 8), memcpy(&y, &d[l], 8), memcpy(&got, &bits, 8);
      memcpy(&fx, &n[l], 4), memcpy(&fy, &d[l], 4), memcpy(&fgot, &bits, 4);
      double want = wide ? x / y : (double)(fx / fy), is = wide ? got : (double)fgot;
      bool same = isnan(want) ? isnan(is) : want == is && !signbit(want) == !signbit(is);
      if (!same) fail_msg("%a / %a: wanted %a, got %a", wide ? x : (double)fx, wide ? y : (double)fy, want, is);
    }
  }
}

static void f32_division_is_rounded_as_ieee_says(void **state) {
  (void)state;
  compare_all(T_f32, 0, F32_LINES);
}

static void f64_division_is_rounded_as_ieee_says(void **state) {
  (void)state;
  compare_all(T_f64, F32_LINES, LINES);
}

/* 1 / -(2^-1021 - 2^-1074), whose reciprocal lies just above a tie: conformance seed 40949028605162657. v_div_fmas scales it back; a sum
   that is rounded to f128 first, then to f64, falls to the wrong side. */
static void a_quotient_just_above_a_tie_is_rounded_once(void **state) {
  (void)state;
  const uint64_t n = UINT64_C(0x3FF0000000000000), d = UINT64_C(0x801FFFFFFFFFFFFF), want = UINT64_C(0xFFC0000000000001);
  for (uint32_t l = 0; l < 64; l++)
    for (uint32_t k = 0; k < 2; k++)
      rig->wave->v[2 + k].w[l] = (uint32_t)(n >> (32 * k)), rig->wave->v[4 + k].w[l] = (uint32_t)(d >> (32 * k));
  for (size_t i = F32_LINES; i < LINES; i++) rig_run(rig, i);
  assert_int_equal(rig->wave->v[0].w[7] | (uint64_t)rig->wave->v[1].w[7] << 32, want);
}

int main(void) {
  rig = rig_open("gfx950", lines, LINES);
  const struct CMUnitTest tests[] = {cmocka_unit_test(f32_division_is_rounded_as_ieee_says),
      cmocka_unit_test(f64_division_is_rounded_as_ieee_says), cmocka_unit_test(a_quotient_just_above_a_tie_is_rounded_once)};
  int failed = cmocka_run_group_tests_name("divisions give the quotient that IEEE 754 says", tests, NULL, NULL);
  rig_close(rig);
  return failed;
}
