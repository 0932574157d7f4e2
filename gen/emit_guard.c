/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded polls. A poll that fails looks at the clock and at the launch's status word; past the budget, or once another workgroup has
   given up, its wave stops its workgroup: nothing more is stored or published, and the launch ends with a record of what was missing.
   Stop marks are a byte a wave, so that no wave ever writes another's. */
#include "emit.h"

enum {
  STATUS_BYTE = 0,
  RECORD_BYTE = 4,
  ROUNDS_A_LOOK = 64, /* failed rounds between looks at the clock and the status word */
};

/* A wave's mark: 0, or the stage that it gave up in. */
static val mark_of(struct emit *e) {
  val at = ir_add(e->b, e->wave, ir_i32(e->plan->lds.stop));
  return emit_lds(e, at);
}

void emit_guard_begin(struct emit *e) {
  if (!e->plan->guard) return;
  e->start = amd_clock(e->b);
  val mark = mark_of(e);
  ir_store(e->b, ir_const(T_I8, 0), mark);
}

struct guard_watch emit_guard_loop(struct emit *e) {
  struct guard_watch watch = {0};
  if (e->plan->guard) {
    watch.rounds = ir_loop_with(e->b, "poll", ir_i32(1));
  } else {
    ir_loop(e->b, "poll");
  }
  return watch;
}

/* Past the budget, or once the status word is set, the wave leaves its mark and the loop. */
static void look(struct emit *e, enum poll_stage stage) {
  struct ir *b = e->b;
  uint32_t line = emit_line(e, EV_GUARD_LOOK, e->polls++);
  val now = amd_clock(b);
  struct guard_words guard = emit_guard_words(e);
  val status = buffer_load(b, T_I32, guard.buffer, ir_i32(STATUS_BYTE), .sc1 = true, .name = "status", .line = line);
  val spent = ir_sub(b, now, e->start);
  val allowed = ir_sub(b, guard.budget, ir_i32(1)); /* a budget of 0 allows everything */
  val uniform = amd_uniform(b, status);
  val running = ir_eq(b, uniform, ir_i32(0));
  allowed = ir_select(b, running, allowed, ir_i32(0));
  val over = ir_ult(b, allowed, spent);
  val left = ir_select(b, over, ir_i32(stage), ir_i32(0));
  val byte = ir_cast(b, "trunc", left, T_I8);
  val mark = mark_of(e);
  ir_store(b, byte, mark);
  ir_leave_if(b, over);
}

void emit_guard_end_loop(struct emit *e, struct guard_watch *watch, enum poll_stage stage) {
  struct ir *b = e->b;
  if (!e->plan->guard) {
    ir_end_loop(b);
    return;
  }
  val phase = ir_and(b, watch->rounds.now, ir_i32(ROUNDS_A_LOOK - 1));
  val due = ir_eq(b, phase, ir_i32(0));
  ir_if(b, due, "look");
  look(e, stage);
  ir_end_if(b);
  val next = ir_add(b, watch->rounds.now, ir_i32(1));
  ir_end_loop_with(b, watch->rounds, next);
}

void emit_unless_stopped(struct emit *e) {
  struct ir *b = e->b;
  if (!e->plan->guard) return;
  val at = emit_lds(e, ir_i32(e->plan->lds.stop));
  val marks = ir_load(b, T_I64, at, .name = "stop");
  val none = ir_eq(b, marks, ir_i64(0));
  ir_if(b, none, "unless stopped");
}

void emit_end_unless_stopped(struct emit *e) {
  if (e->plan->guard) ir_end_if(e->b);
}

/* The pairs that a stage's poll waits for: `count` pairs from `first`, every `step`-th; qkvp's second half lies further on. */
struct waited {
  val first, step, count, region_byte;
};

static val by_stage(struct emit *e, val stage, val xrdy, val qkvp, val qrdy) {
  struct ir *b = e->b;
  val flag = qrdy;
  if (!e->plan->quantise_in_workgroup) {
    val is_xrdy = ir_eq(b, stage, ir_i32(POLL_XRDY));
    flag = ir_select(b, is_xrdy, xrdy, qrdy);
  }
  val is_qkvp = ir_eq(b, stage, ir_i32(POLL_QKVP));
  return ir_select(b, is_qkvp, qkvp, flag);
}

static struct waited waited_of(struct emit *e, val stage) {
  struct ir *b = e->b;
  const struct plan *p = e->plan;
  val past = ir_sub(b, e->bid, ir_i32(p->first_qkv_workgroup));
  val token = ir_and(b, past, ir_i32(GRID - 1));
  val row = ir_mul(b, token, ir_i32(QKV_ROWS));
  val xrdy = emit_on_my_copy(e, e->part, p->xrdy_stride);
  val qrdy = emit_on_my_copy(e, ir_i32(0), p->qrdy_stride);
  struct waited w;
  w.first = by_stage(e, stage, xrdy, row, qrdy);
  w.step = by_stage(e, stage, ir_i32(2), ir_i32(1), ir_i32(1));
  w.count = by_stage(e, stage, ir_i32(p->tokens), ir_i32(2 * QKV_ROWS), ir_i32(p->tokens));
  w.region_byte = by_stage(e, stage, ir_i32(p->scratch.region[SCRATCH_xrdy].offset), ir_i32(p->scratch.region[SCRATCH_qkvp].offset),
      ir_i32(p->scratch.region[SCRATCH_qrdy].offset));
  return w;
}

struct found {
  val pair, tag, lanes; /* lanes: those that miss theirs */
};

/* Looks for the first pair without this launch's tag, 64 at a time. */
static struct found scan(struct emit *e, const struct waited *w) {
  struct ir *b = e->b;
  val scratch = emit_buffer(e, ARG_scratch);
  struct found f;
  amd_sched_barrier(b);
  struct ir_carry i = ir_loop_with(b, "pairs", ir_i32(0));
  val n = ir_add(b, i.now, e->lane);
  val last = ir_sub(b, w->count, ir_i32(1));
  val index = ir_umin(b, n, last);
  val stepped = ir_mul(b, index, w->step);
  val near = ir_add(b, w->first, stepped);
  val second = ir_uge(b, index, ir_i32(QKV_ROWS));
  val skip = ir_select(b, second, ir_i32((e->plan->tokens - 1) * QKV_ROWS), ir_i32(0));
  f.pair = ir_add(b, near, skip);
  val byte = ir_mul(b, f.pair, ir_i32(PAIR_BYTES));
  val at = ir_add(b, byte, w->region_byte);
  val entry = buffer_load(b, T_V2I32, scratch, at, .sc1 = true, .name = "pair", .line = emit_line(e, EV_GUARD_SCAN, 0));
  f.tag = ir_extract(b, entry, 1);
  val missing = ir_ne(b, f.tag, e->tag);
  f.lanes = amd_lanes(b, missing);
  val some = ir_ne(b, f.lanes, ir_i64(0));
  ir_leave_if(b, some);
  val next = ir_add(b, i.now, ir_i32(WAVE));
  val over = ir_uge(b, next, w->count);
  ir_leave_if(b, over);
  ir_end_loop_with(b, i, next);
  return f;
}

static void store_record(struct emit *e, val guard, val stage, const struct found *f) {
  struct ir *b = e->b;
  uint32_t line = emit_line(e, EV_GUARD_RECORD, 0);
  const val where[4] = {stage, e->bid, e->wave, f->pair};
  val words = ir_vector(b, T_V4I32, where);
  buffer_store(b, words, guard, ir_i32(RECORD_BYTE), .sc1 = true, .line = line);
  amd_sched_barrier(b);
  const val tags[2] = {f->tag, e->tag};
  words = ir_vector(b, T_V2I32, tags);
  buffer_store(b, words, guard, ir_i32(RECORD_BYTE + 16), .sc1 = true, .line = line);
}

/* By a lane that misses a pair, or by any, should the pair have come meanwhile: the one whose swap is first. */
void emit_guard_record(struct emit *e) {
  struct ir *b = e->b;
  if (!e->plan->guard) return;
  val at = mark_of(e);
  val mark = ir_load(b, T_I8, at, .name = "mark");
  val wide = ir_cast(b, "zext", mark, T_I32);
  val stage = amd_uniform(b, wide);
  val gave_up = ir_ne(b, stage, ir_i32(0));
  ir_if(b, gave_up, "guard record");
  struct waited w = waited_of(e, stage);
  struct found f = scan(e, &w);
  val none = ir_eq(b, f.lanes, ir_i64(0));
  val lanes = ir_select(b, none, ir_i64(UINT64_MAX), f.lanes);
  val mine = amd_among(b, lanes);
  ir_if(b, mine, "claim");
  val guard = emit_buffer(e, ARG_guard);
  val before = amd_buffer_cmpswap(b, guard, 0, 1, emit_line(e, EV_GUARD_CLAIM, 0));
  val claimed = ir_eq(b, before, ir_i32(0));
  ir_if(b, claimed, "record");
  store_record(e, guard, stage, &f);
  ir_end_if(b);
  ir_end_if(b);
  ir_end_if(b);
}
