/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary kernels: reductions, scans, sorting, tiles in LDS. */
#include "corpus.h"

/* --- sums, softmax, layer norm: a row of 256 a workgroup ------------------------------------------------------------------------- */

LDS(float, partial, CORPUS_ITEMS);

static float group_sum(float v) {
  u32 i = item();
  partial[i] = v;
  barrier();
  for (u32 s = CORPUS_ITEMS / 2; s; s /= 2) {
    if (i < s) partial[i] += partial[i + s];
    barrier();
  }
  float sum = partial[0];
  barrier();
  return sum;
}

static float group_max(float v) {
  u32 i = item();
  partial[i] = v;
  barrier();
  for (u32 s = CORPUS_ITEMS / 2; s; s /= 2) {
    if (i < s) partial[i] = __builtin_fmaxf(partial[i], partial[i + s]);
    barrier();
  }
  float most = partial[0];
  barrier();
  return most;
}

CORPUS_KERNEL(reduce_sum) {
  float sum = 0;
  for (u32 k = 0; k < n; k++) sum += small_float_of(in[(everyone() + k * 1024) % CORPUS_WORDS]);
  sum = group_sum(sum);
  if (item() == 0) out[group()] = float_bits(sum);
}

CORPUS_KERNEL(softmax) {
  float v = small_float_of(in[everyone()]) / 16, most = group_max(v), e = __builtin_exp2f((v - most) * 1.44269504f);
  out[everyone()] = float_bits(e / group_sum(e));
  (void)n;
}

CORPUS_KERNEL(layer_norm) {
  float v = small_float_of(in[everyone()]), mean = group_sum(v) / CORPUS_ITEMS, d = v - mean;
  float variance = group_sum(d * d) / CORPUS_ITEMS;
  out[everyone()] = float_bits(d / __builtin_sqrtf(variance + 1e-5f) * small_float_of(in[item() + 7]) + (float)n);
}

CORPUS_KERNEL(rms_norm_halves) {
  float v = small_float_of(in[everyone()]), sum = group_sum(v * v);
  _Float16 y = (_Float16)(v / __builtin_sqrtf(sum / CORPUS_ITEMS + 1e-6f));
  GLOBAL _Float16 *halves = (GLOBAL _Float16 *)out;
  halves[everyone()] = y * (_Float16)0.5f;
  (void)n;
}

/* --- tiles ------------------------------------------------------------------------------------------------------------------------- */

LDS(u32, tile, 64 * 65);

CORPUS_KERNEL(transpose) {
  for (u32 r = item() / 64; r < 64; r += 4) tile[r * 65 + item() % 64] = in[group() * 4096 + r * 64 + item() % 64];
  barrier();
  for (u32 r = item() / 64; r < 64; r += 4) out[group() * 4096 + r * 64 + item() % 64] = tile[item() % 64 * 65 + r];
  (void)n;
}

LDS(float, a_tile, 16 * 16);
LDS(float, b_tile, 16 * 16);

/* C = A B, 64 x 64 by 64: a workgroup makes a row of four tiles of 16 x 16. */
CORPUS_KERNEL(gemm_tiles) {
  u32 r = item() / 16, c = item() % 16;
  for (u32 across = 0; across < 4; across++) {
    float sum = 0;
    for (u32 k = 0; k < 64; k += 16) {
      a_tile[r * 16 + c] = (float)(i8)in[(group() * 16 + r) * 64 + k + c];
      b_tile[r * 16 + c] = (float)(i8)in[8192 + (k + r) * 64 + across * 16 + c];
      barrier();
      for (u32 j = 0; j < 16; j++) sum = __builtin_fmaf(a_tile[r * 16 + j], b_tile[j * 16 + c], sum);
      barrier();
    }
    out[(group() * 16 + r) * 64 + across * 16 + c] = float_bits(sum);
  }
  (void)n;
}

/* A 3 x 3 filter with edges. */
CORPUS_KERNEL(stencil) {
  const i32 width = 64, height = 16;
  for (i32 at = (i32)item(); at < width * height; at += CORPUS_ITEMS) {
    i32 x = at % width, y = at / width, sum = 0;
    for (i32 dy = -1; dy <= 1; dy++)
      for (i32 dx = -1; dx <= 1; dx++) {
        i32 px = x + dx < 0 ? 0 : x + dx >= width ? width - 1 : x + dx, py = y + dy;
        if (py < 0 || py >= height) continue;
        sum += (i32)(in[group() * 1024 + (u32)(py * width + px)] & 0xFFFF) * (dx == 0 && dy == 0 ? 8 : -1);
      }
    out[group() * 1024 + (u32)at] = (u32)sum;
  }
  (void)n;
}

/* --- counting and ordering ---------------------------------------------------------------------------------------------------------- */

LDS(u32, bins, 64);

CORPUS_KERNEL(histogram) {
  if (item() < 64) bins[item()] = 0;
  barrier();
  for (u32 k = 0; k < 4; k++) __atomic_fetch_add(&bins[in[everyone() + k * 1024] % 64], 1, __ATOMIC_RELAXED);
  barrier();
  if (item() < 64) __atomic_fetch_add(&out[item()], bins[item()], __ATOMIC_RELAXED);
  (void)n;
}

LDS(u32, wave_total, CORPUS_ITEMS / CORPUS_WAVE);

/* Inclusive sums, by DPP within a wave, by LDS between waves. */
CORPUS_KERNEL(scan) {
  u32 v = in[everyone()] & 0xFFF;
  v += row_shift_right(v, 1);
  v += row_shift_right(v, 2);
  v += row_shift_right(v, 4);
  v += row_shift_right(v, 8);
  v += row_before(v);
  v += half_before(v);
  if (item() % CORPUS_WAVE == CORPUS_WAVE - 1) wave_total[item() / CORPUS_WAVE] = v;
  barrier();
  for (u32 w = 0; w < item() / CORPUS_WAVE; w++) v += wave_total[w];
  out[everyone()] = v;
  (void)n;
}

LDS(u32, keys, CORPUS_ITEMS);

CORPUS_KERNEL(bitonic_sort) {
  u32 i = item();
  keys[i] = in[everyone()];
  barrier();
  for (u32 k = 2; k <= CORPUS_ITEMS; k *= 2)
    for (u32 j = k / 2; j; j /= 2) {
      u32 other = i ^ j;
      if (other > i) {
        u32 x = keys[i], y = keys[other];
        if ((x > y) == ((i & k) == 0)) keys[i] = y, keys[other] = x;
      }
      barrier();
    }
  out[everyone()] = keys[i];
  (void)n;
}

/* Those that pass a test, packed to the front in order. */
CORPUS_KERNEL(compact) {
  u32 v = in[everyone()];
  bool pass = v % 3 == 0;
  u64 mask = ballot(pass);
  u32 before = ones_below(mask);
  if (item() % CORPUS_WAVE == 0) wave_total[item() / CORPUS_WAVE] = (u32)__builtin_popcountll(mask);
  barrier();
  u32 start = 0;
  for (u32 w = 0; w < item() / CORPUS_WAVE; w++) start += wave_total[w];
  if (pass) out[group() * CORPUS_ITEMS + start + before] = v;
  (void)n;
}

CORPUS_KERNEL(top_of_wave) {
  u32 l = item() % CORPUS_WAVE, best = in[everyone()], where = l;
  for (u32 step = 32; step; step /= 2) {
    u32 v = shuffle(best, l ^ step), w = shuffle(where, l ^ step);
    if (v > best || (v == best && w < where)) best = v, where = w;
  }
  out[everyone()] = first_lane(best) + where * n;
}

/* Workgroups take turns by a flag each: the last work of one is seen by the next. */
CORPUS_KERNEL(chain) {
  GLOBAL u32 *flag = out + 4096, *sum = out + 8192;
  if (item() == 0 && group() > 0)
    while (__atomic_load_n(&flag[group() - 1], __ATOMIC_ACQUIRE) == 0) {
    }
  barrier();
  u32 before = group() ? __atomic_load_n(&sum[(group() - 1) * CORPUS_ITEMS + item()], __ATOMIC_RELAXED) : 0;
  __atomic_store_n(&sum[everyone()], before + in[everyone()], __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  barrier();
  if (item() == 0) __atomic_store_n(&flag[group()], 1, __ATOMIC_RELEASE);
  out[everyone()] = before * n;
}
