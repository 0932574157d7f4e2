/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: allocate, free, copy, fill. */
#include "device_memory.h"

#include "status.h"

enum front_status memory_allocate(struct device *device, hsa_amd_memory_pool_t pool, uint64_t bytes, const char *what, void **address) {
  void *made = NULL;
  hsa_status_t code = device->hsa->hsa_amd_memory_pool_allocate(pool, bytes, 0, &made);
  if (code == HSA_STATUS_ERROR_OUT_OF_RESOURCES || code == HSA_STATUS_ERROR_INVALID_ALLOCATION || (code == HSA_STATUS_SUCCESS && !made))
    return status_fail(FRONT_ERR_MEMORY, "no memory for %s: %llu bytes were wanted, the device has %llu in all", what,
        (unsigned long long)bytes, (unsigned long long)device->info.memory_bytes);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(device->hsa, FRONT_ERR_HSA, "hsa_amd_memory_pool_allocate", code);
  code = device->hsa->hsa_amd_agents_allow_access(1, &device->agent, NULL, made);
  if (code != HSA_STATUS_SUCCESS) {
    (void)device->hsa->hsa_amd_memory_pool_free(made);
    return hsa_fail(device->hsa, FRONT_ERR_HSA, "hsa_amd_agents_allow_access", code);
  }
  device->users++;
  *address = made;
  return FRONT_OK;
}

enum front_status memory_free(struct device *device, void *address) {
  if (!address) return FRONT_OK;
  hsa_status_t code = device->hsa->hsa_amd_memory_pool_free(address);
  if (code == HSA_STATUS_ERROR_INVALID_ALLOCATION)
    return status_fail(FRONT_ERR_ARGUMENT, "%p is not where an allocation starts: it is freed already, or another library's", address);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(device->hsa, FRONT_ERR_HSA, "hsa_amd_memory_pool_free", code);
  device->users--;
  return FRONT_OK;
}

/* What HSA knows of an address; of type UNKNOWN if it does not say. */
static hsa_amd_pointer_info_t info_of(const struct device *device, const void *address) {
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  const hsa_amd_pointer_info_t unknown = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
  if (!device->hsa->hsa_amd_pointer_info) return unknown;
  return device->hsa->hsa_amd_pointer_info(address, &info, NULL, NULL, NULL) == HSA_STATUS_SUCCESS ? info : unknown;
}

/* HSA frees any agent's memory: only the device that gave it counts it. */
static bool is_another_devices(const struct device *device, const void *address) {
  hsa_amd_pointer_info_t info = info_of(device, address);
  return info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentOwner.handle && info.agentOwner.handle != device->agent.handle;
}

uint64_t memory_behind(const void *context, const void *address) {
  const struct device *device = context;
  hsa_amd_pointer_info_t info = info_of(device, address);
  if (info.type == HSA_EXT_POINTER_TYPE_UNKNOWN || !info.agentBaseAddress) return UINT64_MAX;
  uintptr_t base = (uintptr_t)info.agentBaseAddress, at = (uintptr_t)address;
  return at >= base && at - base < info.sizeInBytes ? info.sizeInBytes - (at - base) : UINT64_MAX;
}

/* Memory that HSA knows must not end before the copy does: it would be a fault, or another buffer's bytes. */
static enum front_status check_room(const struct device *device, const char *call, const char *side, const void *at, uint64_t bytes) {
  uint64_t there = memory_behind(device, at);
  if (bytes <= there) return FRONT_OK;
  return status_fail(FRONT_ERR_ARGUMENT, "%s: %s has %llu bytes behind %p: %llu were asked for", call, side, (unsigned long long)there, at,
      (unsigned long long)bytes);
}

enum front_status front_memory_allocate(front_device device, uint64_t bytes, void **address) {
  if (!device.impl || !address || !bytes) return status_fail(FRONT_ERR_ARGUMENT, "front_memory_allocate: null argument, or no bytes");
  if (!device_is_here(device.impl)) return process_forked("front_memory_allocate");
  return memory_allocate(device.impl, device.impl->local, bytes, "a buffer", address);
}

enum front_status front_memory_free(front_device device, void *address) {
  if (!device.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_memory_free: the device is null");
  if (!device_is_here(device.impl)) return process_forked("front_memory_free");
  if (address && is_another_devices(device.impl, address))
    return status_fail(FRONT_ERR_ARGUMENT, "front_memory_free: %p is another device's: free it there", address);
  return memory_free(device.impl, address);
}

enum front_status front_memory_copy(front_device device, void *to, const void *from, uint64_t bytes) {
  if (!device.impl || !to || !from) return status_fail(FRONT_ERR_ARGUMENT, "front_memory_copy: null argument");
  if (!device_is_here(device.impl)) return process_forked("front_memory_copy");
  if (!bytes) return FRONT_OK;
  enum front_status status = check_room(device.impl, "front_memory_copy", "its target", to, bytes);
  if (status == FRONT_OK) status = check_room(device.impl, "front_memory_copy", "its source", from, bytes);
  if (status != FRONT_OK) return status;
  hsa_status_t code = device.impl->hsa->hsa_memory_copy(to, from, bytes);
  return code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(device.impl->hsa, FRONT_ERR_HSA, "hsa_memory_copy", code);
}

enum front_status front_memory_fill(front_device device, void *to, uint32_t value, uint64_t words) {
  if (!device.impl || !to || (uintptr_t)to % 4)
    return status_fail(FRONT_ERR_ARGUMENT, "front_memory_fill: null argument, or an address that is not a multiple of 4");
  if (!device_is_here(device.impl)) return process_forked("front_memory_fill");
  if (!words) return FRONT_OK;
  enum front_status status =
      check_room(device.impl, "front_memory_fill", "its target", to, words > UINT64_MAX / 4 ? UINT64_MAX - 1 : words * 4);
  if (status != FRONT_OK) return status;
  hsa_status_t code = device.impl->hsa->hsa_amd_memory_fill(to, value, words);
  return code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(device.impl->hsa, FRONT_ERR_HSA, "hsa_amd_memory_fill", code);
}
