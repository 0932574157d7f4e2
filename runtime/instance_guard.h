/* SPDX-License-Identifier: Apache-2.0 */
/* An instance's guard words. They are device memory, since workgroups on every chiplet swap and load them at device scope; the host
   reads the status once a launch has ended, when the device's stores are in memory: by one load where it can reach device memory (a
   large BAR, once it asked for access), by a copy elsewhere. */
#ifndef FRONT_INSTANCE_GUARD_H
#define FRONT_INSTANCE_GUARD_H

#include "guard.h"
#include "instance.h"

/* Allocates and zeroes the words, and sets the budget (0: the default). ARGUMENT for one that the word cannot hold; MEMORY, HSA. */
enum front_status instance_guard_create(struct instance *instance, uint32_t budget_us);

/* Whether a launch of the instance gave up since the words were last cleared; if so, its record. Also true, with a status of 1 and zeros
   behind it, if the words could not be read. No launch of it that is to be judged may still run. */
bool instance_guard_read(const struct instance *instance, uint32_t record[GUARD_RECORD_WORDS]);

/* Clears status and record. Nothing, if there is no guard. */
enum front_status instance_guard_clear(struct instance *instance);

/* What must be done before the next launch of an instance that stopped or is unfinished. BUSY while launches are in flight. */
enum front_status instance_recover(struct instance *instance);

#endif
