/* SPDX-License-Identifier: Apache-2.0 */
/* A launch's arguments on the host: drawn by seed, or taken from a file, and what the launch left. */
#ifndef FRONT_INPUTS_H
#define FRONT_INPUTS_H

#include "compare.h"
#include "plan.h"
#include "safetensors.h"

enum input_case {
  CASE_DEFAULT,  /* realistic values that can fail */
  CASE_ZERO,     /* every value of x and of the weights is 0 or -0 */
  CASE_LARGEST,  /* the largest finite values, with scales that keep the sums finite */
  CASE_DENORMAL, /* bf16 and e4m3 denormals, the smallest scales */
  CASE_NAN,      /* a NaN here and there, in every array of values */
  CASE_INF,      /* an infinity here and there */
  CASE_ALLPAD,   /* every row is a pad row */
  CASE_NOPAD,    /* none is */
  CASE_FAR,      /* positions up to 2^24 - 1 */
  INPUT_CASES
};

/* The case of that name ("default", "zero", ...), or INPUT_CASES. */
enum input_case input_case_by_name(const char *name);
const char *input_case_name(enum input_case which);

struct extent {
  uint64_t offset, bytes;
};

/* A block of the window cache that a launch may touch, or a neighbour of one. */
struct window_block {
  int64_t number;
  uint8_t *before, *after; /* swa_stride bytes each; `after` is filled by the launch */
};

enum { INPUT_ERROR_MAX = REFUSE_ERROR_MAX };

struct inputs {
  struct front_key key;
  uint64_t seed;
  uint32_t rank; /* of key.tp: which heads' weights these are */
  enum input_case which;
  bool given[FRONT_ARGS]; /* came from a file */

  void *data[FRONT_ARGS];     /* host copies; null: no host array (scalars, swa, what the instance owns, what the key does not use) */
  uint64_t bytes[FRONT_ARGS]; /* exactly, as the device's buffers are; swa's too */
  size_t
      mapped[FRONT_ARGS]; /* data's pages of its own, in bytes: what is large is sparse, also if malloc fills what it gives. 0: malloc'd */
  void *left[FRONT_ARGS]; /* outputs only: what the launch left */
  int32_t x_stride, bt_stride, swa_block, comp_block;
  int64_t swa_stride;
  uint64_t positions, requests; /* rows of cos_sin and comp_bt */
  struct extent *filled;        /* the parts of cos_sin that are filled; the rest is 0 and need not exist. Null: all of it */
  size_t filled_count;
  struct window_block *block; /* by number, without duplicates */
  size_t blocks;
  int64_t window_blocks; /* of the whole cache: it is far larger than what `block` holds */

  bool has_epoch; /* a file says what the first epoch is */
  uint32_t epoch;
};

struct input_options {
  uint64_t seed;
  uint32_t rank;
  enum input_case which;
  const struct tensor_file *file; /* may be null */
};

/* Fills *in. False with a sentence in `error`: a tensor of the file does not fit the key, or no memory. */
bool inputs_make(const struct plan *plan, const struct input_options *options, struct inputs *in, char error[INPUT_ERROR_MAX]);

/* Refuses values that DESIGN section 3 does not allow (a position beyond cos_sin, a slot beyond the cache, ...), before they are launched.
 */
bool inputs_check(const struct inputs *in, char error[INPUT_ERROR_MAX]);

/* Parts of it that later inputs are computed from. */
bool inputs_check_scalars(const struct inputs *in, char error[INPUT_ERROR_MAX]);
bool inputs_check_positions(const struct inputs *in, char error[INPUT_ERROR_MAX]);
bool inputs_check_slots(const struct inputs *in, char error[INPUT_ERROR_MAX]);
bool inputs_check_table(const struct inputs *in, char error[INPUT_ERROR_MAX]);

/* The inputs as compare_run() wants them; borrows. */
struct compare_inputs inputs_view(const struct inputs *in);

void inputs_free(struct inputs *in);

/* ---- parts, for inputs.c and the tests ---- */

/* Each fills the arguments of its name that no file gave; false: no memory. In this order: later ones read what earlier ones made. */
bool draw_scalars(struct inputs *in);
bool draw_positions(struct inputs *in);  /* pos */
bool draw_slots(struct inputs *in);      /* slot */
bool draw_windows(struct inputs *in);    /* swa_idx, swa_lens */
bool draw_compressed(struct inputs *in); /* topk, t2r, comp_bt */
bool draw_cos_sin(struct inputs *in);
bool draw_window_cache(struct inputs *in); /* swa: the blocks that slots lie in, and their neighbours */
bool draw_rows(struct inputs *in);         /* x, qn_w, kvn_w */
bool draw_weights(struct inputs *in);      /* wqkv, wqb and their scales */
bool draw_outputs(struct inputs *in);      /* bytes that a launch must replace, or leave alone */

/* Memory for an argument; zeroed. */
bool inputs_allocate(struct inputs *in, enum front_arg arg, uint64_t bytes);

/* What the device holds of x: no padding behind the last row (the host's array has it). */
static inline uint64_t inputs_x_bytes(const struct inputs *in) {
  return 2 * ((uint64_t)(in->key.tokens - 1) * (uint64_t)in->x_stride + HIDDEN);
}

/* The blocks of the window cache that slots lie in, and their neighbours, with zeroed memory. */
bool inputs_choose_blocks(struct inputs *in);

#endif
