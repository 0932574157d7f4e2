/* SPDX-License-Identifier: Apache-2.0 */
/* Plan -> LLVM IR text. emit_module() is the way in; the rest is what the emit files, one a stage, share. */
#ifndef FRONT_EMIT_H
#define FRONT_EMIT_H

#include "gemv.h"
#include "ir_amdgcn.h"
#include "issue_order.h"
#include "plan.h"

/* The module of a plan's kernel. *text is malloc'd, zero-terminated and the caller's; false with a sentence in `error`. Thread safe. */
bool emit_module(const struct plan *plan, char **text, size_t *bytes, char error[KEY_ERROR_MAX]);

struct emit {
  struct ir *b;
  const struct plan *plan;
  struct issue_row row[ISSUE_ROWS_MAX];
  uint32_t rows;

  val kernarg;
  val tid, lane, wave, bid;
  val tag; /* 2 epoch + 1 */
  val epoch;
  val has_wqkv;        /* bid < 224 */
  val wqkv_tile, part; /* row tile and K half; a free workgroup's are clamped to the last part's */
  val is_free, free;   /* free index: bid - 224 */
  uint32_t polls;      /* emitted so far */
  val start;           /* guard: the clock when the workgroup began */
};

/* emit_kernel.c: the whole kernel, one call a stage. */
void emit_kernel(struct emit *e);

/* The debug line of an access of this event. */
uint32_t emit_line(struct emit *e, enum issue_event event, uint32_t instance);

/* emit_args.c. An argument is loaded anew at each use: SGPRs are scarce. */
val emit_arg(struct emit *e, enum front_arg arg);
val emit_buffer(struct emit *e, enum front_arg arg);
/* cos_sin from its first cos, or from its first sin: a row's offset plus a constant would pass 2^32 at the last position. */
val emit_cos_buffer(struct emit *e);
val emit_sin_buffer(struct emit *e);
/* A buffer of size 0 unless `live`: its loads give 0 and cost no traffic. */
val emit_masked_buffer(struct emit *e, enum front_arg arg, val live);
val emit_x_buffer(struct emit *e, val live);
/* The guard's words, and its budget: constant during a launch, so a scalar load. */
struct guard_words {
  val buffer, budget;
};
struct guard_words emit_guard_words(struct emit *e);
val emit_scratch_buffer(struct emit *e, enum scratch_region region);
val emit_masked_scratch_buffer(struct emit *e, enum scratch_region region, val live);

/* emit_leaf.c: typed calls of templates/. */
#define TEMPLATE1(name, result, a)          val leaf_##name(struct ir *b, val x);
#define TEMPLATE3(name, result, a, c, d)    val leaf_##name(struct ir *b, val x, val y, val z);
#define TEMPLATE4(name, result, a, c, d, f) val leaf_##name(struct ir *b, val x, val y, val z, val w);
#include "templates.def"
#undef TEMPLATE1
#undef TEMPLATE3
#undef TEMPLATE4

/* emit_mxfp8.c */
struct quantised {
  val words; /* V2I32: 8 e4m3 */
  val code;  /* I32, the same in the group's 4 lanes */
};
void emit_unpack_bf16(struct emit *e, val words, val out[8]);   /* V4I32 -> 8 f32 */
struct quantised emit_quantise(struct emit *e, const val v[8]); /* 8 values a lane, 4 lanes a group */

/* emit_guard.c: bounded polls. All of it is nothing where the plan has no guard. */
enum poll_stage { POLL_XRDY = 1, POLL_QKVP, POLL_QRDY }; /* as the guard's record numbers them */
void emit_guard_begin(struct emit *e);
/* The loop of a poll, and its end. */
struct guard_watch {
  struct ir_carry rounds;
};
struct guard_watch emit_guard_loop(struct emit *e);
void emit_guard_end_loop(struct emit *e, struct guard_watch *watch, enum poll_stage stage);
/* Behind the barrier that follows a poll: what stands between the two is left out by a workgroup with a wave that gave up. */
void emit_unless_stopped(struct emit *e);
void emit_end_unless_stopped(struct emit *e);
void emit_guard_record(struct emit *e);

/* emit_handoff.c: the only file that knows flags and device scope. */
void emit_epoch(struct emit *e);
void emit_put(struct emit *e, val region, val pair, val value, uint32_t line);
/* Polls `count` (<= 12) loads of `pairs` (1, 2) pairs each from byte offsets `at` until every tag is this launch's. got[i]: V2I32 or V4I32.
 */
void emit_poll(struct emit *e, enum poll_stage stage, val region, const val *at, uint32_t count, uint32_t pairs, uint32_t line, val *got);
/* Threads below `count` await flag pair index (thread i's index given as `pair`), then the workgroup goes on. */
void emit_await_flags(struct emit *e, enum poll_stage stage, val pair, uint32_t count, uint32_t line);
/* The pair index of `pair` in this workgroup's XCD's copy. */
val emit_on_my_copy(struct emit *e, val pair, uint32_t stride);
/* All stores of the workgroup are done, device-wide. */
void emit_settle(struct emit *e);
void emit_done(struct emit *e);

/* emit_rows.c: token rows of MXFP8 words and codes, global memory -> registers -> LDS; and the sums of a GEMV's partials. */
enum { ROW_LOADS_MAX = 5 }; /* 16 rows of 160 items */
struct row_part {
  uint32_t per_row; /* 16-byte items a row */
  uint32_t stride;  /* bytes between rows in memory */
  uint32_t lds, lds_row_bytes;
  val base; /* byte of row 0 in the buffer */
  struct {
    val row, column_byte, lds;
  } place[ROW_LOADS_MAX]; /* of item tid + 512 i */
  val data[ROW_LOADS_MAX];
  uint32_t loads; /* in flight */
};
struct token_rows {
  struct row_part words, codes;
};
void emit_x8_rows_begin(struct emit *e, struct token_rows *rows);
void emit_qx8_rows_begin(struct emit *e, struct token_rows *rows);
void emit_load_rows(struct emit *e, struct token_rows *rows, val words, val codes, struct token_tile tile, uint32_t line);
void emit_store_rows(struct emit *e, const struct token_rows *rows, struct token_tile tile); /* and a barrier */
val emit_row_sum(struct emit *e, val task_base, val row, val token);                         /* LDS byte base of the task's partials */
val emit_lds(struct emit *e, val byte);

/* The stages. */
void emit_x_tile_loads(struct emit *e, val loads[]);
void emit_x_tile_quantise(struct emit *e, const val loads[]);
void emit_xq_loads(struct emit *e, val loads[]);
void emit_xq(struct emit *e, const val loads[]);
void emit_kt(struct emit *e);
void emit_wqkv_weights(struct emit *e, struct weights *w);
void emit_x8_rows(struct emit *e, uint32_t tile, struct token_rows *rows);
void emit_wqkv_tile(struct emit *e, const struct weights *w, uint32_t tile);
void emit_await_x8(struct emit *e);
void emit_qkv(struct emit *e);

struct wqb {
  val pos[TOKENS_MAX]; /* a tile */
  val cos[TOKENS_MAX], sin[TOKENS_MAX];
  struct weights weights[ROUND_TASKS]; /* of the round */
};
void emit_wqb_pos(struct emit *e, struct wqb *w);
void emit_wqb_weights(struct emit *e, struct wqb *w, uint32_t round);
void emit_wqb(struct emit *e, struct wqb *w);

#endif
