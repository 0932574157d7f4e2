/* SPDX-License-Identifier: Apache-2.0 */
/* s_barrier in strict mode: what it orders, and how it is misused. */
#include "strict.h"

/* The oldest LDS operation that has not been waited for: the barrier does not order it, nor what follows it. */
static uint32_t oldest_open(const struct strict_wave *sw, uint32_t now) {
  uint32_t oldest = now + 1;
  const struct pending_queue *queues[] = {&sw->lgkm, &sw->vm};
  for (int i = 0; i < 2; i++)
    for (uint32_t k = 0; k < queues[i]->count; k++) {
      const struct pending *p = &queues[i]->op[(queues[i]->first + k) % PENDING_MAX];
      if (p->kind == (i ? PENDING_LOAD_LDS : PENDING_LDS) && p->time < oldest) oldest = p->time;
    }
  return oldest;
}

void strict_barrier(struct strict_wave *sw, struct wave *w, const struct inst *in) {
  struct strict *st = sw->group->strict;
  sw->barrier_time = oldest_open(sw, st->time);
  sw->barrier_inst = (uint32_t)(in - w->program->inst);
  sw->barrier_complete = order_complete(sw, st->time + 1);
  uint64_t off = sw->start_exec & ~wave_exec(w);
  if (off)
    strict_found(st, HSA_EMU_BARRIER, strict_party(st, w, in, (uint32_t)__builtin_ctzll(off)), 0, NULL,
        "this lane is switched off (EXEC is 0x%llx), so that it does not take part", (unsigned long long)wave_exec(w));
}

void strict_barrier_passed(struct strict_group *g) {
  struct strict *st = g->strict;
  const struct slot *s = g->slot;
  const struct strict_wave *first = NULL;
  uint32_t first_wave = 0;
  for (uint32_t i = 0; i < s->group.waves; i++) {
    struct strict_wave *sw = &g->wave[i];
    order_barrier(&st->lines.order, s->group.index, i, sw->barrier_complete);
    if (s->state[i] != WAVE_BARRIER) continue;
    g->lds_from[i] = sw->barrier_time;
    if (!first) {
      first = sw;
      first_wave = i;
    } else if (sw->barrier_inst != first->barrier_inst) {
      struct hsa_emu_party other = strict_party_of(st, s->group.index, first_wave, LANE_NONE, first->barrier_inst);
      strict_found(st, HSA_EMU_BARRIER, strict_party_of(st, s->group.index, i, LANE_NONE, sw->barrier_inst), 0, &other,
          "this wave meets others at another s_barrier than its own:");
    }
  }
  for (uint32_t i = 0; i < s->group.waves && first; i++) {
    if (s->state[i] != WAVE_ENDED) continue;
    g->lds_from[i] = st->time + 1;
    struct hsa_emu_party other = strict_party_of(st, s->group.index, i, LANE_NONE, s->wave[i]->pc - 1);
    strict_found(st, HSA_EMU_BARRIER, strict_party_of(st, s->group.index, first_wave, LANE_NONE, first->barrier_inst), 0, &other,
        "not all waves are there, since one has ended:");
  }
}
