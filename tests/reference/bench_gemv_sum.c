/* SPDX-License-Identifier: Apache-2.0 */
/* How long the f64 sums of a whole comparison take, on one thread: wqkv and wq_b at S tokens, tp 4. */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint8_t *bytes(size_t count, unsigned low, unsigned range) {
  uint8_t *b = malloc(count);
  for (size_t i = 0; b && i < count; i++) b[i] = (uint8_t)(low + (unsigned)rand() % range);
  return b;
}

int main(void) {
  const uint32_t q_rows = geometry_q_rows(4);
  uint8_t *wqkv = bytes((size_t)QKV_ROWS * HIDDEN, 0, 0x7f), *wqkv_s = bytes(56 * 160, 120, 8);
  uint8_t *wqb = bytes((size_t)q_rows * Q_RANK, 0, 0x7f), *wqb_s = bytes((size_t)q_rows / 32 * Q_GROUPS, 120, 8);
  uint8_t *x = bytes((size_t)TOKENS_MAX * HIDDEN, 0, 0x7f), *xs = bytes(TOKENS_MAX * HIDDEN_GROUPS, 120, 8);
  double *panels = malloc(ref_panel_doubles(TOKENS_MAX, K_HALF) * sizeof *panels);
  if (!wqkv || !wqkv_s || !wqb || !wqb_s || !x || !xs || !panels) return 1;
  const uint32_t steps[] = {1, 8, 16, 48};
  for (int i = 0; i < 4; i++) {
    const uint32_t tokens = steps[i];
    double sum[TOKENS_MAX], magnitude[TOKENS_MAX], total = 0, start = now();
    for (uint32_t half = 0; half < 2; half++) {
      const struct ref_rows rows = {x + half * K_HALF, xs + half * 80, HIDDEN, HIDDEN_GROUPS, tokens, K_HALF};
      ref_panels(&rows, &ref_fp8_ocp, panels);
      for (uint32_t row = 0; row < QKV_ROWS; row++) ref_wqkv_row(wqkv, wqkv_s, half, row, panels, tokens, sum, magnitude), total += sum[0];
    }
    double middle = now();
    const struct ref_rows rows = {x, xs, HIDDEN, HIDDEN_GROUPS, tokens, Q_RANK};
    ref_panels(&rows, &ref_fp8_ocp, panels);
    for (uint32_t row = 0; row < q_rows; row++) ref_wqb_row(wqb, wqb_s, row, panels, tokens, sum, magnitude), total += sum[0];
    double end = now(), products = (double)tokens * ((double)((uint64_t)QKV_ROWS * HIDDEN) + (double)((uint64_t)q_rows * Q_RANK));
    printf("tokens %2u: wqkv %.3f s, wq_b %.3f s, %.2f G products/s (%g)\n", tokens, middle - start, end - middle,
        products / (end - start) / 1e9, total);
  }
  free(panels);
  free(xs);
  free(x);
  free(wqb_s);
  free(wqb);
  free(wqkv_s);
  free(wqkv);
  return 0;
}
