/* SPDX-License-Identifier: Apache-2.0 */
/* Instances (a kernel's scratch and epoch) and bindings (a layer's kernarg block). */
#ifndef FRONT_INSTANCE_H
#define FRONT_INSTANCE_H

#include "kernel.h"

struct queue;

struct instance {
  struct kernel *kernel;
  void *scratch, *epoch;
  bool owns_epoch;
  uint32_t *guard;     /* GUARD_WORDS in device memory, or null: the kernel's polls have no bounds */
  bool guard_mapped;   /* the host can load them */
  bool debug;          /* every launch looks at the step's inputs */
  bool stopped;        /* a launch gave up: the record is cleared before the next one */
  bool unfinished;     /* a launch did not end: scratch and record are cleared before the next one */
  uint32_t users;      /* bindings */
  struct queue *queue; /* that has launches of it in flight, if in_flight > 0 */
  uint32_t in_flight;
};

struct binding {
  struct instance *instance;
  struct front_args *block; /* in kernarg memory */
  uint32_t in_flight;
};

#endif
