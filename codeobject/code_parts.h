/* SPDX-License-Identifier: Apache-2.0 */
/* Inside codeobject/: the steps of code_object_open(), and what they share. */
#ifndef CODEOBJECT_CODE_PARTS_H
#define CODEOBJECT_CODE_PARTS_H

#include "codeobject.h"

/* An object being opened. */
struct opening {
  struct code_object *co;
  char *error;             /* CODE_ERROR_MAX bytes */
  const uint8_t *metadata; /* MessagePack; null: none */
  size_t metadata_bytes;
};

/* Writes the error; returns false. */
bool code_fail(struct opening *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Zeroed memory that code_object_close() frees; null, after code_fail(), if there is none. count * size cannot overflow: both come from
   sizes within the image. */
void *code_alloc(struct opening *o, size_t count, size_t size);

/* Header, segments, dynamic section, symbols, relocations, notes. */
bool code_read_elf(struct opening *o);

/* Kernels: from the descriptors' symbols, then the metadata. */
bool code_read_kernels(struct opening *o);
bool code_read_metadata(struct opening *o);

/* The ELF notes of type `type` and owner `owner` within bytes: null if there is none. *found: its contents; *count: how many there are.
   False if the notes are malformed. */
bool code_find_note(const uint8_t *notes, size_t bytes, const char *owner, uint32_t type, const uint8_t **contents, size_t *contents_bytes,
    uint32_t *count);

/* Decodes the 64 bytes of a kernel descriptor. False with the error if a field that must be zero is not. */
bool code_read_descriptor(struct opening *o, const char *name, const uint8_t bytes[64], struct code_descriptor *d);

#endif
