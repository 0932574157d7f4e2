/* SPDX-License-Identifier: Apache-2.0 */
/* Every vector arithmetic, conversion and packed instruction on values at the edges and at random, against the host's own arithmetic. The
   tests are made from the emulator's tables: a row without a case fails. */
#include <stdio.h>

#include "host_math.h"
#include "isa_rig.h"

enum check { BITS, VALUE32, VALUE64, VALUE16, VALUE16_KEEP, PAIR16, PAIR32, ULP32, ULP64, FLAG, ACC, ACC_OUT, ACC_BOTH };

/* Inputs beyond the types: NONE, byte selectors, small shifts. */
enum { T_SELECTOR = ISA_TYPES, T_SHIFT4 };
#define IN_NONE     T_NONE
#define IN_u16      T_u16
#define IN_f16      T_f16
#define IN_pk       T_pk
#define IN_pkh      T_pkh
#define IN_u32      T_u32
#define IN_f32      T_f32
#define IN_u64      T_u64
#define IN_f64      T_f64
#define IN_pkf      T_pkf
#define IN_SELECTOR T_SELECTOR
#define IN_SHIFT4   T_SHIFT4

struct isa_case {
  const char *row, *name, *operands; /* operands null: by the types */
  int d, in[3];
  enum check check;
  u64 (*want)(u64 a, u64 b, u64 c, u64 d, u64 m);
};

#define WANT(name, value)                                                                                                                  \
  static u64 want_##name(u64 a, u64 b, u64 c, u64 d, u64 m) {                                                                              \
    (void)a, (void)b, (void)c, (void)d, (void)m;                                                                                           \
    return (value);                                                                                                                        \
  }
#define V(name, D, A, B, C, check, value)       WANT(name, value)
#define T(name, text, D, A, B, C, check, value) WANT(name, value)
#define C(name, text, D, A, B, C, check, value) WANT(name##_clamp, value)
#include "cases_cvt.def"
#include "cases_valu.def"
#undef V
#undef T
#undef C

#define V(name, D, A, B, C, check, value)       {#name, #name, NULL, T_##D, {IN_##A, IN_##B, IN_##C}, check, want_##name},
#define T(name, text, D, A, B, C, check, value) {#name, #name, text, T_##D, {IN_##A, IN_##B, IN_##C}, check, want_##name},
#define C(name, text, D, A, B, C, check, value) {#name " clamp", #name, text, T_##D, {IN_##A, IN_##B, IN_##C}, check, want_##name##_clamp},
static const struct isa_case cases[] = {
#include "cases_cvt.def"
#include "cases_valu.def"
};
enum { CASES = sizeof cases / sizeof cases[0], ROUNDS = 60 };

static struct rig *rig;

static uint32_t words_of(int type) { return type < ISA_TYPES ? type_words((enum isa_type)type) : 1; }

static int put_register(char *to, size_t room, uint32_t first, uint32_t words) {
  return words == 1 ? snprintf(to, room, " v%u", first) : snprintf(to, room, " v[%u:%u]", first, first + words - 1);
}

static const char *line_of(const struct isa_case *c, char *line, size_t room) {
  int n = snprintf(line, room, "%s", c->name);
  if (c->operands) {
    snprintf(line + n, room - (size_t)n, " %s", c->operands);
    return line;
  }
  n += put_register(line + n, room - (size_t)n, 0, words_of(c->d));
  for (uint32_t i = 0; i < 3 && c->in[i] != T_NONE; i++) {
    n += snprintf(line + n, room - (size_t)n, ",");
    n += put_register(line + n, room - (size_t)n, 2 + 2 * i, words_of(c->in[i]));
  }
  return line;
}

static u64 input(int type, uint32_t i) {
  if (type == T_NONE) return 0;
  if (type == T_SELECTOR) return rig_value(T_u32, i + 60) & 0x0F0F0F0F;
  if (type == T_SHIFT4) return i % 5;
  return rig_value((enum isa_type)type, i);
}

/* The value that the instruction sees: 16-bit sources lie in garbage. */
static u64 seen(int type, u64 v) {
  if (type == T_u16 || type == T_f16) return v & 0xFFFF;
  return words_of(type) == 2 ? v : v & UINT32_MAX;
}

static bool same32(u64 x, u64 y) { return (x & UINT32_MAX) == (y & UINT32_MAX) || (isnan(f(x)) && isnan(f(y))); }
static bool same64(u64 x, u64 y) { return x == y || (isnan(d64(x)) && isnan(d64(y))); }
static bool same16(u64 x, u64 y) { return lo(x) == lo(y) || (isnan(h(x)) && isnan(h(y))); }

static bool agree(enum check check, u64 got, u64 want, uint32_t words) {
  u64 mask = words == 2 ? UINT64_MAX : UINT32_MAX;
  switch (check) {
  case VALUE32:
    return same32(got, want);
  case VALUE64:
    return same64(got, want);
  case VALUE16:
    return same16(got, want) && got < 0x10000;
  case VALUE16_KEEP:
    return same16(got, want) && hi(got) == hi(want);
  case PAIR16:
    return same16(got, want) && same16(hi(got), hi(want));
  case PAIR32:
    return same32(got, want) && same32(got >> 32, want >> 32);
  case ULP32:
    return same32(got, want) || llabs((i64)(got & UINT32_MAX) - (i64)(want & UINT32_MAX)) <= 1;
  case ULP64:
    return same64(got, want) || llabs((i64)(got - want)) <= 1;
  default:
    return (got & mask) == (want & mask);
  }
}

static u64 lane_of(uint32_t reg, uint32_t words, int l) {
  const vgpr *v = &rig->wave->v[reg];
  return words == 2 ? v[0].w[l] | (u64)v[1].w[l] << 32 : v[0].w[l];
}

static void put_lane(uint32_t reg, uint32_t words, int l, u64 value) {
  for (uint32_t k = 0; k < words; k++) rig->wave->v[reg + k].w[l] = (uint32_t)(value >> (32 * k));
}

struct lanes {
  u64 in[3][64], old[64], vcc, exec;
};

static void set_inputs(const struct isa_case *c, uint32_t round, struct lanes *s) {
  uint32_t base = c->check == ACC || c->check == ACC_BOTH ? VGPRS : 0, dst = c->check == ACC_OUT || c->check == ACC_BOTH ? VGPRS : 0;
  s->vcc = rig_value(T_u64, round + 100);
  s->exec = round % 3 == 1 ? rig_value(T_u64, round + 200) : UINT64_MAX;
  for (int l = 0; l < 64; l++) {
    uint32_t t = round * 64 + (uint32_t)l, at[3] = {t % 47, t / 47 % 53, (t * 31 + t / 61) % 59};
    if (c->in[1] == T_NONE && c->in[2] == T_NONE) at[0] = t;
    for (int i = 0; i < 3; i++) {
      s->in[i][l] = input(c->in[i], at[i]);
      put_lane(base + 2 + 2 * (uint32_t)i, 2, l, s->in[i][l]);
    }
    s->old[l] = rig_value(T_u64, t + 77);
    put_lane(dst, 2, l, s->old[l]);
  }
  wave_put_sreg64(rig->wave, SREG_VCC, s->vcc);
  wave_set_exec(rig->wave, s->exec);
}

static void check_lane(const struct isa_case *c, const struct lanes *s, int l, u64 *flag) {
  uint32_t dst = c->check == ACC_OUT || c->check == ACC_BOTH ? VGPRS : 0, words = words_of(c->d);
  u64 got = lane_of(dst, words, l), old = words == 2 ? s->old[l] : s->old[l] & UINT32_MAX;
  u64 a = seen(c->in[0], s->in[0][l]), b = seen(c->in[1], s->in[1][l]), k = seen(c->in[2], s->in[2][l]);
  u64 want = c->want(a, b, k, old, s->vcc >> l & 1);
  bool active = s->exec >> l & 1;
  if (!active && got != old) fail_msg("%s: inactive lane %d was written", c->row, l);
  if (active && !agree(c->check, got, want, words))
    fail_msg("%s: a %llx b %llx c %llx old %llx vcc %d: wanted %llx, got %llx", c->row, (unsigned long long)a, (unsigned long long)b,
        (unsigned long long)k, (unsigned long long)old, (int)(s->vcc >> l & 1), (unsigned long long)want, (unsigned long long)got);
  *flag |= (active && (words == 2 ? want < k : want >> 32 & 1) ? UINT64_C(1) : 0) << l;
}

static void run_case(void **state) {
  const char *row = *state;
  uint32_t i = 0;
  while (i < CASES && strcmp(cases[i].row, row) != 0) i++;
  if (i == CASES) fail_msg("%s has no case in cases_valu.def or cases_cvt.def", row);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    struct lanes s;
    u64 flag = 0;
    set_inputs(&cases[i], round, &s);
    rig_run(rig, i);
    for (int l = 0; l < 64; l++) check_lane(&cases[i], &s, l, &flag);
    if (cases[i].check == FLAG && flag != wave_sreg64(rig->wave, 6)) fail_msg("%s: the carries are wrong", row);
  }
}

static void cases_are_rows(void **state) {
  (void)state;
  for (uint32_t i = 0; i < CASES; i++)
    if (!rig_is_row(&isa_valu, cases[i].row) && !rig_is_row(&isa_cvt, cases[i].row) && !rig_is_row(&isa_packed, cases[i].row))
      fail_msg("%s is a case of no row", cases[i].row);
}

int main(void) {
  static char text[CASES][128];
  static const char *lines[CASES];
  static struct CMUnitTest tests[2 * CASES + 64];
  const struct isa_table *tables[] = {&isa_valu, &isa_cvt, &isa_packed};
  size_t count = 0;
  for (uint32_t i = 0; i < CASES; i++) lines[i] = line_of(&cases[i], text[i], sizeof text[i]);
  rig = rig_open("gfx950", lines, CASES);
  for (size_t t = 0; t < 3; t++)
    for (uint32_t i = 0; i < tables[t]->count && count < CASES + 60; i++)
      tests[count++] = (struct CMUnitTest){tables[t]->rows[i].name, run_case, NULL, NULL, (void *)(uintptr_t)tables[t]->rows[i].name};
  tests[count++] = (struct CMUnitTest){"every case tests an instruction that the emulator has", cases_are_rows, NULL, NULL, NULL};
  int failed = _cmocka_run_group_tests("vector arithmetic gives what the hardware gives", tests, count, NULL, NULL);
  rig_close(rig);
  return failed;
}
