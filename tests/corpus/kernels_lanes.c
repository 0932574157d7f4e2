/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of what C has no word for: conversions to 8 bits and fewer, dot products, moves between lanes, buffers, loads to LDS. On this
   machine each is a model of its own (lane_models.h). */
#include "corpus.h"

#ifdef __AMDGCN__
#include "lane_moves.h"
#define gpu(name) __builtin_amdgcn_##name
#else
#include "lane_models.h"
#define gpu(name) model_##name
#endif

typedef float v2f __attribute__((vector_size(8)));

/* --- arithmetic ------------------------------------------------------------------------------------------------------------------------
 */

CORPUS_KERNEL(bytes_and_dots) {
  u32 a = in[everyone()], b = in[everyone() + 1024], c = in[everyone() + 2048];
  GLOBAL u32 *to = out + everyone() * 16;
  u64 wide = (u64)b << 32 | a, sums = (u64)c << 32 | b;
  u64 q = gpu(qsad_pk_u16_u8)(wide, c, sums), m = gpu(mqsad_pk_u16_u8)(wide, c, sums);
  to[0] = gpu(sad_u8)(a, b, c);
  to[1] = gpu(msad_u8)(a, b, c);
  to[2] = gpu(sad_hi_u8)(a, b, c);
  to[3] = gpu(sad_u16)(a, b, c);
  to[4] = (u32)q ^ (u32)(m >> 32);
  to[5] = (u32)(q >> 32) ^ (u32)m;
  to[6] = gpu(perm)(a, b, c & 0x0F0F0F0F);
  to[7] = gpu(alignbit)(a, b, c) ^ gpu(alignbyte)(a, b, c);
  to[8] = gpu(lerp)(a, b, c);
  to[9] = (u32)gpu(sdot4)((int)a, (int)b, (int)c, false);
  to[10] = gpu(udot4)(a, b, c, false);
  to[11] = (u32)gpu(sdot8)((int)a, (int)b, (int)c, false);
  to[12] = gpu(udot8)(a, b, c, false);
  to[13] = gpu(ubfe)(a, b & 31, c & 31) + gpu(sbfe)(a, b & 31, c & 31) + n;
  to[14] = (a & 0xFFFFFF) * (b & 0xFFFFFF) + c;
  to[15] = (u32)(((i32)(a << 8) >> 8) * (i64)((i32)(b << 8) >> 8) >> 32) + (a ^ b) + (a << 3) + (b | c);
}

/* All codes of both 8-bit formats, out and back. */
CORPUS_KERNEL(eight_bit_floats) {
  float x = small_float_of(in[everyone()]), y = small_float_of(in[everyone() + 1024]) / 64;
  u32 codes = (u32)gpu(cvt_pk_fp8_f32)(x, y, (int)in[everyone()], true), more = (u32)gpu(cvt_pk_bf8_f32)(y, x, (int)codes, false);
  GLOBAL float *to = (GLOBAL float *)out + everyone() * 8;
  out[everyone() * 8] = codes;
  out[everyone() * 8 + 1] = more;
  u32 finite = everyone() % 120 | everyone() % 113 << 8 | (0x81 + everyone() % 77) << 16 | (0x81 + everyone() % 90) << 24;
  to[2] = gpu(cvt_f32_fp8)((int)finite, 0) + gpu(cvt_f32_fp8)((int)finite, 2);
  to[3] = gpu(cvt_f32_bf8)((int)finite, 1) + gpu(cvt_f32_bf8)((int)finite, 3);
  v2f p = gpu(cvt_pk_f32_fp8)((int)finite, true), q = gpu(cvt_pk_f32_bf8)((int)finite, false);
  to[4] = p[0] + p[1] * 2;
  to[5] = q[0] + q[1] * 2;
  out[everyone() * 8 + 6] = (u32)gpu(cvt_sr_fp8_f32)(x, (int)in[everyone() + 2048], (int)codes, 1);
  out[everyone() * 8 + 7] = (u32)gpu(cvt_sr_bf8_f32)(y, (int)in[everyone() + 2048], (int)codes, 2) + n;
}

CORPUS_KERNEL(float_parts) {
  float x = small_float_of(in[everyone()]), y = small_float_of(in[everyone() + 1024]);
  double d = (double)(i64)((u64)in[everyone()] << 32 | in[everyone() + 1]) / 3;
  GLOBAL u32 *to = out + everyone() * 8;
  to[0] = (u32)gpu(frexp_expf)(x) + (u32)gpu(frexp_exp)(d) * 1000;
  to[1] = float_bits(gpu(frexp_mantf)(x) + gpu(fmed3f)(x, y, 3));
  to[2] = (u32)(i32)(gpu(frexp_mant)(d) * 0x1p30) + (u32)(i32)(gpu(fract)(d) * 0x1p20);
  to[3] = (u32)(u64)(gpu(trig_preop)(d, 1) * 0x1p110);
  to[4] = float_bits((float)(_Float16)x * (float)(_Float16)y + (float)n);
  to[5] = gpu(cubeless_class)(x);
  to[6] = float_bits(gpu(cvt_off_f32_i4)((int)in[everyone()]));
  to[7] = (u32)(x < y) | (u32)(x >= y) << 1 | (u32)(d > 0) << 2 | (u32)(d != d) << 3 | (u32)((i64)d < 7) << 4 |
          (u32)((u64)in[everyone()] <= n) << 5;
}

/* --- lanes ------------------------------------------------------------------------------------------------------------------------------
 */

CORPUS_KERNEL(moves_between_lanes) {
  u32 v = in[everyone()], l = item() % CORPUS_WAVE, sum = 0;
  sum = sum * 3 + lane_move(swizzle_quad, v);
  sum = sum * 3 + lane_move(swizzle_mask, v);
  sum = sum * 3 + lane_move(dpp_quad, v);
  sum = sum * 3 + lane_move(dpp_shl, v);
  sum = sum * 3 + lane_move(dpp_ror, v);
  sum = sum * 3 + lane_move(dpp_mirror, v);
  sum = sum * 3 + lane_move(dpp_half_mirror, v);
  sum = sum * 3 + lane_move(dpp_wave_shr, v);
  sum = sum * 3 + lane_move(dpp_newbcast, v);
  sum = sum * 3 + lane_move(read_37, v);
  sum = sum * 3 + lane_move(permute, v);
  out[everyone()] = sum + shuffle(v, l * 5 + n);
}

/* --- memory ------------------------------------------------------------------------------------------------------------------------------
 */

LDS(u32, landing, 1024);

CORPUS_KERNEL(loads_to_lds) {
  u32 wave = item() / CORPUS_WAVE;
  load_to_lds(in + group() * 1024, landing, wave, item() % CORPUS_WAVE);
  barrier();
  for (u32 k = 0; k < 3; k++) out[everyone() * 4 + k] = landing[k * 256 + (item() * 7 & 255)] + n;
}

CORPUS_KERNEL(buffers) { buffer_work(in + group() * 2048, out + everyone() * 8, everyone(), item(), n); }

#if !defined(__AMDGCN__) || defined(__gfx950__)

LDS(u32, matrix, 64 * 4 * 4);

CORPUS_KERNEL(transposing_reads) {
  for (u32 k = 0; k < 4; k++) matrix[k * 256 + item()] = in[everyone() * 4 + k];
  barrier();
  transpose_work(matrix + item() / CORPUS_WAVE * 256, out + everyone() * 12, item() % CORPUS_WAVE);
  (void)n;
}

CORPUS_KERNEL(scaled_conversions) { scale_work(in + everyone() * 48, out + everyone() * 56, n); }

CORPUS_KERNEL(rows_swapped) {
  u32 a = in[everyone()], b = in[everyone() + 1024];
  swap_rows(&a, &b, 16);
  swap_rows(&a, &b, 32);
  out[everyone() * 2] = a;
  out[everyone() * 2 + 1] = b ^ gpu(prng_b32)(a) ^ gpu(bitop3_b32)(a, b, n, 0x6A);
}

#endif
