/* SPDX-License-Identifier: Apache-2.0 */
/* The number formats and the few exact operations that the stages are made of. f32 throughout, round to nearest even, denormals kept,
   no contraction (this folder is compiled with -ffp-contract=off). */
#ifndef FRONT_NUMERIC_H
#define FRONT_NUMERIC_H

#include <stdbool.h>
#include <stdint.h>

/* An e4m3 variant. OCP: bias 7, largest finite 448, NaN 7F and FF. FNUZ (gfx942): bias 8, NaN 80, no -0. `max` is the clamp of
   section 6, which for FNUZ (224) is below the format's largest (240). */
struct ref_fp8 {
  float max;
  bool fnuz;
};
extern const struct ref_fp8 ref_fp8_ocp, ref_fp8_fnuz;

uint32_t ref_bits(float v);
float ref_float(uint32_t bits);

/* bf16. A NaN stays a NaN (its sign is kept, its payload is not promised). */
uint16_t ref_bf16(float v);
float ref_bf16_value(uint16_t bits);
/* The same from f64 in one rounding. */
uint16_t ref_bf16_of_double(double v);
bool ref_bf16_is_nan(uint16_t bits);

/* e4m3. Beyond the largest finite (after rounding) -> NaN; callers clamp first. */
uint8_t ref_e4m3(float v, const struct ref_fp8 *fp8);
float ref_e4m3_value(uint8_t bits, const struct ref_fp8 *fp8);
bool ref_e4m3_is_nan(uint8_t bits, const struct ref_fp8 *fp8);

/* 2^(code - 127); code 255 is a NaN. */
double ref_e8m0_value(uint8_t code);

/* max and min of which a NaN comes out as a NaN, and -0 < +0. */
float ref_max(float a, float b);
float ref_min(float a, float b);
float ref_clamp(float v, float limit);

/* x / d by the kernel's sequence: r = RN(1/d), q = x·r, fma(fma(-q, d, x), r, q). */
float ref_div_rn(float x, float d);

/* Biased exponent of v, plus 1 if its mantissa is not 0: the exponent of the next power of two. The sign does not count. */
uint32_t ref_ceil_exp(float v);

/* The code of a group whose largest magnitude is amax: clamp(ceil_exp(div_rn(max(amax, 2^-126), FP8_MAX)), 0, 254). */
uint8_t ref_mx_code(float amax, const struct ref_fp8 *fp8);
/* 2^(127 - code), as the float with bits (254 - code) << 23: code 254 gives 0. */
float ref_mx_multiplier(uint8_t code);
/* e4m3(clamp(v · multiplier, ±FP8_MAX)). */
uint8_t ref_mx_value(float v, float multiplier, const struct ref_fp8 *fp8);
/* `count` bf16 values (a multiple of 32) -> e4m3 values, and a code a group of 32. */
void ref_mx_row(const uint16_t *v, uint32_t count, const struct ref_fp8 *fp8, uint8_t *values, uint8_t *codes);

/* v_rsq_f32 as section 6 defines it: (float)(1 / sqrt((double)v)), moved by `ulps` steps of its bits. */
float ref_rsq(float v, int ulps);

/* A RoPE pair: (bf16(a·cos - b·sin), bf16(a·sin + b·cos)). */
void ref_rope(float a, float b, float cos, float sin, uint16_t out[2]);

#endif
