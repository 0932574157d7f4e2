/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations' marks, and the pools of lines. */
#include "strict_lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RELEASED_MAX = 1 << 22, REGION_SHIFT = 16, HUGE_MARKS = 64 << 20 };

static bool pool_init(void **pool, uint32_t *count, uint32_t *room, uint32_t first, size_t size) {
  *pool = calloc(first, size);
  *count = 1;
  *room = first;
  return *pool != NULL;
}

bool lines_init(struct lines *l, struct memory *memory, uint32_t cus, uint32_t cus_an_xcd, bool probed, uint64_t workgroups) {
  *l = (struct lines){.memory = memory, .cus = cus, .cus_an_xcd = cus_an_xcd, .probed = probed};
  bool good = pool_init((void **)&l->line, &l->line_count, &l->line_room, 1024, sizeof *l->line);
  good &= pool_init((void **)&l->delayed, &l->delayed_count, &l->delayed_room, 1024, sizeof *l->delayed);
  good &= pool_init((void **)&l->copy, &l->copy_count, &l->copy_room, 256, sizeof *l->copy);
  good &= pool_init((void **)&l->event, &l->event_count, &l->event_room, 1024, sizeof *l->event);
  l->owner = calloc(STRICT_XCDS + cus, sizeof *l->owner);
  l->l1_epoch = malloc(cus * sizeof *l->l1_epoch);
  l->l1 = calloc((size_t)L1_SETS * cus, sizeof *l->l1);
  if (workgroups <= RELEASED_MAX) l->released = calloc(workgroups, sizeof *l->released);
  l->released_count = l->released ? workgroups : 0;
  for (uint32_t i = 0; l->l1_epoch && i < cus; i++) l->l1_epoch[i] = 1;
  for (uint32_t i = 0; i < STRICT_XCDS; i++) l->l2_epoch[i] = 1;
  good &= order_init(&l->order, workgroups <= UINT32_MAX ? (uint32_t)workgroups : UINT32_MAX);
  return good && l->owner && l->l1_epoch && l->l1;
}

void lines_free(struct lines *l) {
  for (uint32_t i = 0; i < l->regions; i++) munmap(l->region[i].mark, l->region[i].mark_bytes);
  free(l->region);
  free(l->line);
  free(l->delayed);
  free(l->copy);
  free(l->event);
  free(l->owner);
  free(l->l1_epoch);
  free(l->l1);
  free(l->released);
  order_free(&l->order);
}

void lines_forget_addresses(struct lines *l) { memset(l->region_slot, 0, sizeof l->region_slot); }

static struct region *known_region(struct lines *l, uint64_t base, uint64_t bytes) {
  for (uint32_t i = 0; i < l->regions; i++)
    if (l->region[i].base == base && l->region[i].bytes == bytes) return &l->region[i];
  return NULL;
}

static struct region *new_region(struct lines *l, const struct allocation *a) {
  if (l->regions == l->region_room) {
    uint32_t room = l->region_room ? 2 * l->region_room : 32;
    struct region *grown = realloc(l->region, room * sizeof *grown);
    if (!grown) return NULL;
    l->region = grown;
    l->region_room = room;
  }
  uint64_t bytes = (a->bytes / LINE_BYTES + 2) * sizeof(struct line_mark);
  void *marks = memory_zeros(bytes);
  if (!marks) return NULL;
  if (bytes <= HUGE_MARKS) madvise(marks, bytes, MADV_HUGEPAGE); /* sparse allocations have sparse marks */
  struct region *r = &l->region[l->regions++];
  *r = (struct region){
      .base = a->base, .bytes = a->bytes, .mark = marks, .mark_bytes = bytes, .poisoned = a->poisoned, .device_alone = a->device_alone};
  return r;
}

/* All of the access lies in one allocation, or the view has a fault and this is NULL. */
struct region *region_of(struct lines *l, struct view *v, uint64_t address, uint32_t bytes, bool write) {
  uint32_t slot = (uint32_t)(address >> REGION_SHIFT) % REGION_SLOTS;
  if (l->region_slot[slot] && !write) {
    struct region *r = &l->region[l->region_slot[slot] - 1];
    if (address - r->base < r->bytes && bytes <= r->bytes - (address - r->base)) {
      v->hit.ranges = NULL;
      return r;
    }
  }
  v->hit.bytes = 0;
  if (!view_reach(v, address, bytes, write)) return NULL;
  struct allocation a = v->hit;
  v->hit.bytes = 0; /* view_read() goes the slow way, and so here */
  struct region *r = known_region(l, a.base, a.bytes);
  if (!r) r = new_region(l, &a);
  if (r && !a.ranges) l->region_slot[slot] = (uint32_t)(r - l->region) + 1;
  return r;
}

uint32_t line_of(struct lines *l, struct line_mark *mark, uint64_t address) {
  if (mark->line) return mark->line;
  struct line *list = pool_with_room(l->line, l->line_count, &l->line_room, sizeof *list);
  if (!list) return 0;
  l->line = list;
  l->line[l->line_count] = (struct line){.number = address / LINE_BYTES, .mark = mark};
  mark->line = l->line_count++;
  return mark->line;
}
