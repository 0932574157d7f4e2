/* SPDX-License-Identifier: Apache-2.0 */
/* Launches whose polls wait in vain: they end within the budget, with a record, and strict mode has nothing to say of how they do but the
   race of docs/waits.md; a wait that is lost on that way is found. test_gives_up [SCHEDULES]: with it, every poll of every kind of kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_rig.h"
#include "mutate.h"
#include "support.h"

static const struct variant {
  const char *key, *region; /* whose pairs never come */
  struct ir_sizes sizes;
} variants[] = {
    {"tokens=17,tp=8,tuned=1", "xrdy", {17, 4096, 640, 128, true}},
    {"tokens=7,tp=8,tuned=1", "qkvp", {7, 4096, 640, 128, true}},
    {"tokens=7,tp=8,tuned=1", "qrdy", {7, 4096, 640, 128, true}},
    {"tokens=8,tp=8", "qkvp", {8, 4096, 640, 128, false}},
    {"tokens=17,tp=8", "xrdy", {17, 4096, 640, 128, false}},
    {"tokens=17,tp=8", "qkvp", {17, 4096, 640, 128, false}},
};
enum { VARIANTS = sizeof variants / sizeof *variants, SAMPLE = 1, BUDGET_US = 50 };

static const char lds_wait[] = "s.waitcnt(i32 49279)", no_wait[] = "s.waitcnt(i32 53119)"; /* lgkmcnt(0), lgkmcnt(15) */

static uint64_t schedules; /* 0: a sample under one */

static uint32_t waits_of(const char *ir) {
  uint32_t count = 0;
  for (const char *at = ir; (at = strstr(at, lds_wait)); at++) count++;
  return count;
}

/* No pair of the region ever has this launch's tag; `waits`: LDS is waited for before barriers. */
static void *withheld(const struct variant *v, bool waits, size_t *bytes) {
  char *ir = rig_ir(v->key);
  const struct edit edits[] = {{EDIT_DATA, IR_STORE, v->region, EVERY, EVERY, "sub <2 x i32> $, <i32 0, i32 2>", 0},
      {waits ? EDIT_NOTHING : EDIT_TEXT, IR_LOAD, lds_wait, 1, waits_of(ir), no_wait, lds_wait}, {.what = EDIT_NOTHING}};
  char *changed = mutated(ir, &v->sizes, edits);
  void *object = rig_compile(v->key, changed, bytes);
  free(ir);
  free(changed);
  return object;
}

static void check(const struct variant *v, uint64_t count) {
  size_t bytes;
  void *object = withheld(v, true, &bytes);
  struct rig r;
  rig_open_within(&r, v->key, object, bytes, BUDGET_US);
  for (uint64_t schedule = 0; schedule < count; schedule++) {
    struct shown shown;
    rig_launch(&r, schedule, &shown);
    assert_int_equal(shown.code, RUN_FAULT);
    assert_non_null(strstr(shown.error, "waited longer than the budget"));
    if (shown.findings.count)
      fail_msg("%s without %s, schedule %u: %s", v->key, v->region, (unsigned)schedule, shown.findings.finding[0].text);
    shown_free(&shown);
    r.broken = false; /* the next launch is as good as the first */
  }
  rig_close(&r);
  free(object);
}

static void nothing_is_found_in_a_launch_that_gives_up(void **state) {
  (void)state;
  for (uint32_t i = 0; i < (schedules ? VARIANTS : SAMPLE); i++) check(&variants[i], schedules ? schedules : 1);
}

/* The marks of the waves that gave up may then not be there behind the poll's barrier. */
static void a_lost_wait_before_the_barrier_behind_a_poll_is_found(void **state) {
  (void)state;
  size_t bytes;
  void *object = withheld(&variants[1], false, &bytes);
  struct rig r;
  struct shown shown;
  bool found = false;
  rig_open_within(&r, variants[1].key, object, bytes, BUDGET_US);
  rig_launch(&r, 0, &shown);
  for (size_t i = 0; i < shown.findings.count; i++) {
    const struct strict_finding *f = &shown.findings.finding[i];
    found = found || (f->found.kind == HSA_EMU_LDS_RACE && f->found.address - r.plan.lds.stop < 8 && strstr(f->text, "reads LDS bytes"));
  }
  assert_true(found);
  shown_free(&shown);
  rig_close(&r);
  free(object);
}

int main(int argc, char **argv) {
  if (argc > 1) schedules = strtoull(argv[1], NULL, 10);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_found_in_a_launch_that_gives_up),
      cmocka_unit_test(a_lost_wait_before_the_barrier_behind_a_poll_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
