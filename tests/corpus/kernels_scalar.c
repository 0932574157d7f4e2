/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one work-item's own arithmetic and memory: wide integers, doubles, small types, private arrays, flat pointers, calls. */
#include "corpus.h"

/* --- integers ------------------------------------------------------------------------------------------------------------------------ */

CORPUS_KERNEL(divide_integers) {
  u32 a = in[everyone()], b = in[everyone() + 1024] | 1;
  u64 x = (u64)a << 32 | in[everyone() + 2048], y = (u64)(b >> (a % 40 % 32)) << (a & 15) | 1;
  GLOBAL u64 *to = (GLOBAL u64 *)out + everyone() * 8;
  to[0] = x / y;
  to[1] = x % y;
  to[2] = (u64)((i64)x / (i64)(y | 2));
  to[3] = (u64)((i64)x % (i64)(y | 2));
  to[4] = a / b + ((u64)(a % b) << 32);
  to[5] = (u64)(i64)((i32)a / (i32)(b | 2)) ^ (u64)(i64)((i32)a % (i32)(b | 2));
  to[6] = (u64)((u16)a / (u16)(b | 1)) | (u64)((u8)a % (u8)(b | 1)) << 32;
  to[7] = (u64)(((unsigned __int128)x * y) >> 64) + x / 1000003 + n;
}

CORPUS_KERNEL(count_bits) {
  u32 a = in[everyone()], b = in[everyone() + 1024], s = b & 31;
  u64 x = (u64)a << 32 | b;
  GLOBAL u32 *to = out + everyone() * 8;
  to[0] = (u32)__builtin_popcount(a) + (u32)__builtin_popcountll(x) * 100;
  to[1] = a ? (u32)__builtin_clz(a) + (u32)__builtin_ctz(a) * 100 : 7;
  to[2] = x ? (u32)__builtin_clzll(x) + (u32)__builtin_ctzll(x) * 100 : 9;
  to[3] = __builtin_bswap32(a) ^ (u32)__builtin_bswap64(x);
  to[4] = a << s | a >> ((32 - s) & 31);
  to[5] = (u32)((i32)a >> s) ^ (u32)(x >> (b & 63)) ^ (u32)((i64)x >> (a & 63));
  to[6] = (a & b) | (~a & n) | (a ^ (b | 5));
  to[7] = (u32)((i32)(a << 8) >> 20) + (a >> 5 & 0x1FF) * 3 + (u32)(i32)(i16)b;
}

CORPUS_KERNEL(clamp_and_carry) {
  u32 a = in[everyone()], b = in[everyone() + 1024], sum, c = 0;
  i32 x = (i32)a, y = (i32)b, t;
  c += __builtin_add_overflow(a, b, &sum);
  c += __builtin_sub_overflow(x, y, &t) ? 16 : 0;
  c += __builtin_mul_overflow(x, y, &t) ? 256 : 0;
  i16 p = (i16)a, q = (i16)b;
  i32 wide = (i32)p + q;
  out[everyone() * 2] = c ^ sum;
  out[everyone() * 2 + 1] = (u32)(wide > 32767 ? 32767 : wide < -32768 ? -32768 : wide) ^ (x < y ? a : b) ^ (a > n ? b : a);
}

static NOINLINE u32 collatz(u32 v, u32 limit) {
  u32 steps = 0;
  while (v > 1 && steps < limit) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    steps++;
  }
  return steps;
}

CORPUS_KERNEL(divergent_loops) { out[everyone()] = collatz(in[everyone()] & 0xFFFF, 100 + n) * 7 + collatz(everyone(), 50); }

CORPUS_KERNEL(switches) {
  u32 v = in[everyone()], r = v;
  for (u32 k = 0; k < 6; k++) {
    switch (v >> (4 * k) & 15) {
    case 0:
      r += 17;
      break;
    case 1:
      r ^= 0xABCD;
      break;
    case 2:
      r = r << 3 | r >> 29;
      break;
    case 3:
      r *= 5;
      break;
    case 4:
      r -= everyone();
      break;
    case 5:
      r = ~r; /* and on */
      __attribute__((fallthrough));
    case 6:
      r += r >> 7;
      break;
    case 7:
      r = (u32)__builtin_popcount(r);
      break;
    case 8:
      if (r & 1) r += n;
      break;
    case 12:
      r = r / 3;
      break;
    default:
      r ^= v >> 9;
    }
  }
  out[everyone()] = r;
}

static NOINLINE u32 twice(u32 v) { return 2 * v + 1; }
static NOINLINE u32 squared(u32 v) { return v * v; }
static NOINLINE u32 folded(u32 v) { return v ^ v >> 16; }
static NOINLINE u32 depth(u32 v, u32 left) { return left ? depth(v * 3 + left, left - 1) ^ v : v; }

CORPUS_KERNEL(calls_by_pointer) {
  u32 (*const table[3])(u32) = {twice, squared, folded};
  u32 v = in[everyone()];
  for (u32 k = 0; k < 4; k++) v = table[(v >> k) % 3](v);
  out[everyone()] = v + depth(v, 5) + n;
}

/* --- memory -------------------------------------------------------------------------------------------------------------------------- */

CORPUS_KERNEL(private_array) {
  u32 stack[48];
  for (u32 k = 0; k < 48; k++) stack[k] = k * 0x01010101;
  u32 v = in[everyone()];
  for (u32 k = 0; k < 16; k++) {
    u32 at = (v >> k) % 48;
    stack[at] += v ^ k;
    v = stack[(at * 7 + k) % 48] + (v << 1 | v >> 31);
  }
  u8 *bytes = (u8 *)stack;
  out[everyone()] = v + bytes[v % 192] + *(u16 *)(bytes + v % 96 * 2) + n;
}

LDS(u32, pot, 4 * CORPUS_ITEMS);

/* A pointer that is private, LDS or global memory, lane by lane. */
CORPUS_KERNEL(flat_pointers) {
  u32 own[4] = {1, 2, 3, 4}, kind = in[everyone()] % 3;
  for (u32 k = 0; k < 4; k++) pot[item() * 4 + k] = 1000 + item() * k;
  barrier();
  u32 *p = kind == 0 ? own : kind == 1 ? (u32 *)&pot[item() * 4] : (u32 *)&out[8192 + everyone() * 4];
  u32 sum = 0;
  for (u32 k = 0; k < 4; k++) {
    p[k] += k * 3;
    sum = sum * 31 + p[k];
  }
  *(u8 *)p = 200;
  barrier();
  out[everyone()] = sum + own[0] + pot[(item() * 4 + 4) % 1024] + n;
}

CORPUS_KERNEL(flat_atomics) {
  pot[item()] = 0;
  barrier();
  u32 *p = item() & 1 ? (u32 *)&pot[item() / 16] : (u32 *)&out[4096 + item() / 16];
  __atomic_fetch_add(p, in[everyone()] & 0xFFFF, __ATOMIC_RELAXED);
  __atomic_fetch_xor(p + 16, in[everyone()], __ATOMIC_RELAXED);
  barrier();
  if (item() < 64) out[group() * 64 + item()] = pot[item()];
  (void)n;
}

struct mixed {
  u8 a;
  u16 b;
  u32 c[3];
  u64 d;
  float e;
};

CORPUS_KERNEL(bytes_and_structs) {
  struct mixed m, t;
  __builtin_memset(&m, 0x5A, sizeof m);
  u32 v = in[everyone()];
  m.a = (u8)v, m.b = (u16)(v >> 3), m.c[v % 3] = v, m.d = (u64)v * v, m.e = (float)v;
  __builtin_memcpy(&t, &m, sizeof m);
  GLOBAL const u8 *bytes = (GLOBAL const u8 *)in + everyone() * 3;
  GLOBAL const i8 *chars = (GLOBAL const i8 *)in + everyone() * 5;
  GLOBAL u8 *to = (GLOBAL u8 *)out + everyone() * 32;
  GLOBAL u16 *halves = (GLOBAL u16 *)(to + 8);
  for (u32 k = 0; k < 5; k++) to[k] = (u8)(bytes[k] + k);
  halves[0] = (u16)(i16)chars[1];
  halves[1] = (u16)(t.b + t.a);
  *(GLOBAL u32 *)(to + 16) = t.c[0] + t.c[1] * 3 + t.c[2] + (u32)t.d + (u32)(t.d >> 32) + n;
  u32 odd;
  __builtin_memcpy(&odd, (const u8 *)bytes + 1, 4);
  *(GLOBAL u32 *)(to + 20) = odd + float_bits(t.e);
}

typedef u32 v3u __attribute__((vector_size(16)));
typedef u32 v8u __attribute__((vector_size(32)));
typedef u64 v2l __attribute__((vector_size(16)));

CORPUS_KERNEL(wide_vectors) {
  v8u a = *(GLOBAL const v8u *)(in + everyone() * 8), b = a * 3 + (v8u){1, 2, 3, 4, 5, 6, 7, 8};
  v2l c = *(GLOBAL const v2l *)(in + everyone() * 4 + 16384);
  c = c << 3 ^ c >> 5;
  b[everyone() % 8] = n;                        /* an index in a VGPR */
  b[(group() + n) % 8] += a[(group() * 3) % 8]; /* and in an SGPR */
  *(GLOBAL v8u *)(out + everyone() * 16) = b;
  *(GLOBAL v2l *)(out + everyone() * 16 + 8) = c;
  v3u d = {a[0], a[1], a[2], a[3]};
  *(GLOBAL v3u *)(out + everyone() * 16 + 12) = d >> (d & 15);
}

/* --- doubles -------------------------------------------------------------------------------------------------------------------------- */

CORPUS_KERNEL(doubles) {
  u64 bits = (u64)in[everyone()] << 32 | in[everyone() + 1024];
  double x = (double)(i64)bits / 65536, y = (double)in[everyone() + 2048] / 1024 + 0.5, z = (double)(i32)in[everyone() + 4096];
  GLOBAL double *to = (GLOBAL double *)out + everyone() * 8;
  to[0] = x / y;
  to[1] = __builtin_sqrt(y) + __builtin_floor(z / 3);
  to[2] = __builtin_fma(x, y, z);
  to[3] = ((z * 0.25 + 1.5) * z - 7) * z + (double)n;
  to[4] = __builtin_fmin(x, z) + __builtin_fmax(y, z) - __builtin_fabs(x);
  to[5] = __builtin_rint(z / 7) * __builtin_trunc(y) + __builtin_ceil(z / 16);
  to[6] = (double)(float)x + (double)(i64)(z * 1.5) + (double)(u64)y + (double)(u32)y;
  to[7] = __builtin_ldexp(y, (int)(bits & 15) - 8) * __builtin_copysign(1.0, z);
}

CORPUS_KERNEL(floats) {
  float x = small_float_of(in[everyone()]), y = small_float_of(in[everyone() + 1024]) + 200, z = small_float_of(in[everyone() + 2048]);
  int e = (int)(in[everyone() + 512] % 21) - 10;
  GLOBAL float *to = (GLOBAL float *)out + everyone() * 8;
  to[0] = x / y + (float)n;
  to[1] = __builtin_sqrtf(y) * __builtin_floorf(z);
  to[2] = __builtin_fmaf(x, y, z);
  to[3] = __builtin_fminf(__builtin_fmaxf(x, z), 50) + (x > z ? x : z);
  to[4] = __builtin_rintf(z) + __builtin_truncf(x) * __builtin_ceilf(z) + __builtin_fabsf(x);
  to[5] = __builtin_ldexpf(x, e) + (float)(i32)(z * 3) + (float)(u32)y;
  to[6] = __builtin_copysignf(y, x) + (float)(u8)in[everyone()] + (float)(i16)in[everyone()];
  to[7] = (float)((u64)in[everyone()] << 20 | 1) + (float)(i64)((u64)in[everyone()] << 33 | 1);
}

/* exp, log, sine and cosine, in one and in half precision: within a tolerance. */
CORPUS_KERNEL(transcendentals) {
  float x = small_float_of(in[everyone()]) / 16, y = __builtin_fabsf(x) + 0.25f;
  GLOBAL float *to = (GLOBAL float *)out + everyone() * 8;
  to[0] = __builtin_exp2f(x);
  to[1] = __builtin_log2f(y);
  to[2] = __builtin_sqrtf(y);
  to[3] = 1 / y;
#ifdef __AMDGCN__
  to[4] = __builtin_amdgcn_sinf(x * 0.15915494f);
  to[5] = __builtin_amdgcn_cosf(x * 0.15915494f);
  to[6] = __builtin_amdgcn_rsqf(y);
  to[7] = __builtin_amdgcn_fractf(x) + __builtin_amdgcn_rcpf(y) + (float)n;
#else
  to[4] = __builtin_sinf(x);
  to[5] = __builtin_cosf(x);
  to[6] = 1 / __builtin_sqrtf(y);
  to[7] = x - __builtin_floorf(x) + 1 / y + (float)n;
#endif
}

/* --- halves --------------------------------------------------------------------------------------------------------------------------- */

typedef _Float16 h2 __attribute__((vector_size(4)));
typedef i16 s2 __attribute__((vector_size(4)));
typedef u16 us2 __attribute__((vector_size(4)));
typedef float f2 __attribute__((vector_size(8)));

static h2 halves_of(u32 bits) {
  h2 v = {(_Float16)(float)(i8)bits, (_Float16)((float)(i8)(bits >> 8) / 4)};
  return v;
}

CORPUS_KERNEL(packed_halves) {
  h2 a = halves_of(in[everyone()]), b = halves_of(in[everyone()] >> 16), c = a * b + a, d = c - b;
  s2 p = *(GLOBAL const s2 *)(in + everyone() + 1024), q = *(GLOBAL const s2 *)(in + everyone() + 2048), r = p * q + p,
     s = (r ^ q) << (q & 15);
  us2 t = (us2)p >> ((us2)q & 15);
  f2 x = {small_float_of(in[everyone()]), small_float_of(in[everyone() + 1])}, y = {2.5f, -1.25f}, z = x * y + x, w = z - y * 3;
  GLOBAL u32 *to = out + everyone() * 8;
  *(GLOBAL h2 *)to = c;
  *(GLOBAL h2 *)(to + 1) = d * (_Float16)0.5f;
  *(GLOBAL s2 *)(to + 2) = r;
  *(GLOBAL s2 *)(to + 3) = ((p > q) & s) | (~(p > q) & r);
  *(GLOBAL us2 *)(to + 4) = t;
  *(GLOBAL f2 *)(to + 6) = w;
  to[5] = (u32)(i32)((float)c[0] + (float)d[1]) + n;
}
