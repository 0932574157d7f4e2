/* SPDX-License-Identifier: Apache-2.0 */
/* What a step says of its tokens: positions, slots, windows, top-k, block tables, and the window cache behind the slots. Entries that
   must not be used hold values that are wrong if they are. */
#include <math.h>
#include <stdlib.h>

#include "draw.h"
#include "inputs.h"

enum {
  WHAT_SCALARS = 100,
  WHAT_BLOCKS,
  FAR_POSITION = 131072, /* what the model was extended to */
  POISON_INDEX = 0x5ead0000,
  POISON_ROW = 0x7ffff000,
  PHYSICAL_BLOCKS = 1 << 24,
};

static bool is_pad(const struct inputs *in, int t) { return ((const int64_t *)in->data[ARG_slot])[t] < 0; }

bool draw_scalars(struct inputs *in) {
  static const int32_t window_block[] = {64, 16, 1, 64, 33, 128}, compressed_block[] = {64, 16, 1, 32, 21, 64};
  struct draw d = draw_stream(in->seed, WHAT_SCALARS, 0);
  uint64_t which_window = draw_below(&d, 6), which_compressed = draw_below(&d, 6);
  uint64_t wider = draw_below(&d, 3), stride_pad = draw_below(&d, 41);
  if (!in->given[ARG_x_stride]) in->x_stride = HIDDEN + (wider ? 0 : (int32_t)(8 * (1 + draw_below(&d, 40))));
  if (!in->given[ARG_swa_block]) in->swa_block = window_block[which_window];
  if (!in->given[ARG_swa_stride]) in->swa_stride = (int64_t)KV_RECORD_BYTES * in->swa_block + 8 * (int64_t)stride_pad;
  if (!in->given[ARG_comp_block]) in->comp_block = compressed_block[which_compressed];
  return true;
}

/* The first position of a request, fewer compressed rows than a top-k holds, a middle one, beyond FAR_POSITION. */
static int64_t draw_position(struct draw *d, unsigned kind, int ratio) {
  switch (kind) {
  case 0:
    return draw_once(d, 2) ? 0 : (int64_t)draw_below(d, 3);
  case 1:
    return (int64_t)draw_below(d, (uint64_t)TOPK * (unsigned)(ratio ? ratio : 1));
  case 2:
    return FAR_POSITION + 1 + (int64_t)draw_below(d, 70000);
  default:
    return 2048 + (int64_t)draw_below(d, FAR_POSITION - 2048);
  }
}

bool draw_positions(struct inputs *in) {
  if (in->given[ARG_pos]) return true;
  if (!inputs_allocate(in, ARG_pos, in->bytes[ARG_pos])) return false;
  int64_t *pos = in->data[ARG_pos];
  struct draw d = draw_stream(in->seed, ARG_pos, 0);
  unsigned first = (unsigned)draw_below(&d, 4);
  for (int t = 0; t < in->key.tokens; t++) {
    pos[t] = draw_position(&d, (first + (unsigned)t) % 4, in->key.ratio);
    if (in->which == CASE_FAR) pos[t] = (1 << 24) - 1 - (int64_t)draw_below(&d, t ? 1 << 20 : 1);
  }
  return true;
}

/* A block below 2 GiB, between 2 and 4 GiB, or beyond 4 GiB of the cache. */
static int64_t draw_block(const struct inputs *in, struct draw *d, unsigned part) {
  uint64_t stride = (uint64_t)in->swa_stride, part_blocks = (1ull << 31) / stride;
  uint64_t first = part ? (part * (1ull << 31) + stride - 1) / stride : 0;
  uint64_t count = part < 2 ? part_blocks - 1 : (600ull << 20) / stride;
  return (int64_t)(first + draw_below(d, count ? count : 1));
}

static bool is_taken(const int64_t *slot, int count, int64_t value) {
  for (int i = 0; i < count; i++)
    if (slot[i] == value) return true;
  return false;
}

static bool draw_pad(const struct inputs *in, struct draw *d, int t, int live) {
  bool pad = draw_once(d, 5);
  if (in->which == CASE_ALLPAD) return true;
  if (in->which == CASE_NOPAD || in->key.tokens <= 2) return false;
  return pad && (live > 0 || t + 1 < in->key.tokens);
}

bool draw_slots(struct inputs *in) {
  if (in->given[ARG_slot]) return true;
  if (!inputs_allocate(in, ARG_slot, in->bytes[ARG_slot])) return false;
  int64_t *slot = in->data[ARG_slot], block[3] = {-1, -1, -1};
  struct draw d = draw_stream(in->seed, ARG_slot, 0);
  unsigned first = (unsigned)draw_below(&d, 3);
  int live = 0;
  for (int t = 0; t < in->key.tokens; t++) {
    if (draw_pad(in, &d, t, live)) {
      slot[t] = draw_once(&d, 4) ? -7 - t : -1;
      continue;
    }
    unsigned part = (first + (unsigned)live++) % 3;
    int64_t tries = 0;
    do { /* a given stride may leave a part fewer slots than tokens: then beyond it */
      bool share = block[part] >= 0 && draw_once(&d, 3);
      if (!share) block[part] = draw_block(in, &d, part);
      slot[t] = block[part] * in->swa_block + (int64_t)draw_below(&d, (uint64_t)in->swa_block) + tries++ / 64;
    } while (is_taken(slot, t, slot[t]));
  }
  return true;
}

static int32_t draw_length(const struct inputs *in, struct draw *d) {
  uint64_t kind = draw_below(d, 16);
  if (kind < 7) return in->key.window;
  if (kind == 7) return in->key.window + 3; /* clamped */
  if (kind == 8) return -2;                 /* clamped */
  return (int32_t)draw_below(d, (uint64_t)in->key.window + 1);
}

bool draw_windows(struct inputs *in) {
  struct draw d = draw_stream(in->seed, ARG_swa_lens, 0);
  if (!in->given[ARG_swa_lens]) {
    if (!inputs_allocate(in, ARG_swa_lens, in->bytes[ARG_swa_lens])) return false;
    int32_t *lens = in->data[ARG_swa_lens];
    for (int t = 0; t < in->key.tokens; t++) lens[t] = draw_length(in, &d);
  }
  if (in->given[ARG_swa_idx]) return true;
  if (!inputs_allocate(in, ARG_swa_idx, in->bytes[ARG_swa_idx])) return false;
  const int32_t *lens = in->data[ARG_swa_lens];
  int32_t *idx = in->data[ARG_swa_idx];
  for (int t = 0; t < in->key.tokens; t++) {
    for (int k = 0; k < in->key.window; k++) {
      int32_t *entry = &idx[(int64_t)t * in->key.window + k];
      *entry = (int32_t)draw_below(&d, 1u << 30);
      if (k >= lens[t] || is_pad(in, t)) *entry = POISON_INDEX + k;
    }
  }
  return true;
}

static int32_t count_topk(const struct inputs *in, int t) {
  int64_t rows = (((const int64_t *)in->data[ARG_pos])[t] + 1) / in->key.ratio;
  return is_pad(in, t) ? 0 : (int32_t)(rows < TOPK ? rows : TOPK);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* Distinct rows in no order: steps of a length that is prime to their number, from a random start. Some are "none". */
static void draw_topk_row(const struct inputs *in, int t, int32_t *row) {
  struct draw d = draw_stream(in->seed, ARG_topk, (uint64_t)t);
  int32_t used = count_topk(in, t);
  uint64_t rows = (uint64_t)((((const int64_t *)in->data[ARG_pos])[t] + 1) / in->key.ratio);
  uint64_t at = rows ? draw_below(&d, rows) : 0, step = rows > 1 ? 1 + draw_below(&d, rows - 1) : 1;
  while (rows > 1 && common_divisor(step, rows) > 1) step++;
  for (int32_t k = 0; k < TOPK; k++) {
    row[k] = k < used ? (draw_once(&d, 20) ? -1 : (int32_t)at) : POISON_ROW + k;
    if (rows) at = (at + step) % rows;
  }
}

/* Block tables with as many columns as any token's rows need, physical blocks in no order. */
static bool draw_block_table(struct inputs *in) {
  const int32_t *topk = in->data[ARG_topk], *t2r = in->data[ARG_t2r];
  int32_t highest = 0;
  for (int t = 0; t < in->key.tokens; t++) {
    int32_t used = count_topk(in, t);
    if (!is_pad(in, t) && t2r[t] >= 0 && (uint64_t)t2r[t] >= in->requests) in->requests = (uint64_t)t2r[t] + 1;
    for (int32_t k = 0; k < used; k++)
      if (topk[t * TOPK + k] > highest) highest = topk[t * TOPK + k];
  }
  struct draw d = draw_stream(in->seed, ARG_comp_bt, 0);
  int32_t columns = highest / in->comp_block, spare = (int32_t)draw_below(&d, 8) + 1;
  columns += columns < INT32_MAX;
  if (!in->given[ARG_bt_stride] && __builtin_add_overflow(columns, spare - 1, &in->bt_stride)) in->bt_stride = INT32_MAX;
  if (!in->requests) in->requests = 1;
  char ignored[INPUT_ERROR_MAX];
  if (!inputs_check_table(in, ignored)) return true; /* inputs_make() says why */
  if (!inputs_allocate(in, ARG_comp_bt, in->requests * (uint64_t)in->bt_stride * 4)) return false;
  int32_t *table = in->data[ARG_comp_bt];
  for (uint64_t r = 0; r < in->requests; r++)
    for (int32_t c = 0; c < in->bt_stride; c++)
      table[r * (uint64_t)in->bt_stride + (uint64_t)c] = c < columns ? (int32_t)draw_below(&d, PHYSICAL_BLOCKS) : POISON_ROW + c % 64;
  return true;
}

bool draw_compressed(struct inputs *in) {
  static const enum front_arg arrays[] = {ARG_topk, ARG_t2r, ARG_comp_bt};
  if (!in->key.ratio || in->key.index) {
    for (int i = 0; i < 3; i++)
      if (!in->given[arrays[i]]) in->bytes[arrays[i]] = 0;
    return true;
  }
  struct draw d = draw_stream(in->seed, ARG_t2r, 0);
  if (!in->given[ARG_t2r]) {
    if (!inputs_allocate(in, ARG_t2r, in->bytes[ARG_t2r])) return false;
    int32_t *t2r = in->data[ARG_t2r];
    uint64_t most = in->requests ? in->requests : 1 + draw_below(&d, in->key.tokens < 5 ? (uint64_t)in->key.tokens : 5);
    for (int t = 0; t < in->key.tokens; t++) t2r[t] = is_pad(in, t) ? POISON_ROW : (int32_t)draw_below(&d, most);
  }
  if (!in->given[ARG_topk]) {
    if (!inputs_allocate(in, ARG_topk, in->bytes[ARG_topk])) return false;
    for (int t = 0; t < in->key.tokens; t++) draw_topk_row(in, t, (int32_t *)in->data[ARG_topk] + t * TOPK);
  }
  return in->given[ARG_comp_bt] || draw_block_table(in);
}

static void fill_position(const struct inputs *in, uint64_t position) {
  float *row = (float *)in->data[ARG_cos_sin] + position * ROPE;
  for (int i = 0; i < ROPE_PAIRS; i++) {
    double angle = (double)position * pow(10000.0, -(double)i / (double)ROPE_PAIRS);
    row[i] = (float)cos(angle);
    row[ROPE_PAIRS + i] = (float)sin(angle);
  }
}

/* One NaN or infinity in the row of a token that is there. */
static void spoil_position(const struct inputs *in) {
  if (in->which != CASE_NAN && in->which != CASE_INF) return;
  uint64_t position = (uint64_t)((const int64_t *)in->data[ARG_pos])[in->key.tokens / 2];
  ((float *)in->data[ARG_cos_sin])[position * ROPE + 5] = in->which == CASE_NAN ? NAN : INFINITY;
}

/* A table that ends with the last position, filled around each token's. */
bool draw_cos_sin(struct inputs *in) {
  if (in->given[ARG_cos_sin]) return true;
  const int64_t *pos = in->data[ARG_pos];
  for (int t = 0; t < in->key.tokens; t++)
    if (pos[t] >= 0 && pos[t] < 1 << 24 && (uint64_t)pos[t] >= in->positions) in->positions = (uint64_t)pos[t] + 1;
  if (!inputs_allocate(in, ARG_cos_sin, in->positions * ROPE * 4)) return false;
  in->filled = calloc((size_t)in->key.tokens, sizeof *in->filled);
  if (!in->filled) return false;
  for (int t = 0; t < in->key.tokens; t++) {
    if (pos[t] < 0 || (uint64_t)pos[t] >= in->positions) continue; /* inputs_check() refuses it */
    uint64_t first = pos[t] ? (uint64_t)pos[t] - 1 : 0, last = (uint64_t)pos[t] + 1;
    if (last >= in->positions) last = in->positions - 1;
    for (uint64_t p = first; p <= last; p++) fill_position(in, p);
    in->filled[in->filled_count++] = (struct extent){first * ROPE * 4, (last - first + 1) * ROPE * 4};
  }
  spoil_position(in);
  return true;
}

bool draw_window_cache(struct inputs *in) {
  if (in->given[ARG_swa]) return true;
  if (!in->window_blocks) in->window_blocks = 1;
  if (!inputs_choose_blocks(in)) return false;
  for (size_t i = 0; i < in->blocks; i++) {
    struct draw d = draw_stream(in->seed, WHAT_BLOCKS, (uint64_t)in->block[i].number);
    for (int64_t at = 0; at < in->swa_stride; at++) in->block[i].before[at] = (uint8_t)(draw_u64(&d) >> 56);
  }
  return true;
}
