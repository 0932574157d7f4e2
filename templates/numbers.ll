; SPDX-License-Identifier: Apache-2.0
; f32 numbers: bf16 rounding, division by a constant, exponents. No contraction: a*b + c is two roundings unless it says fma.
; bf16_round(x) = x rounded to bf16, to nearest even
define internal float @front.bf16_round(float %x) alwaysinline {
  %narrow = fptrunc float %x to bfloat
  %wide = fpext bfloat %narrow to float
  ret float %wide
}

; div_rn(x, d, r = RN(1/d)): q = x r; fma(fma(-q, d, x), r, q). The IEEE quotient where x is finite and the quotient normal.
define internal float @front.div_rn(float %x, float %d, float %r) alwaysinline {
  %q = fmul float %x, %r
  %minus = fneg float %q
  %rest = call float @llvm.fma.f32(float %minus, float %d, float %x)
  %quotient = call float @llvm.fma.f32(float %rest, float %r, float %q)
  ret float %quotient
}

; ceil_exp(v) = biased exponent of |v|, plus 1 if its mantissa is not 0
define internal i32 @front.ceil_exp(float %v) alwaysinline {
  %bits = bitcast float %v to i32
  %magnitude = and i32 %bits, 2147483647
  %up = add i32 %magnitude, 8388607
  %exponent = lshr i32 %up, 23
  ret i32 %exponent
}

; mean_square_eps(ssq, n, 1/n, eps) = div_rn(ssq, n) + eps
define internal float @front.mean_square_eps(float %ssq, float %n, float %r, float %eps) alwaysinline {
  %mean = call float @front.div_rn(float %ssq, float %n, float %r)
  %sum = fadd float %mean, %eps
  ret float %sum
}

; normed(v, r, w) = bf16((v r) w)
define internal float @front.normed(float %v, float %r, float %w) alwaysinline {
  %scaled = fmul float %v, %r
  %weighted = fmul float %scaled, %w
  %y = call float @front.bf16_round(float %weighted)
  ret float %y
}
