/* SPDX-License-Identifier: Apache-2.0 */
/* What orders a load behind another workgroup's store. */
#ifndef EMULATOR_STRICT_ORDER_H
#define EMULATOR_STRICT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct strict_wave;
struct store_event;

struct order {
  uint32_t groups;   /* 0: nothing is kept */
  uint32_t *known;   /* [reader][writer][wave]: stores up to this time are ordered before what the reader does now */
  uint32_t *own;     /* [group][wave]: the same among its own waves, by barriers */
  uint32_t *seen;    /* [reader][writer]: the event that was acquired last */
  uint32_t *release; /* by release: a time a wave */
  uint32_t releases, release_room;
};

bool order_init(struct order *o, uint32_t groups);
void order_free(struct order *o);
uint32_t order_complete(const struct strict_wave *sw, uint32_t now);
/* What a reader of a store (or atomic) issued now learns; 0: nothing. */
uint32_t order_release(struct order *o, const struct strict_wave *sw, uint32_t group, uint32_t wave, uint32_t now);
/* The group's waves have passed a barrier that this one came to with its stores complete up to `complete`. */
void order_barrier(struct order *o, uint32_t group, uint32_t wave, uint32_t complete);
/* The group has seen the value of this event. */
void order_acquire(struct order *o, uint32_t group, const struct store_event *e, uint32_t event);
bool order_before(const struct order *o, uint32_t group, const struct store_event *e);

#endif
