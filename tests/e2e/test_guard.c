/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in which one pair never comes: they end, say which, have written nothing wrong, and the next one is good. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontgen.h"
#include "launched.h"
#include "mutate.h"
#include "session.h"
#include "support.h"

enum { BUDGET_US = 1000, BUDGET_TICKS = 100 * BUDGET_US, FIRST_EPOCH = 70, LAUNCHES = 3, BROKEN = 1 };

/* The pair that is withheld: its index, in every copy of the region (copies: how many pairs apart). */
struct lost {
  const char *name, *key;
  struct ir_sizes sizes;
  const char *region;
  uint32_t stage; /* as the record counts: 1 xrdy, 2 qkvp, 3 qrdy */
  uint32_t pair, apart;
};

enum { NO_COPIES = 0x7fffffff };

#define SMALL                                                                                                                              \
  "tokens=8,tp=8", { 8, 4096, 640, 128, false }
#define SMALL_TUNED                                                                                                                        \
  "tokens=7,tp=4,ratio=1,tuned=1", { 7, 8192, 640, 128, true }
#define LARGE                                                                                                                              \
  "tokens=20,tp=8", { 20, 4096, 640, 128, false }
#define LARGE_TUNED                                                                                                                        \
  "tokens=18,tp=8,tuned=1", { 18, 4096, 640, 128, true }

/* Flags lie in copies of whole 128-byte lines, tuned; qkvp's pair is (half S + token) 1792 + row. */
static const struct lost lost[] = {
    {"a row's flag, untuned", LARGE, "xrdy", 1, 2 * 3 + 1, NO_COPIES},
    {"a row's flag, tuned", LARGE_TUNED, "xrdy", 1, 2 * 17, 48},
    {"a partial sum, one tile", SMALL, "qkvp", 2, (8 + 5) * 1792 + 77, NO_COPIES},
    {"a partial sum of kv, one tile, tuned", SMALL_TUNED, "qkvp", 2, 6 * 1792 + 1791, NO_COPIES},
    {"a partial sum of the second batch, two tiles", LARGE, "qkvp", 2, (20 + 19) * 1792 + 1300, NO_COPIES},
    {"a partial sum, two tiles, tuned", LARGE_TUNED, "qkvp", 2, 4 * 1792, NO_COPIES},
    {"a query row's flag, one tile", SMALL, "qrdy", 3, 7, NO_COPIES},
    {"a query row's flag, one tile, tuned", SMALL_TUNED, "qrdy", 3, 0, 16},
    {"a query row's flag, two tiles", LARGE, "qrdy", 3, 0, NO_COPIES},
    {"a query row's flag, two tiles, tuned", LARGE_TUNED, "qrdy", 3, 17, 32},
};
enum { LOST = sizeof lost / sizeof *lost };

static uint32_t tag_of(uint32_t number) { return 2 * (FIRST_EPOCH + number) + 1; }

static char *append(char *module, const char *text) {
  char *both = malloc(strlen(module) + strlen(text) + 1);
  assert_non_null(both);
  strcat(strcpy(both, module), text);
  free(module);
  return both;
}

/* The kernel, that in the launch with the broken one's tag stores the pair out of its buffer's range, where it is dropped. */
static char *withhold(const char *module, const struct lost *l) {
  char code[128], helper[512];
  const char *tag = strstr(module, "%tag.");
  assert_non_null(tag);
  snprintf(code, sizeof code, "call i32 @withheld(i32 $, i32 %.*s)", (int)strcspn(tag, " "), tag);
  const struct edit edits[] = {{EDIT_OFFSET, IR_STORE, l->region, EVERY, EVERY, code, 0}, {.what = EDIT_NOTHING}};
  snprintf(helper, sizeof helper,
      "\ndefine internal i32 @withheld(i32 %%at, i32 %%tag) alwaysinline {\n  %%pair = lshr i32 %%at, 3\n  %%in = urem i32 %%pair, %u\n"
      "  %%this = icmp eq i32 %%in, %u\n  %%now = icmp eq i32 %%tag, %u\n  %%both = and i1 %%this, %%now\n"
      "  %%to = select i1 %%both, i32 -256, i32 %%at\n  ret i32 %%to\n}\n",
      l->apart, l->pair, tag_of(BROKEN));
  return append(mutated(module, &l->sizes, edits), helper);
}

static void *build(const struct plan *plan, const struct lost *l, size_t *bytes) {
  const struct frontgen_options options = {.no_gates = true};
  char error[FRONTGEN_ERROR_MAX], *text;
  size_t length;
  void *object;
  if (frontgen_emit(plan, &text, &length, error)) fail_msg("%s", error);
  if (l) {
    char *changed = withhold(text, l);
    free(text);
    text = changed;
  }
  if (frontgen_compile_ir(text, strlen(text), plan, &options, &object, bytes, error)) fail_msg("%s", error);
  free(text);
  return object;
}

static void make_inputs(const struct plan *plan, uint32_t number, struct inputs *in) {
  const struct input_options options = {.seed = 1 + number};
  char error[INPUT_ERROR_MAX];
  if (!inputs_make(plan, &options, in, error)) fail_msg("%s", error);
}

struct ran {
  struct inputs in[LAUNCHES];
  struct launch launch[LAUNCHES];
  enum run_code code[LAUNCHES];
  char error[LAUNCHES][RUN_ERROR_MAX];
};

/* Three launches of one instance. */
static struct ran *run_all(const struct plan *plan, const struct lost *l) {
  struct ran *r = calloc(1, sizeof *r);
  struct session session;
  struct session_options how = {.device = DEVICE_EMULATOR, .arch = "gfx950", .first_epoch = FIRST_EPOCH, .guard_us = BUDGET_US};
  const struct launch_options options = {.timeout_ns = UINT64_C(100000000000)};
  char error[RUN_ERROR_MAX];
  void *object = build(plan, l, &how.object_bytes);
  how.object = object;
  assert_non_null(r);
  if (session_open(&how, &session, error)) fail_msg("%s", error);
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    make_inputs(plan, i, &r->in[i]);
    r->code[i] = session_launch(&session, plan, &r->in[i], &options, &r->launch[i], r->error[i]);
  }
  session_close(&session);
  free(object);
  return r;
}

static void free_ran(struct ran *r) {
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    inputs_free(&r->in[i]);
    launch_free(&r->launch[i]);
  }
  free(r);
}

/* Bytes that are neither as before nor as a good launch leaves them. */
static void assert_right_or_untouched(
    const char *name, const char *what, const uint8_t *before, const uint8_t *good, const uint8_t *left, uint64_t bytes, bool may_lack) {
  for (uint64_t i = 0; i < bytes; i++)
    if (left[i] != good[i] && (!may_lack || left[i] != before[i]))
      fail_msg("%s: byte %llu of %s is %02x: before it was %02x, a good launch leaves %02x", name, (unsigned long long)i, what, left[i],
          before[i], good[i]);
}

static void assert_outputs(const char *name, const struct inputs *in, const struct inputs *good, bool may_lack) {
  static const struct {
    enum front_arg arg;
    const char *name;
  } outputs[] = {{ARG_q, "q"}, {ARG_kt, "kt"}, {ARG_klen, "klen"}};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    enum front_arg arg = outputs[i].arg;
    assert_right_or_untouched(name, outputs[i].name, in->data[arg], good->left[arg], in->left[arg], in->bytes[arg], may_lack);
  }
  for (size_t i = 0; i < in->blocks; i++)
    assert_right_or_untouched(
        name, "the cache", in->block[i].before, good->block[i].after, in->block[i].after, (uint64_t)in->swa_stride, may_lack);
}

/* The line's numbers against the scratch that the launch left. */
static void assert_record(const struct lost *l, const struct plan *plan, const struct ran *r) {
  static const enum scratch_region regions[] = {SCRATCH_xrdy, SCRATCH_xrdy, SCRATCH_qkvp, SCRATCH_qrdy};
  static const char *const names[] = {"", "xrdy", "qkvp", "qrdy"};
  const char *line = r->error[BROKEN], *at = strstr(line, ": workgroup ");
  unsigned workgroup, wave, pair, seen, wanted, stage = 1;
  char word[16];
  if (!at || sscanf(at, ": workgroup %u, wave %u waited longer than the budget in stage %15s", &workgroup, &wave, word) != 3)
    fail_msg("%s: %s", l->name, line);
  while (stage < 3 && strcmp(word, names[stage]) != 0) stage++;
  at = strstr(at, "): pair ");
  if (!at || sscanf(at, "): pair %u has tag %u, tag %u was wanted", &pair, &seen, &wanted) != 3) fail_msg("%s: %s", l->name, line);
  const uint8_t *region = r->launch[BROKEN].scratch + plan->scratch.region[regions[stage]].offset;
  uint32_t tag;
  memcpy(&tag, region + 8 * (size_t)pair + 4, 4);
  assert_int_equal(wanted, tag_of(BROKEN));
  assert_int_equal(seen, tag);
  assert_int_equal(tag, tag_of(BROKEN - 1)); /* no launch since has put it */
  assert_true(workgroup < 256 && wave < 8 && stage >= l->stage);
  if (stage != l->stage) return; /* one that waits for those who wait */
  assert_int_equal(pair % l->apart, l->pair);
  uint32_t token = pair / 1792 % plan->tokens;
  if (stage == 1) assert_int_equal(workgroup / 112 % 2, l->pair % 2);
  if (stage == 2) assert_int_equal(workgroup, (plan->tuned ? 224 + token : token) % 256);
  if (stage != 2 && plan->tuned) assert_int_equal(pair / l->apart, workgroup % 8);
}

static void check(const struct lost *l, const struct plan *plan, const struct ran *r, const struct ran *good) {
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    if (good->code[i]) fail_msg("%s: unchanged: %s", l->name, good->error[i]);
    if (i != BROKEN && r->code[i]) fail_msg("%s: launch %u: %s", l->name, i, r->error[i]);
    assert_outputs(l->name, &r->in[i], &good->in[i], i == BROKEN);
    assert_int_equal(r->launch[i].epoch_after, FIRST_EPOCH + i + 1);
  }
  assert_int_equal(r->code[BROKEN], RUN_FAULT);
  assert_record(l, plan, r);
  uint64_t ticks = r->launch[BROKEN].counters.model_ticks;
  if (ticks < BUDGET_TICKS || ticks > 2 * BUDGET_TICKS) fail_msg("%s: ended after %llu ticks", l->name, (unsigned long long)ticks);
}

static uint32_t part, parts = 1;

static void a_launch_without_a_flag_ends_says_which_and_harms_nothing(void **state) {
  (void)state;
  for (uint32_t i = part; i < LOST; i += parts) {
    struct plan plan;
    char error[FRONTGEN_ERROR_MAX];
    if (frontgen_plan(lost[i].key, "gfx950", &plan, error)) fail_msg("%s", error);
    struct ran *good = run_all(&plan, NULL), *broken = run_all(&plan, &lost[i]);
    check(&lost[i], &plan, broken, good);
    free_ran(good);
    free_ran(broken);
  }
}

static void frontrun_exits_with_4_and_that_line(void **state) {
  (void)state;
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], epoch[16];
  size_t bytes;
  const char *path = path_in(temp_dir(), "withheld.hsaco");
  if (frontgen_plan(lost[2].key, "gfx950", &plan, error)) fail_msg("%s", error);
  void *object = build(&plan, &lost[2], &bytes);
  write_file(path, object, bytes);
  free(object);
  snprintf(epoch, sizeof epoch, "%u", FIRST_EPOCH + BROKEN);
  struct launched l = launch(path, (const char *const[]){"--no-traffic", "--epoch", epoch, NULL});
  assert_int_equal(l.code, 4);
  if (!strstr(l.error, "frontrun: front_s8_tp8_r2_w128_t0: workgroup ") || !strstr(l.error, "waited longer than the budget in stage q"))
    fail_msg("%s", l.error);
  launched_free(&l);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    part = (uint32_t)strtoul(argv[1], NULL, 10);
    parts = (uint32_t)strtoul(argv[2], NULL, 10);
  }
  setenv("FRONT_EMU_THREADS", "1", 1);
  setenv("FRONT_EMU_LIBRARY", built_path("emulator/libhsa-emu.so"), 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_launch_without_a_flag_ends_says_which_and_harms_nothing),
      cmocka_unit_test(frontrun_exits_with_4_and_that_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
