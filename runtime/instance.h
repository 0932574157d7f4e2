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
