/* SPDX-License-Identifier: Apache-2.0 */
/* LDS in strict mode: for each dword who wrote and who read it last, and which bytes no one wrote. Two accesses of different waves, one of
   them writing, are ordered only by a barrier that the earlier one had completed at. */
#include <string.h>

#include "operand.h"
#include "strict.h"

enum { INST_SHIFT = 8, WAVE_SHIFT = 4, MASK = 15, QUAD = 16 };

/* A load to LDS: how far lanes are apart there, and how much each brings. */
static uint32_t dma_stride(const struct inst *in) { return (in->row->extra & 31) > 4 ? 16 : 4; }
static uint32_t dma_bytes(const struct inst *in) { return (in->row->extra & 31) > 4 ? in->row->extra & 31 : 4; }

static const uint32_t LDS_SPLIT = UINT32_MAX;

void strict_lds_begin(struct strict_group *g, uint32_t bytes) {
  if (!g->quad) return;
  memset(g->quad, 0, (bytes / 16 + 1) * sizeof *g->quad);
  memset(g->unset, MASK, 4 * (bytes / 16 + 1));
}

static uint32_t wave_of(uint32_t access) { return access >> WAVE_SHIFT & 15; }

static bool is_atomic(const struct strict *st, uint32_t access) { return st->inst[access >> INST_SHIFT].kind == KIND_LDS_ATOMIC; }

/* Not ordered before what this wave does now. */
static inline bool open_to(const struct strict_group *g, const struct wave *w, uint32_t access, uint32_t time, uint32_t mask) {
  uint32_t other = wave_of(access);
  return time && access & mask && other != w->index && time >= g->lds_from[other];
}

static void race(
    struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t lane, uint32_t cell, uint32_t access, const char *what) {
  struct strict *st = sw->group->strict;
  struct hsa_emu_party other = strict_party_of(st, w->group->index, wave_of(access), LANE_NONE, access >> INST_SHIFT);
  strict_found(
      st, HSA_EMU_LDS_RACE, strict_party(st, w, in, lane), cell * 4, &other, "%s LDS bytes at %u, no barrier behind", what, cell * 4);
}

/* Bytes that a load has yet to bring: this wave must wait for them. */
static void check_dma(struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t lane, uint32_t at) {
  struct strict *st = sw->group->strict;
  for (uint32_t i = 0; i < sw->vm.count; i++) {
    const struct pending *p = &sw->vm.op[(sw->vm.first + i) % PENDING_MAX];
    if (p->kind != PENDING_LOAD_LDS || at - p->lds >= LANES_A_WAVE * dma_stride(&w->program->inst[p->inst])) continue;
    struct hsa_emu_party other = strict_party_of(st, w->group->index, w->index, LANE_NONE, p->inst);
    strict_found(
        st, HSA_EMU_UNWAITED, strict_party(st, w, in, lane), at, &other, "reads LDS at %u without an s_waitcnt for what loads it,", at);
  }
}

static uint32_t cell_access(const struct wave *w, const struct inst *in, uint32_t mask) {
  return (uint32_t)(in - w->program->inst) << INST_SHIFT | w->index << WAVE_SHIFT | mask;
}

/* A dword's cell; its neighbours get theirs. */
static struct lds_cell *cell_of(const struct strict_group *g, uint32_t index) {
  struct lds_cell *quad = &g->quad[index / 4];
  if (quad->write_time != LDS_SPLIT) {
    for (uint32_t i = 0; i < 4; i++) g->cell[index / 4 * 4 + i] = *quad;
    quad->write_time = LDS_SPLIT;
  }
  return &g->cell[index];
}

static void check_races(struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t lane, uint32_t index, uint32_t mask,
    bool reads, bool writes) {
  const struct strict_group *g = sw->group;
  const struct lds_cell *c = cell_of(g, index);
  bool atomic = reads && writes;
  if (open_to(g, w, c->writer, c->write_time, mask) && !(atomic && is_atomic(g->strict, c->writer)))
    race(sw, w, in, lane, index, c->writer, writes ? "writes" : "reads");
  if (writes && open_to(g, w, c->reader, c->read_time, mask) && !(atomic && is_atomic(g->strict, c->reader)))
    race(sw, w, in, lane, index, c->reader, "writes");
}

static inline void note_access(struct lds_cell *c, uint32_t me, uint32_t time, bool reads, bool writes) {
  if (writes) {
    c->writer = me;
    c->write_time = time;
  }
  if (reads) {
    c->reader = me;
    c->read_time = time;
  }
}

/* All bytes [at, at + bytes): returns whether none of them was ever written. */
static bool touch(struct strict_wave *sw, struct wave *w, const struct inst *in, uint32_t lane, uint64_t at, uint32_t bytes, bool reads,
    bool writes, bool undef) {
  const struct strict_group *g = sw->group;
  bool never = true;
  if (!g->quad || at + bytes > w->group->lds_bytes) return false;
  if (reads && sw->lds_loads) check_dma(sw, w, in, lane, (uint32_t)at);
  for (uint32_t done = 0; done < bytes;) {
    uint32_t index = (uint32_t)((at + done) / 4), low = (uint32_t)((at + done) % 4), n = 4 - low < bytes - done ? 4 - low : bytes - done;
    uint32_t mask = ((1u << n) - 1) << low;
    uint8_t *unset = &g->unset[index];
    if ((*unset & mask) != mask) never = false;
    check_races(sw, w, in, lane, index, mask, reads, writes);
    note_access(cell_of(g, index), cell_access(w, in, mask), g->strict->time, reads, writes);
    if (writes) *unset = (uint8_t)(undef ? *unset | mask : *unset & ~mask);
    done += n;
  }
  return never;
}

void strict_lds_touch(
    struct strict_wave *sw, struct wave *w, const struct inst *in, uint32_t lane, uint64_t at, uint32_t bytes, bool write) {
  touch(sw, w, in, lane, at, bytes, !write, write, false);
}

/* A place of a DS instruction. */
struct place {
  int32_t offset;
  uint32_t bytes, dwords;
  uint32_t me, time;
  uint32_t from[GROUP_WAVES_MAX]; /* by wave: its accesses from this time on are open to this one. None of its own is */
  bool whole;                     /* dwords, and no load to LDS is on its way */
  uint32_t sharers;               /* lanes that may have 16 bytes between them; 1: none */
  uint64_t undef[4];              /* by dword: lanes whose data was never written */
  uint64_t never[4];              /* lanes that read what was never written */
};

/* Also of 16 bytes that are split. */
static inline bool may_race(const struct lds_cell *c, const struct place *p, bool writes) {
  return c->write_time >= p->from[wave_of(c->writer)] || (writes && c->read_time >= p->from[wave_of(c->reader)]);
}

/* What touch() does, for whole dwords from `first` on that are LDS: 16 bytes at once where it can. */
static inline __attribute__((always_inline)) void touch_dwords(struct strict_wave *sw, struct wave *w, const struct inst *in, uint32_t lane,
    struct place *p, uint32_t first, bool reads, bool writes) {
  const struct strict_group *g = sw->group;
  struct lds_cell *quad = &g->quad[first / 4];
  uint8_t *unset = &g->unset[first];
  if (p->dwords == 4 && first % 4 == 0 && !may_race(quad, p, writes)) {
    note_access(quad, p->me, p->time, reads, writes);
  } else {
    for (uint32_t k = 0; k < p->dwords; k++) {
      struct lds_cell *c = cell_of(g, first + k);
      if (may_race(c, p, writes)) check_races(sw, w, in, lane, first + k, MASK, reads, writes);
      note_access(c, p->me, p->time, reads, writes);
    }
  }
  for (uint32_t k = 0; k < p->dwords; k++) {
    if (reads) p->never[k] |= (uint64_t)(unset[k] == MASK) << lane;
    if (writes) unset[k] = p->undef[k] >> lane & 1 ? MASK : 0;
  }
}

/* The same for neighbouring lanes that have 16 bytes between them. False: nothing is done, they need a look each. */
static inline __attribute__((always_inline)) bool touch_quad(
    struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t lane, struct place *p, bool reads, bool writes) {
  const struct strict_group *g = sw->group;
  const uint32_t *from = &w->v[in->src[0].reg].w[lane];
  uint64_t at = from[0] + (uint32_t)p->offset; /* of 32 bits */
  if (at % QUAD || at + QUAD > w->group->lds_bytes) return false;
  for (uint32_t i = 1; i < p->sharers; i++)
    if (from[i] != from[0] + i * p->bytes) return false;
  struct lds_cell *quad = &g->quad[at / QUAD];
  if (may_race(quad, p, writes)) return false;
  note_access(quad, p->me, p->time, reads, writes);
  uint8_t *unset = &g->unset[at / 4];
  for (uint32_t i = 0; i < p->sharers; i++)
    for (uint32_t k = 0; k < p->dwords; k++, unset++) {
      if (reads) p->never[k] |= (uint64_t)(*unset == MASK) << (lane + i);
      if (writes) *unset = p->undef[k] >> (lane + i) & 1 ? MASK : 0;
    }
  return true;
}

static inline __attribute__((always_inline)) void step_lanes(
    struct strict_wave *sw, struct wave *w, const struct inst *in, struct place *p, bool reads, bool writes) {
  uint64_t together = (UINT64_C(1) << p->sharers) - 1;
  for (uint64_t lanes = wave_exec(w), done; lanes; lanes &= ~done) {
    uint32_t l = (uint32_t)__builtin_ctzll(lanes);
    uint64_t at = w->v[in->src[0].reg].w[l] + (uint32_t)p->offset; /* of 32 bits */
    done = together << l;
    if (p->sharers > 1 && (lanes & done) == done && l + p->sharers <= LANES_A_WAVE && touch_quad(sw, w, in, l, p, reads, writes)) continue;
    done = UINT64_C(1) << l;
    if (p->whole && at % 4 == 0 && at + p->bytes <= w->group->lds_bytes) {
      touch_dwords(sw, w, in, l, p, (uint32_t)(at / 4), reads, writes);
      continue;
    }
    for (uint32_t k = 0; k < p->dwords; k++) {
      uint32_t n = p->bytes - 4 * k < 4 ? p->bytes - 4 * k : 4;
      p->never[k] |= (uint64_t)touch(sw, w, in, l, at + 4 * k, n, reads, writes, p->undef[k] >> l & 1) << l;
    }
  }
}

/* For all lanes; its dwords are those of the result from `word` on, or of source `data`. */
static void step_at(
    struct strict_wave *sw, struct wave *w, const struct inst *in, const struct strict_inst *si, int32_t offset, uint32_t word, int data) {
  struct place p = {.offset = offset, .bytes = si->bytes, .dwords = (si->bytes + 3u) / 4};
  memcpy(p.from, sw->group->lds_from, sizeof p.from);
  p.from[w->index] = UINT32_MAX;
  p.me = cell_access(w, in, MASK);
  p.time = sw->group->strict->time;
  p.whole = p.bytes % 4 == 0 && !sw->lds_loads;
  p.sharers = p.whole && p.dwords < 3 ? 4 / p.dwords : 1;
  switch (si->kind) {
  case KIND_LDS_READ:
    step_lanes(sw, w, in, &p, true, false);
    break;
  case KIND_LDS_WRITE:
    for (uint32_t k = 0; k < p.dwords; k++) p.undef[k] = sw->undef[in->src[data].reg + k];
    step_lanes(sw, w, in, &p, false, true);
    return;
  default:
    step_lanes(sw, w, in, &p, true, true);
    break;
  }
  for (uint32_t k = 0; k < p.dwords && word + k < in->dst.words; k++) strict_undef_loaded(sw, w, in, word + k, p.never[k]);
}

/* Loads to LDS: what each active lane brings, lane after lane from M0 on. */
static void step_dma(struct strict_wave *sw, struct wave *w, const struct inst *in) {
  for (uint64_t lanes = wave_exec(w); lanes; lanes &= lanes - 1) {
    uint32_t l = (uint32_t)__builtin_ctzll(lanes);
    touch(
        sw, w, in, l, (uint64_t)(w->sreg[SREG_M0] & 0xFFFF) + (uint32_t)in->offset + dma_stride(in) * l, dma_bytes(in), false, true, false);
  }
}

void strict_lds_step(struct strict_wave *sw, struct wave *w, const struct inst *in, const struct strict_inst *si) {
  if (si->kind == KIND_LOAD_LDS) {
    step_dma(sw, w, in);
    return;
  }
  step_at(sw, w, in, si, in->offset, 0, 1);
  if (si->two) step_at(sw, w, in, si, in->offset1, si->bytes / 4u, 2);
}
