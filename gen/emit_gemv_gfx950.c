/* SPDX-License-Identifier: Apache-2.0 */
/* The inner product on gfx950: one scaled MFMA 16 x 16 x 128 a step. Lane l: row or token l mod 16, j = l / 16; K bytes 16j and
   64 + 16j of the step; the code of K block 32j. A = weights, B = tokens; result row 4j + i, token l mod 16. */
#include "emit.h"

/* Scale operands are VGPRs with the code in byte 0; an inline constant would be read wrongly by the hardware. */
enum { CODE_ONE = 127 };

struct lane_place {
  val index, j; /* l mod 16, l / 16 */
};

static struct lane_place lane_place(struct emit *e) {
  struct lane_place p;
  p.index = ir_and(e->b, e->lane, ir_i32(15));
  p.j = ir_lshr(e->b, e->lane, ir_i32(4));
  return p;
}

static bool may_pass(uint32_t i, uint32_t window) { return (i + 1) * WAVES > window; }

/* The wave's i-th step, clamped to the window. */
static val wave_step(struct emit *e, uint32_t i, uint32_t window) {
  val step = ir_add(e->b, e->wave, ir_i32(i * WAVES));
  return may_pass(i, window) ? ir_umin(e->b, step, ir_i32(window - 1)) : step;
}

static void load(struct emit *e, const struct gemv_rows *r, uint32_t line, struct weights *w) {
  struct ir *b = e->b;
  struct lane_place p = lane_place(e);
  w->window = r->window;
  val row = ir_add(b, r->first_row, p.index);
  val row_byte = ir_mul(b, row, ir_i32(r->row_bytes));
  val chunk = ir_shl(b, p.j, ir_i32(4));
  val lane_byte = ir_add(b, row_byte, chunk);
  val block_row = ir_lshr(b, r->first_row, ir_i32(5));
  val code_row = ir_mul(b, block_row, ir_i32(r->row_bytes / MX_GROUP));
  for (uint32_t i = 0; i < gemv_wave_steps(r->window); i++) {
    val in_window = wave_step(e, i, r->window);
    val step = ir_add(b, in_window, r->first_step);
    val step_byte = ir_mul(b, step, ir_i32(K_STEP));
    val at = ir_add(b, lane_byte, step_byte);
    val step_code = ir_shl(b, step, ir_i32(2));
    val code_at = ir_add(b, code_row, step_code);
    w->low[i] = buffer_load(b, T_V4I32, r->weights, at, .name = "weights", .line = line);
    amd_sched_barrier(b);
    w->high[i] = buffer_load(b, T_V4I32, r->weights, at, .offset = K_STEP / 2, .name = "weights", .line = line);
    amd_sched_barrier(b);
    w->code[i] = buffer_load(b, T_I32, r->codes, code_at, .name = "code", .line = line);
    amd_sched_barrier(b);
  }
}

struct step_operand {
  val a, code;
};

/* Weights of a step; zero, with code 1.0, where the step is past the window. */
static struct step_operand weights_of(struct emit *e, const struct weights *w, uint32_t i, val j) {
  struct ir *b = e->b;
  val shift = ir_shl(b, j, ir_i32(3));
  val shifted = ir_lshr(b, w->code[i], shift);
  struct step_operand o = {.code = ir_and(b, shifted, ir_i32(255))};
  o.a = ir_halves(b, w->low[i], w->high[i]);
  if (!may_pass(i, w->window)) return o;
  val step = ir_add(b, e->wave, ir_i32(i * WAVES));
  val in_window = ir_ult(b, step, ir_i32(w->window));
  o.a = ir_select(b, in_window, o.a, ir_const(T_V8I32, 0));
  o.code = ir_select(b, in_window, o.code, ir_i32(CODE_ONE));
  return o;
}

/* Token rows of a step from LDS; lanes past the tile's tokens read the last token's. */
static struct step_operand rows_of(struct emit *e, const struct gemv_tile *tile, uint32_t window, uint32_t i, struct lane_place p) {
  struct ir *b = e->b;
  val token = ir_umin(b, p.index, ir_i32(tile->count - 1));
  val step = wave_step(e, i, window);
  val row = ir_mul(b, token, ir_i32(tile->row_bytes));
  val chunk = ir_shl(b, p.j, ir_i32(4));
  val step_byte = ir_mul(b, step, ir_i32(K_STEP));
  val lane_byte = ir_add(b, row, chunk);
  val byte = ir_add(b, lane_byte, step_byte);
  val low_at = emit_lds(e, ir_i32(tile->rows));
  low_at = ir_offset(b, low_at, byte);
  val high_at = ir_offset(b, low_at, ir_i32(K_STEP / 2));
  val low = ir_load(b, T_V4I32, low_at, .name = "tokens");
  val high = ir_load(b, T_V4I32, high_at, .name = "tokens");
  struct step_operand o = {.a = ir_halves(b, low, high)};
  val code_row = ir_mul(b, token, ir_i32(tile->code_row_bytes));
  val step_code = ir_shl(b, step, ir_i32(4));
  val block = ir_shl(b, p.j, ir_i32(2));
  val code_byte = ir_add(b, code_row, step_code);
  code_byte = ir_add(b, code_byte, block);
  val code_at = emit_lds(e, ir_i32(tile->codes));
  code_at = ir_offset(b, code_at, code_byte);
  o.code = ir_load(b, T_I32, code_at, .name = "token_code");
  if (!may_pass(i, window)) return o;
  val wave_at = ir_add(b, e->wave, ir_i32(i * WAVES));
  val in_window = ir_ult(b, wave_at, ir_i32(window));
  o.code = ir_select(b, in_window, o.code, ir_i32(CODE_ONE));
  return o;
}

static void run(struct emit *e, const struct weights *w, uint32_t tasks, const struct gemv_tile *tile, uint32_t red) {
  struct ir *b = e->b;
  struct lane_place p = lane_place(e);
  uint32_t window = w[0].window;
  val sum[ROUND_TASKS];
  for (uint32_t t = 0; t < tasks; t++) sum[t] = ir_const(T_V4F32, 0);
  for (uint32_t i = 0; i < gemv_wave_steps(window); i++) {
    struct step_operand rows = rows_of(e, tile, window, i, p);
    for (uint32_t t = 0; t < tasks; t++) {
      struct step_operand weights = weights_of(e, &w[t], i, p.j);
      sum[t] = amd_mfma_scale_16x16x128(b, weights.a, rows.a, sum[t], weights.code, rows.code);
    }
  }
  val thread_byte = ir_shl(b, e->tid, ir_i32(4));
  for (uint32_t t = 0; t < tasks; t++) {
    val at = ir_add(b, thread_byte, ir_i32(red + t * WAVES * WAVE * 16));
    val pointer = emit_lds(e, at);
    ir_store(b, sum[t], pointer);
  }
}

const struct gemv gemv_gfx950 = {.loads_a_step = 3, .mfmas_a_step = 1, .load = load, .run = run};
