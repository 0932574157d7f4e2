/* SPDX-License-Identifier: Apache-2.0 */
/* What a GEMV's sum may be, in f32, as bf16, and as a rotated bf16 pair. Private to compare*.c and its tests. */
#ifndef FRONT_COMPARE_GEMV_H
#define FRONT_COMPARE_GEMV_H

#include <float.h>

#include "compare_parts.h"

/* The error of an infinity or a NaN where a number was wanted: finite, so that it can be printed as JSON. */
#define NO_NUMBER DBL_MAX

/* A sum in f64, Σ|w·x|, and how far the kernel's may be off. A NaN sum wants a NaN. */
struct sum_range {
  double sum, magnitude, tolerance;
};

/* The terms reach beyond f32: a partial sum may have overflowed, so that an infinity or a NaN is as good as the sum. */
bool compare_sum_overflows(const struct sum_range *s);

/* `found` is within the tolerance. *error: how far off, in tolerances; 0 where that means nothing (NaN, overflow). */
bool compare_sum_allows(const struct sum_range *s, float found, double *error);

/* `found` is in [bf16(sum - tolerance), bf16(sum + tolerance)]. *error: from the sum to the nearest number that rounds to `found`. */
bool compare_bf16_allows(const struct sum_range *s, uint16_t found, double *error);

/* `found` is the rotation of some two bf16 in the two sums' intervals. Without `search`, wide intervals (sums that cancel) are only
   tried near the likely values: a false no is then possible. */
bool compare_pair_allows(const struct sum_range s[2], float cos, float sin, const uint16_t found[2], bool search);

#endif
