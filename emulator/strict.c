/* SPDX-License-Identifier: Apache-2.0 */
/* A strict launch's beginning and end. */
#include "strict.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Turns of few and of many instructions, stores that arrive early and late, caches that keep everything and that forget. */
static void choose_behaviour(struct strict *st) {
  static const uint32_t turns[] = {24, 150, 800, 3000}, skips[] = {0, 8, 40}, lags[] = {0, 8, 32}, drains[] = {0, 16, 96, 200},
                        evictions[] = {0, 0, 8, 64};
  st->random = st->options.seed * 0x9e3779b97f4a7c15u + 1;
  st->longest_turn = turns[strict_below(st, 4)];
  st->skip = skips[strict_below(st, 3)];
  st->lag = lags[strict_below(st, 3)];
  st->drain = drains[strict_below(st, 4)];
  st->newest_first = strict_below(st, 257);
  st->evict = evictions[strict_below(st, 4)];
}

static bool place_groups(struct strict *st, struct slot *slots, uint32_t count) {
  size_t waves = ((size_t)st->start->waves * sizeof(struct strict_wave) + 63) / 64 * 64, quads = (size_t)st->start->lds_bytes / 16 + 1;
  size_t each = (waves + quads * (5 * sizeof(struct lds_cell) + 4) + 63) / 64 * 64;
  st->group = calloc(count, sizeof *st->group);
  st->groups = count;
  st->arena_bytes = each * count;
  st->arena = memory_zeros(st->arena_bytes);
  if (!st->group || !st->arena) return false;
  madvise(st->arena, st->arena_bytes, MADV_HUGEPAGE);
  for (uint32_t i = 0; i < count; i++) {
    struct strict_group *g = &st->group[i];
    g->strict = st;
    g->slot = &slots[i];
    g->wave = (struct strict_wave *)(void *)(st->arena + i * each);
    if (st->start->lds_bytes) {
      g->quad = (struct lds_cell *)(void *)(st->arena + i * each + waves);
      g->unset = (uint8_t *)(g->quad + quads);
      g->cell = (struct lds_cell *)(void *)(g->unset + 4 * quads);
    }
    slots[i].view.strict = g;
  }
  return true;
}

struct strict *strict_create(const struct hsa_emu_strict *options, const struct start *start, const struct model *model,
    struct memory *memory, struct slot *slots, uint32_t count) {
  struct strict *st = calloc(1, sizeof *st);
  if (!st) return NULL;
  st->options = *options;
  st->start = start;
  st->inst = st->table = strict_inst_table(start->kernel->program);
  choose_behaviour(st);
  uint32_t cus = model_xcd_cus(model, 0);
  st->on_cu = calloc((size_t)model->xcds * cus, sizeof *st->on_cu);
  bool probed = options->l2 == HSA_EMU_L2_PROBED;
  if (st->table && st->on_cu && lines_init(&st->lines, memory, model->xcds * cus, cus, probed, start->workgroups) &&
      place_groups(st, slots, count))
    return st;
  strict_destroy(st);
  return NULL;
}

void strict_destroy(struct strict *st) {
  if (!st) return;
  lines_free(&st->lines);
  findings_clear(&st->findings);
  if (st->arena) munmap(st->arena, st->arena_bytes);
  free(st->group);
  free(st->on_cu);
  free(st->table);
  free(st);
}

/* The emptiest of its XCD. */
static uint32_t choose_cu(const struct strict *st, uint32_t xcd) {
  uint32_t first = xcd * st->lines.cus_an_xcd, best = first;
  for (uint32_t cu = first; cu < first + st->lines.cus_an_xcd; cu++)
    if (st->on_cu[cu] < st->on_cu[best]) best = cu;
  return best;
}

void strict_end_group(struct slot *slot) {
  struct strict_group *g = slot->view.strict;
  g->strict->on_cu[g->cu]--;
}

void strict_begin_group(struct strict *st, struct slot *slot) {
  struct strict_group *g = slot->view.strict;
  g->xcd = slot->group.xcc;
  g->cu = choose_cu(st, g->xcd);
  st->on_cu[g->cu]++;
  strict_lds_begin(g, st->start->lds_bytes);
  g->run_in = 0;
  memset(g->lag, 0, sizeof g->lag);
  for (uint32_t i = 0; i < slot->group.waves; i++) {
    struct strict_wave *sw = &g->wave[i];
    memset(sw, 0, sizeof *sw);
    sw->group = g;
    g->lds_from[i] = 1;
    sw->start_exec = wave_exec(slot->wave[i]);
    slot->wave[i]->strict = sw;
    strict_undef_begin(sw, slot->wave[i], st->start);
  }
}

void strict_end(struct strict *st) {
  struct lines *l = &st->lines;
  for (uint32_t i = 0; i < st->groups; i++)
    for (uint32_t w = 0; w < st->start->waves; w++)
      if (st->group[i].wave[w].group) stores_complete(l, &st->group[i].wave[w], st->time);
  while (l->orphans) {
    uint32_t at = l->orphans;
    l->orphans = l->delayed[at].next_in_wave;
    if (l->delayed[at].done) continue;
    if (!l->delayed[at].fence) store_perform(l, at);
  }
  for (uint32_t x = 0; x < STRICT_XCDS; x++) cache_write_back_all(l, x);
}
