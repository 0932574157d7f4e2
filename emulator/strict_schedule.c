/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs when: a round gives every workgroup a turn, in random order; in a turn its waves run in random pieces, until each waits, has
   ended or has used its part up. One thread executes all of it: equal seeds, equal launches. */
#include "strict.h"

enum { EVICT_TRIES = 16, IDLE_PATIENCE = 4, SKIP_MAX = 24 };

uint64_t strict_random(struct strict *st) {
  uint64_t z = st->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

uint32_t strict_below(struct strict *st, uint32_t n) { return (uint32_t)((strict_random(st) >> 32) * n >> 32); }

static bool pick_wave(struct strict *st, const struct slot *s, uint32_t *wave) {
  uint32_t ready = 0;
  for (uint32_t i = 0; i < s->group.waves; i++) ready += s->state[i] == WAVE_RUNS && s->left[i];
  if (!ready) return false;
  uint32_t nth = strict_below(st, ready);
  for (uint32_t i = 0; i < s->group.waves; i++)
    if (s->state[i] == WAVE_RUNS && s->left[i] && !nth--) *wave = i;
  return true;
}

/* An atomic happens where its wave stops for it. */
static void atomics(struct strict *st, struct slot *s, uint32_t wave) {
  const struct atomic *bad = NULL;
  if (s->state[wave] != WAVE_ATOMIC) return;
  if (!view_commit(&s->view, wave_atomic_done, &bad, &st->lines.changed)) s->faulty = wave;
  st->lines.changed = true;
}

/* Instructions. While nothing happens all parts are equal, so that waves come back to where they were: a deadlock is told by that. */
static uint64_t part_of(struct strict *st) { return st->idle ? QUANTUM_INSTRUCTIONS : 1 + strict_below(st, st->longest_turn); }

/* A piece of the wave's part. */
static void run_piece(struct strict *st, struct slot *s, uint32_t wave) {
  uint64_t piece = part_of(st), kept = s->left[wave];
  if (piece > kept) piece = kept;
  s->left[wave] = piece;
  slot_run_wave(s, wave);
  s->left[wave] = s->state[wave] == WAVE_RUNS ? kept - piece : 0;
  atomics(st, s, wave);
}

/* A wave's instructions in this turn: now and then one lags behind the others for many rounds. */
static uint64_t part_of_wave(struct strict *st, struct strict_group *g, uint32_t wave) {
  if (st->idle) g->lag[wave] = 0;
  if (g->lag[wave]) return 0;
  if (!st->idle && strict_below(st, 256) < st->lag) g->lag[wave] = (uint8_t)(1 + strict_below(st, SKIP_MAX));
  return part_of(st);
}

static void turn(struct strict *st, struct quantum *q, struct slot *s, struct strict_group *g) {
  uint32_t wave = 0;
  slot_begin(q, s);
  for (uint32_t i = 0; i < s->group.waves; i++) {
    if (g->lag[i]) g->lag[i]--;
    s->left[i] = part_of_wave(st, g, i);
  }
  for (;;) {
    while (s->faulty == GROUP_WAVES_MAX && pick_wave(st, s, &wave)) run_piece(st, s, wave);
    if (s->faulty != GROUP_WAVES_MAX || !slot_barrier_full(s)) return;
    strict_barrier_passed(g);
    slot_pass_barrier(s);
    for (uint32_t i = 0; i < s->group.waves; i++)
      if (s->state[i] == WAVE_RUNS) s->left[i] = part_of_wave(st, g, i);
  }
}

static void shuffle(struct strict *st, uint32_t *order, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  for (uint32_t i = count; i > 1; i--) {
    uint32_t k = strict_below(st, i), x = order[k];
    order[k] = order[i - 1];
    order[i - 1] = x;
  }
}

/* Whether a workgroup sits this round out; now and then one sits out many. */
static bool sits_out(struct strict *st, struct strict_group *g, uint64_t idle) {
  if (idle) g->run_in = 0;
  if (g->run_in) {
    g->run_in--;
    return true;
  }
  if (!idle && strict_below(st, 256) < st->skip) g->run_in = strict_below(st, SKIP_MAX);
  return false;
}

static void evict(struct strict *st) {
  struct lines *l = &st->lines;
  for (uint32_t i = 0; i < EVICT_TRIES && l->copy_count > 1; i++) {
    uint32_t at = 1 + strict_below(st, l->copy_count - 1);
    if (strict_below(st, 256) >= st->evict || !l->copy[at].used) continue;
    cache_write_back(l, at);
    if (l->copy[at].used) cache_drop(l, at);
  }
}

/* Stores on their way. When nothing has happened for a while they arrive: late, not never. */
static void drain(struct strict *st, const struct quantum *q, uint64_t idle) {
  struct lines *l = &st->lines;
  uint32_t usual = st->drain;
  if (idle) st->drain = 256;
  for (uint32_t i = 0; i < q->count && l->delayed_live; i++) {
    struct strict_group *g = q->live[i]->view.strict;
    for (uint32_t w = 0; w < q->live[i]->group.waves; w++) {
      struct strict_wave *sw = &g->wave[w];
      if (idle > IDLE_PATIENCE)
        stores_complete(l, sw, st->time);
      else
        stores_drain(st, &sw->first_store, &sw->last_store);
    }
  }
  st->drain = 256;
  if (l->orphans) stores_drain(st, &l->orphans, &l->last_orphan);
  st->drain = usual;
}

void strict_round(struct strict *st, struct quantum *q, uint64_t idle) {
  uint32_t order[q->count];
  shuffle(st, order, q->count);
  lines_forget_addresses(&st->lines);
  st->idle = idle != 0;
  for (uint32_t i = 0; i < q->count; i++) {
    struct slot *s = q->live[order[i]];
    struct strict_group *g = s->view.strict;
    s->faulty = GROUP_WAVES_MAX;
    s->progress = s->busy = false;
    if (sits_out(st, g, idle)) continue;
    turn(st, q, s, g);
  }
  drain(st, q, idle);
  evict(st);
}
