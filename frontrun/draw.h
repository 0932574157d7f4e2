/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers by seed: the same on every machine. A stream is named by (seed, what, which), so that one array's values do not depend
   on another's, nor a row's on the rows before it. */
#ifndef FRONT_DRAW_H
#define FRONT_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
  uint64_t state;
};

static inline uint64_t draw_mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static inline struct draw draw_stream(uint64_t seed, uint64_t what, uint64_t which) {
  return (struct draw){draw_mix(draw_mix(draw_mix(seed + 0x9e3779b97f4a7c15u) ^ (what + 1) * 0xd1342543de82ef95u) + which)};
}

static inline uint64_t draw_u64(struct draw *d) { return draw_mix(d->state += 0x9e3779b97f4a7c15u); }

/* 0 .. below - 1; below > 0. */
static inline uint64_t draw_below(struct draw *d, uint64_t below) { return draw_u64(d) % below; }

/* Is it the one time in `in`? */
static inline bool draw_once(struct draw *d, uint64_t in) { return draw_below(d, in) == 0; }

/* 0 <= x < 1. */
static inline double draw_unit(struct draw *d) { return (double)(draw_u64(d) >> 11) * 0x1p-53; }

/* Of a normal distribution of variance 1, cut at 4. */
double draw_normal(struct draw *d);

/* The normal distribution's value below which a part p lies; 0 < p < 1. Good to 1e-8. */
double draw_normal_quantile(double p);

#endif
