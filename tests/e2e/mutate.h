/* SPDX-License-Identifier: Apache-2.0 */
/* Plausible bugs, made by editing emitted IR: an access's address, its data, its result, or a line's text. Fails the running cmocka test
   if an edit does not find what it is to change. */
#ifndef FRONT_TESTS_MUTATE_H
#define FRONT_TESTS_MUTATE_H

#include "ir_reader.h"

enum edit_what {
  EDIT_NOTHING,
  EDIT_OFFSET,  /* of buffer accesses: byte offset, i32 */
  EDIT_DATA,    /* what a store stores */
  EDIT_POINTER, /* of stores at a 64-bit address */
  EDIT_RESULT,  /* what a load gives */
  EDIT_SKIP,    /* MFMAs: the accumulator passes unchanged */
  EDIT_DROP,    /* the line is left out */
  EDIT_LINE,    /* in the line: `from` becomes `code` */
  EDIT_BEFORE,  /* `code`, in which $ is the launch's tag, comes before the line */
  EDIT_TEXT,    /* lines that contain `where`: `from` becomes `code` */
};

/* `code` is the instruction that makes the new value from $, the old one. THREAD_MARK is 1 in thread 5 of workgroup 3, ROPE_MARK in
   thread 5 of workgroup 29 (a head's RoPE dims); both are 0 elsewhere. */
#define THREAD_MARK "%mark.59007"
#define ROPE_MARK   "%mark.59008"

struct edit {
  enum edit_what what;
  enum ir_event_kind kind;
  const char *where;    /* argument or scratch region of the access; of EDIT_TEXT: the line */
  uint32_t first, last; /* which of the accesses of this kind and place, counted from 0 */
  const char *code;
  const char *from; /* EDIT_TEXT, EDIT_LINE */
};

enum { EVERY = 0xFFFFFFFFu };

/* The module with all edits done (a list that ends with EDIT_NOTHING): malloc'd, the caller frees it. */
char *mutated(const char *module, const struct ir_sizes *sizes, const struct edit *edits);

#endif
