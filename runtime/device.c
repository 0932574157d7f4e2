/* SPDX-License-Identifier: Apache-2.0 */
/* Lists HSA's GPU agents, and opens one with its memory pools. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfd.h"
#include "log.h"
#include "process.h"
#include "status.h"
#include "visible.h"

enum { AGENTS_MAX = 256 };

struct agents {
  const struct hsa_table *hsa;
  hsa_agent_t gpu[AGENTS_MAX], cpu[AGENTS_MAX];
  uint32_t gpus, cpus;
  uint32_t hidden; /* GPUs that a list leaves out */
};

/* Older libraries do not know it: then it stays empty. */
static void agent_uuid(const struct hsa_table *hsa, hsa_agent_t agent, char uuid[VISIBLE_UUID_BYTES]) {
  char text[128] = {0};
  bool known = hsa->hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, text) == HSA_STATUS_SUCCESS;
  snprintf(uuid, VISIBLE_UUID_BYTES, "%.31s", known ? text : "");
}

static hsa_status_t add_agent(hsa_agent_t agent, void *data) {
  struct agents *agents = data;
  hsa_device_type_t type;
  hsa_status_t code = agents->hsa->hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (code != HSA_STATUS_SUCCESS) return code;
  if (type == HSA_DEVICE_TYPE_GPU && agents->gpus < AGENTS_MAX) agents->gpu[agents->gpus++] = agent;
  if (type == HSA_DEVICE_TYPE_CPU && agents->cpus < AGENTS_MAX) agents->cpu[agents->cpus++] = agent;
  return HSA_STATUS_SUCCESS;
}

/* Leaves the GPU agents that HIP would show. */
static void hide_agents(struct agents *agents) {
  char uuid[AGENTS_MAX][VISIBLE_UUID_BYTES];
  uint32_t index[AGENTS_MAX];
  const char *list = visible_list();
  if (!list) return;
  for (uint32_t i = 0; i < agents->gpus; i++) agent_uuid(agents->hsa, agents->gpu[i], uuid[i]);
  hsa_agent_t all[AGENTS_MAX];
  memcpy(all, agents->gpu, sizeof all);
  uint32_t shown = visible_devices(list, (const char(*)[VISIBLE_UUID_BYTES])uuid, agents->gpus, index);
  for (uint32_t i = 0; i < shown; i++) agents->gpu[i] = all[index[i]];
  log_line("devices: \"%s\" of HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES shows %u of %u GPUs", list, shown, agents->gpus);
  agents->hidden = agents->gpus - shown;
  agents->gpus = shown;
}

static enum front_status list_agents(const struct runtime *runtime, const char *call, struct agents *agents) {
  const struct hsa_table *hsa = &runtime->hsa;
  *agents = (struct agents){.hsa = hsa};
  if (!process_is(runtime->forks)) return process_forked(call);
  hsa_status_t code = hsa->hsa_iterate_agents(add_agent, agents);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_iterate_agents", code);
  hide_agents(agents);
  return FRONT_OK;
}

enum front_status front_device_count(front_runtime runtime, uint32_t *count) {
  if (!runtime.impl || !count) return status_fail(FRONT_ERR_ARGUMENT, "front_device_count: null argument");
  struct agents agents;
  enum front_status status = list_agents(runtime.impl, "front_device_count", &agents);
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
  agent_uuid(hsa, agent, info->uuid);
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
  enum front_status status = list_agents(runtime.impl, "front_device_describe", &agents);
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

static enum front_status no_agents(const struct agents *agents) {
  char kfd[700];
  if (agents->hidden)
    return status_fail(FRONT_ERR_NO_DEVICE, "\"%s\" of HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES shows none of %u GPU agents",
        visible_list(), agents->hidden);
  kfd_describe(kfd, sizeof kfd);
  return status_fail(FRONT_ERR_NO_DEVICE, "HSA has no GPU agent: %s; ROCR_VISIBLE_DEVICES is %s", kfd,
      getenv("ROCR_VISIBLE_DEVICES") ? getenv("ROCR_VISIBLE_DEVICES") : "not set");
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
  if (!agents->gpus) return no_agents(agents);
  return status_fail(FRONT_ERR_NO_DEVICE, "no GPU agent \"%s\": there are %s", which, list);
}

enum front_status front_device_open(front_runtime runtime, const char *which, front_device *device) {
  if (!runtime.impl || !device) return status_fail(FRONT_ERR_ARGUMENT, "front_device_open: null argument");
  struct agents agents;
  enum front_status status = list_agents(runtime.impl, "front_device_open", &agents);
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
  log_line("device: %s %s %s, %u compute units", made->info.isa, made->info.uuid, made->info.pci, made->info.compute_units);
  device->impl = made;
  return FRONT_OK;
}

enum front_status front_device_close(front_device device) {
  if (!device.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_device_close: the device is null");
  if (!process_is(device.impl->runtime->forks)) return process_forked("front_device_close");
  uint32_t users = device.impl->users;
  if (users)
    return status_fail(FRONT_ERR_BUSY, "front_device_close: %u kernels, queues and allocations are left: destroy them first", users);
  device.impl->runtime->users--;
  free(device.impl);
  return FRONT_OK;
}
