/* SPDX-License-Identifier: Apache-2.0 */
/* The same bits, counts, traffic and reports for any number of host threads. */
#include "emu_support.h"

#include <stdlib.h>
#include <string.h>

#include "emu_kernels.h"

enum { GROUPS = 90, SIZE = 256, WORDS = GROUPS * SIZE };

/* What one run left behind. */
struct outcome_of_run {
  struct hsa_emu_counters counters;
  struct hsa_emu_traffic traffic;
  uint32_t fetches[WORDS];
  uint32_t out[WORDS];
  uint32_t sum[4];
  char report[4096];
  int error;
};

/* Racy on purpose: float sums by atomics (rounding depends on the order), a shared word that every workgroup overwrites and reads, and a
   chain of flags. Then all but the last workgroup may wait for what never comes, if `hang` is set. */
static const char racy_ir[] = KERNEL_IR("",
    "ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %sum, ptr addrspace(1) %flag, i32 %hang", "256",
    AT_IR("%pi", "float", "%in", "%i") AT_IR("%po", "i32", "%out",
        "%i") "  %x = load float, ptr addrspace(1) %pi\n"
              "  %old = atomicrmw fadd ptr addrspace(1) %sum, float %x syncscope(\"agent\") monotonic, !amdgpu.no.fine.grained.memory !1, "
              "!amdgpu.no.remote.memory !1\n" AT_IR("%shared", "i32", "%sum",
                  "1") "  store volatile i32 %i, ptr addrspace(1) %shared\n  %seen0 = load volatile i32, ptr addrspace(1) %shared\n"
                       "  %bits = bitcast float %old to i32\n  %mix = xor i32 %bits, %seen0\n  store i32 %mix, ptr addrspace(1) %po\n"
                       "  %next = add i32 %group, 1\n" AT_IR("%pf", "i32", "%flag", "%next")
                           POLL_IR("%pf", "1") "  %late = load volatile i32, ptr addrspace(1) %shared\n  %mix2 = add i32 %mix, %late\n  "
                                               "store i32 %mix2, ptr addrspace(1) %po\n" AT_IR("%pg", "i32", "%flag",
                                                   "%group") "  %stop = icmp eq i32 %group, %hang\n  %up = select i1 %stop, i32 0, i32 1\n"
                                                             "  store atomic i32 %up, ptr addrspace(1) %pg syncscope(\"agent\") monotonic, "
                                                             "align 4\n  ret void\n");

static void run_once(uint32_t threads, uint32_t hang, struct outcome_of_run *r) {
  gpu_open(&gpu);
  memset(r, 0, sizeof *r);
  assert_int_equal(hsa_emu_set_threads(threads), 0);
  assert_int_equal(hsa_emu_threads(), threads);
  struct emu_kernel k = kernel_of_ir(&gpu, racy_ir);
  struct {
    float *in;
    uint32_t *out, *sum, *flag, hang;
  } args = {gpu_memory(&gpu, WORDS * 4), gpu_memory(&gpu, WORDS * 4), gpu_memory(&gpu, 16), gpu_memory(&gpu, (GROUPS + 1) * 4), hang};
  for (uint32_t i = 0; i < WORDS; i++) args.in[i] = (float)((i * 2654435761u >> 8) % 100003) * 0.37f;
  args.flag[GROUPS] = 1;
  uint32_t range;
  assert_int_equal(hsa_emu_range_add(args.in, WORDS * 4, &range), 0);
  r->error = gpu_launch(&gpu, &k, GROUPS, SIZE, &args, sizeof args);
  memcpy(r->out, args.out, sizeof r->out);
  memcpy(r->sum, args.sum, sizeof r->sum);
  assert_int_equal(hsa_emu_last_dispatch(&r->counters), 0);
  assert_int_equal(hsa_emu_range_traffic(range, &r->traffic), 0);
  assert_int_equal(hsa_emu_range_fetches(range, 0, WORDS, r->fetches), 0);
  const char *where = strchr(gpu_report(), ':'); /* addresses differ from run to run: only what stands behind them is compared */
  char *to = r->report;
  for (const char *c = where ? where : ""; *c && to < r->report + sizeof r->report - 1;) {
    if (c[0] == '(' && c[1] == '0') c += strcspn(c, ")");
    *to++ = *c++;
  }
  r->counters.host_ns = 0;
  kernel_free(&k);
  gpu_close(&gpu);
}

static void compare_runs(uint32_t hang, int error) {
  struct outcome_of_run *one = malloc(sizeof *one), *more = malloc(sizeof *more);
  assert_true(one && more);
  run_once(1, hang, one);
  assert_int_equal(one->error, error);
  assert_int_equal(one->traffic.min_fetches, 1);
  assert_int_equal(one->traffic.max_fetches, 1);
  for (uint32_t threads = 2; threads <= 5; threads += 3) {
    run_once(threads, hang, more);
    assert_memory_equal(one, more, sizeof *one);
  }
  free(one);
  free(more);
}

static void bits_and_counts_do_not_depend_on_host_threads(void **state) {
  (void)state;
  compare_runs(UINT32_MAX, 0);
}

static void a_deadlocks_report_does_not_depend_on_host_threads(void **state) {
  (void)state;
  compare_runs(GROUPS / 2, HSA_STATUS_ERROR_EXCEPTION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_and_counts_do_not_depend_on_host_threads),
      cmocka_unit_test(a_deadlocks_report_does_not_depend_on_host_threads),
  };
  return cmocka_run_group_tests_name("quantum", tests, NULL, NULL);
}
