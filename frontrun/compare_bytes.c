/* SPDX-License-Identifier: Apache-2.0 */
/* flags: every pair has this launch's tag, the epoch has moved, done is 0. untouched: every byte that the launch must not write is as
   it was: of the scratch (regions not in use, padding, gaps between copies), of the cache blocks, of outputs the key has not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_parts.h"

/* ---- flags ---- */

static void compare_flag_pairs(struct comparison *c, struct compare_row *row, enum scratch_region region, uint32_t pairs) {
  const uint8_t *at = compare_region(c, region);
  const char *name = c->layout.region[region].name;
  for (uint32_t copy = 0; copy < c->copies; copy++)
    for (uint32_t i = 0; i < pairs; i++) {
      size_t pair = (size_t)copy * flag_copy_stride(pairs) + i;
      uint32_t value = compare_u32(at, 2 * pair), tag = compare_u32(at, 2 * pair + 1);
      compare_exact(row, 1, value, value == 1, "%s copy %u pair %u value", name, copy, i);
      compare_exact(row, c->tag, tag, tag == c->tag, "%s copy %u pair %u tag", name, copy, i);
    }
}

void compare_flags(struct comparison *c) {
  struct compare_row *row = compare_row_begin(c, "flags");
  if (c->x8_published) compare_flag_pairs(c, row, SCRATCH_xrdy, K_HALVES * c->tokens);
  const uint8_t *qkvp = compare_region(c, SCRATCH_qkvp);
  for (uint32_t i = 0; i < K_HALVES * c->tokens * QKV_ROWS; i++) {
    uint32_t tag = compare_u32(qkvp, 2 * (size_t)i + 1);
    compare_exact(row, c->tag, tag, tag == c->tag, "qkvp half %u token %u row %u tag", i / QKV_ROWS / c->tokens, i / QKV_ROWS % c->tokens,
        i % QKV_ROWS);
  }
  compare_flag_pairs(c, row, SCRATCH_qrdy, c->tokens);

  const uint32_t epoch = c->out->epoch_before + (c->key->embed ? 0u : 1u);
  compare_exact(row, epoch, c->out->epoch, c->out->epoch == epoch, "epoch");
  if (!c->key->embed) { /* embedded, the caller counts */
    uint32_t done = compare_u32(compare_region(c, SCRATCH_done), 0);
    compare_exact(row, 0, done, done == 0, "done");
  }
  compare_row_end(c, row);
}

/* ---- untouched ---- */

struct span {
  size_t first, bytes;
};

/* Bytes that may be written, in rising order. */
struct spans {
  struct span span[2 * COPIES + 8 + 2 * TOKENS_MAX];
  size_t count;
};

static void add_span(struct spans *spans, size_t first, size_t bytes) { spans->span[spans->count++] = (struct span){first, bytes}; }

/* Describes byte `at` of the memory that is checked. */
typedef void describe_byte(const struct comparison *c, const void *what, size_t at, char *text, size_t size);

struct memory {
  const uint8_t *before, *after;
  size_t bytes;
  describe_byte *describe;
  const void *what;
};

static void compare_gap(const struct comparison *c, struct compare_row *row, const struct memory *m, size_t first, size_t end) {
  if (first >= end) return;
  if (memcmp(m->before + first, m->after + first, end - first) == 0) {
    row->values += end - first;
    row->exact += end - first;
    return;
  }
  for (size_t i = first; i < end; i++) {
    bool same = m->before[i] == m->after[i];
    if (!compare_count(row, same, same)) continue;
    char place[128];
    m->describe(c, m->what, i, place, sizeof place);
    snprintf(row->first, sizeof row->first, "%s: must stay 0x%02x, became 0x%02x", place, m->before[i], m->after[i]);
  }
}

/* All bytes outside the spans. */
static void compare_unwritten(const struct comparison *c, struct compare_row *row, const struct memory *m, const struct spans *spans) {
  size_t at = 0;
  for (size_t i = 0; i < spans->count; i++) {
    compare_gap(c, row, m, at, spans->span[i].first);
    at = spans->span[i].first + spans->span[i].bytes;
  }
  compare_gap(c, row, m, at, m->bytes);
}

static void describe_scratch(const struct comparison *c, const void *what, size_t at, char *text, size_t size) {
  (void)what;
  size_t i = SCRATCH_REGIONS - 1;
  while (c->layout.region[i].offset > at) i--;
  snprintf(text, size, "scratch region %s byte %zu (of %u)", c->layout.region[i].name, at - c->layout.region[i].offset,
      c->layout.region[i].bytes);
}

static void add_region(const struct comparison *c, struct spans *spans, enum scratch_region region) {
  add_span(spans, c->layout.region[region].offset, c->layout.region[region].bytes);
}

static void add_flags(const struct comparison *c, struct spans *spans, enum scratch_region region, uint32_t pairs) {
  for (uint32_t copy = 0; copy < c->copies; copy++)
    add_span(spans, c->layout.region[region].offset + (size_t)copy * flag_copy_stride(pairs) * PAIR_BYTES, (size_t)pairs * PAIR_BYTES);
}

static void compare_scratch(struct comparison *c, struct compare_row *row) {
  struct spans spans = {.count = 0};
  if (c->xq) {
    add_region(c, &spans, SCRATCH_x8);
    for (uint32_t half = 0; half < K_HALVES; half++)
      add_span(&spans, c->layout.region[SCRATCH_x8s].offset + 4 * compare_x8s_index(c->tokens, half, 0, 0),
          (size_t)c->tokens * (HIDDEN_GROUPS / K_HALVES) * 4);
    add_flags(c, &spans, SCRATCH_xrdy, K_HALVES * c->tokens);
  }
  add_region(c, &spans, SCRATCH_qkvp);
  add_region(c, &spans, SCRATCH_qx8);
  add_region(c, &spans, SCRATCH_qx8s);
  add_flags(c, &spans, SCRATCH_qrdy, c->tokens);
  add_region(c, &spans, SCRATCH_done);
  const struct memory scratch = {c->out->scratch_before, c->out->scratch, c->layout.bytes, describe_scratch, NULL};
  compare_unwritten(c, row, &scratch, &spans);
}

static void describe_cache(const struct comparison *c, const void *what, size_t at, char *text, size_t size) {
  const struct compare_block *block = what;
  const size_t data = (size_t)c->in->swa_block * KV_DATA_BYTES, records = (size_t)c->in->swa_block * KV_RECORD_BYTES;
  if (at < data)
    snprintf(text, size, "cache block %lld byte %zu (data byte %zu of slot %zu in it)", (long long)block->block, at, at % KV_DATA_BYTES,
        at / KV_DATA_BYTES);
  else if (at < records)
    snprintf(text, size, "cache block %lld byte %zu (scale byte %zu of slot %zu in it)", (long long)block->block, at,
        (at - data) % KV_SCALE_BYTES, (at - data) / KV_SCALE_BYTES);
  else
    snprintf(text, size, "cache block %lld byte %zu (padding behind its records)", (long long)block->block, at);
}

static int by_first(const void *a, const void *b) {
  const struct span *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

static void compare_cache_block(struct comparison *c, struct compare_row *row, const struct compare_block *block) {
  struct spans spans = {.count = 0};
  for (uint32_t t = 0; t < c->tokens; t++) {
    int32_t slot = (int32_t)(uint32_t)c->in->slot[t];
    if (slot < 0 || slot / c->in->swa_block != block->block) continue;
    size_t in_block = (size_t)(slot % c->in->swa_block);
    add_span(&spans, in_block * KV_DATA_BYTES, KV_DATA_BYTES);
    add_span(&spans, (size_t)c->in->swa_block * KV_DATA_BYTES + in_block * KV_SCALE_BYTES, KV_SCALE_BYTES);
  }
  qsort(spans.span, spans.count, sizeof *spans.span, by_first);
  const size_t bytes = block->bytes ? block->bytes : (size_t)c->in->swa_stride;
  const struct memory memory = {block->before, block->after, bytes, describe_cache, block};
  compare_unwritten(c, row, &memory, &spans);
}

static void describe_output(const struct comparison *c, const void *what, size_t at, char *text, size_t size) {
  (void)c;
  snprintf(text, size, "%s byte %zu (this key does not write it)", (const char *)what, at);
}

static void compare_output(
    struct comparison *c, struct compare_row *row, const char *name, const void *before, const void *after, size_t bytes) {
  if (!before || !after) return;
  const struct spans none = {.count = 0};
  const struct memory memory = {before, after, bytes, describe_output, name};
  compare_unwritten(c, row, &memory, &none);
}

void compare_untouched(struct comparison *c) {
  const struct compare_outputs *out = c->out;
  struct compare_row *row = compare_row_begin(c, "untouched");
  compare_scratch(c, row);
  for (size_t i = 0; i < out->block_count; i++) compare_cache_block(c, row, &out->blocks[i]);
  if (c->key->index) {
    compare_output(c, row, "kt", out->kt_before, out->kt, (size_t)c->tokens * c->keys * sizeof(int32_t));
    compare_output(c, row, "klen", out->klen_before, out->klen, (size_t)c->tokens * 2 * sizeof(int32_t));
  } else {
    compare_output(c, row, "qr_out", out->qr_out_before, out->qr_out, (size_t)c->tokens * Q_RANK * sizeof(uint16_t));
  }
  compare_row_end(c, row);
}
