/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of small kernels: what they compute, how workgroups meet, what fits. */
#include "emu_support.h"

#include <stdlib.h>
#include <string.h>

#include "emu_kernels.h"

static const char add_ir[] = KERNEL_IR("", "ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c", "256",
    AT_IR("%pa", "float", "%a", "%i") AT_IR("%pb", "float", "%b", "%i")
        AT_IR("%pc", "float", "%c", "%i") "  %x = load float, ptr addrspace(1) %pa\n  %y = load float, ptr addrspace(1) %pb\n"
                                          "  %s = fadd float %x, %y\n  store float %s, ptr addrspace(1) %pc\n  ret void\n");

static void vectors_are_added(void **state) {
  (void)state;
  enum { N = 300 * 256 };
  float *a = gpu_memory(&gpu, N * 4), *b = gpu_memory(&gpu, N * 4), *c = gpu_memory(&gpu, N * 4);
  for (int i = 0; i < N; i++) {
    a[i] = (float)i * 0.5f;
    b[i] = 1000.25f - (float)i;
  }
  struct emu_kernel k = kernel_of_ir(&gpu, add_ir);
  float *args[] = {a, b, c};
  assert_int_equal(gpu_launch(&gpu, &k, N / 256, 256, args, sizeof args), 0);
  for (int i = 0; i < N; i++) assert_true(c[i] == a[i] + b[i]);
  kernel_free(&k);
}

/* Work-item i writes LDS; after the barrier it reads what its opposite wrote. Two rounds: the second barrier keeps them apart. */
static const char reverse_ir[] =
    KERNEL_IR("@lds = internal addrspace(3) global [512 x i32] poison, align 16\n", "ptr addrspace(1) %out", "512",
        "  %pw = getelementptr i32, ptr addrspace(3) @lds, i32 %lane\n"
        "  store i32 %i, ptr addrspace(3) %pw\n  fence syncscope(\"workgroup\") release\n  call void @llvm.amdgcn.s.barrier()\n"
        "  fence syncscope(\"workgroup\") acquire\n"
        "  %other = sub i32 511, %lane\n  %pr = getelementptr i32, ptr addrspace(3) @lds, i32 %other\n"
        "  %v = load i32, ptr addrspace(3) %pr\n  fence syncscope(\"workgroup\") release\n  call void @llvm.amdgcn.s.barrier()\n"
        "  fence syncscope(\"workgroup\") acquire\n  %w = mul i32 %v, 3\n  store i32 %w, ptr addrspace(3) %pw\n"
        "  fence syncscope(\"workgroup\") release\n  call void @llvm.amdgcn.s.barrier()\n  fence syncscope(\"workgroup\") acquire\n"
        "  %x = load i32, ptr addrspace(3) %pr\n" AT_IR(
            "%po", "i32", "%out", "%i") "  %both = add i32 %x, %v\n  store i32 %both, ptr addrspace(1) %po\n  ret void\n");

static void waves_meet_at_barriers_and_see_each_others_lds(void **state) {
  (void)state;
  enum { GROUPS = 5, SIZE = 512 };
  uint32_t *out = gpu_memory(&gpu, GROUPS * SIZE * 4);
  struct emu_kernel k = kernel_of_ir(&gpu, reverse_ir);
  assert_int_equal(k.lds_bytes, 2048);
  assert_int_equal(gpu_launch(&gpu, &k, GROUPS, SIZE, &out, sizeof out), 0);
  for (uint32_t i = 0; i < GROUPS * SIZE; i++) {
    uint32_t opposite = i - i % SIZE + SIZE - 1 - i % SIZE;
    assert_int_equal(out[i], opposite + 3 * i);
  }
  kernel_free(&k);
}

/* Workgroup g waits for flag g + 1, adds its number to the value that came with it and raises flag g. */
static const char chain_ir[] = KERNEL_IR("", "ptr addrspace(1) %flag, ptr addrspace(1) %value", "64",
    "  %next = add i32 %group, 1\n" AT_IR("%pf", "i32", "%flag", "%next") AT_IR("%pv", "i32", "%value", "%next") POLL_IR(
        "%pf", "1") "  fence syncscope(\"agent\") acquire\n  %v = load i32, ptr addrspace(1) %pv\n  %w = mul i32 %v, 3\n  %x = add i32 %w, "
                    "%group\n" AT_IR("%qv", "i32", "%value", "%group") AT_IR("%qf", "i32", "%flag",
                        "%group") "  store i32 %x, ptr addrspace(1) %qv\n  fence syncscope(\"agent\") release\n"
                                  "  store atomic i32 1, ptr addrspace(1) %qf syncscope(\"agent\") monotonic, align 4\n  ret void\n");

static uint32_t run_chain(uint32_t groups, uint32_t *value) {
  uint32_t *flag = gpu_memory(&gpu, (groups + 1) * 4);
  struct emu_kernel k = kernel_of_ir(&gpu, chain_ir);
  flag[groups] = 1;
  value[groups] = 7;
  uint32_t *args[] = {flag, value};
  assert_int_equal(gpu_launch(&gpu, &k, groups, 64, args, sizeof args), 0);
  kernel_free(&k);
  return flag[0];
}

static void a_flag_hands_data_from_workgroup_to_workgroup(void **state) {
  (void)state;
  enum { GROUPS = 40 };
  uint32_t *value = gpu_memory(&gpu, (GROUPS + 1) * 4), wanted = 7;
  assert_int_equal(run_chain(GROUPS, value), 1);
  for (uint32_t g = GROUPS; g-- > 0;) {
    wanted = wanted * 3 + g;
    assert_int_equal(value[g], wanted);
  }
}

static const char wrap_ir[] = KERNEL_IR("", "ptr addrspace(1) %counter, ptr addrspace(1) %old", "64",
    "  %first = icmp eq i32 %lane, 0\n  br i1 %first, label %do, label %end\ndo:\n"
    "  %o = atomicrmw uinc_wrap ptr addrspace(1) %counter, i32 6 syncscope(\"agent\") monotonic\n" AT_IR(
        "%p", "i32", "%old", "%group") "  store i32 %o, ptr addrspace(1) %p\n  br label %end\nend:\n  ret void\n");

static void an_atomic_count_wraps_and_every_workgroup_gets_its_number(void **state) {
  (void)state;
  enum { GROUPS = 7 * 30 + 3 };
  uint32_t *counter = gpu_memory(&gpu, 4), *old = gpu_memory(&gpu, GROUPS * 4), seen[7] = {0};
  struct emu_kernel k = kernel_of_ir(&gpu, wrap_ir);
  uint32_t *args[] = {counter, old};
  assert_int_equal(gpu_launch(&gpu, &k, GROUPS, 64, args, sizeof args), 0);
  assert_int_equal(*counter, 3);
  for (int g = 0; g < GROUPS; g++) {
    assert_true(old[g] < 7);
    seen[old[g]]++;
  }
  for (uint32_t v = 0; v < 7; v++) assert_int_equal(seen[v], v < 3 ? 31 : 30);
  kernel_free(&k);
}

static const char own_stores_ir[] = KERNEL_IR("", "ptr addrspace(1) %a, ptr addrspace(1) %out", "64",
    AT_IR("%p", "i32", "%a", "%i") AT_IR("%q", "i32", "%out",
        "%i") "  store volatile i32 %i, ptr addrspace(1) %p\n"
              "  %byte = getelementptr i8, ptr addrspace(1) %p, i32 1\n  store volatile i8 -1, ptr addrspace(1) %byte\n"
              "  %v = load volatile i32, ptr addrspace(1) %p\n  store i32 %v, ptr addrspace(1) %q\n  ret void\n");

static void a_wave_sees_its_own_stores_at_once(void **state) {
  (void)state;
  uint32_t *a = gpu_memory(&gpu, 4 * 64 * 4), *out = gpu_memory(&gpu, 4 * 64 * 4);
  struct emu_kernel k = kernel_of_ir(&gpu, own_stores_ir);
  uint32_t *args[] = {a, out};
  assert_int_equal(gpu_launch(&gpu, &k, 4, 64, args, sizeof args), 0);
  for (uint32_t i = 0; i < 4 * 64; i++) {
    assert_int_equal(out[i], (i & ~0xFF00u) | 0xFF00);
    assert_int_equal(a[i], out[i]);
  }
  kernel_free(&k);
}

static const char count_ir[] = KERNEL_IR("", "ptr addrspace(1) %out", "64",
    AT_IR("%p", "i32", "%out",
        "%i") "  %v = load i32, ptr addrspace(1) %p\n  %w = add i32 %v, 1\n  store i32 %w, ptr addrspace(1) %p\n  ret void\n");

static void more_workgroups_than_fit_all_run_once(void **state) {
  (void)state;
  enum { GROUPS = 10000 };
  uint32_t *out = gpu_memory(&gpu, GROUPS * 64 * 4);
  struct emu_kernel k = kernel_of_ir(&gpu, count_ir);
  assert_int_equal(gpu_launch(&gpu, &k, GROUPS, 64, &out, sizeof out), 0);
  for (uint32_t i = 0; i < GROUPS * 64; i++) assert_int_equal(out[i], 1);
  struct hsa_emu_counters c;
  assert_int_equal(hsa_emu_last_dispatch(&c), HSA_STATUS_SUCCESS);
  assert_int_equal(c.workgroups, GROUPS);
  assert_int_equal(c.waves, GROUPS);
  assert_int_equal(c.load_bytes - GROUPS * 8, (uint64_t)GROUPS * 64 * 4); /* and the kernarg pointer */
  assert_int_equal(c.store_bytes, (uint64_t)GROUPS * 64 * 4);
  kernel_free(&k);
}

static void the_grids_last_workgroup_may_be_partial(void **state) {
  (void)state;
  uint32_t *out = gpu_memory(&gpu, 256 * 4);
  struct emu_kernel k = kernel_of_ir(&gpu, count_ir);
  hsa_signal_store_screlease(gpu.signal, 1);
  uint64_t index = gpu_write_packet(&gpu, &k, 4, 64, &out, sizeof out, gpu.signal);
  hsa_kernel_dispatch_packet_t *p = (hsa_kernel_dispatch_packet_t *)gpu.queue->base_address + index % gpu.queue->size;
  p->grid_size_x = 3 * 64 + 5;
  gpu_publish_packet(&gpu, index);
  gpu_ring(&gpu, index);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  for (uint32_t i = 0; i < 256; i++) assert_int_equal(out[i], i < 3 * 64 + 5);
  kernel_free(&k);
}

static const char far_ir[] = KERNEL_IR("", "ptr addrspace(1) %base, i64 %stride", "64",
    "  %wide = zext i32 %group to i64\n  %off = mul i64 %wide, %stride\n  %block = getelementptr i8, ptr addrspace(1) %base, i64 "
    "%off\n" AT_IR("%p", "i32", "%block", "%lane") "  store i32 %i, ptr addrspace(1) %p\n  ret void\n");

static void memory_beyond_4_gib_costs_nothing_until_it_is_touched(void **state) {
  (void)state;
  const uint64_t stride = ((uint64_t)3 << 30) + 4096;
  enum { GROUPS = 12 };
  uint8_t *base = gpu_memory(&gpu, GROUPS * stride); /* 36 GiB */
  struct emu_kernel k = kernel_of_ir(&gpu, far_ir);
  uint64_t args[] = {(uint64_t)(uintptr_t)base, stride};
  assert_int_equal(gpu_launch(&gpu, &k, GROUPS, 64, args, sizeof args), 0);
  for (uint32_t g = 0; g < GROUPS; g++)
    for (uint32_t l = 0; l < 64; l++) {
      uint32_t v;
      memcpy(&v, base + g * stride + 4 * l, 4);
      assert_int_equal(v, g * 64 + l);
    }
  kernel_free(&k);
}

static const char preload_ir[] = KERNEL_IR("", "ptr addrspace(1) inreg %out, i32 inreg %x", "64",
    AT_IR("%p", "i32", "%out", "%i") "  store i32 %x, ptr addrspace(1) %p\n  ret void\n");

static void preloaded_arguments_are_in_their_registers(void **state) {
  (void)state;
  uint32_t *out = gpu_memory(&gpu, 64 * 4);
  struct emu_kernel k = kernel_of_ir(&gpu, preload_ir);
  uint64_t args[] = {(uint64_t)(uintptr_t)out, 0x12345678};
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, args, sizeof args), 0);
  for (int i = 0; i < 64; i++) assert_int_equal(out[i], 0x12345678);
  kernel_free(&k);
}

/* Waits, asleep between looks at the clock, until `ticks` have passed. */
static const char clock_ir[] = KERNEL_IR("", "i64 %ticks", "64",
    "  %from = call i64 @llvm.amdgcn.s.memrealtime()\n  br label %poll\npoll:\n  call void @llvm.amdgcn.s.sleep(i32 1)\n"
    "  %now = call i64 @llvm.amdgcn.s.memrealtime()\n  %gone = sub i64 %now, %from\n  %is = icmp uge i64 %gone, %ticks\n"
    "  br i1 %is, label %met, label %poll\nmet:\n  ret void\n");

static void two_seconds_of_model_time_pass_quickly_while_all_wait(void **state) {
  (void)state;
  struct emu_kernel k = kernel_of_ir(&gpu, clock_ir);
  uint64_t ticks = 200000000;
  assert_int_equal(gpu_launch(&gpu, &k, 8, 64, &ticks, sizeof ticks), 0);
  struct hsa_emu_counters c;
  assert_int_equal(hsa_emu_last_dispatch(&c), HSA_STATUS_SUCCESS);
  assert_true(c.model_ticks >= ticks && c.model_ticks < 2 * ticks);
  assert_true(c.quanta < 1000);
  kernel_free(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      GPU_TEST(vectors_are_added),
      GPU_TEST(waves_meet_at_barriers_and_see_each_others_lds),
      GPU_TEST(a_flag_hands_data_from_workgroup_to_workgroup),
      GPU_TEST(an_atomic_count_wraps_and_every_workgroup_gets_its_number),
      GPU_TEST(a_wave_sees_its_own_stores_at_once),
      GPU_TEST(more_workgroups_than_fit_all_run_once),
      GPU_TEST(the_grids_last_workgroup_may_be_partial),
      GPU_TEST(memory_beyond_4_gib_costs_nothing_until_it_is_touched),
      GPU_TEST(preloaded_arguments_are_in_their_registers),
      GPU_TEST(two_seconds_of_model_time_pass_quickly_while_all_wait),
  };
  return cmocka_run_group_tests_name("dispatch", tests, NULL, NULL);
}
