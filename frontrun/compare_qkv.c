/* SPDX-License-Identifier: Apache-2.0 */
/* qkv: the quantised low-rank query in the scratch (row "qkv") and the record in the window cache (row "kv"), from the kernel's own
   partial sums. On hardware v_rsq_f32 may be 1 ulp off: a token's q part, and by itself its kv part, may then match any one of three. */
#include <stdio.h>
#include <string.h>

#include "compare_parts.h"

struct token_parts {
  uint32_t t;
  const uint8_t *qx8, *qx8s;      /* in the scratch */
  const uint16_t *qr;             /* null without index */
  const uint8_t *record, *scales; /* null for a pad row */
};

/* The kernel's partial sums of the token: the values of its pairs. */
static void partial_sums(const struct comparison *c, uint32_t half, uint32_t t, float sums[QKV_ROWS]) {
  const uint8_t *pairs = compare_region(c, SCRATCH_qkvp) + ((size_t)half * c->tokens + t) * QKV_ROWS * PAIR_BYTES;
  for (uint32_t row = 0; row < QKV_ROWS; row++) memcpy(&sums[row], pairs + (size_t)row * PAIR_BYTES, sizeof(float));
}

static const struct compare_block *block_of(const struct comparison *c, int32_t slot) {
  for (size_t i = 0; i < c->out->block_count; i++)
    if (c->out->blocks[i].block == slot / c->in->swa_block) return &c->out->blocks[i];
  return NULL;
}

static struct token_parts parts_of(const struct comparison *c, uint32_t t) {
  struct token_parts parts = {.t = t,
      .qx8 = compare_region(c, SCRATCH_qx8) + (size_t)t * Q_RANK,
      .qx8s = compare_region(c, SCRATCH_qx8s) + (size_t)t * Q_GROUPS * sizeof(int32_t),
      .qr = c->key->index ? c->out->qr_out + (size_t)t * Q_RANK : NULL};
  const int32_t slot = (int32_t)(uint32_t)c->in->slot[t];
  const struct compare_block *block = slot < 0 ? NULL : block_of(c, slot);
  if (block) {
    size_t in_block = (size_t)(slot % c->in->swa_block);
    parts.record = block->after + in_block * KV_DATA_BYTES;
    parts.scales = block->after + (size_t)c->in->swa_block * KV_DATA_BYTES + in_block * KV_SCALE_BYTES;
  }
  return parts;
}

static void compare_q_part(
    struct compare_row *row, const struct token_parts *p, const struct ref_qkv_out *want, const struct ref_fp8 *fp8) {
  for (uint32_t i = 0; i < Q_RANK && p->qr; i++)
    compare_exact(row, want->qr[i], p->qr[i], compare_same_bf16(want->qr[i], p->qr[i]), "qr_out token %u column %u", p->t, i);
  for (uint32_t i = 0; i < Q_RANK; i++)
    compare_exact(row, want->qx8[i], p->qx8[i], compare_same_e4m3(want->qx8[i], p->qx8[i], fp8), "qx8 token %u column %u", p->t, i);
  for (uint32_t g = 0; g < Q_GROUPS; g++) {
    uint32_t found = compare_u32(p->qx8s, g);
    compare_exact(row, want->qx8s[g], found, want->qx8s[g] == found, "qx8s token %u group %u", p->t, g);
  }
}

static void compare_kv_part(
    struct compare_row *row, const struct token_parts *p, const struct ref_qkv_out *want, const struct ref_fp8 *fp8) {
  for (uint32_t i = 0; i < NOPE; i++)
    compare_exact(
        row, want->record[i], p->record[i], compare_same_e4m3(want->record[i], p->record[i], fp8), "record token %u dim %u", p->t, i);
  for (uint32_t i = NOPE; i < KV_DATA_BYTES; i += 2) {
    uint16_t wanted = (uint16_t)(want->record[i] | want->record[i + 1] << 8), found = (uint16_t)(p->record[i] | p->record[i + 1] << 8);
    compare_exact(row, wanted, found, compare_same_bf16(wanted, found), "record token %u dim %u", p->t, NOPE + (i - NOPE) / 2);
  }
  for (uint32_t i = 0; i < KV_SCALE_BYTES; i++)
    compare_exact(row, want->scales[i], p->scales[i], want->scales[i] == p->scales[i], "record token %u scale byte %u", p->t, i);
}

typedef void part_compare(struct compare_row *, const struct token_parts *, const struct ref_qkv_out *, const struct ref_fp8 *);

static void add_counts(struct compare_row *row, const struct compare_row *more) {
  if (row->wrong == 0) memcpy(row->first, more->first, sizeof row->first);
  row->values += more->values;
  row->exact += more->exact;
  row->wrong += more->wrong;
}

/* Against want[0]; on hardware, if that fails, against the others, of which one must match wholly. */
static void compare_part(const struct comparison *c, part_compare *part, struct compare_row *row, const struct token_parts *p,
    const struct ref_qkv_out want[3], unsigned wants) {
  struct compare_row first = {0};
  part(&first, p, &want[0], &c->fp8);
  for (unsigned i = 1; i < wants && first.wrong; i++) {
    struct compare_row other = {0};
    part(&other, p, &want[i], &c->fp8);
    if (other.wrong) continue;
    first.wrong = 0; /* `exact` stays what it is for the reference's own r */
    first.first[0] = 0;
  }
  add_counts(row, &first);
}

void compare_qkv(struct comparison *c) {
  static const int ulps[3] = {0, -1, 1};
  const unsigned wants = c->hardware ? 3 : 1;
  struct compare_row *qkv = compare_row_begin(c, "qkv"), *kv = compare_row_begin(c, "kv");
  for (uint32_t t = 0; t < c->tokens; t++) {
    float half0[QKV_ROWS], half1[QKV_ROWS];
    struct ref_qkv_out want[3];
    partial_sums(c, 0, t, half0);
    partial_sums(c, 1, t, half1);
    for (unsigned i = 0; i < wants; i++) {
      const struct ref_qkv_in in = {.half0 = half0,
          .half1 = half1,
          .qn_w = c->in->qn_w,
          .kvn_w = c->in->kvn_w,
          .cos_sin = c->in->cos_sin + (size_t)c->in->pos[t] * ROPE,
          .q_rsq_ulps = ulps[i],
          .kv_rsq_ulps = ulps[i]};
      ref_qkv(&in, &c->fp8, &want[i]);
    }
    const struct token_parts parts = parts_of(c, t);
    compare_part(c, compare_q_part, qkv, &parts, want, wants);
    if (parts.record) compare_part(c, compare_kv_part, kv, &parts, want, wants);
  }
  compare_row_end(c, qkv);
  if (kv->values == 0)
    c->result->rows--; /* every row is a pad row: there is no record; "untouched" has the cache's bytes */
  else
    compare_row_end(c, kv);
}
