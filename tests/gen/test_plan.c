/* SPDX-License-Identifier: Apache-2.0 */
/* The plan's arithmetic against figures worked by hand in the design (sections 2 to 5). */
#include "info.h"
#include "plan.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct plan planned(const char *text) {
  struct front_key key;
  struct plan plan = {0};
  char error[KEY_ERROR_MAX] = "";
  if (!key_parse(text, &key, error) || !plan_make(&key, &target_gfx950, &plan, error)) fail_msg("%s: %s", text, error);
  return plan;
}

static void test_lds(void **state) {
  (void)state;
  static const struct {
    const char *key;
    uint32_t bytes;
  } rows[] = {
      {"tokens=16,tp=1", 102976},
      {"tokens=48,tp=2", 102976},
      {"tokens=17,tp=4", 86592},
      {"tokens=16,tp=8", 78400},
      /* One row: 1280 + 16, 160 + 16, 2560 + 16, 320 + 16 = 4384 B; red 8,192 B a task and 64 B. */
      {"tokens=1,tp=8", 8192 + 64 + 4384},
      {"tokens=15,tp=4", 16384 + 64 + 15 * 4384},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_int_equal(planned(rows[i].key).lds.bytes, rows[i].bytes);
}

static void test_lds_parts(void **state) {
  (void)state;
  struct lds_layout l = planned("tokens=16,tp=4").lds;
  assert_int_equal(l.rows, 16);
  assert_int_equal(l.red, 0);
  assert_int_equal(l.red_words, 16384);
  assert_int_equal(l.qx_rows, 16448);
  assert_int_equal(l.qx_codes, 16448 + 16 * 1296);
  assert_int_equal(l.x_rows, 16448 + 16 * (1296 + 176));
  assert_int_equal(l.x_codes, 16448 + 16 * (1296 + 176 + 2576));
  const uint32_t strides[] = {l.qx_row_bytes, l.qx_code_row_bytes, l.x_row_bytes, l.x_code_row_bytes};
  for (int i = 0; i < 4; i++) assert_int_equal(strides[i] % 128, i == 1 ? 48 : i == 3 ? 80 : 16); /* 16 rows do not share banks */
}

static void test_scratch(void **state) {
  (void)state;
  static const struct {
    int tokens;
    uint32_t untuned, tuned;
  } rows[] = {{1, 36864, 38400}, {8, 287744, 289280}, {16, 574720, 577280}, {48, 1723392, 1731328}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[64];
    snprintf(text, sizeof text, "tokens=%d,tuned=0", rows[i].tokens);
    assert_int_equal(planned(text).scratch.bytes, rows[i].untuned);
    snprintf(text, sizeof text, "tokens=%d,tuned=1", rows[i].tokens);
    assert_int_equal(planned(text).scratch.bytes, rows[i].tuned);
  }
}

static void test_scratch_regions(void **state) {
  (void)state;
  static const char *const names[] = {"x8", "x8s", "xrdy", "qkvp", "qx8", "qx8s", "qrdy", "done"};
  for (int tokens = 1; tokens <= TOKENS_MAX; tokens++)
    for (int tuned = 0; tuned <= 1; tuned++) {
      struct scratch_layout l = scratch_layout((uint32_t)tokens, tuned);
      uint32_t at = 0;
      for (int r = 0; r < SCRATCH_REGIONS; r++) {
        assert_string_equal(l.region[r].name, names[r]);
        assert_int_equal(l.region[r].offset, at);
        assert_int_equal(at % 256, 0);
        at = (at + l.region[r].bytes + 255) / 256 * 256;
      }
      assert_int_equal(l.bytes, at);
      /* The halves of x8s are on separate lines, or a line would be read before its second half's flag. */
      assert_int_equal(l.region[SCRATCH_x8s].bytes, 2 * ((tokens * 320 + 127) / 128 * 128));
      assert_int_equal(l.region[SCRATCH_qkvp].bytes, 2 * tokens * 1792 * 8);
    }
}

static void test_kt_width(void **state) {
  (void)state;
  static const struct {
    const char *key;
    uint32_t keys;
  } rows[] = {{"tokens=1,ratio=2,window=128", 640}, {"tokens=1,ratio=0,window=128", 640}, {"tokens=1,ratio=1,window=1", 640},
      {"tokens=1,ratio=2,window=129", 768}, {"tokens=1,ratio=0,window=640", 640}, {"tokens=1,ratio=0,window=641", 768},
      {"tokens=1,ratio=128,window=4096", 4608}, {"tokens=1,ratio=0,window=4096", 4096}, {"tokens=1,ratio=2,window=1000", 1536},
      {"tokens=1,ratio=2,window=256", 768}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_int_equal(planned(rows[i].key).keys, rows[i].keys);
}

static void test_tiles(void **state) {
  (void)state;
  static const struct {
    const char *key;
    uint32_t tiles, last;
  } rows[] = {
      {"tokens=1", 1, 1}, {"tokens=16", 1, 16}, {"tokens=17", 2, 1}, {"tokens=32", 2, 16}, {"tokens=33", 3, 1}, {"tokens=48", 3, 16}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct plan p = planned(rows[i].key);
    uint32_t next = 0;
    assert_int_equal(p.tiles, rows[i].tiles);
    for (uint32_t t = 0; t < p.tiles; t++) {
      assert_int_equal(p.tile[t].first, next);
      next += p.tile[t].count;
    }
    assert_int_equal(next, p.tokens);
    assert_int_equal(p.tile[p.tiles - 1].count, rows[i].last);
  }
}

static void test_tasks(void **state) {
  (void)state;
  static const struct {
    const char *key;
    uint32_t q_rows, tasks, rounds, round_tasks;
  } rows[] = {{"tokens=1,tp=1", 32768, 8, 2, 4}, {"tokens=1,tp=2", 16384, 4, 1, 4}, {"tokens=1,tp=4", 8192, 2, 1, 2},
      {"tokens=1,tp=8", 4096, 1, 1, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct plan p = planned(rows[i].key);
    assert_int_equal(p.q_rows, rows[i].q_rows);
    assert_int_equal(p.tasks, rows[i].tasks);
    assert_int_equal(p.rounds, rows[i].rounds);
    assert_int_equal(p.round_tasks, rows[i].round_tasks);
  }
}

static void test_schedule(void **state) {
  (void)state;
  struct plan small = planned("tokens=16"), large = planned("tokens=17"), tuned = planned("tokens=48,tuned=1");
  assert_true(small.quantise_in_workgroup && !small.xq);
  assert_int_equal(small.xq_rounds, 0);
  assert_int_equal(small.kt_rounds, 1);
  assert_int_equal(small.copies, 1);
  assert_int_equal(small.first_qkv_workgroup, 0);
  assert_true(!large.quantise_in_workgroup && large.xq);
  assert_int_equal(large.xq_units, 34);
  assert_int_equal(large.xq_rounds, 2);
  assert_int_equal(tuned.xq_units, 96);
  assert_int_equal(tuned.xq_rounds, 3);
  assert_int_equal(tuned.kt_rounds, 2);
  assert_int_equal(tuned.copies, 8);
  assert_int_equal(tuned.xrdy_stride, 96);
  assert_int_equal(tuned.qrdy_stride, 48);
  assert_int_equal(tuned.first_qkv_workgroup, 224);
  assert_int_equal(planned("tokens=1,tuned=1").xrdy_stride, 16); /* a copy starts a 128-byte line */
  assert_int_equal(planned("tokens=17,tuned=1").qrdy_stride, 32);
}

/* Section 3's table, with the offsets that natural alignment gives. */
static const struct {
  const char *name;
  uint32_t offset, bytes, size; /* size for tokens=8,tp=4,ratio=2,window=128 */
} arguments[] = {
    {"x", 0, 8, 0},
    {"wqkv", 8, 8, 1792 * 5120},
    {"wqkv_s", 16, 8, 56 * 160},
    {"wqb", 24, 8, 8192 * 1280},
    {"wqb_s", 32, 8, 256 * 40},
    {"scratch", 40, 8, 287744},
    {"epoch", 48, 8, 4},
    {"x_stride", 56, 4, 0},
    {"bt_stride", 60, 4, 0},
    {"pos", 64, 8, 64},
    {"slot", 72, 8, 64},
    {"swa_idx", 80, 8, 8 * 128 * 4},
    {"swa_lens", 88, 8, 32},
    {"topk", 96, 8, 8 * 512 * 4},
    {"t2r", 104, 8, 32},
    {"comp_bt", 112, 8, 0},
    {"cos_sin", 120, 8, 0},
    {"qn_w", 128, 8, 2560},
    {"kvn_w", 136, 8, 1024},
    {"swa", 144, 8, 0},
    {"swa_stride", 152, 8, 0},
    {"swa_block", 160, 4, 0},
    {"comp_block", 164, 4, 0},
    {"q", 168, 8, 8 * 8192 * 2},
    {"kt", 176, 8, 8 * 640 * 4},
    {"klen", 184, 8, 64},
    {"qr_out", 192, 8, 8 * 1280 * 2},
    {"tl", 200, 8, 256 * 6 * 8},
    {"guard", 208, 8, 128},
};

static void test_arguments(void **state) {
  (void)state;
  struct plan p = planned("tokens=8");
  assert_int_equal(FRONT_ARGS, sizeof arguments / sizeof *arguments);
  for (int a = 0; a < FRONT_ARGS; a++) {
    assert_string_equal(p.arg[a].name, arguments[a].name);
    assert_int_equal(p.arg[a].offset, arguments[a].offset);
    assert_int_equal(p.arg[a].bytes, arguments[a].bytes);
    assert_int_equal(p.arg[a].size, arguments[a].size);
  }
}

static void test_every_key_plans(void **state) {
  (void)state;
  struct front_key *keys;
  size_t count;
  char error[KEY_ERROR_MAX] = "";
  struct plan p;
  assert_true(key_expand("tokens=1-48,tp=1|2|4|8,tuned=0|1,ratio=0|1|2|3|7|128,window=1|128|129|4096", &keys, &count, error));
  for (size_t i = 0; i < count; i++) {
    if (!plan_make(&keys[i], &target_gfx950, &p, error)) fail_msg("%s", error);
    assert_in_range(p.lds.bytes, 1, 102976);
    assert_int_equal(p.rounds * p.round_tasks, p.tasks);
  }
  free(keys);
}

static void test_refusals(void **state) {
  (void)state;
  struct front_key key = {.tokens = 8, .tp = 4, .ratio = 2, .window = 128};
  struct plan p;
  char error[KEY_ERROR_MAX] = "";
  struct target tight = target_gfx950;
  tight.lds_bytes = 50000;
  assert_false(plan_make(&key, &tight, &p, error));
  assert_non_null(strstr(error, "51520 bytes of LDS"));
  assert_non_null(strstr(error, "50000"));
  key.tokens = 49;
  assert_false(plan_make(&key, &target_gfx950, &p, error));
  assert_non_null(strstr(error, "tokens=49"));
  assert_null(target_by_name("gfx942"));
  assert_null(target_by_name("gfx950:xnack-"));
  assert_ptr_equal(target_by_name("gfx950"), &target_gfx950);
}

static void test_bytes_moved(void **state) {
  (void)state;
  struct plan p = planned("tokens=8");
  struct info_bytes b = info_bytes(&p);
  assert_int_equal(b.weights, 1792 * 5120 + 56 * 160 + 8192 * 1280 + 256 * 40 + 2560 + 1024);
  assert_int_equal(b.inputs, 8 * (10240 + 256) + 64 + 64 + 8 * 128 * 4 + 32 + 8 * 512 * 4 + 32);
  assert_int_equal(b.outputs, 8 * 8192 * 2 + 8 * 640 * 4 + 64 + 8 * 584);
  assert_int_equal(b.scratch, 2 * (2 * 8 * 1792 * 8 + 8 * 1280 + 8 * 160 + 8 * 8 + 4)); /* x8, x8s, xrdy are not touched at S <= 16 */
  assert_int_equal(b.total, b.weights + b.inputs + b.outputs + b.scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      {"LDS is what the design says, or two workgroups could share a CU", test_lds, NULL, NULL, NULL},
      {"the parts of LDS follow one another, padded against bank conflicts", test_lds_parts, NULL, NULL, NULL},
      {"a scratch is as large as the design says", test_scratch, NULL, NULL, NULL},
      {"scratch regions are in order, aligned, and do not overlap", test_scratch_regions, NULL, NULL, NULL},
      {"a kt row has room for every key", test_kt_width, NULL, NULL, NULL},
      {"token tiles cover every token once", test_tiles, NULL, NULL, NULL},
      {"wq_b's tasks and rounds cover every query row", test_tasks, NULL, NULL, NULL},
      {"the schedule's counts are the design's", test_schedule, NULL, NULL, NULL},
      {"arguments lie where the host will write them, and have the sizes it will allocate", test_arguments, NULL, NULL, NULL},
      {"every key of the benchmark's set has a plan", test_every_key_plans, NULL, NULL, NULL},
      {"what a target cannot have is refused with both numbers", test_refusals, NULL, NULL, NULL},
      {"info's bytes moved are the sums of the arrays' sizes", test_bytes_moved, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
