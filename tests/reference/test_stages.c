/* SPDX-License-Identifier: Apache-2.0 */
/* Each stage against a second formulation, written here from the design's formulas, and against values worked by hand. */
#include "reference.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 7;

static uint32_t random_u32(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 32);
}

/* A bf16 of magnitude 2^-4..2^4. */
static uint16_t random_bf16(void) { return (uint16_t)((random_u32() & 0x807f) | (123 + random_u32() % 8) << 7); }

static uint8_t random_e4m3(void) {
  uint8_t v = (uint8_t)random_u32();
  return (v & 0x7f) == 0x7f ? 0 : v;
}

static float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static float bf16(uint16_t v) { return float_of((uint32_t)v << 16); }

/* ---- xq ---- */

/* The nearest of all e4m3 codes, of two the even one. */
static uint8_t nearest_e4m3(double v) {
  int best = 0;
  for (int i = 1; i < 127; i++) {
    double d = fabs(fabs(v) - (double)ref_e4m3_value((uint8_t)i, &ref_fp8_ocp));
    double b = fabs(fabs(v) - (double)ref_e4m3_value((uint8_t)best, &ref_fp8_ocp));
    if (d < b || (d == b && i % 2 == 0)) best = i;
  }
  return (uint8_t)(best | (signbit(v) ? 0x80 : 0));
}

static void xq_quantises_each_token_from_its_own_row(void **state) {
  (void)state;
  enum { TOKENS = 2, STRIDE = HIDDEN + 24 };
  static uint16_t x[TOKENS * STRIDE];
  static uint8_t x8[TOKENS * HIDDEN], codes[TOKENS * HIDDEN_GROUPS];
  for (size_t i = 0; i < TOKENS * STRIDE; i++) x[i] = random_bf16();
  ref_xq(x, STRIDE, TOKENS, &ref_fp8_ocp, x8, codes);
  for (size_t t = 0; t < TOKENS; t++)
    for (size_t g = 0; g < HIDDEN_GROUPS; g++) {
      double amax = 0;
      for (size_t i = 0; i < 32; i++) amax = fmax(amax, fabs((double)bf16(x[t * STRIDE + 32 * g + i])));
      int code = 0; /* the least that fits, by trying */
      while (amax > 448 * ldexp(1, code - 127)) code++;
      assert_int_equal(codes[t * HIDDEN_GROUPS + g], code);
      for (size_t i = 0; i < 32; i++)
        assert_int_equal(x8[t * HIDDEN + 32 * g + i], nearest_e4m3((double)bf16(x[t * STRIDE + 32 * g + i]) * ldexp(1, 127 - code)));
    }
}

/* ---- kt ---- */

static void kt_maps_rows_through_the_requests_block_table(void **state) {
  (void)state;
  enum { TOKENS = 4, WINDOW = 3, STRIDE = 4 };
  static int32_t topk[TOKENS * TOPK], kt[TOKENS * 640], klen[2 * TOKENS];
  const int64_t pos[] = {5, 0, 100000, 9}, slot[] = {0, 7, 9, -1};
  const int32_t swa_idx[] = {10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42}, swa_lens[] = {2, 1, 9, 3};
  const int32_t t2r[] = {1, 0, 1, 1}, comp_bt[2 * STRIDE] = {3, 2, 1, 0, 40, 50, 60, 70};
  for (int i = 0; i < TOKENS * TOPK; i++) topk[i] = -1;
  topk[0] = 6;
  topk[2] = 0; /* topk[1] stays -1 */
  topk[TOPK] = 1;
  topk[2 * TOPK + 511] = 15;
  const struct ref_kt_in in = {.tokens = TOKENS,
      .ratio = 2,
      .window = WINDOW,
      .pos = pos,
      .slot = slot,
      .swa_idx = swa_idx,
      .swa_lens = swa_lens,
      .topk = topk,
      .t2r = t2r,
      .comp_bt = comp_bt,
      .bt_stride = STRIDE,
      .comp_block = 4};
  ref_kt(&in, kt, klen);

  /* Token 0: (5 + 1) / 2 = 3 compressed keys: row 6 is block 50 (its request's entry 1), row 2 of it. */
  const int32_t first[] = {(int32_t)(0x80000000u | (50 * 4 + 2)), -1, (int32_t)(0x80000000u | (40 * 4)), 10, 11, -1};
  assert_memory_equal(kt, first, sizeof first);
  /* Token 1: (0 + 1) / 2 = 0 of them; one window slot. */
  assert_int_equal(kt[640], 20);
  assert_int_equal(kt[641], -1);
  /* Token 2: all 512; a length beyond the window is cut to it. */
  assert_int_equal(kt[2 * 640 + 511], (int32_t)(0x80000000u | (70 * 4 + 3)));
  assert_int_equal(kt[2 * 640 + 512], 30);
  assert_int_equal(kt[2 * 640 + 514], 32);
  assert_int_equal(kt[2 * 640 + 515], -1);
  for (int k = 0; k < 640; k++) assert_int_equal(kt[3 * 640 + k], -1); /* a pad row */
  const int32_t lengths[] = {5, 1, 515, 0, 3, 0, 512, 0};
  assert_memory_equal(klen, lengths, sizeof lengths);
}

static void kt_without_compression_has_the_window_only(void **state) {
  (void)state;
  static int32_t swa_idx[1000], kt[1024], klen[2];
  const int64_t pos[] = {4000}, slot[] = {(int64_t)3 << 40 | 5}; /* the low dword counts */
  const int32_t swa_lens[] = {-4};
  for (int i = 0; i < 1000; i++) swa_idx[i] = 7 * i;
  struct ref_kt_in in = {.tokens = 1, .ratio = 0, .window = 1000, .pos = pos, .slot = slot, .swa_idx = swa_idx, .swa_lens = swa_lens};
  ref_kt(&in, kt, klen);
  for (int k = 0; k < 1024; k++) assert_int_equal(kt[k], -1);
  assert_int_equal(klen[0] | klen[1], 0);
  in.swa_lens = (const int32_t[]){1000};
  ref_kt(&in, kt, klen);
  for (int k = 0; k < 1024; k++) assert_int_equal(kt[k], k < 1000 ? 7 * k : -1);
  assert_int_equal(klen[0], 1000);
  assert_int_equal(klen[1], 0);
}

/* ---- GEMV sums ---- */

static double scale(uint8_t code) { return ldexp(1.0, code - 127); }

static void wqkv_sums_use_each_blocks_own_scale(void **state) {
  (void)state;
  enum { TOKENS = 11 };
  uint8_t *w = malloc((size_t)QKV_ROWS * HIDDEN), *ws = malloc(56 * 160), *x = malloc(TOKENS * HIDDEN), *xs = malloc(TOKENS * 160);
  double *panels = malloc(ref_panel_doubles(TOKENS, K_HALF) * sizeof *panels);
  for (size_t i = 0; i < (size_t)QKV_ROWS * HIDDEN; i++) w[i] = random_e4m3();
  for (size_t i = 0; i < 56 * 160; i++) ws[i] = (uint8_t)(100 + random_u32() % 60);
  for (size_t i = 0; i < TOKENS * HIDDEN; i++) x[i] = random_e4m3();
  for (size_t i = 0; i < TOKENS * 160; i++) xs[i] = (uint8_t)(random_u32() % 255);
  for (uint32_t half = 0; half < 2; half++) {
    const struct ref_rows rows = {
        .value = x + half * K_HALF, .value_stride = HIDDEN, .code = xs + half * 80, .code_stride = 160, .tokens = TOKENS, .k = K_HALF};
    ref_panels(&rows, &ref_fp8_ocp, panels);
    for (uint32_t row = half; row < QKV_ROWS; row += 61) {
      double sum[TOKENS], magnitude[TOKENS];
      ref_wqkv_row(w, ws, half, row, panels, TOKENS, sum, magnitude);
      for (size_t t = 0; t < TOKENS; t++) {
        long double s = 0, m = 0;
        for (size_t k = (K_HALF - 1) + half * K_HALF; k + 1 > half * K_HALF; k--) {
          long double v = (long double)ref_e4m3_value(w[row * (size_t)HIDDEN + k], &ref_fp8_ocp) * scale(ws[row / 32 * 160 + k / 32]);
          v *= (long double)ref_e4m3_value(x[t * HIDDEN + k], &ref_fp8_ocp) * scale(xs[t * 160 + k / 32]);
          s += v;
          m += fabsl(v);
        }
        assert_true(fabsl((long double)sum[t] - s) <= m * 0x1p-40L);
        assert_true(fabsl((long double)magnitude[t] - m) <= m * 0x1p-40L);
      }
    }
  }
  free(panels);
  free(xs);
  free(x);
  free(ws);
  free(w);
}

static void wqb_sums_reach_every_row_and_nan_spreads(void **state) {
  (void)state;
  enum { ROWS_USED = 64 };
  static uint8_t w[ROWS_USED * Q_RANK], ws[ROWS_USED / 32 * Q_GROUPS], x[2 * Q_RANK], xs[2 * Q_GROUPS];
  static double panels[REF_PANEL * Q_RANK];
  memset(w, 0x38, sizeof w); /* 1 */
  memset(x, 0x40, sizeof x); /* 2 */
  memset(ws, 127, sizeof ws);
  memset(xs, 128, sizeof xs);
  w[33 * Q_RANK + 1279] = 0xb8; /* -1 */
  ws[Q_GROUPS + 3] = 129;       /* rows 32..63, columns 96..127: times 4 */
  x[Q_RANK + 5] = 0x7f;         /* token 1 has a NaN */
  const struct ref_rows rows = {.value = x, .value_stride = Q_RANK, .code = xs, .code_stride = Q_GROUPS, .tokens = 2, .k = Q_RANK};
  ref_panels(&rows, &ref_fp8_ocp, panels);
  double sum[2], magnitude[2];
  ref_wqb_row(w, ws, 31, panels, 2, sum, magnitude);
  assert_true(sum[0] == 5120.0 && magnitude[0] == 5120.0 && isnan(sum[1]) && isnan(magnitude[1]));
  ref_wqb_row(w, ws, 33, panels, 2, sum, magnitude);
  assert_true(sum[0] == 5120.0 - 8.0 + 32 * 3 * 4.0 && magnitude[0] == 5120.0 + 32 * 3 * 4.0);
  ws[Q_GROUPS + 39] = 255; /* a NaN */
  ref_wqb_row(w, ws, 40, panels, 2, sum, magnitude);
  assert_true(isnan(sum[0]));
}

/* ---- qkv ---- */

/* The wave's butterfly as halving: 64 -> 32 -> ... -> 1, element i with element i + half. */
static float halving(float *v, int count) {
  for (int half = count / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) v[i] = v[i] + v[i + half];
  return v[0];
}

static float squares(const float *v, int count, int per_thread) {
  float wave[4];
  for (int w = 0; w < 4; w++) {
    float lane[64];
    for (int l = 0; l < 64; l++) {
      lane[l] = 0;
      for (int i = 0; i < per_thread; i++) {
        int column = (64 * w + l) * per_thread + i;
        volatile float square = column < count ? v[column] * v[column] : 0.0f;
        lane[l] += square;
      }
    }
    wave[w] = halving(lane, 64);
  }
  return (wave[0] + wave[1]) + (wave[2] + wave[3]);
}

static void norm_again(const float *v, const uint16_t *weight, int count, int per_thread, float *y) {
  float mean = squares(v, count, per_thread) / (float)count;
  float r = (float)(1.0 / sqrt((double)(mean + 1e-20f)));
  for (int i = 0; i < count; i++) {
    volatile float scaled = v[i] * r;
    y[i] = bf16(ref_bf16(scaled * bf16(weight[i])));
  }
}

struct token {
  float half0[QKV_ROWS], half1[QKV_ROWS], v[QKV_ROWS], cos_sin[64];
  uint16_t qn_w[Q_RANK], kvn_w[KV_DIM];
};

static void random_token(struct token *k) {
  for (int i = 0; i < QKV_ROWS; i++) {
    k->half0[i] = (float)(int32_t)random_u32() * 0x1p-30f;
    k->half1[i] = (float)(int32_t)random_u32() * 0x1p-31f;
    k->v[i] = bf16(ref_bf16(k->half0[i] + k->half1[i]));
  }
  for (int i = 0; i < Q_RANK; i++) k->qn_w[i] = random_bf16();
  for (int i = 0; i < KV_DIM; i++) k->kvn_w[i] = random_bf16();
  for (int i = 0; i < 32; i++) {
    double angle = (double)random_u32() * 0x1p-20;
    k->cos_sin[i] = (float)cos(angle);
    k->cos_sin[32 + i] = (float)sin(angle);
  }
}

static void qkv_of(const struct token *k, struct ref_qkv_out *out) {
  const struct ref_qkv_in in = {.half0 = k->half0, .half1 = k->half1, .qn_w = k->qn_w, .kvn_w = k->kvn_w, .cos_sin = k->cos_sin};
  ref_qkv(&in, &ref_fp8_ocp, out);
}

static void qkv_adds_squares_in_the_kernels_order(void **state) {
  (void)state;
  static struct token k;
  static struct ref_qkv_out out;
  int order_matters = 0;
  for (int round = 0; round < 40; round++) {
    random_token(&k);
    qkv_of(&k, &out);
    float y[Q_RANK];
    norm_again(k.v, k.qn_w, Q_RANK, 8, y);
    for (int i = 0; i < Q_RANK; i++) assert_true(bf16(out.qr[i]) == y[i]);
    float straight = 0;
    for (int i = 0; i < Q_RANK; i++) {
      volatile float square = k.v[i] * k.v[i];
      straight += square;
    }
    order_matters += straight != squares(k.v, Q_RANK, 8);
  }
  assert_true(order_matters > 20); /* else this test would prove little */
}

static void qkv_quantises_the_normed_query(void **state) {
  (void)state;
  static struct token k;
  static struct ref_qkv_out out;
  random_token(&k);
  qkv_of(&k, &out);
  for (int g = 0; g < Q_GROUPS; g++) {
    double amax = 0;
    for (int i = 0; i < 32; i++) amax = fmax(amax, fabs((double)bf16(out.qr[32 * g + i])));
    int code = 0;
    while (amax > 448 * ldexp(1, code - 127)) code++;
    assert_int_equal(out.qx8s[g], code);
    for (int i = 0; i < 32; i++)
      assert_int_equal(out.qx8[32 * g + i], nearest_e4m3((double)bf16(out.qr[32 * g + i]) * ldexp(1, 127 - code)));
  }
}

static void the_kv_record_has_rotated_bf16_behind_its_e4m3(void **state) {
  (void)state;
  static struct token k;
  static struct ref_qkv_out out;
  for (int round = 0; round < 10; round++) {
    random_token(&k);
    qkv_of(&k, &out);
    float y[KV_DIM];
    norm_again(k.v + Q_RANK, k.kvn_w, KV_DIM, 2, y);
    for (int g = 0; g < 7; g++) {
      double amax = 1e-4f;
      for (int i = 0; i < 64; i++) amax = fmax(amax, fabs((double)y[64 * g + i]));
      int code = 0;
      while (amax > 448 * ldexp(1, code - 127)) code++;
      assert_int_equal(out.scales[g], code);
      for (int i = 0; i < 64; i++)
        assert_int_equal(out.record[64 * g + i] & 0x7f, nearest_e4m3((double)y[64 * g + i] * ldexp(1, 127 - code)) & 0x7f);
    }
    assert_int_equal(out.scales[7], 0);
    for (int i = 0; i < 32; i++) {
      volatile float ac = y[448 + 2 * i] * k.cos_sin[i], bs = y[449 + 2 * i] * k.cos_sin[32 + i];
      volatile float as = y[448 + 2 * i] * k.cos_sin[32 + i], bc = y[449 + 2 * i] * k.cos_sin[i];
      uint16_t e0 = ref_bf16(ac - bs), e1 = ref_bf16(as + bc);
      const uint8_t bytes[4] = {(uint8_t)e0, (uint8_t)(e0 >> 8), (uint8_t)e1, (uint8_t)(e1 >> 8)};
      assert_memory_equal(out.record + 448 + 4 * i, bytes, 4);
    }
  }
}

static void qkv_of_ones_and_of_zeros_is_what_a_pencil_gives(void **state) {
  (void)state;
  static struct token k;
  static struct ref_qkv_out out;
  random_token(&k);
  for (int i = 0; i < QKV_ROWS; i++) k.half0[i] = 2.0f, k.half1[i] = -1.0f;
  for (int i = 0; i < KV_DIM; i++) k.kvn_w[i] = 0x3f80;
  qkv_of(&k, &out);
  assert_memory_equal(out.qr, k.qn_w, sizeof out.qr); /* mean square 1 */
  assert_int_equal(out.scales[0], 119);               /* 1 · 2^8 = 256 fits 448 */
  assert_int_equal(out.record[0], 0x78);

  /* -0 weights and zeros: dims below 448 take the rotation's formula with sin 0: a·1 - b·0. */
  for (int i = 0; i < QKV_ROWS; i++) k.half0[i] = 0.0f, k.half1[i] = 0.0f;
  for (int i = 0; i < KV_DIM; i++) k.kvn_w[i] = 0xbf80; /* -1: every y is -0 */
  qkv_of(&k, &out);
  assert_int_equal(out.record[0], 0x00); /* -0 - (-0) = +0 */
  assert_int_equal(out.record[1], 0x80); /* -0 + -0 (a·0 is -0) stays -0 */
  assert_int_equal(out.scales[0], 105);  /* the floor: 1e-4 / 448 is just above 2^-23 · 1.8 */
}

static void qkv_of_a_nan_keeps_the_codes_in_range(void **state) {
  (void)state;
  static struct token k;
  static struct ref_qkv_out out;
  random_token(&k);
  k.half1[3] = NAN;
  qkv_of(&k, &out);
  for (int i = 0; i < Q_RANK; i++) assert_true(ref_bf16_is_nan(out.qr[i]) && ref_e4m3_is_nan(out.qx8[i], &ref_fp8_ocp));
  for (int g = 0; g < Q_GROUPS; g++) assert_int_equal(out.qx8s[g], 254);
  assert_true(out.scales[0] < 254); /* kv has no NaN */
  k.half1[3] = 0;
  k.half1[Q_RANK] = INFINITY;
  qkv_of(&k, &out);
  for (int g = 0; g < 7; g++) assert_int_equal(out.scales[g], 254);
  assert_true(!ref_bf16_is_nan(out.qr[0]));
}

static void an_ulp_of_rsq_reaches_only_its_own_part(void **state) {
  (void)state;
  static struct token k;
  static struct ref_qkv_out plain, moved;
  random_token(&k);
  qkv_of(&k, &plain);
  const struct ref_qkv_in in = {
      .half0 = k.half0, .half1 = k.half1, .qn_w = k.qn_w, .kvn_w = k.kvn_w, .cos_sin = k.cos_sin, .q_rsq_ulps = 1 << 15};
  ref_qkv(&in, &ref_fp8_ocp, &moved);
  assert_memory_not_equal(plain.qr, moved.qr, sizeof plain.qr);
  assert_memory_equal(plain.record, moved.record, sizeof plain.record);
}

static void wqb_rotates_only_the_last_64_dims(void **state) {
  (void)state;
  float cos_sin[64] = {0};
  cos_sin[32 + 31] = 1.0f; /* the last pair: a quarter turn */
  const uint16_t v[2] = {0x8000, 0x3f80};
  uint16_t q[2];
  ref_wqb_pair(446, cos_sin, v, q);
  assert_int_equal(q[0], 0x8000);
  assert_int_equal(q[1], 0x3f80);
  ref_wqb_pair(510, cos_sin, v, q);
  assert_int_equal(q[0], 0xbf80);
  assert_int_equal(q[1], 0x0000); /* -0·1 + 1·0 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(xq_quantises_each_token_from_its_own_row),
      cmocka_unit_test(kt_maps_rows_through_the_requests_block_table),
      cmocka_unit_test(kt_without_compression_has_the_window_only),
      cmocka_unit_test(wqkv_sums_use_each_blocks_own_scale),
      cmocka_unit_test(wqb_sums_reach_every_row_and_nan_spreads),
      cmocka_unit_test(qkv_adds_squares_in_the_kernels_order),
      cmocka_unit_test(qkv_quantises_the_normed_query),
      cmocka_unit_test(the_kv_record_has_rotated_bf16_behind_its_e4m3),
      cmocka_unit_test(qkv_of_ones_and_of_zeros_is_what_a_pencil_gives),
      cmocka_unit_test(qkv_of_a_nan_keeps_the_codes_in_range),
      cmocka_unit_test(an_ulp_of_rsq_reaches_only_its_own_part),
      cmocka_unit_test(wqb_rotates_only_the_last_64_dims),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
