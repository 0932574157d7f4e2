/* SPDX-License-Identifier: Apache-2.0 */
/* The table of allocations: sorted by address, each its own host mapping between guard pages. */
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

struct memory {
  pthread_rwlock_t lock;
  struct allocation *table; /* by base */
  uint32_t count, capacity;
};

struct memory *memory_create(void) {
  struct memory *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  pthread_rwlockattr_t attr;
  pthread_rwlockattr_init(&attr);
  /* A dispatch takes the lock again right after each quantum: without this a host thread that allocates would starve. */
  pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&m->lock, &attr);
  pthread_rwlockattr_destroy(&attr);
  return m;
}

static void unmap(const struct allocation *a) {
  if (a->map_bytes) munmap((void *)(uintptr_t)a->map_base, a->map_bytes);
}

void memory_destroy(struct memory *m) {
  if (!m) return;
  for (uint32_t i = 0; i < m->count; i++) unmap(&m->table[i]);
  free(m->table);
  pthread_rwlock_destroy(&m->lock);
  free(m);
}

void memory_read_lock(struct memory *m) { pthread_rwlock_rdlock(&m->lock); }
void memory_read_unlock(struct memory *m) { pthread_rwlock_unlock(&m->lock); }

/* Index of the first allocation whose base is above addr. */
static uint32_t upper(const struct memory *m, uint64_t addr) {
  uint32_t low = 0, high = m->count;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (m->table[mid].base <= addr)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static struct allocation *below(const struct memory *m, uint64_t addr) {
  uint32_t i = upper(m, addr);
  return i ? &m->table[i - 1] : NULL;
}

static struct allocation *find(const struct memory *m, uint64_t addr) {
  struct allocation *a = below(m, addr);
  return a && addr - a->base < a->bytes ? a : NULL;
}

const struct allocation *memory_find_locked(const struct memory *m, uint64_t addr) { return find(m, addr); }
const struct allocation *memory_below_locked(const struct memory *m, uint64_t addr) { return below(m, addr); }

static bool insert(struct memory *m, const struct allocation *a) {
  if (m->count == m->capacity) {
    uint32_t capacity = m->capacity ? 2 * m->capacity : 64;
    struct allocation *table = realloc(m->table, capacity * sizeof *table);
    if (!table) return false;
    m->table = table;
    m->capacity = capacity;
  }
  uint32_t at = upper(m, a->base);
  memmove(&m->table[at + 1], &m->table[at], (m->count - at) * sizeof *m->table);
  m->table[at] = *a;
  m->count++;
  return true;
}

uint64_t memory_allocate(struct memory *m, uint64_t bytes, uint64_t align, uint32_t owner) {
  if (align < PAGE) align = PAGE;
  if (!bytes || bytes > UINT64_MAX / 4 || align > (uint64_t)1 << 40 || align & (align - 1)) return 0;
  uint64_t map_bytes = ((bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1)) + align + PAGE;
  void *map = mmap(NULL, map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return 0;
  uint64_t map_base = (uint64_t)(uintptr_t)map;
  struct allocation a = {
      .base = (map_base + align) & ~(align - 1), .bytes = bytes, .map_base = map_base, .map_bytes = map_bytes, .owner = owner};
  if (mprotect((void *)(uintptr_t)a.base, bytes, PROT_READ | PROT_WRITE)) {
    munmap(map, map_bytes);
    return 0;
  }
  pthread_rwlock_wrlock(&m->lock);
  bool good = insert(m, &a);
  pthread_rwlock_unlock(&m->lock);
  if (!good) munmap(map, map_bytes);
  return good ? a.base : 0;
}

void *memory_zeros(uint64_t bytes) {
  void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return map == MAP_FAILED ? NULL : map;
}

bool memory_adopt(struct memory *m, uint64_t base, uint64_t bytes, uint32_t owner) {
  struct allocation a = {.base = base, .bytes = bytes, .owner = owner};
  if (!base || !bytes || base + bytes < base) return false;
  pthread_rwlock_wrlock(&m->lock);
  const struct allocation *last = below(m, base + bytes - 1);
  bool good = (!last || (last->base < base && base - last->base >= last->bytes)) && insert(m, &a);
  pthread_rwlock_unlock(&m->lock);
  return good;
}

bool memory_free(struct memory *m, uint64_t base) {
  pthread_rwlock_wrlock(&m->lock);
  struct allocation *a = find(m, base);
  bool good = a && a->base == base;
  if (good) {
    unmap(a);
    uint32_t at = (uint32_t)(a - m->table);
    memmove(a, a + 1, (m->count - at - 1) * sizeof *a);
    m->count--;
  }
  pthread_rwlock_unlock(&m->lock);
  return good;
}

/* Sparse memory would not stay so: the largest allocations are left as they are. */
bool memory_describe(struct memory *m, uint64_t base, bool device_alone, bool poison) {
  pthread_rwlock_wrlock(&m->lock);
  struct allocation *a = find(m, base);
  if (a) {
    a->device_alone = device_alone;
    a->poisoned = poison && a->bytes <= POISON_MAX;
    for (uint64_t at = a->base; a->poisoned && at + 8 <= a->base + a->bytes; at += 8) *(uint64_t *)(uintptr_t)at = memory_poison(at);
  }
  pthread_rwlock_unlock(&m->lock);
  return a != NULL;
}

bool memory_set_read_only(struct memory *m, uint64_t base) {
  pthread_rwlock_wrlock(&m->lock);
  struct allocation *a = find(m, base);
  if (a) a->read_only = true;
  pthread_rwlock_unlock(&m->lock);
  return a != NULL;
}

bool memory_find(struct memory *m, uint64_t addr, struct allocation *out) {
  pthread_rwlock_rdlock(&m->lock);
  const struct allocation *a = find(m, addr);
  if (a) *out = *a;
  pthread_rwlock_unlock(&m->lock);
  return a != NULL;
}

bool memory_set_ranges(struct memory *m, uint64_t base, struct traffic_range *const *ranges, uint32_t count) {
  pthread_rwlock_wrlock(&m->lock);
  struct allocation *a = find(m, base);
  if (a) {
    a->ranges = count ? ranges : NULL;
    a->range_count = count;
  }
  pthread_rwlock_unlock(&m->lock);
  return a != NULL;
}
