/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_layer.h"

#include <hip/hip_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry.h"
#include "support.h"

#define HIP(call) assert_int_equal(call, hipSuccess)

static uint32_t draw(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static void *memory(size_t bytes, int value) {
  void *address = NULL;
  HIP(hipMalloc(&address, bytes));
  HIP(hipMemset(address, value, bytes));
  return address;
}

static void *copied(const void *from, size_t bytes) {
  void *address = memory(bytes, 0);
  HIP(hipMemcpy(address, from, bytes, hipMemcpyHostToDevice));
  return address;
}

/* Bytes `first` to `first + count - 1`; every other one with a sign bit, if `sign`. */
static void *drawn_bytes(size_t bytes, uint32_t first, uint32_t count, bool sign, uint32_t *state) {
  uint8_t *host = malloc(bytes);
  assert_non_null(host);
  for (size_t i = 0; i < bytes; i++) {
    uint32_t d = draw(state);
    host[i] = (uint8_t)(first + d % count + (sign && d & 0x10000 ? 0x80 : 0));
  }
  void *address = copied(host, bytes);
  free(host);
  return address;
}

/* bf16 of about 1, both signs. */
static uint16_t drawn_bf16(uint32_t *state) {
  uint32_t d = draw(state);
  return (uint16_t)(0x3f00 + d % 0x100 + (d & 0x10000 ? 0x8000 : 0));
}

static void *drawn_weights(size_t count, uint32_t *state) {
  uint16_t host[Q_RANK];
  for (size_t i = 0; i < count; i++) host[i] = drawn_bf16(state);
  return copied(host, count * 2);
}

static void *rotations(void) {
  static float host[LAYER_POSITIONS][ROPE];
  for (int p = 0; p < LAYER_POSITIONS; p++)
    for (int i = 0; i < ROPE / 2; i++) {
      float angle = (float)p / (float)(1 << (i / 4));
      host[p][i] = cosf(angle);
      host[p][ROPE / 2 + i] = sinf(angle);
    }
  return copied(host, sizeof host);
}

static void *numbers(size_t count, uint32_t below, uint32_t *state) {
  int32_t *host = malloc(count * sizeof *host);
  assert_non_null(host);
  for (size_t i = 0; i < count; i++) host[i] = (int32_t)(draw(state) % below);
  void *address = copied(host, count * sizeof *host);
  free(host);
  return address;
}

struct front_args layer_make(const struct front_kernel_info *k, uint32_t seed) {
  size_t s = k->tokens, q_rows = geometry_q_rows(k->tp);
  assert_int_equal(k->tp, 8);
  struct front_args a = {.x_stride = HIDDEN, .bt_stride = LAYER_BT_STRIDE, .swa_block = LAYER_BLOCK_TOKENS, .comp_block = 16};
  a.swa_stride = LAYER_BLOCK_TOKENS * KV_RECORD_BYTES;
  a.x = memory(s * HIDDEN * 2, 0);
  a.wqkv = drawn_bytes((size_t)QKV_ROWS * HIDDEN, 0x20, 0x20, true, &seed);
  a.wqkv_s = drawn_bytes(QKV_ROWS / 32 * (HIDDEN / 32), 118, 6, false, &seed);
  a.wqb = drawn_bytes(q_rows * Q_RANK, 0x20, 0x20, true, &seed);
  a.wqb_s = drawn_bytes(q_rows / 32 * (Q_RANK / 32), 118, 6, false, &seed);
  a.pos = memory(s * 8, 0);
  a.slot = memory(s * 8, 0);
  a.swa_idx = numbers(s * k->window, LAYER_BLOCKS * LAYER_BLOCK_TOKENS, &seed);
  a.swa_lens = memory(s * 4, 0);
  a.topk = numbers(s * TOPK, LAYER_BT_STRIDE * 16, &seed);
  a.t2r = numbers(s, LAYER_REQUESTS, &seed);
  a.comp_bt = numbers(LAYER_REQUESTS * LAYER_BT_STRIDE, 1000, &seed);
  a.cos_sin = rotations();
  a.qn_w = drawn_weights(Q_RANK, &seed);
  a.kvn_w = drawn_weights(KV_DIM, &seed);
  a.swa = memory(LAYER_BLOCKS * (size_t)a.swa_stride, 0);
  a.q = memory(s * q_rows * 2, 0);
  a.kt = memory(s * geometry_keys(k->ratio, k->window) * 4, 0);
  a.klen = memory(2 * s * 4, 0);
  a.scratch = memory(k->scratch_bytes, 0);
  a.epoch = memory(4, 0);
  a.guard = memory(128, 0);
  return a;
}

void layer_free(const struct front_args *a) {
  const void *all[] = {a->x, a->wqkv, a->wqkv_s, a->wqb, a->wqb_s, a->pos, a->slot, a->swa_idx, a->swa_lens, a->topk, a->t2r, a->comp_bt,
      a->cos_sin, a->qn_w, a->kvn_w, a->swa, a->q, a->kt, a->klen, a->scratch, a->epoch, a->guard};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) HIP(hipFree((void *)(uintptr_t)all[i]));
}

void layer_draw(struct layer_step *step, const struct front_kernel_info *k, uint32_t seed) {
  for (uint32_t i = 0; i < k->tokens * HIDDEN; i++) step->x[i] = drawn_bf16(&seed);
  for (uint32_t t = 0; t < k->tokens; t++) {
    step->pos[t] = (int64_t)(draw(&seed) % LAYER_POSITIONS);
    step->slot[t] = (int64_t)(t * LAYER_BLOCKS * LAYER_BLOCK_TOKENS / k->tokens + draw(&seed) % 2);
    step->swa_lens[t] = (int32_t)(1 + draw(&seed) % k->window);
  }
  step->slot[k->tokens - 1] = -1;
}

static void set(const void *to, const void *from, size_t bytes, hipStream_t s) {
  HIP(hipMemcpyAsync((void *)(uintptr_t)to, from, bytes, hipMemcpyHostToDevice, s));
}

void layer_set(const struct front_args *a, const struct front_kernel_info *k, const struct layer_step *step, struct ihipStream_t *s) {
  set(a->x, step->x, k->tokens * HIDDEN * sizeof *step->x, s);
  set(a->pos, step->pos, k->tokens * sizeof *step->pos, s);
  set(a->slot, step->slot, k->tokens * sizeof *step->slot, s);
  set(a->swa_lens, step->swa_lens, k->tokens * sizeof *step->swa_lens, s);
}

static size_t q_bytes(const struct front_kernel_info *k) { return (size_t)k->tokens * geometry_q_rows(k->tp) * 2; }
static size_t kt_bytes(const struct front_kernel_info *k) { return (size_t)k->tokens * geometry_keys(k->ratio, k->window) * 4; }

void layer_clear(const struct front_args *a, const struct front_kernel_info *k, struct ihipStream_t *s) {
  HIP(hipMemsetAsync(a->q, 0xa5, q_bytes(k), s));
  HIP(hipMemsetAsync(a->kt, 0xa5, kt_bytes(k), s));
  HIP(hipMemsetAsync(a->klen, 0xa5, k->tokens * 8, s));
  HIP(hipMemsetAsync(a->swa, 0xa5, LAYER_BLOCKS * (size_t)a->swa_stride, s));
}

void layer_read(const struct front_args *a, const struct front_kernel_info *k, struct layer_result *r) {
  memset(r, 0, sizeof *r);
  HIP(hipDeviceSynchronize());
  HIP(hipMemcpy(r->q, a->q, q_bytes(k), hipMemcpyDeviceToHost));
  HIP(hipMemcpy(r->kt, a->kt, kt_bytes(k), hipMemcpyDeviceToHost));
  HIP(hipMemcpy(r->klen, a->klen, k->tokens * 8, hipMemcpyDeviceToHost));
  HIP(hipMemcpy(r->swa, a->swa, sizeof r->swa, hipMemcpyDeviceToHost));
}
