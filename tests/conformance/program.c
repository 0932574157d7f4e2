/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: a pool of values grows by one random operation at a time; what no one used at the end is an output. */
#include "program.h"

#include <string.h>

enum {
  INTS = 1 << I8 | 1 << I16 | 1 << I32 | 1 << I64,
  WIDE = 1 << I16 | 1 << I32 | 1 << I64,
  FLOATS = 1 << F16 | 1 << F32 | 1 << F64,
  NUMBERS = INTS | FLOATS,
  B1 = 1 << I1,
  ANYTHING = NUMBERS | B1,
  SCALAR = 1 << 1,
  TWO = 1 << 2,
  FOUR = 1 << 4,
  VECTORS = 1 << 2 | 1 << 3 | 1 << 4,
  ALL = SCALAR | VECTORS
};
#define M(elem)                                                           1 << elem
#define OP(name, types, t, s, lanes, weight, need, lane_op, device, host) {name, types, t, s, lanes, weight, need, lane_op, device, host},
const struct op ops[] = {
#include "ops.def"
};
#undef M
#undef OP
const uint32_t op_count = sizeof ops / sizeof ops[0];

uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint32_t elem_bits(uint8_t elem) {
  static const uint8_t bits[ELEMS] = {1, 8, 16, 32, 64, 16, 32, 64};
  return bits[elem];
}

/* What is made, and what may be used. */
struct maker {
  struct program *p;
  uint64_t random;
  bool gfx950;
  int32_t pool[NODES_MAX];
  uint32_t pooled, used[NODES_MAX];
  uint32_t conditions, loops; /* how deep */
};

static uint32_t pick(struct maker *m, uint32_t n) { return (uint32_t)(random_next(&m->random) >> 32) % n; }
static bool chance(struct maker *m, uint32_t percent) { return pick(m, 100) < percent; }

static struct node *new_node(struct maker *m, enum node_kind kind) {
  struct node *n = &m->p->node[m->p->count++];
  memset(n, 0, sizeof *n);
  n->kind = (uint8_t)kind;
  n->immediate = (uint32_t)(random_next(&m->random) >> 16);
  return n;
}

static void put_in_pool(struct maker *m) { m->pool[m->pooled++] = (int32_t)m->p->count - 1; }

/* --- inputs ----------------------------------------------------------------------------------------------------------------- */

static const struct value_type input_types[] = {{I32, 1}, {I32, 1}, {I32, 1}, {I64, 1}, {I64, 1}, {I16, 1}, {I16, 1}, {I8, 1}, {F32, 1},
    {F32, 1}, {F32, 1}, {F64, 1}, {F64, 1}, {F16, 1}, {F16, 1}, {I32, 4}, {F32, 2}, {F32, 2}, {I16, 2}, {I16, 2}, {F16, 2}, {F16, 2},
    {I8, 4}, {F64, 2}, {I32, 3}};
enum { INPUTS = sizeof input_types / sizeof input_types[0] };

static uint32_t storage_bytes(struct value_type t) {
  uint32_t n = t.lanes == 3 ? 4 : t.lanes;
  return n * elem_bits(t.elem) / 8;
}

static uint64_t random_int(uint64_t *random, uint32_t bits) {
  static const uint64_t edges[] = {0, 1, 2, UINT64_MAX, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
      INT64_MAX, 0x8000000000000000u, 0xAAAAAAAAAAAAAAAAu};
  uint64_t r = random_next(random), x = random_next(random);
  if (r % 4 == 0) x = edges[r / 4 % 16];
  if (r % 4 == 1) x >>= r / 4 % 64;
  if (r % 16 == 3) x = 0 - (x >> (r / 16 % 64));
  return bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}

/* A quiet float's bits: edges, small whole numbers, near one another, anything. */
static uint64_t random_float(uint64_t *random, uint8_t elem) {
  static const uint32_t fraction_bits[ELEMS] = {[F16] = 10, [F32] = 23, [F64] = 52};
  uint32_t bits = elem_bits(elem), m = fraction_bits[elem];
  uint64_t r = random_next(random), x = random_next(random), one = UINT64_C(1), top = bits == 64 ? UINT64_MAX : (one << bits) - 1;
  uint64_t sign = (x >> 63) << (bits - 1), infinity = (top >> 1) >> m << m, bias = (top >> 2) >> m << m;
  uint64_t edges[] = {0, 1, (one << m) - 1, one << m, bias, bias + (one << m), bias + 1, bias - 1, infinity, infinity - 1,
      infinity | one << (m - 1), bias | one << (m - 1)};
  x &= top;
  if (r % 4 == 0) x = sign | edges[r / 4 % 12];
  if (r % 4 == 1) x = sign | (bias + ((r >> 8 & 7) << m)) | (r >> 16 & 0xF) << (m - 4);
  if (r % 4 == 2) x = sign | ((bias + ((r >> 8) % 24 << m) - (one << m) * 12) & infinity) | (x & ((one << m) - 1));
  if ((x & (top >> 1)) > infinity) x |= one << (m - 1);
  return x;
}

void program_inputs(uint64_t seed, uint32_t lane, uint8_t in[INPUT_BYTES]) {
  uint64_t random = seed * 0x2545F4914F6CDD1Du + lane;
  uint32_t at = 0;
  memset(in, 0, INPUT_BYTES);
  for (uint32_t i = 0; i < INPUTS; i++) {
    struct value_type t = input_types[i];
    uint32_t bytes = elem_bits(t.elem) / 8;
    at = (at + bytes - 1) / bytes * bytes;
    for (uint32_t k = 0; k < t.lanes; k++) {
      uint64_t x = is_float(t.elem) ? random_float(&random, t.elem) : random_int(&random, 8 * bytes);
      memcpy(in + at + k * bytes, &x, bytes);
    }
    at += storage_bytes(t);
  }
}

static void make_inputs(struct maker *m) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < INPUTS; i++) {
    struct value_type t = input_types[i];
    uint32_t bytes = elem_bits(t.elem) / 8;
    at = (at + bytes - 1) / bytes * bytes;
    struct node *n = new_node(m, NODE_INPUT);
    n->type = t;
    n->input_at = at;
    at += storage_bytes(t);
    put_in_pool(m);
  }
}

/* --- operands --------------------------------------------------------------------------------------------------------------- */

/* A value of the pool whose elem and length are in the masks, rather a late one; -1 if there is none. */
static int32_t find_value(struct maker *m, uint32_t elems, uint32_t lanes) {
  int32_t found = -1;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < m->pooled; i++) {
    const struct node *n = &m->p->node[m->pool[i]];
    if (!(elems >> n->type.elem & 1) || !(lanes >> n->type.lanes & 1)) continue;
    uint32_t weight = i + 12 > m->pooled ? 6 : m->used[m->pool[i]] ? 1 : 3;
    seen += weight;
    if (pick(m, seen) < weight) found = m->pool[i];
  }
  return found;
}

/* No float zero: LLVM 22 drops a sum with a constant 0.0 where it thinks that no one sees the sign of its zero. */
static struct operand constant_of(struct maker *m, struct value_type t) {
  uint64_t bits = is_float(t.elem) ? random_float(&m->random, t.elem) : random_int(&m->random, elem_bits(t.elem));
  if (is_float(t.elem) && !(bits & ((UINT64_C(1) << (elem_bits(t.elem) - 1)) - 1))) bits |= 1;
  return (struct operand){-1, bits};
}

static struct operand operand_of(struct maker *m, struct value_type t) {
  int32_t node = chance(m, 12) ? -1 : find_value(m, 1u << t.elem, 1u << t.lanes);
  if (node < 0) return constant_of(m, t);
  m->used[node]++;
  return (struct operand){node, 0};
}

static uint8_t any_bit(struct maker *m, uint32_t mask) {
  uint8_t bit;
  do bit = (uint8_t)pick(m, 32);
  while (!(mask >> bit & 1));
  return bit;
}

/* Types of an op, from values that there are. False: there are none fit. */
static bool choose_types(struct maker *m, const struct op *o, struct value_type *t, struct value_type *s) {
  const char *operands = o->types + 1;
  uint32_t lanes = o->lanes_mask, t_mask = o->t_mask;
  int32_t node = -1;
  bool from_s = false;
  if (strchr(operands, 'T')) {
    if ((node = find_value(m, t_mask, lanes)) < 0) return false;
  } else if (strchr(operands, 'E')) {
    if ((node = find_value(m, t_mask, SCALAR)) < 0) return false;
  } else if (strchr(operands, 'S')) {
    if ((node = find_value(m, o->s_mask, lanes)) < 0) return false;
    from_s = true;
  } else if (strchr(operands, 'B')) {
    if ((node = find_value(m, 1 << I1, lanes)) < 0) return false;
  }
  struct value_type v = node < 0 ? (struct value_type){any_bit(m, t_mask), any_bit(m, lanes)} : m->p->node[node].type;
  *t = *s = v;
  if (strchr(operands, 'E')) t->lanes = any_bit(m, lanes);
  if (from_s || (!strchr(operands, 'T') && strchr(operands, 'B'))) t->elem = any_bit(m, t_mask);
  if (!from_s && o->s_mask) *s = (struct value_type){any_bit(m, o->s_mask), t->lanes};
  if (strcmp(o->name, "zext") == 0 || strcmp(o->name, "sext") == 0) return elem_bits(t->elem) > elem_bits(s->elem);
  if (strcmp(o->name, "trunc") == 0) return elem_bits(t->elem) < elem_bits(s->elem);
  return true;
}

static struct value_type type_of_letter(char letter, struct value_type t, struct value_type s) {
  switch (letter) {
  case 'T':
    return t;
  case 'S':
    return s;
  case 'B':
    return (struct value_type){I1, t.lanes};
  case 'E':
    return (struct value_type){t.elem, 1};
  default:
    return (struct value_type){I32, 1};
  }
}

/* One random operation. */
static void make_op(struct maker *m) {
  static uint32_t total; /* of the weights: the same whoever counts it */
  uint32_t sum = 0;
  for (uint32_t i = 0; i < op_count && !total; i++) sum += ops[i].weight;
  if (!total) total = sum;
  for (;;) {
    uint32_t at = pick(m, total), i = 0;
    while (at >= ops[i].weight) at -= ops[i++].weight;
    const struct op *o = &ops[i];
    struct value_type t, s;
    if ((o->need & GFX950 && !m->gfx950) || (o->need & TOP && (m->conditions || m->loops)) || (o->lane_op && m->loops)) continue;
    if (!choose_types(m, o, &t, &s)) continue;
    struct operand arg[OPERANDS];
    uint32_t args = (uint32_t)strlen(o->types) - 1;
    for (uint32_t k = 0; k < args; k++) arg[k] = operand_of(m, type_of_letter(o->types[k + 1], t, s));
    struct node *n = new_node(m, NODE_OP);
    n->op = (uint16_t)i;
    n->type = type_of_letter(o->types[0], t, s);
    n->t = t;
    n->s = s;
    n->args = args;
    memcpy(n->arg, arg, sizeof arg);
    put_in_pool(m);
    return;
  }
}

/* --- regions ---------------------------------------------------------------------------------------------------------------- */

static void make_ops(struct maker *m, uint32_t count, uint32_t depth);

static void make_if(struct maker *m, uint32_t count, uint32_t depth) {
  int32_t condition = find_value(m, 1 << I1, SCALAR);
  if (condition < 0 || m->p->count + 3 * count + 20 > NODES_MAX) return;
  m->used[condition]++;
  int32_t region = (int32_t)m->p->count;
  struct node *n = new_node(m, NODE_IF);
  n->arg[0] = (struct operand){condition, 0};
  n->args = 1;
  uint32_t before = m->pooled, phis = 1 + pick(m, 3);
  struct operand side[2][3];
  struct value_type type[3];
  for (uint32_t k = 0; k < phis; k++) type[k] = m->p->node[m->pool[pick(m, m->pooled)]].type;
  m->conditions++;
  for (int e = 0; e < 2; e++) {
    make_ops(m, chance(m, 25) && e ? 0 : count, depth + 1);
    for (uint32_t k = 0; k < phis; k++) {
      if (!e) type[k] = m->p->node[m->pool[m->pooled - 1 - pick(m, m->pooled < 8 ? m->pooled : 8)]].type;
      side[e][k] = operand_of(m, type[k]);
    }
    m->pooled = before;
    new_node(m, e ? NODE_JOIN : NODE_ELSE)->region = region;
  }
  m->conditions--;
  for (uint32_t k = 0; k < phis; k++) {
    struct node *phi = new_node(m, NODE_PHI);
    phi->type = type[k];
    phi->arg[0] = side[0][k];
    phi->arg[1] = side[1][k];
    phi->args = 2;
    phi->region = region;
    put_in_pool(m);
  }
}

static void make_loop(struct maker *m, uint32_t count, uint32_t depth) {
  if (m->p->count + 3 * count + 20 > NODES_MAX) return;
  struct operand trips = operand_of(m, (struct value_type){I32, 1});
  int32_t region = (int32_t)m->p->count;
  struct node *n = new_node(m, NODE_LOOP);
  n->type = (struct value_type){I32, 1}; /* its counter */
  n->arg[0] = trips;
  n->args = 1;
  uint32_t carries = 1 + pick(m, 3);
  for (uint32_t k = 0; k < carries; k++) {
    struct value_type t = m->p->node[m->pool[pick(m, m->pooled)]].type;
    struct operand first = operand_of(m, t);
    struct node *c = new_node(m, NODE_CARRY);
    c->type = t;
    c->arg[0] = first;
    c->args = 2;
    c->region = region;
  }
  uint32_t before = m->pooled;
  for (uint32_t k = 0; k <= carries; k++) m->pool[m->pooled++] = region + (int32_t)k;
  m->loops++;
  make_ops(m, count, depth + 1);
  m->loops--;
  for (uint32_t k = 0; k < carries; k++) {
    struct node *c = &m->p->node[region + 1 + (int32_t)k];
    c->arg[1] = operand_of(m, c->type);
  }
  new_node(m, NODE_NEXT)->region = region;
  m->pooled = before;
  for (uint32_t k = 0; k < carries; k++) m->pool[m->pooled++] = region + 1 + (int32_t)k;
}

static void make_ops(struct maker *m, uint32_t count, uint32_t depth) {
  for (uint32_t i = 0; i < count && m->p->count + 20 < NODES_MAX; i++) {
    if (depth < 3 && chance(m, 4))
      make_if(m, 2 + pick(m, 8), depth);
    else if (depth < 2 && chance(m, 3))
      make_loop(m, 2 + pick(m, 8), depth);
    else
      make_op(m);
  }
}

void program_random(struct program *p, uint64_t seed, bool gfx950) {
  struct maker m = {.p = p, .random = seed, .gfx950 = gfx950};
  memset(p, 0, sizeof *p);
  p->seed = seed;
  p->flat = chance(&m, 25);
  make_inputs(&m);
  make_ops(&m, 30 + pick(&m, 50), 0);
  for (uint32_t i = m.pooled; i-- > INPUTS && p->outputs < OUTPUTS;) {
    if (m.used[m.pool[i]]) continue;
    p->output[p->outputs] = (struct operand){m.pool[i], 0};
    p->output_type[p->outputs++] = p->node[m.pool[i]].type;
  }
  program_live(p);
}

static bool mark(struct program *p, struct operand o) {
  if (o.node < 0 || p->node[o.node].live) return false;
  p->node[o.node].live = true;
  return true;
}

/* A region lives if a value of it does: with it its brackets and its condition, and what its live phis use. */
uint32_t program_live(struct program *p) {
  uint32_t alive = 0;
  for (uint32_t i = 0; i < p->count; i++) p->node[i].live = false;
  for (uint32_t i = 0; i < p->outputs; i++) mark(p, p->output[i]);
  for (bool changed = true; changed;) {
    changed = false;
    int32_t open[16], depth = 0;
    for (uint32_t i = 0; i < p->count; i++) {
      struct node *n = &p->node[i];
      bool bracket = n->kind == NODE_ELSE || n->kind == NODE_JOIN || n->kind == NODE_NEXT;
      if (bracket) n->live = p->node[n->region].live;
      if (n->kind == NODE_JOIN || n->kind == NODE_NEXT) depth--;
      if (n->live && !bracket)
        for (uint32_t k = 0; k < n->args; k++) changed |= mark(p, n->arg[k]);
      if (n->live && (n->kind == NODE_PHI || n->kind == NODE_CARRY)) changed |= mark(p, (struct operand){n->region, 0});
      if (n->live && !bracket)
        for (int32_t k = 0; k < depth; k++) changed |= mark(p, (struct operand){open[k], 0});
      if (n->kind == NODE_IF || n->kind == NODE_LOOP) open[depth++] = (int32_t)i;
    }
  }
  for (uint32_t i = 0; i < p->count; i++)
    alive += p->node[i].live && (p->node[i].kind == NODE_OP || p->node[i].kind == NODE_IF || p->node[i].kind == NODE_LOOP);
  return alive;
}
