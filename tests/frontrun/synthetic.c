/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the inputs and the faultless launch of synthetic.h. */
#include "synthetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static uint64_t state;

static uint32_t random_u32(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

static uint16_t random_bf16(void) { return (uint16_t)((random_u32() & 0x807f) | (124 + random_u32() % 5) << 7); }

static void *memory(size_t bytes) {
  void *m = malloc(bytes);
  assert_non_null(m);
  return m;
}

static uint16_t *random_bf16s(size_t count) {
  uint16_t *v = memory(count * sizeof *v);
  for (size_t i = 0; i < count; i++) v[i] = random_bf16();
  return v;
}

static uint8_t *random_weights(size_t count) {
  uint8_t *v = memory(count);
  for (size_t i = 0; i < count; i++) v[i] = (uint8_t)((random_u32() & 0x80) | (0x20 + random_u32() % 0x38));
  return v;
}

static uint8_t *random_codes(size_t count) {
  uint8_t *v = memory(count);
  for (size_t i = 0; i < count; i++) v[i] = (uint8_t)(116 + (i * 7 + i / 160 * 3) % 11); /* a neighbour's is another */
  return v;
}

static void make_weights(struct synthetic *s) {
  s->wqkv = random_weights((size_t)QKV_ROWS * HIDDEN);
  s->wqkv_s = random_codes(QKV_ROWS / 32 * HIDDEN_GROUPS);
  s->wqb = random_weights((size_t)s->q_rows * Q_RANK);
  s->wqb_s = random_codes((size_t)s->q_rows / 32 * Q_GROUPS);
  s->qn_w = random_bf16s(Q_RANK);
  s->kvn_w = random_bf16s(KV_DIM);
  s->cos_sin = memory(SYN_POSITIONS * ROPE * sizeof(float));
  for (uint32_t p = 0; p < SYN_POSITIONS; p++)
    for (uint32_t i = 0; i < ROPE_PAIRS; i++) {
      double angle = 0.3 + p * pow(0.8, i);
      s->cos_sin[p * ROPE + i] = (float)cos(angle);
      s->cos_sin[p * ROPE + ROPE_PAIRS + i] = (float)sin(angle);
    }
}

static void make_step(struct synthetic *s) {
  const size_t window = (size_t)s->key.window;
  s->x = random_bf16s((size_t)s->tokens * (HIDDEN + 8));
  s->pos = memory(s->tokens * sizeof *s->pos);
  s->slot = memory(s->tokens * sizeof *s->slot);
  s->swa_lens = memory(s->tokens * sizeof(int32_t));
  s->t2r = memory(s->tokens * sizeof(int32_t));
  s->swa_idx = memory(s->tokens * window * sizeof(int32_t));
  s->topk = memory(s->tokens * TOPK * sizeof(int32_t));
  s->comp_bt = memory(SYN_REQUESTS * SYN_TABLE * sizeof(int32_t));
  for (uint32_t t = 0; t < s->tokens; t++) {
    s->pos[t] = (int64_t)((t * 5 + 3) % SYN_POSITIONS);
    /* Every third token in its predecessor's block; the last of several is a pad row. */
    s->slot[t] = (7 + (int64_t)t) * SYN_BLOCK + t % SYN_BLOCK - (t % 3 == 2 ? SYN_BLOCK : 0);
    if (t > 1 && t == s->tokens - 1) s->slot[t] = -1;
    s->swa_lens[t] = (int32_t)(random_u32() % (window + 1));
    s->t2r[t] = (int32_t)(t % SYN_REQUESTS);
  }
  for (size_t i = 0; i < s->tokens * window; i++) s->swa_idx[i] = (int32_t)(random_u32() >> 1);
  for (size_t i = 0; i < s->tokens * (size_t)TOPK; i++) s->topk[i] = random_u32() % 9 ? (int32_t)(random_u32() % (SYN_TABLE * 16)) : -1;
  for (size_t i = 0; i < SYN_REQUESTS * SYN_TABLE; i++) s->comp_bt[i] = (int32_t)(random_u32() % 100000);
}

static void make_outputs(const struct synthetic *s, struct synthetic_outputs *o) {
  const size_t scratch = s->layout.bytes, cache = (size_t)SYN_BLOCKS * SYN_STRIDE, q = (size_t)s->tokens * s->q_rows * 2;
  const size_t qr = (size_t)s->tokens * Q_RANK * 2, kt = (size_t)s->tokens * s->keys * 4, klen = (size_t)s->tokens * 2 * 4;
  o->bytes = scratch + cache + q + qr + kt + klen;
  o->memory = memory(o->bytes);
  o->scratch = o->memory;
  o->cache = o->scratch + scratch;
  o->q = (uint16_t *)(void *)(o->cache + cache);
  o->qr_out = o->q + q / 2;
  o->kt = (int32_t *)(void *)((uint8_t *)o->qr_out + qr);
  o->klen = o->kt + kt / 4;
}

uint8_t *synthetic_region(struct synthetic *s, enum scratch_region region) { return s->now.scratch + s->layout.region[region].offset; }

float *synthetic_partial(struct synthetic *s, uint32_t half, uint32_t t, uint32_t row) {
  size_t pair = ((size_t)half * s->tokens + t) * QKV_ROWS + row;
  return (float *)(void *)(synthetic_region(s, SCRATCH_qkvp) + PAIR_BYTES * pair);
}

uint8_t *synthetic_record(struct synthetic *s, int32_t slot) {
  return s->now.cache + (size_t)(slot / SYN_BLOCK - 7) * SYN_STRIDE + (size_t)(slot % SYN_BLOCK) * KV_DATA_BYTES;
}

uint8_t *synthetic_scales(struct synthetic *s, int32_t slot) {
  return s->now.cache + (size_t)(slot / SYN_BLOCK - 7) * SYN_STRIDE + SYN_BLOCK * KV_DATA_BYTES +
         (size_t)(slot % SYN_BLOCK) * KV_SCALE_BYTES;
}

static void put_pair(uint8_t *region, size_t pair, uint32_t value, uint32_t tag) {
  const uint32_t both[2] = {value, tag};
  memcpy(region + PAIR_BYTES * pair, both, sizeof both);
}

static void put_flags(struct synthetic *s, enum scratch_region region, uint32_t pairs) {
  for (uint32_t copy = 0; copy < s->copies; copy++)
    for (uint32_t i = 0; i < pairs; i++) put_pair(synthetic_region(s, region), (size_t)copy * ((pairs + 15) / 16 * 16) + i, 1, s->tag);
}

static bool published(const struct synthetic *s) { return s->tokens > s->target.tile || s->key.x8_given; }

/* Codes of half h start at i32 h · round_up(80 S, 32). */
static size_t x8s_at(const struct synthetic *s, uint32_t t, uint32_t g) {
  return (g / 80) * (((size_t)80 * s->tokens + 31) / 32 * 32) + (size_t)80 * t + g % 80;
}

void synthetic_xq(struct synthetic *s) {
  uint8_t *codes = memory((size_t)s->tokens * HIDDEN_GROUPS);
  ref_xq(s->x, HIDDEN + 8, s->tokens, &s->fp8, synthetic_region(s, SCRATCH_x8), codes);
  for (uint32_t i = 0; i < s->tokens * HIDDEN_GROUPS; i++) {
    const uint32_t code = codes[i];
    memcpy(synthetic_region(s, SCRATCH_x8s) + 4 * x8s_at(s, i / HIDDEN_GROUPS, i % HIDDEN_GROUPS), &code, 4);
  }
  put_flags(s, SCRATCH_xrdy, 2 * s->tokens);
  free(codes);
}

void synthetic_wqkv(struct synthetic *s) {
  uint8_t *x8 = memory((size_t)s->tokens * HIDDEN), *codes = memory((size_t)s->tokens * HIDDEN_GROUPS);
  double *panels = memory(ref_panel_doubles(s->tokens, K_HALF) * sizeof *panels);
  if (published(s)) {
    memcpy(x8, synthetic_region(s, SCRATCH_x8), (size_t)s->tokens * HIDDEN);
    for (uint32_t i = 0; i < s->tokens * HIDDEN_GROUPS; i++)
      codes[i] = synthetic_region(s, SCRATCH_x8s)[4 * x8s_at(s, i / HIDDEN_GROUPS, i % HIDDEN_GROUPS)];
  } else {
    ref_xq(s->x, HIDDEN + 8, s->tokens, &s->fp8, x8, codes);
  }
  for (uint32_t half = 0; half < 2; half++) {
    const struct ref_rows rows = {x8 + half * K_HALF, codes + half * 80, HIDDEN, HIDDEN_GROUPS, s->tokens, K_HALF};
    ref_panels(&rows, &s->fp8, panels);
    for (uint32_t row = 0; row < QKV_ROWS; row++) {
      double sum[TOKENS_MAX], magnitude[TOKENS_MAX];
      ref_wqkv_row(s->wqkv, s->wqkv_s, half, row, panels, s->tokens, sum, magnitude);
      for (uint32_t t = 0; t < s->tokens; t++)
        put_pair(synthetic_region(s, SCRATCH_qkvp), ((size_t)half * s->tokens + t) * QKV_ROWS + row, ref_bits((float)sum[t]), s->tag);
    }
  }
  free(panels);
  free(codes);
  free(x8);
}

void synthetic_qkv(struct synthetic *s) {
  for (uint32_t t = 0; t < s->tokens; t++) {
    float half[2][QKV_ROWS];
    for (uint32_t i = 0; i < 2 * QKV_ROWS; i++) half[i / QKV_ROWS][i % QKV_ROWS] = *synthetic_partial(s, i / QKV_ROWS, t, i % QKV_ROWS);
    const struct ref_qkv_in in = {.half0 = half[0],
        .half1 = half[1],
        .qn_w = s->qn_w,
        .kvn_w = s->kvn_w,
        .cos_sin = s->cos_sin + s->pos[t] * ROPE,
        .q_rsq_ulps = s->q_rsq_ulps,
        .kv_rsq_ulps = s->kv_rsq_ulps};
    struct ref_qkv_out out;
    ref_qkv(&in, &s->fp8, &out);
    memcpy(synthetic_region(s, SCRATCH_qx8) + (size_t)t * Q_RANK, out.qx8, Q_RANK);
    for (uint32_t g = 0; g < Q_GROUPS; g++) {
      const uint32_t code = out.qx8s[g];
      memcpy(synthetic_region(s, SCRATCH_qx8s) + 4 * ((size_t)t * Q_GROUPS + g), &code, 4);
    }
    if (s->key.index) memcpy(s->now.qr_out + (size_t)t * Q_RANK, out.qr, sizeof out.qr);
    if (s->slot[t] < 0) continue;
    memcpy(synthetic_record(s, (int32_t)s->slot[t]), out.record, KV_DATA_BYTES);
    memcpy(synthetic_scales(s, (int32_t)s->slot[t]), out.scales, KV_SCALE_BYTES);
  }
}

void synthetic_wqb(struct synthetic *s) {
  double *panels = memory(ref_panel_doubles(s->tokens, Q_RANK) * sizeof *panels);
  uint8_t *codes = memory((size_t)s->tokens * Q_GROUPS);
  for (uint32_t i = 0; i < s->tokens * Q_GROUPS; i++) codes[i] = synthetic_region(s, SCRATCH_qx8s)[4 * (size_t)i];
  const struct ref_rows rows = {synthetic_region(s, SCRATCH_qx8), codes, Q_RANK, Q_GROUPS, s->tokens, Q_RANK};
  ref_panels(&rows, &s->fp8, panels);
  for (uint32_t row = 0; row < s->q_rows; row += 2) {
    double sum[2][TOKENS_MAX], magnitude[TOKENS_MAX];
    for (uint32_t i = 0; i < 2; i++) ref_wqb_row(s->wqb, s->wqb_s, row + i, panels, s->tokens, sum[i], magnitude);
    for (uint32_t t = 0; t < s->tokens; t++) {
      const uint16_t v[2] = {ref_bf16((float)sum[0][t]), ref_bf16((float)sum[1][t])};
      ref_wqb_pair(row % HEAD_DIM, s->cos_sin + s->pos[t] * ROPE, v, s->now.q + (size_t)t * s->q_rows + row);
    }
  }
  free(codes);
  free(panels);
}

static void make_kt(struct synthetic *s) {
  const struct ref_kt_in in = {.tokens = s->tokens,
      .ratio = (uint32_t)s->key.ratio,
      .window = (uint32_t)s->key.window,
      .pos = s->pos,
      .slot = s->slot,
      .swa_idx = s->swa_idx,
      .swa_lens = s->swa_lens,
      .topk = s->topk,
      .t2r = s->t2r,
      .comp_bt = s->comp_bt,
      .bt_stride = SYN_TABLE,
      .comp_block = 16};
  ref_kt(&in, s->now.kt, s->now.klen);
}

void synthetic_launch(struct synthetic *s) {
  memcpy(s->now.memory, s->before.memory, s->now.bytes);
  if (published(s) && !s->key.x8_given) synthetic_xq(s);
  if (!s->key.index) make_kt(s);
  synthetic_wqkv(s);
  synthetic_qkv(s);
  put_flags(s, SCRATCH_qrdy, s->tokens);
  synthetic_wqb(s);
  memset(synthetic_region(s, SCRATCH_done), 0, 4);
  s->now.epoch = s->epoch + (s->key.embed ? 0u : 1u);
  memcpy(s->good.memory, s->now.memory, s->now.bytes);
  s->good.epoch = s->now.epoch;
}

void synthetic_restore(struct synthetic *s) {
  memcpy(s->now.memory, s->good.memory, s->now.bytes);
  s->now.epoch = s->good.epoch;
}

static void make_before(struct synthetic *s) {
  make_outputs(s, &s->before);
  make_outputs(s, &s->now);
  make_outputs(s, &s->good);
  for (size_t i = 0; i < s->before.bytes; i++) s->before.memory[i] = (uint8_t)random_u32();
  memset(s->before.scratch + s->layout.region[SCRATCH_done].offset, 0, 4);
  if (s->key.x8_given) { /* a stage before this one has written x8, x8s and xrdy */
    memcpy(s->now.memory, s->before.memory, s->now.bytes);
    synthetic_xq(s);
    memcpy(s->before.scratch, s->now.scratch, s->layout.bytes);
  }
  for (size_t i = 0; i < SYN_BLOCKS; i++)
    s->blocks[i] =
        (struct compare_block){.block = 7 + (int64_t)i, .before = s->before.cache + i * SYN_STRIDE, .after = s->now.cache + i * SYN_STRIDE};
}

void synthetic_make(struct synthetic *s, const struct front_key *key, uint64_t seed, uint32_t epoch) {
  state = seed;
  *s = (struct synthetic){.key = *key, .target = {.name = "gfx950", .tile = 16, .fp8_max = 448.0f}, .fp8 = ref_fp8_ocp, .epoch = epoch};
  s->tokens = (uint32_t)key->tokens;
  s->q_rows = geometry_q_rows((uint32_t)key->tp);
  s->keys = geometry_keys((uint32_t)key->ratio, (uint32_t)key->window);
  s->copies = key->tuned ? 8 : 1;
  s->tag = 2 * epoch + 1;
  s->layout = scratch_layout(s->tokens, key->tuned);
  s->options.threads = 2;
  make_weights(s);
  make_step(s);
  make_before(s);
  s->in = (struct compare_inputs){.x = s->x,
      .wqkv = s->wqkv,
      .wqkv_s = s->wqkv_s,
      .wqb = s->wqb,
      .wqb_s = s->wqb_s,
      .x_stride = HIDDEN + 8,
      .bt_stride = SYN_TABLE,
      .pos = s->pos,
      .slot = s->slot,
      .swa_idx = s->swa_idx,
      .swa_lens = s->swa_lens,
      .topk = s->topk,
      .t2r = s->t2r,
      .comp_bt = s->comp_bt,
      .comp_bt_entries = SYN_REQUESTS * SYN_TABLE,
      .cos_sin = s->cos_sin,
      .cos_sin_rows = SYN_POSITIONS,
      .qn_w = s->qn_w,
      .kvn_w = s->kvn_w,
      .swa_stride = SYN_STRIDE,
      .swa_block = SYN_BLOCK,
      .comp_block = 16};
  synthetic_launch(s);
}

void synthetic_free(struct synthetic *s) {
  void *all[] = {s->x, s->wqkv, s->wqkv_s, s->wqb, s->wqb_s, s->qn_w, s->kvn_w, s->pos, s->slot, s->swa_idx, s->swa_lens, s->topk, s->t2r,
      s->comp_bt, s->cos_sin, s->before.memory, s->now.memory, s->good.memory};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

enum compare_verdict synthetic_compare(struct synthetic *s, struct compare_result *result) {
  const struct compare_outputs out = {.scratch_before = s->before.scratch,
      .scratch = s->now.scratch,
      .epoch_before = s->epoch,
      .epoch = s->now.epoch,
      .blocks = s->blocks,
      .block_count = SYN_BLOCKS,
      .q = s->now.q,
      .kt = s->now.kt,
      .klen = s->now.klen,
      .kt_before = s->before.kt,
      .klen_before = s->before.klen,
      .qr_out = s->now.qr_out,
      .qr_out_before = s->before.qr_out};
  return compare_run(&s->key, &s->target, &s->in, &out, &s->options, result);
}
