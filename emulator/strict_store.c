/* SPDX-License-Identifier: Apache-2.0 */
/* Stores between their issue and the moment when others can see them. Those of a wave to one line stay in order, others need not. */
#include "strict.h"

void store_perform(struct lines *l, uint32_t at) {
  struct delayed *d = &l->delayed[at];
  struct line *line = &l->line[d->line];
  uint32_t *from = &line->delayed;
  while (*from && *from != at) {
    struct delayed *before = &l->delayed[*from];
    if (before->cu == d->cu) {
      store_perform(l, *from);
      from = &line->delayed;
    } else {
      from = &before->next_on_line;
    }
  }
  *from = d->next_on_line;
  d->done = true;
  l->delayed_live--;
  cache_store(l, line, d->cu, d->xcd, d->mask, d->data, d->through);
  for (uint32_t i = 0; i < LINE_DWORDS; i++) {
    if (!(d->mask.w[i / 16] >> (i % 16 * 4) & 15)) continue;
    line->event[i] = d->event;
    line->lane[i] = d->lane[i];
  }
}

static void fence(struct lines *l, struct delayed *d) {
  d->done = true;
  l->delayed_live--;
  cache_write_back_all(l, d->xcd);
}

static void release(struct lines *l, uint32_t at) {
  l->delayed[at].next_in_wave = l->delayed_free;
  l->delayed_free = at;
}

/* Performs from the front of the list while `time` allows. */
static void complete(struct lines *l, uint32_t *first, uint32_t *last, uint32_t time) {
  while (*first) {
    uint32_t at = *first;
    struct delayed *d = &l->delayed[at];
    if (!d->done && (int32_t)(d->time - time) > 0) return;
    if (!d->done) d->fence ? fence(l, d) : store_perform(l, at);
    *first = l->delayed[at].next_in_wave;
    release(l, at);
  }
  *last = 0;
}

void stores_complete(struct lines *l, struct strict_wave *sw, uint32_t time) { complete(l, &sw->first_store, &sw->last_store, time); }

void stores_orphan(struct lines *l, struct strict_wave *sw) {
  if (!sw->first_store) return;
  if (l->orphans)
    l->delayed[l->last_orphan].next_in_wave = sw->first_store;
  else
    l->orphans = sw->first_store;
  l->last_orphan = sw->last_store;
  sw->first_store = sw->last_store = 0;
}

/* Entries behind a fence that is not done stay where they are, if it is a write-back they need not: stores may overtake it. */
static void perform_one(struct lines *l, uint32_t first, uint32_t at) {
  struct delayed *d = &l->delayed[at];
  if (d->done) return;
  if (!d->fence) {
    store_perform(l, at);
    return;
  }
  for (uint32_t i = first; i != at; i = l->delayed[i].next_in_wave)
    if (!l->delayed[i].done && !l->delayed[i].fence) store_perform(l, i);
  fence(l, d);
}

void stores_drain(struct strict *st, uint32_t *first, uint32_t *last) {
  struct lines *l = &st->lines;
  if (!*first || strict_below(st, 256) >= st->drain) return;
  uint32_t newest = *last;
  bool only_newest = strict_below(st, 256) < st->newest_first;
  for (uint32_t at = *first; at; at = l->delayed[at].next_in_wave) {
    bool chosen = only_newest ? l->delayed[at].event == l->delayed[newest].event : strict_random(st) & 1;
    if (chosen) perform_one(l, *first, at);
  }
  while (*first && l->delayed[*first].done) {
    uint32_t at = *first;
    *first = l->delayed[at].next_in_wave;
    release(l, at);
  }
  if (!*first) *last = 0;
}
