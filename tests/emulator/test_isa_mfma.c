/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix instructions against published register layouts (tests/oracles/mfma_cdna3.tsv, mfma_cdna4.tsv), element by element: small
   integers, so that every sum is exact and a misplaced element changes it. A row without a layout fails. */
#include <stdio.h>

#include "host_math.h"
#include "isa_rig.h"
#include "mfma_layout.h"

enum { A_REG = 0, B_REG = 16, C_REG = 32, D_REG = 128 };

/* --- elements ------------------------------------------------------------------------------------------------------------------- */

static struct rig *rig;
static bool fnuz; /* the rig's GPU is gfx942 */

static void put(int base, struct place p, u64 code) {
  u32 *w = &rig->wave->v[base + p.reg].w[p.lane];
  if (p.bits == 64) rig->wave->v[base + p.reg + 1].w[p.lane] = (u32)(code >> 32);
  if (p.bits >= 32)
    *w = (u32)code;
  else
    *w = (*w & ~(((1u << p.bits) - 1) << p.bit)) | (u32)code << p.bit;
}

static u64 get(int base, struct place p) {
  u64 low = rig->wave->v[base + p.reg].w[p.lane];
  return p.bits == 64 ? low | (u64)rig->wave->v[base + p.reg + 1].w[p.lane] << 32 : low;
}

/* Values that fp8 and bf8 both have exactly. */
static int small(u32 i) {
  static const int values[] = {1, -1, 2, 3, -3, 4, 0, 5, -2, 6, 7, -6, 8};
  return values[rig_value(T_u64, i + 100) % 13];
}

static int small_for(const char *type, u32 i) {
  int v = small(i);
  return strcmp(type, "bf8") == 0 && (v == 5 || v == 7) ? 1 : v; /* one bit of mantissa less */
}

static int c_side[16][32][32];

#define FOR_EACH(l, block, x, xs, k)                                                                                                       \
  for (int block = 0; block < (l)->blocks; block++)                                                                                        \
    for (int x = 0; x < (xs); x++)                                                                                                         \
      for (int k = 0; k < (l)->k; k++)

static int side[2][16][32][128];

static void fill_operands(const struct layout *l, u32 seed) {
  const char *types[] = {layout_type(l, false), layout_type(l, true)};
  if (strstr(l->name, "f8f6f4")) types[0] = types[1] = "fp8";
  for (int s = 0; s < 2; s++) FOR_EACH(l, block, x, s ? l->n : l->m, k) {
      int v = small_for(types[s], seed + (u32)(((s * 16 + block) * 32 + x) * 128 + k));
      struct formula at = {NULL, x, x, k, block};
      side[s][block][x][k] = v;
      put(s ? B_REG : A_REG, s ? place_of(l->b_gpr, l->b_lane, at) : place_of(l->a_gpr, l->a_lane, at), small_code(types[s], v, fnuz));
    }
}

static bool is_int(const struct layout *l) { return strncmp(l->name, "v_mfma_i32", 10) == 0; }
static bool is_f64(const struct layout *l) { return strncmp(l->name, "v_mfma_f64", 10) == 0; }
static u64 result_code(const struct layout *l, int v) { return is_int(l) ? (u32)v : is_f64(l) ? db(v) : fb((float)v); }

static void fill_c(const struct layout *l, u32 seed) {
  for (int block = 0; block < l->blocks; block++)
    for (int i = 0; i < l->m; i++)
      for (int j = 0; j < l->n; j++) {
        struct formula at = {NULL, i, j, 0, block};
        c_side[block][i][j] = small(seed + 77777 + (u32)((block * 32 + i) * 32 + j)) * 100;
        put(C_REG, place_of(l->d_gpr, l->d_lane, at), result_code(l, c_side[block][i][j]));
      }
}

static void check_result(const struct layout *l, bool with_c, int a_block_mask, int a_block_add) {
  for (int block = 0; block < l->blocks; block++)
    for (int i = 0; i < l->m; i++)
      for (int j = 0; j < l->n; j++) {
        struct formula at = {NULL, i, j, 0, block};
        int want = with_c ? c_side[block][i][j] : 0, from = (block & ~a_block_mask) + a_block_add;
        for (int k = 0; k < l->k; k++) want += side[0][from][i][k] * side[1][block][j][k];
        u64 got = get(D_REG, place_of(l->d_gpr, l->d_lane, at));
        if (got != result_code(l, want))
          fail_msg("%s: block %d row %d column %d: wanted %d, got bits %llx", l->name, block, i, j, want, (unsigned long long)got);
      }
}

/* --- lines: per layout with C, with a constant; then the special ones -------------------------------------------------------------- */

static u32 side_words(const struct layout *l, int rows, int bits) { return (u32)(rows * l->k * l->blocks / 64 * bits / 32); }
static int bits_of(const char *type) { return strcmp(type, "f64") == 0 ? 64 : strstr(type, "f32") ? 32 : strstr(type, "f16") ? 16 : 8; }

static char *group(char *to, u32 first, u32 count) {
  if (count == 1)
    sprintf(to, "v%u", first);
  else
    sprintf(to, "v[%u:%u]", first, first + count - 1);
  return to;
}

static void line_of(const struct layout *l, bool with_c, char *line) {
  char d[24], x[24], y[24], z[24];
  u32 d_words = (u32)(l->m * l->n * l->blocks / 64) * (is_f64(l) ? 2 : 1);
  group(d, D_REG, d_words);
  group(x, A_REG, side_words(l, l->m, bits_of(layout_type(l, false))));
  group(y, B_REG, side_words(l, l->n, bits_of(layout_type(l, true))));
  sprintf(line, "%s %s, %s, %s, %s%s", l->name, d, x, y, with_c ? group(z, C_REG, d_words) : "0",
      strstr(l->name, "scale") ? ", v120, v121 op_sel_hi:[0,0,0]" : "");
}

static void fill_all(int base, u32 count, u32 value) {
  for (u32 r = 0; r < count; r++)
    for (int l = 0; l < 64; l++) rig->wave->v[(u32)base + r].w[l] = value;
}

/* --- the f8f6f4 formats ---------------------------------------------------------------------------------------------------------- */

enum { FORMATS = 5, SHAPES = 2, PAIRS = FORMATS * FORMATS };
static const u32 format_width[FORMATS] = {8, 8, 6, 6, 4};

/* Codes of 0, 1, 2, 3, 4 in e4m3, e5m2, e2m3, e3m2, e2m1 (OCP MX), written down from the formats' tables. */
static const u32 format_codes[FORMATS][5] = {
    {0, 0x38, 0x40, 0x44, 0x48}, {0, 0x3C, 0x40, 0x42, 0x44}, {0, 8, 16, 20, 24}, {0, 12, 16, 18, 20}, {0, 2, 4, 5, 6}};

static void pair_line(u32 shape, u32 pair, char *line) {
  u32 a = pair / FORMATS, b = pair % FORMATS;
  sprintf(line, "v_mfma_scale_f32_%s_f8f6f4 v[128:%u], v[0:%u], v[16:%u], 0, v120, v121 op_sel_hi:[0,0,0] cbsz:%u blgp:%u",
      shape ? "32x32x64" : "16x16x128", shape ? 143 : 131, format_width[a] - 1, 16 + format_width[b] - 1, a, b);
}

/* Where element k of row i lies: 8-bit operands as the layouts of the table say, smaller ones as one run of 32 K a lane. */
static void put_format(int base, u32 format, int rows, int k_count, int i, int k, int v) {
  u32 width = format_width[format], code = format_codes[format][abs(v)] | (v < 0 ? 1u << (width - 1) : 0);
  u32 bit = width == 8 ? (u32)(k / (k_count / 2) * 128 + k % 16 * 8) : (u32)(k % 32) * width;
  int lane = width == 8 ? rows * (k / 16 % (64 / rows)) + i : rows * (k / 32) + i;
  for (u32 n = 0; n < width; n++) rig->wave->v[(u32)base + (bit + n) / 32].w[lane] |= (code >> n & 1) << ((bit + n) % 32);
}

static int format_side[2][32][128];

static void check_pair(size_t line, u32 shape, u32 pair) {
  int rows = shape ? 32 : 16, k_count = shape ? 64 : 128;
  fill_all(0, 128, 0);
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < rows; i++)
      for (int k = 0; k < k_count; k++) {
        int v = (int)(rig_value(T_u64, pair * 977 + (u32)((s * 32 + i) * 128 + k)) >> 7 & 0xFFFF) % 9 - 4;
        format_side[s][i][k] = v;
        put_format(s ? B_REG : A_REG, s ? pair % FORMATS : pair / FORMATS, rows, k_count, i, k, v);
      }
  for (int lane = 0; lane < 64; lane++) {
    rig->wave->v[120].w[lane] = 0xEE00u | (u32)(122 + lane * 5 % 9);
    rig->wave->v[121].w[lane] = 0xDD00u | (u32)(124 + lane * 3 % 7);
  }
  rig_run(rig, line);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++) {
      double want = 0;
      for (int k = 0; k < k_count; k++) {
        int x = rows * (k / 32);
        want += ldexp(format_side[0][i][k] * format_side[1][j][k], (x + i) * 5 % 9 - 5 + (x + j) * 3 % 7 - 3);
      }
      u32 reg = shape ? (u32)(4 * (i / 8) + i % 4) : (u32)(i % 4), lane = shape ? (u32)(32 * (i / 4) % 64 + j) : (u32)(16 * (i / 4) + j);
      u32 got = rig->wave->v[D_REG + reg].w[lane];
      if (got != fb((float)want))
        fail_msg("cbsz %u blgp %u, %d rows: row %d column %d: wanted %g, got %g", pair / FORMATS, pair % FORMATS, rows, i, j, want,
            (double)f(got));
    }
}

enum special { SCALE_BYTES, SCALE_32, FORMAT_BF8, FORMATS_6, ONE_ROUNDING, SPECIALS };
static const char *const specials[SPECIALS] = {
    [SCALE_BYTES] = "v_mfma_scale_f32_16x16x128_f8f6f4 v[128:131], v[0:7], v[16:23], 0, v120, v121 op_sel:[0,1,0] op_sel_hi:[1,1,0]",
    [SCALE_32] = "v_mfma_scale_f32_32x32x64_f8f6f4 v[128:143], v[0:7], v[16:23], 0, v120, v121 op_sel_hi:[0,0,0]",
    [FORMAT_BF8] = "v_mfma_scale_f32_16x16x128_f8f6f4 v[128:131], v[0:7], v[16:23], 0, v120, v121 op_sel_hi:[0,0,0] cbsz:1 blgp:1",
    [FORMATS_6] = "v_mfma_scale_f32_16x16x128_f8f6f4 v[128:131], v[0:5], v[16:21], 0, v120, v121 op_sel_hi:[0,0,0] cbsz:2 blgp:3",
    [ONE_ROUNDING] = "v_mfma_f32_16x16x4_f32 v[128:131], v0, v16, 1.0",
};

static bool only_gfx942(const struct layout *l) { return strstr(l->name, "xf32") != NULL; }

static void check_layout(const struct layout *l, size_t line) {
  for (u32 seed = 0; seed < 2; seed++) {
    fill_all(0, 128, 0);
    fill_all(120, 2, 127);
    fill_operands(l, seed * 99991);
    fill_c(l, seed);
    rig_run(rig, line);
    check_result(l, true, 0, 0);
    rig_run(rig, line + 1);
    check_result(l, false, 0, 0);
  }
}

static void run_layout(void **state) {
  const char *name = *state;
  const struct layout *l = layout_named(name);
  if (!l) fail_msg("%s has no layout in tests/oracles", name);
  if (!only_gfx942(l)) {
    check_layout(l, 2 * (size_t)(l - layouts));
    return;
  }
  static char text[2][160];
  const char *lines[2] = {text[0], text[1]};
  struct rig *gfx950 = rig;
  for (int i = 0; i < 2; i++) line_of(l, i == 0, text[i]);
  rig = rig_open("gfx942", lines, 2);
  check_layout(l, 0);
  if (strstr(l->name, "16x16x8")) { /* 1 + 2^-11 is a tie that goes to 1, 1 + 3 * 2^-11 one that goes to 1 + 2^-9 */
    fill_all(A_REG, 2, 0x3F801000), fill_all(B_REG, 2, 0x3F803000);
    rig_run(rig, 1);
    assert_int_equal(rig->wave->v[D_REG].w[0], fb(8 * (1 + 0x1p-9f)));
  }
  rig_close(rig);
  rig = gfx950;
}

static size_t special_line(enum special s) { return 2 * layout_count + (size_t)s; }
static float result(int row, int column) { return f(rig->wave->v[D_REG + row % 4].w[16 * (row / 4) + column]); }

/* All-ones operands; code 127 is 1, 128 is 2, 0 is 2^-127, 255 NaN: as recorded. Byte 2 scales A, byte 3 scales B. */
static void a_scale_is_the_byte_that_op_sel_picks(void **state) {
  (void)state;
  static const struct {
    u32 a, b;
    float want;
  } facts[] = {{127, 127, 128.0f}, {128, 127, 256.0f}, {0, 254, 128.0f}, {0, 127, 0x1p-120f}, {255, 127, NAN}, {127, 255, NAN}};
  fill_all(A_REG, 8, 0x38383838), fill_all(B_REG, 8, 0x38383838);
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    fill_all(120, 1, facts[i].a << 16 | 0xAB0000CD), fill_all(121, 1, facts[i].b << 24 | 0x00ABCDEF);
    rig_run(rig, special_line(SCALE_BYTES));
    float got = result(5, 7);
    if (got < facts[i].want || got > facts[i].want || isnan(got) != isnan(facts[i].want))
      fail_msg("codes %u, %u: got %a", facts[i].a, facts[i].b, (double)got);
  }
}

/* Lane `side` * b + r holds the code of K block b of row (or column) r. */
static void each_k_block_has_its_own_scale(void **state) {
  (void)state;
  const struct {
    const char *name;
    int rows, blocks;
  } forms[] = {{"v_mfma_scale_f32_16x16x128_f8f6f4", 16, 4}, {"v_mfma_scale_f32_32x32x64_f8f6f4", 32, 2}};
  for (int n = 0; n < 2; n++) {
    const struct layout *l = layout_named(forms[n].name);
    assert_non_null(l);
    fill_operands(l, 5);
    for (int lane = 0; lane < 64; lane++) {
      rig->wave->v[120].w[lane] = 0xEE00u | (u32)(122 + lane * 5 % 9);
      rig->wave->v[121].w[lane] = 0xDD00u | (u32)(124 + lane * 3 % 7);
    }
    rig_run(rig, n ? special_line(SCALE_32) : 2 * (size_t)(l - layouts) + 1);
    for (int i = 0; i < l->m; i++)
      for (int j = 0; j < l->n; j++) {
        struct formula at = {NULL, i, j, 0, 0};
        double want = 0;
        for (int k = 0; k < l->k; k++) {
          int x = forms[n].rows * (k / 32);
          want += ldexp(side[0][0][i][k] * side[1][0][j][k], (x + i) * 5 % 9 - 5 + (x + j) * 3 % 7 - 3);
        }
        u64 got = get(D_REG, place_of(l->d_gpr, l->d_lane, at));
        if (got != fb((float)want)) fail_msg("%s: row %d column %d: wanted %g, got %g", l->name, i, j, want, (double)f(got));
      }
  }
}

static void every_pair_of_formats_multiplies(void **state) {
  (void)state;
  for (u32 n = 0; n < SHAPES * PAIRS; n++) check_pair(special_line(SPECIALS) + n, n / PAIRS, n % PAIRS);
}

/* 128 products of ones: 2^(code - 120) for every code but 255. */
static void every_scale_code_is_its_power_of_two(void **state) {
  (void)state;
  fill_all(A_REG, 8, 0x38383838), fill_all(B_REG, 8, 0x38383838);
  for (u32 code = 0; code < 256; code++) {
    fill_all(120, 1, code << 16 | 0xAB0000CD), fill_all(121, 1, 127u << 24 | 0x00ABCDEF);
    rig_run(rig, special_line(SCALE_BYTES));
    u64 want = code == 255 ? fb(NAN) : fb((float)ldexp(1, (int)code - 120)), got = fb(result(3, 4));
    if (got != want && !(code == 255 && isnan(f(got)))) fail_msg("code %u gives %a", code, (double)f(got));
  }
}

/* NaN codes of e4m3 and e5m2 reach their row's results, and no other row's. */
static void a_nan_code_spoils_its_row_alone(void **state) {
  (void)state;
  fill_all(A_REG, 8, 0x38383838), fill_all(B_REG, 8, 0x38383838), fill_all(120, 2, 127);
  rig->wave->v[A_REG + 2].w[16 + 5] = 0x387F3838;
  rig_run(rig, special_line(SPECIALS));
  for (int i = 0; i < 16; i++) assert_int_equal(isnan(result(i, 3)) != 0, i == 5);
}

static void cbsz_and_blgp_choose_the_format(void **state) {
  (void)state;
  fill_all(A_REG, 8, 0x3C3C3C3C), fill_all(B_REG, 8, 0x40404040); /* bf8: 1 and 2; fp8 would be 1.5 and 2 */
  fill_all(120, 2, 127);
  rig_run(rig, special_line(FORMAT_BF8));
  assert_int_equal(fb(result(0, 0)), fb(256.0f));
}

/* --- controls: cbsz and abid, blgp, neg, for each instruction that has them ----------------------------------------------------------- */

enum { CONTROLS_MAX = 512 };

static struct control {
  const struct layout *layout;
  int cbsz, abid, blgp, neg;
} controls[CONTROLS_MAX];
static size_t control_count;
static struct rig *control_rig;

static bool has_b_lanes(const struct layout *l) { return !is_f64(l) && !strstr(l->name, "f8f6f4"); }

static void add_control(const struct layout *l, int cbsz, int abid, int blgp, int neg) {
  assert_true(control_count < CONTROLS_MAX);
  controls[control_count++] = (struct control){l, cbsz, abid, blgp, neg};
}

static void list_controls(void) {
  for (const struct layout *l = layouts; l < layouts + layout_count; l++) {
    if (only_gfx942(l)) continue;
    for (int cbsz = 1; 1 << cbsz <= l->blocks; cbsz++)
      for (int abid = 0; abid < 1 << cbsz; abid++) add_control(l, cbsz, abid, 0, 0);
    for (int blgp = 1; blgp < 8 && has_b_lanes(l); blgp++) add_control(l, 0, 0, blgp, 0);
    for (int neg = 1; neg < 8 && is_f64(l); neg++) add_control(l, 0, 0, 0, neg);
  }
}

static void control_line(const struct control *c, char *line) {
  line_of(c->layout, true, line);
  if (c->cbsz) sprintf(line + strlen(line), " cbsz:%d abid:%d", c->cbsz, c->abid);
  if (c->blgp) sprintf(line + strlen(line), " blgp:%d", c->blgp);
  if (c->neg) sprintf(line + strlen(line), " neg:[%d,%d,%d]", c->neg & 1, c->neg >> 1 & 1, c->neg >> 2);
}

/* The lane that lane l of B is taken from, as the instruction set document lists it. */
static int b_source(int blgp, int l) {
  static const int quarter[] = {0, 16, 32, 48};
  if (blgp == 1) return l % 32;
  if (blgp == 2) return 32 + l % 32;
  if (blgp == 3) return (l + 16) % 64;
  return blgp ? quarter[blgp - 4] + l % 16 : l;
}

/* What the instruction sees of B: the element that lies where this one's lane is taken from. */
static void move_b(const struct layout *l, int blgp) {
  static int at[64][16][4], moved[16][32][128];
  for (int pass = 0; pass < 2; pass++)
    for (int block = 0; block < l->blocks; block++)
      for (int j = 0; j < l->n; j++)
        for (int k = 0; k < l->k; k++) {
          struct place p = place_of(l->b_gpr, l->b_lane, (struct formula){NULL, j, j, k, block});
          if (pass)
            moved[block][j][k] = at[b_source(blgp, p.lane)][p.reg][p.bit / 8];
          else
            at[p.lane][p.reg][p.bit / 8] = side[1][block][j][k];
        }
  memcpy(side[1], moved, sizeof moved);
}

static void negate_model(const struct layout *l, int neg) {
  for (int block = 0; block < l->blocks; block++)
    for (int i = 0; i < 32; i++) {
      for (int k = 0; k < l->k && neg & 1; k++) side[0][block][i][k] = -side[0][block][i][k];
      for (int k = 0; k < l->k && neg & 2; k++) side[1][block][i][k] = -side[1][block][i][k];
      for (int k = 0; k < 32 && neg & 4; k++) c_side[block][i][k] = -c_side[block][i][k];
    }
}

static void blocks_lanes_and_signs_are_as_the_controls_say(void **state) {
  (void)state;
  struct rig *plain = rig;
  rig = control_rig;
  for (size_t i = 0; i < control_count; i++) {
    const struct control *t = &controls[i];
    fill_all(0, 128, 0);
    fill_operands(t->layout, (u32)i);
    fill_c(t->layout, (u32)i);
    rig_run(rig, i);
    if (t->blgp) move_b(t->layout, t->blgp);
    negate_model(t->layout, t->neg);
    check_result(t->layout, true, (1 << t->cbsz) - 1, t->abid);
  }
  rig = plain;
}

/* bf8's infinities and NaNs, as e5m2 has them; fp6 and bf6 have neither: their codes of all ones are 7.5 and 28. */
static void codes_that_are_no_numbers_are_what_their_format_says(void **state) {
  (void)state;
  static const struct {
    u32 code;
    float want;
  } codes[] = {{0x7C, INFINITY}, {0xFC, -INFINITY}, {0x7D, NAN}, {0x7E, NAN}, {0x7F, NAN}, {0xFD, NAN}, {0xFF, NAN}, {0x7B, 57344 + 127},
      {0x80, 127}};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    fill_all(A_REG, 8, 0x3C3C3C3C), fill_all(B_REG, 8, 0x3C3C3C3C), fill_all(120, 2, 127);
    rig->wave->v[A_REG].w[5] = 0x3C3C3C00 | codes[i].code;
    rig_run(rig, special_line(FORMAT_BF8));
    float got = result(5, 3), other = result(6, 3);
    if (isnan(got) != isnan(codes[i].want) || got < codes[i].want || got > codes[i].want)
      fail_msg("bf8 %x: got %g", codes[i].code, (double)got);
    assert_int_equal(fb(other), fb(128));
  }
  fill_all(A_REG, 8, UINT32_MAX), fill_all(B_REG, 8, UINT32_MAX), fill_all(120, 2, 127);
  rig_run(rig, special_line(FORMATS_6));
  assert_int_equal(fb(result(3, 9)), fb(128 * 7.5f * 28));
}

/* 1 + 4 * 2^-25: each term alone would be lost. */
static void a_sum_is_rounded_once(void **state) {
  (void)state;
  fill_all(A_REG, 1, 0x3F800000), fill_all(B_REG, 1, (u32)fb(0x1p-25f));
  rig_run(rig, special_line(ONE_ROUNDING));
  assert_int_equal(fb(result(3, 3)), fb(1 + 0x1p-23f));
}

/* The formats of gfx942: FNUZ. */
static void fp8_is_fnuz_on_gfx942(void **state) {
  (void)state;
  static const char *const names[] = {"v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_32x32x16_bf8_fp8"};
  static char text[2][160];
  const char *lines[2];
  struct rig *gfx950 = rig;
  for (int i = 0; i < 2; i++) line_of(layout_named(names[i]), false, text[i]), lines[i] = text[i];
  rig = rig_open("gfx942", lines, 2);
  fnuz = true;
  for (int i = 0; i < 2; i++) {
    fill_operands(layout_named(names[i]), 3);
    rig_run(rig, (size_t)i);
    check_result(layout_named(names[i]), false, 0, 0);
  }
  fnuz = false;
  rig_close(rig);
  rig = gfx950;
}

int main(void) {
  static char text[2 * LAYOUTS_MAX][160];
  static char pair_text[SHAPES * PAIRS][160];
  static const char *lines[2 * LAYOUTS_MAX + SPECIALS + SHAPES * PAIRS];
  static struct CMUnitTest tests[LAYOUTS_MAX + 16];
  size_t count = 0;
  read_layouts("tests/oracles/mfma_cdna3.tsv");
  read_layouts("tests/oracles/mfma_cdna4.tsv");
  for (size_t i = 0; i < 2 * layout_count; i++)
    line_of(&layouts[i / 2], i % 2 == 0, text[i]), lines[i] = only_gfx942(&layouts[i / 2]) ? "s_nop 0" : text[i];
  for (size_t i = 0; i < SPECIALS; i++) lines[2 * layout_count + i] = specials[i];
  for (u32 i = 0; i < SHAPES * PAIRS; i++) {
    pair_line(i / PAIRS, i % PAIRS, pair_text[i]);
    lines[2 * layout_count + SPECIALS + i] = pair_text[i];
  }
  rig = rig_open("gfx950", lines, 2 * layout_count + SPECIALS + SHAPES * PAIRS);
  for (u32 i = 0; i < isa_mfma.count && i < LAYOUTS_MAX; i++)
    tests[count++] = (struct CMUnitTest){isa_mfma.rows[i].name, run_layout, NULL, NULL, (void *)(uintptr_t)isa_mfma.rows[i].name};
  const struct CMUnitTest more[] = {
      cmocka_unit_test(a_scale_is_the_byte_that_op_sel_picks),
      cmocka_unit_test(each_k_block_has_its_own_scale),
      cmocka_unit_test(cbsz_and_blgp_choose_the_format),
      cmocka_unit_test(every_pair_of_formats_multiplies),
      cmocka_unit_test(every_scale_code_is_its_power_of_two),
      cmocka_unit_test(a_nan_code_spoils_its_row_alone),
      cmocka_unit_test(blocks_lanes_and_signs_are_as_the_controls_say),
      cmocka_unit_test(codes_that_are_no_numbers_are_what_their_format_says),
      cmocka_unit_test(a_sum_is_rounded_once),
      cmocka_unit_test(fp8_is_fnuz_on_gfx942),
  };
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) tests[count++] = more[i];
  static char control_text[CONTROLS_MAX][160];
  static const char *control_lines[CONTROLS_MAX];
  list_controls();
  for (size_t i = 0; i < control_count; i++) control_line(&controls[i], control_text[i]), control_lines[i] = control_text[i];
  control_rig = rig_open("gfx950", control_lines, control_count);
  int failed = _cmocka_run_group_tests("matrices are multiplied as the published layouts say", tests, count, NULL, NULL);
  rig_close(rig);
  rig_close(control_rig);
  return failed;
}
