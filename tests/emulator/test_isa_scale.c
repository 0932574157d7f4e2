/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions with a scale and with random bits: every row, every byte of its register, values at the edges and between codes. What is
   wanted is found by search among a format's codes, whose values are the formats' definitions. */
#include <ctype.h>
#include <stdio.h>

#include "host_math.h"
#include "isa_rig.h"

struct format {
  const char *name;
  int exponent, mantissa, bias;
  bool infinities, nan_only_all_ones, fnuz;
};

static const struct format formats[] = {{"fp8", 4, 3, 7, false, true, false}, {"bf8", 5, 2, 15, true, false, false},
    {"fp6", 2, 3, 1, false, false, false}, {"bf6", 3, 2, 3, false, false, false}, {"fp4", 2, 1, 1, false, false, false},
    {"f16", 5, 10, 15, true, false, false}, {"bf16", 8, 7, 127, true, false, false}};
static const struct format fnuz_formats[] = {{"fp8", 4, 3, 8, false, false, true}, {"bf8", 5, 2, 16, false, false, true}};

/* A row's name taken apart: v_cvt_[scalef32_][sr_][pk_|pk32_|2xpk16_]TO_FROM. */
struct conversion {
  char name[48];
  struct format narrow;
  char wide[8];
  bool widens, random, scaled, interleaved;
  u32 count;
};

enum { CONVERSIONS_MAX = 80, SELECTS = 4, ROUNDS = 24, SATURATES = 1 << 23 };
enum { DATA = 0, MORE = 32, SEED = 40, FACTOR = 41, RESULT = 48 }; /* registers; MORE of two sources, or of two groups 16 */

static struct conversion conversions[CONVERSIONS_MAX];
static size_t count;
static struct rig *rig;

static const struct format *format_named(const char *name, bool fnuz) {
  for (size_t i = 0; fnuz && i < 2; i++)
    if (strcmp(fnuz_formats[i].name, name) == 0) return &fnuz_formats[i];
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  return NULL;
}

static bool is_narrow(const char *name) {
  return strlen(name) == 3 && isdigit((unsigned char)name[2]) && strcmp(name, "f16") && strcmp(name, "f32");
}

static void take_apart(const char *name, struct conversion *c, bool fnuz) {
  char text[48], *save = NULL, *word[8];
  u32 words = 0;
  snprintf(text, sizeof text, "%s", name);
  snprintf(c->name, sizeof c->name, "%s", name);
  c->count = 1;
  for (char *w = strtok_r(text, "_", &save); w && words < 8; w = strtok_r(NULL, "_", &save)) {
    word[words++] = w;
    c->scaled |= strcmp(w, "scalef32") == 0;
    c->random |= strcmp(w, "sr") == 0;
    c->interleaved |= strcmp(w, "2xpk16") == 0;
    if (strcmp(w, "pk") == 0) c->count = 2;
    if (strcmp(w, "pk32") == 0 || c->interleaved) c->count = 32;
  }
  const char *to = word[words - 2], *from = word[words - 1];
  c->widens = is_narrow(from);
  c->narrow = *format_named(c->widens ? from : to, fnuz);
  snprintf(c->wide, sizeof c->wide, "%s", c->widens ? to : from);
}

static u32 narrow_bits(const struct conversion *c) { return (u32)(c->narrow.exponent + c->narrow.mantissa + 1); }
static u32 wide_bits(const struct conversion *c) { return strcmp(c->wide, "f32") ? 16 : 32; }
static u32 source_bits(const struct conversion *c) { return c->count * (c->widens ? narrow_bits(c) : wide_bits(c)); }
static u32 result_bits(const struct conversion *c) { return c->count * (c->widens ? wide_bits(c) : narrow_bits(c)); }
static bool two_sources(const struct conversion *c) { return !c->widens && !c->random && c->count == 2 && wide_bits(c) == 32; }

static u32 group(char *to, u32 first, u32 bits) {
  return bits <= 32 ? (u32)sprintf(to, "v%u, ", first) : (u32)sprintf(to, "v[%u:%u], ", first, first + bits / 32 - 1);
}

/* Which parts op_sel can name: of the source first, of the result behind. */
static u32 parts_of(u32 bits) { return bits < 16 ? 4 : bits == 16 ? 2 : 1; }

static u32 parts(const struct conversion *c) {
  if (c->widens && c->count == 1 && wide_bits(c) == 16) return 4; /* a byte goes to one half, which the part says too */
  return c->widens ? parts_of(source_bits(c)) : parts_of(result_bits(c));
}

static void line_of(const struct conversion *c, u32 part, char *line) {
  u32 n = (u32)sprintf(line, "%s ", c->name);
  n += group(line + n, RESULT, result_bits(c));
  n += two_sources(c) ? group(line + n, DATA, 32) : c->interleaved ? group(line + n, DATA, 512) : group(line + n, DATA, source_bits(c));
  if (two_sources(c)) n += group(line + n, MORE, 32);
  if (c->interleaved) n += group(line + n, 16, 512);
  if (c->random) n += group(line + n, SEED, 32);
  if (c->scaled) n += group(line + n, FACTOR, 32);
  line[n - 2] = '\0';
  if (parts(c) == 1) return;
  bool half_result = !c->widens && result_bits(c) == 16;
  u32 low = part & 1, high = part >> 1 & 1;
  if (c->widens && c->count == 1 && wide_bits(c) == 16)
    sprintf(line + n - 2, " op_sel:[%u,%u,%u]", low, high, part == 2);
  else if (c->widens)
    sprintf(line + n - 2, " op_sel:[%u,%u,0]", low, high);
  else if (half_result && two_sources(c))
    sprintf(line + n - 2, " op_sel:[0,0,0,%u]", low);
  else if (half_result)
    sprintf(line + n - 2, " op_sel:[0,0,%u]", low);
  else
    sprintf(line + n - 2, " op_sel:[0,0,%u,%u]", low, high);
}

/* --- formats ---------------------------------------------------------------------------------------------------------------------- */

static u32 magnitudes(const struct format *f) { return 1u << (f->exponent + f->mantissa); }

static double value_of(const struct format *f, u32 code) {
  u32 m = code & (magnitudes(f) - 1), e = m >> f->mantissa, part = m & ((1u << f->mantissa) - 1);
  double sign = code & magnitudes(f) ? -1 : 1, size = ldexp(part, -f->mantissa);
  if (f->fnuz && code == magnitudes(f)) return (double)NAN;
  if (f->infinities && e == (1u << f->exponent) - 1) return part ? (double)NAN : sign * (double)INFINITY;
  if (f->nan_only_all_ones && m == magnitudes(f) - 1) return (double)NAN;
  return sign * (e ? ldexp(1 + size, (int)e - f->bias) : ldexp(size, 1 - f->bias));
}

static u32 top_code(const struct format *f) {
  u32 c = magnitudes(f) - 1;
  while (!isfinite(value_of(f, c))) c--;
  return c;
}

static bool all_numbers(const struct format *f) { return !f->infinities && !f->nan_only_all_ones && !f->fnuz; }

/* The largest code that is not above a size, by halving. */
static u32 code_below(const struct format *f, double size) {
  u32 low = 0, high = top_code(f);
  while (low < high) {
    u32 middle = (low + high + 1) / 2;
    if (value_of(f, middle) <= size)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static double step_above(const struct format *f, u32 code) {
  return code < top_code(f) ? value_of(f, code + 1) - value_of(f, code) : value_of(f, code) - value_of(f, code - 1);
}

/* Is `got` what a value becomes? Any NaN is as good as another. */
static bool is_code_of(const struct conversion *c, u32 got, double v, int dropped, u32 random, bool saturates) {
  const struct format *f = &c->narrow;
  u32 sign = signbit(v) ? magnitudes(f) : 0, code;
  if (isnan(v)) return all_numbers(f) ? (got & (magnitudes(f) - 1)) == top_code(f) : isnan(value_of(f, got)) != 0;
  double size = fabs(v);
  bool over = isinf(v);
  code = over ? 0 : code_below(f, size);
  if (!over) {
    double fraction = (size - value_of(f, code)) / step_above(f, code);
    if (c->random) {
      double units = floor(ldexp(fraction, dropped)) + (double)(random >> (32 - dropped));
      over = code + floor(ldexp(units, -dropped)) > top_code(f);
      code += (u32)floor(ldexp(fmin(units, 1e9), -dropped));
    } else {
      code += fraction > 0.5 || (fraction >= 0.5 && code & 1);
      over = fraction > 1.5 || code > top_code(f);
    }
  }
  if (over && !saturates && !all_numbers(f)) return f->infinities ? got == (sign | (top_code(f) + 1)) : isnan(value_of(f, got)) != 0;
  if (over) code = top_code(f);
  return got == (f->fnuz && code == 0 ? 0 : (sign | code));
}

/* --- registers -------------------------------------------------------------------------------------------------------------------- */

static u32 get_bits(u32 base, u32 lane, u32 at, u32 bits) {
  u32 v = 0;
  for (u32 i = 0; i < bits; i++) v |= (rig->wave->v[base + (at + i) / 32].w[lane] >> ((at + i) % 32) & 1) << i;
  return v;
}

static double wide_value(const struct conversion *c, u32 bits) {
  return strcmp(c->wide, "f32") == 0 ? (double)f(bits) : strcmp(c->wide, "f16") == 0 ? h(bits) : (double)f((u64)bits << 16);
}

static int wide_mantissa(const struct conversion *c) { return strcmp(c->wide, "f32") == 0 ? 23 : strcmp(c->wide, "f16") == 0 ? 10 : 7; }

static u32 scale_of(u32 i) { return i % 7 == 0 ? i * 37 % 256 : 118 + i * 5 % 19; }

/* An element of the source: edges, and values near the format's codes. */
static u32 source_value(const struct conversion *c, u32 i, u32 scale) {
  u64 random = rig_value(T_u64, i + 900);
  if (c->widens) return (u32)random;
  u32 code = (u32)(random >> 8) % magnitudes(&c->narrow);
  double near = value_of(&c->narrow, code), step = (double)(random >> 40 & 31) / 16, v = near * (isfinite(near) ? 1 + step / 16 : 1);
  v = ldexp(i & 1 ? -v : v, c->scaled && scale != 255 ? (int)scale - 127 : 0);
  if (i % 5 == 0) return (u32)rig_value(strcmp(c->wide, "f16") == 0 ? T_f16 : T_f32, i / 5) >> (strcmp(c->wide, "bf16") == 0 ? 16 : 0);
  return (u32)(strcmp(c->wide, "f32") == 0 ? fb((float)v) : strcmp(c->wide, "f16") == 0 ? hb(v) : fb((float)v) >> 16);
}

static u32 element(const struct conversion *c, u32 lane, u32 i) {
  u32 bits = wide_bits(c);
  if (two_sources(c)) return get_bits(i ? MORE : DATA, lane, 0, 32);
  if (c->interleaved) return get_bits(i % 2 ? 16 : DATA, lane, i / 2 * bits, bits);
  return get_bits(DATA, lane, i * bits, bits);
}

static void fill(const struct conversion *c, u32 round) {
  struct wave *w = rig->wave;
  for (u32 l = 0; l < 64; l++) {
    u32 t = round * 64 + l, scale = scale_of(t), per = c->widens ? 1 : 32 / wide_bits(c);
    for (u32 r = 0; r < 40; r++) {
      w->v[r].w[l] = 0;
      for (u32 k = 0; k < per; k++) w->v[r].w[l] |= source_value(c, t * 67 + r * per + k, scale) << (k * 16 % 32);
    }
    w->v[SEED].w[l] = (u32)rig_value(T_u64, t + 5000);
    w->v[FACTOR].w[l] = scale << 23 | (t * 0x9E3779u & 0x807FFFFF); /* its sign and fraction do not matter */
    for (u32 r = 0; r < 32; r++) w->v[RESULT + r].w[l] = 0xC0DE0000 + r * 64 + l;
  }
  wave_set_exec(w, round % 3 == 1 ? UINT64_C(0xF0F05A5A12345678) : UINT64_MAX);
}

/* --- checks ----------------------------------------------------------------------------------------------------------------------- */

static void check_element(const struct conversion *c, u32 lane, u32 i, u32 part, u32 random, bool saturates) {
  u32 scale = c->scaled ? rig->wave->v[FACTOR].w[lane] >> 23 & 255 : 127;
  double by = scale == 255 ? (double)NAN : ldexp(1, (int)scale - 127);
  u32 to = c->widens ? wide_bits(c) : narrow_bits(c), at = i * to, from = 0;
  if (c->widens && parts(c) > 1) from = part * source_bits(c);
  if (c->widens && parts(c) > 1 && c->count == 1) from = part * 8;
  if (!c->widens && parts(c) > 1) at += part * result_bits(c);
  if (c->widens && c->count == 1 && to == 16) at = part == 2 ? 16 : 0;
  u32 got = get_bits(RESULT, lane, at, to);
  if (c->widens) {
    u32 code = get_bits(DATA, lane, from + i * narrow_bits(c), narrow_bits(c));
    double want = value_of(&c->narrow, code) * by, is = wide_value(c, got);
    if (to == 32) want = (double)(float)want;
    if (strcmp(c->wide, "f16") == 0) want = h(hb(want));
    if (strcmp(c->wide, "bf16") == 0) want = (double)f(bf16_code((float)want) << 16);
    if ((isnan(want) != 0) != (isnan(is) != 0) || (!isnan(want) && (want < is || want > is || signbit(want) != signbit(is))))
      fail_msg("%s: code %x scale %u element %u: wanted %g, got %g", c->name, code, scale, i, want, is);
    return;
  }
  u32 bits = element(c, lane, i);
  double v = wide_value(c, bits) / by;
  if (!is_code_of(c, got, v, wide_mantissa(c) - c->narrow.mantissa, random, saturates && narrow_bits(c) == 8))
    fail_msg("%s: source %x (%g) scale %u random %x element %u part %u: got code %x", c->name, bits, v, scale, random, i, part, got);
}

/* What of the result's register the instruction has no say in. */
static u32 untouched(const struct conversion *c, u32 part) {
  u32 bits = result_bits(c);
  if (bits >= 32) return 0;
  u32 at = c->widens ? (part == 2 ? 16 : 0) : part * bits;
  return ~(((1u << bits) - 1) << at);
}

static void check_line(const struct conversion *c, size_t line, u32 part, u32 round, bool saturates) {
  struct wave *w = rig->wave;
  fill(c, round);
  wave_set_mode(w, saturates ? MODE_DEFAULT | SATURATES : MODE_DEFAULT);
  rig_run(rig, line);
  for (u32 l = 0; l < 64; l++) {
    bool active = wave_exec(w) >> l & 1;
    u32 random = w->v[SEED].w[l], mask = active ? untouched(c, part) : UINT32_MAX;
    if ((w->v[RESULT].w[l] ^ (0xC0DE0000 + l)) & mask)
      fail_msg("%s part %u: bits of lane %u that are not its own have changed", c->name, part, l);
    for (u32 i = 0; active && i < c->count; i++) {
      check_element(c, l, i, part, random, saturates);
      random = random * 2 ^ (random >= 0x80000000 ? 0xC5 : 0);
    }
  }
}

static size_t first_line(size_t conversion) { return conversion * SELECTS; }

static void run_conversion(void **state) {
  size_t i = (size_t)(const struct conversion *)*state - (size_t)conversions;
  i /= sizeof conversions[0];
  const struct conversion *c = &conversions[i];
  u32 rounds = c->count == 32 ? 6 : ROUNDS;
  for (u32 part = 0; part < parts(c); part++)
    for (u32 round = 0; round < rounds; round++) check_line(c, first_line(i) + part, part, round, round % 4 == 3);
}

/* Seeds whose top bits are all set round every value up that is not a code; 0 rounds none. */
static void random_bits_decide_between_two_codes(void **state) {
  (void)state;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(conversions[i].name, "v_cvt_scalef32_sr_fp8_f32") != 0) continue;
    struct wave *w = rig->wave;
    fill(&conversions[i], 0);
    wave_set_mode(w, MODE_DEFAULT);
    for (u32 l = 0; l < 64; l++)
      w->v[DATA].w[l] = (u32)fb(l < 32 ? 1.0625f : 1.125f), w->v[FACTOR].w[l] = 127u << 23, w->v[SEED].w[l] = l % 2 ? UINT32_MAX : 0;
    rig_run(rig, first_line(i));
    for (u32 l = 0; l < 64; l++) assert_int_equal(w->v[RESULT].w[l] & 255, l < 32 && l % 2 == 0 ? 0x38 : 0x39);
    return;
  }
  fail_msg("v_cvt_scalef32_sr_fp8_f32 is not a row");
}

static void every_row_was_executed(void **state) {
  (void)state;
  const char *row = rig_untested(&isa_scale);
  if (row) fail_msg("%s has no test", row);
}

/* gfx942 has two of them, for FNUZ formats. */
static void random_rounding_is_to_fnuz_on_gfx942(void **state) {
  (void)state;
  static const char *const lines[] = {"v_cvt_sr_fp8_f32 v48, v0, v40", "v_cvt_sr_bf8_f32 v48, v0, v40"};
  struct rig *gfx950 = rig;
  rig = rig_open("gfx942", lines, 2);
  for (size_t i = 0; i < 2; i++) {
    struct conversion c = {.count = 1};
    take_apart(i ? "v_cvt_sr_bf8_f32" : "v_cvt_sr_fp8_f32", &c, true);
    for (u32 round = 0; round < ROUNDS; round++) check_line(&c, i, 0, round, round % 4 == 3);
  }
  rig_close(rig);
  rig = gfx950;
}

int main(void) {
  static char text[CONVERSIONS_MAX * SELECTS][128];
  static const char *lines[CONVERSIONS_MAX * SELECTS];
  static struct CMUnitTest tests[CONVERSIONS_MAX + 4];
  size_t made = 0;
  for (u32 i = 0; i < isa_scale.count && count < CONVERSIONS_MAX; i++) take_apart(isa_scale.rows[i].name, &conversions[count++], false);
  for (size_t i = 0; i < count * SELECTS; i++) {
    u32 part = (u32)(i % SELECTS);
    line_of(&conversions[i / SELECTS], part < parts(&conversions[i / SELECTS]) ? part : 0, text[i]);
    lines[i] = text[i];
  }
  rig = rig_open("gfx950", lines, count * SELECTS);
  for (size_t i = 0; i < count; i++) tests[made++] = (struct CMUnitTest){conversions[i].name, run_conversion, NULL, NULL, &conversions[i]};
  tests[made++] = (struct CMUnitTest)cmocka_unit_test(random_bits_decide_between_two_codes);
  tests[made++] = (struct CMUnitTest)cmocka_unit_test(random_rounding_is_to_fnuz_on_gfx942);
  tests[made++] = (struct CMUnitTest)cmocka_unit_test(every_row_was_executed);
  int failed = _cmocka_run_group_tests("scaled conversions give the nearest code, or a random neighbour", tests, made, NULL, NULL);
  rig_close(rig);
  return failed;
}
