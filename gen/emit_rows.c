/* SPDX-License-Identifier: Apache-2.0 */
/* Token rows of MXFP8: global memory -> registers -> LDS, 16 bytes a lane; and the sums of a GEMV's partials. */
#include "emit.h"

val emit_lds(struct emit *e, val byte) { return ir_offset(e->b, ir_lds(), byte); }

/* Item tid + 512 i of the part: which row and column it is, and its place in LDS. Made once, for the largest tile. */
static void make_places(struct emit *e, struct row_part *part, uint32_t rows) {
  struct ir *b = e->b;
  part->loads = (rows * part->per_row + THREADS - 1) / THREADS;
  for (uint32_t i = 0; i < part->loads; i++) {
    val n = i ? ir_add(b, e->tid, ir_i32(THREADS * i)) : e->tid;
    val column = ir_urem(b, n, ir_i32(part->per_row));
    part->place[i].row = ir_udiv(b, n, ir_i32(part->per_row));
    part->place[i].column_byte = ir_shl(b, column, ir_i32(4));
    val row_byte = ir_mul(b, part->place[i].row, ir_i32(part->lds_row_bytes));
    val at = ir_add(b, row_byte, part->place[i].column_byte);
    val in_part = ir_offset(b, ir_lds(), ir_i32(part->lds));
    part->place[i].lds = ir_offset(b, in_part, at);
  }
}

static void load_part(struct emit *e, struct row_part *part, val buffer, struct token_tile tile, uint32_t line) {
  struct ir *b = e->b;
  part->loads = (tile.count * part->per_row + THREADS - 1) / THREADS;
  for (uint32_t i = 0; i < part->loads; i++) {
    val row = part->place[i].row;
    if ((i + 1) * THREADS > tile.count * part->per_row) row = ir_umin(b, row, ir_i32(tile.count - 1));
    val row_byte = ir_mul(b, row, ir_i32(part->stride));
    val in_tile = ir_add(b, row_byte, part->place[i].column_byte);
    val at = ir_add(b, in_tile, part->base);
    part->data[i] = buffer_load(b, T_V4I32, buffer, at, .name = "rows", .offset = tile.first * part->stride, .line = line);
    amd_sched_barrier(b);
  }
}

static void store_part(struct emit *e, const struct row_part *part, struct token_tile tile) {
  struct ir *b = e->b;
  for (uint32_t i = 0; i < part->loads; i++) {
    uint32_t items = tile.count * part->per_row - i * THREADS; /* left for this load */
    bool whole = items >= THREADS;
    if (!whole) {
      val live = ir_ult(b, e->tid, ir_i32(items));
      ir_if(b, live, "rows left");
    }
    ir_store(b, part->data[i], part->place[i].lds);
    if (!whole) ir_end_if(b);
  }
}

void emit_x8_rows_begin(struct emit *e, struct token_rows *rows) {
  const struct plan *p = e->plan;
  rows->words = (struct row_part){.per_row = K_HALF / 16, .stride = HIDDEN, .lds = p->lds.x_rows, .lds_row_bytes = p->lds.x_row_bytes};
  rows->codes = (struct row_part){
      .per_row = K_HALF / MX_GROUP / 4, .stride = K_HALF / MX_GROUP * 4, .lds = p->lds.x_codes, .lds_row_bytes = p->lds.x_code_row_bytes};
  rows->words.base = ir_mul(e->b, e->part, ir_i32(K_HALF));
  rows->codes.base = ir_mul(e->b, e->part, ir_i32(p->scratch.region[SCRATCH_x8s].bytes / K_HALVES));
  make_places(e, &rows->words, p->tile[0].count);
  make_places(e, &rows->codes, p->tile[0].count);
}

void emit_qx8_rows_begin(struct emit *e, struct token_rows *rows) {
  const struct plan *p = e->plan;
  rows->words = (struct row_part){.per_row = Q_RANK / 16, .stride = Q_RANK, .lds = p->lds.qx_rows, .lds_row_bytes = p->lds.qx_row_bytes};
  rows->codes = (struct row_part){
      .per_row = Q_RANK / MX_GROUP / 4, .stride = Q_RANK / MX_GROUP * 4, .lds = p->lds.qx_codes, .lds_row_bytes = p->lds.qx_code_row_bytes};
  rows->words.base = rows->codes.base = ir_i32(0);
  make_places(e, &rows->words, p->tile[0].count);
  make_places(e, &rows->codes, p->tile[0].count);
}

void emit_load_rows(struct emit *e, struct token_rows *rows, val words, val codes, struct token_tile tile, uint32_t line) {
  load_part(e, &rows->words, words, tile, line);
  load_part(e, &rows->codes, codes, tile, line);
}

void emit_store_rows(struct emit *e, const struct token_rows *rows, struct token_tile tile) {
  store_part(e, &rows->words, tile);
  store_part(e, &rows->codes, tile);
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
  val first = emit_lds(e, at);
  val sum = ir_f32(0.0f);
  for (uint32_t w = 0; w < WAVES; w++) {
    val pointer = ir_offset(b, first, ir_i32(w * WAVE * 16));
    val part = ir_load(b, T_F32, pointer, .name = "part");
    sum = ir_fadd(b, sum, part);
  }
  return sum;
}
