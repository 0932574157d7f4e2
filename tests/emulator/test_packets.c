/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: order and visibility of packets, signals, what the program sees of the indices. */
#include "emu_support.h"

#include <string.h>
#include <unistd.h>

#include "emu_kernels.h"

static struct emu_gpu gpu;

static int open_gpu(void **state) {
  (void)state;
  gpu_open(&gpu);
  return 0;
}

static int close_gpu(void **state) {
  (void)state;
  gpu_close(&gpu);
  return 0;
}

/* a[i] = a[i] * 3 + x: the order of two launches shows in the result. */
static const char step_ir[] = KERNEL_IR("", "ptr addrspace(1) %a, i32 %x", "64",
    AT_IR("%p", "i32", "%a", "%i") "  %v = load i32, ptr addrspace(1) %p\n  %w = mul i32 %v, 3\n  %y = add i32 %w, %x\n"
                                   "  store i32 %y, ptr addrspace(1) %p\n  ret void\n");

struct step_args {
  uint32_t *a, x;
};

static void launches_written_ahead_run_in_order_after_one_ring(void **state) {
  (void)state;
  enum { LAUNCHES = 6 };
  struct step_args args = {gpu_memory(&gpu, 2 * 64 * 4), 0};
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  uint32_t wanted = 0;
  uint64_t last = 0;
  hsa_signal_store_screlease(gpu.signal, LAUNCHES);
  for (args.x = 1; args.x <= LAUNCHES; args.x++) {
    last = gpu_write_packet(&gpu, &k, 2, 64, &args, sizeof args, gpu.signal);
    gpu_publish_packet(&gpu, last);
    wanted = wanted * 3 + args.x;
  }
  assert_int_equal(hsa_queue_load_read_index_scacquire(gpu.queue), 0);
  gpu_ring(&gpu, last);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  for (int i = 0; i < 2 * 64; i++) assert_int_equal(args.a[i], wanted);
  assert_int_equal(hsa_queue_load_read_index_scacquire(gpu.queue), LAUNCHES);
  assert_int_equal(hsa_queue_load_write_index_relaxed(gpu.queue), LAUNCHES);
  kernel_free(&k);
}

static void a_packet_waits_for_the_header_of_the_one_before_it(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 1};
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  hsa_signal_store_screlease(gpu.signal, 2);
  uint64_t first = gpu_write_packet(&gpu, &k, 1, 64, &args, sizeof args, gpu.signal);
  args.x = 5;
  uint64_t second = gpu_write_packet(&gpu, &k, 1, 64, &args, sizeof args, gpu.signal);
  gpu_publish_packet(&gpu, second);
  gpu_ring(&gpu, second);
  usleep(20000);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 2);
  gpu_publish_packet(&gpu, first);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  assert_int_equal(args.a[0], 1 * 3 + 5);
  kernel_free(&k);
}

static void nothing_runs_before_the_doorbell(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 1};
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  hsa_signal_store_screlease(gpu.signal, 1);
  uint64_t index = gpu_write_packet(&gpu, &k, 1, 64, &args, sizeof args, gpu.signal);
  gpu_publish_packet(&gpu, index);
  hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_EQ, 0, 20000000, HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 1);
  gpu_ring(&gpu, index);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  kernel_free(&k);
}

static void a_ring_of_packets_is_used_round_and_round(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 1};
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  uint32_t wanted = 0;
  for (uint32_t i = 0; i < 150; i++) { /* the ring has 64 */
    assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &args, sizeof args), 0);
    wanted = wanted * 3 + 1;
  }
  assert_int_equal(args.a[63], wanted);
  kernel_free(&k);
}

static void a_barrier_packet_waits_for_its_signals(void **state) {
  (void)state;
  hsa_signal_t open_signal;
  assert_int_equal(hsa_signal_create(1, 0, NULL, &open_signal), 0);
  hsa_signal_store_screlease(gpu.signal, 1);
  uint64_t index = hsa_queue_add_write_index_screlease(gpu.queue, 1);
  hsa_barrier_and_packet_t *p = (hsa_barrier_and_packet_t *)gpu.queue->base_address + index;
  memset((uint8_t *)p + 2, 0, sizeof *p - 2);
  p->dep_signal[3] = open_signal;
  p->completion_signal = gpu.signal;
  __atomic_store_n(&p->header, (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  gpu_ring(&gpu, index);
  hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_EQ, 0, 30000000, HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 1);
  hsa_signal_store_screlease(open_signal, 0);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  assert_int_equal(hsa_signal_destroy(open_signal), 0);
}

static void a_failed_queue_runs_no_further_packet(void **state) {
  (void)state;
  struct step_args bad = {NULL, 1}, args = {gpu_memory(&gpu, 64 * 4), 1};
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  hsa_signal_store_screlease(gpu.signal, 2);
  gpu_publish_packet(&gpu, gpu_write_packet(&gpu, &k, 1, 64, &bad, sizeof bad, gpu.signal));
  uint64_t second = gpu_write_packet(&gpu, &k, 1, 64, &args, sizeof args, gpu.signal);
  gpu_publish_packet(&gpu, second);
  gpu_ring(&gpu, second);
  assert_int_equal(gpu_await(&gpu, gpu.signal), HSA_STATUS_ERROR_MEMORY_FAULT);
  hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_EQ, 0, 20000000, HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 2);
  assert_int_equal(args.a[0], 0);
  kernel_free(&k);
}

static const char endless_ir[] = KERNEL_IR("", "", "64",
    "  br label %loop\nloop:\n  %n = phi i64 [ 0, %start ], [ %m, %loop ]\n  call void @llvm.amdgcn.s.sleep(i32 1)\n"
    "  %m = add i64 %n, 1\n  %more = icmp ne i64 %m, 0\n  br i1 %more, label %loop, label %done\ndone:\n  ret void\n");

static void destroying_a_queue_ends_the_launch_that_runs(void **state) {
  (void)state;
  struct emu_kernel k = kernel_of_ir(&gpu, endless_ir);
  hsa_signal_store_screlease(gpu.signal, 1);
  uint64_t index = gpu_write_packet(&gpu, &k, 4, 64, "", 0, gpu.signal);
  gpu_publish_packet(&gpu, index);
  gpu_ring(&gpu, index);
  usleep(20000);
  assert_int_equal(hsa_queue_destroy(gpu.queue), 0);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 1);
  assert_int_equal(hsa_queue_create(gpu.agent, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &gpu.queue), 0);
  kernel_free(&k);
}

static void two_queues_share_the_device(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 1};
  struct emu_gpu other = gpu;
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  assert_int_equal(hsa_queue_create(gpu.agent, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &other.queue), 0);
  assert_int_equal(hsa_signal_create(0, 0, NULL, &other.signal), 0);
  other.args = (uint8_t *)gpu.args + 4096;
  for (uint32_t i = 0; i < 10; i++) {
    assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &args, sizeof args), 0);
    assert_int_equal(gpu_launch(&other, &k, 1, 64, &args, sizeof args), 0);
  }
  uint32_t wanted = 0;
  for (int i = 0; i < 20; i++) wanted = wanted * 3 + 1;
  assert_int_equal(args.a[5], wanted);
  assert_int_equal(hsa_queue_destroy(other.queue), 0);
  assert_int_equal(hsa_signal_destroy(other.signal), 0);
  kernel_free(&k);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_gpu, close_gpu)
  const struct CMUnitTest tests[] = {
      TEST(launches_written_ahead_run_in_order_after_one_ring),
      TEST(a_packet_waits_for_the_header_of_the_one_before_it),
      TEST(nothing_runs_before_the_doorbell),
      TEST(a_ring_of_packets_is_used_round_and_round),
      TEST(a_barrier_packet_waits_for_its_signals),
      TEST(a_failed_queue_runs_no_further_packet),
      TEST(destroying_a_queue_ends_the_launch_that_runs),
      TEST(two_queues_share_the_device),
  };
  return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}
