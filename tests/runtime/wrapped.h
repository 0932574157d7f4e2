/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations and locks of the test program and of libfront in it, counted and failing: linked with --wrap. What libc allocates itself
   (strdup) and the pretended HSA library, another object, are not seen. */
#ifndef FRONT_TESTS_WRAPPED_H
#define FRONT_TESTS_WRAPPED_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint64_t wrapped_allocations, wrapped_locks;

/* The allocation to fail, counted from 1 when it is set; 0: none. */
extern _Atomic uint64_t wrapped_fail;

#endif
