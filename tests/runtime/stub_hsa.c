/* SPDX-License-Identifier: Apache-2.0 */
/* The pretended HSA library: agents, memory, executables. */
#include "stub_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CPU_AGENT = 1, GPU_AGENT = STUB_GPU_AGENT, CPU_POOL = 7, GPU_POOL = 8, ALLOCATIONS = 4096 };

#define DEFAULT_STATE                                                                                                                      \
  { .gpus = 1, .compute_units = 256, .isa = "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-" }
struct stub_state stub = DEFAULT_STATE;
pthread_mutex_t stub_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static struct {
  void *address;
  size_t bytes;
} allocation[ALLOCATIONS];

struct stub_state *stub_state(void) {
  return &stub;
}

void stub_reset(void) { stub = (struct stub_state)DEFAULT_STATE; }

bool stub_fails(const char *function) {
  uint32_t left = stub.fail_call;
  while (left && !atomic_compare_exchange_weak(&stub.fail_call, &left, left - 1)) continue;
  if (left == 1) stub.failed = function;
  return left == 1;
}

hsa_status_t hsa_init(void) {
  if (stub.no_driver) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  stub.inits++;
  stub.initialising = stub.slow_init;
  if (stub.slow_init) nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  stub.initialising = false;
  const char *behaviour = getenv("FRONT_STUB"); /* for programs that a test runs */
  if (behaviour && !strcmp(behaviour, "hangs")) stub.behaviour = STUB_HANGS;
  if (behaviour && !strcmp(behaviour, "stops")) stub.behaviour = STUB_QUEUE_ERROR;
  if (behaviour && !strcmp(behaviour, "small")) stub.compute_units = 80;
  if (behaviour && !strcmp(behaviour, "other")) stub.isa = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
  if (behaviour && !strcmp(behaviour, "no driver")) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_shut_down(void) {
  if (--stub.inits == 0) stub_forget_handlers();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value) {
  const uint16_t version = 1;
  if (attribute != HSA_SYSTEM_INFO_VERSION_MAJOR) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  memcpy(value, &version, sizeof version);
  return stub.inits ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

hsa_status_t hsa_status_string(hsa_status_t status, const char **text) {
  *text = (int)status == HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION ? "stub: illegal instruction" : "stub: some status";
  return HSA_STATUS_SUCCESS;
}

/* ROCR_VISIBLE_DEVICES is HSA's to obey; here it may have single digits. */
static bool is_visible(uint32_t gpu) {
  const char *list = getenv("ROCR_VISIBLE_DEVICES");
  return !list || strchr(list, (int)('0' + gpu));
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void *), void *data) {
  STUB_CALL();
  hsa_status_t status = callback((hsa_agent_t){CPU_AGENT}, data);
  for (uint32_t i = 0; i < stub.gpus && status == HSA_STATUS_SUCCESS; i++)
    if (is_visible(i)) status = callback((hsa_agent_t){GPU_AGENT + i}, data);
  return status;
}

static void set_u32(void *to, uint32_t value) { memcpy(to, &value, sizeof value); }

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  bool gpu = agent.handle >= GPU_AGENT;
  STUB_CALL();
  switch ((int)attribute) {
  case HSA_AGENT_INFO_DEVICE:
    set_u32(value, gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
    break;
  case HSA_AGENT_INFO_NAME:
    snprintf(value, 64, "%.*s", (int)strcspn(strstr(stub.isa, "--") + 2, ":"), strstr(stub.isa, "--") + 2);
    break;
  case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
    set_u32(value, 4);
    break;
  case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
    set_u32(value, 1024);
    break;
  case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    set_u32(value, stub.compute_units);
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
  STUB_CALL();
  return callback((hsa_isa_t){1}, data);
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  (void)isa;
  STUB_CALL();
  if (attribute == HSA_ISA_INFO_NAME_LENGTH) set_u32(value, (uint32_t)strlen(stub.isa) + 1);
  if (attribute == HSA_ISA_INFO_NAME) strcpy(value, stub.isa);
  return HSA_STATUS_SUCCESS;
}

/* ---- executables ---- */

hsa_status_t hsa_code_object_reader_create_from_memory(const void *image, size_t bytes, hsa_code_object_reader_t *reader) {
  (void)bytes;
  STUB_CALL();
  stub.readers++;
  reader->handle = (uintptr_t)image;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  (void)reader;
  stub.readers--;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create_alt(
    hsa_profile_t profile, hsa_default_float_rounding_mode_t mode, const char *options, hsa_executable_t *executable) {
  (void)profile, (void)mode, (void)options;
  STUB_CALL();
  executable->handle = 5;
  stub.executables++;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t reader,
    const char *options, hsa_loaded_code_object_t *loaded) {
  (void)executable, (void)agent, (void)reader, (void)options, (void)loaded;
  STUB_CALL();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *options) {
  (void)executable, (void)options;
  STUB_CALL();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  (void)executable;
  stub.executables--;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_symbol_by_name(
    hsa_executable_t executable, const char *name, const hsa_agent_t *agent, hsa_executable_symbol_t *symbol) {
  (void)executable, (void)agent, (void)name;
  STUB_CALL();
  symbol->handle = 9;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute, void *value) {
  (void)symbol;
  STUB_CALL();
  const uint64_t object = 0x1234000;
  if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT) memcpy(value, &object, sizeof object);
  if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE) set_u32(value, 86592);
  if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE) set_u32(value, 0);
  return HSA_STATUS_SUCCESS;
}

/* ---- memory ---- */

hsa_status_t hsa_memory_copy(void *to, const void *from, size_t bytes) {
  STUB_CALL();
  memcpy(to, from, bytes);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t, void *), void *data) {
  STUB_CALL();
  return callback((hsa_amd_memory_pool_t){agent.handle >= GPU_AGENT ? GPU_POOL : CPU_POOL}, data);
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute, void *value) {
  const uint64_t size = 1ull << 38;
  const bool allowed = true;
  STUB_CALL();
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
  STUB_CALL();
  if (stub.fail_allocation && --stub.fail_allocation == 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  void *made = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  memset(made, 0xcd, bytes < 1 << 20 ? bytes : 1 << 20); /* large ones stay sparse */
  pthread_mutex_lock(&stub_lock);
  size_t i = 0;
  while (i < ALLOCATIONS - 1 && allocation[i].address) i++;
  allocation[i].address = made;
  allocation[i].bytes = bytes;
  pthread_mutex_unlock(&stub_lock);
  stub.allocations++;
  *address = made;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_free(void *address) {
  bool found = false;
  pthread_mutex_lock(&stub_lock);
  for (size_t i = 0; i < ALLOCATIONS; i++)
    if (allocation[i].address == address) {
      allocation[i].address = NULL;
      found = true;
    }
  pthread_mutex_unlock(&stub_lock);
  if (!found) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  free(address);
  stub.allocations--;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info(
    const void *address, hsa_amd_pointer_info_t *info, void *(*allocate)(size_t), uint32_t *agents, hsa_agent_t **accessible) {
  (void)allocate, (void)agents, (void)accessible;
  STUB_CALL();
  info->type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  pthread_mutex_lock(&stub_lock);
  for (size_t i = 0; i < ALLOCATIONS; i++) {
    const char *base = allocation[i].address;
    if (!base || (const char *)address < base || (const char *)address >= base + allocation[i].bytes) continue;
    info->type = HSA_EXT_POINTER_TYPE_HSA;
    info->agentBaseAddress = allocation[i].address;
    info->sizeInBytes = allocation[i].bytes;
  }
  pthread_mutex_unlock(&stub_lock);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(
    hsa_agent_t agent, hsa_amd_memory_pool_t pool, hsa_amd_agent_memory_pool_info_t attribute, void *value) {
  (void)agent, (void)pool, (void)attribute;
  STUB_CALL();
  const hsa_amd_memory_pool_access_t access =
      stub.no_host_access ? HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
  memcpy(value, &access, sizeof access);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags, const void *address) {
  (void)count, (void)agents, (void)flags, (void)address;
  STUB_CALL();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void *to, uint32_t value, size_t words) {
  STUB_CALL();
  for (size_t i = 0; i < words; i++) ((uint32_t *)to)[i] = value;
  return HSA_STATUS_SUCCESS;
}
