/* SPDX-License-Identifier: Apache-2.0 */
/* One quantum: workgroups in parallel, each wave until it waits or has used its part up; then the commit, in workgroup order. */
#include "quantum.h"

#include "profile.h"
#include "start.h"
#include "strict.h"

void slot_begin(struct quantum *q, struct slot *s) {
  if (s->fresh) {
    start_workgroup(q->start, &s->group);
    for (uint32_t i = 0; i < s->group.waves; i++) {
      s->state[i] = WAVE_RUNS;
      s->wave[i]->cycles = q->now;
    }
    s->fresh = false;
    if (q->strict) strict_begin_group(q->strict, s);
  }
  for (uint32_t i = 0; i < s->group.waves; i++) {
    s->left[i] = q->instructions;
    if (s->state[i] == WAVE_SLEEPS || s->state[i] == WAVE_ATOMIC) s->state[i] = WAVE_RUNS;
  }
  s->progress = s->busy = false;
  s->faulty = GROUP_WAVES_MAX;
  view_begin_quantum(&s->view);
}

static uint64_t executed(const struct wave *w) {
  uint64_t sum = 0;
  for (int c = 0; c < INST_CLASSES; c++) sum += w->executed[c];
  return sum;
}

static uint32_t count_state(const struct slot *s, enum wave_stop state) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->group.waves; i++) n += s->state[i] == state;
  return n;
}

bool slot_ended(const struct slot *s) { return !s->fresh && count_state(s, WAVE_ENDED) == s->group.waves; }

bool slot_barrier_full(const struct slot *s) {
  uint32_t there = count_state(s, WAVE_BARRIER);
  return there && there + count_state(s, WAVE_ENDED) == s->group.waves;
}

/* Lets the waves go on if all that have not ended are at the barrier; true if it did. */
bool slot_pass_barrier(struct slot *s) {
  s->group.arrived = count_state(s, WAVE_BARRIER);
  if (!slot_barrier_full(s)) return false;
  uint64_t latest = 0;
  for (uint32_t i = 0; i < s->group.waves; i++)
    if (s->state[i] == WAVE_BARRIER && s->wave[i]->cycles > latest) latest = s->wave[i]->cycles;
  for (uint32_t i = 0; i < s->group.waves; i++) {
    if (s->state[i] != WAVE_BARRIER) continue;
    s->state[i] = WAVE_RUNS;
    s->wave[i]->cycles = latest;
  }
  s->group.arrived = 0;
  s->progress = true;
  return true;
}

void slot_run_wave(struct slot *s, uint32_t i) {
  struct wave *w = s->wave[i];
  uint64_t before = executed(w), reads = w->clock_reads;
  if (w->strict)
    s->state[i] = strict_run(w, s->left[i]);
  else
    s->state[i] = s->profile ? profile_run(s->profile, w, s->left[i]) : wave_run(w, s->left[i]);
  uint64_t done = executed(w) - before;
  s->left[i] -= done < s->left[i] ? done : s->left[i];
  s->clock_reads += w->clock_reads - reads;
  if (s->state[i] == WAVE_SLEEPS) w->cycles += w->sleep_cycles;
  if (s->state[i] == WAVE_ENDED) s->progress = true;
  if (s->state[i] == WAVE_RUNS) {
    s->left[i] = 0;
    s->busy = true;
  }
  if (s->state[i] == WAVE_FAULT) s->faulty = i;
}

static void run_slot(void *context, uint32_t index) {
  struct quantum *q = context;
  struct slot *s = q->live[index];
  slot_begin(q, s);
  bool ran = true;
  while (ran && s->faulty == GROUP_WAVES_MAX) {
    ran = false;
    for (uint32_t i = 0; i < s->group.waves && s->faulty == GROUP_WAVES_MAX; i++) {
      if (s->state[i] != WAVE_RUNS || !s->left[i]) continue;
      slot_run_wave(s, i);
      ran = true;
    }
    if (slot_pass_barrier(s)) ran = true;
  }
}

void quantum_run(struct quantum *q, struct workers *workers) { workers_run(workers, run_slot, q, q->count); }

struct commit_result quantum_commit(struct quantum *q) {
  struct commit_result result = {0};
  for (uint32_t i = 0; i < q->count; i++) {
    struct slot *s = q->live[i];
    const struct atomic *bad = NULL;
    if (!view_commit(&s->view, wave_atomic_done, &bad, &result.changed) && !result.faulty) {
      result.faulty = s;
      result.bad = bad;
      s->faulty = bad->wave->index;
    }
    if (s->faulty != GROUP_WAVES_MAX && !result.faulty) result.faulty = s;
    for (uint32_t w = 0; w < s->group.waves; w++)
      if (s->wave[w]->cycles > q->now) q->now = s->wave[w]->cycles;
  }
  for (uint32_t i = 0; i < q->count; i++)
    for (uint32_t w = 0; w < q->live[i]->group.waves; w++) q->live[i]->wave[w]->cycles = q->now;
  return result;
}

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

/* Four streams at once: the multiplications of one would wait for each other. */
static uint64_t mix_bytes(uint64_t h, const void *data, size_t bytes) {
  const uint8_t *p = data;
  uint64_t lane[4] = {h, h + 1, h + 2, h + 3}, x[4];
  for (; bytes >= sizeof x; bytes -= sizeof x, p += sizeof x) {
    memcpy(x, p, sizeof x);
    for (int i = 0; i < 4; i++) lane[i] = mix(lane[i], x[i]);
  }
  for (; bytes; bytes--) lane[0] = mix(lane[0], *p++);
  return mix(mix(mix(lane[0], lane[1]), lane[2]), lane[3]);
}

static void digest_slot(void *context, uint32_t index) {
  const struct quantum *q = context;
  struct slot *s = q->live[index];
  uint64_t h = mix_bytes(s->group.index, s->group.lds, s->group.lds_bytes);
  h = mix_bytes(h, s->group.scratch, (size_t)s->group.waves * LANES_A_WAVE * s->group.scratch_bytes);
  for (uint32_t i = 0; i < s->group.waves; i++) {
    const struct wave *w = s->wave[i];
    h = mix(mix(mix(mix(h, s->state[i]), w->pc), w->scc), w->mode);
    if (s->state[i] == WAVE_ENDED) continue;
    h = mix_bytes(h, w->sreg, sizeof w->sreg);
    h = mix_bytes(h, w->v, q->start->vgprs * sizeof(vgpr));
    if (q->start->agprs) h = mix_bytes(h, &w->v[VGPRS], q->start->agprs * sizeof(vgpr));
  }
  s->digest = h;
}

uint64_t quantum_digest_first(struct quantum *q) {
  if (!q->count) return 0;
  digest_slot(q, 0);
  return q->live[0]->digest;
}

uint64_t quantum_digest(struct quantum *q, struct workers *workers) {
  workers_run(workers, digest_slot, q, q->count);
  uint64_t h = q->count;
  for (uint32_t i = 0; i < q->count; i++) h = mix(h, q->live[i]->digest);
  return h;
}
