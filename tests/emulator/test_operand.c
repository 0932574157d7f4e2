/* SPDX-License-Identifier: Apache-2.0 */
/* Modifiers: what operand() and commit() do for all instructions. Expected values are worked out by hand, lane by lane. */
#include "host_math.h"
#include "isa_rig.h"

/* Lane l of v1 is 1000 + l, of v0 (the destination) 7, of v2 1. */
struct dpp_case {
  const char *line;
  int (*from)(int l); /* source lane, -1: none */
  bool zero;          /* a lane without a source gives 0; else it stays */
  u32 rows, banks;
  u64 exec;
};

static int from_quad(int l) { return l / 4 * 4 + 3 - l % 4; }
static int from_shl1(int l) { return l % 16 == 15 ? -1 : l + 1; }
static int from_shr3(int l) { return l % 16 < 3 ? -1 : l - 3; }
static int from_ror4(int l) { return l % 16 < 4 ? l + 12 : l - 4; }
static int from_mirror(int l) { return l / 16 * 16 + 15 - l % 16; }
static int from_half(int l) { return l / 8 * 8 + 7 - l % 8; }
static int from_bcast15(int l) { return l < 16 ? -1 : l < 32 ? 15 : l < 48 ? 31 : 47; }
static int from_bcast31(int l) { return l < 32 ? -1 : 31; }
static int from_newbcast(int l) { return l / 16 * 16 + 5; }
static int from_wave_shl(int l) { return l == 63 ? -1 : l + 1; }
static int from_wave_shr(int l) { return l - 1; }
static int from_wave_rol(int l) { return l == 63 ? 0 : l + 1; }
static int from_wave_ror(int l) { return l == 0 ? 63 : l - 1; }

#define ALL UINT64_MAX
static const struct dpp_case dpp_cases[] = {
    {"v_mov_b32_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", from_quad, false, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf", from_shl1, false, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", from_shl1, true, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:1", from_shr3, true, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 row_ror:4 row_mask:0xf bank_mask:0xf", from_ror4, false, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 row_mirror row_mask:0x5 bank_mask:0x3", from_mirror, false, 5, 3, ALL},
    {"v_mov_b32_dpp v0, v1 row_half_mirror row_mask:0xf bank_mask:0xf", from_half, false, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xa bank_mask:0xf", from_bcast15, false, 10, 15, ALL},
    {"v_mov_b32_dpp v0, v1 row_bcast:31 row_mask:0xc bank_mask:0xf", from_bcast31, false, 12, 15, ALL},
    {"v_mov_b32_dpp v0, v1 row_newbcast:5 row_mask:0xf bank_mask:0xf", from_newbcast, false, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 wave_shl:1 row_mask:0xf bank_mask:0xf", from_wave_shl, false, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 wave_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", from_wave_shr, true, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 wave_rol:1 row_mask:0xf bank_mask:0xf", from_wave_rol, false, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 wave_ror:1 row_mask:0xf bank_mask:0xf", from_wave_ror, false, 15, 15, ALL},
    {"v_mov_b32_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", from_quad, false, 15, 15, 0xF0F0F0F7FFFF1234},
    {"v_mov_b32_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:1", from_quad, true, 15, 15, 0xF0F0F0F7FFFF1234},
};
enum { DPP_CASES = sizeof dpp_cases / sizeof dpp_cases[0] };

/* One value in every lane: v1 = a, v2 = b, v3 = c (64-bit: v[4:5] = wide a, v[6:7] = wide b), s2 = 0x40400000 (3.0), v0 = old. */
struct value_case {
  const char *line;
  u64 a, b, c, old, want;
  u32 mode;
  bool wide; /* a, b, old and want are 64 bits: v[4:5], v[6:7], v[0:1] */
};

#define ONE   0x3F800000
#define TWO   0x40000000
#define THREE 0x40400000
static const struct value_case value_cases[] = {
    {"v_add_f32_e64 v0, -v1, |v2|", ONE, 0xC0000000, 0, 0, ONE, 0, false},
    {"v_add_f32_e64 v0, -|v1|, v2", 0xBF800000, THREE, 0, 0, TWO, 0, false},
    {"v_add_f32_e64 v0, v1, v2 clamp", ONE, ONE, 0, 0, ONE, 0, false},
    {"v_add_f32_e64 v0, v1, v2 clamp", 0xBF800000, 0, 0, 0, 0, 0, false},
    {"v_add_f32_e64 v0, v1, v2 clamp", 0x7FC00000, 0, 0, 0, 0, 0, false},
    {"v_add_f32_e64 v0, v1, v2 mul:2", ONE, ONE, 0, 0, 0x40800000, 0, false},
    {"v_add_f32_e64 v0, v1, v2 mul:4", ONE, ONE, 0, 0, 0x41000000, 0, false},
    {"v_add_f32_e64 v0, v1, v2 div:2", ONE, ONE, 0, 0, ONE, 0, false},
    {"v_add_f32 v0, s2, v2", 0, ONE, 0, 0, 0x40800000, 0, false},
    {"v_add_f32 v0, 1.0, v2", 0, ONE, 0, 0, TWO, 0, false},
    {"v_add_f32 v0, 0.15915494, v2", 0, 0, 0, 0, 0x3E22F983, 0, false},
    {"v_add_f32 v0, 0x40400000, v2", 0, ONE, 0, 0, 0x40800000, 0, false},
    {"v_or_b32 v0, -16, v2", 0, 1, 0, 0, 0xFFFFFFF1, 0, false},
    {"v_or_b32 v0, 1.0, v2", 0, 1, 0, 0, 0x3F800001, 0, false},
    {"v_add_f64 v[0:1], v[4:5], 1.0", 0x3FF0000000000000, 0, 0, 0, 0x4000000000000000, 0, true},
    {"v_add_f64 v[0:1], -v[4:5], |v[6:7]|", 0x3FF0000000000000, 0xC008000000000000, 0, 0, 0x4000000000000000, 0, true},
    {"v_lshlrev_b64 v[0:1], 4, v[6:7]", 0, 0x0123456789ABCDEF, 0, 0, 0x123456789ABCDEF0, 0, true},
    {"v_ceil_f64 v[0:1], 0x40080000", 0, 0, 0, 0, 0x4008000000000000, 0, true},
    {"v_mov_b64 v[0:1], 0x12345678", 0, 0, 0, 0, 0x12345678, 0, true},
    {"v_lshl_add_u64 v[0:1], v[4:5], 2, -1", 5, 0, 0, 0, 19, 0, true},
    {"v_add_f16 v0, 1.0, v2", 0, 0x3C00, 0, 0xAAAA5555, 0x4000, 0, false},
    {"v_mad_u16 v0, v1, v2, v3 op_sel:[1,0,1,1]", 0x00050000, 7, 0x00020000, 0x1234ABCD, 0x0025ABCD, 0, false},
    {"v_mad_u16 v0, v1, v2, v3 op_sel:[0,1,0,0]", 3, 0x00040000, 1, 0x1234ABCD, 0x1234000D, 0, false},
    {"v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]", ONE, TWO, 0, 0xABCD1234, 0x40381234, 0, false},
    {"v_cvt_pk_fp8_f32 v0, v1, -v2", ONE, TWO, 0, 0xABCD1234, 0xABCDC038, 0, false},
    {"v_pk_add_u16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,0]", 0x00030002, 0x00500010, 0, 0, 0x00120013, 0, false},
    {"v_pk_add_f16 v0, v1, v2 neg_lo:[1,0] neg_hi:[0,1]", 0x40003C00, 0x3C004000, 0, 0, 0x3C003C00, 0, false},
    {"v_pk_add_f16 v0, v1, 1.0 op_sel_hi:[1,0]", 0x40003C00, 0, 0, 0, 0x42004000, 0, false},
    {"v_pk_add_f32 v[0:1], v[4:5], v[6:7] op_sel:[1,0] op_sel_hi:[0,1]", (u64)TWO << 32 | ONE, (u64)THREE << 32 | ONE, 0, 0,
        (u64)0x40800000 << 32 | THREE, 0, true},
    {"v_pk_mul_f32 v[0:1], v[4:5], v[6:7] neg_lo:[1,0] neg_hi:[0,1]", (u64)TWO << 32 | ONE, (u64)ONE << 32 | ONE, 0, 0,
        (u64)0xC0000000 << 32 | 0xBF800000, 0, true},
    {"v_pk_mul_f32 v[0:1], v[4:5], 2.0 op_sel_hi:[1,0]", (u64)TWO << 32 | ONE, 0, 0, 0, (u64)0x40800000 << 32 | TWO, 0, true},
    {"v_pk_mul_f32 v[0:1], v[4:5], s[2:3] op_sel_hi:[1,0]", (u64)TWO << 32 | ONE, 0, 0, 0, (u64)0x40C00000 << 32 | THREE, 0, true},
    {"v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1", 0x0000AB00, 0x00010000, 0, 9, 0xAC, 0,
        false},
    {"v_add_u32_sdwa v0, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD", 0xFE000000, 1, 0, 9, UINT32_MAX,
        0, false},
    {"v_add_u32_sdwa v0, v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD", 0x11, 0x22, 0, 0xAABBCCDD,
        0xAA33CCDD, 0, false},
    {"v_add_u32_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", 0x11, 0x22, 0, 0xAABBCCDD, 0x00330000,
        0, false},
    {"v_add_u32_sdwa v0, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:DWORD src1_sel:DWORD", 0x7F, 1, 0, 0, 0xFFFF8000, 0, false},
    {"v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_2", 0x00C00000, 0, 0, 0, 0xC0000000, 0, false},
    {"v_add_f32 v0, v1, v2", 0x00000001, 0x80000001, 0, 0, 0, 0, false},
    {"v_mul_f32 v0, v1, v2", 0x00800000, 0x3F000000, 0, 0, 0x00400000, 0, false},
    {"v_mul_f32 v0, v1, v2", 0x00800000, 0x3F000000, 0, 0, 0, MODE_DENORM_32, false},
    {"v_mul_f32 v0, v1, v2", 0x80400000, TWO, 0, 0, 0x80000000, MODE_DENORM_32, false},
    {"v_mov_b32 v0, v1", 0x00400000, 0, 0, 0, 0x00400000, MODE_DENORM_32, false},
    {"v_mul_f64 v[0:1], v[4:5], v[6:7]", 0x0010000000000000, 0x3FE0000000000000, 0, 0, 0, MODE_DENORM_16_64, true},
    {"v_add_f32 v0, v1, v2", ONE, 0x2F800000, 0, 0, ONE, 0, false},
    {"v_add_f32 v0, v1, v2", ONE, 0x2F800000, 0, 0, 0x3F800001, 1, false},
    {"v_add_f32 v0, v1, v2", 0xBF800000, 0xAF800000, 0, 0, 0xBF800001, 2, false},
    {"v_add_f32 v0, v1, v2", ONE, 0xAF800000, 0, 0, 0x3F7FFFFF, 3, false},
    {"v_add_f64 v[0:1], v[4:5], v[6:7]", 0x3FF0000000000000, 0x3C00000000000000, 0, 0, 0x3FF0000000000001, 4, true},
    {"v_cndmask_b32_e64 v0, -v1, v2, s[8:9]", ONE, TWO, 0, 0, 0xBF800000, 0, false},
};
enum { VALUE_CASES = sizeof value_cases / sizeof value_cases[0] };

static struct rig *rig;

static void lanes_move_as_dpp_says(void **state) {
  (void)state;
  for (size_t i = 0; i < DPP_CASES; i++) {
    const struct dpp_case *c = &dpp_cases[i];
    for (int l = 0; l < 64; l++) rig->wave->v[1].w[l] = 1000 + (u32)l, rig->wave->v[0].w[l] = 7;
    wave_set_exec(rig->wave, c->exec);
    rig_run(rig, i);
    for (int l = 0; l < 64; l++) {
      int from = c->from(l);
      bool valid = from >= 0 && c->exec >> from & 1;
      bool written = (c->exec >> l & 1) && (c->rows >> (l / 16) & 1) && (c->banks >> (l % 16 / 4) & 1) && (valid || c->zero);
      u32 want = !written ? 7 : valid ? 1000 + (u32)from : 0, got = rig->wave->v[0].w[l];
      if (got != want) fail_msg("%s: lane %d: wanted %u, got %u", c->line, l, want, got);
    }
  }
  wave_set_exec(rig->wave, UINT64_MAX);
}

static void put_all(u32 reg, u64 value, u32 words) {
  for (u32 k = 0; k < words; k++)
    for (int l = 0; l < 64; l++) rig->wave->v[reg + k].w[l] = (u32)(value >> (32 * k));
}

static void modifiers_change_values_as_written(void **state) {
  (void)state;
  for (size_t i = 0; i < VALUE_CASES; i++) {
    const struct value_case *c = &value_cases[i];
    put_all(0, c->old, 2);
    put_all(1 + (c->wide ? 3 : 0), c->a, 1 + c->wide);
    put_all(2 + (c->wide ? 4 : 0), c->b, 1 + c->wide);
    put_all(3, c->c, 1);
    rig->wave->sreg[2] = THREE, rig->wave->sreg[3] = TWO;
    wave_put_sreg64(rig->wave, 8, 0);
    wave_set_mode(rig->wave, MODE_DEFAULT ^ c->mode);
    rig_run(rig, DPP_CASES + i);
    for (int l = 0; l < 64; l++) {
      u64 got = rig->wave->v[0].w[l] | (c->wide ? (u64)rig->wave->v[1].w[l] << 32 : 0);
      if (got != c->want) fail_msg("%s: wanted %llx, got %llx", c->line, (unsigned long long)c->want, (unsigned long long)got);
    }
  }
  wave_set_mode(rig->wave, MODE_DEFAULT);
}

/* v0 is source and destination, the lanes overlap: all are read before one is written. */
static void a_register_can_be_source_and_destination(void **state) {
  (void)state;
  for (int l = 0; l < 64; l++) rig->wave->v[0].w[l] = (u32)l;
  rig_run(rig, DPP_CASES + VALUE_CASES);
  for (int l = 0; l < 64; l++) assert_int_equal(rig->wave->v[0].w[l], l + (l / 16 * 16 + 15 - l % 16));
}

static void a_packed_move_can_swap_a_pair(void **state) {
  (void)state;
  put_all(0, (u64)TWO << 32 | ONE, 2);
  rig_run(rig, DPP_CASES + VALUE_CASES + 1);
  for (int l = 0; l < 64; l++) assert_true(rig->wave->v[0].w[l] == TWO && rig->wave->v[1].w[l] == ONE);
}

/* llvm#214544, conformance seed 19711454774585396: LLVM makes a product that is rounded to f16 a v_fma_mix with a constant 0, so that -0
   becomes +0. So does the hardware, by the document: the emulator executes what is written. With -0 added it would have stayed. */
static void a_mixed_product_of_minus_0_plus_0_is_0(void **state) {
  (void)state;
  static const char *const lines[] = {"v_fma_mixlo_f16 v0, v1, v2, 0 op_sel_hi:[1,1,0]", "v_fma_mixlo_f16 v0, v1, v2, v3 op_sel_hi:[1,1,0]",
      "v_fma_mix_f32 v0, v1, v2, 0 op_sel_hi:[1,1,0]", "v_fma_mixhi_f16 v0, v1, v2, 0 op_sel_hi:[1,1,0]"};
  static const u32 want[] = {0x70000, 0x78000, 0, 7};
  struct rig *r = rig_open("gfx950", lines, 4);
  for (size_t i = 0; i < 4; i++) {
    for (int l = 0; l < 64; l++)
      r->wave->v[0].w[l] = 0x70007, r->wave->v[1].w[l] = 0x8000, r->wave->v[2].w[l] = 0x3C00, r->wave->v[3].w[l] = 0x80000000;
    rig_run(r, i);
    assert_int_equal(r->wave->v[0].w[9], want[i]);
  }
  rig_close(r);
}

int main(void) {
  static const char *lines[DPP_CASES + VALUE_CASES + 2];
  for (size_t i = 0; i < DPP_CASES; i++) lines[i] = dpp_cases[i].line;
  for (size_t i = 0; i < VALUE_CASES; i++) lines[DPP_CASES + i] = value_cases[i].line;
  lines[DPP_CASES + VALUE_CASES] = "v_add_u32_dpp v0, v0, v0 row_mirror row_mask:0xf bank_mask:0xf";
  lines[DPP_CASES + VALUE_CASES + 1] = "v_pk_mov_b32 v[0:1], v[0:1], v[0:1] op_sel:[1,0]";
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_move_as_dpp_says),
      cmocka_unit_test(modifiers_change_values_as_written),
      cmocka_unit_test(a_register_can_be_source_and_destination),
      cmocka_unit_test(a_packed_move_can_swap_a_pair),
      cmocka_unit_test(a_mixed_product_of_minus_0_plus_0_is_0),
  };
  rig = rig_open("gfx950", lines, DPP_CASES + VALUE_CASES + 2);
  int failed = cmocka_run_group_tests_name("operands and results are modified as the text says", tests, NULL, NULL);
  rig_close(rig);
  return failed;
}
