/* SPDX-License-Identifier: Apache-2.0 */
/* The event table of note.h, from the DWARF line table that llc put into an object: the line of a vector memory access is its row in the
   issue order + 1. libc only; thread safe. */
#ifndef CODEOBJECT_DEBUG_LINE_H
#define CODEOBJECT_DEBUG_LINE_H

#include "note.h"

/* Reads a relocatable AMDGPU object with one kernel. *event is malloc'd (by offset from the start of the kernel's section, neighbours
   differ), the caller's. False with a sentence in `error` if there is no line table or it is malformed; *event is null then. */
bool debug_line_events(const void *object, size_t bytes, struct front_event **event, uint32_t *events, char error[CODE_ERROR_MAX]);

#endif
