/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a launch: every stage against reference/, fed by the kernel's own inputs of that stage (DESIGN section 13). Takes host
   copies, writes nothing but its result, prints nothing. Thread safe; runs the GEMV sums on its own threads. */
#ifndef FRONT_COMPARE_H
#define FRONT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "key.h"
#include "target.h"

/* The arguments of front_args.def on the host, as the kernel had them *before* the launch. Shapes: DESIGN section 3. What a key does
   not use may be null. Weights are always the OCP ones (gfx942: not the repacked copy). */
struct compare_inputs {
  const uint16_t *x; /* bf16 [S, HIDDEN], rows x_stride elements apart; may be null with x8_given */
  const uint8_t *wqkv, *wqkv_s, *wqb, *wqb_s;
  int32_t x_stride, bt_stride;
  const int64_t *pos, *slot;
  const int32_t *swa_idx, *swa_lens;
  const int32_t *topk, *t2r, *comp_bt; /* null if ratio is 0, or with index */
  uint64_t comp_bt_entries;            /* i32s in comp_bt */
  const float *cos_sin;
  uint64_t cos_sin_rows; /* positions in cos_sin */
  const uint16_t *qn_w, *kvn_w;
  int64_t swa_stride;
  int32_t swa_block, comp_block;
};

/* One block of the window cache: swa_stride bytes before and after the launch. Every block that a live slot lies in must be given,
   once; more blocks (neighbours) are welcome: they are checked to be unchanged. The last block of a cache may be shorter than the stride:
   then `bytes` says so. */
struct compare_block {
  int64_t block; /* slot / swa_block */
  const uint8_t *before, *after;
  uint64_t bytes; /* 0: swa_stride */
};

/* What the launch left, and what was there before where bytes must not change. */
struct compare_outputs {
  const uint8_t *scratch_before, *scratch; /* scratch_layout(S, tuned).bytes */
  uint32_t epoch_before, epoch;
  const struct compare_block *blocks;
  size_t block_count;
  const uint16_t *q;
  const int32_t *kt, *klen; /* with index: must equal *_before if both are given */
  const int32_t *kt_before, *klen_before;
  const uint16_t *qr_out; /* without index: must equal qr_out_before if both are given */
  const uint16_t *qr_out_before;
};

struct compare_options {
  bool hardware;    /* a GPU ran it: GEMV tolerance 2^-17, and v_rsq_f32 may be 1 ulp off */
  unsigned threads; /* 0: one a CPU that is online */
};

enum compare_verdict {
  COMPARE_GOOD,
  COMPARE_DIFFERS,
  COMPARE_BAD_INPUT, /* the inputs break section 3's contract (a pos beyond cos_sin, ...), or no memory: nothing was judged */
};

enum { COMPARE_ROWS_MAX = 10, COMPARE_TEXT_MAX = 240 };

/* A row of frontrun's table. Only stages that the key has are there. */
struct compare_row {
  const char *stage; /* "xq", "kt", "wqkv", "qkv", "kv", "wqb", "flags", "untouched" */
  uint64_t values;   /* compared */
  uint64_t exact;    /* the reference's bits, or a NaN where it has a NaN; of GEMV sums: the f64 sum's rounding */
  uint64_t wrong;    /* beyond what section 13 allows */
  bool has_worst;    /* GEMV stages */
  double worst;      /* largest error, in units of the tolerance (1.0 is the limit). wqkv: |found - sum|. wqb, dims that RoPE leaves
                        alone: from the sum to the nearest number that rounds to what was found. Always finite: DBL_MAX is a NaN or
                        infinity where a number was wanted */
  char worst_at[64]; /* where: "half 1 token 3 row 77"; empty if worst is 0 */
  bool good;         /* wrong == 0 and values > 0 */
  char first[COMPARE_TEXT_MAX]; /* the first wrong value: "token 3 row 77: wanted 0x3f80 (1), found 0x3f81 (1.0078125)"; else empty */
};

struct compare_result {
  enum compare_verdict verdict;
  struct compare_row row[COMPARE_ROWS_MAX];
  size_t rows;
  char message[COMPARE_TEXT_MAX + 32]; /* one line for the first failure ("wqkv: ..."), or what is wrong with the inputs; else empty */
};

/* Fills *result and returns its verdict. */
enum compare_verdict compare_run(const struct front_key *key, const struct target *target, const struct compare_inputs *in,
    const struct compare_outputs *out, const struct compare_options *options, struct compare_result *result);

#endif
