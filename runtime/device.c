/* SPDX-License-Identifier: Apache-2.0 */
/* Opens HSA, lists its GPU agents, and opens one with its memory pools. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "status.h"

enum { AGENTS_MAX = 256 };

struct agents {
  const struct hsa_table *hsa;
  hsa_agent_t gpu[AGENTS_MAX], cpu[AGENTS_MAX];
  uint32_t gpus, cpus;
};

static hsa_status_t add_agent(hsa_agent_t agent, void *data) {
  struct agents *agents = data;
  hsa_device_type_t type;
  hsa_status_t code = agents->hsa->hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (code != HSA_STATUS_SUCCESS) return code;
  if (type == HSA_DEVICE_TYPE_GPU && agents->gpus < AGENTS_MAX) agents->gpu[agents->gpus++] = agent;
  if (type == HSA_DEVICE_TYPE_CPU && agents->cpus < AGENTS_MAX) agents->cpu[agents->cpus++] = agent;
  return HSA_STATUS_SUCCESS;
}

static enum front_status list_agents(const struct hsa_table *hsa, struct agents *agents) {
  *agents = (struct agents){.hsa = hsa};
  hsa_status_t code = hsa->hsa_iterate_agents(add_agent, agents);
  return code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(hsa, FRONT_ERR_HSA, "hsa_iterate_agents", code);
}

enum front_status front_open(const struct front_options *options, front_runtime *runtime) {
  if (!runtime) return status_fail(FRONT_ERR_ARGUMENT, "front_open: runtime is null");
  if (options && options->size < sizeof options->size)
    return status_fail(FRONT_ERR_ARGUMENT, "front_open: options->size is %zu: set it to sizeof(struct front_options)", options->size);
  const char *library = NULL;
  if (options && options->size >= offsetof(struct front_options, hsa_library) + sizeof library) library = options->hsa_library;

  struct runtime *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_open: no host memory");
  enum front_status status = hsa_table_load(library, &made->hsa, made->path, sizeof made->path);
  if (status == FRONT_OK) {
    hsa_status_t code = made->hsa.hsa_init();
    if (code != HSA_STATUS_SUCCESS) {
      /* ROCr says OUT_OF_RESOURCES when there is no usable driver. */
      status = code == HSA_STATUS_ERROR_OUT_OF_RESOURCES
                   ? status_fail(
                         FRONT_ERR_NO_DEVICE, "%s finds no usable GPU driver: is there a /dev/kfd, and may this user open it?", made->path)
                   : hsa_fail(&made->hsa, FRONT_ERR_HSA, "hsa_init", code);
    }
  }
  if (status != FRONT_OK) {
    free(made);
    return status;
  }
  fault_listen(&made->hsa);
  runtime->impl = made;
  return FRONT_OK;
}

enum front_status front_close(front_runtime runtime) {
  if (!runtime.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_close: the runtime is null");
  uint32_t users = runtime.impl->users;
  if (users) return status_fail(FRONT_ERR_BUSY, "front_close: %u devices are open: close them first", users);
  const struct hsa_table *hsa = &runtime.impl->hsa;
  hsa_status_t code = hsa->hsa_shut_down();
  enum front_status status = code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(hsa, FRONT_ERR_HSA, "hsa_shut_down", code);
  free(runtime.impl);
  return status;
}

enum front_status front_library_path(front_runtime runtime, const char **path) {
  if (!runtime.impl || !path) return status_fail(FRONT_ERR_ARGUMENT, "front_library_path: null argument");
  *path = runtime.impl->path;
  return FRONT_OK;
}

enum front_status front_device_count(front_runtime runtime, uint32_t *count) {
  if (!runtime.impl || !count) return status_fail(FRONT_ERR_ARGUMENT, "front_device_count: null argument");
  struct agents agents;
  enum front_status status = list_agents(&runtime.impl->hsa, &agents);
  if (status == FRONT_OK) *count = agents.gpus;
  return status;
}

/* The first ISA of an agent is the one it runs natively. */
struct isa_name {
  const struct hsa_table *hsa;
  char name[96];
};

static hsa_status_t take_isa(hsa_isa_t isa, void *data) {
  struct isa_name *found = data;
  uint32_t length = 0;
  hsa_status_t code = found->hsa->hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length);
  if (code != HSA_STATUS_SUCCESS) return code;
  char name[256] = {0};
  if (length >= sizeof name) return HSA_STATUS_ERROR_INVALID_ISA;
  code = found->hsa->hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name);
  if (code != HSA_STATUS_SUCCESS) return code;
  snprintf(found->name, sizeof found->name, "%.95s", name);
  return HSA_STATUS_INFO_BREAK;
}

static void describe_place(const struct hsa_table *hsa, hsa_agent_t agent, struct front_device_info *info) {
  uint32_t bdf = 0, domain = 0;
  char text[128] = {0};
  /* Older libraries do not know all of these: what they do not say stays empty. */
  if (hsa->hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_BDFID, &bdf) == HSA_STATUS_SUCCESS) {
    if (hsa->hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DOMAIN, &domain) != HSA_STATUS_SUCCESS) domain = 0;
    snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.%x", domain & 0xffff, bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
  }
  if (hsa->hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, text) == HSA_STATUS_SUCCESS)
    snprintf(info->uuid, sizeof info->uuid, "%.31s", text);
  memset(text, 0, sizeof text);
  if (hsa->hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, text) == HSA_STATUS_SUCCESS)
    snprintf(info->product, sizeof info->product, "%.63s", text);
}

static enum front_status describe_agent(const struct hsa_table *hsa, hsa_agent_t agent, struct front_device_info *info) {
  *info = (struct front_device_info){0};
  hsa_status_t code = hsa->hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, info->name); /* 64 bytes, by contract */
  if (code == HSA_STATUS_SUCCESS)
    code = hsa->hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &info->compute_units);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_agent_get_info", code);
  struct isa_name isa = {hsa, {0}};
  code = hsa->hsa_agent_iterate_isas(agent, take_isa, &isa);
  if (code != HSA_STATUS_SUCCESS && code != HSA_STATUS_INFO_BREAK) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_agent_iterate_isas", code);
  memcpy(info->isa, isa.name, sizeof info->isa);
  describe_place(hsa, agent, info);
  return FRONT_OK;
}

/* Pools by segment and flags. */
struct pools {
  const struct hsa_table *hsa;
  uint32_t flag;
  hsa_amd_memory_pool_t pool;
  uint64_t bytes;
  bool found;
};

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data) {
  struct pools *want = data;
  hsa_amd_segment_t segment;
  uint32_t flags = 0;
  bool allowed = false;
  hsa_status_t code = want->hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (code != HSA_STATUS_SUCCESS) return code;
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  code = want->hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (code == HSA_STATUS_SUCCESS)
    code = want->hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
  if (code != HSA_STATUS_SUCCESS) return code;
  if (!allowed || !(flags & want->flag)) return HSA_STATUS_SUCCESS;
  code = want->hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &want->bytes);
  if (code != HSA_STATUS_SUCCESS) return code;
  want->pool = pool;
  want->found = true;
  return HSA_STATUS_INFO_BREAK;
}

static enum front_status find_pool(hsa_agent_t agent, struct pools *want) {
  hsa_status_t code = want->hsa->hsa_amd_agent_iterate_memory_pools(agent, take_pool, want);
  if (code == HSA_STATUS_SUCCESS || code == HSA_STATUS_INFO_BREAK) return FRONT_OK;
  return hsa_fail(want->hsa, FRONT_ERR_HSA, "hsa_amd_agent_iterate_memory_pools", code);
}

static enum front_status find_pools(struct device *device, const struct agents *agents) {
  struct pools local = {.hsa = agents->hsa, .flag = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED};
  enum front_status status = find_pool(device->agent, &local);
  if (status != FRONT_OK) return status;
  if (!local.found) return status_fail(FRONT_ERR_HSA, "agent %s has no coarse-grained memory pool to allocate from", device->info.name);
  struct pools kernarg = {.hsa = agents->hsa, .flag = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT};
  for (uint32_t i = 0; i < agents->cpus && !kernarg.found; i++) {
    status = find_pool(agents->cpu[i], &kernarg);
    device->cpu = agents->cpu[i];
    if (status != FRONT_OK) return status;
  }
  if (!kernarg.found) return status_fail(FRONT_ERR_HSA, "no CPU agent has a memory pool for kernel arguments");
  device->local = local.pool;
  device->info.memory_bytes = local.bytes;
  device->kernarg = kernarg.pool;
  return FRONT_OK;
}

static enum front_status describe_index(const struct agents *agents, uint32_t index, struct front_device_info *info) {
  enum front_status status = describe_agent(agents->hsa, agents->gpu[index], info);
  if (status != FRONT_OK) return status;
  struct pools local = {.hsa = agents->hsa, .flag = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED};
  status = find_pool(agents->gpu[index], &local);
  info->memory_bytes = local.bytes;
  return status;
}

enum front_status front_device_describe(front_runtime runtime, uint32_t index, struct front_device_info *info) {
  if (!runtime.impl || !info) return status_fail(FRONT_ERR_ARGUMENT, "front_device_describe: null argument");
  struct agents agents;
  enum front_status status = list_agents(&runtime.impl->hsa, &agents);
  if (status != FRONT_OK) return status;
  if (index >= agents.gpus)
    return status_fail(FRONT_ERR_NO_DEVICE, "front_device_describe: index %u: there are %u GPU agents", index, agents.gpus);
  struct front_device_info found;
  status = describe_index(&agents, index, &found);
  if (status == FRONT_OK) *info = found;
  return status;
}

static bool is_meant(const char *which, uint32_t index, const struct front_device_info *info) {
  char number[16];
  snprintf(number, sizeof number, "%u", index);
  return !strcmp(which, number) || (*info->uuid && !strcmp(which, info->uuid)) || (*info->pci && !strcmp(which, info->pci));
}

/* The agent that `which` means, into device->agent and ->info. */
static enum front_status choose_agent(const struct agents *agents, const char *which, struct device *device) {
  char list[1024] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < agents->gpus; i++) {
    enum front_status status = describe_agent(agents->hsa, agents->gpu[i], &device->info);
    if (status != FRONT_OK) return status;
    device->agent = agents->gpu[i];
    if (!which || is_meant(which, i, &device->info)) return FRONT_OK;
    int n = snprintf(
        list + used, sizeof list - used, "%s%u = %s %s %s", i ? ", " : "", i, device->info.name, device->info.uuid, device->info.pci);
    if (n > 0 && used + (size_t)n < sizeof list) used += (size_t)n;
  }
  if (!agents->gpus) return status_fail(FRONT_ERR_NO_DEVICE, "HSA has no GPU agent");
  return status_fail(FRONT_ERR_NO_DEVICE, "no GPU agent \"%s\": there are %s", which, list);
}

enum front_status front_device_open(front_runtime runtime, const char *which, front_device *device) {
  if (!runtime.impl || !device) return status_fail(FRONT_ERR_ARGUMENT, "front_device_open: null argument");
  struct agents agents;
  enum front_status status = list_agents(&runtime.impl->hsa, &agents);
  if (status != FRONT_OK) return status;
  struct device *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_device_open: no host memory");
  made->runtime = runtime.impl;
  made->hsa = &runtime.impl->hsa;
  status = choose_agent(&agents, which, made);
  if (status == FRONT_OK) status = find_pools(made, &agents);
  if (status != FRONT_OK) {
    free(made);
    return status;
  }
  runtime.impl->users++;
  device->impl = made;
  return FRONT_OK;
}

enum front_status front_device_close(front_device device) {
  if (!device.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_device_close: the device is null");
  uint32_t users = device.impl->users;
  if (users)
    return status_fail(FRONT_ERR_BUSY, "front_device_close: %u kernels, queues and allocations are left: destroy them first", users);
  device.impl->runtime->users--;
  free(device.impl);
  return FRONT_OK;
}
