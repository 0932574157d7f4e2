/* SPDX-License-Identifier: Apache-2.0 */
/* On this machine: models of the GPU's instructions that kernels_lanes.c uses, from their documents. */
#ifndef FRONT_TESTS_LANE_MODELS_H
#define FRONT_TESTS_LANE_MODELS_H

#include "corpus.h"

typedef float model_v2f __attribute__((vector_size(8)));

extern bool model_fnuz; /* the GPU's 8-bit floats are FNUZ */

u32 model_sad_u8(u32 a, u32 b, u32 c);
u32 model_msad_u8(u32 a, u32 b, u32 c);
u32 model_sad_hi_u8(u32 a, u32 b, u32 c);
u32 model_sad_u16(u32 a, u32 b, u32 c);
u64 model_qsad_pk_u16_u8(u64 a, u32 b, u64 c);
u64 model_mqsad_pk_u16_u8(u64 a, u32 b, u64 c);
u32 model_perm(u32 a, u32 b, u32 c);
u32 model_alignbit(u32 a, u32 b, u32 c);
u32 model_alignbyte(u32 a, u32 b, u32 c);
u32 model_lerp(u32 a, u32 b, u32 c);
int model_sdot4(int a, int b, int c, bool clamp);
u32 model_udot4(u32 a, u32 b, u32 c, bool clamp);
int model_sdot8(int a, int b, int c, bool clamp);
u32 model_udot8(u32 a, u32 b, u32 c, bool clamp);
u32 model_ubfe(u32 a, u32 offset, u32 width);
u32 model_sbfe(u32 a, u32 offset, u32 width);
int model_cvt_pk_fp8_f32(float x, float y, int old, bool high);
int model_cvt_pk_bf8_f32(float x, float y, int old, bool high);
int model_cvt_sr_fp8_f32(float x, int random, int old, u32 byte);
int model_cvt_sr_bf8_f32(float x, int random, int old, u32 byte);
float model_cvt_f32_fp8(int codes, u32 byte);
float model_cvt_f32_bf8(int codes, u32 byte);
model_v2f model_cvt_pk_f32_fp8(int codes, bool high);
model_v2f model_cvt_pk_f32_bf8(int codes, bool high);
int model_frexp_expf(float x);
int model_frexp_exp(double x);
float model_frexp_mantf(float x);
double model_frexp_mant(double x);
double model_fract(double x);
double model_trig_preop(double x, u32 segment);
float model_fmed3f(float x, float y, float z);
float model_cvt_off_f32_i4(int code);
u32 model_cubeless_class(float x);
u32 model_prng_b32(u32 v);
u32 model_bitop3_b32(u32 a, u32 b, u32 c, u32 table);

enum move {
  swizzle_quad,
  swizzle_mask,
  dpp_quad,
  dpp_shl,
  dpp_ror,
  dpp_mirror,
  dpp_half_mirror,
  dpp_wave_shr,
  dpp_newbcast,
  read_37,
  permute
};
u32 lane_move(enum move kind, u32 v);
void load_to_lds(const u32 *from, u32 *to, u32 wave, u32 lane);
void buffer_work(const u32 *from, u32 *to, u32 me, u32 i, u32 n);
void transpose_work(const u32 *matrix, u32 *to, u32 lane);
void swap_rows(u32 *a, u32 *b, u32 width);
void scale_work(const u32 *from, u32 *to, u32 n);

#endif
