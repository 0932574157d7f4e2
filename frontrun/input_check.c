/* SPDX-License-Identifier: Apache-2.0 */
/* Holds inputs against DESIGN section 3: what a kernel may assume. */
#include <stdio.h>
#include <stdlib.h>

#include "inputs.h"
#include "refuse.h"

/* So that a lying file costs no more memory than an honest one. */
enum { STRIDE_MAX = 1 << 20, DRAWN_STRIDE_MAX = 1 << 22, WINDOW_STRIDE_MAX = 1 << 28, TABLE_ENTRIES_MAX = 1 << 28 };

bool inputs_check_scalars(const struct inputs *in, char error[INPUT_ERROR_MAX]) {
  if (in->x_stride < HIDDEN || in->x_stride % 8)
    return refuse(error, "x_stride is %d: it must be a multiple of 8 and at least %d", in->x_stride, HIDDEN);
  if (in->x_stride > STRIDE_MAX) return refuse(error, "x_stride is %d: this program takes at most %d", in->x_stride, STRIDE_MAX);
  if (in->swa_block < 1) return refuse(error, "swa_block is %d: it must be at least 1", in->swa_block);
  if (in->swa_stride % 8 || in->swa_stride < (int64_t)KV_RECORD_BYTES * in->swa_block)
    return refuse(error, "swa_stride is %lld: it must be a multiple of 8 and at least %d * swa_block = %lld", (long long)in->swa_stride,
        KV_RECORD_BYTES, (long long)KV_RECORD_BYTES * in->swa_block);
  int most = in->given[ARG_swa] ? WINDOW_STRIDE_MAX : DRAWN_STRIDE_MAX;
  if (in->swa_stride > most)
    return refuse(error, "swa_stride is %lld: this program takes at most %d, and at most %d without the tensor swa",
        (long long)in->swa_stride, WINDOW_STRIDE_MAX, DRAWN_STRIDE_MAX);
  if (in->comp_block < 1) return refuse(error, "comp_block is %d: it must be at least 1", in->comp_block);
  if (in->given[ARG_bt_stride] && in->bt_stride < 1) return refuse(error, "bt_stride is %d: it must be at least 1", in->bt_stride);
  return true;
}

bool inputs_check_positions(const struct inputs *in, char error[INPUT_ERROR_MAX]) {
  for (int t = 0; t < in->key.tokens; t++) {
    int64_t pos = ((const int64_t *)in->data[ARG_pos])[t];
    if (pos < 0 || pos >= 1 << 24) return refuse(error, "pos[%d] is %lld: allowed are 0 to 2^24 - 1", t, (long long)pos);
  }
  return true;
}

bool inputs_check_slots(const struct inputs *in, char error[INPUT_ERROR_MAX]) {
  const int64_t *slot = in->data[ARG_slot];
  for (int t = 0; t < in->key.tokens; t++) {
    if (slot[t] >= 1ll << 31) return refuse(error, "slot[%d] is %lld: it must be below 2^31", t, (long long)slot[t]);
    if (slot[t] < INT32_MIN) /* the kernel reads the low 32 bits: it may be a slot to it */
      return refuse(error, "slot[%d] is %lld: it must not be below -2^31: a pad row has -1", t, (long long)slot[t]);
    for (int other = 0; slot[t] >= 0 && other < t; other++)
      if (slot[other] == slot[t])
        return refuse(error, "slot[%d] and slot[%d] are both %lld: two tokens cannot share one", other, t, (long long)slot[t]);
  }
  return true;
}

bool inputs_check_table(const struct inputs *in, char error[INPUT_ERROR_MAX]) {
  uint64_t entries;
  if (in->given[ARG_comp_bt] || !in->requests || in->bt_stride < 1) return true;
  if (!__builtin_mul_overflow(in->requests, (uint64_t)in->bt_stride, &entries) && entries <= TABLE_ENTRIES_MAX) return true;
  return refuse(error, "t2r and topk need a comp_bt of %llu rows of %d blocks: at most %d entries are drawn: give smaller ones, or comp_bt",
      (unsigned long long)in->requests, in->bt_stride, TABLE_ENTRIES_MAX);
}

static bool has_block(const struct inputs *in, int64_t number) {
  for (size_t i = 0; i < in->blocks; i++)
    if (in->block[i].number == number) return true;
  return false;
}

static bool check_token(const struct inputs *in, int t, char *error) {
  int64_t pos = ((const int64_t *)in->data[ARG_pos])[t], slot = ((const int64_t *)in->data[ARG_slot])[t];
  if ((uint64_t)pos >= in->positions)
    return refuse(error, "pos[%d] is %lld: cos_sin has %llu rows", t, (long long)pos, (unsigned long long)in->positions);
  if (slot >= 0 && !has_block(in, slot / in->swa_block))
    return refuse(error, "slot[%d] is %lld, in block %lld: swa has no such block", t, (long long)slot, (long long)(slot / in->swa_block));
  return true;
}

/* The compressed rows that a token uses must be in its request's block table. */
static bool check_compressed(const struct inputs *in, int t, char *error) {
  int64_t pos = ((const int64_t *)in->data[ARG_pos])[t], slot = ((const int64_t *)in->data[ARG_slot])[t];
  if (!in->data[ARG_comp_bt] || slot < 0) return true;
  int32_t request = ((const int32_t *)in->data[ARG_t2r])[t];
  if (request < 0 || (uint64_t)request >= in->requests)
    return refuse(error, "t2r[%d] is %d: comp_bt has %llu rows", t, request, (unsigned long long)in->requests);
  int64_t used = (pos + 1) / in->key.ratio;
  for (int k = 0; k < TOPK && k < used; k++) {
    int32_t row = ((const int32_t *)in->data[ARG_topk])[t * TOPK + k];
    if (row >= 0 && row / in->comp_block >= in->bt_stride)
      return refuse(
          error, "topk[%d][%d] is %d: at %d rows a block, comp_bt's rows have %d blocks", t, k, row, in->comp_block, in->bt_stride);
  }
  return true;
}

bool inputs_check(const struct inputs *in, char error[INPUT_ERROR_MAX]) {
  if (!inputs_check_scalars(in, error) || !inputs_check_positions(in, error) || !inputs_check_slots(in, error)) return false;
  for (int t = 0; t < in->key.tokens; t++)
    if (!check_token(in, t, error) || !check_compressed(in, t, error)) return false;
  return true;
}
