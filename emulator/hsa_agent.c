/* SPDX-License-Identifier: Apache-2.0 */
/* Agents: a CPU, and the GPU of the device model, or its partitions; their caches. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hsa_state.h"

enum { NAME_BYTES = 64, GRID_SIZE_MAX = UINT32_MAX, GPU_HANDLES = 0x20, CACHE_HANDLES = 0x40 };

const hsa_agent_t emu_cpu_agent = {0x10};

hsa_agent_t emu_gpu_agent(uint32_t index) { return (hsa_agent_t){GPU_HANDLES + index}; }

bool emu_gpu_index(hsa_agent_t agent, uint32_t *index) {
  if (agent.handle - GPU_HANDLES >= emu.gpus) return false;
  *index = (uint32_t)(agent.handle - GPU_HANDLES);
  return true;
}

void emu_uuid(uint32_t partition, char uuid[EMU_UUID_BYTES]) { snprintf(uuid, EMU_UUID_BYTES, "GPU-656d756c6174%04x", 0x6f30 + partition); }

bool emu_is_gpu(hsa_agent_t agent) {
  uint32_t index;
  return emu_gpu_index(agent, &index);
}

bool emu_is_agent(hsa_agent_t agent) { return agent.handle == emu_cpu_agent.handle || emu_is_gpu(agent); }

static void put_name(void *value, const char *name) {
  memset(value, 0, NAME_BYTES);
  snprintf(value, NAME_BYTES, "%s", name);
}

static void put_dim(void *value, uint32_t x, uint32_t y, uint32_t z) { memcpy(value, (uint32_t[]){x, y, z}, 3 * sizeof(uint32_t)); }

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = callback(emu_cpu_agent, data);
  for (uint32_t i = 0; i < emu.gpus && status == HSA_STATUS_SUCCESS; i++) status = callback(emu_gpu_agent(i), data);
  return status;
}

/* A GPU's caches: vector L1 of a CU, L2 of an XCD, and the Infinity Cache, of which a partition has its part. */
static const struct cache {
  const char *name;
  uint32_t bytes;
} caches[] = {{"L1", 32 << 10}, {"L2", 4 << 20}, {"L3", 256 << 20}};
enum { CACHE_LEVELS = sizeof caches / sizeof caches[0] };

static uint32_t cache_bytes(uint32_t level) { return level == 2 ? caches[level].bytes / emu.model.agents : caches[level].bytes; }

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*callback)(hsa_cache_t cache, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  for (uint32_t l = 0; l < CACHE_LEVELS && status == HSA_STATUS_SUCCESS && emu_is_gpu(agent); l++)
    status = callback((hsa_cache_t){CACHE_HANDLES + l}, data);
  return status;
}

hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  uint64_t level = cache.handle - CACHE_HANDLES;
  if (level >= CACHE_LEVELS) return HSA_STATUS_ERROR_INVALID_CACHE;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const char *name = caches[level].name;
  switch (attribute) {
  case HSA_CACHE_INFO_NAME_LENGTH:
    *(uint32_t *)value = (uint32_t)strlen(name);
    break;
  case HSA_CACHE_INFO_NAME:
    memcpy(value, name, strlen(name) + 1);
    break;
  case HSA_CACHE_INFO_LEVEL:
    *(uint8_t *)value = (uint8_t)(level + 1);
    break;
  case HSA_CACHE_INFO_SIZE:
    *(uint32_t *)value = cache_bytes((uint32_t)level);
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

/* An attribute whose value is 32 bits, an enum's too. */
struct word_attribute {
  int attribute;
  uint32_t cpu, gpu;
};

static bool put_word(const struct word_attribute *table, size_t count, bool gpu, int attribute, void *value) {
  for (size_t i = 0; i < count; i++) {
    if (table[i].attribute != attribute) continue;
    memcpy(value, gpu ? &table[i].gpu : &table[i].cpu, sizeof(uint32_t));
    return true;
  }
  return false;
}

static uint32_t node_of(hsa_agent_t agent) {
  uint32_t index;
  return emu_gpu_index(agent, &index) ? emu.partition[index] + 1 : 0;
}

/* Extensions by number, a bit each: none on an agent. */
enum { EXTENSION_BYTES = 128 };

/* What HSA itself asks about agents. */
static hsa_status_t standard_info(hsa_agent_t agent, int attribute, void *value) {
  bool gpu = emu_is_gpu(agent);
  static const struct word_attribute words[] = {
      {HSA_AGENT_INFO_FEATURE, 0, HSA_AGENT_FEATURE_KERNEL_DISPATCH},
      {HSA_AGENT_INFO_MACHINE_MODEL, HSA_MACHINE_MODEL_LARGE, HSA_MACHINE_MODEL_LARGE},
      {HSA_AGENT_INFO_PROFILE, HSA_PROFILE_FULL, HSA_PROFILE_BASE},
      {HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR},
      {HSA_AGENT_INFO_WAVEFRONT_SIZE, 0, LANES_A_WAVE},
      {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, 0, 1024},
      {HSA_AGENT_INFO_GRID_MAX_SIZE, 0, GRID_SIZE_MAX},
      {HSA_AGENT_INFO_FBARRIER_MAX_SIZE, 0, 32},
      {HSA_AGENT_INFO_QUEUES_MAX, 0, 128},
      {HSA_AGENT_INFO_QUEUE_MIN_SIZE, 0, 1},
      {HSA_AGENT_INFO_QUEUE_MAX_SIZE, 0, EMU_QUEUE_SIZE_MAX},
      {HSA_AGENT_INFO_QUEUE_TYPE, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_TYPE_MULTI},
      {HSA_AGENT_INFO_DEVICE, HSA_DEVICE_TYPE_CPU, HSA_DEVICE_TYPE_GPU},
  };
  if (put_word(words, sizeof words / sizeof *words, gpu, attribute, value)) return HSA_STATUS_SUCCESS;
  switch (attribute) {
  case HSA_AGENT_INFO_NAME:
    put_name(value, gpu ? emu.model.cpu : "host CPU");
    break;
  case HSA_AGENT_INFO_NODE:
    *(uint32_t *)value = node_of(agent);
    break;
  case HSA_AGENT_INFO_VENDOR_NAME:
    put_name(value, gpu ? "AMD" : "CPU");
    break;
  case HSA_AGENT_INFO_FAST_F16_OPERATION:
    *(bool *)value = gpu;
    break;
  case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
    memcpy(value, (uint16_t[]){gpu ? 1024 : 0, gpu ? 1024 : 0, gpu ? 1024 : 0}, 6);
    break;
  case HSA_AGENT_INFO_GRID_MAX_DIM:
    put_dim(value, gpu ? GRID_SIZE_MAX : 0, gpu ? GRID_SIZE_MAX : 0, gpu ? GRID_SIZE_MAX : 0);
    break;
  case HSA_AGENT_INFO_CACHE_SIZE:
    for (uint32_t l = 0; l < 4; l++) ((uint32_t *)value)[l] = gpu && l < CACHE_LEVELS ? cache_bytes(l) : 0;
    break;
  case HSA_AGENT_INFO_ISA:
    *(hsa_isa_t *)value = gpu ? emu_gpu_isa() : (hsa_isa_t){0};
    break;
  case HSA_AGENT_INFO_EXTENSIONS:
    memset(value, 0, EXTENSION_BYTES);
    break;
  case HSA_AGENT_INFO_VERSION_MAJOR:
  case HSA_AGENT_INFO_VERSION_MINOR:
    *(uint16_t *)value = 1;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

/* Attributes that later hsa_ext_amd.h have. */
enum {
  INFO_MEMORY_AVAIL = 0xA015,
  INFO_TIMESTAMP_FREQUENCY = 0xA016,
  INFO_NUM_XCC = 0xA111,
  INFO_DRIVER_UID = 0xA112,
  INFO_NEAREST_CPU = 0xA113
};

static hsa_status_t amd_other_info(hsa_agent_t agent, int attribute, void *value) {
  const struct model *m = &emu.model;
  uint32_t index = 0;
  bool gpu = emu_gpu_index(agent, &index);
  switch (attribute) {
  case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
    put_name(value, gpu ? m->product : "host CPU");
    break;
  case HSA_AMD_AGENT_INFO_UUID:
    if (gpu)
      emu_uuid(emu.partition[index], value);
    else
      snprintf(value, EMU_UUID_BYTES, "CPU-XX");
    break;
  case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
    *(bool *)value = gpu;
    break;
  case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
    *(bool *)value = true;
    break;
  case HSA_AMD_AGENT_INFO_HDP_FLUSH:
    memset(value, 0, sizeof(hsa_amd_hdp_flush_t));
    break;
  case INFO_MEMORY_AVAIL:
    if (!gpu) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint64_t *)value = m->memory_bytes;
    break;
  case INFO_TIMESTAMP_FREQUENCY:
    *(uint64_t *)value = EMU_TIMESTAMP_HZ;
    break;
  case INFO_NEAREST_CPU:
    *(hsa_agent_t *)value = emu_cpu_agent;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t amd_info(hsa_agent_t agent, int attribute, void *value) {
  const struct model *m = &emu.model;
  uint32_t index = 0;
  bool gpu = emu_gpu_index(agent, &index);
  const uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), cus = m->cus;
  const struct word_attribute words[] = {
      {HSA_AMD_AGENT_INFO_CHIP_ID, 0, m->chip_id},
      {HSA_AMD_AGENT_INFO_CACHELINE_SIZE, 64, 128},
      {HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, cpus, cus},
      {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, cpus, cus},
      {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, 0, m->clock_mhz},
      {HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, 0, emu.partition[index] + 1},
      {HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, 0, 0},
      {HSA_AMD_AGENT_INFO_BDFID, 0, 0x0100 + emu.partition[index]} /* a partition has its own function number */,
      {HSA_AMD_AGENT_INFO_DOMAIN, 0, 0},
      {HSA_AMD_AGENT_INFO_MEMORY_WIDTH, 0, 8192},
      {HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, 0, 2000},
      {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 0, m->simds_a_cu * m->waves_a_simd},
      {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, 0, m->simds_a_cu},
      {HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, 0, 4 * m->xcds},
      {HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, 0, 1},
      {HSA_AMD_AGENT_INFO_ASIC_REVISION, 0, 0},
      {INFO_NUM_XCC, 0, m->xcds},
      {INFO_DRIVER_UID, 0, emu.partition[index] + 1},
  };
  return put_word(words, sizeof words / sizeof *words, gpu, attribute, value) ? HSA_STATUS_SUCCESS
                                                                              : amd_other_info(agent, attribute, value);
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return (int)attribute >= HSA_AMD_AGENT_INFO_CHIP_ID ? amd_info(agent, (int)attribute, value)
                                                      : standard_info(agent, (int)attribute, value);
}

hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, hsa_profile_t profile, uint16_t *mask) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!mask || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}

/* No extension is an agent's. */
static hsa_status_t refuse_extension(uint16_t extension, hsa_agent_t agent, bool *result) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!result || !emu_is_extension(extension)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = false;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_extension_supported(
    uint16_t extension, hsa_agent_t agent, uint16_t version_major, uint16_t version_minor, bool *result) {
  (void)version_major, (void)version_minor;
  return refuse_extension(extension, agent, result);
}

hsa_status_t hsa_agent_major_extension_supported(
    uint16_t extension, hsa_agent_t agent, uint16_t version_major, uint16_t *version_minor, bool *result) {
  (void)version_major;
  if (emu_running() && emu_is_agent(agent) && !version_minor) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = refuse_extension(extension, agent, result);
  if (status == HSA_STATUS_SUCCESS) *version_minor = 0;
  return status;
}

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t *type) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!type) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *type = HSA_AMD_COHERENCY_TYPE_COHERENT;
  return HSA_STATUS_SUCCESS;
}

/* Changes nothing, as on every GPU of today. */
hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  bool known = type == HSA_AMD_COHERENCY_TYPE_COHERENT || type == HSA_AMD_COHERENCY_TYPE_NONCOHERENT;
  return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
