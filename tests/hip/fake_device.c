/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's device, memory and errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_parts.h"

struct fake_hip fake;
static struct fake_gpu gpu;
static _Thread_local hipError_t last_error;

hipError_t fake_return(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}

static hsa_status_t take_gpu(hsa_agent_t agent, void *data) {
  hsa_device_type_t type;
  (void)data;
  if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_GPU)
    return HSA_STATUS_SUCCESS;
  gpu.agent = agent;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data) {
  uint32_t flags = 0;
  (void)data;
  if (hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) != HSA_STATUS_SUCCESS) return HSA_STATUS_SUCCESS;
  if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) gpu.device = pool;
  if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) gpu.kernarg = pool;
  return HSA_STATUS_SUCCESS;
}

/* The CPU's kernarg pool first, then the GPU's device memory: each agent's pools overwrite what an earlier one said. */
static hsa_status_t take_pools(hsa_agent_t agent, void *data) { return hsa_amd_agent_iterate_memory_pools(agent, take_pool, data); }

static hsa_status_t take_isa(hsa_isa_t isa, void *data) {
  char name[sizeof gpu.isa] = {0};
  (void)data;
  if (hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name) != HSA_STATUS_SUCCESS) return HSA_STATUS_SUCCESS;
  const char *bare = strstr(name, "--");
  snprintf(gpu.isa, sizeof gpu.isa, "%s", bare ? bare + 2 : name);
  return HSA_STATUS_INFO_BREAK;
}

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data) {
  (void)source;
  (void)data;
  __atomic_store_n(&gpu.error, (int)status, __ATOMIC_RELEASE);
}

struct fake_gpu *fake_gpu(void) {
  if (gpu.open) return &gpu;
  uint32_t units = 0;
  if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(take_gpu, NULL) != HSA_STATUS_INFO_BREAK) return NULL;
  (void)hsa_iterate_agents(take_pools, NULL);
  (void)hsa_amd_agent_iterate_memory_pools(gpu.agent, take_pool, NULL);
  (void)hsa_agent_iterate_isas(gpu.agent, take_isa, NULL);
  (void)hsa_agent_get_info(gpu.agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &units);
  gpu.compute_units = (int)units;
  if (hsa_queue_create(gpu.agent, 64, HSA_QUEUE_TYPE_SINGLE, on_error, NULL, UINT32_MAX, UINT32_MAX, &gpu.queue) != HSA_STATUS_SUCCESS)
    return NULL;
  if (hsa_signal_create(0, 0, NULL, &gpu.done) != HSA_STATUS_SUCCESS) return NULL;
  gpu.open = true;
  return &gpu;
}

struct fake_hip *fake_hip(void) {
  return &fake;
}

__attribute__((constructor)) void fake_hip_reset(void) {
  int modules = fake.modules;
  fake = (struct fake_hip){.devices = 1, .workgroups_a_unit = 1, .modules = modules};
  memset(fake.global_mask, 0xff, sizeof fake.global_mask);
}

/* ---- devices */

hipError_t hipGetDeviceCount(int *count) {
  *count = fake.devices;
  return fake_return(fake.devices ? hipSuccess : hipErrorNoDevice);
}

hipError_t hipGetDevice(int *device) {
  *device = 0;
  return fake_return(fake.devices ? hipSuccess : hipErrorNoDevice);
}

hipError_t hipSetDevice(int device) { return fake_return(device >= 0 && device < fake.devices ? hipSuccess : hipErrorInvalidDevice); }

hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) {
  if (device < 0 || device >= fake.devices || !fake_gpu()) return fake_return(hipErrorInvalidDevice);
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "a pretended GPU");
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", fake.isa ? fake.isa : gpu.isa);
  return fake_return(hipSuccess);
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
  if (device < 0 || device >= fake.devices || !fake_gpu()) return fake_return(hipErrorInvalidDevice);
  if (attribute != hipDeviceAttributeMultiprocessorCount) return fake_return(hipErrorInvalidValue);
  *value = fake.compute_units ? fake.compute_units : gpu.compute_units;
  return fake_return(hipSuccess);
}

/* ---- memory */

hipError_t hipMalloc(void **address, size_t bytes) {
  hipError_t error = fake_forbid_capture();
  if (error != hipSuccess) return fake_return(error);
  if (!fake_gpu()) return fake_return(hipErrorNoDevice);
  hsa_status_t status = hsa_amd_memory_pool_allocate(gpu.device, bytes, 0, address);
  return fake_return(status == HSA_STATUS_SUCCESS ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipFree(void *address) {
  hipError_t error = fake_forbid_capture();
  if (error == hipSuccess) error = fake_run_all();
  if (error != hipSuccess || !address) return fake_return(error);
  return fake_return(hsa_amd_memory_pool_free(address) == HSA_STATUS_SUCCESS ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipMemGetAddressRange(void **base, size_t *bytes, void *address) {
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  if (hsa_amd_pointer_info(address, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS || info.type != HSA_EXT_POINTER_TYPE_HSA)
    return fake_return(hipErrorNotFound);
  *base = info.agentBaseAddress;
  *bytes = info.sizeInBytes;
  return fake_return(hipSuccess);
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  (void)kind;
  hipError_t error = fake_forbid_capture();
  if (error == hipSuccess) error = fake_run_all();
  if (error != hipSuccess) return fake_return(error);
  return fake_return(hsa_memory_copy(to, from, bytes) == HSA_STATUS_SUCCESS ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  (void)kind;
  return fake_return(fake_submit(fake_stream(stream), &(struct work){.kind = WORK_COPY, .to = to, .from = from, .bytes = bytes}));
}

hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  if (bytes % 4) return fake_return(hipErrorInvalidValue); /* more than the tests need */
  return fake_return(fake_submit(fake_stream(stream), &(struct work){.kind = WORK_FILL, .to = to, .value = value, .bytes = bytes}));
}

hipError_t hipMemset(void *to, int value, size_t bytes) {
  hipError_t error = hipMemsetAsync(to, value, bytes, NULL);
  return error == hipSuccess ? hipDeviceSynchronize() : error;
}

/* ---- errors */

hipError_t hipGetLastError(void) {
  hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

hipError_t hipPeekAtLastError(void) { return last_error; }

static const struct {
  hipError_t error;
  const char *name, *words;
} errors[] = {
#define ROW(error, words)                                                                                                                  \
  { error, #error, words }
    ROW(hipSuccess, "no error"),
    ROW(hipErrorInvalidValue, "invalid argument"),
    ROW(hipErrorOutOfMemory, "out of memory"),
    ROW(hipErrorNoDevice, "no ROCm-capable device is detected"),
    ROW(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"),
    ROW(hipErrorNotFound, "named symbol not found"),
    ROW(hipErrorLaunchOutOfResources, "too many resources requested for launch"),
    ROW(hipErrorLaunchFailure, "unspecified launch failure"),
    ROW(hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ROW(hipErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
#undef ROW
};

const char *hipGetErrorName(hipError_t error) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].error == error) return errors[i].name;
  return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].error == error) return errors[i].words;
  return "unknown error";
}
