/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel: section 5 of the design, one call a stage. Loads complete in issue order, so the order here is the schedule. */
#include "emit.h"

uint32_t emit_line(struct emit *e, enum issue_event event, uint32_t instance) {
  for (uint32_t i = 0; i < e->rows; i++)
    if (e->row[i].event == event && e->row[i].instance == instance) return i + 1;
  ir_fail(e->b, issue_event_name(event), "an access that the issue order does not have");
  return 0;
}

/* Who this thread and its workgroup are. A free workgroup's row tile and half are the last part's: its loads are masked. */
static void prologue(struct emit *e) {
  struct ir *b = e->b;
  ir_hint(b, "kernarg");
  e->kernarg = amd_kernarg_pointer(b);
  ir_hint(b, "tid");
  e->tid = amd_thread_id(b);
  ir_hint(b, "bid");
  e->bid = amd_workgroup_id(b);
  emit_epoch(e);
  ir_hint(b, "lane");
  e->lane = ir_and(b, e->tid, ir_i32(WAVE - 1));
  ir_hint(b, "wave");
  e->wave = ir_lshr(b, e->tid, ir_i32(6));
  ir_hint(b, "has_wqkv");
  e->has_wqkv = ir_ult(b, e->bid, ir_i32(WQKV_PARTS));
  ir_hint(b, "is_free");
  e->is_free = ir_uge(b, e->bid, ir_i32(WQKV_PARTS));
  ir_hint(b, "free");
  e->free = ir_sub(b, e->bid, ir_i32(WQKV_PARTS));
  val unit = ir_umin(b, e->bid, ir_i32(WQKV_PARTS - 1));
  ir_hint(b, "row_tile");
  e->wqkv_tile = ir_urem(b, unit, ir_i32(WQKV_TILES));
  ir_hint(b, "part");
  e->part = ir_udiv(b, unit, ir_i32(WQKV_TILES));
  emit_guard_begin(e);
}

/* S <= TILE: a workgroup quantises its K half itself. */
static void wqkv_in_workgroup(struct emit *e, const val *x, const struct weights *w, struct wqb *wqb) {
  struct ir *b = e->b;
  ir_if(b, e->has_wqkv, "quantise");
  emit_x_tile_quantise(e, x);
  ir_end_if(b);
  amd_sched_barrier(b);
  emit_wqb_weights(e, wqb, 0);
  ir_if(b, e->has_wqkv, "wqkv");
  emit_wqkv_tile(e, w, 0);
  ir_end_if(b);
}

/* S > TILE, untuned: every workgroup goes the same way; the free ones' rows are masked and they store nothing. */
static void wqkv_from_x8(struct emit *e, const struct weights *w, struct wqb *wqb) {
  const struct plan *p = e->plan;
  struct token_rows rows;
  emit_await_x8(e);
  emit_x8_rows_begin(e, &rows);
  emit_x8_rows(e, 0, &rows);
  if (p->tiles == 1) emit_wqb_weights(e, wqb, 0);
  for (uint32_t i = 0; i < p->tiles; i++) {
    emit_store_rows(e, &rows, p->tile[i]);
    if (i + 1 < p->tiles) emit_x8_rows(e, i + 1, &rows);
    if (i + 2 == p->tiles) emit_wqb_weights(e, wqb, 0);
    emit_wqkv_tile(e, w, i);
  }
}

/* S > TILE, tuned: only workgroups with a part await and compute; a wait of theirs must not take the wq_b weights too. */
static void wqkv_from_x8_tuned(struct emit *e, const struct weights *w, struct wqb *wqb) {
  const struct plan *p = e->plan;
  struct token_rows rows;
  ir_if(e->b, e->has_wqkv, "wqkv");
  emit_await_x8(e);
  emit_x8_rows_begin(e, &rows);
  emit_x8_rows(e, 0, &rows);
  for (uint32_t i = 0; i < p->tiles; i++) {
    emit_store_rows(e, &rows, p->tile[i]);
    if (i + 1 < p->tiles) emit_x8_rows(e, i + 1, &rows);
    emit_wqkv_tile(e, w, i);
  }
  emit_end_unless_stopped(e);
  ir_end_if(e->b);
  amd_sched_barrier(e->b);
  emit_wqb_weights(e, wqb, 0);
}

void emit_kernel(struct emit *e) {
  const struct plan *p = e->plan;
  val x[16]; /* of the tile, or of xq's units */
  struct weights wqkv;
  struct wqb wqb;
  prologue(e);
  if (p->quantise_in_workgroup) emit_x_tile_loads(e, x);
  if (p->xq) emit_xq_loads(e, x);
  emit_wqkv_weights(e, &wqkv);
  if (p->xq) emit_xq(e, x);
  emit_kt(e);
  emit_wqb_pos(e, &wqb);
  if (p->quantise_in_workgroup)
    wqkv_in_workgroup(e, x, &wqkv, &wqb);
  else if (p->tuned)
    wqkv_from_x8_tuned(e, &wqkv, &wqb);
  else
    wqkv_from_x8(e, &wqkv, &wqb);
  emit_qkv(e);
  emit_wqb(e, &wqb);
  emit_end_unless_stopped(e);                                             /* the one behind its poll */
  if (!p->quantise_in_workgroup && !p->tuned) emit_end_unless_stopped(e); /* the one behind the poll for x8 */
  emit_guard_record(e);
  emit_done(e);
}
