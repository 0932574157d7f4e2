/* SPDX-License-Identifier: Apache-2.0 */
/* The pretended HSA library. */
#include "stub_hsa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_AGENT = 1, GPU_AGENT = 100, CPU_POOL = 7, GPU_POOL = 8 };

struct stub_queue {
  hsa_queue_t hsa;
  uint64_t write, read;
  void (*callback)(hsa_status_t, hsa_queue_t *, void *);
  void *data;
};

struct stub_signal {
  hsa_signal_value_t value;
  struct stub_queue *queue; /* a doorbell's */
};

#define DEFAULT_STATE                                                                                                                      \
  { .gpus = 1, .compute_units = 256, .isa = "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-" }
static struct stub_state state = DEFAULT_STATE;
static hsa_amd_system_event_callback_t event_callback; /* registered once a process, as the library does */
static void *event_data;

struct stub_state *stub_state(void) {
  return &state;
}

void stub_reset(void) { state = (struct stub_state)DEFAULT_STATE; }

static struct stub_signal *signal_of(hsa_signal_t signal) { return (struct stub_signal *)(uintptr_t)signal.handle; }

hsa_status_t hsa_init(void) {
  if (state.no_driver) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  state.inits++;
  const char *behaviour = getenv("FRONT_STUB"); /* for programs that a test runs */
  if (behaviour && !strcmp(behaviour, "hangs")) state.behaviour = STUB_HANGS;
  if (behaviour && !strcmp(behaviour, "stops")) state.behaviour = STUB_QUEUE_ERROR;
  if (behaviour && !strcmp(behaviour, "small")) state.compute_units = 80;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_shut_down(void) {
  state.inits--;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_status_string(hsa_status_t status, const char **text) {
  *text = (int)status == HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION ? "stub: illegal instruction" : "stub: some status";
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void *), void *data) {
  hsa_status_t status = callback((hsa_agent_t){CPU_AGENT}, data);
  for (uint32_t i = 0; i < state.gpus && status == HSA_STATUS_SUCCESS; i++) status = callback((hsa_agent_t){GPU_AGENT + i}, data);
  return status;
}

static void set_u32(void *to, uint32_t value) { memcpy(to, &value, sizeof value); }

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  bool gpu = agent.handle >= GPU_AGENT;
  switch ((int)attribute) {
  case HSA_AGENT_INFO_DEVICE:
    set_u32(value, gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
    break;
  case HSA_AGENT_INFO_NAME:
    strcpy(value, "gfx950");
    break;
  case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
    set_u32(value, 4);
    break;
  case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
    set_u32(value, 1024);
    break;
  case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    set_u32(value, state.compute_units);
    break;
  case HSA_AMD_AGENT_INFO_BDFID:
    set_u32(value, 0xc100u + ((uint32_t)(agent.handle - GPU_AGENT) << 3));
    break;
  case HSA_AMD_AGENT_INFO_UUID:
    sprintf(value, "GPU-%016x", (unsigned)(0xabc0 + agent.handle - GPU_AGENT));
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t, void *), void *data) {
  (void)agent;
  return callback((hsa_isa_t){1}, data);
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  (void)isa;
  if (attribute == HSA_ISA_INFO_NAME_LENGTH) set_u32(value, (uint32_t)strlen(state.isa) + 1);
  if (attribute == HSA_ISA_INFO_NAME) strcpy(value, state.isa);
  return HSA_STATUS_SUCCESS;
}

/* ---- signals and queues ---- */

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t consumers, const hsa_agent_t *agents, hsa_signal_t *signal) {
  (void)consumers, (void)agents;
  struct stub_signal *made = calloc(1, sizeof *made);
  made->value = value;
  signal->handle = (uintptr_t)made;
  state.signals++;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  free(signal_of(signal));
  state.signals--;
  return HSA_STATUS_SUCCESS;
}

hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t signal) { return signal_of(signal)->value; }

/* Early, as HSA may: the caller must look at the value. */
hsa_signal_value_t hsa_signal_wait_scacquire(
    hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t how) {
  (void)condition, (void)compare, (void)timeout, (void)how;
  return signal_of(signal)->value;
}

static void raise_memory_fault(void) {
  hsa_amd_event_t event = {.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT};
  event.memory_fault.agent.handle = GPU_AGENT;
  event.memory_fault.virtual_address = 0xdead0000;
  event.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
  event_callback(&event, event_data);
}

/* As a kernel would whose workgroup 3 missed a pair: token 3, K half 1, row 77 of qkvp, for 8 tokens. */
static void leave_guard_record(const hsa_kernel_dispatch_packet_t *packet) {
  enum { GUARD_OFFSET = 208 };
  static const uint32_t record[8] = {1, 2, 3, 1, (8 + 3) * 1792 + 77, 151, 155, 0};
  void *guard;
  memcpy(&guard, (const char *)packet->kernarg_address + GUARD_OFFSET, sizeof guard);
  memcpy(guard, record, sizeof record);
}

static void take_packet(struct stub_queue *queue) {
  hsa_kernel_dispatch_packet_t *packet = (hsa_kernel_dispatch_packet_t *)queue->hsa.base_address + (queue->read & (queue->hsa.size - 1));
  if (state.packets < STUB_PACKETS) state.packet[state.packets++] = *packet;
  if (state.behaviour == STUB_QUEUE_ERROR) queue->callback((hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, &queue->hsa, queue->data);
  if (state.behaviour == STUB_MEMORY_FAULT) raise_memory_fault();
  if (state.behaviour != STUB_COMPLETES) return;
  if (state.gives_up && --state.gives_up == 0) leave_guard_record(packet);
  signal_of(packet->completion_signal)->value--;
  packet->header = HSA_PACKET_TYPE_INVALID;
  queue->read++;
}

static struct stub_queue *hanging;

void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
  struct stub_signal *s = signal_of(signal);
  s->value = value;
  if (!s->queue) return;
  hanging = s->queue;
  for (uint64_t i = s->queue->read; i <= (uint64_t)value && s->queue->read == i; i++) take_packet(s->queue);
}

void stub_finish(void) {
  state.behaviour = STUB_COMPLETES;
  while (hanging && hanging->read < hanging->write) take_packet(hanging);
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue) {
  (void)agent, (void)private_bytes, (void)group_bytes;
  struct stub_queue *made = calloc(1, sizeof *made);
  made->hsa.type = type;
  made->hsa.size = size;
  made->hsa.base_address = aligned_alloc(64, size * sizeof(hsa_kernel_dispatch_packet_t));
  memset(made->hsa.base_address, 0, size * sizeof(hsa_kernel_dispatch_packet_t));
  for (uint32_t i = 0; i < size; i++) ((hsa_kernel_dispatch_packet_t *)made->hsa.base_address)[i].header = HSA_PACKET_TYPE_INVALID;
  made->callback = callback;
  made->data = data;
  hsa_signal_create(0, 0, NULL, &made->hsa.doorbell_signal);
  signal_of(made->hsa.doorbell_signal)->queue = made;
  *queue = &made->hsa;
  state.queues++;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue) {
  hsa_signal_destroy(queue->doorbell_signal);
  if (hanging && &hanging->hsa == queue) hanging = NULL;
  free(queue->base_address);
  free(queue);
  state.queues--;
  return HSA_STATUS_SUCCESS;
}

uint64_t hsa_queue_add_write_index_screlease(const hsa_queue_t *queue, uint64_t value) {
  struct stub_queue *q = (struct stub_queue *)(uintptr_t)queue;
  q->write += value;
  return q->write - value;
}

uint64_t hsa_queue_load_read_index_scacquire(const hsa_queue_t *queue) { return ((const struct stub_queue *)(const void *)queue)->read; }

/* ---- executables ---- */

hsa_status_t hsa_code_object_reader_create_from_memory(const void *image, size_t bytes, hsa_code_object_reader_t *reader) {
  (void)bytes;
  reader->handle = (uintptr_t)image;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  (void)reader;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create_alt(
    hsa_profile_t profile, hsa_default_float_rounding_mode_t mode, const char *options, hsa_executable_t *executable) {
  (void)profile, (void)mode, (void)options;
  executable->handle = 5;
  state.executables++;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t reader,
    const char *options, hsa_loaded_code_object_t *loaded) {
  (void)executable, (void)agent, (void)reader, (void)options, (void)loaded;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *options) {
  (void)executable, (void)options;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  (void)executable;
  state.executables--;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_symbol_by_name(
    hsa_executable_t executable, const char *name, const hsa_agent_t *agent, hsa_executable_symbol_t *symbol) {
  (void)executable, (void)agent, (void)name;
  symbol->handle = 9;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute, void *value) {
  (void)symbol;
  const uint64_t object = 0x1234000;
  if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT) memcpy(value, &object, sizeof object);
  if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE) set_u32(value, 86592);
  if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE) set_u32(value, 0);
  return HSA_STATUS_SUCCESS;
}

/* ---- memory ---- */

hsa_status_t hsa_memory_copy(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t, void *), void *data) {
  return callback((hsa_amd_memory_pool_t){agent.handle >= GPU_AGENT ? GPU_POOL : CPU_POOL}, data);
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute, void *value) {
  const uint64_t size = 1ull << 38;
  const bool allowed = true;
  switch ((int)attribute) {
  case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
    set_u32(value, HSA_AMD_SEGMENT_GLOBAL);
    break;
  case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
    set_u32(value, pool.handle == GPU_POOL ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
                                           : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    break;
  case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    memcpy(value, &size, sizeof size);
    break;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
    memcpy(value, &allowed, sizeof allowed);
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags, void **address) {
  (void)pool, (void)flags;
  if (state.fail_allocation && --state.fail_allocation == 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *address = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  memset(*address, 0xcd, bytes < 1 << 20 ? bytes : 1 << 20); /* large ones stay sparse */
  state.allocations++;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_free(void *address) {
  free(address);
  state.allocations--;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(
    hsa_agent_t agent, hsa_amd_memory_pool_t pool, hsa_amd_agent_memory_pool_info_t attribute, void *value) {
  (void)agent, (void)pool, (void)attribute;
  const hsa_amd_memory_pool_access_t access =
      state.no_host_access ? HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
  memcpy(value, &access, sizeof access);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags, const void *address) {
  (void)count, (void)agents, (void)flags, (void)address;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void *to, uint32_t value, size_t words) {
  for (size_t i = 0; i < words; i++) ((uint32_t *)to)[i] = value;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void *data) {
  event_callback = callback;
  event_data = data;
  return HSA_STATUS_SUCCESS;
}
