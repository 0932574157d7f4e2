/* SPDX-License-Identifier: Apache-2.0 */
/* Every scalar arithmetic instruction and every vector compare, against the host's own arithmetic; a row without a case fails. */
#include <stdio.h>

#include "host_math.h"
#include "isa_rig.h"

enum shape { SHAPE_S, SHAPE_K, SHAPE_X };

struct salu_case {
  const char *row;
  enum shape shape;
  int d, a, b;
  u32 imm;
  u64 (*value)(u64 a, u64 b, u64 o, u64 s, u64 e);
  u64 (*scc)(u64 a, u64 b, u64 r, u64 s);
};

static u64 doubled_bits(u64 v) {
  u64 d = 0;
  for (int i = 31; i >= 0; i--) d = d << 2 | (v >> i & 1 ? 3 : 0);
  return d;
}

#define FUNCTIONS(name, result, flag)                                                                                                      \
  static u64 value_##name(u64 a, u64 b, u64 o, u64 s, u64 e) {                                                                             \
    (void)a, (void)b, (void)o, (void)s, (void)e;                                                                                           \
    return (result);                                                                                                                       \
  }                                                                                                                                        \
  static u64 scc_##name(u64 a, u64 b, u64 r, u64 s) {                                                                                      \
    (void)a, (void)b, (void)r, (void)s;                                                                                                    \
    return (flag);                                                                                                                         \
  }
#define S(name, D, A, B, v, c)   FUNCTIONS(name, v, c)
#define K(name, imm, value, scc) FUNCTIONS(name, value, scc)
#define X(name, value)           FUNCTIONS(name, value, r != 0)
#include "cases_salu.def"
#undef S
#undef K
#undef X

#define S(name, D, A, B, v, c)   {#name, SHAPE_S, T_##D, T_##A, T_##B, 0, value_##name, scc_##name},
#define K(name, imm, value, scc) {#name, SHAPE_K, T_u32, T_u32, T_NONE, imm, value_##name, scc_##name},
#define X(name, value)           {#name, SHAPE_X, T_u64, T_u64, T_NONE, 0, value_##name, scc_##name},
static const struct salu_case cases[] = {
#include "cases_salu.def"
};
enum { CASES = sizeof cases / sizeof cases[0], COMPARE_MAX = 400, INPUTS = 1600, DST = 0, SRC_A = 2, SRC_B = 4 };

static struct rig *rig;
static uint32_t compares;

static int put_group(char *to, size_t room, const char *before, const char *letter, uint32_t first, int type) {
  uint32_t words = type_words((enum isa_type)type);
  if (type == T_NONE) return 0;
  if (words == 1) return snprintf(to, room, "%s%s%u", before, letter, first);
  return snprintf(to, room, "%s%s[%u:%u]", before, letter, first, first + words - 1);
}

static void line_of(const struct salu_case *c, char *line, size_t room) {
  int n = snprintf(line, room, "%s", c->row);
  n += put_group(line + n, room - (size_t)n, " ", "s", DST, c->d);
  if (c->shape == SHAPE_K) {
    snprintf(line + n, room - (size_t)n, ", 0x%x", c->imm);
    return;
  }
  n += put_group(line + n, room - (size_t)n, c->d == T_NONE ? " " : ", ", "s", SRC_A, c->a);
  put_group(line + n, room - (size_t)n, ", ", "s", SRC_B, c->b);
}

static u64 masked(u64 v, int type) { return type_words((enum isa_type)type) == 2 ? v : v & UINT32_MAX; }

static void check_inputs(const struct salu_case *c, size_t line, uint32_t i) {
  struct wave *w = rig->wave;
  u64 a = rig_value((enum isa_type)(c->a == T_u64 ? T_u64 : T_u32), i % 43),
      b = rig_value((enum isa_type)(c->b == T_u64 ? T_u64 : T_u32), i / 43);
  u64 old = rig_value(c->d == T_u64 ? T_u64 : T_u32, i % 43 + i % 7), e = rig_value(T_u64, i + 9), s = i / 3 % 2;
  wave_put_sreg64(w, SRC_A, a);
  wave_put_sreg64(w, SRC_B, b);
  wave_put_sreg64(w, DST, old);
  wave_set_exec(w, e);
  w->scc = (u32)s;
  rig_run(rig, line);
  a = masked(a, c->a), b = masked(b, c->b);
  u64 first = c->shape == SHAPE_K ? old & UINT32_MAX : a;
  u64 r = masked(c->value(first, b, masked(old, c->d), s, e), c->d), got = masked(wave_sreg64(w, DST), c->d);
  u64 want = c->shape == SHAPE_X ? e : r;
  if (c->d != T_NONE && got != want)
    fail_msg("%s: a %llx b %llx old %llx scc %llu: wanted %llx, got %llx", c->row, (unsigned long long)first, (unsigned long long)b,
        (unsigned long long)old, (unsigned long long)s, (unsigned long long)want, (unsigned long long)got);
  if (w->scc != c->scc(first, b, r, s))
    fail_msg("%s: a %llx b %llx: SCC is %u", c->row, (unsigned long long)first, (unsigned long long)b, w->scc);
  assert_int_equal(wave_exec(w), c->shape == SHAPE_X ? r : e);
  for (int l = 0; l < 64; l++) assert_int_equal(w->exec_mask.w[l], wave_exec(w) >> l & 1 ? UINT32_MAX : 0);
}

static void run_case(void **state) {
  const char *row = *state;
  uint32_t found = 0;
  for (size_t c = 0; c < CASES; c++) {
    if (strcmp(cases[c].row, row) != 0) continue;
    found++;
    for (uint32_t i = 0; i < INPUTS; i++) check_inputs(&cases[c], c, i);
  }
  if (!found) fail_msg("%s has no case in cases_salu.def", row);
}

static void cases_are_rows(void **state) {
  (void)state;
  for (size_t c = 0; c < CASES; c++)
    if (!rig_is_row(&isa_salu, cases[c].row)) fail_msg("%s is a case of no row", cases[c].row);
}

static void exec_can_be_a_destination(void **state) {
  (void)state;
  size_t i = CASES + compares;
  wave_put_sreg64(rig->wave, SRC_A, UINT64_C(0x123456789ABCDEF0));
  rig_run(rig, i);
  assert_int_equal(wave_exec(rig->wave), UINT64_C(0x123456789ABCDEF0));
  assert_int_equal(rig->wave->exec_mask.w[4], UINT32_MAX);
  assert_int_equal(rig->wave->exec_mask.w[0], 0);
  assert_false(rig->wave->exec_full);
  rig_run(rig, i + 1);
  assert_int_equal(wave_exec(rig->wave), UINT64_C(0xFFFFFFFF9ABCDEF0));
}

/* --- compares ---------------------------------------------------------------------------------------------------------------- */

/* The relation by name, from how the two values lie: -1, 0, 1, or 2 if one is a NaN. */
static bool relation(const char *name, size_t length, int order) {
  static const struct {
    const char *name;
    bool less, equal, greater, unordered;
  } relations[] = {{"f", 0, 0, 0, 0}, {"lt", 1, 0, 0, 0}, {"eq", 0, 1, 0, 0}, {"le", 1, 1, 0, 0}, {"gt", 0, 0, 1, 0}, {"lg", 1, 0, 1, 0},
      {"ge", 0, 1, 1, 0}, {"o", 1, 1, 1, 0}, {"u", 0, 0, 0, 1}, {"nge", 1, 0, 0, 1}, {"nlg", 0, 1, 0, 1}, {"ngt", 1, 1, 0, 1},
      {"nle", 0, 0, 1, 1}, {"neq", 1, 0, 1, 1}, {"nlt", 0, 1, 1, 1}, {"tru", 1, 1, 1, 1}, {"t", 1, 1, 1, 1}, {"ne", 1, 0, 1, 1}};
  for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++)
    if (strlen(relations[i].name) == length && memcmp(relations[i].name, name, length) == 0)
      return order < 0 ? relations[i].less : order == 0 ? relations[i].equal : order == 1 ? relations[i].greater : relations[i].unordered;
  fail_msg("no relation is called %s", name);
  return false;
}

static int order_of(int type, u64 a, u64 b) {
  double x = 0, y = 0;
  switch (type) {
  case T_f16:
    x = h(a), y = h(b);
    break;
  case T_f32:
    x = (double)f(a), y = (double)f(b);
    break;
  case T_f64:
    x = d64(a), y = d64(b);
    break;
  case T_i16:
    x = (double)s16(a), y = (double)s16(b);
    break;
  case T_u16:
    x = (double)lo(a), y = (double)lo(b);
    break;
  case T_i32:
    x = (double)s32(a), y = (double)s32(b);
    break;
  case T_u32:
    x = (double)(u32)a, y = (double)(u32)b;
    break;
  case T_i64:
    return (i64)a < (i64)b ? -1 : (i64)a > (i64)b;
  default:
    return a < b ? -1 : a > b;
  }
  return isnan(x) || isnan(y) ? 2 : x < y ? -1 : x > y;
}

/* The class bit by fpclassify. */
static bool in_class(const char *type, u64 a, u64 mask) {
  bool is16 = strcmp(type, "f16") == 0, is32 = strcmp(type, "f32") == 0;
  double v = is16 ? h(a) : is32 ? (double)f(a) : d64(a), least = is16 ? 0x1p-14 : is32 ? 0x1p-126 : 0x1p-1022;
  bool quiet = a >> (is16 ? 9 : is32 ? 22 : 51) & 1, minus = signbit(v) != 0;
  int bit = isnan(v) ? quiet : isinf(v) ? (minus ? 2 : 9) : v == 0 ? (minus ? 5 : 6) : fabs(v) < least ? (minus ? 4 : 7) : (minus ? 3 : 8);
  return mask >> bit & 1;
}

static bool compare_wanted(const struct isa_row *row, u64 a, u64 b) {
  const char *name = strchr(row->name + 2, '_') + 1, *type = strrchr(name, '_') + 1;
  if (strncmp(name, "class", 5) == 0) return in_class(type, a, b);
  return relation(name, (size_t)(type - 1 - name), order_of(row->type[1], a, b));
}

static void run_compare(void **state) {
  const struct isa_row *row = *state;
  size_t line = CASES + (size_t)(row - isa_cmp.rows);
  bool class = strstr(row->name, "_class_") != NULL, sets_exec = strncmp(row->name, "v_cmpx", 6) == 0;
  for (uint32_t round = 0; round < 40; round++) {
    u64 exec = round % 2 ? rig_value(T_u64, round + 31) : UINT64_MAX, want = 0;
    for (int l = 0; l < 64; l++) {
      uint32_t t = round * 64 + (uint32_t)l;
      u64 a = rig_value((enum isa_type)row->type[1], t % 47), b = rig_value((enum isa_type)row->type[2], t / 47);
      if (class)
        a = rig_value((enum isa_type)(strstr(row->name, "f16") ? T_f16 : row->type[1]), t % 47), b = UINT64_C(1) << t % 10 | (t & 512);
      for (uint32_t k = 0; k < 2; k++) rig->wave->v[2 + k].w[l] = (u32)(a >> (32 * k)), rig->wave->v[4 + k].w[l] = (u32)(b >> (32 * k));
      if (exec >> l & 1) want |= (u64)compare_wanted(row, a, b) << l;
    }
    wave_set_exec(rig->wave, exec);
    rig_run(rig, line);
    if (wave_sreg64(rig->wave, 10) != want) fail_msg("%s round %u: wanted %llx", row->name, round, (unsigned long long)want);
    assert_int_equal(wave_exec(rig->wave), sets_exec ? want : exec);
  }
}

int main(void) {
  static char text[CASES + COMPARE_MAX][96];
  static const char *lines[CASES + COMPARE_MAX + 2];
  static struct CMUnitTest tests[2 * CASES + COMPARE_MAX + 8];
  size_t count = 0, line = CASES;
  for (size_t i = 0; i < CASES; i++) line_of(&cases[i], text[i], sizeof text[i]);
  compares = isa_cmp.count < COMPARE_MAX ? isa_cmp.count : COMPARE_MAX;
  for (uint32_t i = 0; i < compares; i++, line++) {
    const struct isa_row *row = &isa_cmp.rows[i];
    int n = snprintf(text[line], sizeof text[line], "%s_e64 s[10:11]", row->name);
    n += put_group(text[line] + n, sizeof text[line] - (size_t)n, ", ", "v", 2, row->type[1]);
    put_group(text[line] + n, sizeof text[line] - (size_t)n, ", ", "v", 4, row->type[2]);
    tests[count++] = (struct CMUnitTest){row->name, run_compare, NULL, NULL, (void *)(uintptr_t)row};
  }
  for (size_t i = 0; i < line; i++) lines[i] = text[i];
  lines[line] = "s_mov_b64 exec, s[2:3]";
  lines[line + 1] = "s_mov_b32 exec_hi, -1";
  rig = rig_open("gfx950", lines, line + 2);
  for (uint32_t i = 0; i < isa_salu.count && count < sizeof tests / sizeof tests[0] - 2; i++)
    tests[count++] = (struct CMUnitTest){isa_salu.rows[i].name, run_case, NULL, NULL, (void *)(uintptr_t)isa_salu.rows[i].name};
  tests[count++] = (struct CMUnitTest){"EXEC can be written as a register", exec_can_be_a_destination, NULL, NULL, NULL};
  tests[count++] = (struct CMUnitTest){"every case tests an instruction that the emulator has", cases_are_rows, NULL, NULL, NULL};
  int failed = _cmocka_run_group_tests("scalar arithmetic and compares give what the hardware gives", tests, count, NULL, NULL);
  rig_close(rig);
  return failed;
}
