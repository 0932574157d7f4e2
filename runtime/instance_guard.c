/* SPDX-License-Identifier: Apache-2.0 */
/* An instance's guard words: made, read after a launch, cleared before the next. */
#include "instance_guard.h"

#include <string.h>

#include "device_memory.h"
#include "status.h"

enum { BUDGET_US_DEFAULT = 2000000, BUDGET_US_MAX = 42000000, GUARD_BYTES = GUARD_WORDS * 4 };

/* Device memory is out of the host's reach on some machines: then its words are copied. */
static bool map_words(struct device *device, void *words) {
  hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  hsa_status_t code =
      device->hsa->hsa_amd_agent_memory_pool_get_info(device->cpu, device->local, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access);
  if (code != HSA_STATUS_SUCCESS || access == HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED) return false;
  const hsa_agent_t both[2] = {device->agent, device->cpu};
  return device->hsa->hsa_amd_agents_allow_access(2, both, NULL, words) == HSA_STATUS_SUCCESS;
}

static enum front_status fill(const struct device *device, uint32_t *words, uint32_t value, uint32_t count) {
  hsa_status_t code = device->hsa->hsa_amd_memory_fill(words, value, count);
  return code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(device->hsa, FRONT_ERR_HSA, "hsa_amd_memory_fill", code);
}

enum front_status instance_guard_create(struct instance *instance, uint32_t budget_us) {
  struct device *device = instance->kernel->device;
  if (budget_us > BUDGET_US_MAX)
    return status_fail(FRONT_ERR_ARGUMENT, "front_instance_create: guard_us is %u: at most %d", budget_us, BUDGET_US_MAX);
  void *words = NULL;
  enum front_status status = memory_allocate(device, device->local, GUARD_BYTES, "the guard", &words);
  if (status != FRONT_OK) return status;
  instance->guard = words;
  instance->guard_mapped = map_words(device, words);
  status = fill(device, instance->guard, 0, GUARD_WORDS);
  uint32_t ticks = (budget_us ? budget_us : BUDGET_US_DEFAULT) * GUARD_TICKS_A_US;
  return status == FRONT_OK ? fill(device, instance->guard + GUARD_BUDGET_WORD, ticks, 1) : status;
}

bool instance_guard_read(const struct instance *instance, uint32_t record[GUARD_RECORD_WORDS]) {
  memset(record, 0, GUARD_RECORD_WORDS * sizeof *record);
  if (!instance->guard) return false;
  if (instance->guard_mapped && !__atomic_load_n(instance->guard, __ATOMIC_ACQUIRE)) return false;
  const struct hsa_table *hsa = instance->kernel->device->hsa;
  if (hsa->hsa_memory_copy(record, instance->guard, GUARD_RECORD_WORDS * sizeof *record) != HSA_STATUS_SUCCESS) {
    memset(record, 0, GUARD_RECORD_WORDS * sizeof *record);
    record[0] = 1;
  }
  return record[0] != 0;
}

enum front_status instance_guard_clear(struct instance *instance) {
  enum front_status status = instance->guard ? fill(instance->kernel->device, instance->guard, 0, GUARD_RECORD_WORDS) : FRONT_OK;
  if (status == FRONT_OK) instance->stopped = false;
  return status;
}

enum front_status instance_recover(struct instance *instance) {
  if (instance->in_flight)
    return status_fail(FRONT_ERR_BUSY,
        "front_launch: a launch of the instance gave up, and %u behind it are in flight: wait for them first", instance->in_flight);
  if (instance->unfinished) return front_instance_reset((front_instance){instance});
  return instance_guard_clear(instance);
}
