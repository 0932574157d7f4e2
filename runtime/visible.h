/* SPDX-License-Identifier: Apache-2.0 */
/* Which of HSA's GPU agents HIP would show, and in which order. */
#ifndef FRONT_VISIBLE_H
#define FRONT_VISIBLE_H

#include <stdint.h>

enum { VISIBLE_UUID_BYTES = 32 };

/* Reads a list as HIP reads HIP_VISIBLE_DEVICES: indices and UUIDs ("0,2,GPU-1234567890abcdef"), up to the first that there is not. Writes
   the indices in the list's order and returns how many; an index that was there is not written again. `list` null: all. */
uint32_t visible_devices(const char *list, const char (*uuid)[VISIBLE_UUID_BYTES], uint32_t count, uint32_t *index);

/* The list that holds in this process: HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES, which HIP reads too; null: none. */
const char *visible_list(void);

#endif
