/* SPDX-License-Identifier: Apache-2.0 */
/* The model's numbers and what follows from them. Counts of elements unless a name says bytes. No code but arithmetic. */
#ifndef FRONT_GEOMETRY_H
#define FRONT_GEOMETRY_H

#include <stdint.h>

enum {
  HIDDEN = 5120, /* width of an input row */
  Q_RANK = 1280, /* width of the low-rank query */
  KV_DIM = 512,  /* width of a KV row before it becomes a record */
  QKV_ROWS = Q_RANK + KV_DIM,
  HEAD_DIM = 512,
  NOPE = 448, /* dims of a head that RoPE leaves alone */
  ROPE = HEAD_DIM - NOPE,
  ROPE_PAIRS = ROPE / 2,
  HEADS = 64,    /* of all ranks together */
  TOPK = 512,    /* width of a topk row */
  MX_GROUP = 32, /* values that share an E8M0 code */
  KV_GROUP = 64, /* dims of a KV record that share a scale byte */
  KV_GROUPS = NOPE / KV_GROUP,
  KV_DATA_BYTES = NOPE + 2 * ROPE,
  KV_SCALE_BYTES = 8,
  KV_RECORD_BYTES = KV_DATA_BYTES + KV_SCALE_BYTES,

  GRID = 256, /* workgroups of a launch, all resident together */
  WAVE = 64,  /* lanes */
  WAVES = 8,  /* waves a workgroup */
  THREADS = WAVE * WAVES,
  XCDS = 8,             /* workgroup i runs on XCD i mod 8 */
  COPIES = XCDS,        /* copies of the flags, tuned */
  FLAG_LINE_PAIRS = 16, /* pairs in a 128-byte line */

  ROWS = 16,    /* weight rows a GEMV task */
  K_STEP = 128, /* K columns a GEMV step */
  K_HALVES = 2, /* parts that wqkv's K is split into */
  K_HALF = HIDDEN / K_HALVES,
  WQKV_TILES = QKV_ROWS / ROWS,
  WQKV_PARTS = WQKV_TILES * K_HALVES, /* workgroups with a wqkv part; the others are free */
  FREE_WORKGROUPS = GRID - WQKV_PARTS,
  WQKV_STEPS = K_HALF / K_STEP,
  WQB_STEPS = Q_RANK / K_STEP,
  ROUND_TASKS = 4, /* wq_b tasks whose weights fit in registers together */

  TOKENS_MAX = 48,
  RATIO_MAX = 128,
  WINDOW_MAX = 4096,
  PAIR_BYTES = 8,    /* (value, tag) */
  LDS_PAD_WORDS = 4, /* so that 16 rows do not share banks */
  KERNARG_BYTES = 216,
};

#define FRONT_EPS     1e-20f /* added to a mean square */
#define KV_AMAX_FLOOR 1e-4f  /* of a KV record's group */

static inline uint32_t round_up_u32(uint32_t v, uint32_t to) { return (v + to - 1) / to * to; }
static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Query rows of one rank. */
static inline uint32_t geometry_q_rows(uint32_t tp) { return HEADS / tp * HEAD_DIM; }

/* wq_b tasks of one workgroup: tasks bid, bid + 256, ... */
static inline uint32_t geometry_wqb_tasks(uint32_t tp) { return geometry_q_rows(tp) / (ROWS * GRID); }

/* Width of a kt row: 640 if the keys fit, else their number rounded up to 128. */
static inline uint32_t geometry_keys(uint32_t ratio, uint32_t window) {
  uint32_t keys = (ratio > 0 ? (uint32_t)TOPK : 0u) + window;
  return keys <= 640 ? 640u : round_up_u32(keys, 128);
}

#endif
