/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of MXFP8 dot products in f64, which is all that wqkv and wq_b are. A value times its scale is exact in f64, and so is the
   product of two (4 + 4 mantissa bits, exponents within 2^±290): only the additions round, 2^-53 each, far below any tolerance.
   The tokens lie side by side in panels, so that a sum runs along K in order and the compiler vectorises across tokens. */
#include "reference.h"

#include <math.h>
#include <string.h>

#ifdef FRONT_CLONES
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

size_t ref_panel_doubles(uint32_t tokens, uint32_t k) { return (size_t)round_up_u32(tokens, REF_PANEL) * k; }

/* What each OCP byte means, made by the compiler: a weight row is converted by look-up, and 256 conversions a row would cost as much as
   the row. In units of the least value: 0..15, then 8..15 shifted. */
#define UNITS(i)     ((i) < 16 ? (i) : (8 + (i) % 8) << ((i) / 8 - 1))
#define VALUE(i)     ((i) % 128 == 127 ? (double)NAN : (i) < 128 ? UNITS((i) % 128) * 0x1p-9 : UNITS((i) % 128) * -0x1p-9)
#define VALUES_4(i)  VALUE(i), VALUE((i) + 1), VALUE((i) + 2), VALUE((i) + 3)
#define VALUES_16(i) VALUES_4(i), VALUES_4((i) + 4), VALUES_4((i) + 8), VALUES_4((i) + 12)
#define VALUES_64(i) VALUES_16(i), VALUES_16((i) + 16), VALUES_16((i) + 32), VALUES_16((i) + 48)
static const double ocp_values[256] = {VALUES_64(0), VALUES_64(64), VALUES_64(128), VALUES_64(192)};

/* What each byte of the format means. */
static void byte_values(const struct ref_fp8 *fp8, double table[256]) {
  for (unsigned i = 0; i < 256; i++) table[i] = (double)ref_e4m3_value((uint8_t)i, fp8);
}

/* `count` values, a code a group -> out[i * step]. */
static void scaled_values(const uint8_t *value, const uint8_t *code, uint32_t count, const double table[256], double *out, size_t step) {
  for (uint32_t g = 0; g < count / MX_GROUP; g++) {
    double scale = ref_e8m0_value(code[g]);
    for (uint32_t i = g * MX_GROUP; i < (g + 1) * MX_GROUP; i++) out[i * step] = table[value[i]] * scale;
  }
}

void ref_panels(const struct ref_rows *rows, const struct ref_fp8 *fp8, double *panels) {
  double table[256];
  byte_values(fp8, table);
  for (uint32_t t = 0; t < round_up_u32(rows->tokens, REF_PANEL); t++) {
    double *out = panels + (size_t)(t / REF_PANEL) * rows->k * REF_PANEL + t % REF_PANEL;
    if (t < rows->tokens)
      scaled_values(rows->value + t * rows->value_stride, rows->code + t * rows->code_stride, rows->k, table, out, REF_PANEL);
    else
      for (uint32_t i = 0; i < rows->k; i++) out[(size_t)i * REF_PANEL] = 0.0;
  }
}

/* Four tokens. gcc 12 does not find these vectors by itself in loops over t (measured: 4 times slower). */
typedef double f64x4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t i64x4 __attribute__((vector_size(32)));
enum { VECTORS = REF_PANEL / 4 };

/* One panel: sum[t] = Σ w[i]·panel[i][t], magnitude[t] = Σ |...|. */
CLONES static void panel_dot(const double *panel, const double *w, uint32_t k, double sum[REF_PANEL], double magnitude[REF_PANEL]) {
  const f64x4 *tokens = (const f64x4 *)panel;
  const i64x4 no_sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  f64x4 s[VECTORS] = {0}, m[VECTORS] = {0};
  for (uint32_t i = 0; i < k; i++) {
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      f64x4 product = w[i] * tokens[i * VECTORS + (uint32_t)v];
      s[v] += product;
      m[v] += (f64x4)((i64x4)product & no_sign);
    }
  }
  memcpy(sum, s, sizeof s);
  memcpy(magnitude, m, sizeof m);
}

void ref_gemv_row(
    const double *panels, uint32_t tokens, uint32_t k, const uint8_t *weights, const uint8_t *codes, double *sum, double *magnitude) {
  double w[HIDDEN];
  scaled_values(weights, codes, k, ocp_values, w, 1);
  for (uint32_t first = 0; first < tokens; first += REF_PANEL) {
    double s[REF_PANEL], m[REF_PANEL];
    panel_dot(panels + (size_t)first * k, w, k, s, m);
    for (uint32_t t = first; t < min_u32(first + REF_PANEL, tokens); t++) {
      sum[t] = s[t - first];
      magnitude[t] = m[t - first];
    }
  }
}
