/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding by reassembly: what the decoder understood of each instruction, printed and assembled by llvm-mc, must be the same bytes. And
   what it does not understand must be named, never guessed. */
#include <stdio.h>
#include <stdlib.h>

#include "codeobject.h"
#include "isa_rig.h"

static const char *const samples[] = {"buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen offset:16 sc0 nt sc1",
    "buffer_load_dword v1, s[4:7], s1 offen lds", "s_waitcnt vmcnt(63) expcnt(0) lgkmcnt(15)",
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15", "v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0x5 bank_mask:0xf bound_ctrl:1",
    "v_add_f32_dpp v1, -v0, |v2| row_newbcast:3 row_mask:0xf bank_mask:0x3",
    "v_add_f32_sdwa v0, -|v1|, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD",
    "v_add_u32_sdwa v0, sext(v1), v2 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_3 src1_sel:DWORD",
    "ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"00p1i\")", "ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,5)",
    "ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,0,1,2,3)", "ds_swizzle_b32 v0, v1 offset:swizzle(REVERSE,16)",
    "ds_write2st64_b64 v1, v[2:3], v[4:5] offset0:255 offset1:7",
    "v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[6:7] op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[1,0,0]",
    "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[4:11], v[12:19], a[0:3], v20, v21 op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:1 blgp:1",
    "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:21], v[22:25], v[0:15], v40, v41 op_sel_hi:[0,0,0] cbsz:3 blgp:4",
    "v_mfma_f32_32x32x1_2b_f32 a[0:31], v0, v1, -4.0 cbsz:1 abid:1 blgp:1", "v_fma_f32 v0, -v1, |v2|, -|s3| clamp mul:2",
    "v_fma_f32 v0, neg(1.0), |v2|, 0.15915494", "v_fma_f64 v[0:1], v[2:3], 0.15915494309189532, -v[4:5]", "v_add_f32 v0, 0x42f60000, v1",
    "v_bitop3_b32 v0, v1, v2, v3 bitop3:0x1a", "global_atomic_cmpswap_x2 v[0:1], v2, v[4:7], s[8:9] offset:-8 sc0",
    "flat_load_ushort v0, v[2:3] offset:4095", "s_load_dwordx2 s[0:1], s[4:5], -0x10", "s_mov_b32 ttmp3, 0xdeadbeef", "s_mov_b64 exec, -1",
    "s_cselect_b64 s[0:1], vcc, flat_scratch", "s_movk_i32 m0, 0x8000", "v_cmpx_class_f32 vcc, v0, v1", "s_mov_b64 s[0:1], src_shared_base",
    "v_cndmask_b32_sdwa v0, v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_1"};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

/* Prints what the text was read as, assembles it, compares. */
static void check_reassembly(const struct program *p, const uint8_t *code) {
  size_t room = (size_t)p->count * TEXT_LINE_MAX + 1, used = 0, bytes;
  char *text = malloc(room), error[TEXT_ERROR_MAX];
  for (uint32_t i = 0; i < p->count; i++) {
    struct inst_text inst;
    if (!inst_text_parse(p->inst[i].text, &inst, error)) fail_msg("%s", error);
    assert_true(inst_text_print(&inst, text + used, TEXT_LINE_MAX - 1));
    used += strlen(text + used);
    text[used++] = '\n';
  }
  text[used] = '\0';
  uint8_t *again = assemble("gfx950", text, &bytes);
  for (uint32_t i = 0; i < p->count; i++) {
    uint64_t at = p->inst[i].address - p->address;
    if (at + p->inst[i].bytes > bytes || memcmp(again + at, code + at, p->inst[i].bytes) != 0)
      fail_msg("%s comes back as other bytes", p->inst[i].text);
  }
  free(again);
  free(text);
}

static void every_form_of_operand_and_modifier_comes_back_as_the_same_bytes(void **state) {
  (void)state;
  char text[8192] = "", error[DECODE_ERROR_MAX];
  size_t bytes;
  for (size_t i = 0; i < SAMPLES; i++) strcat(strcat(text, samples[i]), "\n");
  uint8_t *code = assemble("gfx950", text, &bytes);
  struct program *p = program_decode(code, bytes, 0x1000, "gfx950", error);
  assert_non_null(p);
  if (p->unknown) fail_msg("%s", p->first_unknown);
  assert_int_equal(p->count, SAMPLES);
  check_reassembly(p, code);
  program_free(p);
  free(code);
}

static void a_compiled_kernel_comes_back_as_the_same_bytes(void **state) {
  (void)state;
  static const char *const keys[] = {"tokens=16,tp=4", "tokens=33,tp=1,tuned=1,ratio=3,window=1000"};
  for (size_t k = 0; k < 2; k++) {
    const char *dir = temp_dir();
    char error[DECODE_ERROR_MAX], why[CODE_ERROR_MAX];
    struct outcome o = run(built_path("gen/frontgen"), "build", keys[k], "-o", dir, "--arch", "gfx950");
    assert_code(&o, 0);
    outcome_free(&o);
    size_t bytes;
    const char *name = k ? "front_s33_tp1_r3_w1000_t1.gfx950.hsaco" : "front_s16_tp4_r2_w128_t0.gfx950.hsaco";
    char *object = read_file(path_in(dir, name), &bytes);
    struct code_object code;
    if (!code_object_open(object, bytes, &code, why)) fail_msg("%s", why);
    const struct code_kernel *kernel = code_object_kernel(&code, NULL);
    assert_non_null(kernel);
    const uint8_t *text = code_object_at(&code, kernel->entry, kernel->code_bytes);
    struct program *p = program_decode(text, kernel->code_bytes, kernel->entry, "gfx950", error);
    assert_non_null(p);
    if (p->unknown) fail_msg("%s", p->first_unknown);
    assert_true(p->count > 1500);
    check_reassembly(p, text);
    program_free(p);
    code_object_close(&code);
    free(object);
  }
}

/* Lines that llvm-mc takes and we do not: each must be refused with a reason, when decoded and when executed. */
static void what_is_not_understood_is_named(void **state) {
  (void)state;
  static const struct {
    const char *line, *reason;
  } unknown[] = {{"s_sethalt 1", "does not know this instruction"}, {"s_sendmsg sendmsg(MSG_INTERRUPT)", "does not know this instruction"},
      {"v_smfmac_f32_16x16x32_f16 v[10:13], v[2:3], v[4:7], v1", "does not know this instruction"},
      {"tbuffer_load_format_x v0, v1, s[0:3], 0 idxen", "does not know this instruction"},
      {"v_cvt_scalef32_pk_fp8_f16 v0, -v1, v2", "a sign of operand 2"},
      {"v_pk_fmac_f16_sdwa v0, v1, v2 src0_sel:DWORD src1_sel:DWORD", "SDWA"}, {"s_setreg_b32 hwreg(HW_REG_STATUS), s0", "register 2"},
      {"v_mad_u32_u24 v0, v1, v2, v3 clamp", "clamp"}, {"v_permlane16_swap_b32_e64 v0, v1 bound_ctrl:1", "bound_ctrl"},
      {"v_pk_mul_f32 v[0:1], v[2:3], 2.0", "high half of a constant"},
      {"s_mov_b32 s0, src_shared_base", "scalar that the emulator does not have"}};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    char text[256], error[DECODE_ERROR_MAX];
    size_t bytes;
    snprintf(text, sizeof text, "%s\n", unknown[i].line);
    uint8_t *code = assemble("gfx950", text, &bytes);
    struct program *p = program_decode(code, bytes, 0x1000, "gfx950", error);
    assert_non_null(p);
    if (!p->unknown) fail_msg("%s is taken for known", unknown[i].line);
    if (!strstr(p->first_unknown, unknown[i].reason) || !strstr(p->first_unknown, " at 0x1000: "))
      fail_msg("%s: the reason is \"%s\"", unknown[i].line, p->first_unknown);
    struct wave *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    memset(w, 0, sizeof *w);
    struct workgroup group = {0};
    wave_init(w, p, &group, 0, 0, MODE_DEFAULT);
    assert_int_equal(wave_run(w, 10), WAVE_FAULT);
    assert_string_equal(w->fault, p->first_unknown);
    free(w);
    program_free(p);
    free(code);
  }
}

static void branches_lead_to_instructions(void **state) {
  (void)state;
  char error[DECODE_ERROR_MAX];
  size_t bytes;
  uint8_t *code =
      assemble("gfx950", "s_branch 3\ns_mov_b32 s0, 0x12345678\ns_branch 65535\ns_nop 0\ns_branch 65532\ns_branch 65530\n", &bytes);
  struct program *p = program_decode(code, bytes, 0x1000, "gfx950", error);
  assert_non_null(p);
  assert_int_equal(p->count, 6);
  assert_int_equal(p->inst[0].target, 3);
  assert_int_equal(p->inst[2].target, 2);
  assert_int_equal(p->inst[4].target, NO_INST); /* into the middle of s_mov_b32's literal */
  assert_int_equal(p->inst[5].target, 1);
  assert_int_equal(program_at(p, 0x1000 + 12), 2);
  assert_int_equal(program_at(p, 0x1000 + 13), NO_INST);
  assert_int_equal(program_at(p, 0xFFF), NO_INST);
  assert_int_equal(program_at(p, 0x1000 + bytes), NO_INST);
  program_free(p);
  free(code);
}

static void any_bytes_decode_to_something_that_can_be_freed(void **state) {
  (void)state;
  static uint8_t bytes[40000];
  char error[DECODE_ERROR_MAX];
  for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(rig_value(T_u64, i + 1000) >> 20);
  for (uint32_t cut = 0; cut < 8; cut++) {
    struct program *p = program_decode(bytes + 4 * cut, sizeof bytes - 100 - cut, 0x1000, cut % 2 ? "gfx942" : "gfx950", error);
    assert_non_null(p);
    assert_true(p->unknown > 0);
    program_free(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_of_operand_and_modifier_comes_back_as_the_same_bytes),
      cmocka_unit_test(a_compiled_kernel_comes_back_as_the_same_bytes),
      cmocka_unit_test(what_is_not_understood_is_named),
      cmocka_unit_test(branches_lead_to_instructions),
      cmocka_unit_test(any_bytes_decode_to_something_that_can_be_freed),
  };
  return cmocka_run_group_tests_name("machine code is understood as it was assembled, or refused by name", tests, NULL, NULL);
}
