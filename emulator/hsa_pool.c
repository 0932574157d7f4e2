/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools, and regions, HSA's older word for them. Device memory is host memory; it is sparse. */
#include <string.h>
#include <unistd.h>

#include "hsa_pool.h"

/* Every agent has the pools of its kind, in this order. A handle is POOL_HANDLES + 8 * (0 for the CPU, or 1 + the GPU's index) + the place
   in the list; a region's is the same number, from REGION_HANDLES on. */
enum { GRANULE = 4096, POOL_HANDLES = 0x100, REGION_HANDLES = 0x1000, POOLS_AN_AGENT = 8, KINDS = 3 };

static const struct pool_kind {
  hsa_amd_segment_t segment;
  uint32_t flags;
} kinds[2][KINDS] = {
    {{HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED},
        {HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT},
        {HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED}},
    {{HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
        {HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED}, {HSA_AMD_SEGMENT_GROUP, 0}},
};

/* The flags of pools and regions are the same bits. */
_Static_assert((int)HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT == (int)HSA_REGION_GLOBAL_FLAG_KERNARG &&
                   (int)HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED == (int)HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED,
    "flags");

bool pool_of(uint64_t handle, struct pool *pool) {
  uint64_t number = handle - POOL_HANDLES, owner = number / POOLS_AN_AGENT;
  if (handle < POOL_HANDLES || number % POOLS_AN_AGENT >= KINDS || owner > emu.gpus) return false;
  const struct pool_kind *kind = &kinds[owner != 0][number % POOLS_AN_AGENT];
  *pool = (struct pool){.number = (uint32_t)handle,
      .gpu = owner != 0,
      .owner = owner ? emu_gpu_agent((uint32_t)owner - 1) : emu_cpu_agent,
      .segment = kind->segment,
      .flags = kind->flags};
  if (pool->segment == HSA_AMD_SEGMENT_GROUP)
    pool->bytes = emu.model.lds_a_cu;
  else
    pool->bytes = pool->gpu ? emu.model.memory_bytes : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  return true;
}

static bool region_of(hsa_region_t region, struct pool *pool) {
  return region.handle >= REGION_HANDLES && pool_of(region.handle - REGION_HANDLES + POOL_HANDLES, pool);
}

/* The handle of the agent's pool `i`, less POOL_HANDLES. */
static uint64_t pool_number(hsa_agent_t agent, uint32_t i) {
  uint32_t index;
  return (emu_gpu_index(agent, &index) ? (index + 1) * POOLS_AN_AGENT : 0) + i;
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  for (uint32_t i = 0; i < KINDS && status == HSA_STATUS_SUCCESS; i++)
    status = callback((hsa_amd_memory_pool_t){POOL_HANDLES + pool_number(agent, i)}, data);
  return status;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute, void *value) {
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!pool_of(pool.handle, &p)) return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool global = p.segment == HSA_AMD_SEGMENT_GLOBAL;
  switch (attribute) {
  case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
    *(hsa_amd_segment_t *)value = p.segment;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
    *(uint32_t *)value = p.flags;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    *(size_t *)value = p.bytes;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
    *(bool *)value = global;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
    *(size_t *)value = global ? GRANULE : 0;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
    *(bool *)value = global && !p.gpu;
    break;
  case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
    *(size_t *)value = global ? p.bytes : 0;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

/* Device memory is in the host's reach, as behind a large BAR, and in other partitions': once it is asked for. */
hsa_status_t hsa_amd_agent_memory_pool_get_info(
    hsa_agent_t agent, hsa_amd_memory_pool_t pool, hsa_amd_agent_memory_pool_info_t attribute, void *value) {
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!pool_of(pool.handle, &p)) return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool own = p.owner.handle == agent.handle, global = p.segment == HSA_AMD_SEGMENT_GLOBAL;
  switch (attribute) {
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
    *(hsa_amd_memory_pool_access_t *)value = !global ? HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED
                                             : own   ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                                     : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
    break;
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
    *(uint32_t *)value = own || !global ? 0 : 1;
    break;
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
    if (!own && global)
      *(hsa_amd_memory_pool_link_info_t *)value = (hsa_amd_memory_pool_link_info_t){
          .atomic_support_32bit = true, .atomic_support_64bit = true, .coherent_support = true, .link_type = HSA_AMD_LINK_INFO_TYPE_PCIE};
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

/* --- regions ---------------------------------------------------------------------------------------------------------------------- */

bool emu_is_region(hsa_region_t region) {
  struct pool p;
  return region_of(region, &p) && p.segment == HSA_AMD_SEGMENT_GLOBAL;
}

/* A GPU has the CPU's regions too: programs look for kernarg memory there. */
hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent, hsa_status_t (*callback)(hsa_region_t region, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  for (uint32_t i = 0; i < KINDS && status == HSA_STATUS_SUCCESS; i++)
    status = callback((hsa_region_t){REGION_HANDLES + pool_number(agent, i)}, data);
  for (uint32_t i = 0; i < KINDS && status == HSA_STATUS_SUCCESS && emu_is_gpu(agent); i++)
    status = callback((hsa_region_t){REGION_HANDLES + pool_number(emu_cpu_agent, i)}, data);
  return status;
}

hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void *value) {
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!region_of(region, &p)) return HSA_STATUS_ERROR_INVALID_REGION;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch ((int)attribute) {
  case HSA_REGION_INFO_SEGMENT:
    *(hsa_region_segment_t *)value = (hsa_region_segment_t)p.segment;
    break;
  case HSA_REGION_INFO_GLOBAL_FLAGS:
    *(uint32_t *)value = p.flags;
    break;
  case HSA_REGION_INFO_SIZE:
    *(size_t *)value = p.bytes;
    break;
  case HSA_REGION_INFO_ALLOC_MAX_SIZE:
    *(size_t *)value = p.segment == HSA_AMD_SEGMENT_GLOBAL ? p.bytes : 0;
    break;
  case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE:
    *(uint32_t *)value = 0;
    break;
  case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED:
    *(bool *)value = p.segment == HSA_AMD_SEGMENT_GLOBAL;
    break;
  case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE:
  case HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT:
    *(size_t *)value = p.segment == HSA_AMD_SEGMENT_GLOBAL ? GRANULE : 0;
    break;
  case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
    *(bool *)value = p.segment == HSA_AMD_SEGMENT_GLOBAL;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr) {
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!region_of(region, &p)) return HSA_STATUS_ERROR_INVALID_REGION;
  return hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){p.number}, size, 0, ptr);
}
