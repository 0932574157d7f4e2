/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a code object's one kernel: registers and memory from its metadata, counts from its disassembly. */
#ifndef FRONT_TESTS_MEASURE_H
#define FRONT_TESTS_MEASURE_H

#include "frontgen.h"

struct measured {
  uint32_t vgprs, sgprs, agprs, vgpr_spills, sgpr_spills, private_bytes, lds_bytes, code_bytes;
  uint32_t instructions, waits, readfirstlanes; /* waits: s_waitcnt of any kind */
};

/* The metadata's figures; the counts are 0. False with a sentence in `error`. Thread safe. */
bool measure_metadata(const void *image, size_t bytes, struct measured *m, char error[FRONTGEN_ERROR_MAX]);

/* Those and the counts, by llvm-objdump. Thread safe. */
bool measure_object(const void *image, size_t bytes, struct measured *m, char error[FRONTGEN_ERROR_MAX]);

#endif
