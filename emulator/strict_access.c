/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores and atomics of a lane in strict mode: which bytes it gets, and what is wrong with them. */
#include "strict_access.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "strict.h"

static struct hsa_emu_party here(const struct strict *st, const struct view *v) {
  return strict_party(st, st->wave, st->in, st->in->class == CLASS_SMEM ? LANE_NONE : v->lane);
}

static struct hsa_emu_party storer(const struct strict *st, uint32_t event, uint32_t lane) {
  const struct store_event *e = &st->lines.event[event];
  return strict_party_of(st, e->group, e->wave, lane, e->inst);
}

/* --- loads ------------------------------------------------------------------------------------------------------------------- */

static void note_load(
    struct strict *st, const struct strict_group *g, const struct view *v, struct line_mark *m, uint64_t number, struct byte_set bytes) {
  uint32_t group = g->slot->group.index;
  if (m->time == st->time && m->group == group) {
    m->loaded = set_or(m->loaded, bytes);
    return;
  }
  m->epoch[g->xcd] = st->lines.l2_epoch[g->xcd];
  l1_put(&st->lines, number, g->cu);
  m->loaded = m->group == group && m->time ? set_or(m->loaded, bytes) : bytes;
  m->group = group;
  m->inst = (uint32_t)(st->in - st->wave->program->inst);
  m->time = st->time;
  m->wave = (uint8_t)st->wave->index;
  m->lane = v->lane;
}

static uint64_t address_of(const struct line *line, struct byte_set bytes) { return line->number * LINE_BYTES + set_first(bytes); }

static void report_stale(
    struct strict *st, const struct view *v, const struct line *line, struct byte_set stale, const char *where, uint32_t number) {
  uint32_t dword = set_first(stale) / 4;
  struct hsa_emu_party other = {0};
  if (line->event[dword]) other = storer(st, line->event[dword], line->lane[dword]);
  strict_found(st, HSA_EMU_STALE_LOAD, here(st, v), address_of(line, stale), line->event[dword] ? &other : NULL,
      "gets an old byte at 0x%" PRIx64 " from %s %u; the newer one is", address_of(line, stale), where, number);
}

/* Stores that are on their way: the group's own are seen, another's are a finding (plain loads only). */
static void overlay(struct strict *st, struct strict_group *g, const struct view *v, const struct line *line, struct byte_set bytes,
    bool coherent, uint8_t *content) {
  for (uint32_t i = line->delayed; i; i = st->lines.delayed[i].next_on_line) {
    const struct delayed *d = &st->lines.delayed[i];
    struct byte_set both = set_and(d->mask, bytes);
    if (!set_any(both)) continue;
    if (st->lines.event[d->event].group == g->slot->group.index) {
      for (uint32_t b = 0; b < LINE_BYTES; b++)
        if (set_has(&both, b)) content[b] = d->data[b];
    } else if (!coherent) {
      struct hsa_emu_party other = storer(st, d->event, d->lane[set_first(both) / 4]);
      strict_found(st, HSA_EMU_UNORDERED, here(st, v), address_of(line, both), &other,
          "gets a byte at 0x%" PRIx64 " before a store to it is visible, which is", address_of(line, both));
    }
  }
}

/* Bytes that a cache does not have yet come from below it. */
static void fill(struct copy *c, const uint8_t *below, struct byte_set below_stale) {
  struct byte_set missing = set_less(set_all(), c->valid);
  if (!set_any(missing)) return;
  for (uint32_t b = 0; b < LINE_BYTES; b++)
    if (set_has(&missing, b)) c->data[b] = below[b];
  c->stale = set_or(c->stale, set_and(missing, below_stale));
  c->valid = set_all();
}

static void read_through(struct lines *l, const struct line *line, uint32_t xcd, uint8_t *content) {
  const struct copy *c = l->probed ? NULL : copy_of(l, line, xcd);
  for (uint32_t b = 0; c && b < LINE_BYTES; b++)
    if (set_has(&c->dirty, b)) content[b] = c->data[b];
}

/* What other XCDs' L2s have dirty: neither memory nor this L2 has it. */
static struct byte_set dirty_elsewhere(const struct lines *l, const struct line *line, uint32_t xcd) {
  struct byte_set elsewhere = {{0, 0}};
  for (uint32_t i = line->copies; i; i = l->copy[i].next_on_line)
    if (l->copy[i].owner != xcd) elsewhere = set_or(elsewhere, l->copy[i].dirty);
  return elsewhere;
}

static void read_cached(
    struct strict *st, struct strict_group *g, const struct view *v, struct line *line, struct byte_set bytes, uint8_t *content) {
  struct lines *l = &st->lines;
  struct byte_set stale = {{0, 0}};
  struct copy *l2 = l->probed ? NULL : copy_of(l, line, g->xcd), *l1 = copy_of(l, line, STRICT_XCDS + g->cu);
  if (l2) {
    fill(l2, content, stale);
    memcpy(content, l2->data, LINE_BYTES);
    stale = l2->stale;
  }
  if (set_any(set_and(stale, bytes)) && !l1) report_stale(st, v, line, set_and(stale, bytes), "the L2 of XCD", g->xcd);
  if (l1) {
    fill(l1, content, stale);
    memcpy(content, l1->data, LINE_BYTES);
    if (set_any(set_and(l1->stale, bytes))) report_stale(st, v, line, set_and(l1->stale, bytes), "the L1 of CU", g->cu);
  }
  struct byte_set elsewhere = dirty_elsewhere(l, line, g->xcd);
  if (set_any(set_and(elsewhere, bytes)))
    report_stale(st, v, line, set_and(elsewhere, bytes), "outside the L2 that has it dirty: XCD", g->xcd);
}

static bool has_poison(uint64_t address, uint32_t bytes) {
  bool any = false;
  for (uint64_t granule = address & ~UINT64_C(7); granule < address + bytes; granule += 8) {
    uint64_t there;
    memcpy(&there, (const void *)(uintptr_t)granule, sizeof there);
    any |= there == memory_poison(granule);
  }
  return any;
}

/* Dwords of the access that no one ever wrote: their registers hold nothing that was written. */
static void find_poison(struct strict *st, const struct view *v, uint64_t address, uint32_t bytes, const void *got) {
  struct strict_wave *sw = st->wave->strict;
  if (!has_poison(address, bytes)) return;
  for (uint32_t at = 0; at < bytes; at += 4) {
    uint64_t granule = (address + at) & ~UINT64_C(7), poison = memory_poison(granule), there;
    uint32_t low = (uint32_t)((address + at) % 8), n = bytes - at < 4 ? bytes - at : 4;
    if (low + n > 8) continue;
    memcpy(&there, (const void *)(uintptr_t)granule, sizeof there);
    if (there == poison && memcmp((const uint8_t *)got + at, (const uint8_t *)&poison + low, n) == 0)
      strict_undef_memory(sw, st->wave, st->in, at / 4, v->lane);
  }
}

/* The stores whose bytes a load gets: an sc1 load learns from them, a plain one must know them to be complete. */
static void look_back(struct strict *st, const struct strict_group *g, const struct view *v, const struct line *line, uint32_t at,
    uint32_t bytes, bool coherent) {
  uint32_t group = g->slot->group.index, last = st->looked;
  for (uint32_t i = at / 4; i <= (at + bytes - 1) / 4; i++) {
    uint32_t event = line->event[i];
    if (!event || event == last) continue;
    const struct store_event *e = &st->lines.event[event];
    last = event;
    if (coherent) {
      if (e->through) order_acquire(&st->lines.order, group, e, event);
      st->looked = event;
    } else if (order_before(&st->lines.order, group, e)) {
      st->looked = event;
    } else {
      uint64_t address = line->number * LINE_BYTES + 4 * i;
      struct hsa_emu_party other = storer(st, event, line->lane[i]);
      strict_found(st, HSA_EMU_UNORDERED, here(st, v), address, &other,
          "gets a byte at 0x%" PRIx64 " that another schedule may not show: nothing orders it behind the store", address);
    }
  }
}

/* Part of an access that lies in one line. */
static void read_part(struct strict *st, struct strict_group *g, const struct view *v, struct line_mark *m, uint64_t address,
    uint32_t bytes, bool coherent, uint8_t *out) {
  struct line *line = &st->lines.line[m->line];
  uint32_t at = (uint32_t)(address % LINE_BYTES);
  if (!line->copies && !line->delayed) { /* memory's bytes are everybody's */
    look_back(st, g, v, line, at, bytes, coherent);
    memcpy(out, (const void *)(uintptr_t)address, bytes);
    return;
  }
  struct byte_set wanted = bytes_of(at, bytes);
  uint8_t content[LINE_BYTES];
  memcpy(content, (const void *)(uintptr_t)(address - at), LINE_BYTES);
  struct byte_set unseen = {{0, 0}};
  if (coherent) {
    read_through(&st->lines, line, g->xcd, content);
    /* Right programs may look before the writer's write-back, but do not wait for it for ever. */
    if (st->idle) unseen = set_and(dirty_elsewhere(&st->lines, line, g->xcd), wanted);
  } else
    read_cached(st, g, v, line, wanted, content);
  look_back(st, g, v, line, at, bytes, coherent);
  if (set_any(unseen)) report_stale(st, v, line, unseen, "past the L2 that has it dirty, and waits: XCD", g->xcd);
  overlay(st, g, v, line, wanted, coherent, content);
  memcpy(out, content + at, bytes);
}

/* A part that lies in one line: in memory, or in `out`. */
static const void *read_in_line(struct strict *st, struct strict_group *g, struct view *v, struct line_mark *m, uint64_t address,
    uint32_t bytes, bool coherent, uint8_t *out) {
  const void *got = (const void *)(uintptr_t)address;
  if (m->line) {
    read_part(st, g, v, m, address, bytes, coherent, out);
    got = out;
  }
  if (!coherent) note_load(st, g, v, m, address / LINE_BYTES, bytes_of((uint32_t)(address % LINE_BYTES), bytes));
  return got;
}

/* As region_of(): the region of the lane before, if this one reads the same line. */
static const struct region *read_region(struct strict *st, struct view *v, uint64_t address, uint32_t bytes) {
  struct lines *l = &st->lines;
  if (st->mark && st->mark_number == address / LINE_BYTES) {
    const struct region *same = &l->region[st->mark_region];
    if (address - same->base < same->bytes && bytes <= same->bytes - (address - same->base)) return same;
  }
  const struct region *r = region_of(l, v, address, bytes, false);
  st->mark = NULL;
  if (!r || v->hit.ranges) return r;
  st->mark = mark_of(r, address);
  st->mark_number = address / LINE_BYTES;
  st->mark_region = (uint32_t)(r - l->region);
  return r;
}

const void *strict_read(struct view *v, uint64_t address, uint32_t bytes, void *temp) {
  struct strict_group *g = v->strict;
  struct strict *st = g->strict;
  const struct region *r = read_region(st, v, address, bytes);
  if (!r) return NULL;
  bool coherent = st->in->class == CLASS_VMEM && st->in->sc1;
  const void *got = temp;
  if (address % LINE_BYTES + bytes <= LINE_BYTES) {
    got = read_in_line(st, g, v, mark_of(r, address), address, bytes, coherent, temp);
  } else {
    for (uint32_t done = 0, n; done < bytes; done += n) {
      uint64_t from = address + done;
      uint32_t left = LINE_BYTES - (uint32_t)(from % LINE_BYTES);
      n = left < bytes - done ? left : bytes - done;
      uint8_t *to = (uint8_t *)temp + done;
      const void *part = read_in_line(st, g, v, mark_of(r, from), from, n, coherent, to);
      if (part != to) memcpy(to, part, n);
    }
  }
  if (r->poisoned) find_poison(st, v, address, bytes, got);
  return got;
}

bool strict_read_run(struct view *v, uint64_t address, uint32_t bytes) {
  struct strict_group *g = v->strict;
  struct strict *st = g->strict;
  uint32_t at = (uint32_t)(address % LINE_BYTES), half = bytes < 64 ? bytes : 64;
  const struct region *r = at + bytes <= LINE_BYTES ? read_region(st, v, address, bytes) : NULL;
  if (!r || v->hit.ranges || mark_of(r, address)->line || (r->poisoned && has_poison(address, bytes))) return false;
  v->load_bytes += bytes;
  if (st->in->class == CLASS_VMEM && st->in->sc1) return true;
  struct byte_set all = bytes_of(at, half);
  if (bytes > half) all = set_or(all, bytes_of(at + half, bytes - half));
  note_load(st, g, v, mark_of(r, address), address / LINE_BYTES, all);
  return true;
}

/* --- stores ------------------------------------------------------------------------------------------------------------------ */

static bool out_of_memory(struct view *v, uint64_t address, uint32_t bytes) {
  v->fault = (struct mem_fault){.kind = MEM_NO_MEMORY, .addr = address, .bytes = bytes, .write = true};
  return false;
}

/* The instruction's entry in the list of stores. */
static uint32_t event_of(struct strict *st, bool releases) {
  struct lines *l = &st->lines;
  if (st->event) return st->event;
  struct store_event *list = pool_with_room(l->event, l->event_count, &l->event_room, sizeof *list);
  if (!list) return 0;
  l->event = list;
  l->event[l->event_count] = (struct store_event){
      .group = st->wave->group->index, .inst = (uint32_t)(st->in - st->wave->program->inst), .wave = (uint8_t)st->wave->index};
  struct store_event *e = &l->event[l->event_count];
  e->time = st->time;
  e->through = releases;
  if (releases) e->release = order_release(&l->order, st->wave->strict, e->group, e->wave, st->time);
  return st->event = l->event_count++;
}

static uint32_t new_delayed(struct lines *l) {
  uint32_t at = l->delayed_free;
  if (at) {
    l->delayed_free = l->delayed[at].next_in_wave;
  } else {
    struct delayed *list = pool_with_room(l->delayed, l->delayed_count, &l->delayed_room, sizeof *list);
    if (!list) return 0;
    l->delayed = list;
    at = l->delayed_count++;
  }
  memset(&l->delayed[at], 0, offsetof(struct delayed, lane));
  l->delayed_live++;
  return at;
}

/* A new one at the end of the wave's list. */
static uint32_t add_delayed(struct strict *st, struct strict_group *g, struct strict_wave *sw) {
  struct lines *l = &st->lines;
  uint32_t at = new_delayed(l), event = event_of(st, st->in->sc1);
  if (!at || !event) return 0;
  struct delayed *d = &l->delayed[at];
  d->event = event;
  d->time = st->time;
  d->cu = (uint16_t)g->cu;
  d->xcd = (uint8_t)g->xcd;
  if (sw->last_store)
    l->delayed[sw->last_store].next_in_wave = at;
  else
    sw->first_store = at;
  sw->last_store = at;
  return at;
}

bool strict_store_fence(struct strict *st, struct strict_wave *sw) {
  uint32_t at = add_delayed(st, sw->group, sw);
  if (at) st->lines.delayed[at].fence = true;
  return at != 0;
}

static uint32_t delayed_for(struct strict *st, struct strict_group *g, uint32_t line) {
  struct lines *l = &st->lines;
  for (uint32_t i = st->openeds; i-- > 0;)
    if (l->delayed[st->opened[i]].line == line) return st->opened[i];
  uint32_t at = add_delayed(st, g, &g->wave[st->wave->index]);
  if (!at) return 0;
  l->delayed[at].line = line;
  l->delayed[at].through = st->in->sc1;
  uint32_t *end = &l->line[line].delayed;
  while (*end) end = &l->delayed[*end].next_on_line;
  *end = at;
  if (st->openeds < LANES_A_WAVE) st->opened[st->openeds++] = at;
  return at;
}

static void check_early(struct strict *st, const struct strict_group *g, const struct view *v, const struct line_mark *m, uint64_t address,
    struct byte_set bytes) {
  if (!m->time || m->group == g->slot->group.index || !set_any(set_and(m->loaded, bytes))) return;
  if (m->group >= st->lines.released_count || st->lines.released[m->group] >= m->time) return;
  struct hsa_emu_party other = strict_party_of(st, m->group, m->wave, m->lane, m->inst);
  strict_found(
      st, HSA_EMU_EARLY_LOAD, here(st, v), address, &other, "stores to 0x%" PRIx64 " what was loaded plainly before it, by", address);
}

static bool write_part(
    struct strict *st, struct strict_group *g, struct view *v, struct line_mark *m, uint64_t address, const uint8_t *data, uint32_t bytes) {
  uint32_t at = (uint32_t)(address % LINE_BYTES);
  struct byte_set mask = bytes_of(at, bytes);
  check_early(st, g, v, m, address, mask);
  uint32_t line = line_of(&st->lines, m, address), entry = line ? delayed_for(st, g, line) : 0;
  if (!entry) return false;
  struct delayed *d = &st->lines.delayed[entry];
  memcpy(d->data + at, data, bytes);
  d->mask = set_or(d->mask, mask);
  for (uint32_t i = at / 4; i <= (at + bytes - 1) / 4; i++) d->lane[i] = v->lane;
  return true;
}

static void note_release(struct strict *st, const struct strict_group *g) {
  uint32_t group = g->slot->group.index;
  if (group < st->lines.released_count) st->lines.released[group] = st->time;
}

bool strict_write(struct view *v, uint64_t address, const void *data, uint32_t bytes) {
  struct strict_group *g = v->strict;
  struct strict *st = g->strict;
  const struct region *r = region_of(&st->lines, v, address, bytes, true);
  const uint8_t *from = data;
  if (!r) return v->fault.kind != MEM_GOOD ? false : out_of_memory(v, address, bytes);
  if (st->in->sc1) note_release(st, g);
  while (bytes) {
    uint32_t left = LINE_BYTES - (uint32_t)(address % LINE_BYTES), n = left < bytes ? left : bytes;
    if (!write_part(st, g, v, mark_of(r, address), address, from, n)) return out_of_memory(v, address, bytes);
    address += n;
    from += n;
    bytes -= n;
  }
  return true;
}

/* --- atomics ------------------------------------------------------------------------------------------------------------------- */

/* At the device's point of coherence: what this CU has stored to the line, and what its L2 has dirty of it, come first. */
static bool gather(struct strict *st, struct strict_group *g, uint32_t line_index) {
  struct lines *l = &st->lines;
  for (uint32_t i = l->line[line_index].delayed, next; i; i = next) {
    next = l->delayed[i].next_on_line;
    if (l->delayed[i].cu != g->cu) continue;
    store_perform(l, i);
    next = l->line[line_index].delayed;
  }
  for (uint32_t i = l->line[line_index].copies; i; i = l->copy[i].next_on_line)
    if (l->copy[i].owner == g->xcd) return cache_write_back(l, i);
  return true;
}

bool strict_exchange(struct view *v, struct atomic *a, uint32_t lane) {
  struct strict_group *g = v->strict;
  struct strict *st = g->strict;
  uint64_t address = a->addr[lane], old = 0;
  uint32_t at = (uint32_t)(address % LINE_BYTES), event = event_of(st, true);
  const struct region *r = region_of(&st->lines, v, address, a->bytes, true);
  v->lane = (uint8_t)lane;
  if (!r || !event) return out_of_memory(v, address, a->bytes);
  if (r->device_alone && st->in->sc1)
    strict_found(st, HSA_EMU_ATOMIC_SCOPE, here(st, v), address, NULL,
        "is of system scope (sc1) at 0x%" PRIx64 ", memory of the device alone: an atomic of device scope has no sc1", address);
  struct line_mark *m = mark_of(r, address);
  check_early(st, g, v, m, address, bytes_of(at, a->bytes));
  uint32_t index = line_of(&st->lines, m, address);
  if (!index || !gather(st, g, index)) return out_of_memory(v, address, a->bytes);
  struct line *line = &st->lines.line[index];
  if (line->event[at / 4])
    order_acquire(&st->lines.order, g->slot->group.index, &st->lines.event[line->event[at / 4]], line->event[at / 4]);
  memcpy(&old, (const void *)(uintptr_t)address, a->bytes);
  uint64_t next = a->fn(old, a->data[lane], a->compare[lane]);
  uint8_t data[LINE_BYTES] = {0};
  memcpy(data + at, &next, a->bytes);
  a->old[lane] = old;
  note_release(st, g);
  if (!cache_store(&st->lines, line, g->cu, g->xcd, bytes_of(at, a->bytes), data, true)) return out_of_memory(v, address, a->bytes);
  for (uint32_t i = at / 4; i <= (at + a->bytes - 1) / 4; i++) {
    line->event[i] = event;
    line->lane[i] = (uint8_t)lane;
  }
  return true;
}

void strict_out_of_range(struct wave *w, const struct inst *in, uint32_t lane, uint64_t address, uint64_t offset, uint64_t size) {
  struct strict *st = w->strict->group->strict;
  struct hsa_emu_party at = strict_party(st, w, in, in->class == CLASS_SMEM ? LANE_NONE : lane);
  bool lds = in->class == CLASS_LDS || st->inst[in - w->program->inst].kind == KIND_LOAD_LDS;
  if (address)
    strict_found(st, HSA_EMU_OUT_OF_RANGE, at, address, NULL, "is at byte %" PRIu64 " of %" PRIu64 ", 0x%" PRIx64, offset, size, address);
  else
    strict_found(st, HSA_EMU_OUT_OF_RANGE, at, offset, NULL, "is at byte %" PRIu64 " of %" PRIu64 " bytes of %s", offset, size,
        lds                       ? "LDS"
        : in->space == SPACE_FLAT ? "LDS or scratch memory"
                                  : "scratch memory");
}
