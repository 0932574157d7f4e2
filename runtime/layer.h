/* SPDX-License-Identifier: Apache-2.0 */
/* A layer key as libfront needs it: read from an object's note or a caller's text, and what follows from it. */
#ifndef FRONT_LAYER_H
#define FRONT_LAYER_H

#include <stdbool.h>

#include "front.h"

struct layer {
#define FIELD(name, lowest, highest, fallback, suffix, ready) int name;
#include "key_fields.def"
#undef FIELD
};

enum { LAYER_NAME_MAX = 96 };

/* Reads "tokens=8,tp=4" or "front_s8_tp4_r2_w128_t0". ARGUMENT with the text's fault. */
enum front_status layer_parse(const char *text, struct layer *layer);

/* The same; a key that does not name its tokens has `tokens` of them. */
enum front_status layer_parse_sized(const char *text, int tokens, struct layer *layer);

/* The canonical name. */
void layer_name(const struct layer *layer, char name[LAYER_NAME_MAX]);

/* Bytes of an instance's scratch. */
uint32_t layer_scratch_bytes(const struct layer *layer);

#endif
