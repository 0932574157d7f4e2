/* SPDX-License-Identifier: Apache-2.0 */
/* Our note in a code object: section .note.frontgen, owner "frontgen". What the kernel is, what made it, and which vector memory access
   stands where. libc only; no state, thread safe. */
#ifndef CODEOBJECT_NOTE_H
#define CODEOBJECT_NOTE_H

#include "codeobject.h"
#include "sha256.h"

#define FRONT_NOTE_SECTION ".note.frontgen"
#define FRONT_NOTE_OWNER   "frontgen"

enum { FRONT_NOTE_TYPE = 1, FRONT_NOTE_KERNARG_ABI = 1, FRONT_EVENT_NONE = 0xFFFF };

/* From `offset` (bytes from the kernel's entry) on, up to the next event's, a vector memory access belongs to row `row` of
   gen/issue_order.h's list, or to none (FRONT_EVENT_NONE). Says nothing of other instructions. */
struct front_event {
  uint32_t offset;
  uint16_t row;
};

struct front_note {
  uint32_t kernarg_abi;
  const char *key;               /* canonical name */
  const char *arch;              /* "gfx950" */
  const char *llvm_version;      /* "22.1.8" */
  const char *generator_version; /* "0.1.0" */
  uint8_t sha256[SHA256_BYTES];  /* of the IR text and the flags */
  struct front_event *event;     /* offsets rise */
  uint32_t events;
};

/* The whole ELF note record (header, owner, contents; a multiple of 4 bytes), ready to be a section's contents. malloc'd; null without
   memory. */
void *front_note_write(const struct front_note *note, size_t *bytes);

/* Reads the object's note. Strings point into the image; `event` is malloc'd, for front_note_free(). False with a sentence in `error` if
   there is none or it is malformed; nothing to free then. */
bool front_note_read(const struct code_object *co, struct front_note *note, char error[CODE_ERROR_MAX]);
void front_note_free(struct front_note *note);

/* The row of the access at `offset` bytes from the entry, or FRONT_EVENT_NONE. */
uint16_t front_note_row(const struct front_note *note, uint32_t offset);

#endif
