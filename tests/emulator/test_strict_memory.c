/* SPDX-License-Identifier: Apache-2.0 */
/* What workgroups and waves tell one another through memory and LDS: each way to rely on luck is found, each right way is clean. */
#include "strict_rig.h"

#include <string.h>

#define CASE(test, ...)                                                                                                                    \
  static void test(void **state) {                                                                                                         \
    (void)state;                                                                                                                           \
    static const struct strict_case c = {__VA_ARGS__};                                                                                     \
    strict_check(&c);                                                                                                                      \
  }

/* Workgroup 0 goes on, the others jump to 5. */
#define PRODUCER "s_cmp_lg_u32 s2, 0\ns_cbranch_scc1 5f\n"
#define RAISE    "global_store_dword v20, v21, s[6:7] sc1\n"
/* The others: they come here, and end. Workgroup s2 polls at 5. */
#define CONSUMER "s_endpgm\n5:\n"
#define RESULT   "s_lshl_b32 s11, s2, 8\nv_add_u32 v4, s11, v1\nglobal_store_dword v4, v3, s[8:9]\ns_endpgm\n"
#define TAKE     "global_load_dword v3, v1, s[4:5]\ns_waitcnt vmcnt(0)\n" RESULT

CASE(a_flag_overtakes_its_data,
    STRICT_START PRODUCER "global_store_dword v1, v21, s[4:5] sc1\nRIGHT s_waitcnt vmcnt(0)\n" RAISE CONSUMER STRICT_POLL("sc1") TAKE, 8,
    64, .kind = HSA_EMU_UNORDERED,
    .text = {"unordered load: k: workgroup", "\"global_load_dword v3, v1, s[4:5]\" at k+0x", "workgroup 0 wave 0 lane",
        "\"global_store_dword v1, v21, s[4:5] sc1\" at k+0x"})

CASE(data_that_stays_in_the_writers_l2,
    STRICT_START PRODUCER
    "FAULT global_store_dword v1, v21, s[4:5]\nRIGHT global_store_dword v1, v21, s[4:5] sc1\ns_waitcnt vmcnt(0)\n" RAISE CONSUMER
        STRICT_POLL("sc1") TAKE,
    8, 64, .kind = HSA_EMU_STALE_LOAD,
    .text = {"gets an old byte", "XCD", "workgroup 0 wave 0", "\"global_store_dword v1, v21, s[4:5]\" at"})

CASE(a_flag_that_stays_in_the_writers_l2,
    STRICT_START PRODUCER "FAULT global_store_dword v20, v21, s[6:7]\nRIGHT global_store_dword v20, v21, s[6:7] sc1\n" CONSUMER STRICT_POLL(
        "sc1") "v_mov_b32 v3, 0\n" RESULT,
    8, 64, .kind = HSA_EMU_STALE_LOAD, .hangs = true,
    .text = {"gets an old byte", "and waits", "\"global_load_dword v22, v20, s[6:7] sc1\"", "\"global_store_dword v20, v21, s[6:7]\""})

CASE(a_flag_looked_at_through_the_caches,
    STRICT_START PRODUCER
    "global_store_dword v1, v21, s[4:5] sc1\ns_waitcnt vmcnt(0)\n" RAISE CONSUMER
    "FAULT 1:\nFAULT global_load_dword v22, v20, s[6:7]\nRIGHT 1:\nRIGHT global_load_dword v22, v20, s[6:7] sc1\n"
    "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s10, v22\ns_cmp_eq_u32 s10, 1\ns_cbranch_scc1 2f\ns_sleep 1\ns_branch 1b\n2:\n" TAKE,
    8, 64, .kind = HSA_EMU_STALE_LOAD, .hangs = true, .text = {"gets an old byte", "\"global_load_dword v22, v20, s[6:7]\""})

CASE(a_line_loaded_before_its_other_half_is_announced,
    STRICT_START PRODUCER
    "global_store_dword v1, v21, s[4:5] offset:64 sc1\ns_waitcnt vmcnt(0)\n" RAISE CONSUMER
    "FAULT global_load_dword v5, v20, s[4:5]\nRIGHT global_load_dword v5, v20, s[4:5] offset:1024\ns_waitcnt vmcnt(0)\n" STRICT_POLL(
        "sc1") "global_load_dword v3, v1, s[4:5] offset:64\ns_waitcnt vmcnt(0)\n" RESULT,
    8, 64, .kind = HSA_EMU_STALE_LOAD,
    .text = {"gets an old byte", "from the L", "\"global_load_dword v3, v1, s[4:5] offset:64\"", "workgroup 0 wave 0"})

CASE(bytes_loaded_before_they_are_announced,
    STRICT_START PRODUCER "s_sleep 10\ns_sleep 10\nglobal_store_dword v1, v21, s[4:5] sc1\ns_waitcnt vmcnt(0)\n" RAISE CONSUMER
                          "FAULT global_load_dword v3, v1, s[4:5]\n" STRICT_POLL("sc1") "RIGHT global_load_dword v3, v1, s[4:5]\n"
                                                                                        "s_waitcnt vmcnt(0)\n" RESULT,
    8, 64, .kind = HSA_EMU_EARLY_LOAD,
    .text = {"workgroup 0 wave 0 lane", "stores to 0x", "loaded plainly before it", "\"global_load_dword v3, v1, s[4:5]\""})

CASE(a_write_back_and_an_invalidate_hand_over_too,
    STRICT_START PRODUCER "global_store_dword v1, v21, s[4:5]\nRIGHT buffer_wbl2 sc1\ns_waitcnt vmcnt(0)\n" RAISE CONSUMER STRICT_POLL(
        "sc1") "buffer_inv sc1\n" TAKE,
    8, 64, .kind = HSA_EMU_STALE_LOAD, .text = {"gets an old byte"})

CASE(an_invalidate_is_left_out,
    STRICT_START PRODUCER "global_store_dword v1, v21, s[4:5] offset:64 sc1\ns_waitcnt vmcnt(0)\n" RAISE CONSUMER
                          "global_load_dword v5, v20, s[4:5]\ns_waitcnt vmcnt(0)\n" STRICT_POLL(
                              "sc1") "RIGHT buffer_inv sc1\nglobal_load_dword v3, v1, s[4:5] offset:64\ns_waitcnt vmcnt(0)\n" RESULT,
    8, 64, .kind = HSA_EMU_STALE_LOAD, .text = {"gets an old byte"})

CASE(an_l1_is_stale_even_where_l2s_are_probed,
    STRICT_START PRODUCER
    "global_store_dword v1, v21, s[4:5] offset:64\ns_waitcnt vmcnt(0)\n" RAISE CONSUMER
    "FAULT global_load_dword v5, v20, s[4:5]\nRIGHT global_load_dword v5, v20, s[4:5] offset:1024\ns_waitcnt vmcnt(0)\n" STRICT_POLL(
        "sc1") "global_load_dword v3, v1, s[4:5] offset:64\ns_waitcnt vmcnt(0)\n" RESULT,
    8, 64, .l2 = HSA_EMU_L2_PROBED, .kind = HSA_EMU_STALE_LOAD, .text = {"from the L1 of CU"})

CASE(a_count_by_atomics_releases_data_that_is_waited_for,
    STRICT_START PRODUCER
    "global_store_dword v1, v21, s[4:5] sc1\nRIGHT s_waitcnt vmcnt(0)\ns_mov_b64 exec, 1\nglobal_atomic_add v20, v21, s[6:7]\n" CONSUMER
        STRICT_POLL("sc1") TAKE,
    8, 64, .kind = HSA_EMU_UNORDERED, .text = {"unordered load"})

CASE(an_atomic_of_system_scope_on_the_devices_own_memory,
    STRICT_START "s_mov_b64 exec, 1\nFAULT global_atomic_add v20, v21, s[6:7] sc1\nRIGHT global_atomic_add v20, v21, s[6:7]\ns_endpgm\n", 2,
    64, .kind = HSA_EMU_ATOMIC_SCOPE, .text = {"global_atomic_add v20, v21, s[6:7] sc1", "lane 0", "system scope"})

/* Memory that was allocated in strict mode, half of it written: a sum of both halves is stored. */
static void memory_that_was_never_written_is_stored(void **state) {
  (void)state;
  static const struct strict_case c = {STRICT_START "global_load_dword v3, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32 v3, 1, v3\n"
                                                    "global_store_dword v1, v3, s[8:9]\ns_endpgm\n",
      1, 64, .hangs = false};
  struct emu_kernel k = strict_kernel(&c, true);
  uint32_t *args[3];
  assert_int_equal(hsa_emu_set_strict(&(struct hsa_emu_strict){.on = 1}), HSA_STATUS_SUCCESS);
  for (int i = 0; i < 3; i++) args[i] = gpu_memory_unwritten(&gpu, STRICT_MEMORY);
  hsa_emu_findings_clear();
  memset(args[0], 0, 32 * 4);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, args, sizeof args), 0);
  const char *text = strict_finding(HSA_EMU_UNINITIALISED, NULL);
  assert_non_null(text);
  assert_non_null(strstr(text, "lane 32"));
  assert_non_null(strstr(text, "global_load_dword v3, v1, s[4:5]"));
  hsa_emu_findings_clear();
  memset(args[0], 0, 64 * 4);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, args, sizeof args), 0);
  assert_int_equal(hsa_emu_findings(), 0);
  kernel_free(&k);
}

/* --- LDS ----------------------------------------------------------------------------------------------------------------------- */

/* Work-item i writes dword i and reads dword 127 - i: the other wave's. */
#define CROSS "v_xor_b32 v5, 508, v1\n"

CASE(lds_is_read_before_the_other_waves_barrier,
    STRICT_START CROSS "ds_write_b32 v1, v21\ns_waitcnt lgkmcnt(0)\nRIGHT s_barrier\nds_read_b32 v3, v5\ns_waitcnt lgkmcnt(0)\n" RESULT, 1,
    128, 512, .kind = HSA_EMU_LDS_RACE, .text = {"LDS bytes at", "no barrier behind", "wave 0", "wave 1", "ds_write_b32 v1, v21"})

CASE(lds_is_used_again_without_a_barrier,
    STRICT_START CROSS "ds_write_b32 v1, v21\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v5\ns_waitcnt lgkmcnt(0)\nRIGHT s_barrier\n"
                       "ds_write_b32 v1, v20\ns_waitcnt lgkmcnt(0)\n" RESULT,
    1, 128, 512, .kind = HSA_EMU_LDS_RACE, .text = {"LDS bytes at", "wave 0", "wave 1"})

CASE(a_barrier_does_not_wait_for_lds,
    STRICT_START CROSS "ds_write_b32 v1, v21\nRIGHT s_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v5\ns_waitcnt lgkmcnt(0)\n" RESULT, 1,
    128, 512, .kind = HSA_EMU_LDS_RACE, .text = {"LDS bytes at", "ds_write_b32 v1, v21"})

/* --- runs ---------------------------------------------------------------------------------------------------------------------- */

static const struct strict_case overtaken = {
    STRICT_START PRODUCER "global_store_dword v1, v21, s[4:5] sc1\n" RAISE CONSUMER STRICT_POLL("sc1") TAKE, 16, 64, .hangs = false};

static void equal_seeds_give_equal_findings_with_any_number_of_host_threads(void **state) {
  (void)state;
  struct emu_kernel k = strict_kernel(&overtaken, true);
  for (uint64_t seed = 0; seed < 6; seed++) {
    char first[2048] = "", again[2048] = "";
    size_t count[2];
    struct hsa_emu_counters c[2];
    for (uint32_t i = 0; i < 2; i++) {
      assert_int_equal(hsa_emu_set_threads(1 + i), HSA_STATUS_SUCCESS);
      assert_int_equal(strict_launch(&overtaken, &k, seed), 0);
      hsa_emu_finding(0, NULL, i ? again : first, sizeof first);
      count[i] = hsa_emu_findings();
      hsa_emu_last_dispatch(&c[i]);
    }
    assert_string_equal(first, again);
    assert_int_equal(count[0], count[1]);
    assert_int_equal(c[0].instructions, c[1].instructions);
    assert_int_equal(c[0].model_ticks, c[1].model_ticks);
  }
  hsa_emu_set_threads(0);
  kernel_free(&k);
}

static void seeds_give_different_schedules(void **state) {
  (void)state;
  uint64_t instructions[4];
  int different = 0;
  struct emu_kernel k = strict_kernel(&overtaken, true);
  for (uint64_t seed = 0; seed < 4; seed++) {
    struct hsa_emu_counters c;
    assert_int_equal(strict_launch(&overtaken, &k, seed), 0);
    hsa_emu_last_dispatch(&c);
    instructions[seed] = c.instructions;
    different += seed && instructions[seed] != instructions[0];
  }
  assert_true(different > 0);
  kernel_free(&k);
}

static void a_deadlock_says_where_every_wave_stands(void **state) {
  (void)state;
  static const struct strict_case c = {
      STRICT_START PRODUCER "s_waitcnt vmcnt(0)\n" CONSUMER STRICT_POLL("sc1") TAKE, 5, 128, .hangs = true};
  struct emu_kernel k = strict_kernel(&c, true);
  assert_int_not_equal(strict_launch(&c, &k, 3), 0);
  assert_non_null(strstr(gpu_report(), "deadlock: k: every wave waits"));
  assert_non_null(strstr(gpu_report(), "s_sleep 1"));
  assert_non_null(strstr(gpu_report(), "workgroups 1-4 waves 0-1"));
  kernel_free(&k);
  gpu_close(&gpu);
  strict_open(NULL);
}

static void options_are_checked(void **state) {
  (void)state;
  struct hsa_emu_strict bad = {.on = 2}, good = {.on = 1, .l2 = HSA_EMU_L2_PROBED, .seed = 77}, seen;
  assert_int_equal(hsa_emu_set_strict(&bad), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_emu_set_strict(&good), HSA_STATUS_SUCCESS);
  assert_int_equal(hsa_emu_strict(&seen), HSA_STATUS_SUCCESS);
  assert_true(seen.on == 1 && seen.l2 == HSA_EMU_L2_PROBED && seen.seed == 77);
  assert_int_equal(hsa_emu_strict(NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flag_overtakes_its_data),
      cmocka_unit_test(data_that_stays_in_the_writers_l2),
      cmocka_unit_test(a_flag_that_stays_in_the_writers_l2),
      cmocka_unit_test(a_flag_looked_at_through_the_caches),
      cmocka_unit_test(a_line_loaded_before_its_other_half_is_announced),
      cmocka_unit_test(bytes_loaded_before_they_are_announced),
      cmocka_unit_test(a_write_back_and_an_invalidate_hand_over_too),
      cmocka_unit_test(an_invalidate_is_left_out),
      cmocka_unit_test(an_l1_is_stale_even_where_l2s_are_probed),
      cmocka_unit_test(a_count_by_atomics_releases_data_that_is_waited_for),
      cmocka_unit_test(an_atomic_of_system_scope_on_the_devices_own_memory),
      cmocka_unit_test(memory_that_was_never_written_is_stored),
      cmocka_unit_test(lds_is_read_before_the_other_waves_barrier),
      cmocka_unit_test(lds_is_used_again_without_a_barrier),
      cmocka_unit_test(a_barrier_does_not_wait_for_lds),
      cmocka_unit_test(equal_seeds_give_equal_findings_with_any_number_of_host_threads),
      cmocka_unit_test(seeds_give_different_schedules),
      cmocka_unit_test(a_deadlock_says_where_every_wave_stands),
      cmocka_unit_test(options_are_checked),
  };
  return cmocka_run_group_tests(tests, strict_open, strict_close);
}
