/* SPDX-License-Identifier: Apache-2.0 */
/* A launch that did not happen: inputs by seed, and outputs as a faultless kernel would leave them, made by the reference in f32. Tests
   of the comparison plant faults in it. */
#ifndef FRONT_TESTS_SYNTHETIC_H
#define FRONT_TESTS_SYNTHETIC_H

#include "compare.h"
#include "reference.h"
#include "scratch.h"

enum {
  SYN_POSITIONS = 64,
  SYN_REQUESTS = 3,
  SYN_TABLE = 300,
  SYN_BLOCK = 4,
  SYN_BLOCKS = TOKENS_MAX + 1,
  SYN_STRIDE = 584 * SYN_BLOCK + 40
};

/* What the launch leaves, all of it in one allocation so that it can be saved and brought back. */
struct synthetic_outputs {
  uint8_t *memory;
  size_t bytes;
  uint8_t *scratch, *cache; /* cache: SYN_BLOCKS blocks, of numbers 7, 8, ... */
  uint16_t *q, *qr_out;
  int32_t *kt, *klen;
  uint32_t epoch;
};

struct synthetic {
  struct front_key key;
  struct target target;
  struct ref_fp8 fp8;
  struct scratch_layout layout;
  uint32_t tokens, q_rows, keys, copies, tag, epoch;
  /* inputs, writable */
  uint16_t *x, *qn_w, *kvn_w;
  uint8_t *wqkv, *wqkv_s, *wqb, *wqb_s;
  int64_t *pos, *slot;
  int32_t *swa_idx, *swa_lens, *topk, *t2r, *comp_bt;
  float *cos_sin;
  struct compare_inputs in;
  struct synthetic_outputs before, now, good; /* `good` is a copy of the faultless `now` */
  struct compare_block blocks[SYN_BLOCKS];
  struct compare_options options;
  int q_rsq_ulps, kv_rsq_ulps; /* what v_rsq_f32 is off by */
};

/* Inputs and a faultless launch. Fails the running test if there is no memory. */
void synthetic_make(struct synthetic *s, const struct front_key *key, uint64_t seed, uint32_t epoch);
void synthetic_free(struct synthetic *s);

/* Brings the faultless outputs back. */
void synthetic_restore(struct synthetic *s);

/* The stages by themselves: each writes into `now` from what `now` and the inputs have. launch: all of them, then `good` is taken. */
void synthetic_launch(struct synthetic *s);
void synthetic_xq(struct synthetic *s);
void synthetic_wqkv(struct synthetic *s);
void synthetic_qkv(struct synthetic *s); /* qx8, qx8s, qr_out, the records */
void synthetic_wqb(struct synthetic *s);

enum compare_verdict synthetic_compare(struct synthetic *s, struct compare_result *result);

/* Places. */
uint8_t *synthetic_region(struct synthetic *s, enum scratch_region region);
float *synthetic_partial(struct synthetic *s, uint32_t half, uint32_t t, uint32_t row); /* the value of a qkvp pair */
uint8_t *synthetic_record(struct synthetic *s, int32_t slot);                           /* 576 data bytes */
uint8_t *synthetic_scales(struct synthetic *s, int32_t slot);                           /* 8 scale bytes */

#endif
