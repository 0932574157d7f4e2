/* SPDX-License-Identifier: Apache-2.0 */
/* For the GPU: what kernels_lanes.c calls; lane_models.h has the same for this machine. */
#ifndef FRONT_TESTS_LANE_MOVES_H
#define FRONT_TESTS_LANE_MOVES_H

#include "corpus.h"

enum { dpp_all = 15 };
#define DPP(v, control)    ((u32)__builtin_amdgcn_update_dpp(0, (int)(v), control, dpp_all, dpp_all, true))
#define lane_move(kind, v) lane_move_##kind(v)
#define MOVE(kind, value)                                                                                                                  \
  CORPUS_FN u32 lane_move_##kind(u32 v) { return value; }
MOVE(swizzle_quad, (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x8000 | 0x1B))
MOVE(swizzle_mask, (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x1F | 2 << 5 | 4 << 10))
MOVE(dpp_quad, DPP(v, 0x4E))
MOVE(dpp_shl, DPP(v, 0x103))
MOVE(dpp_ror, DPP(v, 0x125))
MOVE(dpp_mirror, DPP(v, 0x140))
MOVE(dpp_half_mirror, DPP(v, 0x141))
MOVE(dpp_wave_shr, DPP(v, 0x138))
MOVE(dpp_newbcast, DPP(v, 0x156))
MOVE(read_37, (u32)__builtin_amdgcn_readlane((int)v, 37))
MOVE(permute, (u32)__builtin_amdgcn_ds_permute((int)((item() * 5 + 3) % 64 * 4), (int)v))

#define __builtin_amdgcn_cubeless_class(x) ((u32)__builtin_isinf(x) | (u32)__builtin_isnan(x) << 1 | (u32)__builtin_isnormal(x) << 2)

CORPUS_FN void load_to_lds(GLOBAL const u32 *from, SHARED u32 *to, u32 wave, u32 lane) {
  __builtin_amdgcn_global_load_lds(from + wave * 64 + lane, to + wave * 64, 4, 0, 0);
  __amdgpu_buffer_rsrc_t rsrc = __builtin_amdgcn_make_buffer_rsrc((void *)from, 0, 4096, 0x00027000);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(rsrc, to + 256 + wave * 64, 4, (int)((wave * 64 + (lane ^ 1)) * 4), 1024, 0, 0);
#ifdef __gfx950__
  if (wave == 0) __builtin_amdgcn_global_load_lds(from + 512 + lane * 4, to + 512, 16, 0, 0);
#else
  to[512 + wave * 64 + lane] = from[512 + wave * 64 + lane];
#endif
}

CORPUS_FN void buffer_work(GLOBAL const u32 *from, GLOBAL u32 *to, u32 me, u32 i, u32 n) {
  __amdgpu_buffer_rsrc_t rsrc = __builtin_amdgcn_make_buffer_rsrc((void *)from, 0, 4000, 0x00027000);
  __amdgpu_buffer_rsrc_t sink = __builtin_amdgcn_make_buffer_rsrc((void *)to, 0, 28, 0x00027000);
  typedef u32 v4 __attribute__((ext_vector_type(4)));
  typedef u32 v2 __attribute__((ext_vector_type(2)));
  u32 a = __builtin_amdgcn_raw_buffer_load_b32(rsrc, (int)(i * 16), 0, 0),
      b = __builtin_amdgcn_raw_buffer_load_b8(rsrc, (int)(i * 3), 16, 0);
  u32 c = __builtin_amdgcn_raw_buffer_load_b16(rsrc, (int)(i * 2), (int)n * 4, 0);
  v4 d = __builtin_amdgcn_raw_buffer_load_b128(rsrc, (int)(i * 16), 0, 0);
  v2 e = __builtin_amdgcn_raw_buffer_load_b64(rsrc, (int)(i * 8), 64, 0);
  __builtin_amdgcn_raw_buffer_store_b32(a + b, sink, 0, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b64((v2){c ^ e[0], e[1] + me}, sink, 8, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b128(d, sink, 16, 0, 0); /* its last dword lies outside */
  __builtin_amdgcn_raw_buffer_store_b8((u8)i, sink, 5, 0, 0);
}

#ifdef __gfx950__
CORPUS_FN void transpose_work(SHARED u32 *matrix, GLOBAL u32 *to, u32 lane) {
  typedef i16 s4 __attribute__((ext_vector_type(4)));
  typedef i32 v2 __attribute__((ext_vector_type(2)));
  typedef i32 v3 __attribute__((ext_vector_type(3)));
  s4 a = __builtin_amdgcn_ds_read_tr16_b64_v4i16((SHARED s4 *)(matrix + lane * 2));
  v2 b = __builtin_amdgcn_ds_read_tr8_b64_v2i32((SHARED v2 *)(matrix + lane * 2)),
     c = __builtin_amdgcn_ds_read_tr4_b64_v2i32((SHARED v2 *)(matrix + lane * 4));
  v3 d = __builtin_amdgcn_ds_read_tr6_b96_v3i32((SHARED v3 *)(matrix + lane * 4));
  *(GLOBAL s4 *)to = a;
  to[2] = (u32)b[0], to[3] = (u32)b[1], to[4] = (u32)c[0], to[5] = (u32)c[1], to[6] = (u32)d[0], to[7] = (u32)d[1], to[8] = (u32)d[2];
}

CORPUS_FN void swap_rows(u32 *a, u32 *b, u32 width) {
  typedef u32 v2 __attribute__((ext_vector_type(2)));
  v2 r = width == 16 ? __builtin_amdgcn_permlane16_swap(*a, *b, false, false) : __builtin_amdgcn_permlane32_swap(*a, *b, false, false);
  *a = r[0], *b = r[1];
}

CORPUS_FN void scale_work(GLOBAL const u32 *from, GLOBAL u32 *to, u32 n) {
  typedef float f32v __attribute__((ext_vector_type(32)));
  typedef float f16v __attribute__((ext_vector_type(16)));
  typedef float f2 __attribute__((ext_vector_type(2)));
  typedef u32 u6 __attribute__((ext_vector_type(6)));
  typedef _Float16 h2 __attribute__((ext_vector_type(2)));
  float scale = as_float((120 + from[0] % 16) << 23), x = small_float_of(from[1]), y = small_float_of(from[2]);
  f32v v;
  f16v lo, hi;
  for (u32 k = 0; k < 32; k++) v[k] = small_float_of(from[k + 3]) / 32;
  for (u32 k = 0; k < 16; k++) lo[k] = v[k], hi[k] = v[k + 16];
  u6 a = __builtin_amdgcn_cvt_scalef32_2xpk16_fp6_f32(lo, hi, 2.0f), b = __builtin_amdgcn_cvt_scalef32_sr_pk32_bf6_f32(v, from[40], 0.5f);
  f32v back = __builtin_amdgcn_cvt_scalef32_pk32_f32_bf6(b, 4.0f);
  for (u32 k = 0; k < 6; k++) to[k] = a[k], to[k + 6] = b[k];
  for (u32 k = 0; k < 32; k++) to[12 + k] = float_bits(back[k]);
  to[44] = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(from[41], x, y, scale, 2);
  to[45] =
      __builtin_amdgcn_cvt_scalef32_sr_pk_fp4_f32(0, (f2){x, y}, from[42], scale, 1) >> 8 & 255; /* LLVM 22 forgets the first operand */
  f2 p = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(to[44], 2.0f, 2);
  to[46] = float_bits(p[0]) ^ float_bits(p[1]);
  h2 half = {(_Float16)x, (_Float16)y};
  typedef short s2 __attribute__((ext_vector_type(2)));
  s2 codes = __builtin_amdgcn_cvt_scalef32_pk_fp8_f16((s2){1, 2}, half, scale, true);
  to[47] = (u16)codes[0] | (u32)(u16)codes[1] << 16;
  h2 wide = __builtin_amdgcn_cvt_scalef32_pk_f16_fp8((u32)to[47], 1.0f, true);
  to[48] = float_bits((float)wide[0] + (float)wide[1]);
  to[49] = (u32)__builtin_amdgcn_cvt_scalef32_sr_bf8_f32((int)from[43], x, from[44], scale, 3) + n;
}
#endif

#endif
