/* SPDX-License-Identifier: Apache-2.0 */
/* Halves first, then single operations, until nothing more goes. */
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

struct reducer {
  struct program *p, try;
  still_fails *fails;
  void *data;
  uint32_t tries;
};

static bool accept(struct reducer *r) {
  if (!r->tries) return false;
  r->tries--;
  program_live(&r->try);
  if (!r->fails(&r->try, r->data)) return false;
  *r->p = r->try;
  return true;
}

static void keep_one_output(struct reducer *r) {
  for (uint32_t i = 0; i < r->p->outputs && r->p->outputs > 1; i++) {
    r->try = *r->p;
    r->try.output[0] = r->p->output[i];
    r->try.output_type[0] = r->p->output_type[i];
    r->try.outputs = 1;
    if (accept(r)) return;
  }
}

static void replace(struct program *p, int32_t node, struct operand by) {
  for (uint32_t i = 0; i < p->count; i++)
    for (uint32_t k = 0; k < p->node[i].args; k++)
      if (p->node[i].arg[k].node == node) p->node[i].arg[k] = by;
  for (uint32_t i = 0; i < p->outputs; i++)
    if (p->output[i].node == node) p->output[i] = by;
}

static bool is_value(const struct node *n) {
  return n->kind == NODE_INPUT || n->kind == NODE_OP || n->kind == NODE_PHI || n->kind == NODE_CARRY;
}

/* The live values of [first, first + n) become zero. */
static bool drop_run(struct reducer *r, uint32_t first, uint32_t n) {
  uint32_t dropped = 0;
  r->try = *r->p;
  for (uint32_t i = first; i < first + n && i < r->p->count; i++) {
    if (!r->p->node[i].live || !is_value(&r->p->node[i])) continue;
    replace(&r->try, (int32_t)i, (struct operand){-1, 0});
    dropped++;
  }
  return dropped && accept(r);
}

static bool same_type(struct value_type a, struct value_type b) { return a.elem == b.elem && a.lanes == b.lanes; }

/* An operation becomes one of its operands. */
static bool shorten(struct reducer *r, uint32_t i) {
  const struct node n = r->p->node[i];
  if (!n.live || (n.kind != NODE_OP && n.kind != NODE_PHI)) return false;
  for (uint32_t k = 0; k < n.args; k++) {
    int32_t from = n.arg[k].node;
    if (from < 0 || (n.kind == NODE_PHI && from > n.region) || !same_type(r->p->node[from].type, n.type)) continue;
    r->try = *r->p;
    replace(&r->try, (int32_t)i, n.arg[k]);
    if (accept(r)) return true;
  }
  return false;
}

void reduce(struct program *p, still_fails *fails, void *data, uint32_t tries) {
  struct reducer *r = malloc(sizeof *r);
  if (!r) return;
  r->p = p;
  r->fails = fails;
  r->data = data;
  r->tries = tries;
  keep_one_output(r);
  for (bool changed = true; changed && r->tries;) {
    changed = false;
    for (uint32_t n = p->count / 2; n >= 1; n /= 2)
      for (uint32_t first = p->count / n * n; r->tries; first -= n) {
        changed |= drop_run(r, first, n);
        if (!first) break;
      }
    for (uint32_t i = p->count; i-- > 0 && r->tries;) changed |= shorten(r, i);
  }
  free(r);
}
