/* SPDX-License-Identifier: Apache-2.0 */
/* Holds buffers against what a key needs. */
#include "memory_check.h"

#include <string.h>

#include "geometry.h"
#include "kernarg.h"
#include "status.h"

uint64_t memory_behind(const struct device *device, const void *address) {
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  if (!device->hsa->hsa_amd_pointer_info) return UINT64_MAX;
  if (device->hsa->hsa_amd_pointer_info(address, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS) return UINT64_MAX;
  if (info.type == HSA_EXT_POINTER_TYPE_UNKNOWN || !info.agentBaseAddress) return UINT64_MAX;
  uintptr_t base = (uintptr_t)info.agentBaseAddress, at = (uintptr_t)address;
  return at >= base && at - base < info.sizeInBytes ? info.sizeInBytes - (at - base) : UINT64_MAX;
}

enum front_status memory_check_args(const struct device *device, const struct layer *layer, const struct front_args *args) {
  for (uint32_t i = 0; i < KERNARG_ARGUMENTS; i++) {
    const struct kernarg_argument *argument = &kernarg_arguments[i];
    const void *address;
    if (argument->use == FRONT_ARGUMENT_SCALAR || argument->use == FRONT_ARGUMENT_INSTANCE || !kernarg_needed(layer, i)) continue;
    memcpy(&address, (const char *)args + argument->offset, sizeof address);
    uint64_t needed = kernarg_span(layer, args, i), there = memory_behind(device, address);
    if (needed > there)
      return status_fail(FRONT_ERR_ARGUMENT, "%s has %llu bytes behind %p: this kernel needs %llu", argument->name,
          (unsigned long long)there, address, (unsigned long long)needed);
  }
  return FRONT_OK;
}
