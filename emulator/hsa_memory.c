/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools, copies and fills. Device memory is host memory, so that a copy is a memcpy; it is sparse. */
#include <string.h>
#include <unistd.h>

#include "hsa_state.h"

enum { GRANULE = 4096 };

static const struct pool {
  hsa_amd_memory_pool_t handle;
  bool gpu;
  hsa_amd_segment_t segment;
  uint32_t flags;
} pools[] = {
    {{0x100}, false, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED},
    {{0x101}, false, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT},
    {{0x102}, false, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
    {{0x103}, true, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
    {{0x104}, true, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED},
    {{0x105}, true, HSA_AMD_SEGMENT_GROUP, 0},
};
enum { POOLS = sizeof pools / sizeof pools[0] };

static const struct pool *pool_of(hsa_amd_memory_pool_t handle) {
  for (int i = 0; i < POOLS; i++)
    if (pools[i].handle.handle == handle.handle) return &pools[i];
  return NULL;
}

static size_t pool_bytes(const struct pool *p) {
  if (p->segment == HSA_AMD_SEGMENT_GROUP) return emu.device.model->lds_a_cu;
  if (p->gpu) return emu.device.model->memory_bytes;
  return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  for (int i = 0; i < POOLS && status == HSA_STATUS_SUCCESS; i++)
    if (pools[i].gpu == (agent.handle == emu_gpu_agent.handle)) status = callback(pools[i].handle, data);
  return status;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct pool *p = pool_of(pool);
  if (!p) return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool global = p->segment == HSA_AMD_SEGMENT_GLOBAL;
  switch (attribute) {
  case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
    *(hsa_amd_segment_t *)value = p->segment;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
    *(uint32_t *)value = p->flags;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    *(size_t *)value = pool_bytes(p);
    break;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
    *(bool *)value = global;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    *(size_t *)value = global ? GRANULE : 0;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
    *(size_t *)value = global ? GRANULE : 0;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
    *(bool *)value = global && !p->gpu;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
    *(size_t *)value = global ? pool_bytes(p) : 0;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

/* The allocation is as large as was asked for, not rounded up: an access behind its end is found. */
hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **ptr) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct pool *p = pool_of(pool);
  if (!p) return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!ptr || !size || flags) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (p->segment != HSA_AMD_SEGMENT_GLOBAL || (p->gpu && size > pool_bytes(p))) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  uint64_t base = memory_allocate(emu.device.memory, size, GRANULE, (uint32_t)p->handle.handle);
  if (!base) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *ptr = (void *)(uintptr_t)base;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_free(void *ptr) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr) return HSA_STATUS_SUCCESS;
  struct allocation a;
  uint64_t base = (uint64_t)(uintptr_t)ptr;
  if (!memory_find(emu.device.memory, base, &a) || a.base != base) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (a.ranges) { /* a running launch counts in them: it ends first */
    pthread_mutex_lock(&emu.device.run_lock);
    traffic_forget(&emu.device.traffic, emu.device.memory, base);
    pthread_mutex_unlock(&emu.device.run_lock);
  }
  return memory_free(emu.device.memory, base) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* Device memory is in the host's reach, as behind a large BAR: once it is asked for. */
hsa_status_t hsa_amd_agent_memory_pool_get_info(
    hsa_agent_t agent, hsa_amd_memory_pool_t pool, hsa_amd_agent_memory_pool_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct pool *p = pool_of(pool);
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!p) return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (attribute != HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool own = p->gpu == (agent.handle == emu_gpu_agent.handle), global = p->segment == HSA_AMD_SEGMENT_GLOBAL;
  *(hsa_amd_memory_pool_access_t *)value = !global ? HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED
                                           : own   ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                                   : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
  return HSA_STATUS_SUCCESS;
}

/* Both agents reach all memory. */
hsa_status_t hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t *agents, const uint32_t *flags, const void *ptr) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!num_agents || !agents || flags || !ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < num_agents; i++)
    if (!emu_is_agent(agents[i])) return HSA_STATUS_ERROR_INVALID_AGENT;
  struct allocation a;
  return memory_find(emu.device.memory, (uint64_t)(uintptr_t)ptr, &a) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_memory_copy(void *dst, const void *src, size_t size) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!size) return HSA_STATUS_SUCCESS;
  if (!dst || !src) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  memmove(dst, src, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!count) return HSA_STATUS_SUCCESS;
  struct allocation a;
  uint64_t base = (uint64_t)(uintptr_t)ptr;
  if (base % 4 || !memory_find(emu.device.memory, base, &a)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (count > (a.bytes - (base - a.base)) / 4) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  uint32_t *words = ptr;
  for (size_t i = 0; i < count; i++) words[i] = value;
  return HSA_STATUS_SUCCESS;
}
