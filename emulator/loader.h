/* SPDX-License-Identifier: Apache-2.0 */
/* A code object in device memory: segments placed, relocated, its code decoded once, its kernels ready to start. */
#ifndef EMULATOR_LOADER_H
#define EMULATOR_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codeobject.h"
#include "decode.h"
#include "memory.h"
#include "model.h"

enum { LOAD_ERROR_MAX = CODE_ERROR_MAX + DECODE_ERROR_MAX };

struct loaded_kernel {
  const struct code_kernel *code; /* descriptor and metadata */
  const struct program *program;
  uint64_t object;       /* device address of the descriptor: HSA's kernel object */
  uint64_t entry;        /* device address of its first instruction */
  uint32_t pc;           /* ... as an index into the program; behind the preload prologue, if it has one */
  uint32_t vgprs, agprs; /* that its instructions name: the highest, plus 1 */
};

struct loaded_code {
  uint8_t *image; /* our copy */
  struct code_object object;
  uint64_t base; /* device address of vaddr 0 */
  struct program *program;
  struct loaded_kernel *kernel;
  uint32_t kernels;
};

enum load_status { LOAD_GOOD, LOAD_BAD_OBJECT, LOAD_WRONG_ISA, LOAD_NO_MEMORY };

/* Copies the image. On failure *code is untouched and `error` has one sentence. Thread safe. */
enum load_status load_code(struct memory *memory, const struct model *model, const void *image, size_t bytes, struct loaded_code **code,
    char error[LOAD_ERROR_MAX]);
void unload_code(struct memory *memory, struct loaded_code *code);

/* By HSA's kernel object; NULL: none of this code. */
const struct loaded_kernel *loaded_kernel_at(const struct loaded_code *code, uint64_t object);

#endif
