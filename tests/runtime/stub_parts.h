/* SPDX-License-Identifier: Apache-2.0 */
/* What the pretended HSA library's files share. */
#ifndef FRONT_TESTS_STUB_PARTS_H
#define FRONT_TESTS_STUB_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "stub_hsa.h"

enum { STUB_GPU_AGENT = 100 };

extern struct stub_state stub;
extern pthread_mutex_t stub_lock; /* of queues, signals with waiters, allocations; recursive */

/* Is this the call that shall fail? */
bool stub_fails(const char *function);

/* As HSA does when it is shut down. */
void stub_forget_handlers(void);

#define STUB_CALL()                                                                                                                        \
  if (stub_fails(__func__)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES

#endif
