/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions that a GPU has, by LLVM's disassembler, and why some of them are no row of the emulator's. */
#ifndef FRONT_TESTS_ISA_SWEEP_H
#define FRONT_TESTS_ISA_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

enum { SWEEP_NAMES = 2048, SWEEP_NAME_MAX = 48 };

struct sweep {
  char name[SWEEP_NAMES][SWEEP_NAME_MAX]; /* sorted, without suffixes */
  uint32_t count;
};

/* Disassembles every opcode of every format, with several operands each. False: LLVM has no disassembler for it. */
bool sweep_gpu(const char *cpu, struct sweep *s);

struct left_out {
  const char *prefix, *reason;
};

extern const struct left_out left_out[];
extern const uint32_t left_out_count;

/* Why an instruction is left out, or null. */
const char *reason_left_out(const char *name);

#endif
