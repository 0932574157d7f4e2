/* SPDX-License-Identifier: Apache-2.0 */
/* Token rows of MXFP8: global memory -> registers -> LDS, 16 bytes a lane; and the sums of a GEMV's partials. */
#include "emit.h"

val emit_lds(struct emit *e, val byte) { return ir_offset(e->b, ir_lds(), byte); }

struct row_shape emit_x8_shape(const struct plan *p) {
  return (struct row_shape){.words = K_HALF / 16, .codes = K_HALF / MX_GROUP * 4 / 16, .row_stride = HIDDEN,
      .code_stride = K_HALF / MX_GROUP * 4, .lds_rows = p->lds.x_rows, .lds_codes = p->lds.x_codes,
      .lds_row_bytes = p->lds.x_row_bytes, .lds_code_row_bytes = p->lds.x_code_row_bytes};
}

struct row_shape emit_qx8_shape(const struct plan *p) {
  return (struct row_shape){.words = Q_RANK / 16, .codes = Q_RANK / MX_GROUP * 4 / 16, .row_stride = Q_RANK,
      .code_stride = Q_RANK / MX_GROUP * 4, .lds_rows = p->lds.qx_rows, .lds_codes = p->lds.qx_codes,
      .lds_row_bytes = p->lds.qx_row_bytes, .lds_code_row_bytes = p->lds.qx_code_row_bytes};
}

/* Where item tid + 512 i of `per_row`-item rows lies. */
struct item {
  val row, column, live;
};

static struct item item_of(struct emit *e, uint32_t i, uint32_t per_row, uint32_t rows) {
  struct ir *b = e->b;
  val n = ir_add(b, e->tid, ir_i32(THREADS * i));
  struct item item = {.row = ir_udiv(b, n, ir_i32(per_row))};
  item.column = ir_urem(b, n, ir_i32(per_row));
  item.live = ir_ult(b, n, ir_i32(rows * per_row));
  return item;
}

static uint32_t load_part(struct emit *e, val buffer, val base, uint32_t per_row, uint32_t stride, struct token_tile tile, uint32_t line,
    val *out) {
  struct ir *b = e->b;
  uint32_t loads = (tile.count * per_row + THREADS - 1) / THREADS;
  for (uint32_t i = 0; i < loads; i++) {
    struct item item = item_of(e, i, per_row, tile.count);
    val row = ir_umin(b, item.row, ir_i32(tile.count - 1));
    val row_byte = ir_mul(b, row, ir_i32(stride));
    val column_byte = ir_shl(b, item.column, ir_i32(4));
    val in_tile = ir_add(b, row_byte, column_byte);
    val at = ir_add(b, in_tile, base);
    out[i] = buffer_load(b, T_V4I32, buffer, at, .name = "rows", .offset = tile.first * stride, .line = line);
    amd_sched_barrier(b);
  }
  return loads;
}

void emit_load_rows(struct emit *e, const struct row_shape *shape, val words, val codes, val word_base, val code_base,
    struct token_tile tile, uint32_t line, struct row_loads *out) {
  out->word_loads = load_part(e, words, word_base, shape->words, shape->row_stride, tile, line, out->words);
  out->code_loads = load_part(e, codes, code_base, shape->codes, shape->code_stride, tile, line, out->codes);
}

static void store_part(struct emit *e, const val *loads, uint32_t count, uint32_t per_row, uint32_t lds, uint32_t lds_row,
    uint32_t rows) {
  struct ir *b = e->b;
  for (uint32_t i = 0; i < count; i++) {
    struct item item = item_of(e, i, per_row, rows);
    bool whole = (i + 1) * THREADS <= rows * per_row;
    if (!whole) ir_if(b, item.live, "rows left");
    val row_byte = ir_mul(b, item.row, ir_i32(lds_row));
    val column_byte = ir_shl(b, item.column, ir_i32(4));
    val in_part = ir_add(b, row_byte, column_byte);
    val at = ir_add(b, in_part, ir_i32(lds));
    val pointer = emit_lds(e, at);
    ir_store(b, loads[i], pointer);
    if (!whole) ir_end_if(b);
  }
}

void emit_store_rows(struct emit *e, const struct row_shape *shape, const struct row_loads *loads, struct token_tile tile) {
  store_part(e, loads->words, loads->word_loads, shape->words, shape->lds_rows, shape->lds_row_bytes, tile.count);
  store_part(e, loads->codes, loads->code_loads, shape->codes, shape->lds_codes, shape->lds_code_row_bytes, tile.count);
  amd_workgroup_barrier(e->b);
}

/* Lane 16 (row / 4) + token of each wave holds row's partial in element row mod 4. Added in wave order, from 0. */
val emit_row_sum(struct emit *e, val task_base, val row, val token) {
  struct ir *b = e->b;
  val j = ir_lshr(b, row, ir_i32(2));
  val lane16 = ir_shl(b, j, ir_i32(4));
  val lane = ir_add(b, lane16, token);
  val lane_byte = ir_shl(b, lane, ir_i32(4));
  val element = ir_and(b, row, ir_i32(3));
  val element_byte = ir_shl(b, element, ir_i32(2));
  val in_wave = ir_add(b, lane_byte, element_byte);
  val at = ir_add(b, task_base, in_wave);
  val sum = ir_f32(0.0f);
  for (uint32_t w = 0; w < WAVES; w++) {
    val byte = ir_add(b, at, ir_i32(w * WAVE * 16));
    val pointer = emit_lds(e, byte);
    val part = ir_load(b, T_F32, pointer, .name = "part");
    sum = ir_fadd(b, sum, part);
  }
  return sum;
}
