/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison on several threads; by itself, because it is what runs under ThreadSanitizer, where the other files are too slow. */
#include <string.h>

#include "support.h"
#include "synthetic.h"

static struct compare_result result;

static void the_number_of_threads_changes_nothing(void **state) {
  (void)state;
  struct synthetic s;
  static struct compare_result first;
  synthetic_make(&s, &(struct front_key){.tokens = 5, .tp = 8, .ratio = 2, .window = 128}, 3, 5);
  for (uint32_t i = 0; i < 40; i++) s.now.q[i * 401] ^= 2, *synthetic_partial(&s, i % 2, i % 5, 1000 + 7 * i) += 1.0f;
  for (unsigned threads = 1; threads <= 9; threads += 4) {
    s.options.threads = threads;
    assert_int_equal(synthetic_compare(&s, &result), COMPARE_DIFFERS);
    if (threads == 1) first = result;
    for (size_t i = 0; i < result.rows; i++) {
      const struct compare_row *a = &first.row[i], *b = &result.row[i];
      assert_true(a->values == b->values && a->exact == b->exact && a->wrong == b->wrong && a->worst == b->worst);
      assert_string_equal(a->first, b->first);
      assert_string_equal(a->worst_at, b->worst_at);
    }
    assert_string_equal(first.message, result.message);
  }
  synthetic_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_number_of_threads_changes_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
