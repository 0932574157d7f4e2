/* SPDX-License-Identifier: Apache-2.0 */
/* xq: the layer's normed input rows, bf16, become MXFP8: e4m3 values, and an E8M0 code for each 32 of them. */
#include "reference.h"

void ref_xq(const uint16_t *x, size_t stride, uint32_t tokens, const struct ref_fp8 *fp8, uint8_t *x8, uint8_t *codes) {
  for (uint32_t t = 0; t < tokens; t++) ref_mx_row(x + t * stride, HIDDEN, fp8, x8 + (size_t)t * HIDDEN, codes + (size_t)t * HIDDEN_GROUPS);
}
