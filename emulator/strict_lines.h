/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in strict mode: lines of 128 bytes, the stores that are issued but not yet visible, and what caches hold that memory does not.
   A line that no one stores to costs a mark: its content is memory's. Copies are made when memory (or an L2) changes under a cache. */
#ifndef EMULATOR_STRICT_LINES_H
#define EMULATOR_STRICT_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "memory.h"
#include "strict_order.h"

enum { LINE_BYTES = 128, LINE_DWORDS = 32, L1_SETS = 256, STRICT_XCDS = 8, REGION_SLOTS = 64 };

/* A set of a line's bytes. */
struct byte_set {
  uint64_t w[2];
};

/* Of every line of an allocation that is touched; one line of the host's caches. */
struct line_mark {
  uint32_t line;               /* in lines.line; 0: no one has stored to it */
  uint16_t epoch[STRICT_XCDS]; /* the L2 that holds it, if this is the L2's epoch */
  struct byte_set loaded;      /* plainly, in this launch */
  uint32_t group, inst, time;  /* by whom last */
  uint8_t wave, lane;
} __attribute__((aligned(64)));

/* An allocation. */
struct region {
  uint64_t base, bytes;
  struct line_mark *mark;
  uint64_t mark_bytes;
  bool poisoned, device_alone;
};

struct delayed {
  uint32_t next_in_wave, next_on_line;
  uint32_t line, event, time;
  struct byte_set mask;
  uint16_t cu;
  uint8_t xcd;
  bool through; /* to memory; else into the L2 */
  bool fence;   /* no store but a write-back: what is before it comes first */
  bool done;
  uint8_t lane[LINE_DWORDS];
  uint8_t data[LINE_BYTES];
};

/* What a cache holds of a line: an XCD's L2 (0..7), or a CU's L1 (STRICT_XCDS + cu). */
struct copy {
  uint32_t next_on_line, next_of_owner, before_of_owner, line;
  uint16_t owner;
  bool used;
  struct byte_set valid, dirty, stale;
  uint8_t data[LINE_BYTES];
};

struct line {
  uint64_t number; /* address / LINE_BYTES */
  struct line_mark *mark;
  uint32_t delayed, copies;    /* lists */
  uint32_t event[LINE_DWORDS]; /* the last store that was performed */
  uint8_t lane[LINE_DWORDS];
};

/* A store instruction. */
struct store_event {
  uint32_t group, inst, time;
  uint32_t release; /* strict_order.h */
  bool through;
  uint8_t wave;
};

struct lines {
  struct memory *memory;
  uint32_t cus, cus_an_xcd;
  bool probed;
  bool changed; /* memory is not what it was; the launch clears it */
  struct region *region;
  uint32_t regions, region_room;
  uint32_t region_slot[REGION_SLOTS]; /* by address: index + 1 */
  /* Pools; index 0 is none. */
  struct line *line;
  uint32_t line_count, line_room;
  struct delayed *delayed;
  uint32_t delayed_count, delayed_room, delayed_free, delayed_live;
  struct copy *copy;
  uint32_t copy_count, copy_room, copy_free;
  struct store_event *event;
  uint32_t event_count, event_room;
  uint32_t *owner;    /* by owner: its copies */
  uint16_t *l1_epoch; /* by CU */
  uint64_t *l1;       /* [set][cu]: line number << 16 | epoch */
  uint16_t l2_epoch[STRICT_XCDS];
  uint32_t *released; /* by workgroup: time of its last release; NULL: not kept */
  uint64_t released_count;
  struct order order;
  uint32_t orphans, last_orphan; /* delayed stores of waves that have ended */
};

struct strict;
struct strict_wave;

bool lines_init(struct lines *l, struct memory *memory, uint32_t cus, uint32_t cus_an_xcd, bool probed, uint64_t workgroups);
void lines_free(struct lines *l);
/* Allocations may have come and gone: between rounds. */
void lines_forget_addresses(struct lines *l);

/* A pool that has room for one more: `pool`, or where it has moved to. NULL: host memory is short, and all is as it was. */
static inline void *pool_with_room(void *pool, uint32_t count, uint32_t *room, size_t size) {
  if (count < *room) return pool;
  void *grown = realloc(pool, 2 * (size_t)*room * size);
  if (grown) *room *= 2;
  return grown;
}

/* The line of an address, made if need be; 0: host memory is short. The mark is of a region that is known. */
uint32_t line_of(struct lines *l, struct line_mark *mark, uint64_t address);
struct region *region_of(struct lines *l, struct view *v, uint64_t address, uint32_t bytes, bool write);
static inline struct line_mark *mark_of(const struct region *r, uint64_t address) {
  return &r->mark[address / LINE_BYTES - r->base / LINE_BYTES];
}

/* strict_cache.c: what a cache holds. */
struct copy *copy_of(struct lines *l, const struct line *line, uint32_t owner);
bool l2_holds(const struct lines *l, const struct line_mark *m, uint32_t xcd);
bool l1_holds(const struct lines *l, uint64_t number, uint32_t cu);
void l1_put(struct lines *l, uint64_t number, uint32_t cu);
void cache_drop(struct lines *l, uint32_t copy);       /* clean bytes are lost */
bool cache_write_back(struct lines *l, uint32_t copy); /* dirty bytes go to memory */
void cache_invalidate(struct lines *l, uint32_t cu, uint32_t xcd, bool l2);
bool cache_write_back_all(struct lines *l, uint32_t xcd);
/* Bytes reach the L2 (or, `through`, memory) from a CU. False: host memory is short. */
bool cache_store(struct lines *l, struct line *line, uint32_t cu, uint32_t xcd, struct byte_set mask, const uint8_t *data, bool through);

/* strict_store.c: stores on their way. */
void store_perform(struct lines *l, uint32_t delayed);
/* All of the wave's stores issued up to `time`. */
void stores_complete(struct lines *l, struct strict_wave *sw, uint32_t time);
/* The wave issues a write-back of its L2. False: host memory is short. */
bool strict_store_fence(struct strict *st, struct strict_wave *sw);
void stores_orphan(struct lines *l, struct strict_wave *sw);
/* Some random ones of a wave, or of those that ended. */
void stores_drain(struct strict *st, uint32_t *first, uint32_t *last);

/* n <= 64 of them from `at` on. */
static inline struct byte_set bytes_of(uint32_t at, uint32_t n) {
  uint64_t ones = UINT64_MAX >> (64 - n);
  if (at >= 64) return (struct byte_set){{0, ones << (at - 64)}};
  return (struct byte_set){{ones << at, at ? ones >> (64 - at) : 0}};
}
static inline struct byte_set set_and(struct byte_set a, struct byte_set b) {
  return (struct byte_set){{a.w[0] & b.w[0], a.w[1] & b.w[1]}};
}
static inline struct byte_set set_or(struct byte_set a, struct byte_set b) { return (struct byte_set){{a.w[0] | b.w[0], a.w[1] | b.w[1]}}; }
static inline struct byte_set set_less(struct byte_set a, struct byte_set b) {
  return (struct byte_set){{a.w[0] & ~b.w[0], a.w[1] & ~b.w[1]}};
}
static inline bool set_any(struct byte_set a) { return a.w[0] | a.w[1]; }
static inline bool set_has(const struct byte_set *a, uint32_t i) { return a->w[i >> 6] >> (i & 63) & 1; }
static inline uint32_t set_first(struct byte_set a) {
  return a.w[0] ? (uint32_t)__builtin_ctzll(a.w[0]) : 64 + (uint32_t)__builtin_ctzll(a.w[1]);
}
static inline struct byte_set set_all(void) { return (struct byte_set){{UINT64_MAX, UINT64_MAX}}; }

#endif
