/* SPDX-License-Identifier: Apache-2.0 */
/* GPU agents and what they are. */
#ifndef FRONT_DEVICE_H
#define FRONT_DEVICE_H

#include "hsa_table.h"
#include "process.h"

struct device {
  struct runtime *runtime;
  const struct hsa_table *hsa; /* the runtime's */
  hsa_agent_t agent;
  hsa_amd_memory_pool_t local, kernarg; /* device memory; host memory that kernels read arguments from */
  hsa_agent_t cpu;                      /* the kernarg pool's agent */
  struct front_device_info info;
  _Atomic uint32_t users; /* kernels, queues and allocations */
};

/* False in a fork of the process that opened the device. */
static inline bool device_is_here(const struct device *device) { return process_is(device->runtime->forks); }

#endif
