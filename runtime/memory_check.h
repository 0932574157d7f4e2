/* SPDX-License-Identifier: Apache-2.0 */
/* Where memory ends, as far as HSA knows. */
#ifndef FRONT_MEMORY_CHECK_H
#define FRONT_MEMORY_CHECK_H

#include "device.h"
#include "layer.h"

/* Bytes from the address to its allocation's end; UINT64_MAX: HSA does not know it. */
uint64_t memory_behind(const struct device *device, const void *address);

/* Refuses, by name, a buffer that ends before what a kernel of this layer reads or writes there. The arguments are good otherwise. */
enum front_status memory_check_args(const struct device *device, const struct layer *layer, const struct front_args *args);

#endif
