/* SPDX-License-Identifier: Apache-2.0 */
/* What the comparison lets pass and what it refuses to judge; planted faults are in test_compare_faults.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "synthetic.h"

static struct compare_result result;

static const struct compare_row *row_of(const char *stage) {
  for (size_t i = 0; i < result.rows; i++)
    if (strcmp(result.row[i].stage, stage) == 0) return &result.row[i];
  fail_msg("there is no row %s", stage);
  return NULL;
}

static void assert_good(struct synthetic *s) {
  if (synthetic_compare(s, &result) != COMPARE_GOOD) fail_msg("refused: %s", result.message);
  assert_int_equal(result.message[0], 0);
  for (size_t i = 0; i < result.rows; i++) assert_true(result.row[i].good);
}

static void assert_differs(struct synthetic *s, const char *stage) {
  assert_int_equal(synthetic_compare(s, &result), COMPARE_DIFFERS);
  assert_true(!row_of(stage)->good);
}

static void a_faultless_launch_passes_with_every_value_counted(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 17, .tp = 8, .ratio = 2, .window = 128}, 1, 5);
  assert_good(&s);
  assert_int_equal(result.rows, 8);
  assert_int_equal(row_of("xq")->values, 17 * (5120 + 160));
  assert_int_equal(row_of("kt")->values, 17 * (640 + 2));
  assert_int_equal(row_of("wqkv")->values, 2 * 17 * 1792);
  assert_int_equal(row_of("qkv")->values, 17 * (1280 + 40));
  assert_int_equal(row_of("kv")->values, 16 * (448 + 64 + 8)); /* one is a pad row */
  assert_int_equal(row_of("wqb")->values, 17 * 4096);
  assert_int_equal(row_of("flags")->values, 2 * 2 * 17 + 2 * 17 * 1792 + 2 * 17 + 2);
  for (size_t i = 0; i < result.rows; i++)
    if (strcmp(result.row[i].stage, "wqb") != 0) assert_int_equal(result.row[i].exact, result.row[i].values);
  assert_true(row_of("wqb")->exact > row_of("wqb")->values - 20); /* a second rounding may be seen */
  assert_true(row_of("wqkv")->has_worst && row_of("wqkv")->worst > 0 && row_of("wqkv")->worst < 0.1);
  assert_true(row_of("wqkv")->worst_at[0] && !row_of("kt")->has_worst);
  synthetic_free(&s);
}

static double moved_sums_worst(struct synthetic *s, double by) {
  synthetic_restore(s);
  double *panels = malloc(ref_panel_doubles(s->tokens, K_HALF) * sizeof *panels);
  uint8_t *x8 = malloc((size_t)s->tokens * HIDDEN), *codes = malloc((size_t)s->tokens * HIDDEN_GROUPS);
  assert_true(panels && x8 && codes);
  ref_xq(s->x, HIDDEN + 8, s->tokens, &s->fp8, x8, codes);
  const struct ref_rows rows = {x8 + K_HALF, codes + 80, HIDDEN, HIDDEN_GROUPS, s->tokens, K_HALF};
  ref_panels(&rows, &s->fp8, panels);
  for (uint32_t row = 7; row < QKV_ROWS; row += 100) {
    double sum[TOKENS_MAX], magnitude[TOKENS_MAX];
    ref_wqkv_row(s->wqkv, s->wqkv_s, 1, row, panels, s->tokens, sum, magnitude);
    *synthetic_partial(s, 1, 1, row) = (float)(sum[1] + by * 0x1p-20 * magnitude[1]);
  }
  free(codes);
  free(x8);
  free(panels);
  synthetic_qkv(s);
  synthetic_wqb(s);
  synthetic_compare(s, &result);
  return row_of("wqkv")->worst;
}

static void a_sum_may_be_off_by_its_tolerance_and_no_more(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 2, .tp = 8, .ratio = 2, .window = 128}, 2, 5);
  double worst = moved_sums_worst(&s, -0.9);
  assert_int_equal(result.verdict, COMPARE_GOOD);
  assert_true(worst > 0.85 && worst < 0.95);
  assert_true(row_of("wqkv")->exact < row_of("wqkv")->values);
  worst = moved_sums_worst(&s, 1.1);
  assert_int_equal(result.verdict, COMPARE_DIFFERS);
  assert_true(worst > 1.05 && worst < 1.15);
  assert_int_equal(row_of("wqkv")->wrong, 18);
  assert_non_null(strstr(result.message, "wqkv: half 1 token 1 row 7:"));
  assert_true(row_of("qkv")->good && row_of("wqb")->good);
  s.options.hardware = true; /* 8 times the tolerance */
  worst = moved_sums_worst(&s, 1.1);
  assert_int_equal(result.verdict, COMPARE_GOOD);
  assert_true(worst > 0.1 && worst < 0.2);
  synthetic_free(&s);
}

/* Another NaN of the same type in place of each: as AMD's and x86's differ. */
static void change_nans(struct synthetic *s) {
  for (uint32_t i = 0; i < 2 * s->tokens * QKV_ROWS; i++) {
    uint32_t *v = (uint32_t *)(void *)(synthetic_region(s, SCRATCH_qkvp) + 8 * (size_t)i);
    if ((*v & 0x7fffffff) > 0x7f800000) *v = (*v ^ 0x80000000) | 0x1234;
  }
  for (uint32_t i = 0; i < s->tokens * Q_RANK; i++)
    if ((synthetic_region(s, SCRATCH_qx8)[i] & 0x7f) == 0x7f) synthetic_region(s, SCRATCH_qx8)[i] ^= 0x80;
  for (size_t i = 0; i < (size_t)s->tokens * s->q_rows; i++)
    if ((s->now.q[i] & 0x7fff) > 0x7f80) s->now.q[i] ^= 0x8001;
}

static void any_nan_stands_for_a_nan_and_nothing_else_does(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 3, .tp = 8, .ratio = 2, .window = 128}, 4, 5);
  s.x[(HIDDEN + 8) + 4000] = 0x7fc0; /* token 1, half 1 */
  s.x[17] = 0xff80;                  /* token 0, half 0: an infinity */
  synthetic_launch(&s);
  assert_true(isnan(*synthetic_partial(&s, 1, 1, 5)) && !isnan(*synthetic_partial(&s, 0, 1, 5)));
  assert_true(isnan(*synthetic_partial(&s, 0, 0, 5)) && !isnan(*synthetic_partial(&s, 0, 2, 5)));
  change_nans(&s);
  assert_good(&s);
  *synthetic_partial(&s, 1, 1, 5) = 0.0f;
  assert_differs(&s, "wqkv");
  synthetic_restore(&s);
  s.now.q[s.q_rows + 40] = 0x3f80; /* where a NaN belongs */
  assert_differs(&s, "wqb");
  synthetic_restore(&s);
  s.now.q[s.q_rows + 460] = 0x3f80;
  assert_differs(&s, "wqb");
  synthetic_restore(&s);
  s.now.q[2 * s.q_rows + 40] = 0x7fc0; /* a NaN where none belongs */
  assert_differs(&s, "wqb");
  synthetic_restore(&s);
  s.now.q[2 * s.q_rows + 460] = 0x7fc0;
  assert_differs(&s, "wqb");
  synthetic_free(&s);
}

static void sums_beyond_f32_may_overflow(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 2, .tp = 8, .ratio = 0, .window = 1}, 5, 0xffffffff);
  for (uint32_t i = 0; i < HIDDEN; i++) s.x[i] = 0x7f7f;
  memset(s.wqkv_s, 130, QKV_ROWS / 32 * HIDDEN_GROUPS);
  synthetic_launch(&s);
  assert_int_equal(s.now.epoch, 0);
  assert_good(&s);
  assert_true(!isfinite(*synthetic_partial(&s, 0, 0, 3)));
  *synthetic_partial(&s, 0, 0, 3) = NAN; /* infinity less infinity, in another order of summation */
  synthetic_qkv(&s);
  synthetic_wqb(&s);
  assert_good(&s);
  *synthetic_partial(&s, 0, 0, 3) = 1.0f;
  synthetic_compare(&s, &result);
  assert_true(row_of("wqkv")->wrong == 1);
  synthetic_free(&s);
}

static void extremes_pass(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 2, .tp = 8, .ratio = 0, .window = 1}, 6, 1);
  memset(s.x, 0, 2 * (HIDDEN + 8) * sizeof *s.x);
  synthetic_launch(&s);
  assert_good(&s);
  s.now.q[3] ^= 0x8000; /* -0 is within the tolerance of a sum of 0 */
  assert_good(&s);
  s.now.q[3] = 0x3f80;
  assert_differs(&s, "wqb");
  for (uint32_t i = 0; i < 2 * (HIDDEN + 8); i++) s.x[i] = (uint16_t)(1 + i % 3); /* denormals */
  synthetic_launch(&s);
  assert_good(&s);
  synthetic_free(&s);
}

static void with_pad_rows_only_there_are_no_records(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 2, .tp = 8, .ratio = 2, .window = 128}, 7, 1);
  s.slot[0] = s.slot[1] = -1;
  synthetic_launch(&s);
  assert_good(&s);
  for (size_t i = 0; i < result.rows; i++) assert_string_not_equal(result.row[i].stage, "kv");
  s.now.cache[100] ^= 1;
  assert_differs(&s, "untouched");
  assert_non_null(strstr(result.message, "cache block 7 byte 100"));
  synthetic_free(&s);
}

static void qr_of(const struct synthetic *s, int ulps, uint16_t qr[Q_RANK]) {
  struct synthetic copy = *s;
  float half[2][QKV_ROWS];
  for (uint32_t i = 0; i < 2 * QKV_ROWS; i++) half[i / QKV_ROWS][i % QKV_ROWS] = *synthetic_partial(&copy, i / QKV_ROWS, 0, i % QKV_ROWS);
  const struct ref_qkv_in in = {
      .half0 = half[0], .half1 = half[1], .qn_w = s->qn_w, .kvn_w = s->kvn_w, .cos_sin = s->cos_sin, .q_rsq_ulps = ulps};
  static struct ref_qkv_out out;
  ref_qkv(&in, &s->fp8, &out);
  memcpy(qr, out.qr, sizeof out.qr);
}

/* An ulp of r moves one bf16 in 2^16: norm weights are looked for with which token 0 shows it, from -1 to 0 and from 0 to 1. */
static bool make_ulps_visible(struct synthetic *s, uint32_t column[2]) {
  uint16_t weight[Q_RANK], qr[3][Q_RANK];
  bool found[2] = {false, false};
  memcpy(weight, s->qn_w, sizeof weight);
  for (uint16_t m = 0; m < 128; m++) {
    for (uint32_t i = 0; i < Q_RANK; i++) s->qn_w[i] = 0x3f80 | m;
    for (int u = 0; u < 3; u++) qr_of(s, u - 1, qr[u]);
    for (uint32_t i = 0; i < 2 * Q_RANK; i++) {
      const uint32_t step = i / Q_RANK, at = i % Q_RANK;
      if (found[step] || qr[step][at] == qr[step + 1][at]) continue;
      found[step] = true;
      column[step] = at;
      weight[at] = s->qn_w[at];
    }
  }
  memcpy(s->qn_w, weight, sizeof weight);
  return found[0] && found[1];
}

static bool qkv_good_with(struct synthetic *s, int ulps, bool hardware) {
  s->q_rsq_ulps = s->kv_rsq_ulps = ulps;
  s->options.hardware = hardware;
  synthetic_qkv(s);
  synthetic_compare(s, &result);
  return row_of("qkv")->good && row_of("kv")->good;
}

static void an_ulp_of_rsq_passes_on_hardware_only(void **state) {
  (void)state;
  struct synthetic s;
  uint32_t column[2];
  synthetic_make(&s, &(struct front_key){.tokens = 2, .tp = 8, .ratio = 2, .window = 128, .index = 1}, 8, 1);
  float *other = synthetic_partial(&s, 0, 0, 0); /* another sum of squares, another r */
  for (int i = 0; i < 200 && !make_ulps_visible(&s, column); i++) *other += 1.0f;
  assert_true(qkv_good_with(&s, 0, false) && qkv_good_with(&s, 0, true));
  assert_true(!qkv_good_with(&s, -1, false) && qkv_good_with(&s, -1, true));
  assert_true(!qkv_good_with(&s, 1, false) && qkv_good_with(&s, 1, true));
  assert_true(!qkv_good_with(&s, 1 << 14, true));

  /* One value by r - 1, one by r + 1: no single r gives both. */
  uint16_t low[Q_RANK], high[Q_RANK];
  qr_of(&s, -1, low);
  qr_of(&s, 1, high);
  assert_true(qkv_good_with(&s, 0, true));
  s.now.qr_out[column[0]] = low[column[0]];
  s.now.qr_out[column[1]] = high[column[1]];
  assert_differs(&s, "qkv");
  synthetic_free(&s);
}

static void the_target_without_negative_zero_is_judged_by_its_own_format(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 7, .tp = 8, .ratio = 2, .window = 128}, 9, 1);
  assert_good(&s);
  s.target = (struct target){.name = "gfx942", .tile = 6, .fp8_max = 224.0f};
  assert_int_equal(synthetic_compare(&s, &result), COMPARE_DIFFERS);
  s.fp8 = ref_fp8_fnuz;
  synthetic_launch(&s);
  assert_good(&s);
  assert_true(row_of("xq")->good);
  synthetic_free(&s);
}

/* ---- inputs that break the contract ---- */

static void assert_bad_input(struct synthetic *s, const char *what) {
  assert_int_equal(synthetic_compare(s, &result), COMPARE_BAD_INPUT);
  assert_int_equal(result.rows, 0);
  if (!strstr(result.message, what)) fail_msg("wanted a message about %s: %s", what, result.message);
}

static void inputs_that_break_the_contract_are_named_not_judged(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 3, .tp = 8, .ratio = 2, .window = 128}, 10, 1);
  const struct compare_inputs in = s.in;
#define BAD(change, what)                                                                                                                  \
  do {                                                                                                                                     \
    change;                                                                                                                                \
    assert_bad_input(&s, what);                                                                                                            \
    s.in = in;                                                                                                                             \
  } while (0)
  BAD(s.in.wqb_s = NULL, "no wqb_s");
  BAD(s.in.topk = NULL, "no topk");
  BAD(s.in.x_stride = 5112, "x_stride: 5112");
  BAD(s.in.swa_block = 0, "swa_block: 0");
  BAD(s.in.swa_stride = 584 * 4 - 8, "swa_stride: 2328");
  BAD(s.in.swa_stride = 584 * 4 + 4, "swa_stride: 2340");
  BAD(s.in.comp_block = 0, "comp_block: 0");
  BAD(s.in.cos_sin_rows = 9, "pos: token 2 is at 13");
  BAD(s.in.comp_bt_entries = 3, "of comp_bt, which has 3");
  const int32_t row = s.topk[TOPK];
  s.t2r[1] = -1;
  s.topk[TOPK] = 3;
  BAD((void)0, "request -1");
  s.t2r[1] = 1;
  s.topk[TOPK] = row;
  s.pos[0] = -1;
  BAD((void)0, "pos: token 0 is at -1");
  s.pos[0] = 3;
  s.slot[1] = s.slot[0];
  BAD((void)0, "slot: tokens 0 and 1 both have 28");
  s.slot[1] = 99999;
  BAD((void)0, "cache block 24999 of token 1 was given 0 times");
  s.slot[1] = 33;
  s.blocks[3].bytes = 100;
  BAD((void)0, "cache block 10 was given with 100 bytes");
  s.blocks[3].bytes = 584 * 4;
  assert_good(&s);
  s.blocks[3].block = 7;
  BAD((void)0, "cache block 7 of token 0 was given 2 times");
#undef BAD
  synthetic_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_faultless_launch_passes_with_every_value_counted),
      cmocka_unit_test(a_sum_may_be_off_by_its_tolerance_and_no_more),
      cmocka_unit_test(any_nan_stands_for_a_nan_and_nothing_else_does),
      cmocka_unit_test(sums_beyond_f32_may_overflow),
      cmocka_unit_test(extremes_pass),
      cmocka_unit_test(with_pad_rows_only_there_are_no_records),
      cmocka_unit_test(an_ulp_of_rsq_passes_on_hardware_only),
      cmocka_unit_test(the_target_without_negative_zero_is_judged_by_its_own_format),
      cmocka_unit_test(inputs_that_break_the_contract_are_named_not_judged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
