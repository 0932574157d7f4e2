/* SPDX-License-Identifier: Apache-2.0 */
/* Launches with something out of the ordinary: test_launches GROUP. */
#include <stdio.h>
#include <string.h>

#include "launched.h"
#include "support.h"

struct one {
  const char *key;
  const char *options[10];
  size_t launches;
};

static void launch_each(const struct one *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct launched l = launch(list[i].key, list[i].options);
    char name[256];
    snprintf(name, sizeof name, "%s %s %s", list[i].key, list[i].options[0] ? list[i].options[0] : "",
        list[i].options[0] && list[i].options[1] ? list[i].options[1] : "");
    assert_good_launches(name, &l, list[i].launches);
  }
}

#define LAUNCH_EACH(...)                                                                                                                   \
  static const struct one list[] = {__VA_ARGS__};                                                                                          \
  (void)state;                                                                                                                             \
  launch_each(list, sizeof list / sizeof *list)

/* ---- ranks */

static void one_rank_has_all_the_heads(void **state) {
  LAUNCH_EACH(
      {"tokens=3,tp=1", {NULL}, 1}, {"tokens=17,tp=1,ratio=0,tuned=1", {"--prefill-tag"}, 1}, {"tokens=48,tp=1,window=1000", {NULL}, 1});
}

static void the_last_of_eight_ranks_has_its_own_heads(void **state) {
  LAUNCH_EACH({"tokens=16,tp=8", {"--rank", "7"}, 1}, {"tokens=33,tp=8,tuned=1,ratio=1,window=256", {"--rank", "3"}, 1},
      {"tokens=1,tp=8,ratio=0,tuned=1,window=1", {"--prefill-tag"}, 1});
}

/* ---- tables */

static void unusual_ratios_and_windows_give_the_right_keys(void **state) {
  LAUNCH_EACH({"tokens=5,tp=8,ratio=128,window=4096", {NULL}, 1}, {"tokens=34,tp=8,ratio=7,window=129,tuned=1", {NULL}, 1},
      {"tokens=40,tp=8,ratio=3,window=511", {NULL}, 1}, {"tokens=9,tp=8,ratio=0,window=641", {NULL}, 1});
}

static void far_positions_and_no_pad_rows_are_no_different(void **state) {
  LAUNCH_EACH({"tokens=16,tp=8,ratio=1", {"--case", "far"}, 1}, {"tokens=20,tp=8,ratio=4,tuned=1", {"--case", "far"}, 1},
      {"tokens=19,tp=8,tuned=1", {"--case", "nopad"}, 1});
}

static void a_step_of_pad_rows_writes_no_record_and_no_key(void **state) {
  LAUNCH_EACH({"tokens=8,tp=8", {"--case", "allpad"}, 1}, {"tokens=33,tp=8,tuned=1,ratio=1", {"--case", "allpad", "--prefill-tag"}, 1});
}

/* ---- epochs: each launch with other inputs, on the scratch that the last one left */

static void launches_in_a_row_do_not_see_each_other(void **state) {
  LAUNCH_EACH({"tokens=8,tp=8", {"--repeat", "3", "--epoch", "0"}, 3}, {"tokens=17,tp=8,tuned=1", {"--repeat", "2", "--epoch", "0"}, 2},
      {"tokens=33,tp=8", {"--repeat", "2"}, 2});
}

static void the_epoch_passes_half_its_range_and_wraps(void **state) {
  LAUNCH_EACH({"tokens=7,tp=8,tuned=1", {"--repeat", "2", "--epoch", "2147483647"}, 2},
      {"tokens=18,tp=8", {"--repeat", "2", "--epoch", "2147483647", "--prefill-tag"}, 2},
      {"tokens=2,tp=8", {"--repeat", "2", "--epoch", "4294967295"}, 2}, {"tokens=17,tp=8", {"--epoch", "0", "--prefill-tag"}, 1});
}

/* ---- values */

static void zeros_give_zeros(void **state) {
  LAUNCH_EACH({"tokens=8,tp=8", {"--case", "zero"}, 1}, {"tokens=18,tp=8,tuned=1", {"--case", "zero"}, 1});
}

static void the_largest_values_stay_finite(void **state) {
  LAUNCH_EACH({"tokens=8,tp=8,tuned=1", {"--case", "largest"}, 1}, {"tokens=18,tp=8", {"--case", "largest"}, 1});
}

static void denormals_are_kept(void **state) {
  LAUNCH_EACH({"tokens=8,tp=8", {"--case", "denormal"}, 1}, {"tokens=18,tp=8,tuned=1", {"--case", "denormal"}, 1});
}

static void nan_spoils_values_and_nothing_else(void **state) {
  LAUNCH_EACH({"tokens=8,tp=8,tuned=1", {"--case", "nan"}, 1}, {"tokens=18,tp=8", {"--case", "nan"}, 1});
}

static void infinity_spoils_values_and_nothing_else(void **state) {
  LAUNCH_EACH({"tokens=8,tp=8", {"--case", "inf"}, 1}, {"tokens=18,tp=8,tuned=1", {"--case", "inf"}, 1});
}

int main(int argc, char **argv) {
  const struct CMUnitTest ranks[] = {
      cmocka_unit_test(one_rank_has_all_the_heads),
      cmocka_unit_test(the_last_of_eight_ranks_has_its_own_heads),
  };
  const struct CMUnitTest tables[] = {
      cmocka_unit_test(unusual_ratios_and_windows_give_the_right_keys),
      cmocka_unit_test(far_positions_and_no_pad_rows_are_no_different),
      cmocka_unit_test(a_step_of_pad_rows_writes_no_record_and_no_key),
  };
  const struct CMUnitTest epochs[] = {
      cmocka_unit_test(launches_in_a_row_do_not_see_each_other),
      cmocka_unit_test(the_epoch_passes_half_its_range_and_wraps),
  };
  const struct CMUnitTest numbers[] = {
      cmocka_unit_test(zeros_give_zeros),
      cmocka_unit_test(the_largest_values_stay_finite),
      cmocka_unit_test(denormals_are_kept),
      cmocka_unit_test(nan_spoils_values_and_nothing_else),
      cmocka_unit_test(infinity_spoils_values_and_nothing_else),
  };
  const char *group = argc > 1 ? argv[1] : "";
  if (strcmp(group, "ranks") == 0) return cmocka_run_group_tests(ranks, NULL, NULL);
  if (strcmp(group, "tables") == 0) return cmocka_run_group_tests(tables, NULL, NULL);
  if (strcmp(group, "epochs") == 0) return cmocka_run_group_tests(epochs, NULL, NULL);
  if (strcmp(group, "numbers") == 0) return cmocka_run_group_tests(numbers, NULL, NULL);
  fprintf(stderr, "usage: test_launches ranks|tables|epochs|numbers\n");
  return 2;
}
