/* SPDX-License-Identifier: Apache-2.0 */
/* A layer's arguments in HIP memory, drawn by seed: enough for two routes to be compared bit by bit. */
#ifndef FRONT_TESTS_HIP_LAYER_H
#define FRONT_TESTS_HIP_LAYER_H

#include "front_hip.h"

enum { LAYER_BLOCKS = 3, LAYER_BLOCK_TOKENS = 16, LAYER_POSITIONS = 64, LAYER_REQUESTS = 2, LAYER_BT_STRIDE = 4 };

/* The inputs that a step changes, on the host. */
struct layer_step {
  uint16_t x[48 * 5120];
  int64_t pos[48], slot[48];
  int32_t swa_lens[48];
};

/* What a launch leaves, on the host. */
struct layer_result {
  uint16_t q[48 * 4096];
  int32_t kt[48 * 640], klen[96];
  uint8_t swa[LAYER_BLOCKS * LAYER_BLOCK_TOKENS * 584];
};

/* Device memory for every argument, those of the caller's (scratch, epoch, guard) included; weights and tables are filled. For kernels of
   tp 8, KEYS 640. Freed by layer_free. */
struct front_args layer_make(const struct front_kernel_info *kernel, uint32_t seed);
void layer_free(const struct front_args *args);

/* Random step of `tokens` rows; the last one is a pad row. */
void layer_draw(struct layer_step *step, const struct front_kernel_info *kernel, uint32_t seed);

/* hipMemcpyAsync of the step's arrays to the arguments' memory, in the order of the stream. The step must live until it has run. */
void layer_set(
    const struct front_args *args, const struct front_kernel_info *kernel, const struct layer_step *step, struct ihipStream_t *s);

/* Outputs and cache to 0xa5 bytes, likewise. */
void layer_clear(const struct front_args *args, const struct front_kernel_info *kernel, struct ihipStream_t *s);

/* Synchronises with everything and reads the outputs. */
void layer_read(const struct front_args *args, const struct front_kernel_info *kernel, struct layer_result *result);

#endif
