/* SPDX-License-Identifier: Apache-2.0 */
/* The generated kernel as it is: nothing is found under any schedule, and all give the same bytes. test_clean KEY SCHEDULES [FIRST]...:
   the last pair counts, so that `meson test --benchmark --test-args "250 1750"` runs a part of what the benchmark would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel_rig.h"
#include "support.h"

enum { TOLD_EVERY = 50 }; /* launches */

static const char *key;
static uint64_t schedules, first;

/* Outputs that a launch of these inputs has left, to compare the next one's with. */
static const enum front_arg outputs[] = {ARG_q, ARG_kt, ARG_klen};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

static void keep(const struct inputs *in, void *kept[OUTPUTS]) {
  for (size_t i = 0; i < OUTPUTS; i++) {
    kept[i] = malloc(in->bytes[outputs[i]]);
    assert_non_null(kept[i]);
    memcpy(kept[i], in->left[outputs[i]], in->bytes[outputs[i]]);
  }
}

static void assert_same(const struct inputs *in, void *const kept[OUTPUTS], uint64_t schedule) {
  for (size_t i = 0; i < OUTPUTS; i++)
    if (memcmp(kept[i], in->left[outputs[i]], in->bytes[outputs[i]]) != 0)
      fail_msg("%s, schedule %llu: output %zu is not as under the first schedule", key, (unsigned long long)schedule, i);
}

/* So that a run that was cut short says how far it came. */
static void tell(uint64_t done) {
  if (done != schedules && done % TOLD_EVERY) return;
  print_message("%s: %llu launches, schedules %llu to %llu: nothing found, equal bytes; %.1f s of CPU\n", key, (unsigned long long)done,
      (unsigned long long)first, (unsigned long long)(first + done - 1), (double)clock() / CLOCKS_PER_SEC);
}

static void no_schedule_shows_anything_or_changes_a_byte(void **state) {
  (void)state;
  size_t bytes;
  char *ir = rig_ir(key);
  void *object = rig_compile(key, ir, &bytes), *kept[RIG_INPUTS][OUTPUTS] = {{0}};
  struct rig r;
  rig_open(&r, key, object, bytes);
  for (uint64_t i = 0; i < schedules; i++) {
    struct shown shown;
    const struct inputs *in = &r.in[r.launches % RIG_INPUTS];
    rig_launch(&r, first + i, &shown);
    if (shown.findings.count) fail_msg("%s, schedule %llu: %s", key, (unsigned long long)(first + i), shown.findings.finding[0].text);
    if (shown.code != RUN_GOOD) fail_msg("%s, schedule %llu: %s", key, (unsigned long long)(first + i), shown.error);
    if (i < RIG_INPUTS)
      keep(in, kept[i]);
    else
      assert_same(in, kept[i % RIG_INPUTS], first + i);
    shown_free(&shown);
    tell(i + 1);
  }
  for (uint32_t k = 0; k < RIG_INPUTS; k++)
    for (size_t i = 0; i < OUTPUTS; i++) free(kept[k][i]);
  rig_close(&r);
  free(object);
  free(ir);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  key = argv[1];
  for (int i = 2; i < argc; i += 2) {
    schedules = strtoull(argv[i], NULL, 10);
    first = i + 1 < argc ? strtoull(argv[i + 1], NULL, 10) : 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_schedule_shows_anything_or_changes_a_byte)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
