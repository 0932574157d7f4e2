/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: the allocations, and one workgroup's view of them. A device address is the host address of the same byte.

   Within a quantum a workgroup reads committed memory plus its own stores; stores and atomics take effect at the quantum's end, in
   workgroup order (quantum.c). So nothing that a workgroup does within a quantum depends on another, or on the host's threads.

   Every access is checked against the allocation table. A bad one returns false or NULL and leaves the reason in view.fault; the
   caller ends the wave's execution there, and the dispatch ends with a report that names the instruction. */
#ifndef EMULATOR_MEMORY_H
#define EMULATOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wave;
struct traffic_range;
struct traffic_log;
struct strict_group; /* strict.h */

enum { MEMORY_ACCESS_MAX = 64 }; /* bytes of one access: an s_load_dwordx16 */

/* --- allocations ---------------------------------------------------------------------------------------------------------- */

struct allocation {
  uint64_t base, bytes;                /* exactly what was asked for */
  uint64_t map_base, map_bytes;        /* the host mapping around it, guard pages included; 0 bytes: not ours */
  uint32_t owner;                      /* whoever made it: pool number */
  bool read_only;                      /* code: a store is a fault */
  bool device_alone;                   /* coarse-grained memory of a GPU */
  bool poisoned;                       /* strict mode: what was never written holds memory_poison() */
  struct traffic_range *const *ranges; /* registered ranges that lie in it; NULL: no counting here */
  uint32_t range_count;
};

enum { POISON_MAX = 256 << 20 };

/* What 8 aligned bytes hold that no one ever wrote. */
static inline uint64_t memory_poison(uint64_t address) { return ((address >> 3) + 0x5bd1e995u) * 0xd6e8feb86659fd93u; }

/* All functions of struct memory are thread safe. */
struct memory;
struct memory *memory_create(void); /* NULL: out of host memory */
void memory_destroy(struct memory *m);

/* `bytes` of zeros (sparse: a page costs nothing until it is touched), aligned to 4096 and to `align` (a power of two). 0: the host
   refused it. The bytes behind the end are never another allocation's. */
uint64_t memory_allocate(struct memory *m, uint64_t bytes, uint64_t align, uint32_t owner);
/* The emulator's own memory: zeros that do not exist until they are touched, also if malloc fills what it gives; for munmap(). NULL: none.
 */
void *memory_zeros(uint64_t bytes);

/* The host's own bytes [base, base + bytes) as an allocation; freeing it leaves them alone. False: no memory, or part of another one. */
bool memory_adopt(struct memory *m, uint64_t base, uint64_t bytes, uint32_t owner);
bool memory_free(struct memory *m, uint64_t base); /* false: not the base of an allocation */
/* What kind of memory it is; `poison`: fills it with memory_poison(), unless it is larger than POISON_MAX. */
bool memory_describe(struct memory *m, uint64_t base, bool device_alone, bool poison);
bool memory_set_read_only(struct memory *m, uint64_t base);
bool memory_find(struct memory *m, uint64_t addr, struct allocation *out); /* the allocation that holds addr */
/* Counts loads of the allocation at `base` in these ranges (the caller's array) from now on; none: stops counting. */
bool memory_set_ranges(struct memory *m, uint64_t base, struct traffic_range *const *ranges, uint32_t count);

/* The allocation that holds addr, for a caller that has the read lock; NULL: none. */
const struct allocation *memory_find_locked(const struct memory *m, uint64_t addr);
/* ... the last one that starts at or below addr, whether it holds addr or not. */
const struct allocation *memory_below_locked(const struct memory *m, uint64_t addr);

/* Dispatches hold this while a quantum runs, so that an allocation is not freed under it. */
void memory_read_lock(struct memory *m);
void memory_read_unlock(struct memory *m);

/* --- a workgroup's view --------------------------------------------------------------------------------------------------- */

enum mem_fault_kind {
  MEM_GOOD,
  MEM_UNMAPPED,  /* not, or not wholly, in an allocation */
  MEM_READ_ONLY, /* a store to code */
  MEM_UNALIGNED, /* an atomic that is not naturally aligned */
  MEM_NO_MEMORY  /* the host is out of memory */
};

struct mem_fault {
  enum mem_fault_kind kind;
  uint64_t addr;
  uint32_t bytes;
  bool write;
  uint64_t below_base, below_end; /* MEM_UNMAPPED: the nearest allocation that starts at or below addr; 0: none */
};

/* old, operand, compare operand (cmpswap only) -> new; 4-byte atomics use the low halves. */
typedef uint64_t atomic_fn(uint64_t old, uint64_t data, uint64_t compare);

/* One atomic instruction of one wave. The wave does not execute on until the engine has called wave_atomic_done(): at the quantum's
   end the lanes of `lanes` are done in lane order and old[] is filled. */
struct atomic {
  struct wave *wave;
  atomic_fn *fn;
  uint32_t bytes; /* 4 or 8 */
  bool returns;   /* old[] goes to VGPRs from `dst` on */
  uint16_t dst;
  uint64_t lanes;
  uint64_t addr[64], data[64], compare[64];
  uint64_t old[64];
};

/* 64 bytes of a workgroup's stores of this quantum. */
struct store_line {
  uint64_t line; /* address / 64 */
  uint64_t mask; /* bit i: byte i was stored */
  uint8_t data[64];
};

enum { STORE_FILTER_WORDS = 64 };

struct view {
  struct memory *memory;
  struct allocation hit; /* the last allocation used; bytes 0 at first */
  struct mem_fault fault;
  uint32_t workgroup;

  struct store_line *lines; /* in order of their first store */
  uint32_t line_count, line_capacity;
  uint32_t *slots; /* open hash: index into lines + 1; 0: free */
  uint32_t slot_bits;
  uint64_t filter[STORE_FILTER_WORDS]; /* bit of a line's hash: clear means not stored to */

  struct atomic *atomics; /* in issue order */
  uint32_t atomic_count, atomic_capacity;

  struct traffic_log *log;     /* NULL: traffic is not counted */
  struct strict_group *strict; /* NULL: not in strict mode. Else `hit` stays empty, and every access goes through strict_access.h */
  uint8_t lane;                /* of the access: who makes it keeps it up to date */
  uint64_t load_bytes, store_bytes, atomic_lanes;
};

const void *view_read_slow(struct view *v, uint64_t addr, uint32_t bytes, void *temp);

static inline uint64_t store_line_hash(uint64_t line) { return line * 0x9e3779b97f4a7c15u; }

static inline bool store_filter_hit(const struct view *v, uint64_t line) {
  uint64_t h = store_line_hash(line) >> 52;
  return v->filter[h >> 6] >> (h & 63) & 1;
}

/* The bytes [addr, addr + bytes), bytes <= MEMORY_ACCESS_MAX, as this workgroup sees them: a pointer to committed memory, or to `temp`
   (room for `bytes`) with the workgroup's own stores merged in. Valid until the view's next store. Any alignment: memcpy from it.
   NULL: a fault. */
static inline const void *view_read(struct view *v, uint64_t addr, uint32_t bytes, void *temp) {
  uint64_t offset = addr - v->hit.base;
  v->load_bytes += bytes;
  if (__builtin_expect(offset < v->hit.bytes && bytes <= v->hit.bytes - offset && !v->hit.ranges, 1)) {
    uint64_t line = addr >> 6;
    if (!v->line_count) return (const void *)(uintptr_t)addr;
    if (!store_filter_hit(v, line) && !store_filter_hit(v, (addr + bytes - 1) >> 6)) return (const void *)(uintptr_t)addr;
  }
  return view_read_slow(v, addr, bytes, temp);
}

/* Whether [low, end) lies in one allocation whose loads no one checks (strict mode): then v->hit. No fault if not. Loads of it that do not
   go through view_read() are for view_count(). */
bool view_holds(struct view *v, uint64_t low, uint64_t end);
/* Counts a load in the ranges of v->hit. False: no host memory, a fault. */
bool view_count(struct view *v, uint64_t addr, uint32_t bytes);

/* Puts a store into the view's buffer. */
bool view_write(struct view *v, uint64_t addr, const void *data, uint32_t bytes);

/* Room for one more atomic of this quantum, zeroed but for the arrays: the caller fills it. NULL: out of host memory (fault set). */
struct atomic *view_atomic(struct view *v);

/* Makes v->hit the allocation that holds all of the access, or leaves a fault. */
bool view_reach(struct view *v, uint64_t addr, uint32_t bytes, bool write);

/* One sentence on v->fault: "loads 16 bytes at 0x..., which no allocation holds". */
void view_fault_text(const struct view *v, char *out, size_t size);

/* --- for the engine ------------------------------------------------------------------------------------------------------- */

bool view_init(struct view *v, struct memory *memory);
void view_free(struct view *v);
void view_begin(struct view *v, uint32_t workgroup); /* a new workgroup takes the view over: empty buffers */
void view_begin_quantum(struct view *v);             /* forgets the cached allocation */
/* Stores, then atomics, to memory; empties both. Calls `done` for each atomic. False: an atomic's address is bad: see fault, and
 *bad is the atomic. `changed` is set if anything was written. */
bool view_commit(struct view *v, void (*done)(struct wave *, const struct atomic *), const struct atomic **bad, bool *changed);

#endif
