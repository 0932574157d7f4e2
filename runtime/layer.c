/* SPDX-License-Identifier: Apache-2.0 */
/* Layer keys and canonical names. The generator's parser has friendlier messages; this one only has to be right. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "status.h"

static const struct {
  const char *name, *suffix;
  int lowest, highest, fallback;
  size_t offset;
} fields[] = {
#define FIELD(name, lowest, highest, fallback, suffix, ready) {#name, suffix, lowest, highest, fallback, offsetof(struct layer, name)},
#include "key_fields.def"
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof fields[0], TOKENS_MISSING = -1 };

static int *field_of(struct layer *layer, size_t i) { return (int *)(void *)((char *)layer + fields[i].offset); }

static enum front_status check(struct layer *layer, const char *text) {
  for (size_t i = 0; i < FIELDS; i++) {
    int value = *field_of(layer, i);
    if (value == TOKENS_MISSING) return status_fail(FRONT_ERR_ARGUMENT, "key \"%s\": %s is missing", text, fields[i].name);
    if (value < fields[i].lowest || value > fields[i].highest)
      return status_fail(FRONT_ERR_ARGUMENT, "key \"%s\": %s is %d: allowed are %d to %d", text, fields[i].name, value, fields[i].lowest,
          fields[i].highest);
  }
  if (layer->tp & (layer->tp - 1)) return status_fail(FRONT_ERR_ARGUMENT, "key \"%s\": tp is %d: allowed are 1, 2, 4, 8", text, layer->tp);
  return FRONT_OK;
}

/* "front_s8_tp4_r2_w128_t0", then the suffixes of the switches that are set, in the table's order, then _g0. */
static enum front_status parse_name(const char *text, struct layer *layer) {
  int end = 0;
  if (sscanf(text, "front_s%d_tp%d_r%d_w%d_t%d%n", &layer->tokens, &layer->tp, &layer->ratio, &layer->window, &layer->tuned, &end) != 5)
    return status_fail(FRONT_ERR_ARGUMENT, "\"%s\" is not a kernel's canonical name (front_s8_tp4_r2_w128_t0)", text);
  const char *at = text + end;
  for (size_t i = 0; i < FIELDS; i++) {
    if (!fields[i].suffix || strncmp(at, fields[i].suffix, strlen(fields[i].suffix)) != 0) continue;
    at += strlen(fields[i].suffix);
    *field_of(layer, i) = 1;
  }
  if (!strcmp(at, "_g0")) {
    layer->guard = 0;
    at += 3;
  }
  if (*at) return status_fail(FRONT_ERR_ARGUMENT, "kernel name \"%s\": \"%s\" is no suffix that this library knows", text, at);
  char again[LAYER_NAME_MAX];
  layer_name(layer, again);
  if (strcmp(again, text) != 0)
    return status_fail(FRONT_ERR_ARGUMENT, "kernel name \"%s\" is not canonical: \"%s\" was expected", text, again);
  return FRONT_OK;
}

static enum front_status parse_pair(const char *text, const char *pair, size_t length, struct layer *layer, unsigned *seen) {
  const char *equals = memchr(pair, '=', length);
  for (size_t i = 0; equals && i < FIELDS; i++) {
    if (strlen(fields[i].name) != (size_t)(equals - pair) || strncmp(pair, fields[i].name, (size_t)(equals - pair)) != 0) continue;
    char *end;
    long value = strtol(equals + 1, &end, 10);
    if (end == equals + 1 || end != pair + length || value < 0 || value > 1 << 20) break;
    if (*seen & 1u << i) return status_fail(FRONT_ERR_ARGUMENT, "key \"%s\": %s is there twice", text, fields[i].name);
    *seen |= 1u << i;
    *field_of(layer, i) = (int)value;
    return FRONT_OK;
  }
  return status_fail(FRONT_ERR_ARGUMENT, "key \"%s\": \"%.*s\" is not a field and its value", text, (int)length, pair);
}

enum front_status layer_parse(const char *text, struct layer *layer) { return layer_parse_sized(text, TOKENS_MISSING, layer); }

enum front_status layer_parse_sized(const char *text, int tokens, struct layer *layer) {
  struct layer made;
  unsigned seen = 0;
  for (size_t i = 0; i < FIELDS; i++) *field_of(&made, i) = fields[i].fallback;
  made.tokens = tokens;
  enum front_status status = FRONT_OK;
  if (!strncmp(text, "front_", 6)) {
    status = parse_name(text, &made);
  } else {
    for (const char *at = text; status == FRONT_OK; at++) {
      size_t length = strcspn(at, ",");
      status = parse_pair(text, at, length, &made, &seen);
      at += length;
      if (!*at) break;
    }
  }
  if (status == FRONT_OK) status = check(&made, text);
  if (status == FRONT_OK) *layer = made;
  return status;
}

/* A guard that differs from the table's default is in the name, as _g0. */
void layer_name(const struct layer *layer, char name[LAYER_NAME_MAX]) {
  int used =
      snprintf(name, LAYER_NAME_MAX, "front_s%d_tp%d_r%d_w%d_t%d", layer->tokens, layer->tp, layer->ratio, layer->window, layer->tuned);
  struct layer copy = *layer;
  for (size_t i = 0; i < FIELDS; i++) {
    bool set = fields[i].suffix && *field_of(&copy, i);
    bool unguarded = !strcmp(fields[i].name, "guard") && fields[i].fallback == 1 && !copy.guard;
    if (set || unguarded) used += snprintf(name + used, (size_t)(LAYER_NAME_MAX - used), "%s", set ? fields[i].suffix : "_g0");
  }
}

uint32_t layer_scratch_bytes(const struct layer *layer) { return scratch_layout((uint32_t)layer->tokens, layer->tuned).bytes; }
