/* SPDX-License-Identifier: Apache-2.0 */
/* Vector memory through resources and 64-bit addresses, against a byte array of the test's own; a row that was not executed fails. */
#include <stdio.h>

#include "host_math.h"
#include "isa_rig.h"

enum family { BUFFER, GLOBAL, GLOBAL_BASE, FLAT, FAMILIES };
enum { BYTES = 16384, SIZE = 8192, OFFSET = 24, SOFFSET = 64 };

struct access_case {
  const char *name;
  u32 bytes;
  bool sign, low, high, store;
};

static const struct access_case plain[] = {
    {"ubyte", 1, 0, 0, 0, 0},
    {"sbyte", 1, 1, 0, 0, 0},
    {"ushort", 2, 0, 0, 0, 0},
    {"sshort", 2, 1, 0, 0, 0},
    {"ubyte_d16", 1, 0, 1, 0, 0},
    {"ubyte_d16_hi", 1, 0, 0, 1, 0},
    {"sbyte_d16", 1, 1, 1, 0, 0},
    {"sbyte_d16_hi", 1, 1, 0, 1, 0},
    {"short_d16", 2, 0, 1, 0, 0},
    {"short_d16_hi", 2, 0, 0, 1, 0},
    {"dword", 4, 0, 0, 0, 0},
    {"dwordx2", 8, 0, 0, 0, 0},
    {"dwordx3", 12, 0, 0, 0, 0},
    {"dwordx4", 16, 0, 0, 0, 0},
    {"byte", 1, 0, 0, 0, 1},
    {"byte_d16_hi", 1, 0, 0, 1, 1},
    {"short", 2, 0, 0, 0, 1},
    {"short_d16_hi", 2, 0, 0, 1, 1},
    {"dword", 4, 0, 0, 0, 1},
    {"dwordx2", 8, 0, 0, 0, 1},
    {"dwordx3", 12, 0, 0, 0, 1},
    {"dwordx4", 16, 0, 0, 0, 1},
};

struct atomic_case {
  const char *name;
  u32 bytes;
  u64 (*next)(u64 old, u64 data, u64 compare);
};

#define A(name, expr)                                                                                                                      \
  static u64 next_##name(u64 o, u64 v, u64 k) {                                                                                            \
    (void)o, (void)v, (void)k;                                                                                                             \
    return (expr);                                                                                                                         \
  }
A(swap, v)
A(add, o + v)
A(sub, o - v)
A(smin, (u64)least(s32(o), s32(v)))
A(smax, (u64)most(s32(o), s32(v)))
A(smin64, (u64)least((i64)o, (i64)v))
A(smax64, (u64)most((i64)o, (i64)v))
A(umin, o < v ? o : v)
A(umax, o < v ? v : o)
A(and, o &v)
A(or, o | v)
A(xor, (o | v) - (o & v))
A(inc, o < v ? o + 1 : 0)
A(dec, o - 1 < v ? o - 1 : v)
A(add_f32, fb(f(o) + f(v)))
A(add_f64, db(d64(o) + d64(v)))
A(pk_add_f16, halves(hb(h(o) + h(v)), hb(h(hi(o)) + h(hi(v)))))
A(pk_add_bf16, halves(bf16_code(f(o << 16) + f(v << 16)), bf16_code(f(hi(o) << 16) + f(hi(v) << 16))))
A(min_f64, num64(o, v, false))
A(max_f64, num64(o, v, true))
A(cmpswap, o == k ? v : o)

static const struct atomic_case atomics[] = {{"swap", 4, next_swap}, {"add", 4, next_add}, {"sub", 4, next_sub}, {"smin", 4, next_smin},
    {"umin", 4, next_umin}, {"smax", 4, next_smax}, {"umax", 4, next_umax}, {"and", 4, next_and}, {"or", 4, next_or}, {"xor", 4, next_xor},
    {"inc", 4, next_inc}, {"dec", 4, next_dec}, {"add_f32", 4, next_add_f32}, {"pk_add_f16", 4, next_pk_add_f16}, {"swap_x2", 8, next_swap},
    {"add_x2", 8, next_add}, {"sub_x2", 8, next_sub}, {"smin_x2", 8, next_smin64}, {"umin_x2", 8, next_umin}, {"smax_x2", 8, next_smax64},
    {"umax_x2", 8, next_umax}, {"and_x2", 8, next_and}, {"or_x2", 8, next_or}, {"xor_x2", 8, next_xor}, {"inc_x2", 8, next_inc},
    {"dec_x2", 8, next_dec}, {"add_f64", 8, next_add_f64}, {"pk_add_bf16", 4, next_pk_add_bf16}, {"min_f64", 8, next_min_f64},
    {"max_f64", 8, next_max_f64}, {"cmpswap", 4, next_cmpswap}, {"cmpswap_x2", 8, next_cmpswap}};

enum { PLAIN = sizeof plain / sizeof plain[0], ATOMICS = sizeof atomics / sizeof atomics[0] };
enum { ATOMICS_AT = PLAIN * FAMILIES, OTHERS_AT = ATOMICS_AT + ATOMICS * FAMILIES * 2 };
enum other {
  LOAD4,
  STORE4,
  FIXED,
  TO_LDS,
  TO_LDS4,
  WBL2,
  INV,
  FLAT_LOAD,
  FLAT_STORE,
  ATOMIC_ADD,
  INDEXED,
  INDEXED_OFFSET,
  FLAT_ADD,
  FIRST_TO_LDS
};
static const struct {
  const char *name;
  u32 bytes;
  bool sign;
} to_lds[] = {
    {"ubyte", 1, 0}, {"sbyte", 1, 1}, {"ushort", 2, 0}, {"sshort", 2, 1}, {"dword", 4, 0}, {"dwordx3", 12, 0}, {"dwordx4", 16, 0}};
enum { TO_LDS_LOADS = sizeof to_lds / sizeof to_lds[0], OTHERS = FIRST_TO_LDS + TO_LDS_LOADS };
static const char *const others[OTHERS] = {
    [LOAD4] = "buffer_load_dwordx4 v[0:3], v8, s[4:7], 0 offen",
    [STORE4] = "buffer_store_dwordx4 v[10:13], v8, s[4:7], 0 offen",
    [FIXED] = "buffer_load_dword v0, off, s[4:7], s8 offset:8",
    [TO_LDS] = "buffer_load_dword v8, s[4:7], 0 offen offset:4 lds",
    [TO_LDS4] = "buffer_load_dwordx4 v8, s[4:7], 0 offen offset:4 lds",
    [INDEXED] = "buffer_load_dwordx2 v[0:1], v8, s[4:7], s8 idxen offset:4",
    [INDEXED_OFFSET] = "buffer_load_dword v0, v[8:9], s[4:7], 0 idxen offen",
    [FLAT_ADD] = "flat_atomic_add v0, v[8:9], v10 sc0",
    [WBL2] = "buffer_wbl2 sc1",
    [INV] = "buffer_inv sc1",
    [FLAT_LOAD] = "flat_load_dword v0, v[8:9]",
    [FLAT_STORE] = "flat_store_dword v[8:9], v10",
    [ATOMIC_ADD] = "buffer_atomic_add v10, v8, s[4:7], 0 offen sc0",
};

static struct rig *rig;
static uint8_t model[BYTES];
static uint8_t *memory;

static const char *const prefixes[] = {"buffer", "global", "global", "flat"};
static const char *address_of(enum family k) { return k == BUFFER || k == GLOBAL_BASE ? "v8" : "v[8:9]"; }

static u32 group(char *to, u32 first, u32 words) {
  return (u32)(words == 1 ? sprintf(to, "v%u", first) : sprintf(to, "v[%u:%u]", first, first + words - 1));
}

/* "resource, scalar offset" or "base", and the offset. */
static void put_base(char *to, enum family k) {
  if (k == BUFFER)
    sprintf(to, ", s[4:7], s8 offen offset:%d", OFFSET);
  else
    sprintf(to, "%s offset:%d", k == GLOBAL ? ", off" : k == GLOBAL_BASE ? ", s[2:3]" : "", OFFSET);
}

static void plain_line(const struct access_case *p, enum family k, char *line) {
  char data[32];
  u32 n;
  group(data, p->store ? 10 : 0, p->bytes < 4 ? 1 : p->bytes / 4);
  bool data_first = !p->store || k == BUFFER;
  n = (u32)sprintf(line, "%s_%s_%s ", prefixes[k], p->store ? "store" : "load", p->name);
  n += (u32)sprintf(line + n, "%s, %s", data_first ? data : address_of(k), data_first ? address_of(k) : data);
  put_base(line + n, k);
}

/* buffer: data in v[10..], old value over it. Others: result v[0..]. */
static void atomic_line(const struct atomic_case *a, enum family k, bool returns, char *line) {
  char data[32], result[32] = "";
  u32 words = a->bytes / 4, n;
  group(data, 10, a->next == next_cmpswap ? 2 * words : words);
  if (returns && k != BUFFER) group(result, 0, words);
  n = (u32)sprintf(line, "%s_atomic_%s %s%s", prefixes[k], a->name, result, *result ? ", " : "");
  n += (u32)sprintf(line + n, "%s, %s", k == BUFFER ? data : address_of(k), k == BUFFER ? address_of(k) : data);
  put_base(line + n, k);
  if (returns) strcat(line, " sc0");
}

static u32 lane_offset(u32 l) { return 64 * (l * 11 % 64) + 16 * (l % 4); }

static void set_addresses(enum family k) {
  struct wave *w = rig->wave;
  u64 base = k == BUFFER ? 0 : k == GLOBAL_BASE ? 0 : rig->buffer + SOFFSET;
  for (u32 l = 0; l < 64; l++) {
    u64 v = base + lane_offset(l);
    w->v[8].w[l] = (u32)v;
    w->v[9].w[l] = k == GLOBAL_BASE || k == BUFFER ? 0xFFFFFFFF : (u32)(v >> 32);
  }
  wave_put_sreg64(w, 2, rig->buffer + SOFFSET);
  wave_put_sreg64(w, 4, rig->buffer);
  w->sreg[6] = SIZE, w->sreg[7] = 0x00027000, w->sreg[8] = SOFFSET;
}

static void fill_all(enum family k, u32 seed) {
  for (u32 i = 0; i < BYTES; i++) model[i] = (uint8_t)(rig_value(T_u64, i + seed + 100) >> 8);
  memcpy(memory, model, BYTES);
  for (u32 r = 0; r < 18; r++)
    for (u32 l = 0; l < 64; l++) rig->wave->v[r].w[l] = (u32)rig_value(T_u64, 500 + r * 64 + l + seed);
  set_addresses(k);
  wave_set_exec(rig->wave, seed % 2 ? UINT64_C(0xF00FFFFF0FFF1FF1) : UINT64_MAX);
}

static u32 filled(const struct access_case *p, u32 old, u64 value) {
  u64 v = p->sign ? (u64)(p->bytes == 1 ? s8(value) : s16(value)) : value;
  if (p->low) return (u32)halves(v, hi(old));
  if (p->high) return (u32)halves(lo(old), v);
  return (u32)v;
}

static void check_plain(const struct access_case *p, const char *line, size_t i) {
  static vgpr before[18];
  memcpy(before, rig->wave->v, sizeof before);
  rig_run(rig, i);
  for (u32 l = 0; l < 64; l++) {
    bool active = wave_exec(rig->wave) >> l & 1;
    u32 at = SOFFSET + OFFSET + lane_offset(l);
    for (u32 b = 0; p->store && active && b < p->bytes; b++)
      model[at + b] = (uint8_t)(before[10 + b / 4].w[l] >> (8 * (b % 4) + (p->high ? 16 : 0)));
    for (u32 k = 0; !p->store && k < (p->bytes < 4 ? 1 : p->bytes / 4); k++) {
      u32 value = 0;
      memcpy(&value, model + at + 4 * k, p->bytes < 4 ? p->bytes : 4);
      u32 want = active ? filled(p, before[k].w[l], value) : before[k].w[l];
      if (rig->wave->v[k].w[l] != want) fail_msg("%s: lane %u word %u: wanted %x, got %x", line, l, k, want, rig->wave->v[k].w[l]);
    }
  }
  if (memcmp(model, memory, BYTES) != 0) fail_msg("%s: memory differs", line);
}

static void loads_and_stores_move_the_right_bytes(void **state) {
  (void)state;
  rig->group.out_of_range = 0;
  for (u32 seed = 0; seed < 2; seed++)
    for (size_t i = 0; i < PLAIN * FAMILIES; i++) {
      fill_all((enum family)(i % FAMILIES), seed);
      check_plain(&plain[i / FAMILIES], rig->program->inst[i].text, i);
    }
  assert_int_equal(rig->group.out_of_range, 0);
}

static u64 take(const vgpr *v, u32 reg, u32 words, u32 l) { return v[reg].w[l] | (words == 2 ? (u64)v[reg + 1].w[l] << 32 : 0); }

static void check_atomic(const struct atomic_case *a, enum family k, bool returns, size_t line) {
  static vgpr before[18];
  struct wave *w = rig->wave;
  u32 words = a->bytes / 4, result = k == BUFFER ? 10 : 0;
  u64 want_old[64] = {0};
  fill_all(k, 1);
  for (u32 l = 0; l < 64; l++) { /* 8 lanes a word; numbers that add exactly */
    w->v[8].w[l] -= lane_offset(l) - l / 8 * 16;
    if (a->next == next_add_f32 || a->next == next_pk_add_f16 || a->next == next_pk_add_bf16) w->v[10].w[l] = 0x3C003C00;
    if (a->next == next_min_f64 || a->next == next_max_f64) w->v[11].w[l] &= 0xBFFFFFFF, model[SOFFSET + OFFSET + l / 8 * 16 + 7] &= 0xBF;
    if (a->next == next_add_f64) w->v[11].w[l] = 0x3FF00000 + l;
    if (l % 2 && a->next == next_cmpswap) memcpy(&w->v[10 + words].w[l], model + SOFFSET + OFFSET + l / 8 * 16, 4);
  }
  memcpy(memory, model, BYTES);
  memcpy(before, w->v, sizeof before);
  for (u32 l = 0; l < 64; l++) {
    uint8_t *at = model + SOFFSET + OFFSET + l / 8 * 16;
    if (!(wave_exec(w) >> l & 1)) continue;
    memcpy(&want_old[l], at, a->bytes);
    u64 next = a->next(want_old[l], take(before, 10, words, l), take(before, 10 + words, words, l));
    memcpy(at, &next, a->bytes);
  }
  enum wave_stop stop = rig_run(rig, line);
  assert_int_equal(stop, WAVE_ATOMIC);
  for (u32 l = 0; l < 64; l++) {
    u64 want = returns && (wave_exec(w) >> l & 1) ? want_old[l] : take(before, result, words, l);
    if (take(w->v, result, words, l) != want) fail_msg("%s: lane %u: the old value is wrong", rig->program->inst[line].text, l);
  }
  for (u32 i = 0; i < BYTES; i++)
    if (model[i] != memory[i]) fail_msg("%s: byte %u: wanted %x, got %x", rig->program->inst[line].text, i, model[i], memory[i]);
}

static void atomics_are_done_lane_by_lane(void **state) {
  (void)state;
  for (size_t i = 0; i < ATOMICS * FAMILIES; i++) {
    check_atomic(&atomics[i / FAMILIES], (enum family)(i % FAMILIES), true, ATOMICS_AT + 2 * i);
    check_atomic(&atomics[i / FAMILIES], (enum family)(i % FAMILIES), false, ATOMICS_AT + 2 * i + 1);
  }
}

/* A resource of 28 bytes: lane 0 is inside, lane 1 half (7 of its dwords' 8), lane 2 outside. */
static void a_buffer_ends_where_its_resource_says(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill_all(BUFFER, 0);
  w->sreg[6] = 28;
  for (u32 l = 0; l < 64; l++) w->v[8].w[l] = l < 3 ? 16 * l : 0xFFFFFFF0;
  rig->group.out_of_range = 0;
  rig->group.index = 7;
  rig_run(rig, OTHERS_AT + LOAD4);
  for (u32 k = 0; k < 7; k++) assert_memory_equal(&w->v[k % 4].w[k / 4], model + 4 * k, 4);
  assert_int_equal(w->v[3].w[1], 0);
  for (u32 k = 0; k < 4; k++) assert_int_equal(w->v[k].w[2] | w->v[k].w[63], 0);
  assert_int_equal(rig->group.out_of_range, 63);
  assert_non_null(strstr(rig->group.out_of_range_text, "buffer_load_dwordx4 v[0:3], v8, s[4:7], 0 offen at 0x"));
  assert_non_null(strstr(rig->group.out_of_range_text, "workgroup 7 wave 0 lane 1 is at byte 16 of 28"));
  rig_run(rig, OTHERS_AT + STORE4);
  for (u32 b = 0; b < 28; b++) model[b] = (uint8_t)(w->v[10 + b % 16 / 4].w[b / 16] >> (8 * (b % 4)));
  assert_memory_equal(model, memory, BYTES);
}

static void a_resource_of_no_bytes_is_a_mask_and_no_finding(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill_all(BUFFER, 0);
  w->sreg[4] = w->sreg[5] = w->sreg[6] = 0;
  rig->group.out_of_range = 0;
  rig_run(rig, OTHERS_AT + LOAD4);
  for (u32 l = 0; l < 64; l++) assert_int_equal(w->v[0].w[l] | w->v[1].w[l] | w->v[2].w[l] | w->v[3].w[l], 0);
  rig_run(rig, OTHERS_AT + STORE4);
  rig_run(rig, OTHERS_AT + ATOMIC_ADD);
  for (u32 l = 0; l < 64; l++) assert_int_equal(w->v[10].w[l], 0);
  assert_memory_equal(model, memory, BYTES);
  assert_int_equal(rig->group.out_of_range, 0);
}

static void a_load_without_address_reads_the_scalar_offset(void **state) {
  (void)state;
  fill_all(BUFFER, 0);
  rig_run(rig, OTHERS_AT + FIXED);
  for (u32 l = 0; l < 64; l++) assert_memory_equal(&rig->wave->v[0].w[l], model + SOFFSET + 8, 4);
}

static void a_load_to_lds_lays_lanes_side_by_side(void **state) {
  (void)state;
  fill_all(BUFFER, 0);
  rig->wave->sreg[SREG_M0] = 256;
  rig_run(rig, OTHERS_AT + TO_LDS);
  for (u32 l = 0; l < 64; l++) assert_memory_equal(rig->group.lds + 256 + 4 + 4 * l, model + lane_offset(l) + 4, 4);
}

/* Four dwords a lane lie 16 bytes apart, and so do three; anything smaller is a dword. M0 has 18 bits, for 64-bit addresses whole dwords.
 */
static void wider_loads_to_lds_keep_lanes_16_bytes_apart(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill_all(BUFFER, 0);
  w->sreg[SREG_M0] = 256;
  rig_run(rig, OTHERS_AT + TO_LDS4);
  for (u32 l = 0; l < 64; l++) assert_memory_equal(rig->group.lds + 256 + 4 + 16 * l, model + lane_offset(l) + 4, 16);
  for (size_t i = 0; i < TO_LDS_LOADS; i++) {
    u32 apart = to_lds[i].bytes > 4 ? 16 : 4;
    fill_all(GLOBAL_BASE, 0);
    memset(rig->group.lds, 0xEE, 4096);
    w->sreg[SREG_M0] = 514;
    rig_run(rig, OTHERS_AT + FIRST_TO_LDS + i);
    for (u32 l = 0; l < 64; l++) {
      u32 want[4] = {0};
      memcpy(want, model + SOFFSET + lane_offset(l) + 8, to_lds[i].bytes);
      if (to_lds[i].sign) want[0] = (u32)(to_lds[i].bytes == 1 ? s8(want[0]) : s16(want[0]));
      if (to_lds[i].bytes == 12) want[3] = 0xEEEEEEEE;
      assert_memory_equal(rig->group.lds + 512 + 8 + apart * l, want, apart);
    }
  }
}

/* A record of 12 bytes each; num_records counts them. */
static void an_index_counts_in_strides(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill_all(BUFFER, 0);
  w->sreg[5] |= 12 << 16, w->sreg[6] = 60, w->sreg[8] = 16;
  for (u32 l = 0; l < 64; l++) w->v[8].w[l] = l, w->v[9].w[l] = 4 * (l % 3);
  rig->group.out_of_range = 0;
  rig_run(rig, OTHERS_AT + INDEXED);
  for (u32 l = 0; l < 64; l++) {
    u32 got[2] = {w->v[0].w[l], w->v[1].w[l]}, nothing[2] = {0};
    assert_memory_equal(got, l < 60 ? (const void *)(model + 12 * l + 16 + 4) : nothing, 8);
  }
  assert_int_equal(rig->group.out_of_range, 4);
  rig_run(rig, OTHERS_AT + INDEXED_OFFSET);
  for (u32 l = 0; l < 60; l++) assert_memory_equal(&w->v[0].w[l], model + 12 * l + 4 * (l % 3), 4);
}

/* Lanes of one flat atomic in LDS and in memory. */
static void a_flat_atomic_finds_lds_and_memory(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill_all(FLAT, 0);
  memset(rig->group.lds, 0, 64);
  memset(memory, 0, 64);
  for (u32 l = 0; l < 64; l++) {
    u64 at = l % 2 ? (u64)SHARED_APERTURE << 32 | 16 : rig->buffer + 32;
    w->v[8].w[l] = (u32)at, w->v[9].w[l] = (u32)(at >> 32), w->v[10].w[l] = 1;
  }
  assert_int_equal(rig_run(rig, OTHERS_AT + FLAT_ADD), WAVE_ATOMIC);
  u32 lds, global;
  memcpy(&lds, rig->group.lds + 16, 4), memcpy(&global, memory + 32, 4);
  assert_int_equal(lds, 32);
  assert_int_equal(global, 32);
  for (u32 l = 0; l < 64; l++) assert_int_equal(w->v[0].w[l], l / 2);
}

static void a_flat_address_in_the_aperture_is_lds(void **state) {
  (void)state;
  fill_all(FLAT, 0);
  for (u32 l = 0; l < 64; l++) rig->wave->v[8].w[l] = 1024 + 4 * l, rig->wave->v[9].w[l] = SHARED_APERTURE;
  rig_run(rig, OTHERS_AT + FLAT_STORE);
  rig_run(rig, OTHERS_AT + FLAT_LOAD);
  for (u32 l = 0; l < 64; l++) assert_int_equal(rig->wave->v[0].w[l], rig->wave->v[10].w[l]);
  assert_memory_equal(rig->group.lds + 1024, rig->wave->v[10].w, 256);
  assert_memory_equal(model, memory, BYTES);
}

static void what_is_not_modelled_is_a_fault_that_names_the_instruction(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill_all(BUFFER, 0);
  w->sreg[5] |= 16 << 16; /* a stride */
  w->pc = OTHERS_AT + LOAD4;
  assert_int_equal(wave_run(w, 1), WAVE_FAULT);
  assert_non_null(strstr(w->fault, "buffer_load_dwordx4"));
  assert_non_null(strstr(w->fault, "stride"));
  fill_all(FLAT, 0);
  for (u32 l = 0; l < 64; l++) w->v[8].w[l] = 0x5000, w->v[9].w[l] = 0;
  w->pc = OTHERS_AT + FLAT_LOAD;
  assert_int_equal(wave_run(w, 1), WAVE_FAULT);
  assert_non_null(strstr(w->fault, "flat_load_dword v0, v[8:9] at 0x"));
  assert_non_null(strstr(w->fault, "loads 4 bytes at 0x5000, which no allocation holds"));
  rig_run(rig, OTHERS_AT + WBL2), rig_run(rig, OTHERS_AT + INV);
}

static void every_row_was_executed(void **state) {
  (void)state;
  const char *row = rig_untested(&isa_vmem);
  if (row) fail_msg("%s has no test", row);
}

int main(void) {
  static char text[OTHERS_AT][96];
  static const char *lines[OTHERS_AT + OTHERS];
  for (size_t i = 0; i < PLAIN * FAMILIES; i++) plain_line(&plain[i / FAMILIES], (enum family)(i % FAMILIES), text[i]);
  for (size_t i = 0; i < ATOMICS * FAMILIES * 2; i++)
    atomic_line(&atomics[i / FAMILIES / 2], (enum family)(i / 2 % FAMILIES), i % 2 == 0, text[ATOMICS_AT + i]);
  for (size_t i = 0; i < OTHERS_AT; i++) lines[i] = text[i];
  static char load_text[TO_LDS_LOADS][64];
  for (size_t i = 0; i < OTHERS; i++) lines[OTHERS_AT + i] = others[i];
  for (size_t i = 0; i < TO_LDS_LOADS; i++) {
    sprintf(load_text[i], "global_load_lds_%s v8, s[2:3] offset:8", to_lds[i].name);
    lines[OTHERS_AT + FIRST_TO_LDS + i] = load_text[i];
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_and_stores_move_the_right_bytes),
      cmocka_unit_test(atomics_are_done_lane_by_lane),
      cmocka_unit_test(a_buffer_ends_where_its_resource_says),
      cmocka_unit_test(a_resource_of_no_bytes_is_a_mask_and_no_finding),
      cmocka_unit_test(a_load_without_address_reads_the_scalar_offset),
      cmocka_unit_test(a_load_to_lds_lays_lanes_side_by_side),
      cmocka_unit_test(wider_loads_to_lds_keep_lanes_16_bytes_apart),
      cmocka_unit_test(an_index_counts_in_strides),
      cmocka_unit_test(a_flat_atomic_finds_lds_and_memory),
      cmocka_unit_test(a_flat_address_in_the_aperture_is_lds),
      cmocka_unit_test(what_is_not_modelled_is_a_fault_that_names_the_instruction),
      cmocka_unit_test(every_row_was_executed),
  };
  rig = rig_open("gfx950", lines, OTHERS_AT + OTHERS);
  memory = (uint8_t *)(uintptr_t)rig->buffer;
  int failed = cmocka_run_group_tests_name("vector memory moves the right bytes", tests, NULL, NULL);
  rig_close(rig);
  return failed;
}
