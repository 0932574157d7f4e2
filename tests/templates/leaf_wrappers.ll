; SPDX-License-Identifier: Apache-2.0
; External functions around the leaf templates, which are internal and always inlined: what test_leaf.c calls. Appended to the templates.

define float @leaf_bf16_round(float %x) {
  %y = call float @front.bf16_round(float %x)
  ret float %y
}

define float @leaf_div_rn(float %x, float %d, float %r) {
  %y = call float @front.div_rn(float %x, float %d, float %r)
  ret float %y
}

define i32 @leaf_ceil_exp(float %v) {
  %y = call i32 @front.ceil_exp(float %v)
  ret i32 %y
}

define float @leaf_mean_square_eps(float %ssq, float %n, float %r, float %eps) {
  %y = call float @front.mean_square_eps(float %ssq, float %n, float %r, float %eps)
  ret float %y
}

define float @leaf_normed(float %v, float %r, float %w) {
  %y = call float @front.normed(float %v, float %r, float %w)
  ret float %y
}

define i32 @leaf_mx_code(float %amax, float %floor, float %m, float %r) {
  %y = call i32 @front.mx_code(float %amax, float %floor, float %m, float %r)
  ret i32 %y
}

define float @leaf_mx_mul(i32 %code) {
  %y = call float @front.mx_mul(i32 %code)
  ret float %y
}

define float @leaf_clamped(float %v, float %multiplier, float %m) {
  %y = call float @front.clamped(float %v, float %multiplier, float %m)
  ret float %y
}

define float @leaf_rope_even(float %a, float %b, float %cos, float %sin) {
  %y = call float @front.rope_even(float %a, float %b, float %cos, float %sin)
  ret float %y
}

define float @leaf_rope_odd(float %a, float %b, float %cos, float %sin) {
  %y = call float @front.rope_odd(float %a, float %b, float %cos, float %sin)
  ret float %y
}
