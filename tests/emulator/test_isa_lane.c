/* SPDX-License-Identifier: Apache-2.0 */
/* Moves between lanes, and control: branches, waits, barriers, sleep, hardware registers. Every row is executed. */
#include "host_math.h"
#include "isa_rig.h"

enum line {
  READFIRST,
  READLANE,
  READLANE_SCALAR,
  WRITELANE,
  MBCNT_LO,
  MBCNT_HI,
  SWAP,
  PERMLANE16,
  PERMLANE32,
  V_NOP,
  S_NOP,
  WAITCNT,
  SETPRIO,
  ICACHE,
  SLEEP,
  BARRIER,
  BRANCH,
  SCC0,
  SCC1,
  VCCZ,
  VCCNZ,
  EXECZ,
  EXECNZ,
  BACK,
  GETPC,
  SETPC,
  SWAPPC,
  GETREG,
  SETREG,
  SETREG_IMM,
  GET_XCC,
  INDEX_ON,
  INDEX,
  INDEXED,
  INDEX_OFF,
  CALL,
  MOVRELS,
  MOVRELS2,
  MOVRELD,
  MOVRELD2,
  TRAP,
  WAKEUP,
  PERF_UP,
  PERF_DOWN,
  TRACE,
  NOWHERE,
  ENDPGM,
  LINES
};

static const char *const lines[LINES] = {
    [READFIRST] = "v_readfirstlane_b32 s0, v1",
    [READLANE] = "v_readlane_b32 s0, v1, 37",
    [READLANE_SCALAR] = "v_readlane_b32 s0, v1, s2",
    [WRITELANE] = "v_writelane_b32 v0, s3, 63",
    [MBCNT_LO] = "v_mbcnt_lo_u32_b32 v0, s4, v2",
    [MBCNT_HI] = "v_mbcnt_hi_u32_b32 v0, s4, v2",
    [SWAP] = "v_swap_b32 v0, v1",
    [PERMLANE16] = "v_permlane16_swap_b32 v0, v1",
    [PERMLANE32] = "v_permlane32_swap_b32 v0, v1",
    [V_NOP] = "v_nop",
    [S_NOP] = "s_nop 7",
    [WAITCNT] = "s_waitcnt vmcnt(0) lgkmcnt(0)",
    [SETPRIO] = "s_setprio 2",
    [ICACHE] = "s_icache_inv",
    [SLEEP] = "s_sleep 3",
    [BARRIER] = "s_barrier",
    [BRANCH] = "s_branch 2",
    [SCC0] = "s_cbranch_scc0 2",
    [SCC1] = "s_cbranch_scc1 2",
    [VCCZ] = "s_cbranch_vccz 2",
    [VCCNZ] = "s_cbranch_vccnz 2",
    [EXECZ] = "s_cbranch_execz 2",
    [EXECNZ] = "s_cbranch_execnz 2",
    [BACK] = "s_branch 65532",
    [GETPC] = "s_getpc_b64 s[0:1]",
    [SETPC] = "s_setpc_b64 s[0:1]",
    [SWAPPC] = "s_swappc_b64 s[2:3], s[0:1]",
    [GETREG] = "s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)",
    [SETREG] = "s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s2",
    [SETREG_IMM] = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3",
    [GET_XCC] = "s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)",
    [INDEX_ON] = "s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)",
    [INDEX] = "s_set_gpr_idx_idx s3",
    [INDEXED] = "v_mov_b32 v0, v1",
    [INDEX_OFF] = "s_set_gpr_idx_off",
    [CALL] = "s_call_b64 s[0:1], 3",
    [MOVRELS] = "s_movrels_b32 s0, s2",
    [MOVRELS2] = "s_movrels_b64 s[0:1], s[2:3]",
    [MOVRELD] = "s_movreld_b32 s2, s0",
    [MOVRELD2] = "s_movreld_b64 s[2:3], s[0:1]",
    [TRAP] = "s_trap 2",
    [WAKEUP] = "s_wakeup",
    [PERF_UP] = "s_incperflevel 1",
    [PERF_DOWN] = "s_decperflevel 1",
    [TRACE] = "s_ttracedata",
    [NOWHERE] = "s_branch 4096",
    [ENDPGM] = "s_endpgm",
};

static struct rig *rig;

static void fill(void) {
  for (int l = 0; l < 64; l++) {
    rig->wave->v[0].w[l] = 100 + (u32)l;
    rig->wave->v[1].w[l] = 200 + (u32)l;
    rig->wave->v[2].w[l] = 1000;
  }
  wave_set_exec(rig->wave, UINT64_MAX);
}

static void a_lane_is_read_whatever_exec_says(void **state) {
  (void)state;
  fill();
  wave_set_exec(rig->wave, UINT64_C(0xFF00));
  rig_run(rig, READFIRST);
  assert_int_equal(rig->wave->sreg[0], 208);
  wave_set_exec(rig->wave, 0);
  rig_run(rig, READFIRST);
  assert_int_equal(rig->wave->sreg[0], 200);
  rig_run(rig, READLANE);
  assert_int_equal(rig->wave->sreg[0], 237);
  rig->wave->sreg[2] = 64 + 5;
  rig_run(rig, READLANE_SCALAR);
  assert_int_equal(rig->wave->sreg[0], 205);
  rig->wave->sreg[3] = 0xABCD;
  rig_run(rig, WRITELANE);
  assert_int_equal(rig->wave->v[0].w[63], 0xABCD);
  assert_int_equal(rig->wave->v[0].w[62], 162);
}

static void a_lane_counts_the_bits_below_it(void **state) {
  (void)state;
  fill();
  rig->wave->sreg[4] = 0xF0F0F0F1;
  for (int high = 0; high < 2; high++) {
    rig_run(rig, high ? MBCNT_HI : MBCNT_LO);
    for (int l = 0; l < 64; l++) {
      u64 below = 0;
      for (int i = 0; i < 32 && 32 * high + i < l; i++) below += rig->wave->sreg[4] >> i & 1;
      assert_int_equal(rig->wave->v[0].w[l], 1000 + below);
    }
  }
}

static void registers_swap_in_active_lanes(void **state) {
  (void)state;
  fill();
  wave_set_exec(rig->wave, UINT64_C(0x5555555555555555));
  rig_run(rig, SWAP);
  for (int l = 0; l < 64; l++) {
    assert_int_equal(rig->wave->v[0].w[l], (l % 2 ? 100 : 200) + l);
    assert_int_equal(rig->wave->v[1].w[l], (l % 2 ? 200 : 100) + l);
  }
}

/* Odd rows (halves) of the first register change places with even ones of the second. */
static void rows_and_halves_swap(void **state) {
  (void)state;
  for (int width = 16; width <= 32; width += 16) {
    fill();
    rig_run(rig, width == 16 ? PERMLANE16 : PERMLANE32);
    for (int l = 0; l < 64; l++) {
      bool odd = l / width % 2;
      assert_int_equal(rig->wave->v[0].w[l], odd ? 200 + l - width : 100 + l);
      assert_int_equal(rig->wave->v[1].w[l], odd ? 200 + l : 100 + l + width);
    }
  }
}

static void a_row_swap_with_inactive_lanes_is_refused_by_name(void **state) {
  (void)state;
  wave_set_exec(rig->wave, 1);
  rig->wave->pc = PERMLANE16;
  assert_int_equal(wave_run(rig->wave, 1), WAVE_FAULT);
  assert_non_null(strstr(rig->wave->fault, "v_permlane16_swap_b32"));
  assert_int_equal(rig->wave->pc, PERMLANE16);
  wave_set_exec(rig->wave, UINT64_MAX);
}

static u32 next_after(enum line i) {
  rig_run(rig, i);
  return rig->wave->pc;
}

static void a_branch_is_taken_when_its_condition_holds(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  for (u32 on = 0; on < 2; on++) {
    w->scc = on;
    assert_int_equal(next_after(SCC1), on ? SCC1 + 3 : SCC1 + 1);
    assert_int_equal(next_after(SCC0), on ? SCC0 + 1 : SCC0 + 3);
    wave_put_sreg64(w, SREG_VCC, on ? UINT64_C(1) << 40 : 0);
    assert_int_equal(next_after(VCCNZ), on ? VCCNZ + 3 : VCCNZ + 1);
    assert_int_equal(next_after(VCCZ), on ? VCCZ + 1 : VCCZ + 3);
    wave_set_exec(w, on ? UINT64_C(1) << 40 : 0);
    assert_int_equal(next_after(EXECNZ), on ? EXECNZ + 3 : EXECNZ + 1);
    assert_int_equal(next_after(EXECZ), on ? EXECZ + 1 : EXECZ + 3);
  }
  wave_set_exec(w, UINT64_MAX);
  assert_int_equal(next_after(BRANCH), BRANCH + 3);
  assert_int_equal(next_after(BACK), BACK + 1 - 4);
}

static void a_branch_to_no_instruction_is_a_fault_that_names_it(void **state) {
  (void)state;
  rig->wave->pc = NOWHERE;
  assert_int_equal(wave_run(rig->wave, 1), WAVE_FAULT);
  assert_non_null(strstr(rig->wave->fault, "s_branch 4096 at 0x"));
}

static void addresses_of_code_are_device_addresses(void **state) {
  (void)state;
  rig_run(rig, GETPC);
  u64 here = wave_sreg64(rig->wave, 0);
  assert_int_equal(here, rig->program->inst[GETPC].address + 4);
  assert_int_equal(next_after(SETPC), GETPC + 1);
  assert_int_equal(next_after(SWAPPC), GETPC + 1);
  assert_int_equal(wave_sreg64(rig->wave, 2), rig->program->inst[SWAPPC].address + 4);
  wave_put_sreg64(rig->wave, 0, here + 2);
  rig->wave->pc = SETPC;
  assert_int_equal(wave_run(rig->wave, 1), WAVE_FAULT);
}

static void mode_bits_are_read_and_written(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  wave_set_mode(w, MODE_DEFAULT);
  rig_run(rig, GETREG);
  assert_int_equal(w->sreg[0], 0xF);
  w->sreg[2] = 0xFFFFFFFC;
  rig_run(rig, SETREG);
  assert_int_equal(w->mode, MODE_DEFAULT & ~MODE_DENORM_32);
  assert_true(w->flush32 && !w->flush64);
  rig_run(rig, SETREG_IMM);
  assert_int_equal(w->mode & MODE_ROUND_32, 3);
  wave_set_mode(w, MODE_DEFAULT);
  rig->group.xcc = 5;
  rig_run(rig, GET_XCC);
  assert_int_equal(w->sreg[0], 5);
}

static void a_wave_stops_where_it_must(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  assert_int_equal(rig_run(rig, SLEEP), WAVE_SLEEPS);
  assert_int_equal(w->sleep_cycles, 192);
  assert_int_equal(rig_run(rig, BARRIER), WAVE_BARRIER);
  assert_int_equal(w->pc, BARRIER + 1);
  assert_int_equal(rig_run(rig, ENDPGM), WAVE_ENDED);
  assert_int_equal(rig_run(rig, V_NOP), WAVE_RUNS);
  u64 before = w->cycles, count = w->executed[CLASS_CONTROL];
  w->pc = S_NOP;
  assert_int_equal(wave_run(w, 4), WAVE_RUNS);
  assert_int_equal(w->pc, S_NOP + 4);
  assert_int_equal(w->cycles, before + 4 * CYCLES_AN_INSTRUCTION);
  assert_int_equal(w->executed[CLASS_CONTROL], count + 4);
  rig_run(rig, WAITCNT), rig_run(rig, SETPRIO), rig_run(rig, ICACHE), rig_run(rig, S_NOP);
}

static void vector_registers_are_named_by_an_index(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  fill();
  w->sreg[2] = 1;
  w->sreg[3] = 2;
  rig_run(rig, INDEX_ON), rig_run(rig, INDEXED);
  assert_int_equal(w->v[1].w[5], 1000); /* v1 = v2 */
  for (int l = 0; l < 64; l++) w->v[3].w[l] = 3000 + (u32)l;
  rig_run(rig, INDEX), rig_run(rig, INDEXED);
  assert_int_equal(w->v[2].w[5], 3005); /* v2 = v3 */
  rig_run(rig, INDEX_OFF), rig_run(rig, INDEXED);
  assert_int_equal(w->v[0].w[5], 1000);
}

static void scalar_registers_are_named_by_m0(void **state) {
  (void)state;
  struct wave *w = rig->wave;
  for (u32 i = 0; i < 16; i++) w->sreg[i] = 100 + i;
  w->sreg[SREG_M0] = 6;
  rig_run(rig, MOVRELS);
  assert_int_equal(w->sreg[0], 108);
  rig_run(rig, MOVRELS2);
  assert_int_equal(wave_sreg64(w, 0), 108 | UINT64_C(109) << 32);
  w->sreg[0] = 7, w->sreg[1] = 9;
  rig_run(rig, MOVRELD);
  assert_int_equal(w->sreg[8], 7);
  w->sreg[SREG_M0] = 8;
  rig_run(rig, MOVRELD2);
  assert_int_equal(wave_sreg64(w, 10), 7 | UINT64_C(9) << 32);
  w->sreg[SREG_M0] = 1000;
  assert_non_null(strstr(rig_fault(rig, MOVRELS), "scalar register 1002"));
}

static void a_call_leaves_where_to_return(void **state) {
  (void)state;
  assert_int_equal(next_after(CALL), CALL + 4);
  assert_int_equal(wave_sreg64(rig->wave, 0), rig->program->inst[CALL].address + 4);
}

static void a_trap_stops_the_wave_and_hints_do_nothing(void **state) {
  (void)state;
  assert_non_null(strstr(rig_fault(rig, TRAP), "s_trap 2"));
  for (size_t i = WAKEUP; i <= TRACE; i++) assert_int_equal(rig_run(rig, i), WAVE_RUNS);
}

static void running_past_the_end_is_a_fault(void **state) {
  (void)state;
  rig->wave->pc = LINES;
  assert_int_equal(wave_run(rig->wave, 1), WAVE_FAULT);
  assert_non_null(strstr(rig->wave->fault, "past the last instruction"));
}

static void every_row_was_executed(void **state) {
  (void)state;
  const char *lane = rig_untested(&isa_lane), *wait = rig_untested(&isa_wait);
  if (lane || wait) fail_msg("%s has no test", lane ? lane : wait);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lane_is_read_whatever_exec_says),
      cmocka_unit_test(a_lane_counts_the_bits_below_it),
      cmocka_unit_test(registers_swap_in_active_lanes),
      cmocka_unit_test(rows_and_halves_swap),
      cmocka_unit_test(a_row_swap_with_inactive_lanes_is_refused_by_name),
      cmocka_unit_test(a_branch_is_taken_when_its_condition_holds),
      cmocka_unit_test(a_branch_to_no_instruction_is_a_fault_that_names_it),
      cmocka_unit_test(addresses_of_code_are_device_addresses),
      cmocka_unit_test(mode_bits_are_read_and_written),
      cmocka_unit_test(a_wave_stops_where_it_must),
      cmocka_unit_test(vector_registers_are_named_by_an_index),
      cmocka_unit_test(scalar_registers_are_named_by_m0),
      cmocka_unit_test(a_call_leaves_where_to_return),
      cmocka_unit_test(a_trap_stops_the_wave_and_hints_do_nothing),
      cmocka_unit_test(running_past_the_end_is_a_fault),
      cmocka_unit_test(every_row_was_executed),
  };
  rig = rig_open("gfx950", lines, LINES);
  int failed = cmocka_run_group_tests_name("lanes and control go where the program says", tests, NULL, NULL);
  rig_close(rig);
  return failed;
}
