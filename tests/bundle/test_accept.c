/* SPDX-License-Identifier: Apache-2.0 */
/* frontrun --accept: its report, and a planted fault for each fact that it asks the hardware about. */
#include "accept_judge.h"
#include "support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRONTRUN built_path("frontrun/frontrun")

/* A fault a micro-kernel: what stands in its IR, and what a machine that is not as the design thinks would make of it. */
static const struct {
  const char *fact, *from, *to;
} faults[ACCEPT_FACTS] = {
    {"scaled MFMA", "i32 0, i32 0, i32 0, i32 %sa, i32 0, i32 %sb", "i32 0, i32 0, i32 1, i32 %sa, i32 0, i32 %sb"}, /* another byte */
    {"fp8 conversion", "%bits = shl i32 %i, 15", "%shift = shl i32 %i, 15\n  %bits = and i32 %shift, -524289"},      /* ties are cut off */
    {"rsq", "%result = bitcast float %r to i32", "%exact = bitcast float %r to i32\n  %result = add i32 %exact, 2"},
    {"XCD of a workgroup", "%id = call i32 @llvm.amdgcn.s.getreg(i32 6164)", "%id = lshr i32 %bid, 5"}, /* in runs, not in turn */
    {"clock", "store i64 %now, ptr", "store i64 %begin, ptr"},                                          /* it stands still */
    {"published data", "i32 %value.to, i32 0, i32 16)\n  call void @llvm.amdgcn.sched",
        "i32 %value.to, i32 0, i32 0)\n  call void @llvm.amdgcn.sched"}, /* a store that stays in its XCD's L2 */
    {"pairs", "poison, i32 %value, i32 0", "poison, i32 0, i32 0"},      /* the tag without its value */
};

static json_t *fact_of(json_t *root, const char *name) {
  json_t *facts = json_object_get(root, "facts");
  for (size_t i = 0; i < json_array_size(facts); i++)
    if (strcmp(json_string_value(json_object_get(json_array_get(facts, i), "fact")), name) == 0) return json_array_get(facts, i);
  fail_msg("no fact \"%s\" in the report", name);
}

static json_t *accept(const char *bundle, const char *micro, int code, struct outcome *o) {
  json_error_t why;
  const char *report = path_in(temp_dir(), "report.json");
  const char *argv[] = {FRONTRUN, "--accept", bundle, "--device", "emulator", "--report", report, micro ? "--micro" : NULL, micro, NULL};
  /* Strict: stores are as late as they may be, and caches as stale. */
  *o = run_argv(argv, &(struct run_options){.env = (const char *const[]){micro ? "FRONT_EMU_STRICT=1" : "FRONT_UNUSED", NULL}});
  assert_code(o, code);
  json_t *root = json_load_file(report, 0, &why);
  if (!root) fail_msg("the report: %s", why.text);
  return root;
}

static const char *one_kernel(void) {
  const char *dir = temp_dir();
  struct outcome o = run(built_path("gen/frontgen"), "build", "tokens=1,tp=8,ratio=0", "-o", dir);
  assert_code(&o, 0);
  outcome_free(&o);
  return path_in(dir, "front_s1_tp8_r0_w128_t0.gfx950.hsaco");
}

static void test_report_says_what_the_emulator_cannot_answer(void **state) {
  (void)state;
  struct outcome o;
  const char *kernel = strdup(one_kernel());
  json_t *root = accept(kernel, NULL, 0, &o);
  assert_true(json_is_true(json_object_get(root, "good")));
  assert_string_equal(json_string_value(json_object_get(root, "answered_by")), "emulator");
  assert_non_null(strstr(o.out, "only the hardware can answer"));
  for (size_t i = 0; i < ACCEPT_FACTS; i++) {
    json_t *fact = fact_of(root, faults[i].fact);
    assert_true(json_is_true(json_object_get(fact, "good")));
    assert_true(json_is_false(json_object_get(fact, "hardware")));
    assert_true(json_integer_value(json_object_get(fact, "examined")) > 0);
  }
  json_t *kernels = json_object_get(root, "kernels"), *first = json_array_get(kernels, 0);
  assert_int_equal(json_array_size(kernels), 1);
  assert_true(json_is_true(json_object_get(first, "good")));
  assert_non_null(json_object_get(json_object_get(first, "run"), "launches"));
  json_decref(root);
  outcome_free(&o);
  free((void *)(uintptr_t)kernel);
}

/* All faults at once: each fact is one micro-kernel's. */
static void test_every_fact_has_been_seen_wrong(void **state) {
  (void)state;
  char *ir = read_file(source_path("frontrun/accept_kernels.ll"), NULL);
  for (size_t i = 0; i < ACCEPT_FACTS; i++) {
    char *at = strstr(ir, faults[i].from);
    if (!at) fail_msg("the micro-kernels have no \"%s\"", faults[i].from);
    size_t head = (size_t)(at - ir), to = strlen(faults[i].to), from = strlen(faults[i].from);
    char *changed = malloc(strlen(ir) + to + 1);
    assert_non_null(changed);
    memcpy(changed, ir, head);
    memcpy(changed + head, faults[i].to, to);
    strcpy(changed + head + to, at + from);
    free(ir);
    ir = changed;
  }
  size_t bytes;
  void *object = ir_to_code_object(ir, "gfx950", false, (const char *const[]){"-disable-machine-sink", NULL}, &bytes);
  const char *micro = strdup(path_in(temp_dir(), "micro.hsaco")), *nothing = strdup(path_in(temp_dir(), "nothing"));
  write_file(micro, object, bytes);
  struct outcome o;
  json_t *root = accept(nothing, micro, 2, &o); /* there is no bundle either */
  for (size_t i = 0; i < ACCEPT_FACTS; i++)
    if (!json_is_false(json_object_get(fact_of(root, faults[i].fact), "good"))) fail_msg("\"%s\" does not see its fault", faults[i].fact);
  assert_true(json_is_false(json_object_get(root, "good")));
  assert_non_null(strstr(o.err, "frontrun: scaled MFMA: ")); /* the first is the line */
  json_decref(root);
  outcome_free(&o);
  free(object);
  free(ir);
  free((void *)(uintptr_t)micro);
  free((void *)(uintptr_t)nothing);
}

/* What the emulator cannot show: a clock of another rate. */
static void test_a_clock_of_another_rate_is_wrong(void **state) {
  (void)state;
  struct accept_result r = {.hardware = true, .seconds_short = 0.0103, .out = calloc(1, ACCEPT_OUT_BYTES)};
  assert_non_null(r.out);
  accept_fill(4, 1, true, r.x);
  uint64_t begin = 12345, end = begin + 6000100;
  memcpy(r.out, &begin, 8);
  memcpy(r.out + 8, &end, 8);
  static const struct {
    double seconds;
    bool good;
  } cases[] = {{0.0603, true}, {0.0610, true}, {0.0655, false}, {0.0550, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct accept_fact found = {0};
    r.seconds = cases[i].seconds;
    accept_judge(4, &r, &found);
    assert_int_equal(found.good, cases[i].good);
    assert_non_null(strstr(found.detail, "MHz"));
  }
  free(r.out);
}

static void test_a_kernel_that_did_nothing_is_wrong(void **state) {
  (void)state;
  struct accept_result r = {.hardware = true, .seconds_short = 0.01, .seconds = 0.06, .out = calloc(1, ACCEPT_OUT_BYTES)};
  assert_non_null(r.out);
  for (unsigned fact = 0; fact < ACCEPT_FACTS; fact++) {
    struct accept_fact found = {0};
    accept_fill(fact, 1, true, r.x);
    accept_judge(fact, &r, &found);
    if (found.good) fail_msg("fact %u is good of a kernel that stored nothing", fact);
  }
  free(r.out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      {"the report says what the emulator cannot answer", test_report_says_what_the_emulator_cannot_answer, NULL, NULL, NULL},
      {"every fact has been seen wrong", test_every_fact_has_been_seen_wrong, NULL, NULL, NULL},
      {"a kernel that did nothing is wrong", test_a_kernel_that_did_nothing_is_wrong, NULL, NULL, NULL},
      {"a clock of another rate is wrong", test_a_clock_of_another_rate_is_wrong, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests_name("accept", tests, NULL, NULL);
}
