/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "loader.h"
#include "memory.h"

_Static_assert(HSA_EMU_CYCLES_A_US == 100 * CYCLES_A_TICK, "hsa_emu.h and wave.h tell different times");
_Static_assert((int)HSA_EMU_CLASSES == (int)INST_CLASSES, "hsa_emu.h and wave.h have different classes");

static void free_group(struct profile_group *g) {
  if (!g) return;
  free(g->figures);
  free(g->span);
  free(g);
}

static void drop_groups(struct profile *p) {
  for (uint32_t i = 0; i < p->groups; i++) free_group(p->group[i]);
  free(p->group);
  p->group = NULL;
  p->groups = 0;
}

void profile_clear(struct profile *p) {
  drop_groups(p);
  free(p->region);
  *p = (struct profile){0};
}

bool profile_set(struct profile *p, uint64_t object, const uint8_t *region, size_t count, uint32_t regions) {
  uint8_t *copy = malloc(count + 1);
  if (!copy) return false;
  memcpy(copy, region, count);
  profile_clear(p);
  *p = (struct profile){.object = object, .region = copy, .count = count, .regions = regions};
  return true;
}

bool profile_launch(struct profile *p, const struct loaded_kernel *kernel, uint32_t workgroups) {
  if (!p->object || kernel->object != p->object || kernel->program->count != p->count) return false;
  drop_groups(p);
  p->group = calloc(workgroups, sizeof(struct profile_group *));
  p->groups = p->group ? workgroups : 0;
  return p->group != NULL;
}

struct profile_group *profile_begin(struct profile *p, uint32_t workgroup, uint32_t xcc) {
  struct profile_group *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  *g = (struct profile_group){.workgroup = workgroup, .xcc = xcc, .regions = p->regions, .region = p->region};
  g->figures = calloc(p->regions, sizeof *g->figures);
  for (uint32_t i = 0; i < GROUP_WAVES_MAX; i++) g->wave[i].stop = WAVE_ENDED; /* has not begun */
  if (g->figures) return g;
  free_group(g);
  return NULL;
}

void profile_end(struct profile *p, struct profile_group *g) {
  free_group(p->group[g->workgroup]);
  p->group[g->workgroup] = g;
}

/* --- spans ------------------------------------------------------------------------------------------------------------------ */

static struct hsa_emu_span *add_span(struct profile_group *g, struct hsa_emu_span span) {
  if (g->spans == g->room) {
    size_t room = g->room ? 2 * g->room : 64;
    struct hsa_emu_span *grown = realloc(g->span, room * sizeof *grown);
    if (!grown) {
      g->short_of_memory = true;
      return NULL;
    }
    g->span = grown;
    g->room = room;
  }
  g->span[g->spans] = span;
  return &g->span[g->spans++];
}

/* Wave 0 is in this region from now on. */
static void enter(struct profile_group *g, uint32_t region, uint64_t now) {
  if (g->spans && g->span[g->open].region == region) return;
  if (g->spans) g->span[g->open].end = now;
  size_t at = g->spans;
  if (add_span(g, (struct hsa_emu_span){.kind = HSA_EMU_IN_REGION, .region = region, .begin = now, .end = now})) g->open = at;
}

static void stall(struct profile_group *g, const struct wave *w, uint32_t region, enum hsa_emu_stall kind, uint64_t from, uint64_t to) {
  if (to <= from) return;
  g->figures[region].stall[kind] += to - from;
  g->figures[region].cycles += to - from;
  if (w->index == 0) add_span(g, (struct hsa_emu_span){.kind = (uint32_t)kind, .region = region, .begin = from, .end = to});
}

/* --- time ------------------------------------------------------------------------------------------------------------------- */

static void issue(struct in_flight *f, uint64_t done) {
  if (done > f->last) f->last = done;
  if (f->count == sizeof f->done / sizeof *f->done) {
    f->first++;
    f->count--;
  }
  f->done[(f->first + f->count++) % 64] = f->last;
}

/* When all but the `keep` youngest are done. */
static uint64_t drain(struct in_flight *f, int16_t keep, uint64_t now) {
  while (keep >= 0 && f->count > (uint32_t)keep) {
    uint64_t done = f->done[f->first++ % 64];
    f->count--;
    if (done > now) now = done;
  }
  return now;
}

static void wait_for(struct profile_group *g, struct wave *w, const struct inst *in, uint32_t region) {
  struct profile_wave *p = &g->wave[w->index];
  uint64_t now = drain(&p->vm, in->wait_vm, w->cycles);
  stall(g, w, region, HSA_EMU_STALL_VM, w->cycles, now);
  w->cycles = now;
  now = drain(&p->lgkm, in->wait_lgkm, now);
  stall(g, w, region, HSA_EMU_STALL_LGKM, w->cycles, now);
  w->cycles = now;
}

/* What passed since the wave stopped is charged to the reason. */
static void resume(struct profile_group *g, struct wave *w) {
  static const uint8_t kinds[] = {[WAVE_RUNS] = HSA_EMU_STALL_TURN,
      [WAVE_BARRIER] = HSA_EMU_STALL_BARRIER,
      [WAVE_ATOMIC] = HSA_EMU_STALL_ATOMIC,
      [WAVE_SLEEPS] = HSA_EMU_STALL_SLEEP};
  struct profile_wave *p = &g->wave[w->index];
  if (p->stop < sizeof kinds)
    stall(g, w, p->place, (enum hsa_emu_stall)kinds[p->stop], p->left, w->cycles);
  else if (!g->begin || w->cycles < g->begin)
    g->begin = w->cycles;
}

static void one(struct profile_group *g, struct wave *w) {
  const struct inst *in = &w->program->inst[w->pc];
  struct profile_wave *p = &g->wave[w->index];
  const struct view *view = w->group->view;
  uint32_t region = p->place = g->region[w->pc];
  struct hsa_emu_region *f = &g->figures[region];
  uint64_t loaded = view->load_bytes, stored = view->store_bytes;
  if (w->index == 0) enter(g, region, w->cycles);
  if (in->class == CLASS_CONTROL) wait_for(g, w, in, region);
  uint64_t began = w->cycles;
  (void)wave_run(w, 1);
  loaded = view->load_bytes - loaded;
  stored = view->store_bytes - stored;
  f->instructions++;
  f->by_class[in->class]++;
  f->cycles += w->cycles - began;
  f->load_bytes += loaded;
  f->store_bytes += stored;
  uint64_t moved = (loaded + stored) / PROFILE_BYTES_A_CYCLE;
  if (in->class == CLASS_VMEM) issue(&p->vm, w->cycles + LATENCY_VMEM + moved);
  if (in->class == CLASS_SMEM) issue(&p->lgkm, w->cycles + LATENCY_SMEM);
  if (in->class == CLASS_LDS) issue(&p->lgkm, w->cycles + LATENCY_LDS);
}

enum wave_stop profile_run(struct profile_group *g, struct wave *w, uint64_t budget) {
  struct profile_wave *p = &g->wave[w->index];
  resume(g, w);
  w->stop = WAVE_RUNS;
  while (budget-- > 0 && w->stop == WAVE_RUNS) one(g, w);
  p->stop = w->stop;
  p->left = w->cycles;
  if (w->cycles > g->end) g->end = w->cycles;
  if (w->stop == WAVE_ENDED && w->index == 0 && g->spans) g->span[g->open].end = w->cycles;
  return (enum wave_stop)w->stop;
}
