/* SPDX-License-Identifier: Apache-2.0 */
#include "mfma_layout.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { FIELDS = 11 };

struct layout layouts[LAYOUTS_MAX];
size_t layout_count;

const struct layout *layout_named(const char *name) {
  for (size_t i = 0; i < layout_count; i++)
    if (strcmp(layouts[i].name, name) == 0) return &layouts[i];
  return NULL;
}

static int sum_of(struct formula *e);

static void blanks(struct formula *e) {
  while (*e->at == ' ') e->at++;
}

static bool word(struct formula *e, const char *w) {
  blanks(e);
  if (strncmp(e->at, w, strlen(w)) != 0) return false;
  e->at += strlen(w);
  return true;
}

/* A number, a name, or parentheses; floor() is what integer division does already. */
static int factor_of(struct formula *e) {
  if (word(e, "floor(") || word(e, "(")) {
    int v = sum_of(e);
    assert_true(word(e, ")"));
    return v;
  }
  if (word(e, "block")) return e->block;
  if (word(e, "i")) return e->i;
  if (word(e, "j")) return e->j;
  if (word(e, "k")) return e->k;
  char *end;
  long v = strtol(e->at, &end, 10);
  if (end == e->at) fail_msg("a layout's formula is not understood at \"%s\"", e->at);
  e->at = end;
  return (int)v;
}

static int product_of(struct formula *e) {
  int v = factor_of(e);
  for (;;) {
    if (word(e, "*"))
      v *= factor_of(e);
    else if (word(e, "/"))
      v /= factor_of(e);
    else if (word(e, "%"))
      v %= factor_of(e);
    else
      return v;
  }
}

static int sum_of(struct formula *e) {
  int v = product_of(e);
  while (word(e, "+")) v += product_of(e);
  return v;
}

/* "reg", "reg.[high : low]" (bits), "[high : low]" (a register pair). */
struct place place_of(const char *gpr, const char *lane, struct formula at) {
  struct place p = {0, 0, 0, 32};
  struct formula g = at, l = at;
  g.at = gpr, l.at = lane;
  p.lane = sum_of(&l);
  if (word(&g, "[")) {
    sum_of(&g);
    assert_true(word(&g, ":"));
    p.reg = sum_of(&g);
    p.bits = 64;
    return p;
  }
  p.reg = sum_of(&g);
  if (word(&g, ".[")) {
    int high = sum_of(&g);
    assert_true(word(&g, ":"));
    p.bit = sum_of(&g);
    p.bits = high - p.bit + 1;
  }
  return p;
}

void read_layouts(const char *file) {
  char *text = read_file(source_path(file), NULL), *save = NULL;
  for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    char *field[FIELDS];
    int n = 0;
    if (*line != 'v') continue;
    for (char *p = line; p && n < FIELDS; n++) {
      field[n] = p;
      p = strchr(p, '\t');
      if (p) *p++ = '\0';
    }
    assert_int_equal(n, FIELDS);
    struct layout *l = &layouts[layout_count++];
    assert_true(layout_count <= LAYOUTS_MAX);
    l->m = atoi(field[1]), l->n = atoi(field[2]), l->k = atoi(field[3]), l->blocks = atoi(field[4]);
    char *to[] = {l->a_gpr, l->a_lane, l->b_gpr, l->b_lane, l->d_gpr, l->d_lane};
    snprintf(l->name, sizeof l->name, "%s", field[0]);
    for (int i = 0; i < 6; i++) snprintf(to[i], FIELD_MAX, "%s", field[5 + i]);
  }
  free(text);
}

const char *layout_type(const struct layout *l, bool b) {
  static const char *const types[] = {"bf8_bf8", "bf8_fp8", "fp8_bf8", "fp8_fp8"};
  static const char *const as[] = {"bf8", "bf8", "fp8", "fp8"}, *const bs[] = {"bf8", "fp8", "bf8", "fp8"};
  for (int i = 0; i < 4; i++)
    if (strstr(l->name, types[i])) return b ? bs[i] : as[i];
  return strrchr(l->name, '_') + 1;
}
