/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel of the corpus is written in: C for the GPU (clang) and for this machine (any compiler). Here its work-items are coroutines,
   a workgroup after the other. Operations between lanes want a whole wave. */
#ifndef FRONT_TESTS_CORPUS_H
#define FRONT_TESTS_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

enum { CORPUS_GROUPS = 4, CORPUS_ITEMS = 256, CORPUS_WAVE = 64, CORPUS_WORDS = 1 << 16 };

#ifdef __AMDGCN__

#define GLOBAL                 __attribute__((address_space(1)))
#define SHARED                 __attribute__((address_space(3)))
#define LDS(type, name, count) static __attribute__((address_space(3), loader_uninitialized)) type name[count]
#define CORPUS_KERNEL(name)                                                                                                                \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256))) void name(GLOBAL const u32 *in, GLOBAL u32 *out, u32 n)
#define NOINLINE  __attribute__((noinline))
#define CORPUS_FN static inline

CORPUS_FN u32 item(void) { return __builtin_amdgcn_workitem_id_x(); }
CORPUS_FN u32 group(void) { return __builtin_amdgcn_workgroup_id_x(); }

CORPUS_FN void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

CORPUS_FN u64 ballot(bool v) { return __builtin_amdgcn_ballot_w64(v); }
CORPUS_FN u32 shuffle(u32 v, u32 lane) { return (u32)__builtin_amdgcn_ds_bpermute((int)(lane * 4), (int)v); }
CORPUS_FN u32 first_lane(u32 v) { return (u32)__builtin_amdgcn_readfirstlane((int)v); }
CORPUS_FN u32 ones_below(u64 mask) { return __builtin_amdgcn_mbcnt_hi((u32)(mask >> 32), __builtin_amdgcn_mbcnt_lo((u32)mask, 0)); }
/* The value `by` lanes below in the row of 16, 0 where there is none; lane 15 of the row before; lane 31, for the upper half. */
#define row_shift_right(v, by) ((u32)__builtin_amdgcn_update_dpp(0, (int)(v), 0x110 + (by), 15, 15, true))
CORPUS_FN u32 row_before(u32 v) { return (u32)__builtin_amdgcn_update_dpp(0, (int)v, 0x142, 10, 15, false); }
CORPUS_FN u32 half_before(u32 v) { return (u32)__builtin_amdgcn_update_dpp(0, (int)v, 0x143, 12, 15, false); }

#else

#define GLOBAL
#define SHARED
#define LDS(type, name, count) static type name[count]
#define CORPUS_KERNEL(name)    void name(const u32 *in, u32 *out, u32 n)
#define NOINLINE               __attribute__((noinline))
#define CORPUS_FN              static inline __attribute__((unused))

u32 item(void);
u32 group(void);
void barrier(void);
/* All lanes of a wave leave a value; the wave's, by lane, until the next call. */
const u32 *exchange(u32 v);

CORPUS_FN u64 ballot(bool v) {
  const u32 *all = exchange(v);
  u64 bits = 0;
  for (u32 l = 0; l < CORPUS_WAVE; l++) bits |= (u64)(all[l] & 1) << l;
  return bits;
}

CORPUS_FN u32 shuffle(u32 v, u32 lane) { return exchange(v)[lane % CORPUS_WAVE]; }
CORPUS_FN u32 first_lane(u32 v) { return exchange(v)[0]; }

CORPUS_FN u32 ones_below(u64 mask) {
  u32 ones = 0;
  for (u32 l = 0; l < item() % CORPUS_WAVE; l++) ones += mask >> l & 1;
  return ones;
}

CORPUS_FN u32 row_shift_right(u32 v, u32 by) {
  const u32 *all = exchange(v);
  u32 l = item() % CORPUS_WAVE;
  return l % 16 >= by ? all[l - by] : 0;
}

CORPUS_FN u32 row_before(u32 v) {
  const u32 *all = exchange(v);
  u32 l = item() % CORPUS_WAVE;
  return l / 16 & 1 ? all[l / 16 * 16 - 1] : 0;
}

CORPUS_FN u32 half_before(u32 v) {
  const u32 *all = exchange(v);
  return item() % CORPUS_WAVE >= 32 ? all[31] : 0;
}

#endif

CORPUS_FN u32 everyone(void) { return group() * CORPUS_ITEMS + item(); }

CORPUS_FN float as_float(u32 bits) {
  float v;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}

CORPUS_FN u32 float_bits(float v) {
  u32 bits;
  __builtin_memcpy(&bits, &v, 4);
  return bits;
}

/* A number between -128 and 128, with 8 bits of fraction. */
CORPUS_FN float small_float_of(u32 bits) { return (float)(i16)(u16)bits / 256; }

#endif
