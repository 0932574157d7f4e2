/* SPDX-License-Identifier: Apache-2.0 */
/* Which stores a workgroup may rely on, whatever the schedule: those that were complete before an sc1 store (or an atomic) whose value it
   has seen by an sc1 load (or an atomic), or that such a workgroup could rely on. Waves of a workgroup learn from one another at barriers.
   Times are those of the stores' issue. Without memory for it, or with too many workgroups, everything counts as ordered. */
#include "strict.h"

#include <stdlib.h>

#include "operand.h"

enum { ORDER_GROUPS_MAX = 512, WAVES = GROUP_WAVES_MAX };

bool order_init(struct order *o, uint32_t groups) {
  *o = (struct order){.groups = groups <= ORDER_GROUPS_MAX ? groups : 0};
  if (!o->groups) return true;
  o->known = calloc((size_t)groups * groups * WAVES, sizeof *o->known);
  o->own = calloc((size_t)groups * WAVES, sizeof *o->own);
  o->seen = calloc((size_t)groups * groups, sizeof *o->seen);
  o->release = calloc(1024 * WAVES, sizeof *o->release);
  o->release_room = 1024;
  o->releases = 1;
  return o->known && o->own && o->seen && o->release;
}

void order_free(struct order *o) {
  free(o->known);
  free(o->own);
  free(o->seen);
  free(o->release);
}

/* All of the wave's stores issued up to this time are complete. */
uint32_t order_complete(const struct strict_wave *sw, uint32_t now) {
  for (uint32_t i = 0; i < sw->vm.count; i++) {
    const struct pending *p = &sw->vm.op[(sw->vm.first + i) % PENDING_MAX];
    if (p->kind == PENDING_STORE) return p->time - 1;
  }
  return now - 1;
}

uint32_t order_release(struct order *o, const struct strict_wave *sw, uint32_t group, uint32_t wave, uint32_t now) {
  if (!o->groups) return 0;
  if (o->releases == o->release_room) {
    uint32_t *grown = realloc(o->release, 2 * (size_t)o->release_room * WAVES * sizeof *grown);
    if (!grown) return 0;
    o->release = grown;
    o->release_room *= 2;
  }
  uint32_t *v = &o->release[(size_t)o->releases * WAVES];
  for (uint32_t w = 0; w < WAVES; w++) v[w] = o->own[group * WAVES + w];
  v[wave] = order_complete(sw, now);
  return o->releases++;
}

LANES static void raise_all(uint32_t *to, const uint32_t *from, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = to[i] < from[i] ? from[i] : to[i];
}

void order_barrier(struct order *o, uint32_t group, uint32_t wave, uint32_t complete) {
  if (o->groups) raise_all(&o->own[group * WAVES + wave], &complete, 1);
}

void order_acquire(struct order *o, uint32_t group, const struct store_event *e, uint32_t event) {
  if (!o->groups || !e->release) return;
  const uint32_t *v = &o->release[(size_t)e->release * WAVES];
  uint32_t *seen = &o->seen[group * o->groups + e->group];
  if (*seen == event) return;
  *seen = event;
  if (e->group == group) {
    raise_all(&o->own[group * WAVES], v, WAVES);
    return;
  }
  size_t row = (size_t)o->groups * WAVES;
  raise_all(&o->known[group * row], &o->known[e->group * row], row);
  raise_all(&o->known[group * row + e->group * WAVES], v, WAVES);
}

bool order_before(const struct order *o, uint32_t group, const struct store_event *e) {
  if (!o->groups || e->group == group) return true;
  return o->known[((size_t)group * o->groups + e->group) * WAVES + e->wave] >= e->time;
}
