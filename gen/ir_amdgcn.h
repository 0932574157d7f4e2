/* SPDX-License-Identifier: Apache-2.0 */
/* What the builder knows of AMDGPU. The string of an intrinsic occurs once, in ir_amdgcn.c.
   Every vector memory access takes its debug line, the row of issue_order.h + 1. */
#ifndef FRONT_IR_AMDGCN_H
#define FRONT_IR_AMDGCN_H

#include "ir.h"

/* A raw buffer: base is T_GLOBAL, bytes an i32 (num_records). */
val amd_resource(struct ir *b, val base, val bytes);

struct amd_access {
  const char *name;
  bool sc1;        /* device scope */
  uint32_t offset; /* constant bytes, added to the address */
  uint32_t line;
};
/* Loads and stores of 1, 2, 4, 8 or 16 bytes at byte `offset` (i32, any lane its own). */
val amd_buffer_load(struct ir *b, ir_type type, val resource, val offset, struct amd_access access);
void amd_buffer_store(struct ir *b, val v, val resource, val offset, struct amd_access access);
#define buffer_load(b, type, resource, offset, ...) amd_buffer_load(b, type, resource, offset, (struct amd_access){__VA_ARGS__})
#define buffer_store(b, v, resource, offset, ...)   amd_buffer_store(b, v, resource, offset, (struct amd_access){__VA_ARGS__})

/* Atomic increment of the i32 at byte 0, wrapping to 0 past `limit`; the value before it. Device scope is *no* sc1 on an atomic. */
val amd_buffer_inc(struct ir *b, val resource, uint32_t limit, uint32_t line);

/* Compare-and-swap of the i32 at byte 0: `from` becomes `to`; the value before it. */
val amd_buffer_cmpswap(struct ir *b, val resource, uint32_t from, uint32_t to, uint32_t line);

val amd_kernarg_pointer(struct ir *b);
val amd_workgroup_id(struct ir *b);
val amd_thread_id(struct ir *b);

void amd_sched_barrier(struct ir *b);     /* nothing moves across, in llc's schedulers */
void amd_wait_vmcnt0(struct ir *b);       /* this wave's vector memory accesses are done */
void amd_workgroup_barrier(struct ir *b); /* LDS stores before it are seen behind it; global ones are not waited for */
void amd_meeting_barrier(struct ir *b);   /* the same where only LDS loads come before it, of bytes that stay as they are: no wait */
void amd_sleep(struct ir *b);             /* s_sleep 1 */
val amd_clock(struct ir *b);              /* the low 32 bits of the 100 MHz clock */

/* x (i32) of the first active lane, for one that all lanes have alike: LLVM then branches without masks. */
val amd_uniform(struct ir *b, val x);

/* The active lanes whose condition holds, a bit each (i64): a uniform value; and whether this lane is one of such a set. */
val amd_lanes(struct ir *b, val condition);
val amd_among(struct ir *b, val lanes);

/* True if no active lane's condition holds: a uniform value. */
val amd_none(struct ir *b, val condition);

/* x of lane (l xor mask), mask one of 1, 2, 4, 8. */
val amd_lane_xor(struct ir *b, val x, uint32_t mask);
/* Lane l gets x of lanes l and l xor mask, mask 16 or 32, in one order or the other (the same in both lanes of a pair). */
void amd_lane_swap(struct ir *b, val x, uint32_t mask, val out[2]);

/* Two f32 -> two e4m3 bytes in the low or high half of `old`, rounded to nearest even. The caller clamps. */
val amd_pack_fp8(struct ir *b, val x, val y, val old, bool high);
/* Two f32 -> packed bf16, rounded to nearest even, x low. */
val amd_pack_bf16(struct ir *b, val x, val y);
val amd_rsq(struct ir *b, val x);

/* 16 x 16 x 128, e4m3 operands (V8I32), E8M0 codes in byte 0 of VGPRs. */
val amd_mfma_scale_16x16x128(struct ir *b, val a, val bt, val c, val scale_a, val scale_b);

#endif
