/* SPDX-License-Identifier: Apache-2.0 */
/* wq_b: a workgroup's tasks of 16 query rows times every token tile -> bf16, RoPE on a head's last 64 dims -> q. Tasks 256 apart are
   whole heads apart, so that all of a workgroup's tasks have the same dims. */
#include "emit.h"

enum { HEAD_TASKS = HEAD_DIM / ROWS, ROW_PAIRS = ROWS / 2 };

/* The thread's token of a tile in the epilogue: thread = (task, token, pair of rows). */
static val tile_token(struct emit *e, struct token_tile t) {
  struct ir *b = e->b;
  val in_task = ir_urem(b, e->tid, ir_i32(ROW_PAIRS * t.count));
  return ir_lshr(b, in_task, ir_i32(3));
}

void emit_wqb_pos(struct emit *e, struct wqb *w) {
  struct ir *b = e->b;
  val pos = emit_buffer(e, ARG_pos);
  for (uint32_t i = 0; i < e->plan->tiles; i++) {
    val token = tile_token(e, e->plan->tile[i]);
    val at = ir_shl(b, token, ir_i32(3));
    w->pos[i] = buffer_load(b, T_I32, pos, at, .offset = 8 * e->plan->tile[i].first, .name = "pos", .line = emit_line(e, EV_POS, i));
    amd_sched_barrier(b);
  }
}

void emit_wqb_weights(struct emit *e, struct wqb *w, uint32_t round) {
  struct ir *b = e->b;
  const struct plan *p = e->plan;
  struct gemv_rows rows = {.row_bytes = Q_RANK, .window = WQB_STEPS, .first_step = ir_i32(0)};
  rows.weights = emit_buffer(e, ARG_wqb);
  rows.codes = emit_buffer(e, ARG_wqb_s);
  for (uint32_t i = 0; i < p->round_tasks; i++) {
    val task = ir_add(b, e->bid, ir_i32(GRID * (round * ROUND_TASKS + i)));
    rows.first_row = ir_mul(b, task, ir_i32(ROWS));
    p->target->gemv->load(e, &rows, emit_line(e, EV_WQB_WEIGHTS, round), &w->weights[i]);
  }
}

/* First dim of the workgroup's rows in their heads. */
static val first_dim(struct emit *e) {
  val in_head = ir_and(e->b, e->bid, ir_i32(HEAD_TASKS - 1));
  return ir_shl(e->b, in_head, ir_i32(4));
}

static void load_rope(struct emit *e, struct wqb *w) {
  struct ir *b = e->b;
  val cosines = emit_cos_buffer(e);
  val sines = emit_sin_buffer(e);
  val pair = ir_and(b, e->tid, ir_i32(ROW_PAIRS - 1));
  val dim = first_dim(e);
  val twice = ir_shl(b, pair, ir_i32(1));
  val own = ir_add(b, dim, twice);
  val past = ir_sub(b, own, ir_i32(NOPE));
  val some = ir_smax(b, past, ir_i32(0));
  val column = ir_shl(b, some, ir_i32(1)); /* a pair of dims an f32 */
  for (uint32_t i = 0; i < e->plan->tiles; i++) {
    uint32_t line = emit_line(e, EV_WQB_ROPE, i);
    val row = ir_mul(b, w->pos[i], ir_i32(ROPE * 4));
    val at = ir_add(b, row, column);
    w->cos[i] = buffer_load(b, T_F32, cosines, at, .name = "cos", .line = line);
    w->sin[i] = buffer_load(b, T_F32, sines, at, .name = "sin", .line = line);
    amd_sched_barrier(b);
  }
}

static void load_rows(struct emit *e, uint32_t round, uint32_t tile, struct token_rows *rows) {
  val words = emit_scratch_buffer(e, SCRATCH_qx8);
  val codes = emit_scratch_buffer(e, SCRATCH_qx8s);
  emit_load_rows(e, rows, words, codes, e->plan->tile[tile], emit_line(e, EV_QX8_ROWS, round * e->plan->tiles + tile));
}

/* A thread's two rows of a task: summed, rounded, rotated where the dims are, stored as a bf16 pair. */
static void store_q(struct emit *e, const struct wqb *w, uint32_t round, uint32_t tile) {
  struct ir *b = e->b;
  const struct plan *p = e->plan;
  struct token_tile t = p->tile[tile];
  uint32_t per_task = ROW_PAIRS * t.count;
  val mine = ir_ult(b, e->tid, ir_i32(p->round_tasks * per_task));
  ir_if(b, mine, "q");
  val k = ir_udiv(b, e->tid, ir_i32(per_task));
  val local = tile_token(e, t);
  val pair = ir_and(b, e->tid, ir_i32(ROW_PAIRS - 1));
  val even_row = ir_shl(b, pair, ir_i32(1));
  val odd_row = ir_or(b, even_row, ir_i32(1));
  val task_byte = ir_mul(b, k, ir_i32(p->lds.red_task_bytes));
  val base = ir_add(b, task_byte, ir_i32(p->lds.red));
  val even_sum = emit_row_sum(e, base, even_row, local);
  val odd_sum = emit_row_sum(e, base, odd_row, local);
  val v0 = leaf_bf16_round(b, even_sum);
  val v1 = leaf_bf16_round(b, odd_sum);
  val e0 = leaf_rope_even(b, v0, v1, w->cos[tile], w->sin[tile]);
  val e1 = leaf_rope_odd(b, v0, v1, w->cos[tile], w->sin[tile]);
  val dim = first_dim(e);
  val is_rope = ir_uge(b, dim, ir_i32(NOPE)); /* NOPE is a multiple of 16: all rows of a task alike */
  val out0 = ir_select(b, is_rope, e0, v0);
  val out1 = ir_select(b, is_rope, e1, v1);
  val word = amd_pack_bf16(b, out0, out1);
  val q = emit_buffer(e, ARG_q);
  val token = ir_add(b, local, ir_i32(t.first));
  val row_of = ir_mul(b, token, ir_i32(p->q_rows));
  val far = ir_mul(b, k, ir_i32(GRID));
  val near = ir_add(b, e->bid, ir_i32(GRID * ROUND_TASKS * round));
  val task = ir_add(b, far, near);
  val first = ir_mul(b, task, ir_i32(ROWS));
  val in_row = ir_add(b, first, even_row);
  val element = ir_add(b, row_of, in_row);
  val at = ir_shl(b, element, ir_i32(1));
  buffer_store(b, word, q, at, .line = emit_line(e, EV_Q_STORE, round * p->tiles + tile));
  ir_end_if(b);
}

static void multiply(struct emit *e, const struct wqb *w, uint32_t tile) {
  const struct plan *p = e->plan;
  struct gemv_tile t = {.rows = p->lds.qx_rows,
      .codes = p->lds.qx_codes,
      .row_bytes = p->lds.qx_row_bytes,
      .code_row_bytes = p->lds.qx_code_row_bytes,
      .count = p->tile[tile].count};
  p->target->gemv->run(e, w->weights, p->round_tasks, &t, p->lds.red);
}

static void await_qx8(struct emit *e) {
  val pair = emit_on_my_copy(e, e->tid, e->plan->qrdy_stride);
  emit_await_flags(e, POLL_QRDY, pair, e->plan->tokens, emit_line(e, EV_QRDY_POLL, 0));
}

void emit_wqb(struct emit *e, struct wqb *w) {
  struct ir *b = e->b;
  const struct plan *p = e->plan;
  struct token_rows rows;
  load_rope(e, w);
  await_qx8(e);
  emit_qx8_rows_begin(e, &rows);
  load_rows(e, 0, 0, &rows);
  for (uint32_t round = 0; round < p->rounds; round++)
    for (uint32_t i = 0; i < p->tiles; i++) {
      bool last = i + 1 == p->tiles;
      emit_store_rows(e, &rows, p->tile[i]);
      if (!last) load_rows(e, round, i + 1, &rows);
      multiply(e, w, i);
      if (last && round + 1 < p->rounds) { /* the registers of this round's weights are free */
        amd_sched_barrier(b);
        emit_wqb_weights(e, w, round + 1);
        load_rows(e, round + 1, 0, &rows);
      }
      if (p->tuned && !last) amd_wait_vmcnt0(b);
      amd_workgroup_barrier(b);
      store_q(e, w, round, i); /* the next tile's products follow the barrier of its rows: none is needed here */
      amd_sched_barrier(b);
    }
}
