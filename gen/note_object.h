/* SPDX-License-Identifier: Apache-2.0 */
/* A relocatable object with one note section and nothing else, for the linker to merge into a code object. */
#ifndef FRONT_NOTE_OBJECT_H
#define FRONT_NOTE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

/* Makes the object from `note` (a whole ELF note record, 4-byte aligned size) for the section `name`. Machine, flags and ABI are copied
   from `like`, the ELF64 header of the object it is linked with, since the linker merges only what matches. malloc'd; null without memory,
   or if `like` is no ELF64 little-endian header. */
void *note_object(const void *like, size_t like_bytes, const char *name, const void *note, size_t note_bytes, size_t *bytes);

#endif
