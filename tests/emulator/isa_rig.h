/* SPDX-License-Identifier: Apache-2.0 */
/* One wave on a bench: lines of assembly (one instruction each) are assembled by llvm-mc, decoded by the emulator and executed one at a
   time. And the inputs: lists of values at the edges of each type. Failures fail the running cmocka test. */
#ifndef FRONT_TESTS_ISA_RIG_H
#define FRONT_TESTS_ISA_RIG_H

#include "memory.h"
#include "row.h"
#include "support.h"
#include "wave.h"

enum { RIG_LDS_BYTES = 65536, RIG_MEMORY_BYTES = 65536 };

struct rig {
  struct program *program;
  struct wave *wave;
  struct workgroup group;
  struct wave *waves[1];
  struct memory *memory;
  struct view view;
  uint64_t buffer; /* RIG_MEMORY_BYTES of device memory, to load from and store to */
};

/* Assembles and decodes; `lines` are `count` instructions. A line that llvm-mc refuses, or that the emulator does not decode, fails. */
struct rig *rig_open(const char *cpu, const char *const *lines, size_t count);
void rig_close(struct rig *r);

/* Executes instruction `i` of the lines. Stores and atomics take effect at once. The test fails if the wave faults. */
enum wave_stop rig_run(struct rig *r, size_t i);

/* The same of an instruction that has to fault: the wave's sentence. */
const char *rig_fault(struct rig *r, size_t i);

/* The machine code of assembly lines: malloc'd, and its size. `lines` ends each line itself. */
uint8_t *assemble(const char *cpu, const char *text, size_t *bytes);

/* Value number i of a type's list, edges first, then pseudo-random; there are as many as asked for. */
uint64_t rig_value(enum isa_type type, uint32_t i);

/* Is there a row of that name? */
bool rig_is_row(const struct isa_table *table, const char *name);

/* The first row of the table that no rig_run() of this program has executed, or null. */
const char *rig_untested(const struct isa_table *table);

#endif
