/* SPDX-License-Identifier: Apache-2.0 */
/* Agents and their instruction sets: a CPU, and the GPU of the device model. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hsa_state.h"

enum { NAME_BYTES = 64, QUEUE_SIZE_MAX = 131072, GRID_SIZE_MAX = UINT32_MAX };

const hsa_agent_t emu_cpu_agent = {0x10}, emu_gpu_agent = {0x20};
static const hsa_isa_t gpu_isa = {0x30};

bool emu_is_agent(hsa_agent_t agent) { return agent.handle == emu_cpu_agent.handle || agent.handle == emu_gpu_agent.handle; }

static void put_name(void *value, const char *name) {
  memset(value, 0, NAME_BYTES);
  snprintf(value, NAME_BYTES, "%s", name);
}

static void put_dim(void *value, uint32_t x, uint32_t y, uint32_t z) { memcpy(value, (uint32_t[]){x, y, z}, 3 * sizeof(uint32_t)); }

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = callback(emu_cpu_agent, data);
  return status == HSA_STATUS_SUCCESS ? callback(emu_gpu_agent, data) : status;
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

/* What HSA itself asks about agents. */
static hsa_status_t standard_info(bool gpu, int attribute, void *value) {
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
      {HSA_AGENT_INFO_QUEUE_MAX_SIZE, 0, QUEUE_SIZE_MAX},
      {HSA_AGENT_INFO_QUEUE_TYPE, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_TYPE_MULTI},
      {HSA_AGENT_INFO_NODE, 0, 1},
      {HSA_AGENT_INFO_DEVICE, HSA_DEVICE_TYPE_CPU, HSA_DEVICE_TYPE_GPU},
  };
  if (put_word(words, sizeof words / sizeof *words, gpu, attribute, value)) return HSA_STATUS_SUCCESS;
  switch (attribute) {
  case HSA_AGENT_INFO_NAME:
    put_name(value, gpu ? emu.device.model->cpu : "host CPU");
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
    memset(value, 0, 4 * sizeof(uint32_t));
    break;
  case HSA_AGENT_INFO_ISA:
    ((hsa_isa_t *)value)->handle = gpu ? gpu_isa.handle : 0;
    break;
  case HSA_AGENT_INFO_EXTENSIONS:
    memset(value, 0, 128);
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

static hsa_status_t amd_info(bool gpu, int attribute, void *value) {
  const struct model *m = emu.device.model;
  const uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), cus = m->xcds * m->cus_an_xcd;
  const struct word_attribute words[] = {
      {HSA_AMD_AGENT_INFO_CHIP_ID, 0, m->chip_id},
      {HSA_AMD_AGENT_INFO_CACHELINE_SIZE, 64, 128},
      {HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, cpus, cus},
      {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, cpus, cus},
      {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, 0, m->clock_mhz},
      {HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, 0, 1},
      {HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, 0, 0},
      {HSA_AMD_AGENT_INFO_BDFID, 0, 0x0100},
      {HSA_AMD_AGENT_INFO_DOMAIN, 0, 0},
      {HSA_AMD_AGENT_INFO_MEMORY_WIDTH, 0, 8192},
      {HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, 0, 2000},
      {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 0, m->simds_a_cu * m->waves_a_simd},
      {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, 0, m->simds_a_cu},
      {HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, 0, 4 * m->xcds},
      {HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, 0, 1},
      {HSA_AMD_AGENT_INFO_ASIC_REVISION, 0, 0},
  };
  if (put_word(words, sizeof words / sizeof *words, gpu, attribute, value)) return HSA_STATUS_SUCCESS;
  switch (attribute) {
  case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
    put_name(value, gpu ? m->product : "host CPU");
    break;
  case HSA_AMD_AGENT_INFO_UUID:
    snprintf(value, 21, "%s", gpu ? "GPU-656d756c61746f72" : "CPU-XX");
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
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool gpu = agent.handle == emu_gpu_agent.handle;
  return (int)attribute >= HSA_AMD_AGENT_INFO_CHIP_ID ? amd_info(gpu, (int)attribute, value) : standard_info(gpu, (int)attribute, value);
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return agent.handle == emu_gpu_agent.handle ? callback(gpu_isa, data) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (isa.handle != gpu_isa.handle) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const char *name = emu.device.model->isa;
  switch ((int)attribute) {
  case HSA_ISA_INFO_NAME_LENGTH:
    *(uint32_t *)value = (uint32_t)strlen(name) + 1;
    break;
  case HSA_ISA_INFO_NAME:
    memcpy(value, name, strlen(name) + 1);
    break;
  case HSA_ISA_INFO_MACHINE_MODELS:
    memcpy(value, (bool[]){false, true}, 2);
    break;
  case HSA_ISA_INFO_PROFILES:
    memcpy(value, (bool[]){true, false}, 2);
    break;
  case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
  case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
    memcpy(value, (bool[]){false, false, true}, 3);
    break;
  case HSA_ISA_INFO_FAST_F16_OPERATION:
    *(bool *)value = true;
    break;
  case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
    memcpy(value, (uint16_t[]){1024, 1024, 1024}, 6);
    break;
  case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
    *(uint32_t *)value = 1024;
    break;
  case HSA_ISA_INFO_GRID_MAX_DIM:
    put_dim(value, GRID_SIZE_MAX, GRID_SIZE_MAX, GRID_SIZE_MAX);
    break;
  case HSA_ISA_INFO_GRID_MAX_SIZE:
    *(uint64_t *)value = (uint64_t)1 << 32;
    break;
  case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
    *(uint32_t *)value = 32;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}
