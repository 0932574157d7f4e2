/* SPDX-License-Identifier: Apache-2.0 */
/* One launch on the emulated device, from its first workgroup to its last, or to its fault. */
#ifndef EMULATOR_DISPATCH_H
#define EMULATOR_DISPATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "finding.h"
#include "hsa_emu.h"
#include "model.h"
#include "profile.h"
#include "report.h"
#include "start.h"
#include "strict_option.h"
#include "traffic.h"
#include "turns.h"
#include "workers.h"

struct dispatch;

/* The device: everything that outlives a launch. Who has the turn changes it, and launches that are under way. */
struct device {
  const struct model *model;
  struct memory *memory;
  struct turns turns;
  struct dispatch *live;   /* launches under way */
  uint64_t progress;       /* changes when a launch gets on, begins or ends */
  bool (*pending)(void);   /* whether another launch is about to begin; NULL: never */
  struct workers *workers; /* made at the first launch, and again when `threads` has changed */
  uint32_t threads;        /* wanted; 0: the default. Atomic */
  struct traffic traffic;
  struct profile profile;
  uint8_t *arena; /* waves and LDS of resident workgroups; NULL while a launch has it */
  uint64_t arena_bytes;
  uint64_t cycles; /* model time between launches. Atomic */
  /* Under report_lock: what hsa_emu.h gives. */
  pthread_mutex_t report_lock;
  struct hsa_emu_counters last, total;
  struct report report, remarks;
  struct findings findings;
  struct hsa_emu_strict strict; /* what the program has set, if it has */
  bool strict_set;
};

bool device_init(struct device *d, const struct model *model); /* false: no host memory */
void device_free(struct device *d);
uint32_t device_threads(const struct device *d);
/* What holds for the next launch; false: the environment has a wrong value, which `error` names. */
bool device_strict(struct device *d, struct hsa_emu_strict *options, char error[STRICT_ERROR_MAX]);

enum dispatch_status {
  DISPATCH_GOOD,
  DISPATCH_REFUSED,     /* the launch is wrong, or needs what is not modelled */
  DISPATCH_MEMORY,      /* a bad address: see fault_address */
  DISPATCH_INSTRUCTION, /* an instruction that faulted otherwise */
  DISPATCH_DEADLOCK,
  DISPATCH_NO_MEMORY, /* of the host */
  DISPATCH_CANCELLED
};

struct dispatch_result {
  enum dispatch_status status;
  uint64_t fault_address;
  bool fault_read_only; /* the address exists, but is code */
};

/* Runs the launch to its end; the caller has filled kernel, addresses, grid, size and LDS in. *cancel is read between quanta (atomically).
   On a failure the device's report is replaced by this one's. */
struct dispatch_result dispatch_run(struct device *d, struct start *start, const bool *cancel);

#endif
