/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of vector memory, and what a row's `extra` says there. */
#ifndef EMULATOR_SHAPE_MEM_H
#define EMULATOR_SHAPE_MEM_H

#include "access.h"
#include "parts.h"

enum { MEM_BYTES = 0x1F, MEM_PART_SHIFT = 5, MEM_PART = 7, MEM_COMPARES = 0x200 };

void read_buffer_load(struct reading *r);
void read_buffer_store(struct reading *r);
void read_buffer_atomic(struct reading *r);
void read_global_load(struct reading *r); /* and flat */
void read_global_load_lds(struct reading *r);
void read_global_store(struct reading *r);
void read_global_atomic(struct reading *r);
void read_scratch_load(struct reading *r);
void read_scratch_store(struct reading *r);
void read_cache(struct reading *r);

#endif
