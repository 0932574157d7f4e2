/* SPDX-License-Identifier: Apache-2.0 */
/* LDS instructions and scalar loads against byte arrays of the test's own; a row that was not executed fails. */
#include <stdio.h>

#include "host_math.h"
#include "isa_rig.h"

/* What a row does, by its name: the test's own table. */
struct plain_access {
  const char *name;
  u32 bytes, stride2; /* stride2: offsets of a two-address form count in this many bytes */
  bool sign, low, high, store;
};

static const struct plain_access plain[] = {
    {"ds_read_u8", 1, 0, 0, 0, 0, 0},
    {"ds_read_i8", 1, 0, 1, 0, 0, 0},
    {"ds_read_u16", 2, 0, 0, 0, 0, 0},
    {"ds_read_i16", 2, 0, 1, 0, 0, 0},
    {"ds_read_u8_d16", 1, 0, 0, 1, 0, 0},
    {"ds_read_u8_d16_hi", 1, 0, 0, 0, 1, 0},
    {"ds_read_i8_d16", 1, 0, 1, 1, 0, 0},
    {"ds_read_i8_d16_hi", 1, 0, 1, 0, 1, 0},
    {"ds_read_u16_d16", 2, 0, 0, 1, 0, 0},
    {"ds_read_u16_d16_hi", 2, 0, 0, 0, 1, 0},
    {"ds_read_b32", 4, 0, 0, 0, 0, 0},
    {"ds_read_b64", 8, 0, 0, 0, 0, 0},
    {"ds_read_b96", 12, 0, 0, 0, 0, 0},
    {"ds_read_b128", 16, 0, 0, 0, 0, 0},
    {"ds_write_b8", 1, 0, 0, 0, 0, 1},
    {"ds_write_b8_d16_hi", 1, 0, 0, 0, 1, 1},
    {"ds_write_b16", 2, 0, 0, 0, 0, 1},
    {"ds_write_b16_d16_hi", 2, 0, 0, 0, 1, 1},
    {"ds_write_b32", 4, 0, 0, 0, 0, 1},
    {"ds_write_b64", 8, 0, 0, 0, 0, 1},
    {"ds_write_b96", 12, 0, 0, 0, 0, 1},
    {"ds_write_b128", 16, 0, 0, 0, 0, 1},
    {"ds_read2_b32", 4, 4, 0, 0, 0, 0},
    {"ds_read2_b64", 8, 8, 0, 0, 0, 0},
    {"ds_read2st64_b32", 4, 256, 0, 0, 0, 0},
    {"ds_read2st64_b64", 8, 512, 0, 0, 0, 0},
    {"ds_write2_b32", 4, 4, 0, 0, 0, 1},
    {"ds_write2_b64", 8, 8, 0, 0, 0, 1},
    {"ds_write2st64_b32", 4, 256, 0, 0, 0, 1},
    {"ds_write2st64_b64", 8, 512, 0, 0, 0, 1},
};

struct atomic_case {
  const char *name, *type; /* _rtn goes between */
  u32 bytes;
  u64 (*next)(u64 old, u64 data, u64 compare);
};

#define A(name, expr)                                                                                                                      \
  static u64 next_##name(u64 o, u64 v, u64 k) {                                                                                            \
    (void)o, (void)v, (void)k;                                                                                                             \
    return (expr);                                                                                                                         \
  }
A(add, o + v)
A(sub, o - v)
A(rsub, v - o)
A(inc, o < v ? o + 1 : 0)
A(dec, o - 1 < v ? o - 1 : v)
A(umin, o < v ? o : v)
A(umax, o < v ? v : o)
A(min32, (u64)least(s32(o), s32(v)))
A(max32, (u64)most(s32(o), s32(v)))
A(min64, (u64)least((i64)o, (i64)v))
A(max64, (u64)most((i64)o, (i64)v))
A(and, o &v)
A(or, o | v)
A(xor, (o | v) - (o & v))
A(add_f32, fb(f(o) + f(v)))
A(add_f64, db(d64(o) + d64(v)))
A(min_f32, num32(o, v, false))
A(max_f32, num32(o, v, true))
A(min_f64, num64(o, v, false))
A(max_f64, num64(o, v, true))
A(pk_add_f16, halves(hb(h(o) + h(v)), hb(h(hi(o)) + h(hi(v)))))
A(pk_add_bf16, halves(bf16_code(f(o << 16) + f(v << 16)), bf16_code(f(hi(o) << 16) + f(hi(v) << 16))))
A(cmpst_f32, f(o) == f(k) ? v : o)
A(cmpst_f64, d64(o) == d64(k) ? v : o)
A(mskor, (o & ~k) | v)
A(swap, v)
A(cmpst, o == k ? v : o)

static const struct atomic_case atomics[] = {
    {"ds_add", "u32", 4, next_add},
    {"ds_sub", "u32", 4, next_sub},
    {"ds_rsub", "u32", 4, next_rsub},
    {"ds_inc", "u32", 4, next_inc},
    {"ds_dec", "u32", 4, next_dec},
    {"ds_min", "u32", 4, next_umin},
    {"ds_max", "u32", 4, next_umax},
    {"ds_min", "i32", 4, next_min32},
    {"ds_max", "i32", 4, next_max32},
    {"ds_and", "b32", 4, next_and},
    {"ds_or", "b32", 4, next_or},
    {"ds_xor", "b32", 4, next_xor},
    {"ds_add", "f32", 4, next_add_f32},
    {"ds_min", "f32", 4, next_min_f32},
    {"ds_max", "f32", 4, next_max_f32},
    {"ds_pk_add", "f16", 4, next_pk_add_f16},
    {"ds_pk_add", "bf16", 4, next_pk_add_bf16},
    {"ds_min", "f64", 8, next_min_f64},
    {"ds_max", "f64", 8, next_max_f64},
    {"ds_rsub", "u64", 8, next_rsub},
    {"ds_cmpst", "f32", 4, next_cmpst_f32},
    {"ds_cmpst", "f64", 8, next_cmpst_f64},
    {"ds_mskor", "b32", 4, next_mskor},
    {"ds_mskor", "b64", 8, next_mskor},
    {"ds_add", "u64", 8, next_add},
    {"ds_sub", "u64", 8, next_sub},
    {"ds_inc", "u64", 8, next_inc},
    {"ds_dec", "u64", 8, next_dec},
    {"ds_min", "u64", 8, next_umin},
    {"ds_max", "u64", 8, next_umax},
    {"ds_min", "i64", 8, next_min64},
    {"ds_max", "i64", 8, next_max64},
    {"ds_and", "b64", 8, next_and},
    {"ds_or", "b64", 8, next_or},
    {"ds_xor", "b64", 8, next_xor},
    {"ds_add", "f64", 8, next_add_f64},
    {"ds_wrxchg", "b32", 4, next_swap},
    {"ds_wrxchg", "b64", 8, next_swap},
    {"ds_cmpst", "b32", 4, next_cmpst},
    {"ds_cmpst", "b64", 8, next_cmpst},
};

enum { PLAIN = sizeof plain / sizeof plain[0], ATOMICS = sizeof atomics / sizeof atomics[0], OTHERS_AT = PLAIN + 2 * ATOMICS };
static const char *const others[] = {"ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,1,0,3,2)",
    "ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"01pip\")", "ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,3)",
    "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)", "ds_swizzle_b32 v0, v1 offset:swizzle(REVERSE,8)",
    "ds_swizzle_b32 v0, v1 offset:swizzle(FFT,3)", "ds_bpermute_b32 v0, v1, v2 offset:4", "ds_permute_b32 v0, v1, v2", "ds_nop",
    "ds_read_b64_tr_b16 v[4:5], v1 offset:64", "ds_read_b64_tr_b8 v[4:5], v1 offset:64", "ds_read_b64_tr_b4 v[4:5], v1 offset:64",
    "ds_read_b96_tr_b6 v[4:6], v1 offset:64", "ds_read_b32 v0, v1 offset:65532", "ds_write_b64 v1, v[2:3] offset:65528",
    "s_load_dword s8, s[2:3], 0x10", "s_load_dwordx2 s[8:9], s[2:3], -0x8", "s_load_dwordx4 s[8:11], s[2:3], s6",
    "s_load_dwordx8 s[8:15], s[2:3], s6 offset:0x20", "s_load_dwordx16 s[8:23], s[2:3], 0x0", "s_buffer_load_dword s8, s[24:27], 0x4",
    "s_buffer_load_dwordx2 s[8:9], s[24:27], s6", "s_buffer_load_dwordx4 s[8:11], s[24:27], 0x38",
    "s_buffer_load_dwordx8 s[8:15], s[24:27], 0x0", "s_buffer_load_dwordx16 s[8:23], s[24:27], 0x0", "s_memtime s[8:9]",
    "s_memrealtime s[8:9]", "s_dcache_inv", "s_dcache_wb"};
enum other {
  QUAD,
  BITMASK,
  BROADCAST,
  SWAP,
  REVERSE,
  FFT,
  BPERMUTE,
  PERMUTE,
  NOP,
  TR16,
  TR8,
  TR4,
  TR6,
  READ_OUT,
  WRITE_OUT,
  LOAD1,
  LOAD2,
  LOAD4,
  LOAD8,
  LOAD16,
  BUFFER1,
  BUFFER2,
  BUFFER4,
  BUFFER8,
  BUFFER16,
  MEMTIME,
  REALTIME,
  DCACHE_INV,
  DCACHE_WB,
  OTHERS
};

static struct rig *rig;
static uint8_t model[RIG_LDS_BYTES];

static u32 group(char *to, const char *before, u32 first, u32 words) {
  return (u32)(words == 1 ? sprintf(to, "%sv%u", before, first) : sprintf(to, "%sv[%u:%u]", before, first, first + words - 1));
}

static u32 words_of(u32 bytes) { return bytes < 4 ? 1 : bytes / 4; }

/* Result v[0..], address v8, data v[10..] and v[14..]. */
static void plain_line(const struct plain_access *p, char *line) {
  u32 n = (u32)sprintf(line, "%s", p->name), words = words_of(p->bytes);
  if (p->store) {
    n += group(line + n, " ", 8, 1);
    n += group(line + n, ", ", 10, words);
    if (p->stride2) n += group(line + n, ", ", 14, words);
  } else {
    n += group(line + n, " ", 0, p->stride2 ? 2 * words : words);
    n += group(line + n, ", ", 8, 1);
  }
  sprintf(line + n, p->stride2 ? " offset0:3 offset1:5" : " offset:24");
}

static bool compares(const struct atomic_case *a) {
  return a->next == next_cmpst || a->next == next_cmpst_f32 || a->next == next_cmpst_f64 || a->next == next_mskor;
}

static void atomic_line(const struct atomic_case *a, bool returns, char *line) {
  u32 words = a->bytes / 4, n = (u32)sprintf(line, "%s%s_%s", a->name, returns ? "_rtn" : "", a->type);
  if (returns) n += group(line + n, " ", 0, words);
  n += group(line + n, returns ? ", " : " ", 8, 1);
  if (compares(a)) n += group(line + n, ", ", 14, words);
  group(line + n, ", ", 10, words);
}

static void fill_all(u32 seed) {
  for (u32 i = 0; i < RIG_LDS_BYTES; i++) model[i] = (uint8_t)(rig_value(T_u64, i + seed + 100) >> 8);
  memcpy(rig->group.lds, model, RIG_LDS_BYTES);
  for (u32 r = 0; r < 18; r++)
    for (u32 l = 0; l < 64; l++) rig->wave->v[r].w[l] = (u32)rig_value(T_u64, 500 + r * 64 + l + seed);
  for (u32 l = 0; l < 64; l++) rig->wave->v[8].w[l] = 16 * (l * 7 % 64) + 2048 * (l % 3);
  wave_set_exec(rig->wave, seed % 2 ? UINT64_C(0xF00FFFFF0FFF1FF1) : UINT64_MAX);
}

static u32 filled(const struct plain_access *p, u32 old, u64 value) {
  u64 v = p->sign ? (u64)(p->bytes == 1 ? s8(value) : s16(value)) : value;
  if (p->low) return (u32)halves(v, hi(old));
  if (p->high) return (u32)halves(lo(old), v);
  return (u32)v;
}

static void check_load(const struct plain_access *p, const vgpr *before, u32 l, bool active) {
  for (u32 part = 0; part < (p->stride2 ? 2u : 1u); part++) {
    u32 at = before[8].w[l] + (p->stride2 ? p->stride2 * (part ? 5 : 3) : 24);
    for (u32 k = 0; k < words_of(p->bytes); k++) {
      u32 reg = part * words_of(p->bytes) + k, value = 0;
      memcpy(&value, model + at + 4 * k, p->bytes < 4 ? p->bytes : 4);
      u32 want = active ? filled(p, before[reg].w[l], value) : before[reg].w[l];
      if (rig->wave->v[reg].w[l] != want)
        fail_msg("%s: lane %u register %u: wanted %x, got %x", p->name, l, reg, want, rig->wave->v[reg].w[l]);
    }
  }
}

static void model_store(const struct plain_access *p, const vgpr *before, u32 l) {
  for (u32 part = 0; part < (p->stride2 ? 2u : 1u); part++) {
    u32 at = before[8].w[l] + (p->stride2 ? p->stride2 * (part ? 5 : 3) : 24);
    for (u32 b = 0; b < p->bytes; b++)
      model[at + b] = (uint8_t)(before[(part ? 14 : 10) + b / 4].w[l] >> (8 * (b % 4) + (p->high ? 16 : 0)));
  }
}

static void loads_and_stores_move_the_right_bytes(void **state) {
  (void)state;
  static vgpr before[18];
  for (u32 seed = 0; seed < 2; seed++)
    for (size_t i = 0; i < PLAIN; i++) {
      fill_all(seed);
      memcpy(before, rig->wave->v, sizeof before);
      rig_run(rig, i);
      for (u32 l = 0; l < 64; l++) {
        bool active = wave_exec(rig->wave) >> l & 1;
        if (!plain[i].store)
          check_load(&plain[i], before, l, active);
        else if (active)
          model_store(&plain[i], before, l);
      }
      if (memcmp(model, rig->group.lds, RIG_LDS_BYTES) != 0) fail_msg("%s: LDS differs", plain[i].name);
    }
}

/* Numbers, no NaNs: their codes differ by choice. */
static void small_halves(uint8_t *at) { at[1] = 0x3C, at[3] = 0x3D; }
static void quiet_bits(uint8_t *at) { at[3] &= 0xBF, at[7] &= 0xBF; }

/* Eight lanes share a word, so that their order shows. */
static void check_atomic(const struct atomic_case *a, bool returns, size_t line) {
  struct wave *w = rig->wave;
  fill_all(1);
  for (u32 l = 0; l < 64; l++) {
    w->v[8].w[l] = l / 8 * 16;
    if (a->next == next_pk_add_f16 || a->next == next_pk_add_bf16) w->v[10].w[l] = 0x3C003F80, small_halves(model + l / 8 * 16);
    if (strchr("f", *a->type) && strstr(a->name, "_m"))
      quiet_bits(model + l / 8 * 16), w->v[10].w[l] &= 0xBFFFFFFF, w->v[11].w[l] &= 0xBFFFFFFF;
    if (a->next == next_add_f32 || a->next == next_add_f64) w->v[10 + (a->bytes == 8)].w[l] = (u32)fb((float)l) >> (a->bytes == 8 ? 3 : 0);
    if (l % 2) memcpy(&w->v[14].w[l], model + w->v[8].w[l], 4);
  }
  memcpy(rig->group.lds, model, RIG_LDS_BYTES);
  for (u32 l = 0; l < 64; l++) {
    u64 data = w->v[10].w[l] | (u64)w->v[11].w[l] << 32, compare = w->v[14].w[l] | (u64)w->v[15].w[l] << 32, old = 0, next;
    if (!(wave_exec(w) >> l & 1)) continue;
    if (a->bytes == 4) data &= UINT32_MAX, compare &= UINT32_MAX;
    memcpy(&old, model + w->v[8].w[l], a->bytes);
    next = a->next(old, data, compare);
    memcpy(model + w->v[8].w[l], &next, a->bytes);
    w->v[16].w[l] = (u32)old, w->v[17].w[l] = (u32)(old >> 32);
  }
  static vgpr before[18];
  memcpy(before, w->v, sizeof before);
  rig_run(rig, line);
  for (u32 l = 0; l < 64; l++)
    for (u32 k = 0; k < a->bytes / 4; k++) {
      bool active = returns && (wave_exec(w) >> l & 1);
      assert_int_equal(w->v[k].w[l], active ? before[16 + k].w[l] : before[k].w[l]);
    }
  if (memcmp(model, rig->group.lds, RIG_LDS_BYTES) != 0) fail_msg("%s_%s: LDS differs (returns: %d)", a->name, a->type, returns);
}

static void atomics_are_done_lane_by_lane(void **state) {
  (void)state;
  for (size_t i = 0; i < ATOMICS; i++) {
    check_atomic(&atomics[i], true, PLAIN + 2 * i);
    if (atomics[i].next != next_swap) check_atomic(&atomics[i], false, PLAIN + 2 * i + 1);
  }
}

static void swizzles_and_permutes_move_lanes(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  for (int kind = QUAD; kind <= PERMUTE; kind++) {
    for (u32 l = 0; l < 64; l++) w->v[0].w[l] = 7, w->v[2].w[l] = 500 + l, w->v[1].w[l] = kind >= BPERMUTE ? 4 * (l * 5 % 64) : 500 + l;
    wave_set_exec(w, UINT64_MAX & ~UINT64_C(0x100));
    rig_run(rig, OTHERS_AT + (size_t)kind);
    for (u32 l = 0; l < 64; l++) {
      u32 in32 = l % 32, base = l - in32, from = 0;
      if (kind == QUAD) from = l ^ 1;
      if (kind == BITMASK) from = base + ((in32 & 7) ^ 2) + 8; /* from above: 0, 1, keep, invert, keep */
      if (kind == BROADCAST) from = l / 8 * 8 + 3;
      if (kind == SWAP) from = l ^ 16;
      if (kind == REVERSE) from = l / 8 * 8 + 7 - l % 8;
      for (u32 b = 0; kind == FFT && b < 5; b++) from |= (in32 >> b & 1) << (4 - b); /* a mask of two bits: they stay, three move */
      if (kind == FFT) from = base + (from >> 2 | (in32 & 3));
      if (kind == BPERMUTE) from = (l * 5 % 64 + 1) % 64;
      if (kind == PERMUTE) from = l * 13 % 64; /* 5 * 13 = 65 */
      u32 want = l == 8 ? 7 : from == 8 ? 0 : 500 + from;
      if (w->v[0].w[l] != want) fail_msg("%s: lane %u: wanted %u, got %u", others[kind], l, want, w->v[0].w[l]);
    }
  }
  rig_run(rig, OTHERS_AT + NOP);
  wave_set_exec(w, UINT64_MAX);
}

/* A matrix of 16 columns lies row after row in LDS; each lane points at a run of a row and gets a column, its elements in K order. Four
   groups of 16 lanes have a matrix each. */
static void transposing_reads_give_columns(void **state) {
  (void)state;
  static const struct {
    enum other line;
    u32 bits, elements;
  } reads[] = {{TR16, 16, 4}, {TR8, 8, 8}, {TR4, 4, 16}, {TR6, 6, 16}};
  struct wave *w = rig->wave;
  for (size_t i = 0; i < 4; i++) {
    u32 bits = reads[i].bits, n = reads[i].elements, a_row = 16 / n, bytes = bits == 6 ? 12 : 8;
    fill_all(0);
    for (u32 l = 0; l < 64; l++) w->v[1].w[l] = 1024 * (l / 16) + (l % 16 / a_row) * 48 + l % a_row * bytes;
    rig_run(rig, OTHERS_AT + reads[i].line);
    for (u32 l = 0; l < 64; l++)
      for (u32 k = 0; k < n; k++)
        for (u32 b = 0; b < bits; b++) {
          u32 at = (1024 * (l / 16) + k * 48 + 64) * 8 + l % 16 * bits + b, to = k * bits + b;
          if ((model[at / 8] >> (at % 8) & 1) != (w->v[4 + to / 32].w[l] >> (to % 32) & 1))
            fail_msg("%s: lane %u element %u bit %u", others[reads[i].line], l, k, b);
        }
  }
  wave_set_exec(w, UINT64_MAX >> 1);
  w->pc = OTHERS_AT + TR8;
  assert_int_equal(wave_run(w, 1), WAVE_FAULT);
  wave_set_exec(w, UINT64_MAX);
}

/* llvm#130133, conformance seed 71078087242552519: LLVM folds this read of an inactive lane as if it were active; the document says 0. */
static void bpermute_of_an_inactive_lane_reads_0(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  for (u32 l = 0; l < 64; l++) w->v[0].w[l] = 7, w->v[1].w[l] = 4 * 8, w->v[2].w[l] = 500 + l; /* offset:4 makes it lane 9 */
  wave_set_exec(w, 0xF0);
  rig_run(rig, OTHERS_AT + BPERMUTE);
  for (u32 l = 0; l < 64; l++) assert_int_equal(w->v[0].w[l], l >= 4 && l < 8 ? 0 : 7);
  wave_set_exec(w, 0x2F0);
  rig_run(rig, OTHERS_AT + BPERMUTE);
  assert_int_equal(w->v[0].w[5], 509);
  wave_set_exec(w, UINT64_MAX);
}

static void lds_out_of_range_reads_0_drops_stores_and_is_counted(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill_all(0);
  rig->group.out_of_range = 0;
  for (u32 l = 0; l < 64; l++) w->v[1].w[l] = l ? 4 : 0;
  rig_run(rig, OTHERS_AT + READ_OUT);
  u32 last;
  memcpy(&last, model + 65532, 4);
  assert_int_equal(w->v[0].w[0], last);
  assert_int_equal(w->v[0].w[1], 0);
  assert_int_equal(rig->group.out_of_range, 63);
  assert_non_null(strstr(rig->group.out_of_range_text, "ds_read_b32 v0, v1 offset:65532 at 0x"));
  wave_set_exec(w, 2);
  rig_run(rig, OTHERS_AT + WRITE_OUT);
  assert_int_equal(rig->group.out_of_range, 64);
  assert_memory_equal(model, rig->group.lds, RIG_LDS_BYTES);
  wave_set_exec(w, UINT64_MAX);
}

/* llc makes 1020 - 4 i of an address -4 i and an offset of 1020. */
static void lds_addresses_wrap_at_32_bits(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill_all(0);
  rig->group.out_of_range = 0;
  for (u32 l = 0; l < 64; l++) w->v[1].w[l] = 0 - 4 * l;
  rig_run(rig, OTHERS_AT + READ_OUT);
  for (u32 l = 0; l < 64; l++) {
    u32 expected;
    memcpy(&expected, model + 65532 - 4 * l, 4);
    assert_int_equal(w->v[0].w[l], expected);
  }
  rig_run(rig, OTHERS_AT + WRITE_OUT);
  assert_int_equal(rig->group.out_of_range, 0);
}

static void scalar_loads_take_consecutive_dwords(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  u32 *memory = (u32 *)(uintptr_t)rig->buffer;
  for (u32 i = 0; i < 256; i++) memory[i] = 0xC0DE0000 + i;
  wave_put_sreg64(w, 2, rig->buffer + 64);
  w->sreg[6] = 12;
  const struct {
    enum other line;
    u32 first, count;
  } loads[] = {{LOAD1, 20, 1}, {LOAD2, 14, 2}, {LOAD4, 19, 4}, {LOAD8, 27, 8}, {LOAD16, 16, 16}};
  for (size_t i = 0; i < 5; i++) {
    rig_run(rig, OTHERS_AT + loads[i].line);
    for (u32 k = 0; k < loads[i].count; k++) assert_int_equal(w->sreg[8 + k], 0xC0DE0000 + loads[i].first + k);
  }
  wave_put_sreg64(w, 2, 0x1000);
  w->pc = OTHERS_AT + LOAD1;
  assert_int_equal(wave_run(w, 1), WAVE_FAULT);
  assert_non_null(strstr(w->fault, "0x1010"));
}

static void scalar_buffer_loads_stop_at_the_end(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  wave_put_sreg64(w, 24, rig->buffer);
  w->sreg[26] = 64, w->sreg[27] = 0x00027000, w->sreg[6] = 8;
  rig->group.out_of_range = 0;
  rig_run(rig, OTHERS_AT + BUFFER1);
  assert_int_equal(w->sreg[8], 0xC0DE0001);
  rig_run(rig, OTHERS_AT + BUFFER2);
  assert_int_equal(w->sreg[9], 0xC0DE0003);
  rig_run(rig, OTHERS_AT + BUFFER8);
  assert_int_equal(w->sreg[15], 0xC0DE0007);
  rig_run(rig, OTHERS_AT + BUFFER16);
  assert_int_equal(w->sreg[23], 0xC0DE000F);
  assert_int_equal(rig->group.out_of_range, 0);
  rig_run(rig, OTHERS_AT + BUFFER4);
  assert_int_equal(w->sreg[9], 0xC0DE000F);
  assert_int_equal(w->sreg[10], 0);
  assert_int_equal(rig->group.out_of_range, 1);
}

static void clocks_tell_model_time(void **state) {
  (void)state;
  rig->wave->cycles = 21000;
  rig_run(rig, OTHERS_AT + MEMTIME);
  assert_int_equal(wave_sreg64(rig->wave, 8), 21000);
  rig->wave->cycles = 21000;
  rig_run(rig, OTHERS_AT + REALTIME);
  assert_int_equal(wave_sreg64(rig->wave, 8), 1000);
  rig_run(rig, OTHERS_AT + DCACHE_INV), rig_run(rig, OTHERS_AT + DCACHE_WB);
}

static void every_row_was_executed(void **state) {
  (void)state;
  const char *lds = rig_untested(&isa_lds), *smem = rig_untested(&isa_smem);
  if (lds || smem) fail_msg("%s has no test", lds ? lds : smem);
}

int main(void) {
  static char text[OTHERS_AT][96];
  static const char *lines[OTHERS_AT + OTHERS];
  for (size_t i = 0; i < PLAIN; i++) plain_line(&plain[i], text[i]);
  for (size_t i = 0; i < ATOMICS; i++) {
    atomic_line(&atomics[i], true, text[PLAIN + 2 * i]);
    atomic_line(&atomics[i], atomics[i].next == next_swap, text[PLAIN + 2 * i + 1]);
  }
  for (size_t i = 0; i < OTHERS_AT; i++) lines[i] = text[i];
  for (size_t i = 0; i < OTHERS; i++) lines[OTHERS_AT + i] = others[i];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_and_stores_move_the_right_bytes),
      cmocka_unit_test(atomics_are_done_lane_by_lane),
      cmocka_unit_test(swizzles_and_permutes_move_lanes),
      cmocka_unit_test(transposing_reads_give_columns),
      cmocka_unit_test(bpermute_of_an_inactive_lane_reads_0),
      cmocka_unit_test(lds_out_of_range_reads_0_drops_stores_and_is_counted),
      cmocka_unit_test(lds_addresses_wrap_at_32_bits),
      cmocka_unit_test(scalar_loads_take_consecutive_dwords),
      cmocka_unit_test(scalar_buffer_loads_stop_at_the_end),
      cmocka_unit_test(clocks_tell_model_time),
      cmocka_unit_test(every_row_was_executed),
  };
  rig = rig_open("gfx950", lines, OTHERS_AT + OTHERS);
  int failed = cmocka_run_group_tests_name("LDS and scalar loads move the right bytes", tests, NULL, NULL);
  rig_close(rig);
  return failed;
}
