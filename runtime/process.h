/* SPDX-License-Identifier: Apache-2.0 */
/* HSA does not survive a fork: a child's calls are refused, not tried. */
#ifndef FRONT_PROCESS_H
#define FRONT_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "front.h"

/* How many forks lie between the process that loaded this library and this one. */
extern _Atomic uint32_t process_forks;

/* Locks that a child may need, in the order in which one thread takes several: none is held by another thread when a fork happens. */
enum { PROCESS_LOCK_OPEN, PROCESS_LOCK_LOG, PROCESS_LOCKS };
extern pthread_mutex_t process_lock[PROCESS_LOCKS];

/* Counts forks, and looks after the locks, from now on. Thread safe, cheap when repeated. */
void process_watch(void);

/* Is this still the process in which process_forks was `then`? */
static inline bool process_is(uint32_t then) { return atomic_load_explicit(&process_forks, memory_order_relaxed) == then; }

/* FORKED, with a sentence that begins with the call's name. */
enum front_status process_forked(const char *call);

#endif
