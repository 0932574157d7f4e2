/* SPDX-License-Identifier: Apache-2.0 */
/* The leaf templates on this machine's CPU against formulas written another way: IEEE division, nearest neighbours, two roundings.
   --benchmark: every float instead of a sample. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaf.h"

static bool exhaustive;

static float from_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

/* The same number, or both NaN. */
static bool same(float a, float b) { return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b)); }

static uint64_t random_state = 0x9E3779B97F4A7C15u;

static uint32_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 16);
}

/* A float of random sign and mantissa, its exponent in [low, high]. */
static float random_float(int low, int high) {
  uint32_t exponent = (uint32_t)(low + 127) + random_bits() % (uint32_t)(high - low + 1);
  return from_bits((random_bits() & 0x807FFFFFu) | exponent << 23);
}

/* ---- bf16 */

/* The nearer of the two bf16 around x, the even one in a tie: by distances, in double, where all of this is exact. */
static float nearest_bf16(float x) {
  uint32_t sign = bits_of(x) & 0x80000000u, low = bits_of(x) & 0x7FFF0000u, high = low + 0x10000u;
  double v = fabs((double)x), below = (double)from_bits(low);
  double above = high == 0x7F800000u ? 0x1p128 : (double)from_bits(high); /* what infinity would be with one more exponent */
  if (isnan(x) || isinf(x)) return x;
  bool up = v - below != above - v ? v - below > above - v : (low & 0x10000u) != 0;
  return from_bits(sign | (up ? high : low));
}

static void check_bf16(uint32_t bits) {
  float x = from_bits(bits), found = leaf_bf16_round(x), wanted = nearest_bf16(x);
  if (!same(found, wanted)) fail_msg("bf16 of %08x: wanted %08x, found %08x", bits, bits_of(wanted), bits_of(found));
}

static void test_bf16(void **state) {
  (void)state;
  static const uint32_t lows[] = {0, 1, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF};
  for (uint32_t high = 0; high <= 0xFFFF; high++) {
    for (size_t i = 0; i < sizeof lows / sizeof *lows; i++) check_bf16(high << 16 | lows[i]);
    for (int i = 0; i < 8; i++) check_bf16(high << 16 | (random_bits() & 0xFFFF));
  }
  for (uint64_t bits = 0; exhaustive && bits <= UINT32_MAX; bits++) check_bf16((uint32_t)bits);
}

/* ---- division */

static const float divisors[] = {448, 224, 1280, 512};
enum { DIVISORS = sizeof divisors / sizeof *divisors };

static void check_quotient(uint32_t bits, float d) {
  float x = from_bits(bits), found = leaf_div_rn(x, d, 1.0f / d), wanted = x / d;
  if (!same(found, wanted)) fail_msg("%a / %g: wanted %a, found %a", (double)x, (double)d, (double)wanted, (double)found);
}

/* One exponent's whole range of mantissas proves the others: all of the operations only shift as long as nothing leaves the normal range.
 */
static void test_quotient(void **state) {
  (void)state;
  for (int i = 0; i < DIVISORS; i++) {
    for (uint32_t mantissa = 0; mantissa <= 0x7FFFFF; mantissa++) check_quotient(127u << 23 | mantissa, divisors[i]);
    uint32_t lowest = bits_of(divisors[i] * 0x1p-126f); /* its quotient is the smallest normal number */
    for (uint32_t bits = lowest; bits < lowest + 0x1000000u; bits += exhaustive ? 1 : 61) check_quotient(bits, divisors[i]);
    for (uint32_t bits = 0x7F000000u; bits < 0x7F800000u; bits += exhaustive ? 1 : 61) check_quotient(bits, divisors[i]);
    for (uint32_t n = 0; n < 1000000; n++) check_quotient(bits_of(random_float(-117, 127)), divisors[i]);
    check_quotient(0, divisors[i]);
    check_quotient(bits_of(FLT_MAX), divisors[i]);
    for (uint64_t bits = lowest; exhaustive && bits < 0x7F800000u; bits += 7) check_quotient((uint32_t)bits, divisors[i]);
  }
}

/* Denormal quotients, infinities, NaN: not IEEE's quotient, but exactly these operations. */
static void test_division_operations(void **state) {
  (void)state;
  for (int i = 0; i < DIVISORS; i++)
    for (uint32_t n = 0; n < 2000000; n++) {
      uint32_t bits = n < 1000 ? n : n < 2000 ? 0x7F7FFF00u + n : n < 1000000 ? random_bits() & 0x87FFFFFFu : random_bits();
      float d = divisors[i], x = from_bits(bits), r = 1.0f / d, q = x * r;
      float wanted = fmaf(fmaf(-q, d, x), r, q), found = leaf_div_rn(x, d, r);
      if (!same(found, wanted)) fail_msg("div_rn(%08x, %g): wanted %08x, found %08x", bits, (double)d, bits_of(wanted), bits_of(found));
    }
}

/* ---- exponents */

static void test_ceil_exp(void **state) {
  (void)state;
  for (uint32_t sign = 0; sign <= 1; sign++)
    for (uint32_t exponent = 0; exponent <= 255; exponent++) {
      uint32_t first = sign << 31 | exponent << 23;
      assert_int_equal(leaf_ceil_exp(from_bits(first)), exponent);
      uint32_t step = exhaustive ? 1 : 4099;
      for (uint32_t mantissa = 1; mantissa <= 0x7FFFFF; mantissa += step) {
        uint32_t found = leaf_ceil_exp(from_bits(first | mantissa));
        if (found != exponent + 1) fail_msg("ceil_exp of %08x: wanted %u, found %u", first | mantissa, exponent + 1, found);
      }
      assert_int_equal(leaf_ceil_exp(from_bits(first | 0x7FFFFF)), exponent + 1);
    }
}

static uint32_t group_code(float amax) { return leaf_mx_code(amax, 0x1p-126f, 448, 1.0f / 448); }

static void test_code_boundaries(void **state) {
  (void)state;
  const float ulp = FLT_EPSILON;
  assert_int_equal(group_code(0), 1); /* the floor, 2^-126 / 448, is a denormal */
  assert_int_equal(group_code(0x1p-126f), 1);
  assert_int_equal(group_code(448 * 0x1p-126f), 1);
  assert_int_equal(group_code(448 * 0x1p-126f * (1 + ulp)), 2);
  assert_int_equal(group_code(224), 126);
  assert_int_equal(group_code(224 * (1 + ulp)), 127);
  assert_int_equal(group_code(448), 127);
  assert_int_equal(group_code(448 * (1 + ulp)), 128);
  assert_int_equal(group_code(450), 128);
  assert_int_equal(group_code(FLT_MAX), 247); /* 2^128 / 448 is between 2^119 and 2^120 */
  assert_int_equal(group_code(INFINITY), 254);
  assert_int_equal(group_code(NAN), 254);
  assert_int_equal(leaf_mx_code(0, 1e-4f, 448, 1.0f / 448), 105);   /* 1e-4 / 448 is between 2^-23 and 2^-22 */
  assert_int_equal(leaf_mx_code(NAN, 1e-4f, 448, 1.0f / 448), 254); /* the floor hides no NaN */
  assert_int_equal(leaf_mx_code(224, 0x1p-126f, 224, 1.0f / 224), 127);
  assert_int_equal(leaf_mx_code(224 * (1 + ulp), 0x1p-126f, 224, 1.0f / 224), 128);
}

/* For every power of two the code steps exactly at 448 times it. */
static void test_code_steps(void **state) {
  (void)state;
  for (int e = -125; e <= 119; e++) {
    float edge = ldexpf(448, e);
    assert_int_equal(group_code(edge), 127 + e);
    assert_int_equal(group_code(nextafterf(edge, INFINITY)), 128 + e);
    assert_int_equal(group_code(nextafterf(edge, 0)), 127 + e);
  }
}

/* The scaled group uses e4m3's range and stays in it. */
static void test_code_fits(void **state) {
  (void)state;
  for (int n = 0; n < 1000000; n++) {
    float amax = fabsf(random_float(-117, 127));
    float scaled = amax * leaf_mx_mul(group_code(amax));
    if (!(scaled <= 448 && scaled > 224)) fail_msg("a group with amax %a is scaled to %a", (double)amax, (double)scaled);
  }
}

static void test_multiplier(void **state) {
  (void)state;
  for (uint32_t code = 0; code <= 253; code++) assert_true(same(leaf_mx_mul(code), ldexpf(1, 127 - (int)code)));
  assert_true(same(leaf_mx_mul(254), 0.0f));
}

/* ---- values */

static void test_clamped(void **state) {
  (void)state;
  assert_true(same(leaf_clamped(1000, 1, 448), 448));
  assert_true(same(leaf_clamped(-1000, 1, 448), -448));
  assert_true(same(leaf_clamped(INFINITY, 2, 448), 448));
  assert_true(same(leaf_clamped(-INFINITY, 2, 224), -224));
  assert_true(same(leaf_clamped(448, 1, 448), 448));
  assert_true(same(leaf_clamped(3, 0.5f, 448), 1.5f));
  assert_true(same(leaf_clamped(-0.0f, 1, 448), -0.0f));
  assert_true(isnan(leaf_clamped(NAN, 1, 448)));
  assert_true(isnan(leaf_clamped(from_bits(0xFFC00000u), 1, 448)));
  assert_true(isnan(leaf_clamped(INFINITY, 0, 448)));                 /* a group with an infinity: multiplier 0 */
  assert_true(same(leaf_clamped(FLT_MIN, 0x1p-20f, 448), 0x1p-146f)); /* denormals are kept */
}

/* a b + c d with every operation rounded by itself. */
static float two_products(float a, float b, float c, float d) {
  volatile float x = a * b, y = c * d;
  volatile float sum = x + y;
  return sum;
}

static void test_rope(void **state) {
  (void)state;
  uint32_t fused_differs = 0;
  for (int n = 0; n < 1000000; n++) {
    float a = nearest_bf16(random_float(-20, 20)), b = nearest_bf16(random_float(-20, 20));
    float angle = (float)(random_bits() % 65536) * 1e-4f, c = cosf(angle), s = sinf(angle);
    float even = nearest_bf16(two_products(a, c, -b, s)), odd = nearest_bf16(two_products(a, s, b, c));
    float found_even = leaf_rope_even(a, b, c, s), found_odd = leaf_rope_odd(a, b, c, s);
    if (!same(found_even, even) || !same(found_odd, odd))
      fail_msg("rope(%a, %a) by (%a, %a): wanted %a, %a, found %a, %a", (double)a, (double)b, (double)c, (double)s, (double)even,
          (double)odd, (double)found_even, (double)found_odd);
    fused_differs += !same(even, nearest_bf16(fmaf(-b, s, a * c))) || !same(odd, nearest_bf16(fmaf(b, c, a * s)));
  }
  assert_true(fused_differs > 0); /* or this test could not see a contraction */
}

/* Dims without RoPE go through the formula with cos 1 and sin 0. */
static void test_rope_of_nothing(void **state) {
  (void)state;
  for (uint32_t high = 0; high <= 0xFFFF; high++) {
    float a = from_bits(high << 16);
    if (isnan(a) || isinf(a)) continue;
    assert_true(same(leaf_rope_odd(1, a, 1, 0), a == 0 ? 0.0f : a));
    assert_true(same(leaf_rope_even(a, 1, 1, 0), a));
    assert_true(same(leaf_rope_even(-0.0f, -1, 1, 0), 0.0f)); /* -0 + 0 */
  }
}

static void test_normed(void **state) {
  (void)state;
  uint32_t other_order_differs = 0, early_differs = 0;
  for (int n = 0; n < 1000000; n++) {
    float v = nearest_bf16(random_float(-20, 20)), r = fabsf(random_float(-20, 20)), w = nearest_bf16(random_float(-3, 3));
    volatile float vr = v * r, rw = r * w;
    volatile float scaled = vr * w, other = v * rw;
    float wanted = nearest_bf16(scaled), found = leaf_normed(v, r, w);
    if (!same(found, wanted))
      fail_msg("normed(%a, %a, %a): wanted %a, found %a", (double)v, (double)r, (double)w, (double)wanted, (double)found);
    other_order_differs += !same(wanted, nearest_bf16(other));
    early_differs += !same(wanted, nearest_bf16(nearest_bf16(vr) * w));
  }
  assert_true(other_order_differs > 0 && early_differs > 0);
}

static void test_mean_square(void **state) {
  (void)state;
  for (int i = 2; i < DIVISORS; i++)
    for (int n = 0; n < 200000; n++) {
      float ssq = fabsf(random_float(-80, 100)), d = divisors[i];
      volatile float mean = ssq / d;
      volatile float wanted = mean + 1e-20f;
      assert_true(same(leaf_mean_square_eps(ssq, d, 1.0f / d, 1e-20f), wanted));
    }
  assert_true(same(leaf_mean_square_eps(0, 1280, 1.0f / 1280, 1e-20f), 1e-20f)); /* a row of zeros */
}

int main(int argc, char **argv) {
  exhaustive = argc > 1 && strcmp(argv[1], "--benchmark") == 0;
  const struct CMUnitTest tests[] = {
      {.name = "bf16 rounds to nearest, ties to even", .test_func = test_bf16},
      {.name = "div_rn is IEEE's quotient where the quotient is normal", .test_func = test_quotient},
      {.name = "div_rn is the design's operations everywhere", .test_func = test_division_operations},
      {.name = "ceil_exp is the exponent, one more with a mantissa", .test_func = test_ceil_exp},
      {.name = "a group's code is right at every boundary", .test_func = test_code_boundaries},
      {.name = "a group's code steps exactly at 448 times a power of two", .test_func = test_code_steps},
      {.name = "a scaled group uses e4m3's range and stays in it", .test_func = test_code_fits},
      {.name = "the multiplier is the exact power of two, 0 for a spoilt group", .test_func = test_multiplier},
      {.name = "clamping keeps the range and passes NaN", .test_func = test_clamped},
      {.name = "RoPE is two products and a sum, each rounded", .test_func = test_rope},
      {.name = "RoPE by nothing changes nothing but -0", .test_func = test_rope_of_nothing},
      {.name = "normed rounds each product, in the design's order", .test_func = test_normed},
      {.name = "a mean square is the quotient plus epsilon, rounded twice", .test_func = test_mean_square},
  };
  return cmocka_run_group_tests_name("templates", tests, NULL, NULL);
}
