/* SPDX-License-Identifier: Apache-2.0 */
/* For every stage: a fault planted in a faultless launch is found, in that stage and (stages being fed by the kernel's own values) in
   no other. A fault is named after the mistake of a kernel that would make it. */
#include <math.h>
#include <string.h>

#include "support.h"
#include "synthetic.h"

/* What runs on after the fault, as the kernel would with its wrong values. */
enum after { NOTHING, FROM_WQKV, FROM_QKV, FROM_WQB };

struct fault {
  const char *name;
  const char *stage; /* the row that must be bad */
  const char *also;  /* another that may be, or null */
  void (*plant)(struct synthetic *s);
  enum after after;
};

static const struct compare_row *row_of(const struct compare_result *r, const char *stage) {
  for (size_t i = 0; i < r->rows; i++)
    if (strcmp(r->row[i].stage, stage) == 0) return &r->row[i];
  return NULL;
}

static void check_fault(struct synthetic *s, const struct fault *f) {
  static struct compare_result r;
  synthetic_restore(s);
  f->plant(s);
  if (f->after == FROM_WQKV) synthetic_wqkv(s);
  if (f->after == FROM_WQKV || f->after == FROM_QKV) synthetic_qkv(s);
  if (f->after != NOTHING) synthetic_wqb(s);
  if (synthetic_compare(s, &r) != COMPARE_DIFFERS) fail_msg("%s: not found (%s)", f->name, r.message);
  const struct compare_row *row = row_of(&r, f->stage);
  assert_non_null(row);
  if (row->good || row->wrong == 0 || !row->first[0]) fail_msg("%s: row %s is good; message: %s", f->name, f->stage, r.message);
  for (size_t i = 0; i < r.rows; i++)
    if (!r.row[i].good && strcmp(r.row[i].stage, f->stage) != 0 && !(f->also && strcmp(r.row[i].stage, f->also) == 0))
      fail_msg("%s: row %s is bad too: %s", f->name, r.row[i].stage, r.row[i].first);
  if (!strstr(r.message, row->first) && !f->also) fail_msg("%s: the message is about something else: %s", f->name, r.message);
}

static void check_faults(struct synthetic *s, const struct fault *faults, size_t count) {
  struct compare_result r;
  if (synthetic_compare(s, &r) != COMPARE_GOOD) fail_msg("the faultless launch is refused: %s", r.message);
  for (size_t i = 0; i < count; i++) check_fault(s, &faults[i]);
}

/* ---- xq ---- */

static void x8_low_bit(struct synthetic *s) { synthetic_region(s, SCRATCH_x8)[3 * HIDDEN + 77] ^= 1; }
static void x8_of_next_row(struct synthetic *s) {
  memcpy(synthetic_region(s, SCRATCH_x8) + 4 * HIDDEN, synthetic_region(s, SCRATCH_x8) + 5 * HIDDEN, HIDDEN);
}
/* One group with its scale a power of two too large: the code is not the least that fits. */
static void x8s_one_more(struct synthetic *s) { synthetic_region(s, SCRATCH_x8s)[4 * (80 * 2 + 9)]++; }
static void x8s_token_major(struct synthetic *s) {
  uint32_t *code = (uint32_t *)(void *)synthetic_region(s, SCRATCH_x8s);
  for (uint32_t t = 1; t < s->tokens; t++)
    for (uint32_t g = 0; g < 80; g++) code[80 * t + g] = code[80 * t - 80 + g];
}
static void x8s_high_byte(struct synthetic *s) { synthetic_region(s, SCRATCH_x8s)[4 * 5 + 1] = 1; }

/* ---- wqkv ---- */

/* Adds groups of a weight row times token t, scaled by `scale_row`'s codes instead of its own. */
static void wqkv_again(struct synthetic *s, uint32_t row, uint32_t scale_row, uint32_t weight_row, uint32_t first_group, uint32_t groups) {
  for (uint32_t t = 0; t < s->tokens; t++) {
    double sum = 0;
    for (uint32_t g = first_group; g < first_group + groups; g++) {
      uint16_t v[32];
      uint8_t x8[32], code;
      memcpy(v, s->x + t * (size_t)(HIDDEN + 8) + 32 * g, sizeof v);
      ref_mx_row(v, 32, &s->fp8, x8, &code);
      for (uint32_t i = 0; i < 32; i++)
        sum += (double)ref_e4m3_value(s->wqkv[weight_row * (size_t)HIDDEN + 32 * g + i], &s->fp8) *
               ldexp((double)ref_e4m3_value(x8[i], &s->fp8), s->wqkv_s[scale_row / 32 * 160 + g] + code - 254);
    }
    *synthetic_partial(s, first_group / 80, t, row) = (float)sum;
  }
}
static void wqkv_right_by_hand(struct synthetic *s) { wqkv_again(s, 100, 100, 100, 80, 80); }
static void wqkv_neighbour_block_scale(struct synthetic *s) { wqkv_again(s, 100, 132, 100, 80, 80); }
static void wqkv_next_row(struct synthetic *s) { wqkv_again(s, 100, 100, 101, 80, 80); }
static void wqkv_a_step_less(struct synthetic *s) { wqkv_again(s, 1700, 1700, 1700, 0, 76); }
static void wqkv_other_half(struct synthetic *s) {
  for (uint32_t t = 0; t < s->tokens; t++) *synthetic_partial(s, 1, t, 5) = *synthetic_partial(s, 0, t, 5);
}
static void wqkv_next_token(struct synthetic *s) {
  for (uint32_t row = 0; row < QKV_ROWS; row++) *synthetic_partial(s, 0, 0, row) = *synthetic_partial(s, 0, 1, row);
}
static void wqkv_one_value_in_16_bits(struct synthetic *s) {
  float *v = synthetic_partial(s, 1, 2, 40);
  *v = ref_bf16_value(ref_bf16(*v));
}
static void wqkv_a_nan(struct synthetic *s) { *synthetic_partial(s, 1, 1, 1791) = NAN; }

/* ---- qkv, kv ---- */

static void qx8_low_bit(struct synthetic *s) { synthetic_region(s, SCRATCH_qx8)[2 * Q_RANK + 1279] ^= 1; }
static void qx8s_of_next_group(struct synthetic *s) {
  uint8_t *codes = synthetic_region(s, SCRATCH_qx8s);
  for (uint32_t i = 0; i < Q_GROUPS - 1; i++) codes[4 * i] = codes[4 * i + 4];
}
static void q_norm_of_next_token(struct synthetic *s) {
  memcpy(synthetic_region(s, SCRATCH_qx8), synthetic_region(s, SCRATCH_qx8) + Q_RANK, Q_RANK);
}
static void kv_bytes_off_by_one(struct synthetic *s) {
  uint8_t *r = synthetic_record(s, (int32_t)s->slot[0]);
  memmove(r + 1, r, KV_DATA_BYTES - 1);
}
static void kv_rope_swapped(struct synthetic *s) {
  uint8_t *r = synthetic_record(s, (int32_t)s->slot[1]) + NOPE, first[2];
  memcpy(first, r, 2);
  memcpy(r, r + 2, 2);
  memcpy(r + 2, first, 2);
}
static void kv_eighth_scale_not_zero(struct synthetic *s) { synthetic_scales(s, (int32_t)s->slot[1])[7] = 1; }
static void kv_scale_of_next_group(struct synthetic *s) {
  uint8_t *scales = synthetic_scales(s, (int32_t)s->slot[0]);
  scales[3]++;
}
static void kv_record_not_written(struct synthetic *s) {
  const int32_t slot = (int32_t)s->slot[1];
  memcpy(synthetic_record(s, slot), s->before.memory + (synthetic_record(s, slot) - s->now.memory), KV_DATA_BYTES);
}
static void kv_record_in_next_slot(struct synthetic *s) {
  memcpy(synthetic_record(s, (int32_t)s->slot[0] + 1), synthetic_record(s, (int32_t)s->slot[0]), KV_DATA_BYTES);
  memset(synthetic_record(s, (int32_t)s->slot[0]), 0x55, KV_DATA_BYTES);
}
static void kv_low_bit(struct synthetic *s) { synthetic_record(s, (int32_t)s->slot[1])[NOPE + 126] ^= 1; }

/* ---- wqb ---- */

static void q_low_bit(struct synthetic *s) { s->now.q[2 * (size_t)s->q_rows + 17] ^= 1; }
static void q_rope_low_bit(struct synthetic *s) { s->now.q[s->q_rows + 450] ^= 1; }
static void q_last_value(struct synthetic *s) { s->now.q[(size_t)s->tokens * s->q_rows - 1] ^= 2; }
static void q_of_next_head(struct synthetic *s) { memcpy(s->now.q, s->now.q + HEAD_DIM, HEAD_DIM * 2); }
static void q_row_plus_one(struct synthetic *s) { memmove(s->now.q + 1, s->now.q, 2 * (size_t)s->q_rows - 2); }
static void q_of_a_pad_row_is_missing(struct synthetic *s) {
  memset(s->now.q + (size_t)(s->tokens - 1) * s->q_rows, 0, 2 * (size_t)s->q_rows);
}
static void q_cos_and_sin_swapped(struct synthetic *s) {
  float *turned = s->cos_sin, saved[SYN_POSITIONS * ROPE];
  memcpy(saved, turned, sizeof saved);
  for (uint32_t p = 0; p < SYN_POSITIONS; p++)
    for (uint32_t i = 0; i < ROPE; i++) turned[p * ROPE + i] = saved[p * ROPE + (i + ROPE_PAIRS) % ROPE];
  synthetic_wqb(s);
  memcpy(turned, saved, sizeof saved);
}
static void q_of_next_position(struct synthetic *s) {
  s->pos[1]++;
  synthetic_wqb(s);
  s->pos[1]--;
}
static void q_scale_of_next_block(struct synthetic *s) {
  s->wqb_s[Q_GROUPS + 7]++;
  synthetic_wqb(s);
  s->wqb_s[Q_GROUPS + 7]--;
}
static void q_not_rotated(struct synthetic *s) {
  float saved[ROPE], *row = s->cos_sin + s->pos[0] * ROPE;
  memcpy(saved, row, sizeof saved);
  for (uint32_t i = 0; i < ROPE; i++) row[i] = i < ROPE_PAIRS ? 1.0f : 0.0f;
  synthetic_wqb(s);
  memcpy(row, saved, sizeof saved);
}

/* ---- kt ---- */

static void kt_without_bit_31(struct synthetic *s) {
  for (uint32_t i = 0; i < s->tokens * s->keys; i++)
    if (s->now.kt[i] < -1) s->now.kt[i] &= 0x7fffffff;
}
static void kt_pad_key_is_zero(struct synthetic *s) { s->now.kt[s->tokens * s->keys - 1] = 0; }
static void kt_off_by_one(struct synthetic *s) { memmove(s->now.kt + 1, s->now.kt, 4 * (size_t)s->keys - 4); }
static void klen_without_topk(struct synthetic *s) { s->now.klen[0] -= s->now.klen[s->tokens]; }
static void ntopk_one_more(struct synthetic *s) { s->now.klen[s->tokens + 1]++; }

/* ---- flags ---- */

static uint32_t *pair_of(struct synthetic *s, enum scratch_region region, size_t pair) {
  return (uint32_t *)(void *)(synthetic_region(s, region) + PAIR_BYTES * pair);
}
static void qkvp_tag_of_last_launch(struct synthetic *s) { pair_of(s, SCRATCH_qkvp, 2 * (size_t)s->tokens * QKV_ROWS - 1)[1] -= 2; }
static void qrdy_tag_missing(struct synthetic *s) { pair_of(s, SCRATCH_qrdy, s->tokens - 1)[1] = 0; }
static void qrdy_value_zero(struct synthetic *s) { pair_of(s, SCRATCH_qrdy, 0)[0] = 0; }
static void qrdy_copy_7_missing(struct synthetic *s) { pair_of(s, SCRATCH_qrdy, 7 * flag_copy_stride(s->tokens) + 2)[1] -= 2; }
static void xrdy_copy_3_missing(struct synthetic *s) { pair_of(s, SCRATCH_xrdy, 3 * flag_copy_stride(2 * s->tokens) + 33)[1]++; }
static void epoch_not_advanced(struct synthetic *s) { s->now.epoch--; }
static void epoch_advanced_twice(struct synthetic *s) { s->now.epoch++; }
static void done_not_wrapped(struct synthetic *s) { *synthetic_region(s, SCRATCH_done) = 255; }

/* ---- untouched ---- */

static void cache_byte_beside(struct synthetic *s) {
  synthetic_record(s, (int32_t)s->slot[0])[-1 + (s->slot[0] % 4 == 0 ? 577 : 0)] ^= 0x10;
}
static void cache_padding(struct synthetic *s) { s->now.cache[SYN_STRIDE - 1] ^= 1; }
static void cache_scale_beside(struct synthetic *s) { synthetic_scales(s, (int32_t)s->slot[1])[8] ^= 1; }
static void pad_row_written(struct synthetic *s) { synthetic_record(s, 0 + 7 * SYN_BLOCK + 3)[5] ^= 1; }
static void scratch_padding(struct synthetic *s) { s->now.scratch[s->layout.region[SCRATCH_qrdy].offset - 1] ^= 1; }
static void scratch_end(struct synthetic *s) { s->now.scratch[s->layout.bytes - 1] ^= 1; }
static void x8_written_without_need(struct synthetic *s) { synthetic_region(s, SCRATCH_x8)[0] ^= 1; }
static void x8s_written_without_need(struct synthetic *s) { synthetic_region(s, SCRATCH_x8s)[900] ^= 1; }
static void xrdy_written_without_need(struct synthetic *s) { synthetic_region(s, SCRATCH_xrdy)[4] ^= 1; }
static void between_flag_copies(struct synthetic *s) { pair_of(s, SCRATCH_qrdy, s->tokens)[0] ^= 1; }
static void between_xrdy_copies(struct synthetic *s) { pair_of(s, SCRATCH_xrdy, 2 * s->tokens)[1] ^= 1; }
static void between_x8s_halves(struct synthetic *s) { synthetic_region(s, SCRATCH_x8s)[4 * 80 * s->tokens] ^= 1; }
static void kt_written_by_index_layer(struct synthetic *s) { s->now.kt[3] ^= 1; }
static void klen_written_by_index_layer(struct synthetic *s) { s->now.klen[0] ^= 1; }
static void qr_out_written_without_need(struct synthetic *s) { s->now.qr_out[9] ^= 1; }
static void qr_out_low_bit(struct synthetic *s) { s->now.qr_out[Q_RANK + 9] ^= 1; }

#define FAULT(stage, plant, after)                                                                                                         \
  { #plant, stage, NULL, plant, after }
#define FAULT2(stage, also, plant, after)                                                                                                  \
  { #plant, stage, also, plant, after }

static const struct fault small_step[] = {
    FAULT("wqkv", wqkv_neighbour_block_scale, FROM_QKV),
    FAULT("wqkv", wqkv_next_row, FROM_QKV),
    FAULT("wqkv", wqkv_a_step_less, FROM_QKV),
    FAULT("wqkv", wqkv_other_half, FROM_QKV),
    FAULT("wqkv", wqkv_next_token, FROM_QKV),
    FAULT("wqkv", wqkv_one_value_in_16_bits, FROM_QKV),
    FAULT("wqkv", wqkv_a_nan, FROM_QKV),
    FAULT("qkv", qx8_low_bit, FROM_WQB),
    FAULT("qkv", qx8s_of_next_group, FROM_WQB),
    FAULT("qkv", q_norm_of_next_token, FROM_WQB),
    FAULT("kv", kv_bytes_off_by_one, NOTHING),
    FAULT("kv", kv_rope_swapped, NOTHING),
    FAULT("kv", kv_eighth_scale_not_zero, NOTHING),
    FAULT("kv", kv_scale_of_next_group, NOTHING),
    FAULT("kv", kv_record_not_written, NOTHING),
    FAULT("kv", kv_low_bit, NOTHING),
    FAULT2("kv", "untouched", kv_record_in_next_slot, NOTHING),
    FAULT2("untouched", "kv", kv_record_in_next_slot, NOTHING),
    FAULT("wqb", q_low_bit, NOTHING),
    FAULT("wqb", q_rope_low_bit, NOTHING),
    FAULT("wqb", q_last_value, NOTHING),
    FAULT("wqb", q_of_next_head, NOTHING),
    FAULT("wqb", q_row_plus_one, NOTHING),
    FAULT("wqb", q_of_a_pad_row_is_missing, NOTHING),
    FAULT("wqb", q_cos_and_sin_swapped, NOTHING),
    FAULT("wqb", q_of_next_position, NOTHING),
    FAULT("wqb", q_scale_of_next_block, NOTHING),
    FAULT("wqb", q_not_rotated, NOTHING),
    FAULT("kt", kt_without_bit_31, NOTHING),
    FAULT("kt", kt_pad_key_is_zero, NOTHING),
    FAULT("kt", kt_off_by_one, NOTHING),
    FAULT("kt", klen_without_topk, NOTHING),
    FAULT("kt", ntopk_one_more, NOTHING),
    FAULT("flags", qkvp_tag_of_last_launch, NOTHING),
    FAULT("flags", qrdy_tag_missing, NOTHING),
    FAULT("flags", qrdy_value_zero, NOTHING),
    FAULT("flags", epoch_not_advanced, NOTHING),
    FAULT("flags", epoch_advanced_twice, NOTHING),
    FAULT("flags", done_not_wrapped, NOTHING),
    FAULT("untouched", cache_byte_beside, NOTHING),
    FAULT("untouched", cache_padding, NOTHING),
    FAULT("untouched", cache_scale_beside, NOTHING),
    FAULT("untouched", pad_row_written, NOTHING),
    FAULT("untouched", scratch_padding, NOTHING),
    FAULT("untouched", scratch_end, NOTHING),
    FAULT("untouched", x8_written_without_need, NOTHING),
    FAULT("untouched", x8s_written_without_need, NOTHING),
    FAULT("untouched", xrdy_written_without_need, NOTHING),
    FAULT("untouched", qr_out_written_without_need, NOTHING),
};

static void a_small_steps_faults_are_found_in_their_stage(void **state) {
  (void)state;
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 3, .tp = 8, .ratio = 2, .window = 128}, 11, 6);
  static struct compare_result r;
  wqkv_right_by_hand(&s); /* the hand-made sum of the faults is the right one without its fault */
  synthetic_qkv(&s);
  synthetic_wqb(&s);
  if (synthetic_compare(&s, &r) != COMPARE_GOOD) fail_msg("by hand: %s", r.message);
  check_faults(&s, small_step, sizeof small_step / sizeof *small_step);
  synthetic_free(&s);
}

static void a_large_steps_faults_are_found_in_their_stage(void **state) {
  (void)state;
  static const struct fault faults[] = {
      FAULT("xq", x8_low_bit, FROM_WQKV),
      FAULT("xq", x8_of_next_row, FROM_WQKV),
      FAULT("xq", x8s_one_more, FROM_WQKV),
      FAULT("xq", x8s_token_major, FROM_WQKV),
      FAULT("xq", x8s_high_byte, NOTHING),
      FAULT("wqkv", wqkv_next_token, FROM_QKV),
      FAULT("wqb", q_low_bit, NOTHING),
      FAULT("wqb", q_of_next_position, NOTHING),
      FAULT("flags", qrdy_copy_7_missing, NOTHING),
      FAULT("flags", xrdy_copy_3_missing, NOTHING),
      FAULT("untouched", between_flag_copies, NOTHING),
      FAULT("untouched", between_xrdy_copies, NOTHING),
      FAULT("untouched", between_x8s_halves, NOTHING),
  };
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 17, .tp = 8, .ratio = 0, .window = 700, .tuned = 1}, 12, 0x7fffffff);
  check_faults(&s, faults, sizeof faults / sizeof *faults);
  synthetic_free(&s);
}

static void an_index_layers_faults_are_found_in_their_stage(void **state) {
  (void)state;
  static const struct fault faults[] = {
      FAULT("qkv", qr_out_low_bit, NOTHING),
      FAULT("untouched", kt_written_by_index_layer, NOTHING),
      FAULT("untouched", klen_written_by_index_layer, NOTHING),
  };
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 2, .tp = 8, .ratio = 4, .window = 128, .index = 1}, 13, 0);
  check_faults(&s, faults, sizeof faults / sizeof *faults);
  struct compare_result r;
  assert_int_equal(synthetic_compare(&s, &r), COMPARE_DIFFERS); /* the last fault is still there */
  assert_null(row_of(&r, "kt"));
  synthetic_free(&s);
}

static void with_given_rows_the_publishers_are_left_alone(void **state) {
  (void)state;
  static const struct fault faults[] = {
      FAULT("untouched", x8s_written_without_need, FROM_WQKV),
      FAULT2("untouched", "flags", xrdy_written_without_need, NOTHING),
      FAULT("wqkv", wqkv_other_half, FROM_QKV),
  };
  struct synthetic s;
  synthetic_make(&s, &(struct front_key){.tokens = 4, .tp = 8, .ratio = 2, .window = 128, .tuned = 1, .x8_given = 1, .embed = 1}, 14, 9);
  s.in.x = NULL;
  check_faults(&s, faults, sizeof faults / sizeof *faults);
  synthetic_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_small_steps_faults_are_found_in_their_stage),
      cmocka_unit_test(a_large_steps_faults_are_found_in_their_stage),
      cmocka_unit_test(an_index_layers_faults_are_found_in_their_stage),
      cmocka_unit_test(with_given_rows_the_publishers_are_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
