/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on the emulator, every stage compared: keys in which every pair of (tokens, tp, ratio, tuned) values occurs, then the edges.
   `test_keys PART PARTS` runs every PARTS-th case from PART on, so that the build can run parts side by side. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned part, parts = 1;

/* frontrun must end good and say so. */
static void expect_good(const char *key, const char *const *options) {
  const char *argv[24] = {built_path("frontrun/frontrun"), key, "--device", "emulator", "--no-traffic"};
  size_t n = 5;
  while (*options && n < 23) argv[n++] = *options++;
  struct outcome o = run_argv(argv, NULL);
  if (o.code != 0 || !strstr(o.out, "good: every stage")) fail_msg("%s: exit code %d: %s\n%.3000s", key, o.code, o.err, o.out);
  outcome_free(&o);
}

static bool is_mine(unsigned number) { return number % parts == part; }

static void every_pair_of_values_of_a_key_gives_right_results_twice_on_one_scratch(void **context) {
  (void)context;
  static const int tokens[] = {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 48};
  static const char *const epochs[] = {"0", "2147483647", "4294967295"};
  for (unsigned i = 0; i < 11; i++) {
    for (unsigned ratio = 0; ratio < 3; ratio++) {
      if (!is_mine(3 * i + ratio)) continue;
      char key[64], seed[16];
      snprintf(key, sizeof key, "tokens=%d,tp=%u,ratio=%u,tuned=%u", tokens[i], (i + ratio) % 2 ? 2 : 4, ratio, ((ratio + 1) / 2 + i) % 2);
      snprintf(seed, sizeof seed, "%u", 100 + 3 * i + ratio);
      const char *stale = (i + ratio) % 3 ? "--prefill-tag" : NULL;
      expect_good(key, (const char *const[]){"--repeat", "2", "--seed", seed, "--epoch", epochs[(i + ratio) % 3], stale, NULL});
    }
  }
}

static void all_ranks_windows_and_ratios_of_the_edges_give_right_results(void **context) {
  (void)context;
  static const char *const keys[] = {
      "tokens=8,tp=1",
      "tokens=17,tp=1,tuned=1",
      "tokens=48,tp=8",
      "tokens=5,tp=8,tuned=1",
      "tokens=9,window=1",
      "tokens=9,window=256",
      "tokens=20,window=1000,tuned=1",
      "tokens=3,window=4096,ratio=128",
      "tokens=4,window=4096,ratio=0",
      "tokens=6,ratio=3,window=129",
  };
  for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    char rank[2] = {(char)('0' + (strstr(keys[i], "tp=8") ? 7 : strstr(keys[i], "tp=1") ? 0 : 3)), 0};
    if (is_mine(i)) expect_good(keys[i], (const char *const[]){"--rank", rank, NULL});
  }
}

static void extreme_inputs_spoil_values_at_most_and_never_control(void **context) {
  (void)context;
  static const char *const cases[] = {"zero", "largest", "denormal", "nan", "inf", "allpad", "nopad", "far"};
  static const char *const keys[] = {"tokens=8", "tokens=18,tp=8,tuned=1"};
  for (unsigned i = 0; i < 16; i++)
    if (is_mine(i)) expect_good(keys[i / 8], (const char *const[]){"--case", cases[i % 8], NULL});
}

int main(int argc, char **argv) {
  if (argc == 3) {
    part = (unsigned)atoi(argv[1]);
    parts = (unsigned)atoi(argv[2]);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_pair_of_values_of_a_key_gives_right_results_twice_on_one_scratch),
      cmocka_unit_test(all_ranks_windows_and_ratios_of_the_edges_give_right_results),
      cmocka_unit_test(extreme_inputs_spoil_values_at_most_and_never_control),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
