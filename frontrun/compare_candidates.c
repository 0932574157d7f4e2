/* SPDX-License-Identifier: Apache-2.0 */
/* Section 13's rule for wq_b: which bf16 a sum may have become, and which pairs RoPE may have made of two of them. */
#include <math.h>

#include "compare_gemv.h"

enum {
  LARGEST = 0x7f7f,  /* the largest finite bf16's place in the order */
  BRUTE_FORCE = 256, /* pairs of candidates that are simply all tried */
  NEIGHBOURS = 3,    /* how far around the likely pair */
};

/* bf16 in rising order as integers, -0 below +0: ..., -2: -2^-133, -1: -0, 0: +0, 1: 2^-133, ... */
static int32_t order_of(uint16_t bits) { return bits & 0x8000 ? -1 - (bits & 0x7fff) : bits; }
static uint16_t bits_of(int32_t order) { return (uint16_t)(order < 0 ? 0x8000 | (-1 - order) : order); }
/* An infinity counts as 2^128: half way from the largest finite to there, rounding turns over. */
static double value_of(int32_t order) {
  const double v = (double)ref_bf16_value(bits_of(order));
  return isinf(v) ? copysign(0x1p128, v) : v;
}

struct candidates {
  int32_t low, high; /* places in the order */
};

static struct candidates candidates_of(const struct sum_range *s) {
  return (struct candidates){order_of(ref_bf16_of_double(s->sum - s->tolerance)), order_of(ref_bf16_of_double(s->sum + s->tolerance))};
}

bool compare_bf16_allows(const struct sum_range *s, uint16_t found, double *error) {
  *error = 0.0;
  if (isnan(s->sum)) return ref_bf16_is_nan(found);
  if ((found & 0x7fff) >= 0x7f80 && compare_sum_overflows(s)) return true;
  if (ref_bf16_is_nan(found)) {
    *error = NO_NUMBER;
    return false;
  }
  const struct candidates v = candidates_of(s);
  const int32_t at = order_of(found);
  /* What rounds to `found` lies between the middles to its neighbours. */
  const double low = (value_of(at - 1) + value_of(at)) / 2, high = (value_of(at) + value_of(at + 1)) / 2;
  if (s->sum < low) *error = (low - s->sum) / s->tolerance;
  if (s->sum > high) *error = (s->sum - high) / s->tolerance;
  return at >= v.low && at <= v.high;
}

/* A rotated pair, and what is looked for. */
struct rotation {
  float cos, sin;
  uint16_t found[2];
};

static void rotate(const struct rotation *r, int32_t v0, int32_t v1, uint16_t out[2]) {
  ref_rope(ref_bf16_value(bits_of(v0)), ref_bf16_value(bits_of(v1)), r->cos, r->sin, out);
}

static bool pair_matches(const struct rotation *r, int32_t v0, int32_t v1) {
  uint16_t out[2];
  rotate(r, v0, v1, out);
  return compare_same_bf16(out[0], r->found[0]) && compare_same_bf16(out[1], r->found[1]);
}

static bool any_of(const struct rotation *r, struct candidates a, struct candidates b) {
  for (int32_t v0 = a.low; v0 <= a.high; v0++)
    for (int32_t v1 = b.low; v1 <= b.high; v1++)
      if (pair_matches(r, v0, v1)) return true;
  return false;
}

static int32_t clamp_order(double v, struct candidates c) {
  int32_t at = order_of(ref_bf16_of_double(v));
  return at < c.low ? c.low : at > c.high ? c.high : at;
}

/* Around where rotating `found` back leads. */
static bool any_near(const struct rotation *r, struct candidates a, struct candidates b) {
  const double cos = (double)r->cos, sin = (double)r->sin, square = cos * cos + sin * sin;
  const double e0 = (double)ref_bf16_value(r->found[0]), e1 = (double)ref_bf16_value(r->found[1]);
  if (!(square > 0.0) || !isfinite(e0) || !isfinite(e1)) return false;
  const int32_t v0 = clamp_order((e0 * cos + e1 * sin) / square, a), v1 = clamp_order((e1 * cos - e0 * sin) / square, b);
  const struct candidates near0 = {v0 - NEIGHBOURS > a.low ? v0 - NEIGHBOURS : a.low, v0 + NEIGHBOURS < a.high ? v0 + NEIGHBOURS : a.high};
  const struct candidates near1 = {v1 - NEIGHBOURS > b.low ? v1 - NEIGHBOURS : b.low, v1 + NEIGHBOURS < b.high ? v1 + NEIGHBOURS : b.high};
  return any_of(r, near0, near1);
}

/* The least v1 in b (or b.high + 1) for which component `e` of the rotation has reached `target`, rising or falling with v1: every
   step of the rotation (product, sum, bf16) is monotone, signed zeros included. */
static int32_t first_reaching(const struct rotation *r, int32_t v0, struct candidates b, int e, bool rising, int32_t target) {
  int32_t low = b.low, high = b.high + 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    uint16_t out[2];
    rotate(r, v0, middle, out);
    int32_t at = order_of(out[e]);
    if (rising ? at >= target : at <= target)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The v1 in b that give component e as found. */
static struct candidates matching(const struct rotation *r, int32_t v0, struct candidates b, int e) {
  const bool rising = e == 0 ? signbit(r->sin) : !signbit(r->cos); /* e0 falls with v1·sin, e1 rises with v1·cos */
  const int32_t at = order_of(r->found[e]);
  const int32_t first = first_reaching(r, v0, b, e, rising, at);
  return (struct candidates){first, first_reaching(r, v0, b, e, rising, rising ? at + 1 : at - 1) - 1};
}

/* Every v0, and the v1 by bisection. */
static bool any_searched(const struct rotation *r, struct candidates a, struct candidates b) {
  for (int32_t v0 = a.low; v0 <= a.high; v0++) {
    struct candidates m = matching(r, v0, b, 0);
    if (m.low > m.high) continue;
    m = matching(r, v0, m, 1);
    if (m.low <= m.high) return true;
  }
  return false;
}

/* With an infinite or NaN angle only the signs of v0 and v1, and whether they are 0, matter: the ends, the zeros and what is beside. */
static bool any_class(const struct rotation *r, struct candidates a, struct candidates b) {
  const int32_t v0[] = {a.low, -2, -1, 0, 1, a.high}, v1[] = {b.low, -2, -1, 0, 1, b.high};
  for (size_t i = 0; i < sizeof v0 / sizeof *v0; i++)
    for (size_t j = 0; j < sizeof v1 / sizeof *v1; j++)
      if (v0[i] >= a.low && v0[i] <= a.high && v1[j] >= b.low && v1[j] <= b.high && pair_matches(r, v0[i], v1[j])) return true;
  return false;
}

/* Leaves out infinities. True if there were any. */
static bool take_finite(struct candidates *c) {
  const struct candidates all = *c;
  if (c->low < -1 - LARGEST) c->low = -1 - LARGEST;
  if (c->high > LARGEST) c->high = LARGEST;
  return all.low < c->low || all.high > c->high;
}

bool compare_pair_allows(const struct sum_range s[2], float cos, float sin, const uint16_t found[2], bool search) {
  const struct rotation r = {.cos = cos, .sin = sin, .found = {found[0], found[1]}};
  if (isnan(s[0].sum) || isnan(s[1].sum)) return ref_bf16_is_nan(found[0]) && ref_bf16_is_nan(found[1]);
  struct candidates a = candidates_of(&s[0]), b = candidates_of(&s[1]);
  bool infinite = compare_sum_overflows(&s[0]) || compare_sum_overflows(&s[1]);
  infinite |= take_finite(&a);
  infinite |= take_finite(&b);
  /* An infinite or NaN v0 or v1 leaves nothing finite in either. */
  if (infinite && (found[0] & 0x7fff) >= 0x7f80 && (found[1] & 0x7fff) >= 0x7f80) return true;
  if (a.low > a.high || b.low > b.high) return false; /* infinite for certain */
  if (((int64_t)a.high - a.low + 1) * ((int64_t)b.high - b.low + 1) <= BRUTE_FORCE) return any_of(&r, a, b);
  if (!isfinite(cos) || !isfinite(sin)) return any_class(&r, a, b);
  if (any_near(&r, a, b)) return true;
  return search && any_searched(&r, a, b);
}
