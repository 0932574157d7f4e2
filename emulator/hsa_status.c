/* SPDX-License-Identifier: Apache-2.0 */
/* What the statuses mean, HSA's and AMD's. */
#include "hsa_state.h"

static const struct {
  int status;
  const char *text;
} texts[] = {
    {HSA_STATUS_SUCCESS, "the function has been executed successfully"},
    {HSA_STATUS_INFO_BREAK, "a traversal was ended by its callback"},
    {HSA_STATUS_ERROR, "a generic error"},
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument is not one that is allowed"},
    {HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "the requested queue is not possible"},
    {HSA_STATUS_ERROR_INVALID_ALLOCATION, "the requested allocation is not possible"},
    {HSA_STATUS_ERROR_INVALID_AGENT, "the agent is invalid"},
    {HSA_STATUS_ERROR_INVALID_REGION, "the memory region is invalid"},
    {HSA_STATUS_ERROR_INVALID_SIGNAL, "the signal is invalid"},
    {HSA_STATUS_ERROR_INVALID_QUEUE, "the queue is invalid"},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "the host is out of memory, threads or other resources"},
    {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "an AQL packet is malformed"},
    {HSA_STATUS_ERROR_RESOURCE_FREE, "a resource could not be freed"},
    {HSA_STATUS_ERROR_NOT_INITIALIZED, "hsa_init has not been called"},
    {HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "too many references"},
    {HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "the arguments, or code object and device, do not go together"},
    {HSA_STATUS_ERROR_INVALID_INDEX, "the index is invalid"},
    {HSA_STATUS_ERROR_INVALID_ISA, "the instruction set architecture is invalid"},
    {HSA_STATUS_ERROR_INVALID_ISA_NAME, "the instruction set architecture's name is invalid"},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "the code object is invalid"},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE, "the executable is invalid"},
    {HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "the executable is frozen"},
    {HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "there is no symbol with this name"},
    {HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, "the variable is already defined"},
    {HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "the variable is undefined"},
    {HSA_STATUS_ERROR_EXCEPTION, "the kernel ended with an exception, or cannot end: hsa_emu_report() says where it stands"},
    {HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "the code object symbol is invalid"},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "the executable symbol is invalid"},
    {HSA_STATUS_ERROR_INVALID_FILE, "the file is invalid"},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "the code object reader is invalid"},
    {HSA_STATUS_ERROR_INVALID_CACHE, "the cache is invalid"},
    {HSA_STATUS_ERROR_INVALID_WAVEFRONT, "the wavefront is invalid"},
    {HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "the signal group is invalid"},
    {HSA_STATUS_ERROR_INVALID_RUNTIME_STATE, "the runtime is not in the state that this needs"},
    {HSA_STATUS_ERROR_FATAL, "the queue has failed for good"},
    {HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "the memory pool is invalid"},
    {HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, "the kernel accessed an address beyond the largest that there is"},
    {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "the kernel executed an instruction that the emulator refuses: hsa_emu_report() names it"},
    {HSA_STATUS_ERROR_MEMORY_FAULT, "the kernel accessed a bad address: hsa_emu_report() names it"},
    {HSA_STATUS_CU_MASK_REDUCED, "the mask was set, without the compute units that this process may not use"},
};

hsa_status_t hsa_status_string(hsa_status_t status, const char **status_string) {
  if (!status_string) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if ((int)status == HSA_EMU_STATUS_UNKNOWN_DEVICE) {
    *status_string = emu_device_error;
    return HSA_STATUS_SUCCESS;
  }
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (texts[i].status == (int)status) {
      *status_string = texts[i].text;
      return HSA_STATUS_SUCCESS;
    }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
