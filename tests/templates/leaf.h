/* SPDX-License-Identifier: Apache-2.0 */
/* The leaf templates as LLVM compiles them for this machine: leaf_wrappers.ll. */
#ifndef FRONT_TESTS_LEAF_H
#define FRONT_TESTS_LEAF_H

#include <stdint.h>

float leaf_bf16_round(float x);
float leaf_div_rn(float x, float d, float r);
uint32_t leaf_ceil_exp(float v);
float leaf_mean_square_eps(float ssq, float n, float r, float eps);
float leaf_normed(float v, float r, float w);
uint32_t leaf_mx_code(float amax, float lowest, float m, float r);
float leaf_mx_mul(uint32_t code);
float leaf_clamped(float v, float multiplier, float m);
float leaf_rope_even(float a, float b, float cos, float sin);
float leaf_rope_odd(float a, float b, float cos, float sin);

#endif
