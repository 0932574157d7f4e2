/* SPDX-License-Identifier: Apache-2.0 */
/* The least that a launch must load of each argument. */
#include <stdlib.h>

#include "session.h"

static bool is_live(const struct inputs *in, int t) { return ((const int64_t *)in->data[ARG_slot])[t] >= 0; }

static int64_t count_topk(const struct inputs *in, int t) {
  if (!in->key.ratio || !is_live(in, t)) return 0;
  int64_t rows = (((const int64_t *)in->data[ARG_pos])[t] + 1) / in->key.ratio;
  return rows < TOPK ? rows : TOPK;
}

static int by_value(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static uint64_t count_distinct(uint64_t *value, size_t count) {
  uint64_t distinct = 0;
  qsort(value, count, sizeof *value, by_value);
  for (size_t i = 0; i < count; i++) distinct += !i || value[i] != value[i - 1];
  return distinct;
}

/* Entries of the block tables that some key needs. */
static uint64_t count_table_entries(const struct inputs *in) {
  uint64_t *entry = malloc((size_t)in->key.tokens * TOPK * sizeof *entry), count = 0;
  for (int t = 0; entry && t < in->key.tokens; t++) {
    int64_t used = count_topk(in, t);
    for (int64_t k = 0; k < used; k++) {
      int32_t row = ((const int32_t *)in->data[ARG_topk])[t * TOPK + k];
      uint64_t request = (uint32_t)((const int32_t *)in->data[ARG_t2r])[t];
      if (row >= 0) entry[count++] = request << 32 | (uint32_t)(row / in->comp_block);
    }
  }
  uint64_t distinct = entry ? count_distinct(entry, count) : 0;
  free(entry);
  return distinct;
}

static uint64_t count_positions(const struct inputs *in) {
  uint64_t pos[TOKENS_MAX];
  for (int t = 0; t < in->key.tokens; t++) pos[t] = (uint64_t)((const int64_t *)in->data[ARG_pos])[t];
  return count_distinct(pos, (size_t)in->key.tokens);
}

uint64_t traffic_minimum(const struct inputs *in, enum front_arg arg) {
  uint64_t live = 0, keys = 0, window = 0;
  for (int t = 0; t < in->key.tokens; t++) {
    int32_t length = ((const int32_t *)in->data[ARG_swa_lens])[t];
    if (!is_live(in, t)) continue;
    live++;
    keys += (uint64_t)count_topk(in, t);
    window += length < 0 ? 0 : length < in->key.window ? (uint64_t)length : (uint64_t)in->key.window;
  }
  switch (arg) {
  case ARG_x:
    return (uint64_t)in->key.tokens * HIDDEN * 2;
  case ARG_swa_idx:
    return 4 * window;
  case ARG_pos:
  case ARG_slot: /* their low dwords */
    return (uint64_t)in->key.tokens * 4;
  case ARG_swa_lens:
    return 4 * live;
  case ARG_t2r:
    return in->key.ratio ? 4 * live : 0;
  case ARG_topk:
    return 4 * keys;
  case ARG_comp_bt:
    return 4 * count_table_entries(in);
  case ARG_cos_sin:
    return count_positions(in) * ROPE * 4;
  case ARG_scratch:
  case ARG_q:
  case ARG_kt:
  case ARG_klen:
  case ARG_qr_out:
  case ARG_tl:
    return 0;
  default:
    return in->bytes[arg];
  }
}
