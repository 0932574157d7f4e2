/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and stores before their s_waitcnt, barriers, and what was never written: each fault is found and named with both its parties.
 */
#include "strict_rig.h"

#define STORE_V3 "global_store_dword v1, v3, s[8:9]\ns_endpgm\n"

#define CASE(test, ...)                                                                                                                    \
  static void test(void **state) {                                                                                                         \
    (void)state;                                                                                                                           \
    static const struct strict_case c = {__VA_ARGS__};                                                                                     \
    strict_check(&c);                                                                                                                      \
  }

CASE(a_loaded_register_is_read_before_its_wait,
    STRICT_START "global_load_dword v2, v1, s[4:5]\nRIGHT s_waitcnt vmcnt(0)\nv_add_u32 v3, 1, v2\n" STORE_V3, 2, 64,
    .kind = HSA_EMU_UNWAITED,
    .text = {"k: workgroup", "\"v_add_u32_e32 v3, 1, v2\" at k+0x", "reads v2", "\"global_load_dword v2, v1, s[4:5]\" at k+0x"})

CASE(a_loaded_register_is_overwritten_before_its_wait,
    STRICT_START "global_load_dword v2, v1, s[4:5]\nRIGHT s_waitcnt vmcnt(0)\nv_mov_b32 v2, 7\nv_mov_b32 v3, v2\n" STORE_V3, 1, 64,
    .kind = HSA_EMU_UNWAITED, .text = {"overwrites v2", "global_load_dword v2"})

CASE(a_count_that_leaves_the_load_outstanding,
    STRICT_START "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v4, v1, s[4:5]\ns_waitcnt vmcnt(1)\nFAULT v_add_u32 v3, 1, v4\n"
                 "RIGHT v_add_u32 v3, 1, v2\n" STORE_V3,
    1, 64, .kind = HSA_EMU_UNWAITED, .text = {"reads v4"})

CASE(a_store_counts_as_a_load_does,
    STRICT_START "global_load_dword v2, v1, s[4:5]\nglobal_store_dword v1, v21, s[8:9] offset:2048\n"
                 "FAULT s_waitcnt vmcnt(2)\nRIGHT s_waitcnt vmcnt(1)\nv_add_u32 v3, 1, v2\n" STORE_V3,
    1, 64, .kind = HSA_EMU_UNWAITED, .text = {"reads v2"})

CASE(scalar_loads_come_in_any_order,
    STRICT_START "s_load_dword s12, s[4:5], 0x0\ns_load_dword s13, s[4:5], 0x4\nFAULT s_waitcnt lgkmcnt(1)\nRIGHT s_waitcnt lgkmcnt(0)\n"
                 "v_mov_b32 v3, s12\n" STORE_V3,
    1, 64, .kind = HSA_EMU_UNWAITED, .text = {"reads s12", "s_load_dword s12"})

CASE(an_lds_read_is_used_before_its_wait,
    STRICT_START
    "ds_write_b32 v1, v21\ns_waitcnt lgkmcnt(0)\nds_read_b32 v2, v1\nRIGHT s_waitcnt lgkmcnt(0)\nv_add_u32 v3, 1, v2\n" STORE_V3,
    1, 64, 256, .kind = HSA_EMU_UNWAITED, .text = {"reads v2", "ds_read_b32 v2, v1"})

CASE(lds_is_read_before_a_load_to_it_is_waited_for,
    STRICT_START
    "s_mov_b32 m0, 0\ns_mov_b32 s12, s4\ns_and_b32 s13, s5, 0xffff\ns_movk_i32 s14, 0x1000\ns_mov_b32 s15, 0x00020000\n"
    "buffer_load_dword v1, s[12:15], 0 offen lds\nRIGHT s_waitcnt vmcnt(0)\nds_read_b32 v3, v1\ns_waitcnt vmcnt(0) lgkmcnt(0)\n" STORE_V3,
    1, 64, 256, .kind = HSA_EMU_UNWAITED, .text = {"reads LDS", "buffer_load_dword v1"})

/* --- barriers ------------------------------------------------------------------------------------------------------------------- */

CASE(a_barrier_with_lanes_switched_off,
    STRICT_START "v_mov_b32 v3, 0\nv_cmp_gt_u32 vcc, 32, v0\ns_and_saveexec_b64 s[12:13], vcc\nFAULT s_barrier\nv_mov_b32 v3, 1\n"
                 "s_mov_b64 exec, s[12:13]\nRIGHT s_barrier\n" STORE_V3,
    1, 64, .kind = HSA_EMU_BARRIER, .text = {"lane 32", "switched off", "s_barrier"})

CASE(waves_at_different_barriers,
    STRICT_START "v_mov_b32 v3, 0\nv_readfirstlane_b32 s12, v0\nFAULT s_cmp_eq_u32 s12, 0\nFAULT s_cbranch_scc1 3f\ns_barrier\n"
                 "FAULT s_branch 4f\nFAULT 3:\nFAULT s_barrier\nFAULT 4:\n" STORE_V3,
    1, 128, .kind = HSA_EMU_BARRIER, .text = {"another s_barrier"})

CASE(a_wave_has_ended_where_the_others_wait,
    STRICT_START "v_mov_b32 v3, 0\nv_readfirstlane_b32 s12, v0\nFAULT s_cmp_eq_u32 s12, 0\nFAULT s_cbranch_scc1 3f\ns_barrier\n"
                 "FAULT 3:\n" STORE_V3,
    1, 128, .kind = HSA_EMU_BARRIER, .text = {"has ended", "s_endpgm", "wave 0"})

/* --- never written ------------------------------------------------------------------------------------------------------------- */

CASE(a_register_that_was_never_written_is_stored, STRICT_START "RIGHT v_mov_b32 v3, 9\n" STORE_V3, 1, 64, .kind = HSA_EMU_UNINITIALISED,
    .text = {"stores v3, which was never written", "lane 0", "global_store_dword v1, v3"})

CASE(a_lane_that_was_never_written_is_stored,
    STRICT_START "RIGHT v_mov_b32 v3, 9\ns_mov_b64 s[12:13], exec\ns_mov_b64 exec, 0xff\nv_mov_b32 v3, 8\ns_mov_b64 exec, s[12:13]\n"
                 "v_add_u32 v3, 1, v3\n" STORE_V3,
    1, 64, .kind = HSA_EMU_UNINITIALISED, .text = {"stores v3", "lane 8"})

CASE(an_address_of_what_was_never_written,
    STRICT_START "v_mov_b32 v3, 0\nRIGHT v_mov_b32 v5, 0\nv_and_b32 v5, 4, v5\n"
                 "global_store_dword v5, v3, s[8:9]\ns_endpgm\n",
    1, 64, .kind = HSA_EMU_UNINITIALISED, .text = {"takes its address from v5", "v_and_b32_e32 v5, 4, v5"})

CASE(a_branch_on_what_was_never_written,
    STRICT_START "v_mov_b32 v3, 0\nRIGHT s_mov_b32 s14, 1\ns_cmp_eq_u32 s14, 0\ns_cbranch_scc1 3f\nv_mov_b32 v3, 1\n3:\n" STORE_V3, 1, 64,
    .kind = HSA_EMU_UNINITIALISED, .text = {"branches on SCC", "s_cbranch_scc1"})

CASE(lanes_are_switched_by_what_was_never_written,
    STRICT_START "v_mov_b32 v3, 0\nRIGHT v_mov_b32 v6, 1\nv_cmp_eq_u32 vcc, 1, v6\ns_and_saveexec_b64 s[12:13], vcc\nv_mov_b32 v3, 1\n"
                 "s_mov_b64 exec, s[12:13]\n" STORE_V3,
    1, 64, .kind = HSA_EMU_UNINITIALISED, .text = {"makes EXEC of", "s_and_saveexec_b64"})

CASE(lds_that_was_never_written_is_stored, STRICT_START "RIGHT ds_write_b32 v1, v21\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\n" STORE_V3,
    1, 64, 256, .kind = HSA_EMU_UNINITIALISED, .text = {"stores v3", "ds_read_b32 v3, v1"})

CASE(what_is_masked_or_overwritten_does_not_matter,
    STRICT_START "v_and_b32 v7, 0, v7\nv_mov_b32 v3, v8\nFAULT v_mov_b32 v7, v8\nv_mov_b32 v3, v7\n" STORE_V3, 1, 64,
    .kind = HSA_EMU_UNINITIALISED, .text = {"stores v3"})

/* llc makes a 32-bit a * b + c of v_mad_u64_u32, and does not write the high word of c. */
CASE(a_low_word_does_not_depend_on_high_ones,
    STRICT_START "v_mov_b32 v10, 5\nv_mad_u64_u32 v[12:13], s[14:15], v21, 3, v[10:11]\nv_lshl_add_u64 v[14:15], v[10:11], 1, v[12:13]\n"
                 "v_lshlrev_b64 v[16:17], 1, v[14:15]\nv_mov_b64 v[18:19], v[16:17]\n"
                 "v_mov_b32 v3, v18\nFAULT v_mov_b32 v3, v19\n" STORE_V3,
    1, 64, .kind = HSA_EMU_UNINITIALISED, .text = {"stores v3, which holds nothing that was ever written"})

CASE(words_of_a_64_bit_addend_are_no_mask_of_lanes,
    STRICT_START "RIGHT s_mov_b32 s20, 1\nv_mad_u64_u32 v[12:13], s[14:15], v21, 3, s[20:21]\nv_mov_b32 v3, v12\n" STORE_V3, 1, 64,
    .kind = HSA_EMU_UNINITIALISED, .text = {"stores v3", "lane 0"})

CASE(a_packed_word_depends_on_the_words_that_op_sel_says,
    STRICT_START "v_mov_b32 v10, 5\nv_pk_add_f32 v[12:13], v[10:11], v[20:21]\nv_pk_mov_b32 v[14:15], v[12:13], v[12:13] op_sel:[0,0]\n"
                 "v_pk_fma_f32 v[16:17], v[14:15], v[12:13], v[12:13] op_sel_hi:[1,0,0]\nv_mov_b32 v3, v17\n"
                 "FAULT v_pk_mul_f32 v[16:17], v[14:15], v[12:13]\nFAULT v_mov_b32 v3, v17\n" STORE_V3,
    1, 64, .kind = HSA_EMU_UNINITIALISED, .text = {"stores v3"})

/* As a function saves its caller's registers: nothing depends on them. */
static void a_register_that_was_never_written_may_be_saved_in_scratch(void **state) {
  (void)state;
  static const struct strict_case c = {.groups = 1,
      .size = 64,
      .body = STRICT_START "scratch_store_dword off, v9, off offset:4\nv_mov_b32 v9, 5\nv_mov_b32 v3, v9\n"
                           "scratch_load_dword v9, off, off offset:4\ns_waitcnt vmcnt(0)\n" STORE_V3};
  struct emu_kernel k = strict_kernel(&c, false);
  assert_int_equal(strict_launch(&c, &k, 1), 0);
  assert_null(strict_finding(HSA_EMU_UNINITIALISED, NULL));
  kernel_free(&k);
}

/* --- outside -------------------------------------------------------------------------------------------------------------------- */

CASE(a_lane_outside_its_buffer,
    STRICT_START
    "s_mov_b32 s12, s4\ns_and_b32 s13, s5, 0xffff\nFAULT s_movk_i32 s14, 0xfc\nRIGHT s_movk_i32 s14, 0x100\ns_mov_b32 s15, 0x00020000\n"
    "buffer_load_dword v3, v1, s[12:15], 0 offen\ns_waitcnt vmcnt(0)\n" STORE_V3,
    1, 64, .kind = HSA_EMU_OUT_OF_RANGE, .text = {"lane 63", "byte 252 of 252", "buffer_load_dword v3"})

CASE(a_lane_outside_lds,
    STRICT_START "FAULT v_add_u32 v1, 4, v1\nds_write_b32 v1, v21\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\n" STORE_V3, 1, 64, 256,
    .kind = HSA_EMU_OUT_OF_RANGE, .text = {"lane 63", "ds_write_b32"})

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_loaded_register_is_read_before_its_wait),
      cmocka_unit_test(a_loaded_register_is_overwritten_before_its_wait),
      cmocka_unit_test(a_count_that_leaves_the_load_outstanding),
      cmocka_unit_test(a_store_counts_as_a_load_does),
      cmocka_unit_test(scalar_loads_come_in_any_order),
      cmocka_unit_test(an_lds_read_is_used_before_its_wait),
      cmocka_unit_test(lds_is_read_before_a_load_to_it_is_waited_for),
      cmocka_unit_test(a_barrier_with_lanes_switched_off),
      cmocka_unit_test(waves_at_different_barriers),
      cmocka_unit_test(a_wave_has_ended_where_the_others_wait),
      cmocka_unit_test(a_register_that_was_never_written_is_stored),
      cmocka_unit_test(a_lane_that_was_never_written_is_stored),
      cmocka_unit_test(an_address_of_what_was_never_written),
      cmocka_unit_test(a_branch_on_what_was_never_written),
      cmocka_unit_test(lanes_are_switched_by_what_was_never_written),
      cmocka_unit_test(lds_that_was_never_written_is_stored),
      cmocka_unit_test(what_is_masked_or_overwritten_does_not_matter),
      cmocka_unit_test(a_register_that_was_never_written_may_be_saved_in_scratch),
      cmocka_unit_test(a_low_word_does_not_depend_on_high_ones),
      cmocka_unit_test(words_of_a_64_bit_addend_are_no_mask_of_lanes),
      cmocka_unit_test(a_packed_word_depends_on_the_words_that_op_sel_says),
      cmocka_unit_test(a_lane_outside_its_buffer),
      cmocka_unit_test(a_lane_outside_lds),
  };
  return cmocka_run_group_tests(tests, strict_open, strict_close);
}
