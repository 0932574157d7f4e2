/* SPDX-License-Identifier: Apache-2.0 */
/* qkv: one token's partial sums -> q_norm, the quantised low-rank query; kv_norm, RoPE, the KV record. The sums of squares are added
   in the kernel's order: 256 threads, each with 8 q and 2 kv columns, in 4 waves of 64. */
#include "reference.h"

#include <math.h>
#include <string.h>

enum { SUM_THREADS = 256, SUM_WAVES = SUM_THREADS / WAVE, Q_PER_THREAD = 8, KV_PER_THREAD = 2 };

/* A thread's squares, in order; columns at and beyond `count` are 0. */
static float thread_squares(const uint16_t *v, uint32_t count, uint32_t thread, uint32_t per_thread) {
  float sum = 0.0f;
  for (uint32_t i = thread * per_thread; i < (thread + 1) * per_thread; i++) {
    float value = i < count ? ref_bf16_value(v[i]) : 0.0f;
    float square = value * value;
    sum = sum + square;
  }
  return sum;
}

/* A wave's 64 sums: each lane adds the lane 32, then 16, ... then 1 away; all lanes end with the same. */
static float wave_sum(const float lane[WAVE]) {
  float now[WAVE], next[WAVE];
  memcpy(now, lane, sizeof now);
  for (unsigned distance = WAVE / 2; distance > 0; distance /= 2) {
    for (unsigned l = 0; l < WAVE; l++) next[l] = now[l] + now[l ^ distance];
    memcpy(now, next, sizeof now);
  }
  return now[0];
}

static float sum_of_squares(const uint16_t *v, uint32_t count, uint32_t per_thread) {
  float wave[SUM_WAVES];
  for (uint32_t w = 0; w < SUM_WAVES; w++) {
    float lane[WAVE];
    for (uint32_t l = 0; l < WAVE; l++) lane[l] = thread_squares(v, count, w * WAVE + l, per_thread);
    wave[w] = wave_sum(lane);
  }
  float low = wave[0] + wave[1], high = wave[2] + wave[3];
  return low + high;
}

/* RMS norm: y = bf16((v · r) · weight), r = 1/sqrt(mean square + EPS). */
static void norm(const uint16_t *v, const uint16_t *weight, uint32_t count, uint32_t per_thread, int rsq_ulps, uint16_t *y) {
  float ssq = sum_of_squares(v, count, per_thread);
  float r = ref_rsq(ref_div_rn(ssq, (float)count) + FRONT_EPS, rsq_ulps);
  for (uint32_t i = 0; i < count; i++) {
    float scaled = ref_bf16_value(v[i]) * r;
    y[i] = ref_bf16(scaled * ref_bf16_value(weight[i]));
  }
}

/* 448 dims as e4m3 with a code a 64, then 64 dims as bf16. */
static void kv_record(const uint16_t dims[KV_DIM], const struct ref_fp8 *fp8, struct ref_qkv_out *out) {
  for (uint32_t g = 0; g < KV_GROUPS; g++) {
    const uint16_t *group = dims + (size_t)g * KV_GROUP;
    float amax = KV_AMAX_FLOOR;
    for (uint32_t i = 0; i < KV_GROUP; i++) amax = ref_max(amax, fabsf(ref_bf16_value(group[i])));
    uint8_t code = ref_mx_code(amax, fp8); /* MXFP8's own floor, 2^-126, is below this one's */
    float multiplier = ref_mx_multiplier(code);
    for (uint32_t i = 0; i < KV_GROUP; i++) out->record[g * KV_GROUP + i] = ref_mx_value(ref_bf16_value(group[i]), multiplier, fp8);
    out->scales[g] = code;
  }
  out->scales[KV_GROUPS] = 0;
  for (uint32_t i = 0; i < ROPE; i++) {
    out->record[NOPE + 2 * i] = (uint8_t)dims[NOPE + i];
    out->record[NOPE + 2 * i + 1] = (uint8_t)(dims[NOPE + i] >> 8);
  }
}

void ref_qkv(const struct ref_qkv_in *in, const struct ref_fp8 *fp8, struct ref_qkv_out *out) {
  uint16_t v[QKV_ROWS];
  for (uint32_t i = 0; i < QKV_ROWS; i++) v[i] = ref_bf16(in->half0[i] + in->half1[i]);

  norm(v, in->qn_w, Q_RANK, Q_PER_THREAD, in->q_rsq_ulps, out->qr);
  ref_mx_row(out->qr, Q_RANK, fp8, out->qx8, out->qx8s);

  uint16_t kv[KV_DIM], dims[KV_DIM];
  norm(v + Q_RANK, in->kvn_w, KV_DIM, KV_PER_THREAD, in->kv_rsq_ulps, kv);
  for (uint32_t i = 0; i < KV_DIM; i += 2) {
    /* Dims below NOPE take the formula too, with an angle of 0: it turns some -0 into +0, and spreads an infinity as a NaN. */
    uint32_t pair = i < NOPE ? 0 : (i - NOPE) / 2;
    float cos = i < NOPE ? 1.0f : in->cos_sin[pair];
    float sin = i < NOPE ? 0.0f : in->cos_sin[ROPE_PAIRS + pair];
    ref_rope(ref_bf16_value(kv[i]), ref_bf16_value(kv[i + 1]), cos, sin, dims + i);
  }
  kv_record(dims, fp8, out);
}
