/* SPDX-License-Identifier: Apache-2.0 */
/* Who has the device. One launch computes at a time; one that stands still, or has computed for long, lets the others go on, so that a
   launch may wait for what another queue's launch does. Turns are given in the order in which they were asked for. */
#ifndef EMULATOR_TURNS_H
#define EMULATOR_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct turns {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t asked, given; /* turns; whose number is `given` has the device */
  uint32_t launches;     /* begun and not ended; changed by who has the turn */
};

void turns_init(struct turns *t);
void turns_free(struct turns *t);

/* Waits for a turn; give it back soon. */
void turns_take(struct turns *t);
void turns_give(struct turns *t);
bool turns_wanted(struct turns *t); /* whether others wait for one */

/* A turn at a time at which no launch is under way: for what launches must not see change. */
void turns_take_alone(struct turns *t);

/* With the turn: a launch begins, or ends. */
void turns_begin_launch(struct turns *t);
void turns_end_launch(struct turns *t);

#endif
