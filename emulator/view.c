/* SPDX-License-Identifier: Apache-2.0 */
/* A workgroup's view of memory: committed bytes, its own stores of this quantum in 64-byte lines, and its atomics in a list. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "strict_access.h"
#include "traffic.h"

/* NEAR: an access so many bytes behind an allocation is said to be past its end. */
enum { LINE = 64, FIRST_SLOT_BITS = 8, NEAR = 1 << 20 };

bool view_init(struct view *v, struct memory *memory) {
  *v = (struct view){.memory = memory, .slot_bits = FIRST_SLOT_BITS};
  v->slots = calloc((size_t)1 << v->slot_bits, sizeof *v->slots);
  return v->slots != NULL;
}

void view_free(struct view *v) {
  free(v->lines);
  free(v->slots);
  free(v->atomics);
  traffic_log_free(v->log);
  *v = (struct view){0};
}

static void forget_stores(struct view *v) {
  if (!v->line_count) return;
  memset(v->slots, 0, ((size_t)1 << v->slot_bits) * sizeof *v->slots);
  memset(v->filter, 0, sizeof v->filter);
  v->line_count = 0;
}

void view_begin(struct view *v, uint32_t workgroup) {
  forget_stores(v);
  v->atomic_count = 0;
  v->fault = (struct mem_fault){0};
  v->hit = (struct allocation){0};
  v->workgroup = workgroup;
  v->load_bytes = v->store_bytes = v->atomic_lanes = 0;
}

void view_begin_quantum(struct view *v) { v->hit = (struct allocation){0}; }

static bool fault(struct view *v, enum mem_fault_kind kind, uint64_t addr, uint32_t bytes, bool write) {
  v->fault = (struct mem_fault){.kind = kind, .addr = addr, .bytes = bytes, .write = write};
  return false;
}

static bool unmapped(struct view *v, uint64_t addr, uint32_t bytes, bool write) {
  fault(v, MEM_UNMAPPED, addr, bytes, write);
  const struct allocation *a = memory_below_locked(v->memory, addr);
  if (a) {
    v->fault.below_base = a->base;
    v->fault.below_end = a->base + a->bytes;
  }
  return false;
}

bool view_reach(struct view *v, uint64_t addr, uint32_t bytes, bool write) {
  if (addr - v->hit.base >= v->hit.bytes) {
    const struct allocation *a = memory_find_locked(v->memory, addr);
    if (!a) return unmapped(v, addr, bytes, write);
    v->hit = *a;
  }
  if (bytes > v->hit.bytes - (addr - v->hit.base)) return unmapped(v, addr, bytes, write);
  if (write && v->hit.read_only) return fault(v, MEM_READ_ONLY, addr, bytes, write);
  return true;
}

bool view_holds(struct view *v, uint64_t low, uint64_t end) {
  if (v->strict || end <= low) return false;
  if (low - v->hit.base >= v->hit.bytes) {
    const struct allocation *a = memory_find_locked(v->memory, low);
    if (!a) return false;
    v->hit = *a;
  }
  return end - v->hit.base <= v->hit.bytes;
}

/* The slot of a line: its own, or the free one where it would go. */
static uint32_t *slot_of(const struct view *v, uint64_t line) {
  uint32_t mask = ((uint32_t)1 << v->slot_bits) - 1;
  uint32_t at = (uint32_t)(store_line_hash(line) >> 20) & mask;
  while (v->slots[at] && v->lines[v->slots[at] - 1].line != line) at = (at + 1) & mask;
  return &v->slots[at];
}

static const struct store_line *find_line(const struct view *v, uint64_t line) {
  if (!v->line_count || !store_filter_hit(v, line)) return NULL;
  uint32_t at = *slot_of(v, line);
  return at ? &v->lines[at - 1] : NULL;
}

static bool grow_slots(struct view *v) {
  uint32_t bits = v->slot_bits + 1;
  uint32_t *slots = calloc((size_t)1 << bits, sizeof *slots);
  if (!slots) return false;
  free(v->slots);
  v->slots = slots;
  v->slot_bits = bits;
  for (uint32_t i = 0; i < v->line_count; i++) *slot_of(v, v->lines[i].line) = i + 1;
  return true;
}

/* The line, made if there is none yet; NULL: no memory. */
static struct store_line *make_line(struct view *v, uint64_t line) {
  uint32_t *slot = slot_of(v, line);
  if (*slot) return &v->lines[*slot - 1];
  if (v->line_count == v->line_capacity) {
    uint32_t capacity = v->line_capacity ? 2 * v->line_capacity : 64;
    struct store_line *lines = realloc(v->lines, capacity * sizeof *lines);
    if (!lines) return NULL;
    v->lines = lines;
    v->line_capacity = capacity;
  }
  struct store_line *l = &v->lines[v->line_count++];
  l->line = line;
  l->mask = 0;
  *slot = v->line_count;
  uint64_t h = store_line_hash(line) >> 52;
  v->filter[h >> 6] |= (uint64_t)1 << (h & 63);
  if (2 * v->line_count > (uint32_t)1 << v->slot_bits && !grow_slots(v)) return NULL;
  return l;
}

static uint64_t byte_mask(uint32_t first, uint32_t count) { return (count == LINE ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1) << first; }

/* Lays the workgroup's own stores over `out`, which holds the committed bytes. */
static void overlay(const struct view *v, uint64_t addr, uint32_t bytes, uint8_t *out) {
  while (bytes) {
    uint32_t at = (uint32_t)(addr % LINE), n = LINE - at < bytes ? LINE - at : bytes;
    const struct store_line *l = find_line(v, addr / LINE);
    if (l) {
      uint64_t mask = l->mask & byte_mask(at, n);
      for (; mask; mask &= mask - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(mask);
        out[i - at] = l->data[i];
      }
    }
    addr += n;
    out += n;
    bytes -= n;
  }
}

bool view_count(struct view *v, uint64_t addr, uint32_t bytes) {
  if (!v->hit.ranges || !v->log) return true;
  for (uint32_t i = 0; i < v->hit.range_count; i++) {
    const struct traffic_range *r = v->hit.ranges[i];
    if (addr < r->base + r->bytes && r->base < addr + bytes && !traffic_note(v->log, r, addr, bytes))
      return fault(v, MEM_NO_MEMORY, addr, bytes, false);
  }
  return true;
}

/* In strict mode v->hit is not kept, but for the ranges. */
static const void *read_strict(struct view *v, uint64_t addr, uint32_t bytes, void *temp) {
  const void *from = strict_read(v, addr, bytes, temp);
  if (from && !view_count(v, addr, bytes)) from = NULL;
  if (!from && v->fault.kind == MEM_GOOD) fault(v, MEM_NO_MEMORY, addr, bytes, false);
  return from;
}

const void *view_read_slow(struct view *v, uint64_t addr, uint32_t bytes, void *temp) {
  if (v->strict) return read_strict(v, addr, bytes, temp);
  if (!view_reach(v, addr, bytes, false)) return NULL;
  if (!view_count(v, addr, bytes)) return NULL;
  const void *committed = (const void *)(uintptr_t)addr;
  if (!find_line(v, addr / LINE) && !find_line(v, (addr + bytes - 1) / LINE)) return committed;
  memcpy(temp, committed, bytes);
  overlay(v, addr, bytes, temp);
  return temp;
}

bool view_write(struct view *v, uint64_t addr, const void *data, uint32_t bytes) {
  v->store_bytes += bytes;
  if (v->strict) return strict_write(v, addr, data, bytes);
  if (!view_reach(v, addr, bytes, true)) return false;
  const uint8_t *from = data;
  while (bytes) {
    uint32_t at = (uint32_t)(addr % LINE), n = LINE - at < bytes ? LINE - at : bytes;
    struct store_line *l = make_line(v, addr / LINE);
    if (!l) return fault(v, MEM_NO_MEMORY, addr, bytes, true);
    memcpy(l->data + at, from, n);
    l->mask |= byte_mask(at, n);
    addr += n;
    from += n;
    bytes -= n;
  }
  return true;
}

struct atomic *view_atomic(struct view *v) {
  if (v->atomic_count == v->atomic_capacity) {
    uint32_t capacity = v->atomic_capacity ? 2 * v->atomic_capacity : 4;
    struct atomic *grown = realloc(v->atomics, capacity * sizeof *grown);
    if (!grown) {
      fault(v, MEM_NO_MEMORY, 0, 0, true);
      return NULL;
    }
    v->atomics = grown;
    v->atomic_capacity = capacity;
  }
  struct atomic *a = &v->atomics[v->atomic_count++];
  a->wave = NULL;
  a->fn = NULL;
  a->bytes = 0;
  a->returns = false;
  a->dst = 0;
  a->lanes = 0;
  return a;
}

/* Bytes of the line to memory; true if any of them was another before. */
static bool commit_line(const struct store_line *l) {
  uint8_t *to = (uint8_t *)(uintptr_t)(l->line * LINE);
  if (l->mask == ~(uint64_t)0) {
    if (!memcmp(to, l->data, LINE)) return false;
    memcpy(to, l->data, LINE);
    return true;
  }
  bool changed = false;
  for (uint64_t mask = l->mask; mask; mask &= mask - 1) {
    int i = __builtin_ctzll(mask);
    changed |= to[i] != l->data[i];
    to[i] = l->data[i];
  }
  return changed;
}

static bool commit_atomic(struct view *v, struct atomic *a, bool *changed) {
  for (uint64_t lanes = a->lanes; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctzll(lanes);
    uint64_t addr = a->addr[lane], old = 0;
    if (!view_reach(v, addr, a->bytes, true)) return false;
    if (addr % a->bytes) return fault(v, MEM_UNALIGNED, addr, a->bytes, true);
    if (v->strict) {
      if (!strict_exchange(v, a, (uint32_t)lane)) return false;
      v->atomic_lanes++;
      continue;
    }
    memcpy(&old, (const void *)(uintptr_t)addr, a->bytes);
    uint64_t next = a->fn(old, a->data[lane], a->compare[lane]);
    a->old[lane] = old;
    *changed |= memcmp(&old, &next, a->bytes) != 0;
    memcpy((void *)(uintptr_t)addr, &next, a->bytes);
    v->atomic_lanes++;
  }
  return true;
}

bool view_commit(struct view *v, void (*done)(struct wave *, const struct atomic *), const struct atomic **bad, bool *changed) {
  for (uint32_t i = 0; i < v->line_count; i++) *changed |= commit_line(&v->lines[i]);
  forget_stores(v);
  for (uint32_t i = 0; i < v->atomic_count; i++) {
    if (!commit_atomic(v, &v->atomics[i], changed)) {
      *bad = &v->atomics[i];
      return false;
    }
    done(v->atomics[i].wave, &v->atomics[i]);
  }
  v->atomic_count = 0;
  return true;
}

void view_fault_text(const struct view *v, char *out, size_t size) {
  const struct mem_fault *f = &v->fault;
  const char *verb = f->write ? "stores" : "loads";
  switch (f->kind) {
  case MEM_UNMAPPED:
    if (f->addr < f->below_end)
      snprintf(out, size, "%s %u bytes at 0x%" PRIx64 ", past the end 0x%" PRIx64 " of the allocation 0x%" PRIx64, verb, f->bytes, f->addr,
          f->below_end, f->below_base);
    else if (f->below_end && f->addr - f->below_end < NEAR)
      snprintf(out, size,
          "%s %u bytes at 0x%" PRIx64 ", which no allocation holds (%" PRIu64 " bytes past the end of that at 0x%" PRIx64 ")", verb,
          f->bytes, f->addr, f->addr - f->below_end, f->below_base);
    else
      snprintf(out, size, "%s %u bytes at 0x%" PRIx64 ", which no allocation holds", verb, f->bytes, f->addr);
    break;
  case MEM_READ_ONLY:
    snprintf(out, size, "%s %u bytes at 0x%" PRIx64 ", which is read-only (code)", verb, f->bytes, f->addr);
    break;
  case MEM_UNALIGNED:
    snprintf(out, size, "is an atomic of %u bytes at 0x%" PRIx64 ", which is not aligned", f->bytes, f->addr);
    break;
  case MEM_NO_MEMORY:
    snprintf(out, size, "could not be executed: the host is out of memory");
    break;
  case MEM_GOOD:
    snprintf(out, size, "made no fault");
    break;
  }
}
