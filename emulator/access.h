/* SPDX-License-Identifier: Apache-2.0 */
/* What memory instructions share: where each lane's access lies, and what is said when it lies outside. */
#ifndef EMULATOR_ACCESS_H
#define EMULATOR_ACCESS_H

#include "memory.h"
#include "operand.h"

/* A buffer resource (V#), as far as it is modelled: raw with stride 0, or indexed. */
struct buffer {
  uint64_t base;
  uint64_t size;   /* num_records: bytes, or with a stride indices; 0: every access is masked, and meant to be */
  uint64_t stride; /* bytes; 0 unless the instruction has an index */
};

/* Reads the four words from sreg[reg]. False: a fault was raised, since its form is not modelled. */
bool buffer_of(struct wave *w, const struct inst *in, uint32_t reg, struct buffer *b);

/* Counts an access of one lane outside its buffer, LDS or scratch memory; the first of a workgroup leaves its text. `address`: in memory;
   0 where there is none. */
void note_out_of_range(struct wave *w, const struct inst *in, int lane, uint64_t address, uint64_t offset, uint64_t size);

/* `bytes` at an offset of a lane's scratch memory; null and a finding if they lie outside. */
uint8_t *scratch_at(struct wave *w, const struct inst *in, int lane, uint32_t offset, uint32_t bytes);

/* The active lanes' loaded dwords, `words` of each, to registers from `reg` on. */
void put_dwords(struct wave *w, uint32_t reg, uint32_t words, uint32_t got[LANES_A_WAVE][4]);

/* Turns the view's fault into the wave's. */
void memory_fault(struct wave *w, const struct inst *in);

/* The cache bits sc0, sc1, nt. */
void take_cache_mods(struct reading *r);

/* The sum of two bf16. */
static inline uint32_t add_bf16(uint64_t x, uint64_t y) {
  return bf16_from_f32(bf16_to_f32((uint32_t)x & 0xFFFF) + bf16_to_f32((uint32_t)y & 0xFFFF));
}

/* old, data, compare -> new; the names of isa_lds.def's and isa_vmem.def's atomics. */
#define ATOMIC_FN(name, expr)                                                                                                              \
  static uint64_t atomic_##name(uint64_t old, uint64_t data, uint64_t compare) {                                                           \
    (void)old, (void)data, (void)compare;                                                                                                  \
    return (expr);                                                                                                                         \
  }

#endif
