/* SPDX-License-Identifier: Apache-2.0 */
#include "ir_amdgcn.h"

enum {
  CACHE_SC1 = 16,
  /* Word 3 of a raw buffer: data format 32 bits, number format float; what gfx9 wants for untyped accesses. */
  RESOURCE_FLAGS = 0x27000,
  /* s_waitcnt: a counter's field all ones means no wait. */
  WAIT_VMCNT0 = 0x0F70,
  WAIT_LGKMCNT0 = 0xC07F,
};

val amd_resource(struct ir *b, val base, val bytes) {
  if (base.type != T_GLOBAL || bytes.type != T_I64) ir_fail(b, "resource", "a global pointer and an i64 size wanted");
  return ir_call(b, "llvm.amdgcn.make.buffer.rsrc.p8.p1", T_RSRC, 0, IR_ARGS(base, ir_const(T_I16, 0), bytes, ir_i32(RESOURCE_FLAGS)));
}

static const char *load_intrinsic(ir_type type) {
  switch (type) {
  case T_I16:
    return "llvm.amdgcn.raw.ptr.buffer.load.i16";
  case T_I32:
    return "llvm.amdgcn.raw.ptr.buffer.load.i32";
  case T_F32:
    return "llvm.amdgcn.raw.ptr.buffer.load.f32";
  case T_V2I32:
    return "llvm.amdgcn.raw.ptr.buffer.load.v2i32";
  case T_V4I32:
    return "llvm.amdgcn.raw.ptr.buffer.load.v4i32";
  default:
    return NULL;
  }
}

static const char *store_intrinsic(ir_type type) {
  switch (type) {
  case T_I32:
    return "llvm.amdgcn.raw.ptr.buffer.store.i32";
  case T_V2I32:
    return "llvm.amdgcn.raw.ptr.buffer.store.v2i32";
  case T_V4I32:
    return "llvm.amdgcn.raw.ptr.buffer.store.v4i32";
  default:
    return NULL;
  }
}

/* The voffset operand; a constant part up to 4095 ends up in the instruction. */
static val plus_offset(struct ir *b, val offset, uint32_t constant) { return constant ? ir_add(b, offset, ir_i32(constant)) : offset; }

val amd_buffer_load(struct ir *b, ir_type type, val resource, val offset, struct amd_access access) {
  const char *intrinsic = load_intrinsic(type);
  if (!intrinsic || resource.type != T_RSRC || offset.type != T_I32) {
    ir_fail(b, "buffer_load", "wrong operand types");
    return (val){.type = type};
  }
  val at = plus_offset(b, offset, access.offset);
  ir_hint(b, access.name);
  return ir_call(b, intrinsic, type, access.line, IR_ARGS(resource, at, ir_i32(0), ir_i32(access.sc1 ? CACHE_SC1 : 0)));
}

void amd_buffer_store(struct ir *b, val v, val resource, val offset, struct amd_access access) {
  const char *intrinsic = store_intrinsic(v.type);
  if (!intrinsic || resource.type != T_RSRC || offset.type != T_I32) {
    ir_fail(b, "buffer_store", "wrong operand types");
    return;
  }
  val at = plus_offset(b, offset, access.offset);
  ir_call(b, intrinsic, T_NONE, access.line, IR_ARGS(v, resource, at, ir_i32(0), ir_i32(access.sc1 ? CACHE_SC1 : 0)));
}

val amd_buffer_inc(struct ir *b, val resource, uint32_t limit, uint32_t line) {
  return ir_call(
      b, "llvm.amdgcn.raw.ptr.buffer.atomic.inc.i32", T_I32, line, IR_ARGS(ir_i32(limit), resource, ir_i32(0), ir_i32(0), ir_i32(0)));
}

val amd_buffer_cmpswap(struct ir *b, val resource, uint32_t from, uint32_t to, uint32_t line) {
  return ir_call(b, "llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap.i32", T_I32, line,
      IR_ARGS(ir_i32(to), ir_i32(from), resource, ir_i32(0), ir_i32(0), ir_i32(0)));
}

val amd_kernarg_pointer(struct ir *b) { return ir_call(b, "llvm.amdgcn.kernarg.segment.ptr", T_CONSTANT, 0, NULL, 0); }
val amd_workgroup_id(struct ir *b) { return ir_call(b, "llvm.amdgcn.workgroup.id.x", T_I32, 0, NULL, 0); }
val amd_thread_id(struct ir *b) { return ir_call(b, "llvm.amdgcn.workitem.id.x", T_I32, 0, NULL, 0); }

void amd_sched_barrier(struct ir *b) { ir_call(b, "llvm.amdgcn.sched.barrier", T_NONE, 0, IR_ARGS(ir_i32(0))); }

static void wait(struct ir *b, uint32_t what) { ir_call(b, "llvm.amdgcn.s.waitcnt", T_NONE, 0, IR_ARGS(ir_i32(what))); }

void amd_wait_vmcnt0(struct ir *b) {
  wait(b, WAIT_VMCNT0);
  amd_sched_barrier(b);
}

/* The fences (of LDS alone) order the IR's accesses around the barrier. At a wave's scope they become no code: each wait is ours. */
static void barrier(struct ir *b, bool waits) {
  ir_line(b, "fence syncscope(\"wavefront\") release, !mmra !3");
  if (waits) wait(b, WAIT_LGKMCNT0);
  ir_call(b, "llvm.amdgcn.s.barrier", T_NONE, 0, NULL, 0);
  ir_line(b, "fence syncscope(\"wavefront\") acquire, !mmra !3");
}

void amd_workgroup_barrier(struct ir *b) { barrier(b, true); }
void amd_meeting_barrier(struct ir *b) { barrier(b, false); }

void amd_sleep(struct ir *b) { ir_call(b, "llvm.amdgcn.s.sleep", T_NONE, 0, IR_ARGS(ir_i32(1))); }

val amd_clock(struct ir *b) {
  val ticks = ir_call(b, "llvm.amdgcn.s.memrealtime", T_I64, 0, NULL, 0);
  return ir_cast(b, "trunc", ticks, T_I32);
}

val amd_uniform(struct ir *b, val x) { return ir_call(b, "llvm.amdgcn.readfirstlane.i32", T_I32, 0, IR_ARGS(x)); }

static val ballot(struct ir *b, val condition) { return ir_call(b, "llvm.amdgcn.ballot.i64", T_I64, 0, IR_ARGS(condition)); }

val amd_lanes(struct ir *b, val condition) { return ballot(b, condition); }
val amd_among(struct ir *b, val lanes) { return ir_call(b, "llvm.amdgcn.inverse.ballot.i64", T_I1, 0, IR_ARGS(lanes)); }

val amd_none(struct ir *b, val condition) {
  val mask = ballot(b, condition);
  return ir_eq(b, mask, ir_i64(0));
}

static val dpp(struct ir *b, val x, uint32_t control) {
  return ir_call(b, "llvm.amdgcn.update.dpp.i32", T_I32, 0, IR_ARGS(ir_i32(0), x, ir_i32(control), ir_i32(15), ir_i32(15), ir_i1(true)));
}

val amd_lane_xor(struct ir *b, val x, uint32_t mask) {
  enum { QUAD_XOR1 = 0xB1, QUAD_XOR2 = 0x4E, QUAD_XOR3 = 0x1B, ROW_HALF_MIRROR = 0x141, ROW_ROR8 = 0x128 };
  val word = ir_bits(b, x, T_I32), moved = word;
  switch (mask) {
  case 1:
    moved = dpp(b, word, QUAD_XOR1);
    break;
  case 2:
    moved = dpp(b, word, QUAD_XOR2);
    break;
  case 4: /* xor 7, then xor 3 */
    moved = dpp(b, word, ROW_HALF_MIRROR);
    moved = dpp(b, moved, QUAD_XOR3);
    break;
  case 8:
    moved = dpp(b, word, ROW_ROR8);
    break;
  default:
    ir_fail(b, "lane_xor", "mask must be 1, 2, 4 or 8");
  }
  return ir_bits(b, moved, x.type);
}

void amd_lane_swap(struct ir *b, val x, uint32_t mask, val out[2]) {
  const char *intrinsic = mask == 32 ? "llvm.amdgcn.permlane32.swap" : "llvm.amdgcn.permlane16.swap";
  if (mask != 16 && mask != 32) ir_fail(b, "lane_swap", "mask must be 16 or 32");
  val word = ir_bits(b, x, T_I32);
  val pair = ir_call(b, intrinsic, T_I32PAIR, 0, IR_ARGS(word, word, ir_i1(false), ir_i1(false)));
  for (uint32_t i = 0; i < 2; i++) {
    val half = ir_extract(b, pair, i);
    out[i] = ir_bits(b, half, x.type);
  }
}

val amd_pack_fp8(struct ir *b, val x, val y, val old, bool high) {
  return ir_call(b, "llvm.amdgcn.cvt.pk.fp8.f32", T_I32, 0, IR_ARGS(x, y, old, ir_i1(high)));
}

val amd_pack_bf16(struct ir *b, val x, val y) {
  const val both[2] = {x, y};
  val pair = ir_vector(b, T_V2F32, both);
  val narrow = ir_cast(b, "fptrunc", pair, T_V2BF16);
  return ir_bits(b, narrow, T_I32);
}

val amd_rsq(struct ir *b, val x) { return ir_call(b, "llvm.amdgcn.rsq.f32", T_F32, 0, IR_ARGS(x)); }

val amd_mfma_scale_16x16x128(struct ir *b, val a, val bt, val c, val scale_a, val scale_b) {
  return ir_call(b, "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32", T_V4F32, 0,
      IR_ARGS(a, bt, c, ir_i32(0), ir_i32(0), ir_i32(0), scale_a, ir_i32(0), scale_b));
}
