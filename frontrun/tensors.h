/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and results <-> a safetensors file. Tensors have the arguments' names, dtypes and shapes of DESIGN section 3; scalars and
   `epoch` have the shape [1]. The window cache is far larger than what a step touches, so a file holds blocks of it: `swa`
   [blocks, swa_stride] and `swa.blocks` I64 [blocks], their numbers (absent: 0, 1, 2, ...); a dump also has `swa.after`. */
#ifndef FRONT_TENSORS_H
#define FRONT_TENSORS_H

#include "inputs.h"

/* Takes every argument that the file has; what the launch writes (q, scratch.x8, swa.after, ...) is passed over, so that a dump can be
   read again. Not thread safe on one *in. False with a sentence in `error`: an unknown name, a wrong dtype or shape, no memory. */
bool tensors_take(const struct tensor_file *file, struct inputs *in, char error[INPUT_ERROR_MAX]);

/* What a launch left beside in->left and in->block[].after. */
struct tensors_results {
  const uint8_t *scratch; /* scratch_layout(S, tuned).bytes */
  uint32_t epoch_before;
};

/* Writes every input, every output and scratch.<region>, with key, arch, seed and case in the metadata. Errors of tensor_file_write(). */
enum frontgen_status tensors_dump(const char *path, const struct plan *plan, const struct inputs *in, const struct tensors_results *results,
    char error[FRONTGEN_ERROR_MAX]);

/* The key as text: "tokens=8,tp=4,ratio=2,window=128,tuned=0", and the other fields that are set. */
void tensors_key_text(const struct front_key *key, char text[KEY_ERROR_MAX]);

#endif
