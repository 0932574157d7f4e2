; SPDX-License-Identifier: Apache-2.0
; MXFP8: codes, multipliers and clamping of a group. m is FP8_MAX, r = RN(1/m).

; mx_code(amax, floor, m, r) = min(ceil_exp(div_rn(max(amax, floor), m)), 254)
define internal i32 @front.mx_code(float %amax, float %floor, float %m, float %r) alwaysinline {
  %floored = call float @llvm.maximum.f32(float %amax, float %floor)
  %quotient = call float @front.div_rn(float %floored, float %m, float %r)
  %exponent = call i32 @front.ceil_exp(float %quotient)
  %code = call i32 @llvm.umin.i32(i32 %exponent, i32 254)
  ret i32 %code
}

; mx_mul(code) = 2^(127 - code), the float with bits (254 - code) << 23
define internal float @front.mx_mul(i32 %code) alwaysinline {
  %exponent = sub i32 254, %code
  %bits = shl i32 %exponent, 23
  %multiplier = bitcast i32 %bits to float
  ret float %multiplier
}

; clamped(v, multiplier, m) = max(min(v multiplier, m), -m); a NaN passes
define internal float @front.clamped(float %v, float %multiplier, float %m) alwaysinline {
  %scaled = fmul float %v, %multiplier
  %low = fneg float %m
  %below = call float @llvm.minimum.f32(float %scaled, float %m)
  %clamped = call float @llvm.maximum.f32(float %below, float %low)
  ret float %clamped
}
