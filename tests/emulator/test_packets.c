/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: order and visibility of packets, signals, what the program sees of the indices. */
#include "emu_support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu_kernels.h"

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

static void keep_error(hsa_status_t status, hsa_queue_t *source, void *data) {
  (void)source;
  __atomic_store_n((int *)data, (int)status, __ATOMIC_RELEASE);
}

/* Workgroup i says that it is there and waits for workgroup x to be there too. */
static const char gather_ir[] = KERNEL_IR("", "ptr addrspace(1) %a, i32 %x", "64",
    AT_IR("%mine", "i32", "%a", "%group") "  store atomic i32 1, ptr addrspace(1) %mine syncscope(\"agent\") monotonic, align 4\n" AT_IR(
        "%theirs", "i32", "%a", "%x") POLL_IR("%theirs", "1") "  ret void\n");

/* A barrier packet in the open queue's next slot; returns its index. */
static uint64_t write_barrier(hsa_packet_type_t type, const hsa_signal_t deps[5], hsa_signal_t done) {
  uint64_t index = hsa_queue_add_write_index_screlease(gpu.queue, 1);
  hsa_barrier_and_packet_t *p = (hsa_barrier_and_packet_t *)gpu.queue->base_address + index % gpu.queue->size;
  memset((uint8_t *)p + 2, 0, sizeof *p - 2);
  memcpy(p->dep_signal, deps, sizeof p->dep_signal);
  p->completion_signal = done;
  __atomic_store_n(&p->header, (uint16_t)(type << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  return index;
}

static void a_barrier_packet_waits_for_its_signals(void **state) {
  (void)state;
  hsa_signal_t open_signal;
  assert_int_equal(hsa_signal_create(1, 0, NULL, &open_signal), 0);
  hsa_signal_store_screlease(gpu.signal, 1);
  uint64_t index = write_barrier(HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t[5]){{0}, {0}, {0}, open_signal}, gpu.signal);
  gpu_ring(&gpu, index);
  hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_EQ, 0, 30000000, HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 1);
  hsa_signal_store_screlease(open_signal, 0);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  assert_int_equal(hsa_signal_destroy(open_signal), 0);
}

static void a_completion_signal_may_be_destroyed_once_its_value_is_seen(void **state) {
  (void)state;
  for (int i = 0; i < 300; i++) {
    hsa_signal_t done;
    assert_int_equal(hsa_signal_create(1, 0, NULL, &done), 0);
    gpu_ring(&gpu, write_barrier(HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t[5]){{0}}, done));
    while (hsa_signal_load_scacquire(done)) {
    }
    assert_int_equal(hsa_signal_destroy(done), 0);
  }
}

static void a_launch_waits_for_another_queues_launch_through_a_barrier_packet(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 1};
  struct emu_gpu other = gpu;
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  hsa_signal_t done;
  assert_int_equal(hsa_queue_create(gpu.agent, 1, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &other.queue), 0);
  assert_int_equal(hsa_signal_create(1, 0, NULL, &done), 0);
  other.args = (uint8_t *)gpu.args + 4096;
  /* The first queue: a barrier packet for the other's launch, then its own. */
  hsa_signal_store_screlease(gpu.signal, 1);
  write_barrier(HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t[5]){{0}, {0}, done}, (hsa_signal_t){0});
  args.x = 5;
  uint64_t second = gpu_write_packet(&gpu, &k, 1, 64, &args, sizeof args, gpu.signal);
  gpu_publish_packet(&gpu, second);
  gpu_ring(&gpu, second);
  hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_EQ, 0, 10000000, HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 1);
  args.x = 1;
  uint64_t first = gpu_write_packet(&other, &k, 1, 64, &args, sizeof args, done);
  gpu_publish_packet(&other, first);
  gpu_ring(&other, first);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  assert_int_equal(args.a[63], 1 * 3 + 5);
  assert_int_equal(hsa_queue_destroy(other.queue), 0);
  assert_int_equal(hsa_signal_destroy(done), 0);
  kernel_free(&k);
}

/* Waits for a[0] to be `x`, then stores it plus 1 into a[1]; or stores x into a[0]. */
static const char await_ir[] = KERNEL_IR("", "ptr addrspace(1) %a, i32 %x", "64",
    POLL_IR("%a", "%x") AT_IR("%p", "i32", "%a", "1") "  %y = add i32 %x, 1\n  store i32 %y, ptr addrspace(1) %p\n  ret void\n");
static const char put_ir[] = KERNEL_IR("", "ptr addrspace(1) %a, i32 %x", "64", "  store i32 %x, ptr addrspace(1) %a\n  ret void\n");

/* The open GPU with another queue and signal. */
static struct emu_gpu beside(void) {
  struct emu_gpu other = gpu;
  assert_int_equal(hsa_queue_create(gpu.agent, 2, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &other.queue), 0);
  assert_int_equal(hsa_signal_create(0, 0, NULL, &other.signal), 0);
  other.args = (uint8_t *)gpu.args + 4096;
  return other;
}

static void end_beside(const struct emu_gpu *other) {
  assert_int_equal(hsa_queue_destroy(other->queue), 0);
  assert_int_equal(hsa_signal_destroy(other->signal), 0);
}

static void two_queues_launches_wait_for_each_other_in_memory(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 7};
  struct emu_gpu other = beside();
  struct emu_kernel wait = kernel_of_ir(&gpu, await_ir), put = kernel_of_ir(&gpu, put_ir);
  gpu_begin(&gpu, &wait, 3, 64, &args, sizeof args);
  gpu_begin(&other, &put, 1, 64, &args, sizeof args);
  assert_int_equal(gpu_await(&other, other.signal), 0);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  assert_int_equal(args.a[1], 8);
  end_beside(&other);
  kernel_free(&wait);
  kernel_free(&put);
}

enum { LATE_US = 200000 };

/* Into what a kernel reads all the time: no thread's but a device's race. */
__attribute__((no_sanitize("thread"))) static void write_beside_a_launch(volatile uint32_t *word, uint32_t value) { *word = value; }

/* The host may be busy, or not have its turn, between one queue's doorbell and the next one's, or before it writes what a kernel waits for.
 */
static void a_launch_that_waits_for_a_slow_host_is_no_deadlock(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 7};
  struct emu_gpu other = beside();
  struct emu_kernel wait = kernel_of_ir(&gpu, await_ir), put = kernel_of_ir(&gpu, put_ir);
  for (int by_kernel = 0; by_kernel < 2; by_kernel++) {
    args.a[0] = args.a[1] = 0;
    gpu_begin(&gpu, &wait, 3, 64, &args, sizeof args);
    usleep(LATE_US);
    if (by_kernel)
      assert_int_equal(gpu_launch(&other, &put, 1, 64, &args, sizeof args), 0);
    else
      write_beside_a_launch(args.a, args.x);
    assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
    assert_int_equal(args.a[1], 8);
  }
  end_beside(&other);
  kernel_free(&wait);
  kernel_free(&put);
}

/* Waits for %x in the first word, then for %x in the second, and shows nothing in between. */
static const char gates_ir[] = KERNEL_IR("", "ptr addrspace(1) %a, i32 %x", "64",
    POLL_IR("%a", "%x") AT_IR("%b", "i32", "%a", "1")
        AT_IR("%p", "i32", "%a", "2") "  br label %poll2\npoll2:\n"
                                      "  %seen2 = load atomic i32, ptr addrspace(1) %b syncscope(\"agent\") monotonic, align 4\n"
                                      "  %is2 = icmp eq i32 %seen2, %x\n  br i1 %is2, label %met2, label %poll2\nmet2:\n"
                                      "  store i32 9, ptr addrspace(1) %p\n  ret void\n");

/* The host has its half second for each step that it takes, however little comes of it. */
static void each_step_of_a_slow_host_counts(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 7};
  struct emu_kernel gates = kernel_of_ir(&gpu, gates_ir);
  gpu_begin(&gpu, &gates, 3, 64, &args, sizeof args);
  for (int step = 0; step < 2; step++) {
    usleep(350000);
    write_beside_a_launch(args.a + step, args.x);
  }
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  assert_int_equal(args.a[2], 9);
  kernel_free(&gates);
}

static void launches_that_wait_for_each_other_in_vain_are_both_reported(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 7};
  struct emu_gpu other;
  struct emu_kernel wait = kernel_of_ir(&gpu, await_ir);
  memcpy(&other, &gpu, sizeof other);
  assert_int_equal(hsa_queue_create(gpu.agent, 2, HSA_QUEUE_TYPE_SINGLE, keep_error, &other.error, 0, 0, &other.queue), 0);
  other.args = (uint8_t *)gpu.args + 4096;
  hsa_signal_store_screlease(gpu.signal, 2);
  uint64_t index = gpu_write_packet(&gpu, &wait, 3, 64, &args, sizeof args, gpu.signal);
  uint64_t second = gpu_write_packet(&other, &wait, 1, 64, &args, sizeof args, gpu.signal);
  gpu_publish_packet(&gpu, index);
  gpu_publish_packet(&other, second);
  gpu_ring(&gpu, index);
  gpu_ring(&other, second);
  assert_int_equal(gpu_await(&gpu, gpu.signal), HSA_STATUS_ERROR_EXCEPTION);
  assert_int_equal(gpu_await(&other, gpu.signal), HSA_STATUS_ERROR_EXCEPTION);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 2);
  assert_int_equal(hsa_queue_destroy(other.queue), 0);
  kernel_free(&wait);
}

static void packets_that_are_none_end_the_queue_with_a_reason(void **state) {
  (void)state;
  static uint64_t no_signal[16] __attribute__((aligned(64)));
  static const struct {
    uint16_t header, setup;
    uint64_t object, completion;
    const char *says;
  } bad[] = {
      {HSA_PACKET_TYPE_AGENT_DISPATCH << HSA_PACKET_HEADER_TYPE, 1, 0, 0, "a packet of a type that this queue does not process"},
      {77 << HSA_PACKET_HEADER_TYPE, 1, 0, 0, "a packet of a type that this queue does not process"},
      {HSA_PACKET_TYPE_KERNEL_DISPATCH | 3 << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE, 1, 0, 0, "reserved bits or fence scopes"},
      {HSA_PACKET_TYPE_KERNEL_DISPATCH | 3 << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE, 1, 0, 0, "reserved bits or fence scopes"},
      {HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << 14, 1, 0, 0, "reserved bits or fence scopes"},
      {HSA_PACKET_TYPE_KERNEL_DISPATCH, 0, 0, 0, "the dispatch packet has no dimensions"},
      {HSA_PACKET_TYPE_KERNEL_DISPATCH, 1, 0x1234, 0, "no frozen executable of this agent has the packet's kernel object 0x1234"},
      {HSA_PACKET_TYPE_BARRIER_AND, 0, 0, 1, "completion signal is no signal"},
      {HSA_PACKET_TYPE_VENDOR_SPECIFIC, 9, 0, 0, "unknown vendor packet: format"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    hsa_queue_t *queue;
    int error = 0;
    assert_int_equal(hsa_queue_create(gpu.agent, 4, HSA_QUEUE_TYPE_MULTI, keep_error, &error, 0, 0, &queue), 0);
    hsa_kernel_dispatch_packet_t *p = queue->base_address;
    memset((uint8_t *)p + 2, 0, sizeof *p - 2);
    p->setup = bad[i].setup;
    p->kernel_object = bad[i].object;
    p->completion_signal.handle = bad[i].completion ? (uint64_t)(uintptr_t)no_signal : 0;
    __atomic_store_n(&p->header, bad[i].header, __ATOMIC_RELEASE);
    hsa_queue_add_write_index_screlease(queue, 1);
    hsa_signal_store_screlease(queue->doorbell_signal, 0);
    while (!__atomic_load_n(&error, __ATOMIC_ACQUIRE)) usleep(200);
    assert_int_equal(error, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    if (!strstr(gpu_report(), bad[i].says)) fail_msg("packet %zu: %s", i, gpu_report());
    assert_int_equal(hsa_queue_load_read_index_relaxed(queue), 0);
    assert_int_equal(hsa_queue_destroy(queue), 0);
  }
}

static void a_barrier_or_packet_waits_for_one_of_its_signals(void **state) {
  (void)state;
  hsa_signal_t open[2];
  for (int i = 0; i < 2; i++) assert_int_equal(hsa_signal_create(1, 0, NULL, &open[i]), 0);
  hsa_signal_store_screlease(gpu.signal, 2);
  write_barrier(HSA_PACKET_TYPE_BARRIER_OR, (hsa_signal_t[5]){open[0], {0}, {0}, {0}, open[1]}, gpu.signal);
  uint64_t second = write_barrier(HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t[5]){open[0], {0}, {0}, {0}, open[1]}, gpu.signal);
  gpu_ring(&gpu, second);
  hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_NE, 2, 10000000, HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 2);
  hsa_signal_store_screlease(open[1], 0);
  assert_int_equal(hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_NE, 2, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 1);
  hsa_signal_store_screlease(open[0], 0);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  for (int i = 0; i < 2; i++) assert_int_equal(hsa_signal_destroy(open[i]), 0);
}

static void a_barrier_value_packet_waits_for_its_condition(void **state) {
  (void)state;
  hsa_signal_t s;
  assert_int_equal(hsa_signal_create(0x10, 0, NULL, &s), 0);
  hsa_signal_store_screlease(gpu.signal, 1);
  uint64_t index = hsa_queue_add_write_index_screlease(gpu.queue, 1);
  hsa_amd_barrier_value_packet_t *p = (hsa_amd_barrier_value_packet_t *)gpu.queue->base_address + index % gpu.queue->size;
  memset((uint8_t *)p + 2, 0, sizeof *p - 2);
  p->header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  p->signal = s;
  p->mask = 0xF;
  p->value = 3;
  p->cond = HSA_SIGNAL_CONDITION_GTE;
  p->completion_signal = gpu.signal;
  __atomic_store_n(&p->header.header, (uint16_t)(HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  gpu_ring(&gpu, index);
  hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_EQ, 0, 10000000, HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(gpu.signal), 1);
  hsa_signal_or_screlease(s, 4);
  assert_int_equal(gpu_await(&gpu, gpu.signal), 0);
  assert_int_equal(hsa_signal_destroy(s), 0);
}

static void a_mask_of_units_bounds_what_is_resident(void **state) {
  (void)state;
  uint32_t mask[8] = {0}, back[8];
  struct step_args args = {gpu_memory(&gpu, 256 * 4), 255};
  struct emu_kernel k = kernel_of_ir(&gpu, gather_ir);
  k.lds_bytes = 150000; /* one workgroup a unit */
  assert_int_equal(hsa_amd_queue_cu_set_mask(gpu.queue, 31, mask), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_queue_cu_set_mask(gpu.queue, 32, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_queue_cu_get_mask(gpu.queue, 0, back), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_queue_cu_get_mask(gpu.queue, 256, back), 0);
  for (int i = 0; i < 8; i++) assert_int_equal(back[i], UINT32_MAX);
  assert_int_equal(gpu_launch(&gpu, &k, 256, 64, &args, sizeof args), 0); /* all there: all see each other */
  memset(mask, 0xFF, sizeof mask);
  mask[7] = 0x7FFFFFFF; /* a unit less */
  args.a = gpu_memory(&gpu, 256 * 4);
  assert_int_equal(hsa_amd_queue_cu_set_mask(gpu.queue, 256, mask), 0);
  assert_int_equal(gpu_launch(&gpu, &k, 256, 64, &args, sizeof args), HSA_STATUS_ERROR_EXCEPTION);
  kernel_free(&k);
}

static uint32_t units_of(hsa_queue_t *queue) {
  uint32_t mask[8], count = 0;
  assert_int_equal(hsa_amd_queue_cu_get_mask(queue, 256, mask), 0);
  for (int i = 0; i < 256; i++) count += mask[i / 32] >> i % 32 & 1;
  return count;
}

static void a_process_may_have_fewer_units(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t units;
  } masks[] = {
      {"0:0-127", 128},
      {"0:0,2,4-7;1:0", 6},
      {"1,2:0-3;0-9:8-255", 248},
      {"1:0-3", 256}, /* another agent's */
      {"0:500", 0},
      {"0:0-127x", 256}, /* cannot be read */
      {"0:7-3", 256},
      {"0", 256},
      {"0:", 256},
      {"", 256},
  };
  const uint32_t low = 0xFF;
  for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
    hsa_queue_t *queue;
    setenv("HSA_CU_MASK", masks[i].text, 1);
    assert_int_equal(hsa_queue_create(gpu.agent, 4, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue), 0);
    if (units_of(queue) != masks[i].units) fail_msg("HSA_CU_MASK=%s: %u units", masks[i].text, units_of(queue));
    if (!i) assert_int_equal(hsa_amd_queue_cu_set_mask(queue, 32, &low), 0);
    if (i == 1) {
      assert_int_equal(hsa_amd_queue_cu_set_mask(queue, 32, &low), HSA_STATUS_CU_MASK_REDUCED);
      assert_int_equal(units_of(queue), 6);
      assert_int_equal(hsa_amd_queue_cu_set_mask(queue, 0, NULL), 0);
      assert_int_equal(units_of(queue), 6);
    }
    assert_int_equal(hsa_queue_destroy(queue), 0);
  }
  unsetenv("HSA_CU_MASK");
}

static void a_mask_without_units_on_a_chiplet_is_refused(void **state) {
  (void)state;
  uint32_t mask[8];
  memset(mask, 0x7F, sizeof mask); /* unit i is XCD i mod 8's */
  struct step_args args = {gpu_memory(&gpu, 16 * 64 * 4), 1};
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  assert_int_equal(hsa_amd_queue_cu_set_mask(gpu.queue, 256, mask), 0);
  assert_int_equal(gpu_launch(&gpu, &k, 16, 64, &args, sizeof args), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  assert_non_null(strstr(gpu_report(), "its queue's mask leaves XCD 7 no compute unit"));
  kernel_free(&k);
}

/* a[i] through private memory: an array that is indexed by what was loaded. */
static const char private_ir[] = KERNEL_IR("", "ptr addrspace(1) %a", "64",
    "  %room = alloca [64 x i32], addrspace(5)\n" AT_IR("%p", "i32", "%a",
        "%i") "  %v = load i32, ptr addrspace(1) %p\n"
              "  %n = and i32 %v, 63\n  %at = getelementptr i32, ptr addrspace(5) %room, i32 %n\n  store volatile i32 %v, ptr addrspace(5) "
              "%at\n"
              "  %w = load volatile i32, ptr addrspace(5) %at\n  %x = add i32 %w, 1\n  store i32 %x, ptr addrspace(1) %p\n  ret void\n");

static void a_packet_without_the_kernels_private_memory_is_refused(void **state) {
  (void)state;
  uint32_t *a = gpu_memory(&gpu, 64 * 4);
  struct emu_kernel k = kernel_of_ir(&gpu, private_ir);
  assert_true(k.private_bytes >= 256);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &a, sizeof a), 0);
  assert_int_equal(a[63], 1);
  k.private_bytes--;
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &a, sizeof a), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  assert_non_null(strstr(gpu_report(), "bytes of private memory, the kernel needs"));
  kernel_free(&k);
}

enum { THREADS = 4, LAUNCHES_EACH = 10 };

struct user {
  struct emu_gpu gpu; /* a queue and a signal of its own */
  const struct emu_kernel *kernel;
  struct step_args args;
  int error;
};

/* cmocka is for one thread: nothing here may fail a test. */
static void *launch_often(void *data) {
  struct user *u = data;
  for (int i = 0; i < LAUNCHES_EACH && !u->error; i++) u->error = gpu_launch(&u->gpu, u->kernel, 2, 64, &u->args, sizeof u->args);
  return NULL;
}

static void threads_with_queues_of_their_own_do_not_meet(void **state) {
  (void)state;
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  struct user user[THREADS];
  pthread_t thread[THREADS];
  uint32_t wanted = 0;
  for (int t = 0; t < THREADS; t++) {
    user[t] = (struct user){.gpu = gpu, .kernel = &k, .args = {gpu_memory(&gpu, 2 * 64 * 4), 1}};
    user[t].gpu.args = gpu_memory(&gpu, 64 * 1024);
    assert_int_equal(hsa_queue_create(gpu.agent, 4, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &user[t].gpu.queue), 0);
    assert_int_equal(hsa_signal_create(0, 0, NULL, &user[t].gpu.signal), 0);
  }
  for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_create(&thread[t], NULL, launch_often, &user[t]), 0);
  for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_join(thread[t], NULL), 0);
  for (int i = 0; i < LAUNCHES_EACH; i++) wanted = wanted * 3 + 1;
  for (int t = 0; t < THREADS; t++) {
    assert_int_equal(user[t].error, 0);
    assert_int_equal(user[t].args.a[127], wanted);
    assert_int_equal(hsa_queue_destroy(user[t].gpu.queue), 0);
    assert_int_equal(hsa_signal_destroy(user[t].gpu.signal), 0);
  }
  kernel_free(&k);
}

static void completion_signals_tell_when_a_launch_ran(void **state) {
  (void)state;
  struct step_args args = {gpu_memory(&gpu, 64 * 4), 1};
  struct emu_kernel k = kernel_of_ir(&gpu, step_ir);
  uint64_t before, after;
  hsa_amd_profiling_dispatch_time_t time = {0};
  assert_int_equal(hsa_amd_profiling_set_profiler_enabled(gpu.queue, 1), 0);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before), 0);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &args, sizeof args), 0);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after), 0);
  assert_int_equal(hsa_amd_profiling_get_dispatch_time(gpu.agent, gpu.signal, &time), 0);
  assert_true(before <= time.start && time.start < time.end && time.end <= after);
  kernel_free(&k);
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
  const struct CMUnitTest tests[] = {
      GPU_TEST(launches_written_ahead_run_in_order_after_one_ring),
      GPU_TEST(a_packet_waits_for_the_header_of_the_one_before_it),
      GPU_TEST(nothing_runs_before_the_doorbell),
      GPU_TEST(a_ring_of_packets_is_used_round_and_round),
      GPU_TEST(a_barrier_packet_waits_for_its_signals),
      GPU_TEST(a_completion_signal_may_be_destroyed_once_its_value_is_seen),
      GPU_TEST(a_launch_waits_for_another_queues_launch_through_a_barrier_packet),
      GPU_TEST(two_queues_launches_wait_for_each_other_in_memory),
      GPU_TEST(a_launch_that_waits_for_a_slow_host_is_no_deadlock),
      GPU_TEST(each_step_of_a_slow_host_counts),
      GPU_TEST(launches_that_wait_for_each_other_in_vain_are_both_reported),
      GPU_TEST(packets_that_are_none_end_the_queue_with_a_reason),
      GPU_TEST(a_barrier_or_packet_waits_for_one_of_its_signals),
      GPU_TEST(a_barrier_value_packet_waits_for_its_condition),
      GPU_TEST(a_mask_of_units_bounds_what_is_resident),
      GPU_TEST(a_process_may_have_fewer_units),
      GPU_TEST(a_mask_without_units_on_a_chiplet_is_refused),
      GPU_TEST(a_packet_without_the_kernels_private_memory_is_refused),
      GPU_TEST(threads_with_queues_of_their_own_do_not_meet),
      GPU_TEST(completion_signals_tell_when_a_launch_ran),
      GPU_TEST(a_failed_queue_runs_no_further_packet),
      GPU_TEST(destroying_a_queue_ends_the_launch_that_runs),
      GPU_TEST(two_queues_share_the_device),
  };
  return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}
