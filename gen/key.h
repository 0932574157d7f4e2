/* SPDX-License-Identifier: Apache-2.0 */
/* The layer key: which kernel is wanted. Text <-> struct, canonical names, patterns. No allocation but in pattern lists; thread safe. */
#ifndef FRONT_KEY_H
#define FRONT_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "geometry.h"

struct front_key {
#define FIELD(name, lowest, highest, fallback, suffix, ready) int name;
#include "key_fields.def"
#undef FIELD
};

enum { KEY_NAME_MAX = 96, KEY_ERROR_MAX = 256, KEYS_MAX = 1 << 20 };

/* Parses "tokens=8,tp=4" (any order; a field twice is an error; absent fields take their default) and validates it.
   On failure: false, and `error` is one sentence with the field, the value and what is allowed. */
bool key_parse(const char *text, struct front_key *key, char error[KEY_ERROR_MAX]);

/* Checks a key that was not parsed (a struct filled by hand). Errors as key_parse()'s. */
bool key_validate(const struct front_key *key, char error[KEY_ERROR_MAX]);

/* The canonical name, e.g. front_s8_tp4_r2_w128_t0: the kernel's symbol, and the stem of its file. */
void key_name(const struct front_key *key, char name[KEY_NAME_MAX]);

/* The inverse of key_name(). */
bool key_from_name(const char *name, struct front_key *key, char error[KEY_ERROR_MAX]);

/* Expands "tokens=1-48,tp=2|4,ratio=0/1" (lists with | or /, ranges with -) into keys in canonical order, without duplicates.
   At most KEYS_MAX keys, else an error. *keys is malloc'd, the caller frees it; null after a failure. */
bool key_expand(const char *pattern, struct front_key **keys, size_t *count, char error[KEY_ERROR_MAX]);

#endif
