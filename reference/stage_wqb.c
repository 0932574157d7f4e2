/* SPDX-License-Identifier: Apache-2.0 */
/* wq_b: from the low-rank query to this rank's heads; then RoPE on a head's last 64 dims. */
#include "reference.h"

void ref_wqb_row(
    const uint8_t *wqb, const uint8_t *wqb_s, uint32_t row, const double *panels, uint32_t tokens, double *sum, double *magnitude) {
  const uint8_t *weights = wqb + (size_t)row * Q_RANK, *codes = wqb_s + (size_t)(row / MX_GROUP) * Q_GROUPS;
  ref_gemv_row(panels, tokens, Q_RANK, weights, codes, sum, magnitude);
}

void ref_wqb_pair(uint32_t dim, const float *cos_sin, const uint16_t v[2], uint16_t q[2]) {
  if (dim < NOPE) {
    q[0] = v[0];
    q[1] = v[1];
    return;
  }
  uint32_t pair = (dim - NOPE) / 2;
  ref_rope(ref_bf16_value(v[0]), ref_bf16_value(v[1]), cos_sin[pair], cos_sin[ROPE_PAIRS + pair], q);
}
