/* SPDX-License-Identifier: Apache-2.0 */
/* Kernarg loads and buffer resources. Arguments are loaded anew at each use and resources rebuilt from them, so that they do not stay
   in SGPRs across stages: volatile keeps LLVM from merging the loads of different stages. */
#include "emit.h"

/* num_records where the key does not say the size; never -1 (LLVM 22 makes a waterfall loop of a select with it). */
static const uint32_t UNKNOWN_BYTES = 0xFFFFFFF0u;

val emit_arg(struct emit *e, enum front_arg arg) {
  bool pointer = e->plan->arg[arg].size || arg == ARG_x || arg == ARG_comp_bt || arg == ARG_cos_sin || arg == ARG_swa;
  ir_type type = pointer ? T_GLOBAL : e->plan->arg[arg].bytes == 8 ? T_I64 : T_I32;
  val at = ir_offset(e->b, e->kernarg, ir_i32(e->plan->arg[arg].offset));
  return ir_load(e->b, type, at, .name = e->plan->arg[arg].name, .is_volatile = true);
}

static val bytes_of(const struct emit *e, enum front_arg arg) {
  uint32_t bytes = e->plan->arg[arg].size;
  return ir_i64(bytes ? bytes : UNKNOWN_BYTES);
}

val emit_buffer(struct emit *e, enum front_arg arg) {
  val base = emit_arg(e, arg);
  return amd_resource(e->b, base, bytes_of(e, arg));
}

val emit_cos_buffer(struct emit *e) { return emit_buffer(e, ARG_cos_sin); }

val emit_sin_buffer(struct emit *e) {
  val base = emit_arg(e, ARG_cos_sin);
  val first = ir_offset(e->b, base, ir_i64(ROPE_PAIRS * 4));
  return amd_resource(e->b, first, bytes_of(e, ARG_cos_sin));
}

val emit_masked_buffer(struct emit *e, enum front_arg arg, val live) {
  val base = emit_arg(e, arg);
  val bytes = ir_select(e->b, live, bytes_of(e, arg), ir_i64(0));
  return amd_resource(e->b, base, bytes);
}

/* x ends with the last token's row: (S - 1) x_stride + HIDDEN elements. */
val emit_x_buffer(struct emit *e, val live) {
  struct ir *b = e->b;
  val base = emit_arg(e, ARG_x);
  val stride = emit_arg(e, ARG_x_stride);
  val rows = ir_mul(b, stride, ir_i32(2 * (e->plan->tokens - 1)));
  val bytes = ir_add(b, rows, ir_i32(2 * HIDDEN));
  val masked = ir_select(b, live, bytes, ir_i32(0));
  val wide = ir_cast(b, "zext", masked, T_I64);
  return amd_resource(b, base, wide);
}

static val region_base(struct emit *e, enum scratch_region region) {
  val base = emit_arg(e, ARG_scratch);
  return ir_offset(e->b, base, ir_i64(e->plan->scratch.region[region].offset));
}

val emit_scratch_buffer(struct emit *e, enum scratch_region region) {
  val base = region_base(e, region);
  return amd_resource(e->b, base, ir_i64(e->plan->scratch.region[region].bytes));
}

val emit_masked_scratch_buffer(struct emit *e, enum scratch_region region, val live) {
  val base = region_base(e, region);
  val bytes = ir_select(e->b, live, ir_i64(e->plan->scratch.region[region].bytes), ir_i64(0));
  return amd_resource(e->b, base, bytes);
}

struct guard_words emit_guard_words(struct emit *e) {
  enum { BUDGET_BYTE = 32 };
  struct ir *b = e->b;
  val base = emit_arg(e, ARG_guard);
  val at = ir_offset(b, base, ir_i64(BUDGET_BYTE));
  val constant = ir_cast(b, "addrspacecast", at, T_CONSTANT);
  struct guard_words g = {.budget = ir_load(b, T_I32, constant, .name = "budget")};
  g.buffer = amd_resource(b, base, bytes_of(e, ARG_guard));
  return g;
}
