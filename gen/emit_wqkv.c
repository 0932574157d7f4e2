/* SPDX-License-Identifier: Apache-2.0 */
/* wqkv: 16 rows of wqkv over a K half, times every token tile -> f32 partials, put as qkvp pairs. */
#include "emit.h"

void emit_wqkv_weights(struct emit *e, struct weights *w) {
  struct ir *b = e->b;
  struct gemv_rows rows = {.row_bytes = HIDDEN, .window = WQKV_STEPS};
  rows.weights = emit_masked_buffer(e, ARG_wqkv, e->has_wqkv);
  rows.codes = emit_masked_buffer(e, ARG_wqkv_s, e->has_wqkv);
  rows.first_row = ir_mul(b, e->wqkv_tile, ir_i32(ROWS));
  rows.first_step = ir_mul(b, e->part, ir_i32(WQKV_STEPS));
  e->plan->target->gemv->load(e, &rows, emit_line(e, EV_WQKV_WEIGHTS, 0), w);
}

void emit_await_x8(struct emit *e) {
  struct ir *b = e->b;
  val twice = ir_shl(b, e->tid, ir_i32(1));
  val unit = ir_or(b, twice, e->part);
  val pair = emit_on_my_copy(e, unit, e->plan->xrdy_stride);
  emit_await_flags(e, POLL_XRDY, pair, e->plan->tokens, emit_line(e, EV_XRDY_POLL, 0));
}

void emit_x8_rows(struct emit *e, uint32_t tile, struct token_rows *rows) {
  val words = emit_masked_scratch_buffer(e, SCRATCH_x8, e->has_wqkv);
  val codes = emit_masked_scratch_buffer(e, SCRATCH_x8s, e->has_wqkv);
  emit_load_rows(e, rows, words, codes, e->plan->tile[tile], emit_line(e, EV_X8_ROWS, tile));
}

static void put_partials(struct emit *e, uint32_t tile) {
  struct ir *b = e->b;
  const struct plan *p = e->plan;
  struct token_tile t = p->tile[tile];
  val in_tile = ir_ult(b, e->tid, ir_i32(ROWS * t.count));
  val mine = ir_and(b, in_tile, e->has_wqkv);
  ir_if(b, mine, "partials");
  val row = ir_and(b, e->tid, ir_i32(ROWS - 1));
  val local = ir_lshr(b, e->tid, ir_i32(4));
  val sum = emit_row_sum(e, ir_i32(p->lds.red), row, local);
  val qkvp = emit_scratch_buffer(e, SCRATCH_qkvp);
  val half = ir_mul(b, e->part, ir_i32(p->tokens));
  val token = ir_add(b, local, ir_i32(t.first));
  val line_of = ir_add(b, half, token);
  val first = ir_mul(b, line_of, ir_i32(QKV_ROWS));
  val tile_row = ir_mul(b, e->wqkv_tile, ir_i32(ROWS));
  val in_line = ir_add(b, tile_row, row);
  val pair = ir_add(b, first, in_line);
  emit_put(e, qkvp, pair, sum, emit_line(e, EV_QKVP_PUT, tile));
  ir_end_if(b);
}

/* The token rows are in LDS. */
void emit_wqkv_tile(struct emit *e, const struct weights *w, uint32_t tile) {
  const struct plan *p = e->plan;
  struct gemv_tile t = {.rows = p->lds.x_rows,
      .codes = p->lds.x_codes,
      .row_bytes = p->lds.x_row_bytes,
      .code_row_bytes = p->lds.x_code_row_bytes,
      .count = p->tile[tile].count};
  p->target->gemv->run(e, w, 1, &t, p->lds.red);
  if (p->tuned && !p->quantise_in_workgroup && tile + 1 < p->tiles) amd_wait_vmcnt0(e->b);
  amd_workgroup_barrier(e->b);
  put_partials(e, tile); /* the next to write red is behind the barrier of its rows: none is needed here */
  amd_sched_barrier(e->b);
}
