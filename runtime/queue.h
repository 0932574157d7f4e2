/* SPDX-License-Identifier: Apache-2.0 */
/* A queue: a ring of HSA's, and a slot a launch in flight. One thread's, but for what HSA's threads touch, which is atomic. */
#ifndef FRONT_QUEUE_H
#define FRONT_QUEUE_H

#include "ended.h"
#include "fault.h"
#include "guard.h"
#include "instance.h"

struct slot {
  hsa_signal_t done; /* 1 while the launch is in flight, then 0 */
  struct binding *binding;
  struct ended ended;
  uint64_t stopped;                    /* the last launch here that gave up, counted from 1; 0: none */
  struct front_kernel_info kernel;     /* its kernel, */
  uint32_t record[GUARD_RECORD_WORDS]; /* and what it left */
};

enum queue_death { QUEUE_ALIVE, QUEUE_DYING, QUEUE_ERROR, QUEUE_MEMORY_FAULT, QUEUE_STOPPED };

struct queue {
  struct device *device;
  hsa_queue_t *hsa;
  struct slot *slot;
  uint32_t slots;                 /* a power of two */
  uint32_t fences;                /* of a launch's packet header */
  bool spin;                      /* how front_wait() waits */
  uint64_t packets, packets_read; /* written to the ring; known to have been taken from it */
  _Atomic uint64_t next, retired; /* launches put in; launches known to have ended */
  _Atomic uint32_t death;         /* enum queue_death; the first cause stays */
  hsa_status_t error;             /* behind QUEUE_ERROR */
  struct fault fault;             /* behind QUEUE_MEMORY_FAULT */
  struct fault_watch watch;
};

static inline struct slot *queue_slot(const struct queue *queue, uint64_t number) { return &queue->slot[number & (queue->slots - 1)]; }

/* In the queue's own thread. */
static inline uint64_t queue_get(const _Atomic uint64_t *count) { return atomic_load_explicit(count, memory_order_relaxed); }
static inline void queue_set(_Atomic uint64_t *count, uint64_t value) { atomic_store_explicit(count, value, memory_order_release); }

/* Takes ended launches off the queue's books. Null is allowed. */
void queue_retire(struct queue *queue);

/* FAULT, with the reason, if the queue is dead. */
enum front_status queue_check(struct queue *queue);

#endif
