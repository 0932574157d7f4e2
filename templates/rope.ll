; SPDX-License-Identifier: Apache-2.0
; RoPE of a GPT-J pair (a, b) by (cos, sin).

; rope_even = bf16(a cos - b sin)
define internal float @front.rope_even(float %a, float %b, float %cos, float %sin) alwaysinline {
  %x = fmul float %a, %cos
  %y = fmul float %b, %sin
  %sum = fsub float %x, %y
  %e = call float @front.bf16_round(float %sum)
  ret float %e
}

; rope_odd = bf16(a sin + b cos)
define internal float @front.rope_odd(float %a, float %b, float %cos, float %sin) alwaysinline {
  %x = fmul float %a, %sin
  %y = fmul float %b, %cos
  %sum = fadd float %x, %y
  %e = call float @front.bf16_round(float %sum)
  ret float %e
}
