/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on the disassembly: accesses, their order, loops, hand-offs, operands. Each is seen to fail on a planted fault. */
#include "planted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char small[] = "tokens=8", large[] = "tokens=17,tp=2,tuned=1";

/* The small kernel with a line in front of an event's first access. */
static struct planted with_line(enum issue_event event, const char *line) {
  struct planted p = planted_kernel(small);
  planted_insert(&p, planted_access(&p, event, 0, 0), line);
  return p;
}

static void test_lost_access(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  free(planted_cut_line(&p, planted_access(&p, EV_X_TILE, 0, 1)));
  planted_assert(&p, "every access has its row", "x tile 0): 4 accesses, the plan has 5");
  p = planted_kernel(small);
  char *line = planted_cut_line(&p, planted_access(&p, EV_WQB_WEIGHTS, 0, 0));
  size_t at = planted_access(&p, EV_WQB_WEIGHTS, 0, 0);
  planted_insert(&p, at, line);
  planted_insert(&p, at, line); /* fetched twice: right, but for the traffic */
  planted_assert(&p, "every access has its row", "wq_b weights 0): 13 accesses, the plan has 12");
  free(line);
}

static void test_unknown_access(void **state) {
  (void)state;
  struct planted p = with_line(EV_EPOCH_STORE, "\t.loc\t1 0 0\n\tglobal_load_dword v9, v9, s[0:1]\n");
  planted_assert(&p, "every access has its row", "without a row");
  p = with_line(EV_EPOCH_STORE, "\tbuffer_inv sc1\n");
  planted_assert(&p, "every access has its row", "epoch store 0): ");
}

static void test_kind(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  size_t at = planted_access(&p, EV_POS, 0, 0);
  free(planted_cut_line(&p, at));
  planted_insert(&p, at, "\tglobal_load_dword v5, v6, s[8:9]\n");
  planted_assert(&p, "load, store, atomic; address", "wants a buffer access");
  p = planted_kernel(small);
  at = planted_access(&p, EV_POS, 0, 0);
  free(planted_cut_line(&p, at));
  planted_insert(&p, at, "\tbuffer_store_dword v5, v6, s[8:11], 0 offen\n");
  planted_assert(&p, "load, store, atomic; address", "is to be a load");
}

static void test_cache_bits(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  planted_edit_from(&p, planted_access(&p, EV_EPOCH, 0, 0), " sc1", "");
  planted_assert(&p, "cache bits", "epoch is to be at device scope (sc1)");
  p = planted_kernel(small);
  planted_edit_from(&p, planted_access(&p, EV_QKVP_PUT, 0, 0), " sc1", "");
  planted_assert(&p, "cache bits", "qkvp put is to be at device scope");
  p = planted_kernel(small);
  planted_edit_from(&p, planted_access(&p, EV_WQKV_WEIGHTS, 0, 0), "\n", " nt\n");
  planted_assert(&p, "cache bits", "a cache bit that no access of ours has");
  p = planted_kernel(small);
  planted_edit_from(&p, planted_access(&p, EV_DONE, 0, 0), "\n", " sc1\n");
  planted_assert(&p, "cache bits", "done is to be at device scope (no sc1)");
}

/* Moves an event's access, with its line number, to before another's. */
static void move(struct planted *p, enum issue_event event, enum issue_event before) {
  char *line = planted_cut_line(p, planted_access(p, event, 0, 0)), moved[400];
  static struct issue_row row[ISSUE_ROWS_MAX];
  uint32_t rows = issue_rows(&p->plan, row), number[2] = {0};
  for (uint32_t i = 0; i < rows; i++) {
    if (row[i].event == event && row[i].instance == 0) number[0] = i + 1;
    if (row[i].event == before && row[i].instance == 0) number[1] = i + 1;
  }
  snprintf(moved, sizeof moved, "\t.loc\t1 %u 0\n%s\t.loc\t1 %u 0\n", number[0], line, number[1]);
  planted_insert(p, planted_access(p, before, 0, 0), moved);
  free(line);
}

static void test_order(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  move(&p, EV_WQB_WEIGHTS, EV_WQKV_WEIGHTS); /* a prefetch too early delays every later wait */
  planted_assert(&p, "issue order", "wqkv weights 0 can run after wq_b weights 0");
  p = planted_kernel(small);
  move(&p, EV_POS, EV_QKVP_PUT); /* across blocks */
  planted_assert(&p, "issue order", "pos 0 can run after wq_b weights 0");
  p = planted_kernel(large);
  move(&p, EV_X8_ROWS, EV_XRDY_POLL); /* rows read before their flags are seen */
  planted_assert(&p, "issue order", "xrdy poll 0 can run after x8 rows 0");
  p = planted_kernel(large);
  move(&p, EV_WQKV_WEIGHTS, EV_XQ_X); /* where both are of every workgroup */
  planted_assert(&p, "issue order", "xq's x 0 can run after wqkv weights 0");
}

static void test_order_around_a_loop(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  planted_insert(&p, planted_access(&p, EV_POS, 0, 0), ".Lagain:\n");
  planted_insert(&p, planted_next_line(&p, planted_access(&p, EV_QKVP_PUT, 0, 0)), "\ts_cbranch_scc0 .Lagain\n");
  planted_assert(&p, "issue order", "pos 0 can run after");
}

static void test_skipped_access(void **state) {
  (void)state;
  struct planted p = with_line(EV_WQB_WEIGHTS, "\ts_cbranch_scc1 .Lskip\n");
  planted_insert(&p, planted_next_line(&p, planted_access(&p, EV_WQB_WEIGHTS, 0, 0)), ".Lskip:\n");
  planted_assert(&p, "accesses of every wave", "wq_b weights is to be on every path");
}

static void test_polls(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  planted_edit_from(&p, planted_access(&p, EV_QRDY_POLL, 0, 0), "\ts_sleep 1\n", "\ts_nop 1\n");
  planted_assert(&p, "polls sleep and retry", "without s_sleep");
  p = planted_kernel(small);
  char *load = planted_cut_line(&p, planted_access(&p, EV_QKVP_POLL, 0, 0)), hoisted[400];
  static struct issue_row row[ISSUE_ROWS_MAX];
  uint32_t rows = issue_rows(&p.plan, row), line = 0;
  for (uint32_t i = 0; i < rows; i++)
    if (row[i].event == EV_QKVP_POLL && row[i].instance == 0) line = i + 1;
  snprintf(hoisted, sizeof hoisted, "\t.loc\t1 %u 0\n%s", line, load);
  size_t first = planted_access(&p, EV_QKVP_POLL, 0, 0); /* the load behind it */
  size_t loop = planted_line_before(&p, first, ".LBB0_");
  planted_insert(&p, planted_line_before(&p, loop, ".LBB0_"), hoisted); /* and before the block that goes round */
  planted_assert(&p, "polls sleep and retry", "it would be made once");
  free(load);
}

static void test_weight_loads_in_a_loop(void **state) {
  (void)state;
  struct planted p = with_line(
      EV_WQB_WEIGHTS, ".Lfall:\n\tv_readfirstlane_b32 s4, v0\n\tv_cmp_eq_u32_e32 vcc, s4, v0\n\ts_and_saveexec_b64 s[6:7], vcc\n");
  planted_insert(
      &p, planted_next_line(&p, planted_access(&p, EV_WQB_WEIGHTS, 0, 0)), "\ts_xor_b64 exec, exec, s[6:7]\n\ts_cbranch_execnz .Lfall\n");
  size_t bytes;
  void *object = planted_object(&p, &bytes);
  planted_assert_object(object, bytes, "no loop but the polls", "a waterfall loop");
  planted_assert_object(object, bytes, "polls sleep and retry", "stands in a loop, and is no poll");
  free(object);
  planted_free(&p);
}

static void test_another_loop(void **state) {
  (void)state;
  struct planted p = with_line(EV_EPOCH_STORE, ".Lspin:\n\ts_sub_u32 s4, s4, 1\n\ts_cbranch_scc0 .Lspin\n");
  planted_assert(&p, "no loop but the polls", " loops, the plan has ");
}

/* The last wait for vector memory before a flag's put, and the barrier behind it. */
static size_t wait_before(const struct planted *p, enum issue_event put) {
  return planted_line_before(p, planted_access(p, put, 0, 0), "\ts_waitcnt vmcnt(0)");
}

static void test_missing_wait(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  planted_edit_from(&p, wait_before(&p, EV_QRDY_PUT), "vmcnt(0)", "vmcnt(1)");
  planted_assert(&p, "data waited for before a flag", "qrdy put");
  p = planted_kernel(large);
  planted_edit_from(&p, wait_before(&p, EV_XRDY_PUT), "vmcnt(0)", "vmcnt(1)");
  planted_assert(&p, "data waited for before a flag", "may be in flight");
}

static void test_wait_on_one_path_only(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  size_t at = wait_before(&p, EV_QRDY_PUT);
  planted_insert(&p, planted_next_line(&p, at), ".Lnowait:\n");
  planted_insert(&p, at, "\ts_cbranch_vccnz .Lnowait\n");
  planted_assert(&p, "data waited for before a flag", "missing on a path");
}

static void test_missing_barrier(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  free(planted_cut_line(&p, planted_line_with(&p, wait_before(&p, EV_QRDY_PUT), "\ts_barrier")));
  planted_assert(&p, "data waited for before a flag", "no s_barrier since the wait");
  p = planted_kernel(small); /* the barrier first, the wait after it */
  size_t wait = wait_before(&p, EV_QRDY_PUT);
  char *line = planted_cut_line(&p, wait);
  planted_insert(&p, planted_next_line(&p, planted_line_with(&p, wait, "\ts_barrier")), line);
  planted_assert(&p, "data waited for before a flag", "no s_barrier since the wait");
  free(line);
}

/* The partial sums' stores to LDS, and the barrier behind them. */
static void test_lds_in_flight(void **state) {
  (void)state;
  static const char *const keys[] = {small, large};
  for (size_t i = 0; i < 2; i++) {
    struct planted p = planted_kernel(keys[i]);
    size_t barrier = planted_line_before(&p, planted_access(&p, EV_QKVP_PUT, 0, 0), "\ts_barrier");
    planted_edit_from(&p, planted_line_before(&p, barrier, "\ts_waitcnt lgkmcnt(0)"), "lgkmcnt(0)", "lgkmcnt(1)");
    planted_assert(&p, "LDS waited for before a barrier", "lgkmcnt(0) is missing on a path");
  }
}

static void test_load_to_lds(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  size_t at = planted_access(&p, EV_X_TILE, 0, 0);
  free(planted_cut_line(&p, at));
  planted_insert(&p, at, "\tbuffer_load_dwordx4 v2, s[8:11], 0 offen lds\n");
  planted_assert(&p, "no LDS-DMA at a barrier", "in flight at a barrier");
}

static void test_mfma_operands(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  size_t at = planted_line_with(&p, 0, "\tv_mfma_scale_f32");
  free(planted_cut_line(&p, at));
  planted_insert(&p, at, "\t.long 0xD3AC0000, 0x00024804, 0xD3AD0824, 0x02025548\n"); /* s4: llvm-mc takes no such text */
  planted_assert(&p, "whole code read", "Invalid register");
  p = planted_kernel(small);
  at = planted_line_with(&p, 0, "\tv_mfma_scale_f32");
  free(planted_cut_line(&p, at));
  planted_insert(&p, at, "\tv_mfma_f32_16x16x128_f8f6f4 v[36:39], v[72:79], v[42:49], 0\n");
  size_t bytes;
  void *object = planted_object(&p, &bytes);
  planted_assert_object(object, bytes, "scale operands are VGPRs", "without scales");
  planted_assert_object(object, bytes, "one MFMA opcode", "another MFMA opcode");
  free(object);
  planted_free(&p);
  p = planted_kernel(small);
  free(planted_cut_line(&p, planted_line_with(&p, 0, "\tv_mfma_scale_f32")));
  planted_assert(&p, "one MFMA opcode", "6 MFMAs, the plan has 7");
}

static void test_resources(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  unsigned first;
  char line[120];
  size_t at = planted_access(&p, EV_EPOCH, 0, 0);
  assert_int_equal(sscanf(strchr(p.text + at, '['), "[%u:", &first), 1);
  snprintf(line, sizeof line, "\tv_readfirstlane_b32 s90, v0\n\ts_and_b32 s%u, s90, 0xffff\n", first + 2);
  planted_insert(&p, at, line);
  planted_assert(&p, "resources not from lanes", "comes from v_readfirstlane");
  snprintf(line, sizeof line, "\tv_readlane_b32 s%u, v0, 0\n", first);
  p = with_line(EV_EPOCH, line);
  planted_assert(&p, "resources not from lanes", "comes from v_readfirstlane");
}

static void test_forbidden(void **state) {
  (void)state;
  static const struct {
    const char *line, *gate, *words;
  } faults[] = {
      {"\ts_getpc_b64 s[30:31]\n\ts_swappc_b64 s[30:31], s[30:31]\n", "no calls", "a call"},
      {"\tv_accvgpr_write_b32 a0, v0\n", "no v_accvgpr", "an AGPR"},
      {"\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n", "modes stay as set", "changes how"},
      {"\t.long 0xffffffff\n", "whole code read", "+0x"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct planted p = with_line(EV_EPOCH_STORE, faults[i].line);
    planted_assert(&p, faults[i].gate, faults[i].words);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      {"a load that is missing, or made twice, is found", test_lost_access, NULL, NULL, NULL},
      {"an access that nobody planned is found", test_unknown_access, NULL, NULL, NULL},
      {"an access of another kind or address is found", test_kind, NULL, NULL, NULL},
      {"a wrong scope, which would read stale data, is found", test_cache_bits, NULL, NULL, NULL},
      {"loads out of order are found, across blocks too", test_order, NULL, NULL, NULL},
      {"an order broken by going back is found", test_order_around_a_loop, NULL, NULL, NULL},
      {"an access that some waves skip is found", test_skipped_access, NULL, NULL, NULL},
      {"a poll that spins without sleep, or reads its flag once, is found", test_polls, NULL, NULL, NULL},
      {"a waterfall around a weight load is found", test_weight_loads_in_a_loop, NULL, NULL, NULL},
      {"a loop that nobody planned is found", test_another_loop, NULL, NULL, NULL},
      {"a flag that overtakes its data is found", test_missing_wait, NULL, NULL, NULL},
      {"a wait that only some paths have is found", test_wait_on_one_path_only, NULL, NULL, NULL},
      {"a flag before other waves' data is found", test_missing_barrier, NULL, NULL, NULL},
      {"LDS stores that a barrier overtakes are found", test_lds_in_flight, NULL, NULL, NULL},
      {"a load to LDS behind a barrier's back is found", test_load_to_lds, NULL, NULL, NULL},
      {"MFMA operands that the hardware reads wrongly are found", test_mfma_operands, NULL, NULL, NULL},
      {"a resource picked from one lane is found", test_resources, NULL, NULL, NULL},
      {"calls, AGPRs, changed modes and unreadable code are found", test_forbidden, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
