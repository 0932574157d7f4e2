/* SPDX-License-Identifier: Apache-2.0 */
/* xq: the input rows to MXFP8. S <= TILE: a workgroup's K half into its LDS; S > TILE: by the free workgroups, published in x8. */
#include "emit.h"

enum { HALF_ITEMS = K_HALF / 8 }; /* 16-byte items of a token's K half */

/* Byte of 8 values in x: token's row, K half, item. */
static val x_byte(struct emit *e, val stride, val token, val half, val item) {
  struct ir *b = e->b;
  val row = ir_mul(b, token, stride);
  val half_at = ir_mul(b, half, ir_i32(K_HALF));
  val column = ir_shl(b, item, ir_i32(3));
  val in_row = ir_add(b, half_at, column);
  val element = ir_add(b, row, in_row);
  return ir_shl(b, element, ir_i32(1));
}

static uint32_t tile_loads(const struct plan *p) { return (p->tile[0].count * HALF_ITEMS + THREADS - 1) / THREADS; }

void emit_x_tile_loads(struct emit *e, val loads[]) {
  struct ir *b = e->b;
  val x = emit_x_buffer(e, e->has_wqkv);
  val stride = emit_arg(e, ARG_x_stride);
  for (uint32_t i = 0; i < tile_loads(e->plan); i++) {
    val n = ir_add(b, e->tid, ir_i32(THREADS * i));
    val row = ir_udiv(b, n, ir_i32(HALF_ITEMS));
    val token = ir_umin(b, row, ir_i32(e->plan->tile[0].count - 1));
    val item = ir_urem(b, n, ir_i32(HALF_ITEMS));
    val at = x_byte(e, stride, token, e->part, item);
    loads[i] = buffer_load(b, T_V4I32, x, at, .name = "x", .line = emit_line(e, EV_X_TILE, 0));
    amd_sched_barrier(b);
  }
}

static void store_tile_item(struct emit *e, val n, const struct quantised *q) {
  struct ir *b = e->b;
  const struct lds_layout *lds = &e->plan->lds;
  val token = ir_udiv(b, n, ir_i32(HALF_ITEMS));
  val item = ir_urem(b, n, ir_i32(HALF_ITEMS));
  val row = ir_mul(b, token, ir_i32(lds->x_row_bytes));
  val column = ir_shl(b, item, ir_i32(3));
  val at = ir_add(b, row, column);
  val words_at = ir_add(b, at, ir_i32(lds->x_rows));
  val pointer = emit_lds(e, words_at);
  ir_store(b, q->words, pointer);
  val in_group = ir_and(b, item, ir_i32(3));
  val first = ir_eq(b, in_group, ir_i32(0));
  ir_if(b, first, "a code a group");
  val code_row = ir_mul(b, token, ir_i32(lds->x_code_row_bytes));
  val code_at = ir_add(b, code_row, item); /* item / 4 codes of 4 bytes */
  code_at = ir_add(b, code_at, ir_i32(lds->x_codes));
  pointer = emit_lds(e, code_at);
  ir_store(b, q->code, pointer);
  ir_end_if(b);
}

void emit_x_tile_quantise(struct emit *e, const val loads[]) {
  struct ir *b = e->b;
  uint32_t items = e->plan->tile[0].count * HALF_ITEMS;
  for (uint32_t i = 0; i < tile_loads(e->plan); i++) {
    val v[8];
    emit_unpack_bf16(e, loads[i], v);
    struct quantised q = emit_quantise(e, v);
    val n = ir_add(b, e->tid, ir_i32(THREADS * i));
    bool whole = (i + 1) * THREADS <= items;
    if (!whole) {
      val live = ir_ult(b, n, ir_i32(items));
      ir_if(b, live, "rows left");
    }
    store_tile_item(e, n, &q);
    if (!whole) ir_end_if(b);
  }
  amd_workgroup_barrier(b);
}

/* Unit i of this workgroup: token and K half, and whether there is one. */
struct unit {
  val index, token, half, live;
};

static struct unit unit_of(struct emit *e, uint32_t i) {
  struct ir *b = e->b;
  struct unit u = {.index = ir_add(b, e->free, ir_i32(FREE_WORKGROUPS * i))};
  val exists = ir_ult(b, u.index, ir_i32(e->plan->xq_units)); /* unsigned: a workgroup that is not free has none */
  u.live = ir_and(b, e->is_free, exists);
  val index = ir_select(b, u.live, u.index, ir_i32(0));
  u.token = ir_lshr(b, index, ir_i32(1));
  u.half = ir_and(b, index, ir_i32(1));
  return u;
}

void emit_xq_loads(struct emit *e, val loads[]) {
  struct ir *b = e->b;
  val stride = emit_arg(e, ARG_x_stride);
  for (uint32_t i = 0; i < e->plan->xq_rounds; i++) {
    struct unit u = unit_of(e, i);
    val x = emit_x_buffer(e, u.live);
    val item = ir_umin(b, e->tid, ir_i32(HALF_ITEMS - 1));
    val at = x_byte(e, stride, u.token, u.half, item);
    loads[i] = buffer_load(b, T_V4I32, x, at, .name = "x", .line = emit_line(e, EV_XQ_X, 0));
    amd_sched_barrier(b);
  }
}

static void store_unit(struct emit *e, const struct unit *u, const struct quantised *q) {
  struct ir *b = e->b;
  uint32_t line = emit_line(e, EV_XQ_STORE, 0);
  val x8 = emit_scratch_buffer(e, SCRATCH_x8);
  val row = ir_mul(b, u->token, ir_i32(HIDDEN));
  val half = ir_mul(b, u->half, ir_i32(K_HALF));
  val column = ir_shl(b, e->tid, ir_i32(3));
  val in_row = ir_add(b, half, column);
  val at = ir_add(b, row, in_row);
  buffer_store(b, q->words, x8, at, .sc1 = true, .line = line);
  val in_group = ir_and(b, e->tid, ir_i32(3));
  val first = ir_eq(b, in_group, ir_i32(0));
  ir_if(b, first, "a code a group");
  val x8s = emit_scratch_buffer(e, SCRATCH_x8s);
  val code_half = ir_mul(b, u->half, ir_i32(e->plan->scratch.region[SCRATCH_x8s].bytes / K_HALVES));
  val code_row = ir_mul(b, u->token, ir_i32(K_HALF / MX_GROUP * 4));
  val code_at = ir_add(b, code_half, code_row);
  code_at = ir_add(b, code_at, e->tid); /* tid / 4 codes of 4 bytes */
  buffer_store(b, q->code, x8s, code_at, .sc1 = true, .line = line);
  ir_end_if(b);
}

/* Thread j units + i puts unit i's flag, in copy j. */
static void put_flags(struct emit *e) {
  struct ir *b = e->b;
  const struct plan *p = e->plan;
  val mine = ir_ult(b, e->tid, ir_i32(p->xq_rounds * p->copies));
  val i = ir_urem(b, e->tid, ir_i32(p->xq_rounds));
  val copy = ir_udiv(b, e->tid, ir_i32(p->xq_rounds));
  val later = ir_mul(b, i, ir_i32(FREE_WORKGROUPS));
  val unit = ir_add(b, e->free, later);
  val exists = ir_ult(b, unit, ir_i32(p->xq_units));
  val live = ir_and(b, mine, exists);
  ir_if(b, live, "xrdy flags");
  val first = ir_mul(b, copy, ir_i32(p->xrdy_stride));
  val pair = ir_add(b, first, unit);
  val flags = emit_scratch_buffer(e, SCRATCH_xrdy);
  emit_put(e, flags, pair, ir_i32(1), emit_line(e, EV_XRDY_PUT, 0));
  ir_end_if(b);
}

void emit_xq(struct emit *e, const val loads[]) {
  struct ir *b = e->b;
  ir_if(b, e->is_free, "xq");
  for (uint32_t i = 0; i < e->plan->xq_rounds; i++) {
    struct unit u = unit_of(e, i);
    val v[8];
    emit_unpack_bf16(e, loads[i], v);
    struct quantised q = emit_quantise(e, v);
    val in_half = ir_ult(b, e->tid, ir_i32(HALF_ITEMS));
    val store = ir_and(b, u.live, in_half);
    ir_if(b, store, "x8");
    store_unit(e, &u, &q);
    ir_end_if(b);
  }
  emit_settle(e);
  put_flags(e);
  ir_end_if(b);
}
