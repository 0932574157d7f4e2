/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM's instruction text as a struct: each part of a line ends up in its field, and a part that nobody understands is an error. (That real
   code comes back as the same bytes is test_decode's.) */
#include "inst_text.h"

#include <string.h>

#include "support.h"

static struct inst_text inst;

static void parse(const char *line) {
  char error[TEXT_ERROR_MAX] = "";
  if (!inst_text_parse(line, &inst, error)) fail_msg("%s", error);
}

static void registers_have_a_kind_a_number_and_a_size(void **state) {
  (void)state;
  static const struct {
    const char *line;
    enum text_kind kind;
    unsigned reg, count;
  } cases[] = {{"x v7", TEXT_VGPR, 7, 1}, {"x v[4:7]", TEXT_VGPR, 4, 4}, {"x a[0:31]", TEXT_AGPR, 0, 32}, {"x s101", TEXT_SREG, 101, 1},
      {"x s[2:17]", TEXT_SREG, 2, 16}, {"x vcc", TEXT_SREG, TEXT_REG_VCC, 2}, {"x vcc_hi", TEXT_SREG, TEXT_REG_VCC + 1, 1},
      {"x exec", TEXT_SREG, TEXT_REG_EXEC, 2}, {"x m0", TEXT_SREG, TEXT_REG_M0, 1}, {"x ttmp[4:5]", TEXT_SREG, TEXT_REG_TTMP + 4, 2},
      {"x src_scc", TEXT_SOURCE, TEXT_SRC_SCC, 1}, {"x flat_scratch", TEXT_SREG, TEXT_REG_FLAT_SCRATCH, 2}, {"x off", TEXT_OFF, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    parse(cases[i].line);
    assert_int_equal(inst.operands, 1);
    assert_int_equal(inst.operand[0].kind, cases[i].kind);
    assert_int_equal(inst.operand[0].reg, cases[i].reg);
    assert_int_equal(inst.operand[0].count, cases[i].count);
  }
}

static void numbers_keep_their_kind_and_value(void **state) {
  (void)state;
  parse("v_x_e64 v0, -16, 0x42f60000, -4.0, 0.15915494");
  assert_string_equal(inst.name, "v_x");
  assert_int_equal(inst.suffix, TEXT_E64);
  assert_int_equal(inst.operands, 5);
  assert_true(inst.operand[1].kind == TEXT_INT && inst.operand[1].value == -16);
  assert_true(inst.operand[2].kind == TEXT_LITERAL && inst.operand[2].value == 0x42f60000);
  assert_true(inst.operand[3].kind == TEXT_FLOAT && inst.operand[3].real < -3.9 && inst.operand[3].real > -4.1);
  assert_true(inst.operand[4].kind == TEXT_FLOAT && (float)inst.operand[4].real > 0.1591549f && (float)inst.operand[4].real < 0.159155f);
}

static void signs_stand_around_operands(void **state) {
  (void)state;
  parse("v_fma_f32 v0, -v1, |v2|, -|s3|");
  assert_true(inst.operand[1].neg && !inst.operand[1].abs);
  assert_true(!inst.operand[2].neg && inst.operand[2].abs);
  assert_true(inst.operand[3].neg && inst.operand[3].abs && inst.operand[3].kind == TEXT_SREG);
  parse("v_add_u32_sdwa v0, sext(v1), neg(2) dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3");
  assert_int_equal(inst.suffix, TEXT_SDWA);
  assert_true(inst.operand[1].sext && inst.operand[2].neg && inst.operand[2].value == 2);
  assert_int_equal(inst.mod[TEXT_MOD_DST_SEL], TEXT_SEL_WORD_1);
  assert_int_equal(inst.mod[TEXT_MOD_DST_UNUSED], TEXT_UNUSED_PRESERVE);
  assert_int_equal(inst.mod[TEXT_MOD_SRC0_SEL], 3);
}

static void modifiers_are_there_or_not(void **state) {
  (void)state;
  parse("\tbuffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen offset:16 sc1 // 000000001234: E05C1010 80000004");
  assert_int_equal(inst.operands, 4);
  assert_true(inst_text_has(&inst, TEXT_MOD_OFFEN) && inst_text_has(&inst, TEXT_MOD_SC1) && !inst_text_has(&inst, TEXT_MOD_SC0));
  assert_int_equal(inst.mod[TEXT_MOD_OFFSET], 16);
  parse("global_load_dword v0, v1, s[2:3] offset:-4096 nt");
  assert_int_equal(inst.mod[TEXT_MOD_OFFSET], -4096);
  parse("v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0xa bank_mask:0xf");
  assert_int_equal(inst.list_count[TEXT_MOD_QUAD_PERM], 4);
  assert_memory_equal(inst.list[TEXT_MOD_QUAD_PERM], "\1\0\3\2", 4);
  assert_int_equal(inst.mod[TEXT_MOD_ROW_MASK], 10);
}

static void a_wait_says_what_it_waits_for(void **state) {
  (void)state;
  parse("s_waitcnt vmcnt(3) lgkmcnt(0)");
  assert_int_equal(inst.operands, 0);
  assert_true(inst.wait_vm == 3 && inst.wait_lgkm == 0 && inst.wait_exp == -1);
  parse("s_waitcnt lgkmcnt(1)");
  assert_true(inst.wait_vm == -1 && inst.wait_lgkm == 1);
  parse("s_barrier");
  assert_true(inst.wait_vm == -1 && inst.wait_lgkm == -1);
}

static void hardware_registers_and_swizzles_become_their_fields(void **state) {
  (void)state;
  parse("s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 2)");
  assert_true(inst.operand[1].kind == TEXT_HWREG && inst.operand[1].value == (1 | 4 << 6 | 1 << 11));
  parse("s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)");
  assert_int_equal(inst.operand[1].value, 20 | 31 << 11);
  parse("ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"01pip\")");
  assert_int_equal(inst.mod[TEXT_MOD_OFFSET], 7 | 8 << 5 | 2 << 10);
  parse("ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,3,2,1,0)");
  assert_int_equal(inst.mod[TEXT_MOD_OFFSET], 0x8000 | 3 | 2 << 2 | 1 << 4);
  parse("s_sendmsg sendmsg(MSG_INTERRUPT)");
  assert_string_equal(inst.operand[0].word, "sendmsg(MSG_INTERRUPT)");
}

static void a_part_that_nobody_understands_is_an_error_with_its_text(void **state) {
  (void)state;
  static const char *const lines[] = {"", "  ", "// a comment", "7up", "v_x v0,", "v_x v0 v1", "v_x v[3:1]", "v_x v256", "v_x s102",
      "v_x v[0:", "v_x |v1", "v_x 1.5", "v_x 0x", "v_x 99999999999999999999", "v_x v0 offset",
      "v_x v0 offset:", "v_x v0 offset:0x1ffffffff", "v_x v0 offen offen", "v_x v0 mystery", "v_x v0 mystery:3", "v_x v0 op_sel:[1,2",
      "v_x v0 op_sel:[1,0,0,0,0,0,0,0,0]", "v_x v0 src0_sel:BYTE_4", "s_x hwreg(HW_REG_NOTHING)", "s_waitcnt vmcnt(64)",
      "s_waitcnt vmcnt(1) vmcnt(1)", "v_x v0 offset:swizzle(WHAT,1)", "v_x -", "v_x sext(v1", "v_x v0, v1, v2, v3, v4, v5, v6, v7, v8",
      "this_mnemonic_is_longer_than_any_that_llvm_has_ever_had v0", "v_x v0!", "v_x v0offen"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    char error[TEXT_ERROR_MAX] = "";
    if (inst_text_parse(lines[i], &inst, error)) fail_msg("\"%s\" is understood", lines[i]);
    assert_non_null(strstr(error, "is not understood in the instruction"));
  }
}

static void printing_into_too_little_room_says_so(void **state) {
  (void)state;
  char out[TEXT_LINE_MAX];
  parse("buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen offset:16 sc1");
  assert_true(inst_text_print(&inst, out, sizeof out));
  assert_string_equal(out, "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen offset:16 sc1");
  for (size_t size = 0; size <= strlen(out); size++) {
    char less[TEXT_LINE_MAX];
    assert_false(inst_text_print(&inst, less, size));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(registers_have_a_kind_a_number_and_a_size),
      cmocka_unit_test(numbers_keep_their_kind_and_value),
      cmocka_unit_test(signs_stand_around_operands),
      cmocka_unit_test(modifiers_are_there_or_not),
      cmocka_unit_test(a_wait_says_what_it_waits_for),
      cmocka_unit_test(hardware_registers_and_swizzles_become_their_fields),
      cmocka_unit_test(a_part_that_nobody_understands_is_an_error_with_its_text),
      cmocka_unit_test(printing_into_too_little_room_says_so),
  };
  return cmocka_run_group_tests_name("instruction text is read whole or refused", tests, NULL, NULL);
}
