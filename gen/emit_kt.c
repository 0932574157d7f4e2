/* SPDX-License-Identifier: Apache-2.0 */
/* kt: a token's attention keys for the kernel after this one: compressed rows first, then window slots, then -1. */
#include "emit.h"

struct token_keys {
  val token, live, ntopk, keys, request; /* keys: compressed and window together */
  val topk;                              /* of this thread's key, where there are compressed rows */
};

/* i32 at an element of an i32 argument. */
static val load_word(struct emit *e, enum front_arg arg, val element, uint32_t element_bytes, uint32_t instance) {
  struct ir *b = e->b;
  val buffer = emit_buffer(e, arg);
  val at = ir_mul(b, element, ir_i32(element_bytes));
  return buffer_load(b, T_I32, buffer, at, .name = e->plan->arg[arg].name, .line = emit_line(e, EV_KT_LOAD, instance));
}

static struct token_keys load_token(struct emit *e, val token, uint32_t instance) {
  struct ir *b = e->b;
  struct token_keys t = {.token = token, .ntopk = ir_i32(0), .request = ir_i32(0)};
  val slot = load_word(e, ARG_slot, token, 8, instance);
  val lens = load_word(e, ARG_swa_lens, token, 4, instance);
  val pos = t.ntopk, request = t.ntopk;
  if (e->plan->key.ratio > 0) { /* all loads that wait for nothing, before the first use */
    pos = load_word(e, ARG_pos, token, 8, instance);
    request = load_word(e, ARG_t2r, token, 4, instance);
    val row_of = ir_mul(b, token, ir_i32(TOPK));
    val element = ir_add(b, row_of, e->tid);
    t.topk = load_word(e, ARG_topk, element, 4, instance);
  }
  t.live = ir_sge(b, slot, ir_i32(0));
  val some = ir_smax(b, lens, ir_i32(0));
  val clamped = ir_smin(b, some, ir_i32((uint32_t)e->plan->key.window));
  val nswa = ir_select(b, t.live, clamped, ir_i32(0));
  if (e->plan->key.ratio > 0) {
    t.request = ir_select(b, t.live, request, ir_i32(0));
    val seen = ir_add(b, pos, ir_i32(1));
    val rows = ir_udiv(b, seen, ir_i32((uint32_t)e->plan->key.ratio));
    val most = ir_umin(b, rows, ir_i32(TOPK));
    t.ntopk = ir_select(b, t.live, most, ir_i32(0));
  }
  t.keys = ir_add(b, t.ntopk, nswa);
  return t;
}

/* The compressed key k < TOPK; an unused row addresses as 0. */
static val compressed_key(struct emit *e, const struct token_keys *t, val k, uint32_t instance) {
  struct ir *b = e->b;
  val present = ir_sge(b, t->topk, ir_i32(0));
  val wanted = ir_ult(b, k, t->ntopk);
  val used = ir_and(b, present, wanted);
  val r = ir_select(b, used, t->topk, ir_i32(0));
  val size = emit_arg(e, ARG_comp_block);
  val block = ir_udiv(b, r, size);
  val before = ir_mul(b, block, size);
  val in_block = ir_sub(b, r, before);
  val stride = emit_arg(e, ARG_bt_stride);
  val table = ir_mul(b, t->request, stride);
  val entry = ir_add(b, table, block);
  val physical = load_word(e, ARG_comp_bt, entry, 4, instance);
  val first = ir_mul(b, physical, size);
  val slot = ir_add(b, first, in_block);
  val key = ir_or(b, slot, ir_i32(0x80000000u));
  return ir_select(b, used, key, ir_i32(0xFFFFFFFFu));
}

static val window_key(struct emit *e, const struct token_keys *t, val k, uint32_t instance) {
  struct ir *b = e->b;
  val past = ir_sub(b, k, t->ntopk);
  val low = ir_smax(b, past, ir_i32(0));
  val index = ir_smin(b, low, ir_i32((uint32_t)e->plan->key.window - 1));
  val row = ir_mul(b, t->token, ir_i32((uint32_t)e->plan->key.window));
  val element = ir_add(b, row, index);
  val slot = load_word(e, ARG_swa_idx, element, 4, instance);
  val used = ir_ult(b, k, t->keys);
  return ir_select(b, used, slot, ir_i32(0xFFFFFFFFu));
}

static void store_keys(struct emit *e, const struct token_keys *t, uint32_t instance) {
  struct ir *b = e->b;
  const struct plan *p = e->plan;
  uint32_t line = emit_line(e, EV_KT_STORE, instance);
  uint32_t reach = (p->key.ratio > 0 ? (uint32_t)TOPK : 0u) + (uint32_t)p->key.window; /* keys past it are always -1 */
  for (uint32_t first = 0; first < p->keys; first += THREADS) {
    val k = ir_add(b, e->tid, ir_i32(first));
    val key = ir_i32(0xFFFFFFFFu);
    if (first < reach) key = window_key(e, t, k, instance);
    if (first < TOPK && p->key.ratio > 0) {
      val compressed = compressed_key(e, t, k, instance);
      val is_compressed = ir_ult(b, k, t->ntopk);
      key = ir_select(b, is_compressed, compressed, key);
    }
    bool whole = first + THREADS <= p->keys;
    val inside = ir_ult(b, k, ir_i32(p->keys));
    if (!whole) ir_if(b, inside, "keys left");
    val kt = emit_buffer(e, ARG_kt);
    val row = ir_mul(b, t->token, ir_i32(p->keys));
    val element = ir_add(b, row, k);
    val at = ir_shl(b, element, ir_i32(2));
    buffer_store(b, key, kt, at, .line = line);
    if (!whole) ir_end_if(b);
  }
}

static void store_lengths(struct emit *e, const struct token_keys *t, uint32_t instance) {
  struct ir *b = e->b;
  uint32_t line = emit_line(e, EV_KT_STORE, instance);
  val first = ir_eq(b, e->tid, ir_i32(0));
  ir_if(b, first, "lengths");
  val klen = emit_buffer(e, ARG_klen);
  val at = ir_shl(b, t->token, ir_i32(2));
  buffer_store(b, t->keys, klen, at, .line = line);
  amd_sched_barrier(b); /* or, at S = 1, both stores would become one */
  buffer_store(b, t->ntopk, klen, at, .offset = 4 * e->plan->tokens, .line = line);
  ir_end_if(b);
}

void emit_kt(struct emit *e) {
  struct ir *b = e->b;
  for (uint32_t i = 0; i < e->plan->kt_rounds; i++) {
    val token = ir_add(b, e->free, ir_i32(FREE_WORKGROUPS * i));
    val exists = ir_ult(b, token, ir_i32(e->plan->tokens)); /* unsigned: no token for a workgroup that is not free */
    ir_if(b, exists, "kt");
    struct token_keys t = load_token(e, token, i);
    store_keys(e, &t, i);
    store_lengths(e, &t, i);
    ir_end_if(b);
    amd_sched_barrier(b);
  }
}
