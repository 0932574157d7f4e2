/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic: which dwords of a range workgroups load, and how often. */
#include "emu_support.h"

#include <stdlib.h>
#include <string.h>

#include "emu_kernels.h"

/* Each work-item loads its dword of `a` twice, its workgroup's dword of `b`, and stores the sum. */
static const char load_ir[] = KERNEL_IR("", "ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %out", "64",
    AT_IR("%pa", "i32", "%a", "%i") AT_IR("%po", "i32", "%out", "%i") "  %half = lshr i32 %group, 1\n" AT_IR(
        "%pb", "i32", "%b", "%half") "  %x = load volatile i32, ptr addrspace(1) %pa\n  %y = load volatile i32, ptr addrspace(1) %pa\n"
                                     "  %z = load volatile i32, ptr addrspace(1) %pb\n  %s = add i32 %x, %y\n  %t = add i32 %s, %z\n"
                                     "  store i32 %t, ptr addrspace(1) %po\n  ret void\n");

enum { GROUPS = 6, ITEMS = GROUPS * 64 };

static void each_dword_has_its_number_of_workgroups(void **state) {
  (void)state;
  uint32_t *a = gpu_memory(&gpu, (ITEMS + 3) * 4), *b = gpu_memory(&gpu, 64), *out = gpu_memory(&gpu, ITEMS * 4);
  uint32_t *args[] = {a, b, out}, range_a, range_b, fetches[5];
  struct hsa_emu_traffic t;
  struct emu_kernel k = kernel_of_ir(&gpu, load_ir);
  assert_int_equal(hsa_emu_range_add(a, (ITEMS + 3) * 4, &range_a), 0);
  assert_int_equal(hsa_emu_range_add(b, 64, &range_b), 0);
  assert_int_equal(gpu_launch(&gpu, &k, GROUPS, 64, args, sizeof args), 0);
  assert_int_equal(hsa_emu_range_traffic(range_a, &t), 0);
  assert_int_equal(t.bytes, (ITEMS + 3) * 4);
  assert_int_equal(t.unique_bytes, ITEMS * 4);
  assert_int_equal(t.fetched_bytes, ITEMS * 4);
  assert_int_equal(t.lane_bytes, 2 * ITEMS * 4);
  assert_int_equal(t.min_fetches, 0);
  assert_int_equal(t.max_fetches, 1);
  assert_int_equal(hsa_emu_range_fetches(range_b, 0, 5, fetches), 0);
  for (uint32_t i = 0; i < 5; i++) assert_int_equal(fetches[i], i < GROUPS / 2 ? 2 : 0);
  assert_int_equal(hsa_emu_range_fetches(range_b, 14, 3, fetches), HSA_STATUS_ERROR_INVALID_INDEX);
  assert_int_equal(gpu_launch(&gpu, &k, GROUPS, 64, args, sizeof args), 0); /* a second launch adds up */
  assert_int_equal(hsa_emu_range_traffic(range_b, &t), 0);
  assert_int_equal(t.max_fetches, 4);
  assert_int_equal(hsa_emu_traffic_reset(), 0);
  assert_int_equal(hsa_emu_range_traffic(range_b, &t), 0);
  assert_int_equal(t.max_fetches + t.lane_bytes, 0);
  kernel_free(&k);
}

/* A dword may be loaded by more workgroups than a byte counts; and chunks need not be even. */
static void counts_are_exact_beyond_255(void **state) {
  (void)state;
  enum { MANY = 700, WORDS = 5000 };
  uint32_t *a = gpu_memory(&gpu, MANY * 64 * 4), *b = gpu_memory(&gpu, WORDS * 4), *out = gpu_memory(&gpu, MANY * 64 * 4);
  uint32_t *args[] = {a, b, out}, range_a, range_b, fetches[WORDS];
  struct hsa_emu_traffic t;
  struct emu_kernel k = kernel_of_ir(&gpu, load_ir);
  assert_int_equal(hsa_emu_range_add(a, MANY * 64 * 4, &range_a), 0);
  assert_int_equal(hsa_emu_range_add(b, WORDS * 4, &range_b), 0);
  for (int i = 0; i < 300; i++) assert_int_equal(gpu_launch(&gpu, &k, 2, 64, args, sizeof args), 0);
  assert_int_equal(hsa_emu_range_fetches(range_b, 0, 2, fetches), 0);
  assert_int_equal(fetches[0], 600); /* 2 workgroups a launch */
  assert_int_equal(fetches[1], 0);
  assert_int_equal(gpu_launch(&gpu, &k, MANY, 64, args, sizeof args), 0);
  assert_int_equal(hsa_emu_range_fetches(range_b, 0, WORDS, fetches), 0);
  for (uint32_t i = 0; i < WORDS; i++) assert_int_equal(fetches[i], i ? (i < MANY / 2 ? 2 : 0) : 602);
  assert_int_equal(hsa_emu_range_traffic(range_b, &t), 0);
  assert_int_equal(t.unique_bytes, MANY / 2 * 4);
  assert_int_equal(t.fetched_bytes, 4 * (602 + 2 * (MANY / 2 - 1)));
  assert_int_equal(t.min_fetches, 0);
  assert_int_equal(t.max_fetches, 602);
  assert_int_equal(hsa_emu_range_traffic(range_a, &t), 0);
  assert_int_equal(t.unique_bytes, MANY * 64 * 4);
  assert_int_equal(t.max_fetches, 301);
  assert_int_equal(t.min_fetches, 1);
  assert_int_equal(hsa_emu_traffic_reset(), 0);
  assert_int_equal(hsa_emu_range_traffic(range_b, &t), 0);
  assert_int_equal(t.max_fetches + t.unique_bytes, 0);
  kernel_free(&k);
}

static void a_ranges_figures_outlive_its_memory(void **state) {
  (void)state;
  void *a = NULL;
  uint32_t *b = gpu_memory(&gpu, 64), *out = gpu_memory(&gpu, ITEMS * 4), range;
  struct hsa_emu_traffic t;
  assert_int_equal(hsa_amd_memory_pool_allocate(gpu.device, ITEMS * 4, 0, &a), 0);
  memset(a, 0, ITEMS * 4);
  struct emu_kernel k = kernel_of_ir(&gpu, load_ir);
  assert_int_equal(hsa_emu_range_add(a, ITEMS * 4, &range), 0);
  void *args[] = {a, b, out};
  assert_int_equal(gpu_launch(&gpu, &k, GROUPS, 64, args, sizeof args), 0);
  assert_int_equal(hsa_amd_memory_pool_free(a), 0);
  assert_int_equal(hsa_emu_range_traffic(range, &t), 0);
  assert_int_equal(t.unique_bytes, ITEMS * 4);
  assert_int_equal(hsa_emu_ranges_clear(), 0);
  assert_int_equal(hsa_emu_range_traffic(range, &t), HSA_STATUS_ERROR_INVALID_INDEX);
  kernel_free(&k);
}

static void ranges_that_overlap_or_lie_outside_are_refused(void **state) {
  (void)state;
  uint8_t *a = gpu_memory(&gpu, 4096);
  uint32_t range;
  assert_int_equal(hsa_emu_range_add(a + 1024, 1024, &range), 0);
  assert_int_equal(hsa_emu_range_add(a + 2047, 10, &range), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_emu_range_add(a + 1020, 8, &range), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_emu_range_add(a + 2050, 8, &range), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_emu_range_add(a + 2048, 2049, &range), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_emu_range_add(&range, 4, &range), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_emu_range_add(a + 2048, 2048, &range), 0);
  assert_int_equal(hsa_emu_range_add(a, 1024, &range), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      GPU_TEST(each_dword_has_its_number_of_workgroups),
      GPU_TEST(counts_are_exact_beyond_255),
      GPU_TEST(a_ranges_figures_outlive_its_memory),
      GPU_TEST(ranges_that_overlap_or_lie_outside_are_refused),
  };
  return cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
}
