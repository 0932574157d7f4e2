/* SPDX-License-Identifier: Apache-2.0 */
/* qkv: a token's two halves summed; q_norm -> MXFP8 for wq_b; kv_norm, RoPE -> the record in the window cache.
   Thread i < 256 has q columns 8i .. 8i + 7 and kv columns 2i, 2i + 1; the others act as thread 255 and store nothing. */
#include "emit.h"

enum { COLUMN_THREADS = 256, Q_THREADS = Q_RANK / 8, NOPE_THREADS = NOPE / 2, KV_GROUP_THREADS = KV_GROUP / 2 };

/* Words of LDS behind the partials: wave sums of q and kv, then the record's codes. */
enum { WORD_SUM_Q = 0, WORD_SUM_KV = 4, WORD_CODES = 8 };

struct qkv {
  val token, t, mine; /* t: min(tid, 255) */
  val q_column[8];
  val q_weight[8], kv_weight[2];
  val slot, cos, sin;
  val q[8], kv[2]; /* the summed halves, bf16 values in f32 */
  val y[8];        /* q_norm's result */
};

static val bf16_at(struct emit *e, val buffer, val column, const char *name) {
  struct ir *b = e->b;
  val at = ir_shl(b, column, ir_i32(1));
  val half = buffer_load(b, T_I16, buffer, at, .name = name, .line = emit_line(e, EV_QKV_LOAD, 0));
  amd_sched_barrier(b);
  return half;
}

static val widen_bf16(struct ir *b, val half) {
  val word = ir_cast(b, "zext", half, T_I32);
  val bits = ir_shl(b, word, ir_i32(16));
  return ir_bits(b, bits, T_F32);
}

/* The loads that need no partials. cos and sin wait for pos; dims without RoPE take 1 and 0. */
static void small_loads(struct emit *e, struct qkv *k) {
  struct ir *b = e->b;
  val q_half[8], kv_half[2];
  val qn = emit_buffer(e, ARG_qn_w);
  for (uint32_t j = 0; j < 8; j++) q_half[j] = bf16_at(e, qn, k->q_column[j], "qn_w");
  val kvn = emit_buffer(e, ARG_kvn_w);
  val kv_column = ir_shl(b, k->t, ir_i32(1));
  for (uint32_t j = 0; j < 2; j++) {
    val column = ir_add(b, kv_column, ir_i32(j));
    kv_half[j] = bf16_at(e, kvn, column, "kvn_w");
  }
  uint32_t line = emit_line(e, EV_QKV_LOAD, 0);
  val token_byte = ir_shl(b, k->token, ir_i32(3));
  val pos_buffer = emit_buffer(e, ARG_pos);
  val pos = buffer_load(b, T_I32, pos_buffer, token_byte, .name = "pos", .line = line);
  val slot_buffer = emit_buffer(e, ARG_slot);
  k->slot = buffer_load(b, T_I32, slot_buffer, token_byte, .name = "slot", .line = line);
  amd_sched_barrier(b);
  val cosines = emit_cos_buffer(e);
  val sines = emit_sin_buffer(e);
  val past = ir_sub(b, k->t, ir_i32(NOPE_THREADS));
  val pair = ir_smax(b, past, ir_i32(0));
  val row = ir_mul(b, pos, ir_i32(ROPE * 4));
  val column = ir_shl(b, pair, ir_i32(2));
  val at = ir_add(b, row, column);
  line = emit_line(e, EV_QKV_ROPE, 0);
  val cos = buffer_load(b, T_F32, cosines, at, .name = "cos", .line = line);
  val sin = buffer_load(b, T_F32, sines, at, .name = "sin", .line = line);
  amd_sched_barrier(b);
  val is_rope = ir_uge(b, k->t, ir_i32(NOPE_THREADS));
  k->cos = ir_select(b, is_rope, cos, ir_f32(1.0f));
  k->sin = ir_select(b, is_rope, sin, ir_f32(0.0f));
  for (uint32_t j = 0; j < 8; j++) k->q_weight[j] = widen_bf16(b, q_half[j]);
  for (uint32_t j = 0; j < 2; j++) k->kv_weight[j] = widen_bf16(b, kv_half[j]);
}

/* First pair of a K half's row of this token. */
static val qkvp_row(struct emit *e, const struct qkv *k, uint32_t half) {
  val line = ir_add(e->b, k->token, ir_i32(half * e->plan->tokens));
  return ir_mul(e->b, line, ir_i32(QKV_ROWS));
}

static val pair_byte(struct emit *e, val row, val column) {
  val pair = ir_add(e->b, row, column);
  return ir_shl(e->b, pair, ir_i32(3));
}

/* 20 loads of a pair, in batches of 12 and 8: half 0's 8 q and 2 kv columns, then half 1's. */
static void poll_pairs(struct emit *e, const struct qkv *k, val part[2][10]) {
  struct ir *b = e->b;
  val at[20], got[20];
  val kv = ir_shl(b, k->t, ir_i32(1));
  for (uint32_t half = 0; half < 2; half++) {
    val row = qkvp_row(e, k, half);
    for (uint32_t j = 0; j < 8; j++) at[10 * half + j] = pair_byte(e, row, k->q_column[j]);
    for (uint32_t j = 0; j < 2; j++) {
      val column = ir_add(b, kv, ir_i32(Q_RANK + j));
      at[10 * half + 8 + j] = pair_byte(e, row, column);
    }
  }
  val qkvp = emit_scratch_buffer(e, SCRATCH_qkvp);
  emit_poll(e, POLL_QKVP, qkvp, at, 12, 1, emit_line(e, EV_QKVP_POLL, 0), got);
  emit_poll(e, POLL_QKVP, qkvp, at + 12, 8, 1, emit_line(e, EV_QKVP_POLL, 1), got + 12);
  for (uint32_t i = 0; i < 20; i++) part[i / 10][i % 10] = ir_extract(b, got[i], 0);
}

/* Tuned: 10 loads of two pairs in one batch. The first q column is clamped, so that 8 follow. */
static void poll_double_pairs(struct emit *e, const struct qkv *k, val part[2][10]) {
  struct ir *b = e->b;
  val at[10], got[10];
  val eight = ir_shl(b, k->t, ir_i32(3));
  val q = ir_umin(b, eight, ir_i32(Q_RANK - 8));
  val twice = ir_shl(b, k->t, ir_i32(1));
  val kv = ir_add(b, twice, ir_i32(Q_RANK));
  for (uint32_t half = 0; half < 2; half++) {
    val row = qkvp_row(e, k, half);
    for (uint32_t m = 0; m < 4; m++) {
      val column = ir_add(b, q, ir_i32(2 * m));
      at[5 * half + m] = pair_byte(e, row, column);
    }
    at[5 * half + 4] = pair_byte(e, row, kv);
  }
  val qkvp = emit_scratch_buffer(e, SCRATCH_qkvp);
  emit_poll(e, POLL_QKVP, qkvp, at, 10, 2, emit_line(e, EV_QKVP_POLL, 0), got);
  for (uint32_t i = 0; i < 20; i++) part[i / 10][i % 10] = ir_extract(b, got[i / 2], i % 2 * 2);
}

static void sum_halves(struct emit *e, struct qkv *k) {
  struct ir *b = e->b;
  val part[2][10];
  if (e->plan->tuned)
    poll_double_pairs(e, k, part);
  else
    poll_pairs(e, k, part);
  for (uint32_t j = 0; j < 10; j++) {
    val low = ir_bits(b, part[0][j], T_F32);
    val high = ir_bits(b, part[1][j], T_F32);
    val sum = ir_fadd(b, low, high);
    val v = leaf_bf16_round(b, sum);
    if (j < 8)
      k->q[j] = v;
    else
      k->kv[j - 8] = v;
  }
  val has_q = ir_ult(b, k->t, ir_i32(Q_THREADS));
  for (uint32_t j = 0; j < 8; j++) k->q[j] = ir_select(b, has_q, k->q[j], ir_f32(0.0f));
}

static val squares(struct ir *b, const val *v, uint32_t count) {
  val sum = ir_fmul(b, v[0], v[0]);
  for (uint32_t j = 1; j < count; j++) {
    val square = ir_fmul(b, v[j], v[j]);
    sum = ir_fadd(b, sum, square);
  }
  return sum;
}

/* Over the wave's lanes: 32, 16, 8, 4, 2, 1. */
static val wave_sum(struct ir *b, val v) {
  for (uint32_t mask = 32; mask >= 16; mask /= 2) {
    val both[2];
    amd_lane_swap(b, v, mask, both);
    v = ir_fadd(b, both[0], both[1]);
  }
  for (uint32_t mask = 8; mask >= 1; mask /= 2) {
    val other = amd_lane_xor(b, v, mask);
    v = ir_fadd(b, v, other);
  }
  return v;
}

static val lds_word(struct emit *e, val word, uint32_t first) {
  val byte = ir_shl(e->b, word, ir_i32(2));
  val at = ir_add(e->b, byte, ir_i32(e->plan->lds.red_words + 4 * first));
  return emit_lds(e, at);
}

/* (0 + 1) + (2 + 3) over the waves, then 1 / sqrt of the mean square. */
static val rsq_of(struct emit *e, uint32_t word, float n) {
  struct ir *b = e->b;
  val sum[4];
  for (uint32_t i = 0; i < 4; i++) {
    val at = emit_lds(e, ir_i32(e->plan->lds.red_words + 4 * (word + i)));
    sum[i] = ir_load(b, T_F32, at, .name = "wave_sum");
  }
  val low = ir_fadd(b, sum[0], sum[1]);
  val high = ir_fadd(b, sum[2], sum[3]);
  val all = ir_fadd(b, low, high);
  val mean = leaf_mean_square_eps(b, all, ir_f32(n), ir_f32(1.0f / n), ir_f32(FRONT_EPS));
  return amd_rsq(b, mean);
}

/* Both norms: q's into k->y, kv's in place. */
static void norms(struct emit *e, struct qkv *k) {
  struct ir *b = e->b;
  val q_squares = squares(b, k->q, 8);
  val kv_squares = squares(b, k->kv, 2);
  val q_sum = wave_sum(b, q_squares);
  val kv_sum = wave_sum(b, kv_squares);
  val first = ir_eq(b, e->lane, ir_i32(0));
  val store = ir_and(b, first, k->mine);
  ir_if(b, store, "wave sums");
  val q_at = lds_word(e, e->wave, WORD_SUM_Q);
  ir_store(b, q_sum, q_at);
  val kv_at = lds_word(e, e->wave, WORD_SUM_KV);
  ir_store(b, kv_sum, kv_at);
  ir_end_if(b);
  amd_workgroup_barrier(b);
  emit_unless_stopped(e);
  val rq = rsq_of(e, WORD_SUM_Q, (float)Q_RANK);
  val rkv = rsq_of(e, WORD_SUM_KV, (float)KV_DIM);
  for (uint32_t j = 0; j < 8; j++) k->y[j] = leaf_normed(b, k->q[j], rq, k->q_weight[j]);
  for (uint32_t j = 0; j < 2; j++) k->kv[j] = leaf_normed(b, k->kv[j], rkv, k->kv_weight[j]);
}

static void store_qx8(struct emit *e, const struct qkv *k) {
  struct ir *b = e->b;
  uint32_t line = emit_line(e, EV_QX8_STORE, 0);
  struct quantised q = emit_quantise(e, k->y);
  val has_q = ir_ult(b, e->tid, ir_i32(Q_THREADS));
  ir_if(b, has_q, "qx8");
  val words = emit_scratch_buffer(e, SCRATCH_qx8);
  val row = ir_mul(b, k->token, ir_i32(Q_RANK));
  val column = ir_shl(b, e->tid, ir_i32(3));
  val at = ir_add(b, row, column);
  buffer_store(b, q.words, words, at, .sc1 = true, .line = line);
  val in_group = ir_and(b, e->tid, ir_i32(3));
  val first = ir_eq(b, in_group, ir_i32(0));
  ir_if(b, first, "a code a group");
  val codes = emit_scratch_buffer(e, SCRATCH_qx8s);
  val code_row = ir_mul(b, k->token, ir_i32(Q_RANK / MX_GROUP * 4));
  val code_at = ir_add(b, code_row, e->tid); /* tid / 4 codes of 4 bytes */
  buffer_store(b, q.code, codes, code_at, .sc1 = true, .line = line);
  ir_end_if(b);
  ir_end_if(b);
}

/* The token's flag: by thread 0, tuned by threads 0..7, a copy each. */
static void publish_qx8(struct emit *e, const struct qkv *k) {
  struct ir *b = e->b;
  emit_settle(e);
  val mine = ir_ult(b, e->tid, ir_i32(e->plan->copies));
  ir_if(b, mine, "qrdy flag");
  val copy = ir_mul(b, e->tid, ir_i32(e->plan->qrdy_stride));
  val pair = ir_add(b, copy, k->token);
  val flags = emit_scratch_buffer(e, SCRATCH_qrdy);
  emit_put(e, flags, pair, ir_i32(1), emit_line(e, EV_QRDY_PUT, 0));
  ir_end_if(b);
  amd_sched_barrier(b);
}

/* Where the token's record lies: 64-bit addresses, since caches pass 4 GiB. */
struct record {
  val data, scales;
};

static struct record record_of(struct emit *e, const struct qkv *k) {
  struct ir *b = e->b;
  val slot = ir_smax(b, k->slot, ir_i32(0));
  val size = emit_arg(e, ARG_swa_block);
  val block = ir_udiv(b, slot, size);
  val before = ir_mul(b, block, size);
  val in_block = ir_sub(b, slot, before);
  val stride = emit_arg(e, ARG_swa_stride);
  val wide_block = ir_cast(b, "zext", block, T_I64);
  val wide_size = ir_cast(b, "zext", size, T_I64);
  val wide_in = ir_cast(b, "zext", in_block, T_I64);
  val block_byte = ir_mul(b, wide_block, stride);
  val cache = emit_arg(e, ARG_swa);
  val base = ir_offset(b, cache, block_byte);
  val row = ir_mul(b, wide_in, ir_i64(KV_DATA_BYTES));
  struct record r = {.data = ir_offset(b, base, row)};
  val rows = ir_mul(b, wide_size, ir_i64(KV_DATA_BYTES));
  val scale_row = ir_mul(b, wide_in, ir_i64(KV_SCALE_BYTES));
  val scales_at = ir_add(b, rows, scale_row);
  r.scales = ir_offset(b, base, scales_at);
  return r;
}

/* The 7 codes of the record and a 0, from LDS. */
static val scale_words(struct emit *e) {
  struct ir *b = e->b;
  val word[2] = {ir_i32(0), ir_i32(0)};
  for (uint32_t g = 0; g < KV_GROUPS; g++) {
    val at = emit_lds(e, ir_i32(e->plan->lds.red_words + 4 * (WORD_CODES + g)));
    val code = ir_load(b, T_I32, at, .name = "kv_code");
    val placed = ir_shl(b, code, ir_i32(8 * (g % 4)));
    word[g / 4] = ir_or(b, word[g / 4], placed);
  }
  return ir_vector(b, T_V2I32, word);
}

static void store_record(struct emit *e, const struct qkv *k, val nope_word, val rope_word) {
  struct ir *b = e->b;
  uint32_t line = emit_line(e, EV_KV_STORE, 0);
  val live = ir_sge(b, k->slot, ir_i32(0));
  val mine = ir_and(b, live, k->mine);
  ir_if(b, mine, "KV record");
  struct record r = record_of(e, k);
  val is_rope = ir_uge(b, k->t, ir_i32(NOPE_THREADS));
  val word = ir_select(b, is_rope, rope_word, nope_word);
  val odd = ir_and(b, k->t, ir_i32(1));
  val even = ir_eq(b, odd, ir_i32(0));
  val twice = ir_shl(b, k->t, ir_i32(1));
  val four = ir_shl(b, k->t, ir_i32(2));
  val rope_at = ir_sub(b, four, ir_i32(4 * NOPE_THREADS - NOPE));
  val at = ir_select(b, is_rope, rope_at, twice);
  val wide = ir_cast(b, "zext", at, T_I64);
  val has_word = ir_or(b, is_rope, even);
  ir_if(b, has_word, "a word");
  val pointer = ir_offset(b, r.data, wide);
  ir_store(b, word, pointer, .line = line);
  ir_end_if(b);
  val first = ir_eq(b, k->t, ir_i32(0));
  ir_if(b, first, "scales");
  val scales = scale_words(e);
  ir_store(b, scales, r.scales, .line = line);
  ir_end_if(b);
  ir_end_if(b);
}

static void insert_kv(struct emit *e, const struct qkv *k) {
  struct ir *b = e->b;
  float m = e->plan->target->fp8_max;
  val e0 = leaf_rope_even(b, k->kv[0], k->kv[1], k->cos, k->sin);
  val e1 = leaf_rope_odd(b, k->kv[0], k->kv[1], k->cos, k->sin);
  val a0 = ir_fabs(b, e0), a1 = ir_fabs(b, e1);
  val amax = ir_fmaximum(b, a0, a1);
  for (uint32_t mask = 1; mask <= 8; mask *= 2) {
    val other = amd_lane_xor(b, amax, mask);
    amax = ir_fmaximum(b, amax, other);
  }
  val both[2];
  amd_lane_swap(b, amax, 16, both);
  amax = ir_fmaximum(b, both[0], both[1]);
  val code = leaf_mx_code(b, amax, ir_f32(KV_AMAX_FLOOR), ir_f32(m), ir_f32(1.0f / m));
  val multiplier = leaf_mx_mul(b, code);
  val c0 = leaf_clamped(b, e0, multiplier, ir_f32(m));
  val c1 = leaf_clamped(b, e1, multiplier, ir_f32(m));
  val own = amd_pack_fp8(b, c0, c1, ir_i32(0), false);
  val next = amd_lane_xor(b, own, 1); /* an even thread stores its neighbour's bytes too */
  val high = ir_shl(b, next, ir_i32(16));
  val nope_word = ir_or(b, own, high);
  val rope_word = amd_pack_bf16(b, e0, e1);
  val in_group = ir_and(b, k->t, ir_i32(KV_GROUP_THREADS - 1));
  val first = ir_eq(b, in_group, ir_i32(0));
  val is_nope = ir_ult(b, k->t, ir_i32(NOPE_THREADS));
  val store = ir_and(b, first, is_nope);
  ir_if(b, store, "kv codes");
  val group = ir_lshr(b, k->t, ir_i32(5));
  val at = lds_word(e, group, WORD_CODES);
  ir_store(b, code, at);
  ir_end_if(b);
  amd_workgroup_barrier(b);
  store_record(e, k, nope_word, rope_word);
}

void emit_qkv(struct emit *e) {
  struct ir *b = e->b;
  const struct plan *p = e->plan;
  val past = ir_sub(b, e->bid, ir_i32(p->first_qkv_workgroup));
  struct qkv k = {.token = ir_and(b, past, ir_i32(GRID - 1))};
  val exists = ir_ult(b, k.token, ir_i32(p->tokens));
  ir_if(b, exists, "qkv");
  k.t = ir_umin(b, e->tid, ir_i32(COLUMN_THREADS - 1));
  k.mine = ir_ult(b, e->tid, ir_i32(COLUMN_THREADS));
  val first = ir_shl(b, k.t, ir_i32(3));
  for (uint32_t j = 0; j < 8; j++) {
    val column = ir_add(b, first, ir_i32(j));
    k.q_column[j] = ir_umin(b, column, ir_i32(Q_RANK - 1));
  }
  small_loads(e, &k);
  sum_halves(e, &k);
  norms(e, &k);
  store_qx8(e, &k);
  if (p->tuned) publish_qx8(e, &k);
  insert_kv(e, &k);
  if (!p->tuned) publish_qx8(e, &k);
  emit_end_unless_stopped(e);
  ir_end_if(b);
  amd_sched_barrier(b);
}
