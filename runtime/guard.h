/* SPDX-License-Identifier: Apache-2.0 */
/* The guard words of a bounded launch: what a poll that gave up wrote there. */
#ifndef FRONT_GUARD_H
#define FRONT_GUARD_H

#include "front.h"

enum { GUARD_WORDS = 32, GUARD_RECORD_WORDS = 8, GUARD_BUDGET_WORD = 8, GUARD_TICKS_A_US = 100 };

/* Reads a host copy of the first words after a launch of the kernel. Good, if no poll gave up; else TIMEOUT, the text naming stage,
   workgroup, pair, the tag seen and the tag wanted. */
enum front_status guard_read(const struct front_kernel_info *kernel, const uint32_t words[GUARD_RECORD_WORDS]);

#endif
