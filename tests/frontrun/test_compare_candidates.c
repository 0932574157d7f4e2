/* SPDX-License-Identifier: Apache-2.0 */
/* Which bf16 and which rotated pairs a sum with a tolerance may become, against trying all. */
#include <math.h>
#include <string.h>

#include "compare_gemv.h"
#include "support.h"

static uint64_t seed = 3;

static uint32_t random_u32(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 32);
}

static double random_unit(void) { return (double)(int32_t)random_u32() * 0x1p-31; }

static struct sum_range range(double sum, double tolerance) { return (struct sum_range){sum, tolerance * 0x1p20, tolerance}; }

static bool allows(double sum, double tolerance, uint16_t found) {
  double error;
  const struct sum_range s = range(sum, tolerance);
  const bool allowed = compare_bf16_allows(&s, found, &error);
  assert_true(error >= 0 && isfinite(error));
  if (allowed)
    assert_true(error <= 1.0);
  else
    assert_true(error >= 1.0);
  return allowed;
}

static void a_bf16_is_allowed_if_some_sum_within_rounds_to_it(void **state) {
  (void)state;
  assert_true(allows(1.0, 1e-6, 0x3f80) && !allows(1.0, 1e-6, 0x3f81) && !allows(1.0, 1e-6, 0x3f7f));
  const double middle = 1.0 + 0x1p-8; /* to the even one; but the tolerance reaches beyond */
  assert_true(allows(middle, 1e-9, 0x3f80) && allows(middle, 1e-9, 0x3f81));
  assert_true(allows(middle + 2e-9, 1e-9, 0x3f81) && !allows(middle + 2e-9, 1e-9, 0x3f80));
  assert_true(allows(0.0, 0x1p-144, 0x8000) && allows(0.0, 0x1p-144, 0x0000) && !allows(0.0, 0x1p-144, 0x0001));
  assert_true(allows(0.0, 0x1p-133, 0x0001) && allows(0.0, 0x1p-133, 0x8001) && !allows(0.0, 0x1p-133, 0x8002));
  assert_true(!allows(1.0, 1e-6, 0x7fc0) && !allows(1.0, 1e-6, 0x7f80) && !allows(1.0, 1e-6, 0xff80));
  for (int i = 0; i < 20000; i++) {
    const double sum = ldexp(random_unit(), (int)(random_u32() % 40) - 20), tolerance = fabs(sum) * ldexp(1, -(int)(random_u32() % 12) - 4);
    assert_true(allows(sum, tolerance, ref_bf16_of_double(sum + 0.999 * tolerance * random_unit())));
    assert_true(!allows(sum, tolerance, ref_bf16_of_double(sum + tolerance + fabs(sum) * 0x1p-6)));
  }
}

static void near_the_largest_an_infinity_is_a_rounding(void **state) {
  (void)state;
  const struct sum_range s = {0x1.ff7p127, 0x1.ff7p127, 0x1p100};
  double error;
  assert_true(compare_bf16_allows(&s, 0x7f80, &error) && error <= 1.0);
  assert_true(!compare_bf16_allows(&s, 0x7f7f, &error) && !compare_bf16_allows(&s, 0xff80, &error));
  const struct sum_range pair[2] = {s, {1.0, 1.0, 1e-6}};
  const uint16_t infinite[2] = {0x7f80, 0x7f80}, finite[2] = {0x7f7f, 0x3f80};
  assert_true(compare_pair_allows(pair, 0.6f, 0.8f, infinite, true) && !compare_pair_allows(pair, 0.6f, 0.8f, finite, true));
}

static bool pair_allows(const struct sum_range s[2], float cos, float sin, uint16_t e0, uint16_t e1) {
  const uint16_t found[2] = {e0, e1};
  return compare_pair_allows(s, cos, sin, found, true);
}

static void a_pair_is_allowed_if_some_two_candidates_rotate_to_it(void **state) {
  (void)state;
  for (int i = 0; i < 3000; i++) {
    const double angle = random_unit() * 4;
    const float c = (float)cos(angle), s = (float)sin(angle);
    const double v0 = random_unit(), v1 = random_unit();
    const struct sum_range sums[2] = {range(v0, 1e-6), range(v1, 1e-6)};
    uint16_t e[2];
    ref_rope(ref_bf16_value(ref_bf16_of_double(v0 + 1e-6)), ref_bf16_value(ref_bf16_of_double(v1 - 1e-6)), c, s, e);
    assert_true(pair_allows(sums, c, s, e[0], e[1]));
    assert_true(!pair_allows(sums, c, s, (uint16_t)(e[0] + 2), e[1]) && !pair_allows(sums, c, s, e[0], (uint16_t)(e[1] ^ 2)));
    assert_true(!pair_allows(sums, c, s, 0x7fc0, e[1]));
    if (fabs(fabs(v0) - fabs(v1)) > 0.1 && fabsf(s) > 0.2f)
      assert_true(!pair_allows(sums, s, c, e[0], e[1]) || fabsf(fabsf(s) - fabsf(c)) < 0.05f);
  }
}

/* All bf16 from the one that the least sum rounds to up to that of the greatest. */
static size_t all_candidates(const struct sum_range *s, float v[0x10000]) {
  const float low = ref_bf16_value(ref_bf16_of_double(s->sum - s->tolerance)),
              high = ref_bf16_value(ref_bf16_of_double(s->sum + s->tolerance));
  size_t count = 0;
  for (uint32_t i = 0; i < 0x10000; i++) {
    const float value = ref_bf16_value((uint16_t)i);
    if (value >= low && value <= high) v[count++] = value;
  }
  return count;
}

static bool brute(const struct sum_range s[2], float cos, float sin, uint16_t e0, uint16_t e1) {
  static float v0[0x10000], v1[0x10000];
  const size_t count0 = all_candidates(&s[0], v0), count1 = all_candidates(&s[1], v1);
  for (size_t i = 0; i < count0 * count1; i++) {
    uint16_t e[2];
    ref_rope(v0[i / count1], v1[i % count1], cos, sin, e);
    if (e[0] == e0 && e[1] == e1) return true;
  }
  return false;
}

static void wide_intervals_are_searched_as_by_trying_all(void **state) {
  (void)state;
  int yes = 0, no = 0;
  for (int i = 0; i < 120; i++) {
    const double angle = random_unit() * 4;
    const float c = (float)cos(angle), s = (float)sin(angle);
    const struct sum_range sums[2] = {
        range(random_unit(), 0.02 + fabs(random_unit()) * 0.2), range(random_unit(), 0.01 + fabs(random_unit()) * 0.2)};
    const double v0 = sums[0].sum + 1.2 * sums[0].tolerance * random_unit(), v1 = sums[1].sum + 1.2 * sums[1].tolerance * random_unit();
    uint16_t e[2];
    ref_rope(ref_bf16_value(ref_bf16_of_double(v0)), ref_bf16_value(ref_bf16_of_double(v1)), c, s, e);
    e[i % 2] = (uint16_t)(e[i % 2] + random_u32() % 3); /* mostly no rotation of anything */
    /* Sums that straddle 0 have 30,000 candidates each: too many to try all. */
    if (fabs(sums[0].sum) < 1.3 * sums[0].tolerance || fabs(sums[1].sum) < 1.3 * sums[1].tolerance) continue;
    const bool want = brute(sums, c, s, e[0], e[1]);
    assert_int_equal(pair_allows(sums, c, s, e[0], e[1]), want);
    yes += want;
    no += !want;
  }
  assert_true(yes > 15 && no > 15);
}

static void sums_that_cancel_find_their_pair_among_tiny_candidates(void **state) {
  (void)state;
  const struct sum_range sums[2] = {range(1e-9, 1e-6), range(-2e-9, 1e-6)};
  for (int i = 0; i < 300; i++) {
    const double angle = random_unit() * 4;
    const float c = (float)cos(angle), s = (float)sin(angle);
    uint16_t e[2];
    const double v0 = ldexp(random_unit(), -20 - (int)(random_u32() % 100)), v1 = ldexp(random_unit(), -20 - (int)(random_u32() % 100));
    ref_rope(ref_bf16_value(ref_bf16_of_double(v0)), ref_bf16_value(ref_bf16_of_double(v1)), c, s, e);
    assert_true(pair_allows(sums, c, s, e[0], e[1]));
  }
  assert_true(!pair_allows(sums, 0.6f, 0.8f, 0x3f80, 0x0000) && !pair_allows(sums, 0.6f, 0.8f, ref_bf16(1.5e-6f), ref_bf16(1.5e-6f)));
}

static void a_strange_angle_still_has_an_answer(void **state) {
  (void)state;
  const struct sum_range sums[2] = {range(1.0, 0.1), range(0.0, 0.1)};
  assert_true(pair_allows(sums, NAN, 1.0f, 0x7fc0, 0xffc1) && !pair_allows(sums, NAN, 1.0f, 0x7fc0, 0x3f80));
  assert_true(pair_allows(sums, INFINITY, 0.0f, 0x7f80, 0x7f80) && pair_allows(sums, INFINITY, 0.0f, 0x7f80, 0xff80));
  assert_true(pair_allows(sums, INFINITY, 0.0f, 0x7f80, 0x7fc0)); /* v1 = 0 */
  assert_true(!pair_allows(sums, INFINITY, 0.0f, 0xff80, 0x7f80));
  const struct sum_range nan[2] = {{NAN, NAN, NAN}, range(1.0, 1e-6)};
  assert_true(pair_allows(nan, 0.6f, 0.8f, 0xffff, 0x7f81) && !pair_allows(nan, 0.6f, 0.8f, 0x7f80, 0x7fc0));
}

static void an_overflow_is_allowed_only_where_the_terms_reach_that_far(void **state) {
  (void)state;
  double error;
  const struct sum_range far = {1.0, 0x1p128, 0x1p108}, near = {1.0, 0x1p127, 0x1p107};
  assert_true(
      compare_sum_allows(&far, INFINITY, &error) && compare_sum_allows(&far, NAN, &error) && compare_sum_allows(&far, 0x1p107f, &error));
  assert_true(!compare_sum_allows(&near, INFINITY, &error) && !compare_sum_allows(&near, NAN, &error));
  assert_true(!compare_sum_allows(&far, 0x1p109f, &error) && error > 1.9 && error < 2.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bf16_is_allowed_if_some_sum_within_rounds_to_it),
      cmocka_unit_test(near_the_largest_an_infinity_is_a_rounding),
      cmocka_unit_test(a_pair_is_allowed_if_some_two_candidates_rotate_to_it),
      cmocka_unit_test(wide_intervals_are_searched_as_by_trying_all),
      cmocka_unit_test(sums_that_cancel_find_their_pair_among_tiny_candidates),
      cmocka_unit_test(a_strange_angle_still_has_an_answer),
      cmocka_unit_test(an_overflow_is_allowed_only_where_the_terms_reach_that_far),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
