/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that a device can reach. */
#ifndef FRONT_DEVICE_MEMORY_H
#define FRONT_DEVICE_MEMORY_H

#include "device.h"

/* Memory of `pool`, accessible to the device. `what` is for the error's text. */
enum front_status memory_allocate(struct device *device, hsa_amd_memory_pool_t pool, uint64_t bytes, const char *what, void **address);

/* Frees what memory_allocate() gave; null is allowed. */
enum front_status memory_free(struct device *device, void *address);

/* A kernarg_memory: `device` is a struct device, which HSA's knowledge is asked of. */
uint64_t memory_behind(const void *device, const void *address);

#endif
