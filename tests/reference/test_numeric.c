/* SPDX-License-Identifier: Apache-2.0 */
/* The number formats against searches over all their values, and the exact operations against what they promise. */
#include "numeric.h"
#include "support.h"

#include <math.h>
#include <string.h>

static uint64_t seed = 1;

static uint32_t random_u32(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 32);
}

static float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static uint32_t bits_of(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

/* The magnitudes of codes 0..127 by counting up: 16 steps of the least, then steps that double every 8. */
static void count_up(double step, double magnitude[128]) {
  magnitude[0] = 0.0;
  for (int i = 1; i < 128; i++) {
    magnitude[i] = magnitude[i - 1] + step;
    if (i % 8 == 0 && i >= 16) step *= 2;
  }
}

/* OCP: codes 0..126; FNUZ: 0..127. */
static const struct format {
  const struct ref_fp8 *fp8;
  double step;
  int codes;
} formats[2] = {{&ref_fp8_ocp, 0x1p-9, 127}, {&ref_fp8_fnuz, 0x1p-10, 128}};

static void e4m3_codes_mean_what_the_formats_say(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    double magnitude[128];
    count_up(formats[f].step, magnitude);
    for (int i = 0; i < formats[f].codes; i++) {
      assert_true((double)ref_e4m3_value((uint8_t)i, formats[f].fp8) == magnitude[i]);
      if (i > 0 || f == 0) assert_true((double)ref_e4m3_value((uint8_t)(i | 0x80), formats[f].fp8) == -magnitude[i]);
    }
  }
  assert_true(ref_e4m3_value(0x7e, &ref_fp8_ocp) == 448.0f && ref_e4m3_value(0x7f, &ref_fp8_fnuz) == 240.0f);
  assert_true(ref_e4m3_value(0x38, &ref_fp8_ocp) == 1.0f && ref_e4m3_value(0x40, &ref_fp8_fnuz) == 1.0f);
  assert_true(isnan(ref_e4m3_value(0x7f, &ref_fp8_ocp)) && isnan(ref_e4m3_value(0xff, &ref_fp8_ocp)));
  assert_true(isnan(ref_e4m3_value(0x80, &ref_fp8_fnuz)) && !isnan(ref_e4m3_value(0xff, &ref_fp8_fnuz)));
}

/* The nearest code, of two equally near the even one; -1: beyond the largest. */
static int nearest(double magnitude, const double table[128], int codes) {
  if (magnitude > table[codes - 1] + (table[codes - 1] - table[codes - 2]) / 2) return -1;
  int best = 0;
  for (int i = 1; i < codes; i++) {
    double d = fabs(table[i] - magnitude), b = fabs(table[best] - magnitude);
    if (d < b || (d == b && i % 2 == 0)) best = i;
  }
  return best;
}

static void check_e4m3(float v, const struct format *f, const double table[128]) {
  uint8_t found = ref_e4m3(v, f->fp8);
  int want = nearest(fabs((double)v), table, f->codes);
  /* The FNUZ tie beyond 240 (248) would go to an even code that does not exist: a NaN. */
  if (want == f->codes - 1 && f->fp8->fnuz && fabsf(v) == 248.0f) want = -1;
  if (isnan(v) || want < 0) {
    assert_true(ref_e4m3_is_nan(found, f->fp8));
    return;
  }
  bool sign = signbit(v) && !(f->fp8->fnuz && want == 0);
  if (found != (want | (sign ? 0x80 : 0))) fail_msg("e4m3(%a): wanted %02x, found %02x", (double)v, want, found);
}

static void e4m3_takes_the_nearest_even_value(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    double table[128];
    count_up(formats[f].step, table);
    for (uint32_t i = 0; i < 0x10000; i++) check_e4m3(float_of(i << 16), &formats[f], table);
    for (int i = 0; i < formats[f].codes; i++) {
      float high = i + 1 < formats[f].codes ? (float)table[i + 1] : 2 * (float)table[i];
      float middle = ((float)table[i] + high) / 2, at[] = {(float)table[i], middle};
      for (int k = 0; k < 2; k++)
        for (int d = -1; d <= 1; d++)
          if (d >= 0 || at[k] > 0) {
            check_e4m3(float_of(bits_of(at[k]) + (uint32_t)d), &formats[f], table);
            check_e4m3(-float_of(bits_of(at[k]) + (uint32_t)d), &formats[f], table);
          }
    }
    for (int i = 0; i < 100000; i++) check_e4m3(float_of(random_u32()), &formats[f], table);
  }
}

static void a_negative_zero_survives_only_where_there_is_one(void **state) {
  (void)state;
  assert_int_equal(ref_e4m3(-0.0f, &ref_fp8_ocp), 0x80);
  assert_int_equal(ref_e4m3(-0.0f, &ref_fp8_fnuz), 0x00);
  assert_int_equal(ref_e4m3(-0x1p-20f, &ref_fp8_ocp), 0x80);
  assert_int_equal(ref_e4m3(-0x1p-20f, &ref_fp8_fnuz), 0x00);
}

/* Between every two bf16 neighbours: the ends, the middle, and a step to both sides of it. */
static void bf16_takes_the_nearest_even_value(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 0x7f80; i++) {
    for (int s = 0; s < 2; s++) {
      uint32_t bits = (i | (s ? 0x8000u : 0u)) << 16, even = i % 2 == 0 ? i : i + 1, sign = s ? 0x8000u : 0u;
      assert_int_equal(ref_bf16(float_of(bits)), i | sign);
      assert_int_equal(ref_bf16(float_of(bits | 0x7fff)), i | sign);
      assert_int_equal(ref_bf16(float_of(bits | 0x8000)), even | sign);
      assert_int_equal(ref_bf16(float_of(bits | 0x8001)), (i + 1) | sign);
      assert_true(bits_of(ref_bf16_value((uint16_t)(i | sign))) == bits);
    }
  }
  for (uint32_t i = 0x7f81; i < 0x8000; i++) assert_true(ref_bf16_is_nan(ref_bf16(float_of(i << 16))));
  assert_true(ref_bf16_is_nan(ref_bf16(float_of(0x7f800001)))); /* its payload is in the low half only */
  assert_true(!ref_bf16_is_nan(0x7f80) && !ref_bf16_is_nan(0xff80));
}

static void bf16_from_f64_rounds_once(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 0x7f7f; i++) {
    double low = (double)ref_bf16_value((uint16_t)i), high = (double)ref_bf16_value((uint16_t)(i + 1)), middle = (low + high) / 2;
    assert_int_equal(ref_bf16_of_double(middle), i % 2 == 0 ? i : i + 1);
    /* Through f32 first, these two would fall on the middle and go to the even side. */
    assert_int_equal(ref_bf16_of_double(middle + (high - low) * 0x1p-40), i + 1);
    assert_int_equal(ref_bf16_of_double(middle - (high - low) * 0x1p-40), i);
    assert_int_equal(ref_bf16_of_double(-middle - (high - low) * 0x1p-40), (i + 1) | 0x8000);
  }
  assert_int_equal(ref_bf16_of_double(0x1p200), 0x7f80);
  assert_int_equal(ref_bf16_of_double(-0x1p200), 0xff80);
  assert_int_equal(ref_bf16_of_double(0x1.ffp127), 0x7f80);
  assert_int_equal(ref_bf16_of_double(0x1.fefffffffp127), 0x7f7f);
  assert_int_equal(ref_bf16_of_double(-0.0), 0x8000);
  assert_int_equal(ref_bf16_of_double(-0x1p-300), 0x8000);
  assert_int_equal(ref_bf16_of_double(0x1p-300), 0);
  assert_true(ref_bf16_is_nan(ref_bf16_of_double((double)NAN)));
}

static void check_quotient(float x, float d) {
  float quotient = x / d;
  if (!isfinite(x) || !isnormal(quotient)) return;
  if (ref_div_rn(x, d) != quotient)
    fail_msg("%a / %a: wanted %a, found %a", (double)x, (double)d, (double)quotient, (double)ref_div_rn(x, d));
}

static void div_rn_is_the_ieee_quotient(void **state) {
  (void)state;
  const float by[] = {448.0f, 224.0f, 1280.0f, 512.0f};
  for (int k = 0; k < 4; k++) {
    for (uint32_t i = 0; i < 0x10000; i++) check_quotient(float_of(i << 16), by[k]);
    for (uint32_t i = 0; i < 0x800000; i += 3) check_quotient(float_of(0x3f800000 | i), by[k]);
    for (int i = 0; i < 2000000; i++) check_quotient(float_of(random_u32()), by[k]);
  }
  assert_true(isnan(ref_div_rn(INFINITY, 1280.0f)) && isnan(ref_div_rn(NAN, 512.0f)));
}

static void ceil_exp_is_the_next_power_of_two(void **state) {
  (void)state;
  for (int e = -126; e <= 127; e++) {
    float power = ldexpf(1.0f, e);
    assert_int_equal(ref_ceil_exp(power), e + 127);
    assert_int_equal(ref_ceil_exp(nextafterf(power, INFINITY)), e + 128);
    if (e > -126) assert_int_equal(ref_ceil_exp(nextafterf(power, 0.0f)), e + 127);
    assert_int_equal(ref_ceil_exp(-power), e + 127);
  }
  assert_int_equal(ref_ceil_exp(0.0f), 0);
  assert_int_equal(ref_ceil_exp(0x1p-149f), 1);
  assert_int_equal(ref_ceil_exp(INFINITY), 255);
  assert_int_equal(ref_ceil_exp(NAN), 256);
}

static void codes_turn_over_exactly_at_the_largest_value(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    const struct ref_fp8 *fp8 = formats[f].fp8;
    for (int k = -120; k <= 119; k++) {
      float full = ldexpf(fp8->max, k);
      assert_int_equal(ref_mx_code(full, fp8), 127 + k);
      assert_int_equal(ref_mx_code(nextafterf(full, INFINITY), fp8), 128 + k);
      assert_int_equal(ref_mx_code(nextafterf(full, 0.0f), fp8), 127 + k);
    }
    assert_int_equal(ref_mx_code(0.0f, fp8), 1);
    assert_int_equal(ref_mx_code(0x1p-126f, fp8), 1);
    assert_int_equal(ref_mx_code(0x1p-149f, fp8), 1);
    assert_int_equal(ref_mx_code(INFINITY, fp8), 254);
    assert_int_equal(ref_mx_code(NAN, fp8), 254);
    assert_int_equal(ref_mx_code(0x1.fffffep127f, fp8), f == 0 ? 247 : 248);
  }
  assert_int_equal(ref_mx_code(450.0f, &ref_fp8_ocp), 128);
  assert_int_equal(ref_mx_code(1.0f, &ref_fp8_ocp), 119); /* 1/448 is above 2^-9 */
}

static void a_groups_values_fit_and_are_the_nearest(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    double table[128];
    count_up(formats[f].step, table);
    for (int round = 0; round < 3000; round++) {
      uint16_t v[32];
      uint8_t value[32], code;
      int exponent = (int)(random_u32() % 200) + 20;
      for (int i = 0; i < 32; i++) {
        v[i] = (uint16_t)((random_u32() & 0x8000) | (uint32_t)(exponent + (int)(random_u32() % 12)) << 7 | (random_u32() & 127));
        if (random_u32() % 20 == 0) v[i] &= 0x8000;
      }
      ref_mx_row(v, 32, formats[f].fp8, value, &code);
      for (int i = 0; i < 32; i++) {
        double scaled = ldexp((double)float_of((uint32_t)v[i] << 16), 127 - code);
        assert_true(fabs(scaled) <= (double)formats[f].fp8->max);
        int want = nearest(fabs(scaled), table, formats[f].codes);
        bool sign = signbit(scaled) && !(f == 1 && want == 0);
        assert_int_equal(value[i], want | (sign ? 0x80 : 0));
      }
      /* No smaller code would do. */
      double largest = 0;
      for (int i = 0; i < 32; i++) largest = fmax(largest, fabs((double)float_of((uint32_t)v[i] << 16)));
      assert_true(ldexp(largest, 128 - code) > (double)formats[f].fp8->max || code == 1);
    }
  }
}

static void an_infinity_spoils_its_group_only(void **state) {
  (void)state;
  uint16_t v[64];
  uint8_t value[64], code[2];
  for (int i = 0; i < 64; i++) v[i] = i % 2 ? 0x3f80 : 0xbf80; /* -1, 1 */
  v[3] = 0x7f80;
  ref_mx_row(v, 64, &ref_fp8_ocp, value, code);
  assert_int_equal(code[0], 254);
  assert_int_equal(value[0], 0x80);
  assert_int_equal(value[1], 0x00);
  assert_true(ref_e4m3_is_nan(value[3], &ref_fp8_ocp));
  assert_int_equal(code[1], 119);
  assert_int_equal(value[33], 0x78); /* 256 */
  v[3] = 0x7fc0;
  ref_mx_row(v, 64, &ref_fp8_fnuz, value, code);
  assert_int_equal(code[0], 254);
  assert_int_equal(value[0], 0x00);
  assert_int_equal(value[3], 0x80);
}

static void max_min_and_clamp_let_nan_pass(void **state) {
  (void)state;
  assert_true(isnan(ref_max(NAN, 1.0f)) && isnan(ref_max(1.0f, NAN)) && isnan(ref_min(NAN, 1.0f)) && isnan(ref_min(1.0f, NAN)));
  assert_true(isnan(ref_clamp(NAN, 448.0f)));
  assert_true(ref_clamp(449.0f, 448.0f) == 448.0f && ref_clamp(-INFINITY, 448.0f) == -448.0f && ref_clamp(3.0f, 448.0f) == 3.0f);
  assert_true(!signbit(ref_max(-0.0f, 0.0f)) && !signbit(ref_max(0.0f, -0.0f)));
  assert_true(signbit(ref_min(-0.0f, 0.0f)) && signbit(ref_min(0.0f, -0.0f)));
}

static void rsq_and_rope_give_hand_worked_values(void **state) {
  (void)state;
  assert_true(ref_rsq(4.0f, 0) == 0.5f && ref_rsq(1e-20f, 0) == 1e10f && isnan(ref_rsq(NAN, 1)));
  assert_true(ref_rsq(4.0f, 1) == nextafterf(0.5f, 1.0f) && ref_rsq(4.0f, -1) == nextafterf(0.5f, 0.0f));
  uint16_t e[2];
  ref_rope(1.0f, 2.0f, 0.0f, 1.0f, e); /* a quarter turn */
  assert_int_equal(e[0], 0xc000);
  assert_int_equal(e[1], 0x3f80);
  ref_rope(-0.0f, -1.0f, 1.0f, 0.0f, e); /* -0 - (-0) = +0 */
  assert_int_equal(e[0], 0x0000);
  assert_int_equal(e[1], 0xbf80);
  /* 1·c - 1·c' where only the products' rounding leaves a rest: contraction would show. */
  float c = 0x1.000002p0f;
  ref_rope(c, c * c, c, 1.0f, e);
  assert_int_equal(e[0], 0x0000);
}

static void e8m0_covers_its_range(void **state) {
  (void)state;
  assert_true(ref_e8m0_value(127) == 1.0 && ref_e8m0_value(0) == 0x1p-127 && ref_e8m0_value(254) == 0x1p127);
  assert_true(isnan(ref_e8m0_value(255)));
  assert_true(ref_mx_multiplier(127) == 1.0f && ref_mx_multiplier(1) == 0x1p126f && ref_mx_multiplier(254) == 0.0f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(e4m3_codes_mean_what_the_formats_say),
      cmocka_unit_test(e4m3_takes_the_nearest_even_value),
      cmocka_unit_test(a_negative_zero_survives_only_where_there_is_one),
      cmocka_unit_test(bf16_takes_the_nearest_even_value),
      cmocka_unit_test(bf16_from_f64_rounds_once),
      cmocka_unit_test(div_rn_is_the_ieee_quotient),
      cmocka_unit_test(ceil_exp_is_the_next_power_of_two),
      cmocka_unit_test(codes_turn_over_exactly_at_the_largest_value),
      cmocka_unit_test(a_groups_values_fit_and_are_the_nearest),
      cmocka_unit_test(an_infinity_spoils_its_group_only),
      cmocka_unit_test(max_min_and_clamp_let_nan_pass),
      cmocka_unit_test(rsq_and_rope_give_hand_worked_values),
      cmocka_unit_test(e8m0_covers_its_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
