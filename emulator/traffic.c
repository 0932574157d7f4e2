/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic by address range: a bit a dword in a workgroup's log, in chunks that exist where it has loaded, then a count a dword. */
#include "traffic.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CHUNK_WORDS = 64, CHUNK_DWORDS = CHUNK_WORDS * 64 };

struct log_chunk {
  uint32_t range, index;
  uint64_t bits[CHUNK_WORDS];
};

struct traffic_log {
  uint32_t ranges;
  uint64_t *lane_bytes; /* by range */
  uint32_t **chunk_of;  /* by range, by chunk: index into chunk + 1, 0: none yet; the row is made when it is needed */
  uint32_t *rows;       /* by range: chunks in its row */
  struct log_chunk *chunk;
  uint32_t chunks, capacity;
};

static uint64_t dwords(const struct traffic_range *r) { return (r->bytes + 3) / 4; }

static uint64_t chunk_count(const struct traffic_range *r) { return (dwords(r) + CHUNK_DWORDS - 1) / CHUNK_DWORDS; }

/* Dwords of a chunk: the last one may be short. */
static uint64_t chunk_dwords(const struct traffic_range *r, uint64_t chunk) {
  uint64_t left = dwords(r) - chunk * CHUNK_DWORDS;
  return left < CHUNK_DWORDS ? left : CHUNK_DWORDS;
}

static void free_range(struct traffic_range *r) {
  if (r->recent) munmap(r->recent, dwords(r) * sizeof *r->recent);
  if (r->earlier) munmap(r->earlier, dwords(r) * sizeof *r->earlier);
  free(r->chunk);
  free(r);
}

static bool overlaps(const struct traffic_range *r, uint64_t base, uint64_t bytes) {
  return base < r->base + r->bytes && r->base < base + bytes;
}

/* Tells `memory` which of the ranges lie in the allocation: an array that the traffic struct keeps behind its own. */
static bool attach(struct traffic *t, struct memory *memory, const struct allocation *a) {
  struct traffic_range **in = calloc(t->count, sizeof(struct traffic_range *));
  if (!in) return false;
  uint32_t count = 0;
  for (uint32_t i = 0; i < t->count; i++)
    if (t->range[i]->base && overlaps(t->range[i], a->base, a->bytes)) in[count++] = t->range[i];
  free((void *)(uintptr_t)a->ranges);
  return memory_set_ranges(memory, a->base, in, count);
}

enum traffic_status traffic_add(struct traffic *t, struct memory *memory, uint64_t base, uint64_t bytes, uint32_t *number) {
  struct allocation a;
  if (!bytes || base % 4 || !memory_find(memory, base, &a) || bytes > a.bytes - (base - a.base)) return TRAFFIC_BAD_RANGE;
  for (uint32_t i = 0; i < t->count; i++)
    if (t->range[i]->base && overlaps(t->range[i], base, bytes)) return TRAFFIC_BAD_RANGE;
  struct traffic_range **grown = realloc(t->range, (t->count + 1) * sizeof(struct traffic_range *));
  if (!grown) return TRAFFIC_NO_MEMORY;
  t->range = grown;
  struct traffic_range *r = calloc(1, sizeof *r);
  if (!r) return TRAFFIC_NO_MEMORY;
  *r = (struct traffic_range){.base = base, .bytes = bytes, .number = t->count};
  r->recent = memory_zeros(dwords(r) * sizeof *r->recent);
  r->earlier = memory_zeros(dwords(r) * sizeof *r->earlier);
  r->chunk = calloc(chunk_count(r), sizeof *r->chunk);
  t->range[t->count++] = r;
  if (!r->recent || !r->earlier || !r->chunk || !attach(t, memory, &a)) {
    t->count--;
    free_range(r);
    return TRAFFIC_NO_MEMORY;
  }
  *number = r->number;
  return TRAFFIC_GOOD;
}

static void detach(struct memory *memory, const struct allocation *a) {
  if (!a->ranges) return;
  memory_set_ranges(memory, a->base, NULL, 0);
  free((void *)(uintptr_t)a->ranges);
}

void traffic_clear(struct traffic *t, struct memory *memory) {
  for (uint32_t i = 0; i < t->count; i++) {
    struct allocation a;
    if (t->range[i]->base && memory_find(memory, t->range[i]->base, &a)) detach(memory, &a);
  }
  for (uint32_t i = 0; i < t->count; i++) free_range(t->range[i]);
  free(t->range);
  *t = (struct traffic){0};
}

void traffic_forget(struct traffic *t, struct memory *memory, uint64_t base) {
  struct allocation a;
  if (!memory_find(memory, base, &a)) return;
  for (uint32_t i = 0; i < t->count; i++)
    if (t->range[i]->base && overlaps(t->range[i], a.base, a.bytes)) t->range[i]->base = 0;
  detach(memory, &a);
}

void traffic_reset(struct traffic *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    struct traffic_range *r = t->range[i];
    r->lane_bytes = 0;
    for (uint64_t c = 0; c < chunk_count(r); c++) {
      uint64_t first = c * CHUNK_DWORDS, count = chunk_dwords(r, c);
      if (r->chunk[c].touched) memset(r->recent + first, 0, count * sizeof *r->recent);
      if (r->chunk[c].spilled) memset(r->earlier + first, 0, count * sizeof *r->earlier);
      r->chunk[c] = (struct traffic_chunk){0};
    }
  }
}

static uint32_t fetches(const struct traffic_range *r, uint64_t dword) { return r->earlier[dword] + r->recent[dword]; }

/* `count` dwords, the range's last of which may be short, loaded by n workgroups each. */
static void add_figures(const struct traffic_range *r, uint64_t first, uint64_t count, uint32_t n, struct hsa_emu_traffic *out) {
  uint64_t end = 4 * (first + count), bytes = (end < r->bytes ? end : r->bytes) - 4 * first;
  out->unique_bytes += n ? bytes : 0;
  out->fetched_bytes += bytes * n;
  if (n < out->min_fetches) out->min_fetches = n;
  if (n > out->max_fetches) out->max_fetches = n;
}

/* Whether all dwords of a chunk, of which there is at least one, have the first one's count. */
static bool is_even(const struct traffic_range *r, uint64_t c) {
  const uint8_t *n = r->recent + c * CHUNK_DWORDS;
  return !r->chunk[c].spilled && memcmp(n, n + 1, chunk_dwords(r, c) - 1) == 0;
}

bool traffic_read(const struct traffic *t, uint32_t number, struct hsa_emu_traffic *out) {
  if (number >= t->count) return false;
  const struct traffic_range *r = t->range[number];
  *out = (struct hsa_emu_traffic){.bytes = r->bytes, .lane_bytes = r->lane_bytes, .min_fetches = UINT32_MAX};
  for (uint64_t c = 0; c < chunk_count(r); c++) {
    uint64_t first = c * CHUNK_DWORDS, count = chunk_dwords(r, c);
    if (!r->chunk[c].touched)
      out->min_fetches = 0;
    else if (is_even(r, c))
      add_figures(r, first, count, r->recent[first], out);
    else
      for (uint64_t i = first; i < first + count; i++) add_figures(r, i, 1, fetches(r, i), out);
  }
  return true;
}

bool traffic_fetches(const struct traffic *t, uint32_t number, uint64_t first, uint64_t count, uint32_t *out) {
  if (number >= t->count) return false;
  const struct traffic_range *r = t->range[number];
  if (first > dwords(r) || count > dwords(r) - first) return false;
  for (uint64_t i = 0; i < count; i++) out[i] = fetches(r, first + i);
  return true;
}

struct traffic_log *traffic_log_create(const struct traffic *t) {
  struct traffic_log *log = calloc(1, sizeof *log);
  if (!log) return NULL;
  log->ranges = t->count;
  log->lane_bytes = calloc(t->count, sizeof *log->lane_bytes);
  log->chunk_of = calloc(t->count, sizeof *log->chunk_of);
  log->rows = calloc(t->count, sizeof *log->rows);
  if (log->lane_bytes && log->chunk_of && log->rows) return log;
  traffic_log_free(log);
  return NULL;
}

void traffic_log_free(struct traffic_log *log) {
  if (!log) return;
  for (uint32_t i = 0; log->chunk_of && i < log->ranges; i++) free(log->chunk_of[i]);
  free(log->chunk_of);
  free(log->rows);
  free(log->lane_bytes);
  free(log->chunk);
  free(log);
}

static struct log_chunk *new_chunk(struct traffic_log *log, uint32_t range, uint32_t index) {
  if (log->chunks == log->capacity) {
    uint32_t capacity = log->capacity ? 2 * log->capacity : 16;
    struct log_chunk *grown = realloc(log->chunk, capacity * sizeof *grown);
    if (!grown) return NULL;
    log->chunk = grown;
    log->capacity = capacity;
  }
  struct log_chunk *c = &log->chunk[log->chunks++];
  memset(c, 0, sizeof *c);
  c->range = range;
  c->index = index;
  log->chunk_of[range][index] = log->chunks;
  return c;
}

/* The chunk of a dword; NULL: no memory. */
static struct log_chunk *chunk_at(struct traffic_log *log, const struct traffic_range *range, uint64_t dword) {
  uint32_t n = range->number, index = (uint32_t)(dword / CHUNK_DWORDS);
  if (!log->chunk_of[n]) {
    uint64_t row = dwords(range) / CHUNK_DWORDS + 1;
    log->chunk_of[n] = calloc(row, sizeof **log->chunk_of);
    if (!log->chunk_of[n]) return NULL;
    log->rows[n] = (uint32_t)row;
  }
  uint32_t at = log->chunk_of[n][index];
  return at ? &log->chunk[at - 1] : new_chunk(log, n, index);
}

bool traffic_note(struct traffic_log *log, const struct traffic_range *range, uint64_t addr, uint32_t bytes) {
  uint64_t first = addr < range->base ? 0 : addr - range->base, end = addr + bytes - range->base;
  if (end > range->bytes) end = range->bytes;
  log->lane_bytes[range->number] += end - first;
  uint64_t last = (end - 1) / 4;
  for (uint64_t dword = first / 4; dword <= last;) {
    struct log_chunk *c = chunk_at(log, range, dword);
    if (!c) return false;
    uint64_t bit = dword % 64, n = last - dword + 1;
    if (n > 64 - bit) n = 64 - bit;
    c->bits[dword % CHUNK_DWORDS / 64] |= (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << bit;
    dword += n;
  }
  return true;
}

/* Before a count of the chunk could leave 8 bits. */
static void spill(struct traffic_range *r, uint64_t c) {
  uint64_t first = c * CHUNK_DWORDS, count = chunk_dwords(r, c);
  for (uint64_t i = first; i < first + count; i++) r->earlier[i] += r->recent[i];
  memset(r->recent + first, 0, count * sizeof *r->recent);
  r->chunk[c].spilled = true;
  r->chunk[c].merged = 0;
}

static void merge_word(uint8_t *recent, uint64_t bits) {
  if (bits == ~(uint64_t)0) {
    for (int i = 0; i < 64; i++) recent[i]++;
    return;
  }
  for (; bits; bits &= bits - 1) recent[__builtin_ctzll(bits)]++;
}

static void merge_chunk(struct traffic_range *r, const struct log_chunk *c) {
  struct traffic_chunk *chunk = &r->chunk[c->index];
  uint8_t *recent = r->recent + (uint64_t)c->index * CHUNK_DWORDS;
  if (chunk->merged == UINT8_MAX) spill(r, c->index);
  chunk->merged++;
  chunk->touched = true;
  for (int w = 0; w < CHUNK_WORDS; w++)
    if (c->bits[w]) merge_word(recent + 64 * w, c->bits[w]);
}

void traffic_merge(struct traffic *t, struct traffic_log *log) {
  for (uint32_t i = 0; i < log->chunks; i++) {
    const struct log_chunk *c = &log->chunk[i];
    merge_chunk(t->range[c->range], c);
    log->chunk_of[c->range][c->index] = 0;
  }
  log->chunks = 0;
  for (uint32_t i = 0; i < log->ranges; i++) {
    t->range[i]->lane_bytes += log->lane_bytes[i];
    log->lane_bytes[i] = 0;
  }
}
