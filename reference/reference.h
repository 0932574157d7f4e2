/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's arithmetic as plain C, a stage a function, on host arrays. Written to be read beside DESIGN section 6, not to be fast
   (but for the GEMV sums, which every comparison needs). Bit-exact in everything but a GEMV's sum, which is given in f64.

   All arrays are the caller's. Shapes are [rows][columns], row-major, without padding unless a stride says so. bf16 and e4m3 values
   and E8M0 codes are their bits. No allocation, no global state: every function may run in any number of threads. Sizes of the model
   come from geometry.h; S is the number of tokens. */
#ifndef FRONT_REFERENCE_H
#define FRONT_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry.h"
#include "numeric.h"

enum {
  HIDDEN_GROUPS = HIDDEN / MX_GROUP, /* codes of an input row */
  Q_GROUPS = Q_RANK / MX_GROUP,      /* codes of a low-rank query row */
  REF_PANEL = 8,                     /* tokens that ref_gemv_row() sums side by side */
};

/* ---- xq: the input rows as MXFP8 ---- */

/* x [S, HIDDEN] bf16, rows `stride` elements apart -> x8 [S][HIDDEN] e4m3, codes [S][HIDDEN_GROUPS]. */
void ref_xq(const uint16_t *x, size_t stride, uint32_t tokens, const struct ref_fp8 *fp8, uint8_t *x8, uint8_t *codes);

/* ---- kt: the keys that the attention kernel will read ---- */

struct ref_kt_in {
  uint32_t tokens, ratio, window;
  const int64_t *pos, *slot; /* [S] */
  const int32_t *swa_idx;    /* [S, window] */
  const int32_t *swa_lens;   /* [S] */
  const int32_t *topk;       /* [S, TOPK]; this and the rest only if ratio > 0 */
  const int32_t *t2r;        /* [S] */
  const int32_t *comp_bt;    /* [requests, bt_stride] */
  int32_t bt_stride, comp_block;
};

/* The compressed keys that token t reads: min((pos + 1) / ratio, TOPK), 0 for a pad row or ratio 0. */
int32_t ref_kt_ntopk(const struct ref_kt_in *in, uint32_t t);

/* -> kt [S, geometry_keys()], klen [2 S]: kv_len[S], then ntopk[S]. */
void ref_kt(const struct ref_kt_in *in, int32_t *kt, int32_t *klen);

/* ---- GEMV sums in f64: wqkv and wq_b ---- */
/* w·x is exact in f64 for e4m3 values with E8M0 scales; a sum of n terms is within n·2^-53·Σ|w·x|. A NaN value or code 255 gives NaN. */

/* MXFP8 token rows. */
struct ref_rows {
  const uint8_t *value; /* e4m3 [tokens][value_stride] */
  const uint8_t *code;  /* E8M0 [tokens][code_stride] */
  size_t value_stride, code_stride;
  uint32_t tokens, k; /* k values used of each row */
};

/* Doubles that ref_panels() writes. */
size_t ref_panel_doubles(uint32_t tokens, uint32_t k);

/* The rows in f64, scaled, as panels [ceil(tokens / REF_PANEL)][k][REF_PANEL]; missing tokens are 0. */
void ref_panels(const struct ref_rows *rows, const struct ref_fp8 *fp8, double *panels);

/* One weight row (OCP e4m3 [k], its codes [k / MX_GROUP]; k <= HIDDEN) times all tokens: sum[t] = Σ w·x, magnitude[t] = Σ |w·x|. */
void ref_gemv_row(
    const double *panels, uint32_t tokens, uint32_t k, const uint8_t *weights, const uint8_t *codes, double *sum, double *magnitude);

/* Row `row` of wqkv over K half `half`; panels are of that half's K_HALF columns. */
void ref_wqkv_row(const uint8_t *wqkv, const uint8_t *wqkv_s, uint32_t half, uint32_t row, const double *panels, uint32_t tokens,
    double *sum, double *magnitude);

/* Row `row` (of this rank) of wq_b. */
void ref_wqb_row(
    const uint8_t *wqb, const uint8_t *wqb_s, uint32_t row, const double *panels, uint32_t tokens, double *sum, double *magnitude);

/* ---- qkv: the token's norms, its quantised low-rank query and its KV record ---- */

struct ref_qkv_in {
  const float *half0, *half1;  /* [QKV_ROWS]: wqkv's two partial sums of the token */
  const uint16_t *qn_w;        /* bf16 [Q_RANK] */
  const uint16_t *kvn_w;       /* bf16 [KV_DIM] */
  const float *cos_sin;        /* [ROPE]: the row of the token's position, 32 cos, 32 sin */
  int q_rsq_ulps, kv_rsq_ulps; /* 0; on hardware v_rsq_f32 may be 1 ulp off: -1, 0, 1 */
};

struct ref_qkv_out {
  uint16_t qr[Q_RANK];            /* bf16: qr_out's row, index layers */
  uint8_t qx8[Q_RANK];            /* e4m3 */
  uint8_t qx8s[Q_GROUPS];         /* codes */
  uint8_t record[KV_DATA_BYTES];  /* 448 e4m3, then 64 bf16 (little-endian) */
  uint8_t scales[KV_SCALE_BYTES]; /* 7 codes and a 0 */
};

void ref_qkv(const struct ref_qkv_in *in, const struct ref_fp8 *fp8, struct ref_qkv_out *out);

/* ---- wq_b's epilogue ---- */

/* q's dims `dim` and `dim + 1` of a head (dim even) from the bf16 of their sums: unchanged below NOPE, rotated above. */
void ref_wqb_pair(uint32_t dim, const float *cos_sin, const uint16_t v[2], uint16_t q[2]);

#endif
