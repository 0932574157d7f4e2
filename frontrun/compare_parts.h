/* SPDX-License-Identifier: Apache-2.0 */
/* What compare's files share: one comparison's inputs and how a row is filled. Private to compare*.c. */
#ifndef FRONT_COMPARE_PARTS_H
#define FRONT_COMPARE_PARTS_H

#include "compare.h"
#include "reference.h"
#include "scratch.h"

/* MXFP8 rows of the step's input, as wqkv's stage reads them. */
struct input_rows {
  uint8_t *x8;    /* [S][HIDDEN] */
  uint8_t *codes; /* [S][HIDDEN_GROUPS] */
};

struct comparison {
  const struct front_key *key;
  const struct compare_inputs *in;
  const struct compare_outputs *out;
  struct compare_result *result;
  struct scratch_layout layout;
  struct ref_fp8 fp8;
  bool hardware;
  bool xq;           /* the launch publishes x8 */
  bool x8_published; /* it, or a stage before it, does */
  unsigned threads;
  uint32_t tokens, q_rows, keys, copies, tag;
  double gemv_tolerance;            /* of Σ|w·x| */
  struct input_rows reference_rows; /* quantised by the reference; null with x8_given */
  struct input_rows kernel_rows;    /* what the kernel's wqkv read: the scratch's, or the reference's */
};

/* A new row of the result. */
struct compare_row *compare_row_begin(struct comparison *c, const char *stage);

/* Counts a value. True if it is the first wrong one: the caller then describes it in row->first. */
bool compare_count(struct compare_row *row, bool exact, bool allowed);

/* Counts one value that must be exact; a first wrong one is described as "<where>: wanted 0x.., found 0x..". */
__attribute__((format(printf, 5, 6))) void compare_exact(
    struct compare_row *row, uint32_t wanted, uint32_t found, bool matches, const char *where, ...);

/* Ends the row: its verdict, and the result's message if it is the first bad one. */
void compare_row_end(struct comparison *c, struct compare_row *row);

/* A region of the scratch after the launch. */
const uint8_t *compare_region(const struct comparison *c, enum scratch_region region);
uint32_t compare_u32(const uint8_t *bytes, size_t index); /* the index-th u32 */

/* x8s's i32 of (half, token, group of the half). */
size_t compare_x8s_index(uint32_t tokens, uint32_t half, uint32_t t, uint32_t group);

/* Equal, or both NaN. */
bool compare_same_e4m3(uint8_t a, uint8_t b, const struct ref_fp8 *fp8);
bool compare_same_bf16(uint16_t a, uint16_t b);

/* The stages. False: out of memory. */
void compare_xq(struct comparison *c);
bool compare_kt(struct comparison *c);
bool compare_wqkv(struct comparison *c);
void compare_qkv(struct comparison *c); /* rows "qkv" and "kv" */
bool compare_wqb(struct comparison *c);
void compare_flags(struct comparison *c);
void compare_untouched(struct comparison *c);

/* Checks what the key and section 3 promise about the inputs. False with the sentence in result->message. */
bool compare_inputs_good(struct comparison *c);

#endif
