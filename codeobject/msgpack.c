/* SPDX-License-Identifier: Apache-2.0 */
/* MessagePack in place. */
#include "msgpack.h"

#include <string.h>

static bool take(struct msgpack *m, size_t bytes, uint64_t *value) {
  if ((size_t)(m->end - m->at) < bytes) return false;
  *value = 0;
  for (size_t i = 0; i < bytes; i++) *value = *value << 8 | m->at[i];
  m->at += bytes;
  return true;
}

static bool take_bytes(struct msgpack *m, struct msgpack_item *item) {
  if (item->number > (uint64_t)(m->end - m->at)) return false;
  item->bytes = m->at;
  m->at += item->number;
  return true;
}

/* Each item takes a byte at least: a count beyond that is a lie. */
static bool plausible(const struct msgpack *m, const struct msgpack_item *item) {
  uint64_t least = item->kind == MSGPACK_MAP ? 2 : 1;
  return item->number <= (uint64_t)(m->end - m->at) / least;
}

/* The formats 0xc0 .. 0xdf: kind, and how many bytes of number follow (255: none such). */
static const struct {
  uint8_t kind, bytes;
} formats[32] = {
    [0x00] = {MSGPACK_NIL, 0},
    [0x01] = {0, 255},
    [0x02] = {MSGPACK_BOOL, 0},
    [0x03] = {MSGPACK_BOOL, 0},
    [0x04] = {MSGPACK_BINARY, 1},
    [0x05] = {MSGPACK_BINARY, 2},
    [0x06] = {MSGPACK_BINARY, 4},
    [0x07] = {0, 255}, /* extensions: metadata has none */
    [0x08] = {0, 255},
    [0x09] = {0, 255},
    [0x0a] = {MSGPACK_FLOAT, 4},
    [0x0b] = {MSGPACK_FLOAT, 8},
    [0x0c] = {MSGPACK_UINT, 1},
    [0x0d] = {MSGPACK_UINT, 2},
    [0x0e] = {MSGPACK_UINT, 4},
    [0x0f] = {MSGPACK_UINT, 8},
    [0x10] = {MSGPACK_INT, 1},
    [0x11] = {MSGPACK_INT, 2},
    [0x12] = {MSGPACK_INT, 4},
    [0x13] = {MSGPACK_INT, 8},
    [0x14] = {0, 255},
    [0x15] = {0, 255},
    [0x16] = {0, 255},
    [0x17] = {0, 255},
    [0x18] = {0, 255},
    [0x19] = {MSGPACK_STRING, 1},
    [0x1a] = {MSGPACK_STRING, 2},
    [0x1b] = {MSGPACK_STRING, 4},
    [0x1c] = {MSGPACK_ARRAY, 2},
    [0x1d] = {MSGPACK_ARRAY, 4},
    [0x1e] = {MSGPACK_MAP, 2},
    [0x1f] = {MSGPACK_MAP, 4},
};

static struct msgpack_item fixed(uint8_t head) {
  if (head < 0x80) return (struct msgpack_item){MSGPACK_UINT, head, NULL};
  if (head < 0x90) return (struct msgpack_item){MSGPACK_MAP, head & 15u, NULL};
  if (head < 0xa0) return (struct msgpack_item){MSGPACK_ARRAY, head & 15u, NULL};
  if (head < 0xc0) return (struct msgpack_item){MSGPACK_STRING, head & 31u, NULL};
  return (struct msgpack_item){MSGPACK_INT, (uint64_t)(int64_t)(int8_t)head, NULL};
}

bool msgpack_next(struct msgpack *m, struct msgpack_item *item) {
  uint64_t head;
  if (!take(m, 1, &head)) return false;
  if (head < 0xc0 || head >= 0xe0) {
    *item = fixed((uint8_t)head);
  } else {
    unsigned bytes = formats[head - 0xc0].bytes;
    *item = (struct msgpack_item){(enum msgpack_kind)formats[head - 0xc0].kind, head & 1, NULL};
    if (bytes == 255 || (bytes && !take(m, bytes, &item->number))) return false;
    if (item->kind == MSGPACK_NIL) item->number = 0;
    if (item->kind == MSGPACK_INT && bytes < 8) {
      uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
      item->number = (item->number ^ sign) - sign;
    }
  }
  if (item->kind == MSGPACK_STRING || item->kind == MSGPACK_BINARY) return take_bytes(m, item);
  if (item->kind == MSGPACK_ARRAY || item->kind == MSGPACK_MAP) return plausible(m, item);
  return true;
}

bool msgpack_skip(struct msgpack *m) {
  /* Items still to be stepped over. Every one takes a byte at least, so this ends within the bytes that are left. */
  for (uint64_t left = 1; left > 0;) {
    struct msgpack_item item;
    if (!msgpack_next(m, &item)) return false;
    left--;
    if (item.kind == MSGPACK_ARRAY) left += item.number;
    if (item.kind == MSGPACK_MAP) left += 2 * item.number;
    if (left > (uint64_t)(m->end - m->at)) return false;
  }
  return true;
}

bool msgpack_expect(struct msgpack *m, enum msgpack_kind kind, struct msgpack_item *item) {
  return msgpack_next(m, item) && item->kind == kind;
}

bool msgpack_is(const struct msgpack_item *item, const char *text) {
  return item->kind == MSGPACK_STRING && item->number == strlen(text) && memcmp(item->bytes, text, item->number) == 0;
}
