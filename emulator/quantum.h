/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule. In a quantum every resident workgroup runs on its own view of memory, on any host thread; at its end the views commit in
   workgroup order. What a workgroup does in a quantum depends on its own state and on committed memory only: so the bits, the counts and
   the reports are the same for any number of host threads. */
#ifndef EMULATOR_QUANTUM_H
#define EMULATOR_QUANTUM_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "traffic.h"
#include "wave.h"
#include "workers.h"

/* Wave-instructions a quantum. A hand-off between workgroups ends a wave's part earlier (it sleeps in its poll loop), so this bounds how
   late others see a busy wave's stores; larger quanta keep a wave's registers in the host's caches. */
enum { QUANTUM_INSTRUCTIONS = 8192, GROUP_WAVES_MAX = 16 };

struct strict;        /* strict.h */
struct start;         /* start.h */
struct profile_group; /* profile.h */

/* A place for a resident workgroup; its memory is used again by the next one. */
struct slot {
  struct workgroup group;
  struct view view;
  struct wave *wave[GROUP_WAVES_MAX];
  enum wave_stop state[GROUP_WAVES_MAX]; /* WAVE_RUNS: may run */
  uint64_t left[GROUP_WAVES_MAX];        /* instructions of this quantum */
  bool fresh;                            /* the workgroup is to be started */
  struct profile_group *profile;         /* NULL: it is not profiled */
  /* Of the last quantum. */
  bool progress;        /* a wave ended or a barrier was passed */
  bool busy;            /* a wave used up its instructions */
  uint32_t faulty;      /* wave that faulted, or GROUP_WAVES_MAX */
  uint64_t clock_reads; /* up to now */
  uint64_t digest;
};

/* The workgroups in flight, in launch order. */
struct quantum {
  struct strict *strict; /* strict mode, or NULL */
  struct slot **live;
  uint32_t count;
  const struct start *start;
  uint64_t now;          /* cycles: no live wave's clock is behind it between quanta */
  uint64_t instructions; /* of a wave in this quantum */
};

/* Runs one quantum of all live workgroups. */
void quantum_run(struct quantum *q, struct workers *workers);

struct commit_result {
  bool changed;             /* memory is not what it was */
  struct slot *faulty;      /* the first workgroup that faulted; its wave is slot->faulty. NULL: none */
  const struct atomic *bad; /* the fault is this atomic's address */
};

/* Makes the quantum's stores and atomics visible, moves all clocks to the latest one. */
struct commit_result quantum_commit(struct quantum *q);

/* A number that is the same when all waves' registers and places and all LDS are the same. */
uint64_t quantum_digest(struct quantum *q, struct workers *workers);
/* ... of the first workgroup's alone: where this differs, so does the other. */
uint64_t quantum_digest_first(struct quantum *q);

/* Pieces of a quantum, for strict mode's schedule: the workgroup starts, if it has not; its waves that slept or did an atomic run. */
void slot_begin(struct quantum *q, struct slot *s);
/* Until the wave has used s->left[wave] up or stops. */
void slot_run_wave(struct slot *s, uint32_t wave);
/* Whether all waves that have not ended are at the barrier (and there is one); lets them go on if so. */
bool slot_barrier_full(const struct slot *s);
bool slot_pass_barrier(struct slot *s);

bool slot_ended(const struct slot *s);

#endif
