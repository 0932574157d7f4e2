/* SPDX-License-Identifier: Apache-2.0 */
/* A launch in a few lines. */
#include "emu_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE_PACKETS = 64, KERNARG_BYTES = 1024, OWNED_MAX = 64 };

static void *owned[OWNED_MAX]; /* memory of the open GPU */
static uint32_t owned_count;

#define GOOD(call) assert_int_equal(call, HSA_STATUS_SUCCESS)

static hsa_status_t take_gpu(hsa_agent_t agent, void *data) {
  hsa_device_type_t type;
  GOOD(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  if (type != HSA_DEVICE_TYPE_GPU) return HSA_STATUS_SUCCESS;
  *(hsa_agent_t *)data = agent;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_device_pool(hsa_amd_memory_pool_t pool, void *data) {
  uint32_t flags = 0;
  hsa_amd_segment_t segment;
  GOOD(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  GOOD(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
  if (segment != HSA_AMD_SEGMENT_GLOBAL || !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)) return HSA_STATUS_SUCCESS;
  *(hsa_amd_memory_pool_t *)data = pool;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_kernarg_pool(hsa_amd_memory_pool_t pool, void *data) {
  uint32_t flags = 0;
  GOOD(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
  if (!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)) return HSA_STATUS_SUCCESS;
  *(hsa_amd_memory_pool_t *)data = pool;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_kernarg_pools(hsa_agent_t agent, void *data) {
  return hsa_amd_agent_iterate_memory_pools(agent, take_kernarg_pool, data);
}

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data) {
  struct emu_gpu *g = data;
  (void)source;
  __atomic_store_n(&g->error, (int)status, __ATOMIC_RELEASE);
}

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data) {
  struct emu_gpu *g = data;
  __atomic_store_n(&g->fault_address, event->memory_fault.virtual_address, __ATOMIC_RELEASE);
  return HSA_STATUS_SUCCESS;
}

static void *allocate(hsa_amd_memory_pool_t pool, hsa_agent_t agent, size_t bytes) {
  void *p = NULL;
  assert_true(owned_count < OWNED_MAX);
  GOOD(hsa_amd_memory_pool_allocate(pool, bytes, 0, &p));
  GOOD(hsa_amd_agents_allow_access(1, &agent, NULL, p));
  owned[owned_count++] = p;
  return p;
}

void gpu_open(struct emu_gpu *g) {
  *g = (struct emu_gpu){0};
  GOOD(hsa_init());
  assert_int_equal(hsa_iterate_agents(take_gpu, &g->agent), HSA_STATUS_INFO_BREAK);
  assert_int_equal(hsa_amd_agent_iterate_memory_pools(g->agent, take_device_pool, &g->device), HSA_STATUS_INFO_BREAK);
  assert_int_equal(hsa_iterate_agents(take_kernarg_pools, &g->kernarg), HSA_STATUS_INFO_BREAK);
  GOOD(hsa_amd_register_system_event_handler(on_event, g));
  GOOD(hsa_queue_create(g->agent, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI, on_error, g, UINT32_MAX, UINT32_MAX, &g->queue));
  GOOD(hsa_signal_create(0, 0, NULL, &g->signal));
  g->args = allocate(g->kernarg, g->agent, QUEUE_PACKETS * KERNARG_BYTES);
}

void gpu_close(struct emu_gpu *g) {
  GOOD(hsa_queue_destroy(g->queue));
  GOOD(hsa_signal_destroy(g->signal));
  while (owned_count) GOOD(hsa_amd_memory_pool_free(owned[--owned_count]));
  GOOD(hsa_shut_down());
}

struct emu_gpu gpu;

int gpu_setup(void **state) {
  (void)state;
  gpu_open(&gpu);
  return 0;
}

static void assert_nothing_found(void) {
  const char *strict = getenv("FRONT_EMU_STRICT");
  char text[1024];
  if (!strict || strcmp(strict, "1") != 0 || !hsa_emu_findings()) return;
  (void)hsa_emu_finding(0, NULL, text, sizeof text);
  fail_msg("strict mode: %s", text);
}

int gpu_teardown(void **state) {
  (void)state;
  assert_nothing_found();
  gpu_close(&gpu);
  return 0;
}

void *gpu_memory_unwritten(struct emu_gpu *g, size_t bytes) { return allocate(g->device, g->agent, bytes); }

enum { WRITTEN_MAX = 1 << 24 };

/* Written, so that strict mode knows the zeros for something that was: also under FRONT_EMU_STRICT=1 a test does as it says. */
void *gpu_memory(struct emu_gpu *g, size_t bytes) {
  void *memory = gpu_memory_unwritten(g, bytes);
  if (bytes <= WRITTEN_MAX) memset(memory, 0, bytes);
  return memory;
}

static struct emu_kernel load(struct emu_gpu *g, const void *image, size_t bytes) {
  struct emu_kernel k;
  hsa_code_object_reader_t reader;
  hsa_executable_symbol_t symbol;
  GOOD(hsa_code_object_reader_create_from_memory(image, bytes, &reader));
  GOOD(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &k.executable));
  hsa_status_t status = hsa_executable_load_agent_code_object(k.executable, g->agent, reader, NULL, NULL);
  if (status != HSA_STATUS_SUCCESS) fail_msg("%s", gpu_report());
  GOOD(hsa_executable_freeze(k.executable, NULL));
  GOOD(hsa_code_object_reader_destroy(reader));
  GOOD(hsa_executable_get_symbol_by_name(k.executable, "k.kd", &g->agent, &symbol));
  GOOD(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object));
  GOOD(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &k.kernarg_bytes));
  GOOD(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &k.lds_bytes));
  GOOD(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k.private_bytes));
  return k;
}

/* Code objects by the address of their IR, kept: tests load the same ones often, and llc takes its time. */
struct emu_kernel kernel_of_ir(struct emu_gpu *g, const char *ir) {
  static struct {
    const char *ir;
    void *image;
    size_t bytes;
  } known[16];
  size_t i = 0;
  while (i < sizeof known / sizeof known[0] - 1 && known[i].ir && known[i].ir != ir) i++;
  if (known[i].ir != ir) {
    free(known[i].image);
    known[i].image = ir_to_code_object(ir, "gfx950", true, NULL, &known[i].bytes);
    known[i].ir = ir;
  }
  return load(g, known[i].image, known[i].bytes);
}

struct emu_kernel kernel_of_assembly(struct emu_gpu *g, const char *assembly) {
  size_t bytes;
  void *image = assembly_to_code_object(assembly, "gfx950", &bytes);
  struct emu_kernel k = load(g, image, bytes);
  free(image);
  return k;
}

void kernel_free(struct emu_kernel *k) { GOOD(hsa_executable_destroy(k->executable)); }

const char *assembly_of(const char *body) {
  static char text[8192];
  int n = snprintf(text, sizeof text,
      ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n.amdhsa_code_object_version 5\n"
      ".text\n.protected k\n.globl k\n.p2align 8\n.type k,@function\nk:\n%s\n.Lend:\n.size k, .Lend-k\n"
      ".rodata\n.p2align 6\n.amdhsa_kernel k\n .amdhsa_kernarg_size 64\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
      " .amdhsa_next_free_vgpr 32\n .amdhsa_next_free_sgpr 32\n .amdhsa_accum_offset 32\n.end_amdhsa_kernel\n"
      ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.target: amdgcn-amd-amdhsa--gfx950\namdhsa.kernels:\n"
      "  - {.name: k, .symbol: k.kd, .kernarg_segment_size: 64, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,\n"
      "     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 32, .vgpr_count: 32, .agpr_count: 0,\n"
      "     .max_flat_workgroup_size: 1024, .args: []}\n...\n.end_amdgpu_metadata\n",
      body);
  assert_true(n > 0 && (size_t)n < sizeof text);
  return text;
}

static hsa_kernel_dispatch_packet_t *packet_at(struct emu_gpu *g, uint64_t index) {
  return (hsa_kernel_dispatch_packet_t *)g->queue->base_address + index % g->queue->size;
}

uint64_t gpu_write_packet(
    struct emu_gpu *g, const struct emu_kernel *k, uint32_t groups, uint32_t size, const void *args, size_t bytes, hsa_signal_t done) {
  assert_true(bytes <= KERNARG_BYTES);
  uint64_t index = hsa_queue_add_write_index_screlease(g->queue, 1);
  uint8_t *at = (uint8_t *)g->args + index % QUEUE_PACKETS * KERNARG_BYTES;
  memcpy(at, args, bytes);
  hsa_kernel_dispatch_packet_t *p = packet_at(g, index);
  memset((uint8_t *)p + 4, 0, sizeof *p - 4);
  p->setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  p->workgroup_size_x = (uint16_t)size;
  p->workgroup_size_y = p->workgroup_size_z = 1;
  p->grid_size_x = groups * size;
  p->grid_size_y = p->grid_size_z = 1;
  p->group_segment_size = k->lds_bytes;
  p->private_segment_size = k->private_bytes;
  p->kernel_object = k->object;
  p->kernarg_address = at;
  p->completion_signal = done;
  return index;
}

void gpu_publish_packet(struct emu_gpu *g, uint64_t index) {
  uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  __atomic_store_n(&packet_at(g, index)->header, header, __ATOMIC_RELEASE);
}

void gpu_ring(struct emu_gpu *g, uint64_t index) { hsa_signal_store_screlease(g->queue->doorbell_signal, (hsa_signal_value_t)index); }

int gpu_await(struct emu_gpu *g, hsa_signal_t signal) {
  for (;;) {
    int error = __atomic_load_n(&g->error, __ATOMIC_ACQUIRE);
    if (error) return error;
    if (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 5000000, HSA_WAIT_STATE_BLOCKED) == 0) return 0;
  }
}

void gpu_begin(struct emu_gpu *g, const struct emu_kernel *k, uint32_t groups, uint32_t size, const void *args, size_t bytes) {
  hsa_signal_store_screlease(g->signal, 1);
  uint64_t index = gpu_write_packet(g, k, groups, size, args, bytes, g->signal);
  gpu_publish_packet(g, index);
  gpu_ring(g, index);
}

int gpu_launch(struct emu_gpu *g, const struct emu_kernel *k, uint32_t groups, uint32_t size, const void *args, size_t bytes) {
  gpu_begin(g, k, groups, size, args, bytes);
  return gpu_await(g, g->signal);
}

const char *gpu_report(void) {
  static char text[1 << 16];
  hsa_emu_report(text, sizeof text);
  return text;
}
