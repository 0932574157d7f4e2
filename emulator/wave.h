/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a wave of 64 lanes and of its workgroup, and the call that executes it. The engine (dispatch, quantum) makes and
   schedules waves; the instruction files (exec_*.c) change them. One thread at a time per workgroup. */
#ifndef EMULATOR_WAVE_H
#define EMULATOR_WAVE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LANES_A_WAVE = 64, SREGS = 128, VGPRS = 256, WAVE_TEXT_MAX = 256 };

/* Scalar registers are indexed by hardware number: s0..s101, then these. */
enum { SREG_FLAT_SCRATCH = 102, SREG_XNACK_MASK = 104, SREG_VCC = 106, SREG_TTMP0 = 108, SREG_M0 = 124, SREG_EXEC = 126 };

typedef struct {
  uint32_t w[LANES_A_WAVE];
} __attribute__((aligned(64))) vgpr;

struct inst;        /* decode.h */
struct program;     /* decode.h */
struct view;        /* memory.h */
struct atomic;      /* memory.h */
struct strict_wave; /* strict.h */

/* MODE register bits, as the kernel descriptor's float_mode (bits 7:0), dx10_clamp (8) and ieee (9). */
enum {
  MODE_ROUND_32 = 0x3,
  MODE_ROUND_16_64 = 0xC,
  MODE_DENORM_32 = 0x30,
  MODE_DENORM_16_64 = 0xC0,
  MODE_DX10_CLAMP = 0x100,
  MODE_IEEE = 0x200,
  MODE_GPR_INDEX = 1 << 27, /* vector registers are counted from M0's low byte on */
  MODE_DEFAULT = MODE_DENORM_32 | MODE_DENORM_16_64 | MODE_DX10_CLAMP | MODE_IEEE
};

/* Why wave_run() came back. */
enum wave_stop {
  WAVE_RUNS,    /* the budget is used up */
  WAVE_BARRIER, /* at s_barrier; pc is behind it: run again once every wave of the workgroup is there or has ended */
  WAVE_ATOMIC,  /* behind an atomic that lies in the view (memory.h): run again once wave_atomic_done() was called for it */
  WAVE_SLEEPS,  /* at s_sleep; pc is behind it; sleep_cycles says how long */
  WAVE_ENDED,   /* s_endpgm */
  WAVE_FAULT    /* wave->fault has the text; pc is the instruction's */
};

enum inst_class { CLASS_SALU, CLASS_SMEM, CLASS_VALU, CLASS_MFMA, CLASS_LDS, CLASS_VMEM, CLASS_CONTROL, INST_CLASSES };

/* Model time: shader cycles an instruction costs, and cycles a tick of the 100 MHz real-time clock. */
enum { CYCLES_AN_INSTRUCTION = 4, CYCLES_A_TICK = 21, SLEEP_CYCLES = 64 };

struct workgroup {
  struct view *view; /* what memory looks like to this workgroup (memory.h) */
  uint8_t *lds;      /* lds_bytes of LDS, 16-byte aligned; the allocation has at least 16 bytes more */
  uint32_t lds_bytes;
  uint8_t *scratch;       /* scratch_bytes of each of its lanes, one after the other */
  uint32_t scratch_bytes; /* private memory of a lane */
  struct wave **wave;     /* its waves */
  uint32_t waves;
  uint32_t arrived;                      /* waves at the barrier: the engine's */
  uint32_t id[3];                        /* workgroup id */
  uint32_t index;                        /* in launch order */
  uint32_t xcc;                          /* the XCD it runs on */
  uint64_t out_of_range;                 /* lanes whose buffer or LDS access lay outside, other than through a resource of size 0 */
  char out_of_range_text[WAVE_TEXT_MAX]; /* the first such access: instruction, address, lane */
};

struct wave {
  const struct program *program;
  struct workgroup *group;
  uint32_t pc;                     /* index of the next instruction in program->inst */
  uint32_t index;                  /* of the wave in its workgroup */
  uint32_t scc;                    /* 0 or 1 */
  uint32_t mode;                   /* MODE_... */
  bool exec_full;                  /* every EXEC bit is set */
  bool flush32, flush64;           /* denormals are flushed: f32; f16 and f64. Set by wave_set_mode(), like ... */
  bool modal;                      /* ... this: denormals or rounding are not as usual */
  uint8_t stop;                    /* enum wave_stop, while wave_run() works */
  uint64_t cycles;                 /* model time. The engine may move it forward between calls, never backward */
  uint64_t sleep_cycles;           /* WAVE_SLEEPS: how long */
  uint64_t executed[INST_CLASSES]; /* instructions, by class */
  struct strict_wave *strict;      /* strict mode's shadow of the wave; NULL: functional mode */
  uint64_t clock_reads;            /* times it has read a clock (s_memtime, s_memrealtime): the engine tells timers from deadlocks by it */
  uint32_t sreg[SREGS] __attribute__((aligned(8)));
  vgpr exec_mask; /* EXEC once more: 0 or 0xFFFFFFFF a lane */
  char fault[WAVE_TEXT_MAX];
  vgpr v[2 * VGPRS]; /* v0..v255, a0..a255 */
};

/* Runs until `budget` instructions are done or the wave stops. Deterministic: depends on the wave, its workgroup and its view only. */
enum wave_stop wave_run(struct wave *w, uint64_t budget);

/* One instruction; w->stop says whether the wave goes on. For loops of their own (strict mode). */
void wave_step(struct wave *w);

/* Start state: EXEC all ones, mode, no VCC, pc. Registers are the caller's to fill (in w->sreg and w->v) afterwards. */
void wave_init(struct wave *w, const struct program *program, struct workgroup *group, uint32_t index, uint32_t pc, uint32_t mode);

/* The engine's call for each atomic of this wave at the quantum's end: old[] goes to the destination registers, if it returns. */
void wave_atomic_done(struct wave *w, const struct atomic *a);

void wave_set_exec(struct wave *w, uint64_t exec);
void wave_set_mode(struct wave *w, uint32_t mode);

static inline uint64_t wave_sreg64(const struct wave *w, uint32_t reg) { return w->sreg[reg] | (uint64_t)w->sreg[reg + 1] << 32; }

static inline void wave_put_sreg64(struct wave *w, uint32_t reg, uint64_t value) {
  w->sreg[reg] = (uint32_t)value;
  w->sreg[reg + 1] = (uint32_t)(value >> 32);
}

static inline uint64_t wave_exec(const struct wave *w) { return wave_sreg64(w, SREG_EXEC); }
static inline uint64_t wave_vcc(const struct wave *w) { return wave_sreg64(w, SREG_VCC); }

#endif
