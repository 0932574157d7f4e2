/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, host memory that kernels reach, what is known of a pointer. */
#include "emu_support.h"

#include <stdlib.h>
#include <string.h>

#include "emu_kernels.h"

static void only_what_was_allocated_is_freed(void **state) {
  (void)state;
  void *p = NULL;
  assert_int_equal(hsa_amd_memory_pool_allocate(gpu.device, 100, 0, &p), 0);
  assert_int_equal(hsa_amd_memory_pool_allocate(gpu.device, 100, 1, &p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_pool_allocate(gpu.device, 0, 0, &p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_pool_allocate(gpu.device, 100, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_memory_free((uint8_t *)p + 8), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_memory_free(gpu.queue->base_address), HSA_STATUS_ERROR_INVALID_ALLOCATION); /* HSA's own */
  assert_int_equal(hsa_memory_free(gpu.queue), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_memory_free(p), 0);
  assert_int_equal(hsa_memory_free(p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void access_is_allowed_to_agents_that_there_are(void **state) {
  (void)state;
  void *p = gpu_memory(&gpu, 100);
  const uint32_t flags = 0;
  const hsa_agent_t wrong = {77};
  assert_int_equal(hsa_amd_agents_allow_access(1, &gpu.agent, NULL, p), 0);
  assert_int_equal(hsa_amd_agents_allow_access(1, &gpu.agent, &flags, p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_agents_allow_access(1, &wrong, NULL, p), HSA_STATUS_ERROR_INVALID_AGENT);
  assert_int_equal(hsa_amd_agents_allow_access(1, &gpu.agent, NULL, &p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_memory_assign_agent(p, gpu.agent, HSA_ACCESS_PERMISSION_RW), 0);
  assert_int_equal(hsa_memory_assign_agent(p, gpu.agent, (hsa_access_permission_t)9), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_memory_assign_agent(p, wrong, HSA_ACCESS_PERMISSION_RO), HSA_STATUS_ERROR_INVALID_AGENT);
  assert_int_equal(hsa_memory_assign_agent(&p, gpu.agent, HSA_ACCESS_PERMISSION_WO), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void memory_does_not_migrate(void **state) {
  (void)state;
  bool result = true;
  const hsa_amd_memory_pool_t wrong = {3};
  void *p = gpu_memory(&gpu, 16);
  assert_int_equal(hsa_amd_memory_pool_can_migrate(gpu.device, gpu.kernarg, &result), 0);
  assert_false(result);
  assert_int_equal(hsa_amd_memory_pool_can_migrate(gpu.device, gpu.kernarg, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_migrate(p, gpu.kernarg, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  assert_int_equal(hsa_amd_memory_migrate(p, wrong, 0), HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  assert_int_equal(hsa_amd_memory_migrate(p, gpu.kernarg, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void copies_and_fills_check_their_pointers(void **state) {
  (void)state;
  uint32_t host[3] = {1, 2, 3}, back[3], *p = gpu_memory(&gpu, 12);
  assert_int_equal(hsa_memory_copy(NULL, host, 4), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_memory_copy(p, host, 12), 0);
  assert_int_equal(hsa_memory_copy(back, p, 12), 0);
  assert_memory_equal(back, host, 12);
  assert_int_equal(hsa_amd_memory_fill((uint8_t *)p + 1, 0, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_fill(p + 1, 9, 2), 0);
  assert_true(p[0] == 1 && p[1] == 9 && p[2] == 9);
}

/* a[i] = a[i] + 1 */
static const char count_ir[] = KERNEL_IR("", "ptr addrspace(1) %a", "64",
    AT_IR("%p", "i32", "%a",
        "%i") "  %v = load i32, ptr addrspace(1) %p\n  %w = add i32 %v, 1\n  store i32 %w, ptr addrspace(1) %p\n  ret void\n");

static void kernels_reach_host_memory_while_it_is_locked(void **state) {
  (void)state;
  uint32_t *host = calloc(64, 4);
  void *device = NULL, *again = NULL;
  struct emu_kernel k = kernel_of_ir(&gpu, count_ir);
  hsa_agent_t agents[1] = {gpu.agent}, wrong[1] = {{77}};
#define LOCK(p, bytes, list, n, out) hsa_amd_memory_lock(p, bytes, list, n, out)
  assert_int_equal(LOCK(host, 0, agents, 1, &device), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(LOCK(host, 256, agents, 0, &device), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(LOCK(host, 256, NULL, 1, &device), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(LOCK(host, 256, wrong, 1, &device), HSA_STATUS_ERROR_INVALID_AGENT);
  assert_int_equal(hsa_amd_memory_lock_to_pool(host, 256, agents, 1, gpu.device, 0, &device), HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  assert_int_equal(hsa_amd_memory_lock_to_pool(host, 256, agents, 1, gpu.kernarg, 1, &device), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(LOCK(host, 256, agents, 1, &device), 0);
  assert_int_equal(hsa_amd_memory_lock_to_pool(host, 256, NULL, 0, gpu.kernarg, 0, &again), 0);
  assert_int_equal(LOCK(host + 1, 16, NULL, 0, &again), HSA_STATUS_ERROR_OUT_OF_RESOURCES); /* a part of it, apart */
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &device, sizeof device), 0);
  assert_int_equal(hsa_amd_memory_unlock(host), 0);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &device, sizeof device), 0); /* it was locked twice */
  for (int i = 0; i < 64; i++) assert_int_equal(host[i], 2);
  assert_int_equal(hsa_amd_memory_unlock(host), 0);
  assert_int_equal(hsa_amd_memory_unlock(host), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &device, sizeof device), HSA_STATUS_ERROR_MEMORY_FAULT);
  kernel_free(&k);
  free(host);
}

static void registered_memory_is_reached_too(void **state) {
  (void)state;
  uint32_t *host = calloc(64, 4), *own = gpu_memory(&gpu, 16);
  struct emu_kernel k = kernel_of_ir(&gpu, count_ir);
  assert_int_equal(hsa_memory_register(host, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_memory_register(NULL, 4), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_memory_register(own, 16), 0);
  assert_int_equal(hsa_memory_register(host, 256), 0);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &host, sizeof host), 0);
  assert_int_equal(host[63], 1);
  assert_int_equal(hsa_memory_deregister(host, 256), 0);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &host, sizeof host), HSA_STATUS_ERROR_MEMORY_FAULT);
  kernel_free(&k);
  free(host);
}

static void a_pointer_says_what_it_points_to(void **state) {
  (void)state;
  uint32_t word = 0, agents = 0;
  uint8_t *p = gpu_memory(&gpu, 100);
  hsa_agent_t *list = NULL;
  void *locked = NULL;
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  assert_int_equal(hsa_amd_pointer_info(p + 99, &info, malloc, &agents, &list), 0);
  assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
  assert_ptr_equal(info.agentBaseAddress, p);
  assert_ptr_equal(info.hostBaseAddress, p);
  assert_int_equal(info.sizeInBytes, 100);
  assert_int_equal(info.agentOwner.handle, gpu.agent.handle);
  assert_int_equal(info.global_flags, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  assert_null(info.userData);
  assert_int_equal(agents, 2);
  assert_int_equal(list[1].handle, gpu.agent.handle);
  free(list);
  assert_int_equal(hsa_amd_pointer_info_set_userdata(p + 1, &word), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_pointer_info_set_userdata(p, &word), 0);
  assert_int_equal(hsa_amd_pointer_info_set_userdata(p, &agents), 0);
  assert_int_equal(hsa_amd_pointer_info(p, &info, NULL, NULL, NULL), 0);
  assert_ptr_equal(info.userData, &agents);
  assert_int_equal(hsa_amd_pointer_info(&word, &info, malloc, &agents, &list), 0);
  assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  assert_int_equal(agents, 0);
  assert_int_equal(hsa_amd_memory_lock(&word, 4, NULL, 0, &locked), 0);
  assert_int_equal(hsa_amd_pointer_info(&word, &info, NULL, NULL, NULL), 0);
  assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
  assert_int_equal(hsa_amd_memory_unlock(&word), 0);
  /* An older, shorter struct: what lies behind it stays. */
  info = (hsa_amd_pointer_info_t){.size = 8, .sizeInBytes = 77};
  assert_int_equal(hsa_amd_pointer_info(p, &info, NULL, NULL, NULL), 0);
  assert_true(info.size == 8 && info.type == HSA_EXT_POINTER_TYPE_HSA && info.sizeInBytes == 77);
}

static void hear_free(void *ptr, void *data) { *(void **)data = ptr; }

static void whoever_asked_hears_of_a_free(void **state) {
  (void)state;
  void *p = NULL, *heard = NULL, *unheard = NULL;
  assert_int_equal(hsa_amd_memory_pool_allocate(gpu.device, 16, 0, &p), 0);
  assert_int_equal(hsa_amd_register_deallocation_callback(&p, hear_free, &heard), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_register_deallocation_callback(p, NULL, &heard), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_register_deallocation_callback(p, hear_free, &unheard), 0);
  assert_int_equal(hsa_amd_deregister_deallocation_callback(p, hear_free), 0);
  assert_int_equal(hsa_amd_deregister_deallocation_callback(p, hear_free), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_register_deallocation_callback(p, hear_free, &heard), 0);
  assert_int_equal(hsa_amd_memory_pool_free(p), 0);
  assert_ptr_equal(heard, p);
  assert_null(unheard);
}

static struct {
  uint64_t address;
  uint32_t agent, calls;
} faults[2];

static hsa_status_t hear_fault(const hsa_amd_event_t *event, void *data) {
  uint32_t i = *(const uint32_t *)data;
  faults[i].address = event->memory_fault.virtual_address;
  faults[i].agent = (uint32_t)event->memory_fault.agent.handle;
  __atomic_add_fetch(&faults[i].calls, 1, __ATOMIC_RELEASE);
  return HSA_STATUS_SUCCESS;
}

static void every_handler_hears_of_a_memory_fault(void **state) {
  (void)state;
  static const uint32_t first = 0, second = 1;
  struct emu_kernel k = kernel_of_ir(&gpu, count_ir);
  uint64_t bad = 0x123000;
  assert_int_equal(hsa_amd_register_system_event_handler(hear_fault, (void *)(uintptr_t)&first), 0);
  assert_int_equal(hsa_amd_register_system_event_handler(hear_fault, (void *)(uintptr_t)&second), 0);
  for (int i = 0; i < 20; i++) assert_int_equal(hsa_amd_register_system_event_handler(hear_fault, (void *)(uintptr_t)&first), 0);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &bad, sizeof bad), HSA_STATUS_ERROR_MEMORY_FAULT);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(__atomic_load_n(&faults[i].calls, __ATOMIC_ACQUIRE), 1);
    assert_int_equal(faults[i].address, bad);
    assert_int_equal(faults[i].agent, gpu.agent.handle);
  }
  kernel_free(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      GPU_TEST(only_what_was_allocated_is_freed),
      GPU_TEST(access_is_allowed_to_agents_that_there_are),
      GPU_TEST(memory_does_not_migrate),
      GPU_TEST(copies_and_fills_check_their_pointers),
      GPU_TEST(kernels_reach_host_memory_while_it_is_locked),
      GPU_TEST(registered_memory_is_reached_too),
      GPU_TEST(a_pointer_says_what_it_points_to),
      GPU_TEST(whoever_asked_hears_of_a_free),
      GPU_TEST(every_handler_hears_of_a_memory_fault),
  };
  return cmocka_run_group_tests_name("hsa_memory", tests, NULL, NULL);
}
