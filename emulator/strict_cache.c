/* SPDX-License-Identifier: Apache-2.0 */
/* What L1s and L2s hold that memory does not. A cache that holds a line without a copy of it holds what is below it: a copy is made when
   that is about to change. */
#include "strict_lines.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t *memory_of(const struct line *line) { return (const uint8_t *)(uintptr_t)(line->number * LINE_BYTES); }

static uint32_t set_of(uint64_t number) { return (uint32_t)(number * 0x9e3779b97f4a7c15u >> 56); }

bool l2_holds(const struct lines *l, const struct line_mark *m, uint32_t xcd) { return m->epoch[xcd] == l->l2_epoch[xcd]; }

bool l1_holds(const struct lines *l, uint64_t number, uint32_t cu) {
  return l->l1[(size_t)set_of(number) * l->cus + cu] == (number << 16 | l->l1_epoch[cu]);
}

struct copy *copy_of(struct lines *l, const struct line *line, uint32_t owner) {
  for (uint32_t c = line->copies; c; c = l->copy[c].next_on_line)
    if (l->copy[c].owner == owner) return &l->copy[c];
  return NULL;
}

static void unlink_copy(struct lines *l, uint32_t at) {
  struct copy *c = &l->copy[at];
  uint32_t *from = &l->line[c->line].copies;
  while (*from != at) from = &l->copy[*from].next_on_line;
  *from = c->next_on_line;
  if (c->before_of_owner)
    l->copy[c->before_of_owner].next_of_owner = c->next_of_owner;
  else
    l->owner[c->owner] = c->next_of_owner;
  if (c->next_of_owner) l->copy[c->next_of_owner].before_of_owner = c->before_of_owner;
  c->used = false;
  c->next_on_line = l->copy_free;
  l->copy_free = at;
}

/* An empty copy; NULL: host memory is short. */
static struct copy *new_copy(struct lines *l, struct line *line, uint32_t owner) {
  uint32_t at = l->copy_free;
  if (at) {
    l->copy_free = l->copy[at].next_on_line;
  } else {
    struct copy *list = pool_with_room(l->copy, l->copy_count, &l->copy_room, sizeof *list);
    if (!list) return NULL;
    l->copy = list;
    at = l->copy_count++;
  }
  struct copy *c = &l->copy[at];
  memset(c, 0, offsetof(struct copy, data));
  c->owner = (uint16_t)owner;
  c->used = true;
  c->line = (uint32_t)(line - l->line);
  c->next_on_line = line->copies;
  line->copies = at;
  c->next_of_owner = l->owner[owner];
  if (c->next_of_owner) l->copy[c->next_of_owner].before_of_owner = at;
  l->owner[owner] = at;
  return c;
}

/* What an L2 shows of the line; `bytes` is which of them are stale. */
static struct byte_set l2_content(struct lines *l, const struct line *line, uint32_t xcd, uint8_t out[LINE_BYTES]) {
  struct byte_set stale = {{0, 0}};
  memcpy(out, memory_of(line), LINE_BYTES);
  const struct copy *c = l->probed ? NULL : copy_of(l, line, xcd);
  if (!c) return stale;
  for (uint32_t i = 0; i < LINE_BYTES; i++)
    if (set_has(&c->valid, i)) out[i] = c->data[i];
  return c->stale;
}

void l1_put(struct lines *l, uint64_t number, uint32_t cu) {
  uint64_t *tag = &l->l1[(size_t)set_of(number) * l->cus + cu], wanted = number << 16 | l->l1_epoch[cu];
  if (*tag == wanted) return;
  uint64_t old = *tag >> 16;
  for (uint32_t c = l->owner[STRICT_XCDS + cu], next; c; c = next) {
    next = l->copy[c].next_of_owner;
    if (l->line[l->copy[c].line].number == old) unlink_copy(l, c);
  }
  *tag = wanted;
}

void cache_drop(struct lines *l, uint32_t at) {
  struct copy *c = &l->copy[at];
  if (c->owner >= STRICT_XCDS) l->l1[(size_t)set_of(l->line[c->line].number) * l->cus + (c->owner - STRICT_XCDS)] = 0;
  if (set_any(c->dirty)) {
    c->valid = c->dirty;
    c->stale = (struct byte_set){{0, 0}};
    if (c->owner < STRICT_XCDS) l->line[c->line].mark->epoch[c->owner] = 0;
    return;
  }
  if (c->owner < STRICT_XCDS) l->line[c->line].mark->epoch[c->owner] = 0;
  unlink_copy(l, at);
}

/* Copies for those L1s that hold the line without one, since what is below them changes. */
static bool keep_l1s(struct lines *l, struct line *line, uint32_t first, uint32_t count, uint32_t but) {
  const uint64_t *tag = &l->l1[(size_t)set_of(line->number) * l->cus];
  for (uint32_t cu = first; cu < first + count; cu++) {
    if (cu == but || tag[cu] != (line->number << 16 | l->l1_epoch[cu]) || copy_of(l, line, STRICT_XCDS + cu)) continue;
    struct copy *c = new_copy(l, line, STRICT_XCDS + cu);
    if (!c) return false;
    c->stale = l2_content(l, line, cu / l->cus_an_xcd, c->data);
    c->valid = set_all();
  }
  return true;
}

static bool keep_l2s(struct lines *l, struct line *line, uint32_t but) {
  for (uint32_t x = 0; x < STRICT_XCDS; x++) {
    if (x == but || !l2_holds(l, line->mark, x)) continue;
    struct copy *c = copy_of(l, line, x);
    if (!c && !(c = new_copy(l, line, x))) return false;
    struct byte_set missing = set_less(set_all(), c->valid);
    for (uint32_t i = 0; i < LINE_BYTES; i++)
      if (set_has(&missing, i)) c->data[i] = memory_of(line)[i];
    c->valid = set_all();
  }
  return true;
}

/* Bytes have been stored that these copies do not have. */
static void mark_stale(struct lines *l, struct line *line, uint32_t first, uint32_t last, uint32_t but, struct byte_set mask) {
  for (uint32_t i = line->copies; i; i = l->copy[i].next_on_line) {
    struct copy *c = &l->copy[i];
    if (c->owner >= first && c->owner < last && c->owner != but) c->stale = set_or(c->stale, set_less(set_and(mask, c->valid), c->dirty));
  }
}

static void put_bytes(uint8_t *to, const uint8_t *data, struct byte_set mask) {
  for (; mask.w[0]; mask.w[0] &= mask.w[0] - 1) to[__builtin_ctzll(mask.w[0])] = data[__builtin_ctzll(mask.w[0])];
  for (; mask.w[1]; mask.w[1] &= mask.w[1] - 1) to[64 + __builtin_ctzll(mask.w[1])] = data[64 + __builtin_ctzll(mask.w[1])];
}

static void put_copy(struct copy *c, struct byte_set mask, const uint8_t *data, bool dirty) {
  put_bytes(c->data, data, mask);
  c->valid = set_or(c->valid, mask);
  c->stale = set_less(c->stale, mask);
  c->dirty = dirty ? set_or(c->dirty, mask) : set_less(c->dirty, mask);
}

static void put_memory(struct lines *l, struct line *line, struct byte_set mask, const uint8_t *data) {
  uint8_t *to = (uint8_t *)(uintptr_t)(line->number * LINE_BYTES);
  for (uint32_t i = 0; i < LINE_BYTES; i++) {
    if (!set_has(&mask, i)) continue;
    l->changed |= to[i] != data[i];
    to[i] = data[i];
  }
}

bool cache_store(struct lines *l, struct line *line, uint32_t cu, uint32_t xcd, struct byte_set mask, const uint8_t *data, bool through) {
  uint32_t owners = STRICT_XCDS + l->cus, own_l1 = STRICT_XCDS + cu;
  if (l->probed) {
    if (!keep_l1s(l, line, 0, l->cus, cu)) return false;
    put_memory(l, line, mask, data);
    mark_stale(l, line, STRICT_XCDS, owners, own_l1, mask);
  } else {
    if (!keep_l1s(l, line, xcd * l->cus_an_xcd, l->cus_an_xcd, cu)) return false;
    if (through && !keep_l2s(l, line, xcd)) return false;
    struct copy *l2 = copy_of(l, line, xcd);
    if (!l2 && !through && !(l2 = new_copy(l, line, xcd))) return false;
    if (!through && l2_holds(l, line->mark, xcd)) {
      put_bytes(l2->data, memory_of(line), set_less(set_all(), l2->valid));
      l2->valid = set_all();
    }
    if (through) put_memory(l, line, mask, data);
    if (l2) put_copy(l2, mask, data, !through);
    l->changed |= !through;
    if (through) mark_stale(l, line, 0, STRICT_XCDS, xcd, mask);
    mark_stale(l, line, STRICT_XCDS, owners, own_l1, mask);
  }
  struct copy *l1 = copy_of(l, line, own_l1);
  if (l1) put_copy(l1, mask, data, false);
  return true;
}

bool cache_write_back(struct lines *l, uint32_t at) {
  struct copy *c = &l->copy[at];
  struct line *line = &l->line[c->line];
  uint8_t data[LINE_BYTES];
  uint32_t xcd = c->owner;
  struct byte_set dirty = c->dirty;
  if (!set_any(dirty)) return true;
  memcpy(data, c->data, sizeof data);
  if (!keep_l2s(l, line, xcd)) return false;
  put_memory(l, line, dirty, data);
  mark_stale(l, line, 0, STRICT_XCDS, xcd, dirty);
  struct copy *own = copy_of(l, line, xcd);
  own->dirty = (struct byte_set){{0, 0}};
  return true;
}

bool cache_write_back_all(struct lines *l, uint32_t xcd) {
  bool good = true;
  for (uint32_t c = l->owner[xcd]; c; c = l->copy[c].next_of_owner) good &= cache_write_back(l, c);
  return good;
}

void cache_invalidate(struct lines *l, uint32_t cu, uint32_t xcd, bool l2) {
  for (uint32_t c = l->owner[STRICT_XCDS + cu], next; c; c = next) {
    next = l->copy[c].next_of_owner;
    unlink_copy(l, c);
  }
  if (!++l->l1_epoch[cu]) l->l1_epoch[cu] = 1;
  if (!l2 || l->probed) return;
  for (uint32_t c = l->owner[xcd], next; c; c = next) {
    next = l->copy[c].next_of_owner;
    cache_drop(l, c);
  }
  if (!++l->l2_epoch[xcd]) l->l2_epoch[xcd] = 1;
}
