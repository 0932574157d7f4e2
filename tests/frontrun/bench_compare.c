/* SPDX-License-Identifier: Apache-2.0 */
/* How long a whole comparison takes: tokens=48, tp=4, all CPUs. It must not cost more than the launch (a few seconds, emulated). */
#include <stdio.h>
#include <time.h>

#include "support.h"
#include "synthetic.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compare_48_tokens(void **state) {
  (void)state;
  struct synthetic s;
  struct compare_result result;
  synthetic_make(&s, &(struct front_key){.tokens = 48, .tp = 4, .ratio = 2, .window = 128, .tuned = 1}, 1, 0);
  s.options.threads = 0;
  const double start = now();
  assert_int_equal(synthetic_compare(&s, &result), COMPARE_GOOD);
  printf("tokens 48, tp 4: %.3f s\n", now() - start);
  for (size_t i = 0; i < result.rows; i++)
    printf("  %-10s %9llu values %9llu exact  worst %.4f %s\n", result.row[i].stage, (unsigned long long)result.row[i].values,
        (unsigned long long)result.row[i].exact, result.row[i].worst, result.row[i].worst_at);
  synthetic_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(compare_48_tokens)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
