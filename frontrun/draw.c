/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution. */
#include "draw.h"

#include <math.h>

/* Newton steps on the distribution function, from a logistic guess. Only + - * / sqrt exp log erfc: what libm rounds differently is far
   below what callers keep of it. */
double draw_normal_quantile(double p) {
  bool upper = p > 0.5;
  double tail = upper ? 1 - p : p;
  double x = log(tail / (1 - tail)) / 1.702;
  for (int i = 0; i < 8; i++) {
    double density = exp(-x * x / 2) / 2.5066282746310002;
    double step = (0.5 * erfc(-x / 1.4142135623730951) - tail) / density;
    x -= step > 1 ? 1 : step < -1 ? -1 : step;
  }
  return upper ? -x : x;
}

/* The sum of twelve uniform numbers, scaled: near enough to a bell, and exact arithmetic only. */
double draw_normal(struct draw *d) {
  double sum = -6;
  for (int i = 0; i < 3; i++) {
    uint64_t bits = draw_u64(d);
    for (int part = 0; part < 4; part++) sum += ((double)(bits >> (16 * part) & 0xffff) + 0.5) * 0x1p-16;
  }
  return sum > 4 ? 4 : sum < -4 ? -4 : sum;
}
