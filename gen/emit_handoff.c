/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-offs between workgroups: put, poll, publish, done. The only file that knows flags and tags. */
#include "emit.h"

/* The kernel's first load. Tags of launches differ by 2, so that a launch can tell its own pairs from any earlier one's. */
void emit_epoch(struct emit *e) {
  struct ir *b = e->b;
  val buffer = emit_buffer(e, ARG_epoch);
  e->epoch = buffer_load(b, T_I32, buffer, ir_i32(0), .sc1 = true, .name = "epoch", .line = emit_line(e, EV_EPOCH, 0));
  amd_sched_barrier(b);
  val twice = ir_shl(b, e->epoch, ir_i32(1));
  ir_hint(b, "tag");
  e->tag = ir_or(b, twice, ir_i32(1));
}

void emit_put(struct emit *e, val region, val pair, val value, uint32_t line) {
  struct ir *b = e->b;
  val word = ir_bits(b, value, T_I32);
  const val both[2] = {word, e->tag};
  val entry = ir_vector(b, T_V2I32, both);
  val at = ir_mul(b, pair, ir_i32(PAIR_BYTES));
  buffer_store(b, entry, region, at, .sc1 = true, .line = line);
  amd_sched_barrier(b);
}

/* True in a lane whose entry has a tag that is not this launch's. */
static val stale(struct emit *e, val entry, uint32_t pairs) {
  struct ir *b = e->b;
  val bad = ir_i1(false);
  for (uint32_t i = 0; i < pairs; i++) {
    val tag = ir_extract(b, entry, 2 * i + 1);
    val other = ir_ne(b, tag, e->tag);
    bad = i ? ir_or(b, bad, other) : other;
  }
  return bad;
}

/* One round: the loads, and whether every tag is this launch's. */
static val poll_round(struct emit *e, val region, const val *at, uint32_t count, uint32_t pairs, uint32_t line, val *got) {
  struct ir *b = e->b;
  for (uint32_t i = 0; i < count; i++) {
    got[i] = buffer_load(b, pairs == 2 ? T_V4I32 : T_V2I32, region, at[i], .sc1 = true, .name = "pair", .line = line);
    amd_sched_barrier(b); /* or neighbouring pairs would become one load */
  }
  val bad = ir_i1(false);
  for (uint32_t i = 0; i < count; i++) {
    val one = stale(e, got[i], pairs);
    bad = i ? ir_or(b, bad, one) : one;
  }
  return amd_none(b, bad);
}

void emit_poll(struct emit *e, enum poll_stage stage, val region, const val *at, uint32_t count, uint32_t pairs, uint32_t line, val *got) {
  struct ir *b = e->b;
  amd_sched_barrier(b);
  struct guard_watch watch = emit_guard_loop(e);
  val good = poll_round(e, region, at, count, pairs, line, got);
  ir_leave_if(b, good);
  amd_sleep(b); /* also keeps LLVM from hoisting the loads */
  emit_guard_end_loop(e, &watch, stage);
}

void emit_await_flags(struct emit *e, enum poll_stage stage, val pair, uint32_t count, uint32_t line) {
  struct ir *b = e->b;
  enum scratch_region region = stage == POLL_XRDY ? SCRATCH_xrdy : SCRATCH_qrdy;
  val mine = ir_ult(b, e->tid, ir_i32(count));
  ir_if(b, mine, "await flags");
  val flags = emit_scratch_buffer(e, region);
  val at = ir_mul(b, pair, ir_i32(PAIR_BYTES)), got;
  emit_poll(e, stage, flags, &at, 1, 1, line, &got);
  ir_end_if(b);
  amd_sched_barrier(b);
  if (e->plan->guard)
    amd_workgroup_barrier(b); /* a wave that gave up has left a mark */
  else
    amd_meeting_barrier(b);
  amd_sched_barrier(b);
  emit_unless_stopped(e);
}

val emit_on_my_copy(struct emit *e, val pair, uint32_t stride) {
  if (e->plan->copies == 1) return pair;
  val copy = ir_and(e->b, e->bid, ir_i32(e->plan->copies - 1));
  val first = ir_mul(e->b, copy, ir_i32(stride));
  return ir_add(e->b, first, pair);
}

/* Every wave waits for its own stores; behind the barrier all of them are done. */
void emit_settle(struct emit *e) {
  amd_sched_barrier(e->b);
  amd_wait_vmcnt0(e->b);
  amd_meeting_barrier(e->b);
  amd_sched_barrier(e->b);
}

/* The last workgroup of the launch advances the epoch. */
void emit_done(struct emit *e) {
  struct ir *b = e->b;
  val first = ir_eq(b, e->tid, ir_i32(0));
  ir_if(b, first, "done");
  val count = emit_scratch_buffer(e, SCRATCH_done);
  val before = amd_buffer_inc(b, count, GRID - 1, emit_line(e, EV_DONE, 0));
  val last = ir_eq(b, before, ir_i32(GRID - 1));
  ir_if(b, last, "last workgroup");
  val buffer = emit_buffer(e, ARG_epoch);
  val next = ir_add(b, e->epoch, ir_i32(1));
  buffer_store(b, next, buffer, ir_i32(0), .sc1 = true, .line = emit_line(e, EV_EPOCH_STORE, 0));
  ir_end_if(b);
  ir_end_if(b);
}
