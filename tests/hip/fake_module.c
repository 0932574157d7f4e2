/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's modules, and a launch as one packet on an HSA queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_parts.h"

struct ihipModule_t {
  hsa_executable_t executable;
  struct ihipModuleSymbol_t function; /* the one that was looked up last: a module of these tests has one */
};

static hipError_t take(hipError_t *once) {
  hipError_t error = *once;
  *once = hipSuccess;
  return error;
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  struct fake_gpu *gpu = fake_gpu();
  hipError_t error = fake_forbid_capture();
  if (error == hipSuccess) error = take(&fake.fail_load);
  if (error != hipSuccess || !gpu) return fake_return(error != hipSuccess ? error : hipErrorNoDevice);
  /* HIP is not told how long the image is: the ELF says where its section headers end. */
  uint64_t headers;
  uint16_t size, count;
  memcpy(&headers, (const char *)image + 40, 8);
  memcpy(&size, (const char *)image + 58, 2);
  memcpy(&count, (const char *)image + 60, 2);
  hsa_code_object_reader_t reader;
  struct ihipModule_t *made = calloc(1, sizeof *made);
  if (!made) return fake_return(hipErrorOutOfMemory);
  hsa_status_t status = hsa_code_object_reader_create_from_memory(image, headers + (uint64_t)size * count, &reader);
  if (status == HSA_STATUS_SUCCESS) {
    status = hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &made->executable);
    if (status == HSA_STATUS_SUCCESS) status = hsa_executable_load_agent_code_object(made->executable, gpu->agent, reader, NULL, NULL);
    if (status == HSA_STATUS_SUCCESS) status = hsa_executable_freeze(made->executable, NULL);
    (void)hsa_code_object_reader_destroy(reader);
  }
  if (status != HSA_STATUS_SUCCESS) {
    if (made->executable.handle) (void)hsa_executable_destroy(made->executable);
    free(made);
    return fake_return(hipErrorNoBinaryForGpu);
  }
  fake.modules++;
  *module = made;
  return fake_return(hipSuccess);
}

hipError_t hipModuleUnload(hipModule_t module) {
  hipError_t error = fake_forbid_capture();
  if (error == hipSuccess) error = fake_run_all();
  if (error != hipSuccess) return fake_return(error);
  (void)hsa_executable_destroy(module->executable);
  free(module);
  fake.modules--;
  return fake_return(hipSuccess);
}

/* By the function's own name, as HIP does: the descriptor's ("name.kd") is not known to it. */
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  hipError_t error = take(&fake.fail_function);
  if (error != hipSuccess) return fake_return(error);
  char descriptor[256];
  hsa_executable_symbol_t symbol;
  struct ihipModuleSymbol_t *f = &module->function;
  snprintf(descriptor, sizeof descriptor, "%.250s.kd", name);
  if (hsa_executable_get_symbol_by_name(module->executable, descriptor, &fake_gpu()->agent, &symbol) != HSA_STATUS_SUCCESS)
    return fake_return(hipErrorNotFound);
  (void)hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &f->object);
  (void)hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &f->kernarg_bytes);
  (void)hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &f->lds_bytes);
  *function = f;
  return fake_return(hipSuccess);
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function, int block_size, size_t lds_bytes) {
  if (!function || block_size <= 0 || block_size > 1024 || lds_bytes) return fake_return(hipErrorInvalidValue);
  *blocks = fake.workgroups_a_unit;
  return fake_return(hipSuccess);
}

/* The order that HIP's own graphs insist on: pointer, size, end. */
static bool read_extra(void **extra, const void **block, size_t *bytes) {
  if (!extra || extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE || extra[4] != HIP_LAUNCH_PARAM_END)
    return false;
  *block = extra[1];
  memcpy(bytes, extra[3], sizeof *bytes);
  return *block != NULL;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
    unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int lds_bytes, hipStream_t stream, void **parameters,
    void **extra) {
  const void *block;
  struct work work = {.kind = WORK_LAUNCH};
  struct fake_launch *l = &work.launch;
  struct ihipStream_t *to = fake_stream(stream);
  fake.launches++;
  hipError_t error = take(&fake.fail_launch);
  if (error != hipSuccess) return fake_return(error);
  if (!function || parameters || !read_extra(extra, &block, &l->kernarg_bytes) || l->kernarg_bytes < function->kernarg_bytes)
    return fake_return(hipErrorInvalidValue);
  *l = (struct fake_launch){.function = *function,
      .grid = {grid_x, grid_y, grid_z},
      .block = {block_x, block_y, block_z},
      .lds_bytes = lds_bytes,
      .kernarg_bytes = l->kernarg_bytes};
  l->kernarg = malloc(l->kernarg_bytes);
  if (!l->kernarg) return fake_return(hipErrorOutOfMemory);
  memcpy(l->kernarg, block, l->kernarg_bytes);
  if (to->capture) fake.captured++;
  error = fake_submit(to, &work);
  free(l->kernarg);
  return fake_return(error);
}

static void fill_packet(const struct fake_gpu *gpu, const struct fake_launch *l, void *kernarg, hsa_kernel_dispatch_packet_t *p) {
  *p = (hsa_kernel_dispatch_packet_t){0};
  p->setup = 3 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  p->workgroup_size_x = (uint16_t)l->block[0];
  p->workgroup_size_y = (uint16_t)l->block[1];
  p->workgroup_size_z = (uint16_t)l->block[2];
  p->grid_size_x = l->grid[0] * l->block[0];
  p->grid_size_y = l->grid[1] * l->block[1];
  p->grid_size_z = l->grid[2] * l->block[2];
  p->group_segment_size = l->function.lds_bytes + l->lds_bytes;
  p->kernel_object = l->function.object;
  p->kernarg_address = kernarg;
  p->completion_signal = gpu->done;
}

static hipError_t await(struct fake_gpu *gpu) {
  while (!__atomic_load_n(&gpu->error, __ATOMIC_ACQUIRE))
    if (hsa_signal_wait_scacquire(gpu->done, HSA_SIGNAL_CONDITION_LT, 1, 100000000, HSA_WAIT_STATE_BLOCKED) < 1) return hipSuccess;
  return hipErrorLaunchFailure;
}

hipError_t fake_run(const struct fake_launch *l) {
  struct fake_gpu *gpu = fake_gpu();
  void *kernarg = NULL;
  if (hsa_amd_memory_pool_allocate(gpu->kernarg, l->kernarg_bytes, 0, &kernarg) != HSA_STATUS_SUCCESS) return hipErrorOutOfMemory;
  (void)hsa_amd_agents_allow_access(1, &gpu->agent, NULL, kernarg);
  memcpy(kernarg, l->kernarg, l->kernarg_bytes);
  uint64_t index = hsa_queue_add_write_index_screlease(gpu->queue, 1);
  hsa_kernel_dispatch_packet_t *slot = (hsa_kernel_dispatch_packet_t *)gpu->queue->base_address + index % gpu->queue->size, packet;
  fill_packet(gpu, l, kernarg, &packet);
  hsa_signal_store_screlease(gpu->done, 1);
  memcpy((char *)slot + 4, (const char *)&packet + 4, sizeof packet - 4);
  uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  __atomic_store_n((uint32_t *)(void *)slot, header | (uint32_t)packet.setup << 16, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(gpu->queue->doorbell_signal, (hsa_signal_value_t)index);
  hipError_t error = await(gpu);
  (void)hsa_amd_memory_pool_free(kernarg);
  fake.ran++;
  return error;
}
