/* SPDX-License-Identifier: Apache-2.0 */
/* A launch's callback: called once, by HSA's signal thread or by whoever finds the queue dead first. */
#ifndef FRONT_ENDED_H
#define FRONT_ENDED_H

#include <stdbool.h>

#include "instance.h"

enum ended_state { ENDED_NONE, ENDED_ARMED, ENDED_RUNNING };

struct ended {
  _Atomic uint32_t state;   /* enum ended_state */
  _Atomic uint32_t handler; /* 1 while HSA may still call */
  const struct instance *instance;
  void (*call)(void *user, enum front_status status);
  void *user;
};

/* Has HSA call it once the signal is 0. LIBRARY: this HSA cannot; HSA. */
enum front_status ended_arm(struct ended *ended, hsa_signal_t done);

/* Makes the call now, unless it was made. */
void ended_fire(struct ended *ended, enum front_status status);

/* May HSA or a callback still use it? */
static inline bool ended_is_busy(struct ended *ended) { return ended->handler || ended->state != ENDED_NONE; }

#endif
