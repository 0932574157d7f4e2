/* SPDX-License-Identifier: Apache-2.0 */
/* wqkv: the q and kv projections of the input, as two partial sums, one a half of K. A code is shared by 32 rows and 32 columns. */
#include "reference.h"

void ref_wqkv_row(const uint8_t *wqkv, const uint8_t *wqkv_s, uint32_t half, uint32_t row, const double *panels, uint32_t tokens,
    double *sum, double *magnitude) {
  const uint8_t *weights = wqkv + (size_t)row * HIDDEN + (size_t)half * K_HALF;
  const uint8_t *codes = wqkv_s + (size_t)(row / MX_GROUP) * HIDDEN_GROUPS + (size_t)half * (K_HALF / MX_GROUP);
  ref_gemv_row(panels, tokens, K_HALF, weights, codes, sum, magnitude);
}
