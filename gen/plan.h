/* SPDX-License-Identifier: Apache-2.0 */
/* Key + target -> every decision of the kernel, as plain data. Emit files, `info`, `check` and tests read this and never the key. */
#ifndef FRONT_PLAN_H
#define FRONT_PLAN_H

#include "key.h"
#include "scratch.h"
#include "target.h"

/* Arguments in kernarg order. */
enum front_arg {
#define ARG(name, type, align, dtype, use, bytes) ARG_##name,
#include "front_args.def"
#undef ARG
  FRONT_ARGS
};

struct token_tile {
  uint32_t first, count; /* tokens first .. first + count - 1 */
};

/* Parts of LDS, byte offsets. Rows and codes have LDS_PAD_WORDS words of padding a row. */
struct lds_layout {
  uint32_t red;            /* f32 [round tasks][wave][lane][4], then 16 words */
  uint32_t red_task_bytes; /* bytes of one task's partials */
  uint32_t red_words;      /* the 16 words behind them */
  uint32_t stop;           /* guard: 8 bytes, one a wave, in the padding of the first qx row */
  uint32_t qx_rows, qx_codes, x_rows, x_codes;
  uint32_t qx_row_bytes, qx_code_row_bytes, x_row_bytes, x_code_row_bytes; /* with padding */
  uint32_t rows;                                                           /* token rows of each: min(S, TILE) */
  uint32_t bytes;
};

struct plan {
  struct front_key key;
  const struct target *target;
  char name[KEY_NAME_MAX];

  uint32_t tokens, q_rows, keys;
  struct token_tile tile[TOKENS_MAX];
  uint32_t tiles;
  uint32_t tasks;       /* wq_b tasks a workgroup */
  uint32_t rounds;      /* of at most ROUND_TASKS tasks */
  uint32_t round_tasks; /* tasks a round: min(tasks, ROUND_TASKS) */

  bool tuned;
  bool guard;                        /* polls are bounded */
  bool quantise_in_workgroup;        /* S <= TILE: no x8, x8s, xrdy */
  bool xq;                           /* S > TILE: the free workgroups quantise and publish */
  uint32_t xq_units;                 /* 2 S */
  uint32_t xq_rounds;                /* units a free workgroup takes at most */
  uint32_t copies;                   /* of the flags: COPIES, or 1 untuned */
  uint32_t xrdy_stride, qrdy_stride; /* pairs between copies, tuned */
  uint32_t first_qkv_workgroup;      /* token t's qkv runs on workgroup (this + t) mod 256 */
  uint32_t kt_rounds;                /* tokens a free workgroup takes at most */

  struct scratch_layout scratch;
  struct lds_layout lds;

  struct {
    const char *name;
    uint32_t offset, bytes; /* in the kernarg block */
    uint32_t size;          /* of what it points to; 0: not known from the key */
  } arg[FRONT_ARGS];
};

/* Fills *plan. False with a sentence in `error` if the target cannot have this key (LDS, registers). Thread safe. */
bool plan_make(const struct front_key *key, const struct target *target, struct plan *plan, char error[KEY_ERROR_MAX]);

#endif
