/* SPDX-License-Identifier: Apache-2.0 */
/* Faults planted in a real kernel: its assembly, edited, then assembled, linked with its note and checked. */
#ifndef FRONT_TESTS_PLANTED_H
#define FRONT_TESTS_PLANTED_H

#include "check.h"
#include "issue_order.h"
#include "support.h"

struct planted {
  struct plan plan;
  char *text;                  /* the assembly, to be edited */
  bool without_note;           /* link it without our note */
  char note_key[KEY_NAME_MAX]; /* the key that the note names */
};

/* A key's kernel as llc writes it. Compiled once a program; planted_free() the copy. */
struct planted planted_kernel(const char *key);
void planted_free(struct planted *p);

/* Replaces the first `what` of the text. The test fails if there is none. */
void planted_edit(struct planted *p, const char *what, const char *with);
/* The same in the text from `at` on. */
void planted_edit_from(struct planted *p, size_t at, const char *what, const char *with);
/* Inserts text at a byte. */
void planted_insert(struct planted *p, size_t at, const char *text);
/* Takes a line out, and returns it (malloc'd). */
char *planted_cut_line(struct planted *p, size_t at);

/* Where the line of an event's nth access starts (nth from 0). */
size_t planted_access(const struct planted *p, enum issue_event event, uint32_t instance, uint32_t nth);
/* Where the line after the one at `at` starts. */
size_t planted_next_line(const struct planted *p, size_t at);
/* Where the first line that has `what`, from `at` on, or the last before `at`, starts. */
size_t planted_line_with(const struct planted *p, size_t at, const char *what);
size_t planted_line_before(const struct planted *p, size_t at, const char *what);

/* The linked object: malloc'd. */
void *planted_object(const struct planted *p, size_t *bytes);

/* Assembles, links and checks. The gate of that name must fail with these words in its message; null: every gate must hold. */
void planted_assert(struct planted *p, const char *gate, const char *words);
/* The same for an object that is there. */
void planted_assert_object(const void *object, size_t bytes, const char *gate, const char *words);

#endif
