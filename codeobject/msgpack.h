/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of MessagePack that walks the bytes in place: what code object metadata is written in. Untrusted input; no allocation, no
   recursion. */
#ifndef CODEOBJECT_MSGPACK_H
#define CODEOBJECT_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msgpack {
  const uint8_t *at, *end;
};

enum msgpack_kind {
  MSGPACK_NIL,
  MSGPACK_BOOL,
  MSGPACK_UINT,
  MSGPACK_INT,
  MSGPACK_FLOAT,
  MSGPACK_STRING,
  MSGPACK_BINARY,
  MSGPACK_ARRAY,
  MSGPACK_MAP
};

/* An item's head. Strings and binaries are whole; the items of an array, or the keys and values of a map, follow. */
struct msgpack_item {
  enum msgpack_kind kind;
  uint64_t number;      /* BOOL, UINT; INT's two's complement; ARRAY: items; MAP: pairs; STRING, BINARY: bytes */
  const uint8_t *bytes; /* STRING, BINARY */
};

/* Reads the next item's head; an array's or map's count is never more than what the bytes left could hold. False at the end or on a
   malformed item. */
bool msgpack_next(struct msgpack *m, struct msgpack_item *item);

/* Steps over the next item with all that is in it. */
bool msgpack_skip(struct msgpack *m);

/* The next item must be of this kind. */
bool msgpack_expect(struct msgpack *m, enum msgpack_kind kind, struct msgpack_item *item);

/* True if a STRING item is this text. */
bool msgpack_is(const struct msgpack_item *item, const char *text);

#endif
