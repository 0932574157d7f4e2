/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that must fail: how the program hears of it, and what the report says. */
#include "emu_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_kernels.h"

static void assert_report_has(const char *text) {
  if (!strstr(gpu_report(), text)) fail_msg("the report lacks \"%s\":\n%s", text, gpu_report());
}

static void assert_report_has_address(uint64_t address) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
  assert_report_has(text);
}

static const char store_ir[] =
    KERNEL_IR("", "ptr addrspace(1) %out", "64", AT_IR("%p", "i32", "%out", "%i") "  store i32 %i, ptr addrspace(1) %p\n  ret void\n");

static void a_store_past_the_end_names_instruction_and_address(void **state) {
  (void)state;
  uint8_t *out = gpu_memory(&gpu, 5 * 64 * 4 - 4);
  struct emu_kernel k = kernel_of_ir(&gpu, store_ir);
  assert_int_equal(gpu_launch(&gpu, &k, 5, 64, &out, sizeof out), HSA_STATUS_ERROR_MEMORY_FAULT);
  uint64_t bad = (uint64_t)(uintptr_t)out + 5 * 64 * 4 - 4;
  assert_int_equal(gpu.fault_address, bad);
  assert_report_has("global_store_dword ");
  assert_report_has("workgroup 4 wave 0");
  assert_report_has("past the end");
  assert_report_has_address(bad);
  assert_report_has("fault: k: ");
  for (uint32_t i = 0; i < 4 * 64; i++) { /* what the others stored is there */
    uint32_t v;
    memcpy(&v, out + 4 * i, 4);
    assert_int_equal(v, i);
  }
  kernel_free(&k);
}

static void a_load_from_freed_memory_is_a_fault(void **state) {
  (void)state;
  void *p = NULL;
  assert_int_equal(hsa_amd_memory_pool_allocate(gpu.device, 4096, 0, &p), 0);
  struct emu_kernel k = kernel_of_assembly(
      &gpu, assembly_of("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_load_dword s6, s[4:5], 0x10\ns_endpgm\n"));
  assert_int_equal(hsa_amd_memory_pool_free(p), 0); /* its addresses are not given out again before the launch */
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &p, sizeof p), HSA_STATUS_ERROR_MEMORY_FAULT);
  assert_report_has("s_load_dword s6, s[4:5], 0x10");
  assert_report_has_address((uint64_t)(uintptr_t)p + 16);
  kernel_free(&k);
}

static void a_store_into_code_is_a_fault(void **state) {
  (void)state;
  struct emu_kernel k = kernel_of_ir(&gpu, store_ir);
  uint64_t object = k.object;
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &object, sizeof object), HSA_STATUS_ERROR_MEMORY_FAULT);
  assert_report_has("read-only");
  assert_report_has_address(object);
  kernel_free(&k);
}

static void an_unknown_instruction_is_named_with_its_address(void **state) {
  (void)state;
  struct emu_kernel k = kernel_of_assembly(&gpu, assembly_of("s_nop 0\ns_setvskip s0, s1\ns_endpgm\n"));
  assert_int_equal(gpu_launch(&gpu, &k, 2, 64, "", 0), HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
  assert_report_has("s_setvskip s0, s1");
  assert_report_has("k+0x4");
  assert_report_has("workgroup 0 wave 0");
  kernel_free(&k);
}

static const char poll_ir[] = KERNEL_IR("", "ptr addrspace(1) %flag", "256", POLL_IR("%flag", "1") "  ret void\n");

static void a_wait_for_a_flag_that_nobody_raises_is_a_deadlock(void **state) {
  (void)state;
  uint32_t *flag = gpu_memory(&gpu, 4);
  struct emu_kernel k = kernel_of_ir(&gpu, poll_ir);
  assert_int_equal(gpu_launch(&gpu, &k, 3, 256, &flag, sizeof flag), HSA_STATUS_ERROR_EXCEPTION);
  assert_report_has("deadlock: k: ");
  assert_report_has("\"s_sleep 1\", asleep: 12 waves: workgroups 0-2 waves 0-3");
  struct hsa_emu_counters c;
  assert_int_equal(hsa_emu_last_dispatch(&c), 0);
  assert_true(c.quanta < 100);
  kernel_free(&k);
}

/* Wave 1 polls, the others of the workgroup wait for it at a barrier; workgroup 0 has ended. */
static const char barrier_ir[] = KERNEL_IR("", "ptr addrspace(1) %flag", "256",
    "  %zero = icmp eq i32 %group, 0\n  br i1 %zero, label %end, label %go\ngo:\n"
    "  %wave = lshr i32 %lane, 6\n  %w = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %wave)\n  %one = icmp eq i32 %w, 1\n"
    "  br i1 %one, label %wait, label %met\nwait:\n" POLL_IR("%flag", "1") "  call void @llvm.amdgcn.s.barrier()\n  br label %end\n"
                                                                           "end:\n  ret void\n");

static void a_deadlock_report_says_where_every_wave_stands(void **state) {
  (void)state;
  uint32_t *flag = gpu_memory(&gpu, 4);
  struct emu_kernel k = kernel_of_ir(&gpu, barrier_ir);
  assert_int_equal(gpu_launch(&gpu, &k, 3, 256, &flag, sizeof flag), HSA_STATUS_ERROR_EXCEPTION);
  assert_report_has("\"s_barrier\", at a barrier: 6 waves: workgroups 1-2 waves 0,2-3");
  assert_report_has("\"s_sleep 1\", asleep: 2 waves: workgroups 1-2 waves 1");
  kernel_free(&k);
}

static void a_wait_without_sleep_is_found_out_too(void **state) {
  (void)state;
  struct emu_kernel k = kernel_of_assembly(&gpu, assembly_of(".Lloop:\ns_nop 0\ns_nop 0\ns_branch .Lloop\n"));
  assert_int_equal(gpu_launch(&gpu, &k, 2, 64, "", 0), HSA_STATUS_ERROR_EXCEPTION);
  assert_report_has("running: 2 waves: workgroups 0-1 waves 0");
  kernel_free(&k);
}

static const char patient_ir[] = KERNEL_IR("", "ptr addrspace(1) %out", "64",
    "  br label %loop\nloop:\n  %n = phi i32 [ 0, %start ], [ %m, %loop ]\n  call void @llvm.amdgcn.s.sleep(i32 1)\n"
    "  %m = add i32 %n, 1\n  %more = icmp ult i32 %m, 3000\n  br i1 %more, label %loop, label %done\ndone:\n"
    "  store i32 %m, ptr addrspace(1) %out\n  ret void\n");

static void a_long_wait_that_counts_is_no_deadlock(void **state) {
  (void)state;
  uint32_t *out = gpu_memory(&gpu, 4);
  struct emu_kernel k = kernel_of_ir(&gpu, patient_ir);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &out, sizeof out), 0);
  assert_int_equal(*out, 3000);
  kernel_free(&k);
}

/* Workgroup 0 waits for the last one; each takes a CU for itself by its LDS. */
static const char resident_ir[] =
    KERNEL_IR("@lds = internal addrspace(3) global [25000 x i32] poison, align 16\n", "ptr addrspace(1) %flag, i32 %last", "64",
        "  %p = getelementptr i32, ptr addrspace(3) @lds, i32 %lane\n  store volatile i32 %i, ptr addrspace(3) %p\n"
        "  %is_last = icmp eq i32 %group, %last\n  br i1 %is_last, label %raise, label %wait\nraise:\n"
        "  store atomic i32 1, ptr addrspace(1) %flag syncscope(\"agent\") monotonic, align 4\n  br label %end\nwait:\n" POLL_IR(
            "%flag", "1") "  br label %end\nend:\n  ret void\n");

static void the_257th_workgroup_waits_for_a_compute_unit(void **state) {
  (void)state;
  struct {
    uint32_t *flag, last;
  } args = {gpu_memory(&gpu, 4), 255};
  struct emu_kernel k = kernel_of_ir(&gpu, resident_ir);
  assert_int_equal(gpu_launch(&gpu, &k, 256, 64, &args, sizeof args), 0);
  *args.flag = 0;
  args.last = 256;
  assert_int_equal(gpu_launch(&gpu, &k, 257, 64, &args, sizeof args), HSA_STATUS_ERROR_EXCEPTION);
  assert_report_has("256 waves: workgroups 0-255 waves 0");
  kernel_free(&k);
}

static void a_packet_that_contradicts_the_kernel_is_refused_with_numbers(void **state) {
  (void)state;
  uint32_t *flag = gpu_memory(&gpu, 4);
  struct emu_kernel k = kernel_of_ir(&gpu, resident_ir);
  k.lds_bytes = 1000;
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &flag, sizeof flag), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  assert_report_has("1000 bytes of LDS, the kernel needs 100000");
  kernel_free(&k);
}

static void a_workgroup_too_large_for_the_kernel_is_refused(void **state) {
  (void)state;
  uint32_t *out = gpu_memory(&gpu, 4096);
  struct emu_kernel k = kernel_of_ir(&gpu, store_ir);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 128, &out, sizeof out), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  assert_report_has("128 work-items, the kernel allows 64");
  kernel_free(&k);
}

static void a_code_object_for_another_gpu_is_refused_with_both_names(void **state) {
  (void)state;
  size_t bytes;
  void *image = ir_to_code_object(store_ir, "gfx942", true, NULL, &bytes);
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  assert_int_equal(hsa_code_object_reader_create_from_memory(image, bytes, &reader), 0);
  assert_int_equal(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &executable), 0);
  assert_int_equal(
      hsa_executable_load_agent_code_object(executable, gpu.agent, reader, NULL, NULL), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  assert_report_has("gfx942");
  assert_report_has("gfx950");
  assert_int_equal(hsa_executable_destroy(executable), 0);
  assert_int_equal(hsa_code_object_reader_destroy(reader), 0);
  free(image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      GPU_TEST(a_store_past_the_end_names_instruction_and_address),
      GPU_TEST(a_load_from_freed_memory_is_a_fault),
      GPU_TEST(a_store_into_code_is_a_fault),
      GPU_TEST(an_unknown_instruction_is_named_with_its_address),
      GPU_TEST(a_wait_for_a_flag_that_nobody_raises_is_a_deadlock),
      GPU_TEST(a_deadlock_report_says_where_every_wave_stands),
      GPU_TEST(a_wait_without_sleep_is_found_out_too),
      GPU_TEST(a_long_wait_that_counts_is_no_deadlock),
      GPU_TEST(the_257th_workgroup_waits_for_a_compute_unit),
      GPU_TEST(a_packet_that_contradicts_the_kernel_is_refused_with_numbers),
      GPU_TEST(a_workgroup_too_large_for_the_kernel_is_refused),
      GPU_TEST(a_code_object_for_another_gpu_is_refused_with_both_names),
  };
  return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
