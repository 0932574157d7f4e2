/* SPDX-License-Identifier: Apache-2.0 */
/* A memory pool by its handle. */
#ifndef EMULATOR_HSA_POOL_H
#define EMULATOR_HSA_POOL_H

#include "hsa_state.h"

struct pool {
  uint32_t number; /* its handle, and the owner of its allocations */
  bool gpu;
  hsa_agent_t owner;
  hsa_amd_segment_t segment;
  uint32_t flags;
  size_t bytes;
};

/* False: there is no such pool. */
bool pool_of(uint64_t handle, struct pool *pool);

#endif
