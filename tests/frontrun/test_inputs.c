/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are drawn must be able to show a fault: neighbours differ, edges occur, unused entries are wrong if they are used. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "numeric.h"
#include "tensors.h"

static struct plan plan_of(const char *text) {
  struct front_key key;
  struct plan plan;
  char error[KEY_ERROR_MAX];
  if (!key_parse(text, &key, error) || !plan_make(&key, &target_gfx950, &plan, error)) fail_msg("%s", error);
  return plan;
}

static struct inputs make(const char *text, uint64_t seed, uint32_t rank, enum input_case which) {
  const struct plan plan = plan_of(text);
  const struct input_options options = {.seed = seed, .rank = rank, .which = which};
  struct inputs in;
  char error[INPUT_ERROR_MAX];
  if (!inputs_make(&plan, &options, &in, error) || !inputs_check(&in, error)) fail_msg("%s", error);
  return in;
}

static const int64_t *slots(const struct inputs *in) { return in->data[ARG_slot]; }
static const int64_t *positions(const struct inputs *in) { return in->data[ARG_pos]; }

static void the_same_seed_gives_the_same_bytes_and_another_seed_others(void **context) {
  (void)context;
  struct inputs a = make("tokens=8", 5, 0, CASE_DEFAULT), b = make("tokens=8", 5, 0, CASE_DEFAULT),
                c = make("tokens=8", 6, 0, CASE_DEFAULT);
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    if (!a.data[arg]) continue;
    assert_int_equal(a.bytes[arg], b.bytes[arg]);
    assert_memory_equal(a.data[arg], b.data[arg], a.bytes[arg]);
    bool output = arg == ARG_q || arg == ARG_kt || arg == ARG_klen;
    if (!output && a.bytes[arg] == c.bytes[arg] && arg != ARG_t2r) assert_memory_not_equal(a.data[arg], c.data[arg], a.bytes[arg]);
  }
  inputs_free(&a);
  inputs_free(&b);
  inputs_free(&c);
}

static double group_amax(const uint16_t *group) {
  double amax = 0;
  for (int i = 0; i < MX_GROUP; i++) amax = fmax(amax, fabs((double)ref_bf16_value(group[i])));
  return amax;
}

static void a_rows_groups_are_within_2_to_the_6_and_neighbours_have_other_codes(void **context) {
  (void)context;
  struct inputs in = make("tokens=17", 1, 0, CASE_DEFAULT);
  const uint16_t *x = in.data[ARG_x];
  uint8_t values[HIDDEN], codes[17][HIDDEN / MX_GROUP];
  int alike = 0;
  for (int t = 0; t < 17; t++) {
    double least = INFINITY, most = 0;
    for (int g = 0; g < HIDDEN / MX_GROUP; g++) {
      double amax = group_amax(x + t * in.x_stride + g * MX_GROUP);
      least = fmin(least, amax);
      most = fmax(most, amax);
    }
    assert_true(least > 0 && most <= 64 * least);
    ref_mx_row(x + t * in.x_stride, HIDDEN, &ref_fp8_ocp, values, codes[t]);
    for (int g = 1; g < HIDDEN / MX_GROUP; g++) alike += codes[t][g] == codes[t][g - 1] || (t && codes[t][g] == codes[t - 1][g]);
  }
  assert_int_equal(alike, 0);
  inputs_free(&in);
}

static void weights_look_trained_and_no_two_neighbouring_blocks_share_a_scale(void **context) {
  (void)context;
  struct inputs in = make("tokens=1,tp=8", 3, 0, CASE_DEFAULT);
  const uint8_t *w = in.data[ARG_wqkv], *s = in.data[ARG_wqkv_s];
  uint64_t nan = 0, minus_zero = 0, largest = 0, zero_groups = 0, seen_codes = 0;
  for (int i = 0; i < QKV_ROWS * HIDDEN; i++) {
    nan += (w[i] & 0x7f) == 0x7f;
    minus_zero += w[i] == 0x80;
    largest += (w[i] & 0x7f) == 0x7e;
  }
  for (int i = 0; i < QKV_ROWS * HIDDEN; i += MX_GROUP) {
    uint8_t any = 0;
    for (int k = 0; k < MX_GROUP; k++) any |= w[i + k] & 0x7f;
    zero_groups += !any;
  }
  for (int r = 0; r < 56; r++) {
    for (int c = 0; c < 160; c++) {
      seen_codes |= 1ull << (s[r * 160 + c] & 63);
      if (r) assert_int_not_equal(s[r * 160 + c], s[(r - 1) * 160 + c]);
      if (c) assert_int_not_equal(s[r * 160 + c], s[r * 160 + c - 1]);
    }
  }
  assert_int_equal(nan, 0);
  assert_true(minus_zero > 1000 && largest > 100 && zero_groups > 100);
  assert_true(__builtin_popcountll(seen_codes) >= 6);
  inputs_free(&in);
}

static void ranks_and_heads_have_weights_of_their_own(void **context) {
  (void)context;
  struct inputs zero = make("tokens=1,tp=4", 3, 0, CASE_DEFAULT), one = make("tokens=1,tp=4", 3, 1, CASE_DEFAULT),
                whole = make("tokens=1,tp=1", 3, 0, CASE_DEFAULT);
  uint64_t bytes = zero.bytes[ARG_wqb], scale_bytes = zero.bytes[ARG_wqb_s];
  assert_memory_not_equal(zero.data[ARG_wqb], one.data[ARG_wqb], bytes);
  /* A rank's weights are its slice of the unsharded matrix. */
  assert_memory_equal(zero.data[ARG_wqb], whole.data[ARG_wqb], bytes);
  assert_memory_equal(one.data[ARG_wqb], (char *)whole.data[ARG_wqb] + bytes, bytes);
  assert_memory_equal(one.data[ARG_wqb_s], (char *)whole.data[ARG_wqb_s] + scale_bytes, scale_bytes);
  for (int head = 1; head < 16; head++)
    assert_memory_not_equal((char *)zero.data[ARG_wqb] + head * HEAD_DIM * Q_RANK, zero.data[ARG_wqb], HEAD_DIM * Q_RANK);
  inputs_free(&zero);
  inputs_free(&one);
  inputs_free(&whole);
}

static void steps_have_pad_rows_far_positions_and_blocks_beyond_2_and_4_gib(void **context) {
  (void)context;
  int pads = 0, rows = 0, far = 0, zero = 0, beyond_2 = 0, beyond_4 = 0, shared = 0;
  for (uint64_t seed = 0; seed < 8; seed++) {
    struct inputs in = make("tokens=16", seed, 0, CASE_DEFAULT);
    bool two = false, four = false;
    for (int t = 0; t < 16; t++) {
      rows++;
      pads += slots(&in)[t] < 0;
      far += positions(&in)[t] > 131072;
      zero += positions(&in)[t] == 0;
      if (slots(&in)[t] < 0) continue;
      uint64_t at = (uint64_t)(slots(&in)[t] / in.swa_block) * (uint64_t)in.swa_stride;
      two |= at >= 1ull << 31 && at < 1ull << 32;
      four |= at >= 1ull << 32;
      assert_true(at + (uint64_t)in.swa_stride <= in.bytes[ARG_swa]);
      for (int u = 0; u < t; u++) shared += slots(&in)[u] >= 0 && slots(&in)[u] / in.swa_block == slots(&in)[t] / in.swa_block;
    }
    beyond_2 += two;
    beyond_4 += four;
    inputs_free(&in);
  }
  assert_in_range(pads, rows / 10, rows / 3);
  assert_true(far >= 16 && zero >= 4 && shared > 0);
  assert_int_equal(beyond_2, 8);
  assert_int_equal(beyond_4, 8);
}

static void entries_that_must_not_be_used_are_wrong_if_they_are(void **context) {
  (void)context;
  struct inputs in = make("tokens=33,ratio=2,window=128", 2, 0, CASE_DEFAULT);
  const int32_t *topk = in.data[ARG_topk], *t2r = in.data[ARG_t2r], *lens = in.data[ARG_swa_lens], *idx = in.data[ARG_swa_idx];
  int none = 0, short_rows = 0, short_windows = 0, clamped = 0;
  for (int t = 0; t < 33; t++) {
    bool pad = slots(&in)[t] < 0;
    int64_t used = pad ? 0 : (positions(&in)[t] + 1) / 2 < 512 ? (positions(&in)[t] + 1) / 2 : 512;
    short_rows += !pad && used < 512;
    if (pad) assert_true((uint64_t)t2r[t] >= in.requests);
    for (int k = 0; k < 512; k++) {
      int32_t r = topk[t * 512 + k];
      none += k < used && r < 0;
      if (k >= used) assert_true(r / in.comp_block >= in.bt_stride);
    }
    short_windows += lens[t] >= 0 && lens[t] < 128;
    clamped += lens[t] < 0 || lens[t] > 128;
    for (int k = pad ? 0 : lens[t] < 0 ? 0 : lens[t]; k < 128; k++)
      assert_true(idx[t * 128 + k] >= 0x5ead0000 && idx[t * 128 + k] < 0x5eae0000);
  }
  assert_true(none > 0 && short_rows > 0 && short_windows > 0 && clamped > 0);
  inputs_free(&in);
}

static void the_gap_between_input_rows_is_not_a_number(void **context) {
  (void)context;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct inputs in = make("tokens=2", seed, 0, CASE_DEFAULT);
    bool wide = in.x_stride > HIDDEN;
    for (int i = HIDDEN; i < in.x_stride; i++) assert_true(ref_bf16_is_nan(((const uint16_t *)in.data[ARG_x])[i]));
    assert_int_equal(in.bytes[ARG_x], 2 * (in.x_stride + HIDDEN));
    inputs_free(&in);
    if (wide) return;
  }
  fail_msg("no seed of 20 has a stride above %d", HIDDEN);
}

static void a_case_is_what_its_name_says(void **context) {
  (void)context;
  struct inputs all = make("tokens=9", 1, 0, CASE_ALLPAD), none = make("tokens=9", 1, 0, CASE_NOPAD),
                zero = make("tokens=9", 1, 0, CASE_ZERO), nan = make("tokens=9", 1, 0, CASE_NAN),
                small = make("tokens=9", 1, 0, CASE_DENORMAL), far = make("tokens=2", 1, 0, CASE_FAR);
  int nans = 0;
  for (int t = 0; t < 9; t++) {
    assert_true(slots(&all)[t] < 0);
    assert_true(slots(&none)[t] >= 0);
    for (int i = 0; i < HIDDEN; i++) {
      assert_int_equal(((const uint16_t *)zero.data[ARG_x])[t * zero.x_stride + i] & 0x7fff, 0);
      uint16_t v = ((const uint16_t *)small.data[ARG_x])[t * small.x_stride + i] & 0x7fff;
      assert_true(v > 0 && v < 0x80);
      nans += ref_bf16_is_nan(((const uint16_t *)nan.data[ARG_x])[t * nan.x_stride + i]);
    }
  }
  assert_in_range(nans, 1, 100);
  assert_int_equal(positions(&far)[0], (1 << 24) - 1);
  inputs_free(&all);
  inputs_free(&none);
  inputs_free(&zero);
  inputs_free(&nan);
  inputs_free(&small);
  inputs_free(&far);
}

/* ---- files ---- */

static void a_dump_read_again_gives_the_same_launch(void **context) {
  (void)context;
  const struct plan plan = plan_of("tokens=3,tp=8,window=5");
  struct inputs in = make("tokens=3,tp=8,window=5", 9, 2, CASE_DEFAULT), again;
  uint8_t *scratch = calloc(1, plan.scratch.bytes);
  const struct tensors_results results = {scratch, 41};
  char error[FRONTGEN_ERROR_MAX];
  const char *path = path_in(temp_dir(), "dump");
  for (size_t i = 0; i < in.blocks; i++) memset(in.block[i].after, 0x11, (size_t)in.swa_stride);
  if (tensors_dump(path, &plan, &in, &results, error)) fail_msg("%s", error);
  struct tensor_file file;
  if (!tensor_file_read(path, &file, error)) fail_msg("%s", error);
  for (int i = 0; i < SCRATCH_REGIONS; i++) {
    char name[40];
    snprintf(name, sizeof name, "scratch.%s", plan.scratch.region[i].name);
    assert_int_equal(tensor_file_find(&file, name)->bytes, plan.scratch.region[i].bytes);
  }
  const struct input_options options = {.seed = 1000, .file = &file}; /* another seed: all must come from the file */
  if (!inputs_make(&plan, &options, &again, error) || !inputs_check(&again, error)) fail_msg("%s", error);
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    if (!in.data[arg]) continue;
    assert_int_equal(in.bytes[arg], again.bytes[arg]);
    assert_memory_equal(in.data[arg], again.data[arg], in.bytes[arg]);
  }
  assert_true(again.has_epoch && again.epoch == 41);
  assert_int_equal(in.bytes[ARG_swa], again.bytes[ARG_swa]);
  assert_int_equal(in.blocks, again.blocks);
  for (size_t i = 0; i < in.blocks; i++) {
    assert_int_equal(in.block[i].number, again.block[i].number);
    assert_memory_equal(in.block[i].before, again.block[i].before, (size_t)in.swa_stride);
  }
  assert_int_equal(in.comp_block, again.comp_block);
  tensor_file_free(&file);
  free(scratch);
  inputs_free(&in);
  inputs_free(&again);
}

static void expect_file_refused(const struct tensor *tensors, size_t count, const char *says) {
  const struct plan plan = plan_of("tokens=3");
  const char *path = path_in(temp_dir(), "bad");
  char error[FRONTGEN_ERROR_MAX];
  struct tensor_file file;
  struct inputs in;
  if (tensor_file_write(path, tensors, count, NULL, 0, error) || !tensor_file_read(path, &file, error)) fail_msg("%s", error);
  const struct input_options options = {.seed = 1, .file = &file};
  bool made = inputs_make(&plan, &options, &in, error);
  if (made && inputs_check(&in, error)) fail_msg("accepted; wanted \"%s\"", says);
  if (!strstr(error, says)) fail_msg("\"%s\" is not in \"%s\"", says, error);
  inputs_free(&in);
  tensor_file_free(&file);
}

static void a_file_that_does_not_fit_the_key_is_refused_by_tensor(void **context) {
  (void)context;
  static const int64_t two[2] = {1, 2}, pos[3] = {5, -1, 7}, far[3] = {5, 1 << 24, 7}, slot[3] = {4, 4, 5}, slot_far[3] = {0, 1, 1ll << 31},
                       pad[3] = {-4294967296, 0, 1};
  static const float table[64] = {0};
  static const int32_t stride = 5124, block = 0, most = INT32_MAX, requests[3] = {0, 1, INT32_MAX};
  static const int64_t window_stride = (1 << 22) + 8;
  expect_file_refused(&(struct tensor){"pos", DTYPE_I64, 1, {2}, two, 16}, 1, "needs I64 [3]");
  expect_file_refused(&(struct tensor){"pos", DTYPE_F64, 1, {3}, pos, 24}, 1, "pos is F64");
  expect_file_refused(&(struct tensor){"position", DTYPE_I64, 1, {3}, pos, 24}, 1, "position");
  expect_file_refused(&(struct tensor){"pos", DTYPE_I64, 1, {3}, pos, 24}, 1, "pos[1] is -1");
  expect_file_refused(&(struct tensor){"pos", DTYPE_I64, 1, {3}, far, 24}, 1, "pos[1] is 16777216");
  expect_file_refused(&(struct tensor){"slot", DTYPE_I64, 1, {3}, slot, 24}, 1, "slot[0] and slot[1]");
  expect_file_refused(&(struct tensor){"slot", DTYPE_I64, 1, {3}, slot_far, 24}, 1, "slot[2]");
  expect_file_refused(&(struct tensor){"slot", DTYPE_I64, 1, {3}, pad, 24}, 1, "below -2^31");
  expect_file_refused(&(struct tensor){"cos_sin", DTYPE_F32, 2, {1, 64}, table, 256}, 1, "cos_sin has 1 rows");
  expect_file_refused(&(struct tensor){"x_stride", DTYPE_I32, 1, {1}, &stride, 4}, 1, "x_stride is 5124");
  expect_file_refused(&(struct tensor){"swa_block", DTYPE_I32, 1, {1}, &block, 4}, 1, "swa_block is 0");
  expect_file_refused(&(struct tensor){"swa_stride", DTYPE_I64, 1, {1}, &window_stride, 8}, 1, "4194304 without the tensor swa");
  expect_file_refused(&(struct tensor){"bt_stride", DTYPE_I32, 1, {1}, &most, 4}, 1, "of 2147483647 blocks");
  expect_file_refused(&(struct tensor){"t2r", DTYPE_I32, 1, {3}, requests, 12}, 1, "comp_bt of 2147483648 rows");
  expect_file_refused(&(struct tensor){"scratch", DTYPE_U8, 1, {4}, &block, 4}, 1, "scratch");
}

/* The last number of all has no successor: that sum must not be made. */
static void block_numbers_that_cannot_be_are_refused(void **context) {
  (void)context;
  enum { STRIDE = 128 * 584 };
  static const unsigned char blocks[2 * STRIDE];
  static const int64_t numbers[][2] = {{0, INT64_MAX}, {INT64_MIN, 0}, {0, 0}, {3, 2}, {0, 1ll << 40}};
  static const char *const says[] = {
      "more than a TiB", "block numbers rise", "block numbers rise", "block numbers rise", "more than a TiB"};
  for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
    const struct tensor tensors[] = {
        {"swa", DTYPE_U8, 2, {2, STRIDE}, blocks, sizeof blocks}, {"swa.blocks", DTYPE_I64, 1, {2}, numbers[i], 16}};
    expect_file_refused(tensors, 2, says[i]);
  }
  expect_file_refused(&(struct tensor){"swa.blocks", DTYPE_I64, 1, {2}, numbers[0], 16}, 1, "which the file does not have");
}

/* With a block of one slot and such a stride, 600 MiB beyond 4 GiB hold two blocks: a search for a free slot among them would not end. */
static void a_wide_stride_in_a_file_does_not_hold_the_program(void **context) {
  (void)context;
  struct plan plan;
  struct inputs in = {.swa_stride = 1 << 28, .swa_block = 1};
  char error[FRONTGEN_ERROR_MAX];
  assert_int_equal(frontgen_plan("tokens=48,tp=8", "gfx950", &plan, error), FRONTGEN_GOOD);
  in.key = plan.key;
  in.which = CASE_NOPAD;
  in.bytes[ARG_slot] = 48 * 8;
  assert_true(draw_slots(&in));
  assert_true(inputs_check_slots(&in, error));
  inputs_free(&in);
}

/* Row 2^31 - 1 of a table whose blocks hold one row is in column 2^31 - 1, and 2^31 columns are no i32. */
static void the_last_row_of_all_has_a_column(void **context) {
  (void)context;
  struct plan plan;
  struct inputs in;
  char error[FRONTGEN_ERROR_MAX];
  int32_t *topk = malloc(TOPK * 4), one = 1;
  int64_t pos = 100000;
  assert_non_null(topk);
  for (int k = 0; k < TOPK; k++) topk[k] = INT32_MAX;
  const struct tensor tensors[] = {
      {"pos", DTYPE_I64, 1, {1}, &pos, 8}, {"topk", DTYPE_I32, 2, {1, TOPK}, topk, TOPK * 4}, {"comp_block", DTYPE_I32, 1, {1}, &one, 4}};
  const struct tensor_file file = {.tensor = (struct tensor *)(uintptr_t)tensors, .count = 3};
  const struct input_options options = {.seed = 1, .which = CASE_NOPAD, .file = &file};
  assert_int_equal(frontgen_plan("tokens=1,tp=8", "gfx950", &plan, error), FRONTGEN_GOOD);
  assert_false(inputs_make(&plan, &options, &in, error));
  if (!strstr(error, "of 2147483647 blocks")) fail_msg("%s", error);
  free(topk);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_seed_gives_the_same_bytes_and_another_seed_others),
      cmocka_unit_test(a_rows_groups_are_within_2_to_the_6_and_neighbours_have_other_codes),
      cmocka_unit_test(weights_look_trained_and_no_two_neighbouring_blocks_share_a_scale),
      cmocka_unit_test(ranks_and_heads_have_weights_of_their_own),
      cmocka_unit_test(steps_have_pad_rows_far_positions_and_blocks_beyond_2_and_4_gib),
      cmocka_unit_test(entries_that_must_not_be_used_are_wrong_if_they_are),
      cmocka_unit_test(the_gap_between_input_rows_is_not_a_number),
      cmocka_unit_test(a_case_is_what_its_name_says),
      cmocka_unit_test(a_dump_read_again_gives_the_same_launch),
      cmocka_unit_test(a_file_that_does_not_fit_the_key_is_refused_by_tensor),
      cmocka_unit_test(block_numbers_that_cannot_be_are_refused),
      cmocka_unit_test(a_wide_stride_in_a_file_does_not_hold_the_program),
      cmocka_unit_test(the_last_row_of_all_has_a_column),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
