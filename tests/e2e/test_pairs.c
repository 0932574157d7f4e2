/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of a sample of keys in which every pair of values occurs: test_pairs PART PARTS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launched.h"
#include "support.h"

/* Every token count with every ratio; tp, tuned and window spread over them. */
static const struct row {
  uint32_t tokens, ratio, tp, tuned, window;
} rows[] = {
    {1, 0, 2, 0, 128},
    {1, 1, 4, 1, 256},
    {1, 2, 4, 0, 1000},
    {2, 0, 4, 1, 1},
    {2, 1, 2, 0, 128},
    {2, 2, 2, 1, 256},
    {7, 0, 2, 1, 1000},
    {7, 1, 4, 0, 1},
    {7, 2, 4, 1, 128},
    {8, 0, 4, 0, 256},
    {8, 1, 2, 1, 1000},
    {8, 2, 2, 0, 1},
    {15, 0, 2, 0, 1000},
    {15, 1, 2, 1, 1},
    {15, 2, 4, 0, 128},
    {16, 0, 4, 1, 128},
    {16, 1, 4, 0, 256},
    {16, 2, 2, 1, 1000},
    {17, 0, 2, 1, 256},
    {17, 1, 4, 0, 1000},
    {17, 2, 2, 1, 1},
    {31, 0, 4, 0, 1},
    {31, 1, 2, 1, 128},
    {31, 2, 4, 0, 256},
    {32, 0, 2, 0, 1},
    {32, 1, 4, 1, 256},
    {32, 2, 2, 0, 1000},
    {33, 0, 4, 1, 1000},
    {33, 1, 2, 0, 1},
    {33, 2, 4, 1, 128},
    {48, 0, 2, 0, 128},
    {48, 1, 4, 1, 1},
    {48, 2, 2, 0, 256},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows, FIELDS = 5, VALUES_MAX = 11 };

static const uint32_t values[FIELDS][VALUES_MAX] = {
    {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 48}, {0, 1, 2}, {2, 4}, {0, 1}, {128, 256, 1, 1000}};
static const uint32_t value_count[FIELDS] = {11, 3, 2, 2, 4};

static uint32_t part, parts = 1;

static uint32_t field(const struct row *r, uint32_t f) {
  const uint32_t fields[FIELDS] = {r->tokens, r->ratio, r->tp, r->tuned, r->window};
  return fields[f];
}

static bool occurs(uint32_t f, uint32_t v, uint32_t g, uint32_t w) {
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (field(&rows[i], f) == v && field(&rows[i], g) == w) return true;
  return false;
}

static void the_table_has_every_pair_of_values(void **state) {
  (void)state;
  uint32_t pairs = 0;
  for (uint32_t f = 0; f < FIELDS; f++)
    for (uint32_t g = f + 1; g < FIELDS; g++)
      for (uint32_t i = 0; i < value_count[f]; i++)
        for (uint32_t j = 0; j < value_count[g]; j++) {
          bool windows_of_tokens = f == 0 && g == 4; /* 44 pairs for 33 rows: not all */
          if (!windows_of_tokens && !occurs(f, values[f][i], g, values[g][j]))
            fail_msg("no row with %u and %u in fields %u and %u", values[f][i], values[g][j], f, g);
          pairs += !windows_of_tokens;
        }
  assert_int_equal(pairs, 11 * (3 + 2 + 2) + 3 * (2 + 2 + 4) + 2 * (2 + 4) + 2 * 4);
}

/* Other inputs for each row, and before every second one the scratch as the launch before would have left it. */
static void every_key_gives_the_references_results(void **state) {
  (void)state;
  for (uint32_t i = part; i < ROW_COUNT; i += parts) {
    const struct row *r = &rows[i];
    char key[96], seed[16];
    snprintf(key, sizeof key, "tokens=%u,tp=%u,ratio=%u,window=%u,tuned=%u%s", r->tokens, r->tp, r->ratio, r->window, r->tuned,
        i % 5 == 2 ? ",guard=0" : "");
    snprintf(seed, sizeof seed, "%u", i + 10);
    const char *const options[] = {"--seed", seed, i % 2 ? "--prefill-tag" : NULL, NULL};
    struct launched l = launch(key, options);
    assert_good_launches(key, &l, 1);
  }
}

int main(int argc, char **argv) {
  if (argc > 2) {
    part = (uint32_t)strtoul(argv[1], NULL, 10);
    parts = (uint32_t)strtoul(argv[2], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_has_every_pair_of_values),
      cmocka_unit_test(every_key_gives_the_references_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
