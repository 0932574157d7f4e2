/* SPDX-License-Identifier: Apache-2.0 */
/* The HIP route: a kernel as a HIP module, its bindings, and one call a launch. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle_open.h"
#include "extensible.h"
#include "geometry.h"
#include "guard.h"
#include "hip_table.h"
#include "inspect.h"
#include "kernarg.h"
#include "read_file.h"
#include "status.h"
#include "step_check.h"

_Static_assert(FRONT_HIP_GUARD_BYTES == GUARD_WORDS * 4, "the guard's size");

struct hip {
  struct hip_table call;
  char path[512];
  int devices;
  _Atomic uint32_t users; /* kernels */
};

struct hip_kernel {
  struct hip *hip;
  struct layer layer;
  struct front_kernel_info info;
  struct front_hip_device_info device;
  struct ihipModule_t *module;
  struct ihipModuleSymbol_t *function;
  void *image; /* some versions of HIP go on reading it */
  uint32_t workgroups_a_unit;
  _Atomic uint32_t users; /* bindings */
};

struct hip_binding {
  struct hip_kernel *kernel;
  struct front_args block;
};

/* ---- the library ---- */

static enum front_status count_devices(struct hip *hip) {
  unsigned error = hip->call.hipGetDeviceCount(&hip->devices);
  if (error == HIP_GOOD && hip->devices > 0) return FRONT_OK;
  if (error != HIP_GOOD && error != HIP_NO_DEVICE && error != HIP_INVALID_DEVICE)
    return hip_fail(&hip->call, "front_hip_open", "hipGetDeviceCount", error);
  if (error != HIP_GOOD) (void)hip->call.hipGetLastError();
  return status_fail(FRONT_ERR_NO_DEVICE,
      "front_hip_open: %s finds no GPU: check that /dev/kfd is there and may be opened, and HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES",
      hip->path);
}

enum front_status front_hip_open(const struct front_hip_options *options, front_hip *hip) {
  if (!hip) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_open: null argument");
  struct front_hip_options o;
  enum front_status status = options_take(&o, sizeof o, options, "front_hip_open");
  if (status != FRONT_OK) return status;
  struct hip *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_hip_open: no host memory");
  status = hip_table_load(o.hip_library, &made->call, made->path, sizeof made->path);
  if (status == FRONT_OK) status = count_devices(made);
  if (status != FRONT_OK) {
    free(made);
    return status;
  }
  hip->impl = made;
  return FRONT_OK;
}

enum front_status front_hip_close(front_hip hip) {
  if (!hip.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_close: the handle is null");
  uint32_t users = hip.impl->users;
  if (users) return status_fail(FRONT_ERR_BUSY, "front_hip_close: %u kernels are left: destroy them first", users);
  free(hip.impl);
  return FRONT_OK;
}

enum front_status front_hip_library_path(front_hip hip, const char **path) {
  if (!hip.impl || !path) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_library_path: null argument");
  *path = hip.impl->path;
  return FRONT_OK;
}

/* ---- devices ---- */

/* Compute units that a stream's mask leaves, at most `units`. HIP without an answer: all of them. */
static uint32_t count_units(const struct hip_table *call, struct ihipStream_t *stream, uint32_t units) {
  uint32_t mask[HIP_MASK_WORDS] = {0}, set = 0;
  if (call->hipExtStreamGetCUMask(stream, HIP_MASK_WORDS, mask) != HIP_GOOD) {
    (void)call->hipGetLastError();
    return units;
  }
  for (size_t i = 0; i < HIP_MASK_WORDS; i++) set += (uint32_t)__builtin_popcount(mask[i]);
  return set < units ? set : units;
}

static enum front_status describe(struct hip *hip, int ordinal, struct front_hip_device_info *info) {
  const struct hip_table *call = &hip->call;
  struct hip_properties properties;
  int current = 0, units = 0;
  memset(&properties, 0, sizeof properties);
  unsigned error = call->hipGetDevice(&current);
  if (error != HIP_GOOD) return hip_fail(call, "HIP's current device", "hipGetDevice", error);
  if (ordinal < 0) ordinal = current;
  error = call->hipGetDevicePropertiesR0600(&properties, ordinal);
  if (error != HIP_GOOD) return hip_fail(call, "a HIP device's properties", "hipGetDeviceProperties", error);
  error = call->hipDeviceGetAttribute(&units, HIP_ATTRIBUTE_COMPUTE_UNITS, ordinal);
  if (error != HIP_GOOD) return hip_fail(call, "a HIP device's compute units", "hipDeviceGetAttribute", error);
  properties.name[HIP_NAME_BYTES - 1] = properties.isa[HIP_NAME_BYTES - 1] = 0;
  *info = (struct front_hip_device_info){.ordinal = ordinal, .compute_units = units > 0 ? (uint32_t)units : 0};
  /* The null stream is the current device's. */
  if (ordinal == current) info->compute_units = count_units(call, NULL, info->compute_units);
  snprintf(info->isa, sizeof info->isa, "%.*s", (int)sizeof info->isa - 1, properties.isa);
  snprintf(info->product, sizeof info->product, "%.*s", (int)sizeof info->product - 1, properties.name);
  return FRONT_OK;
}

enum front_status front_hip_device_describe(front_hip hip, int32_t ordinal, struct front_hip_device_info *info) {
  if (!hip.impl || !info) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_device_describe: null argument");
  if (ordinal < -1 || ordinal >= hip.impl->devices)
    return status_fail(
        FRONT_ERR_NO_DEVICE, "front_hip_device_describe: there is no HIP device %d: there are %d", ordinal, hip.impl->devices);
  return describe(hip.impl, ordinal, info);
}

/* ---- kernels ---- */

static enum front_status check_residency(const struct hip_kernel *kernel, const char *what, uint32_t units) {
  uint64_t resident = (uint64_t)units * kernel->workgroups_a_unit;
  if (resident >= GRID) return FRONT_OK;
  return status_fail(FRONT_ERR_RESIDENCY,
      "%s: %s on HIP device %d has %u compute units x %u workgroups = %llu, and %d workgroups must be resident together: use a whole "
      "MI300X "
      "or MI355X, without a CU mask",
      kernel->info.name, what, kernel->device.ordinal, units, kernel->workgroups_a_unit, (unsigned long long)resident, GRID);
}

static enum front_status load(struct hip_kernel *kernel) {
  const struct hip_table *call = &kernel->hip->call;
  const char *name = kernel->info.name;
  char function[sizeof kernel->info.symbol];
  int blocks = 0;
  snprintf(function, sizeof function, "%s", kernel->info.symbol);
  char *dot = strrchr(function, '.');
  if (dot && !strcmp(dot, ".kd")) *dot = 0; /* HIP looks a function up by its own name, not by its descriptor's */
  unsigned error = call->hipModuleLoadData(&kernel->module, kernel->image);
  if (error != HIP_GOOD) {
    kernel->module = NULL;
    return hip_fail(call, name, "hipModuleLoadData", error);
  }
  error = call->hipModuleGetFunction(&kernel->function, kernel->module, function);
  if (error != HIP_GOOD) return hip_fail(call, name, "hipModuleGetFunction", error);
  error = call->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel->function, THREADS, 0);
  if (error != HIP_GOOD) return hip_fail(call, name, "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", error);
  kernel->workgroups_a_unit = blocks > 0 ? (uint32_t)blocks : 0;
  return check_residency(kernel, kernel->device.isa, kernel->device.compute_units);
}

static void release(struct hip_kernel *kernel) {
  if (kernel->module && kernel->hip->call.hipModuleUnload(kernel->module) != HIP_GOOD) (void)kernel->hip->call.hipGetLastError();
  free(kernel->image);
  free(kernel);
}

/* Takes `image`, also when it fails. */
static enum front_status make_kernel(struct hip *hip, void *image, size_t bytes, const char *key, front_hip_kernel *kernel) {
  struct hip_kernel *made = calloc(1, sizeof *made);
  if (!made) {
    free(image);
    return status_fail(FRONT_ERR_MEMORY, "front_hip_kernel_load: no host memory");
  }
  made->hip = hip;
  made->image = image;
  enum front_status status = describe(hip, -1, &made->device);
  if (status == FRONT_OK) status = inspect_object(image, bytes, key, made->device.isa, &made->layer, &made->info);
  if (status == FRONT_OK) status = load(made);
  if (status != FRONT_OK) {
    release(made);
    return status;
  }
  hip->users++;
  kernel->impl = made;
  return FRONT_OK;
}

enum front_status front_hip_kernel_load(front_hip hip, const void *image, size_t bytes, const char *key, front_hip_kernel *kernel) {
  if (!hip.impl || !image || !kernel) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_kernel_load: null argument");
  void *copy = malloc(bytes ? bytes : 1);
  if (!copy) return status_fail(FRONT_ERR_MEMORY, "front_hip_kernel_load: no host memory for %zu bytes", bytes);
  memcpy(copy, image, bytes);
  return make_kernel(hip.impl, copy, bytes, key, kernel);
}

enum front_status front_hip_kernel_load_file(front_hip hip, const char *path, const char *key, front_hip_kernel *kernel) {
  if (!hip.impl || !path || !kernel) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_kernel_load_file: null argument");
  void *image = NULL;
  size_t bytes = 0;
  enum front_status status = file_read(AT_FDCWD, path, path, false, IMAGE_BYTES_MAX, &image, &bytes);
  if (status != FRONT_OK) return status;
  status = make_kernel(hip.impl, image, bytes, key, kernel);
  return status == FRONT_OK ? status : status_fail(status, "%s: %s", path, front_error());
}

enum front_status front_hip_kernel_load_bundle(front_hip hip, front_bundle bundle, const char *key, front_hip_kernel *kernel) {
  if (!hip.impl || !bundle.impl || !key || !kernel) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_kernel_load_bundle: null argument");
  char arch[32], name[LAYER_NAME_MAX];
  struct front_hip_device_info info;
  void *image = NULL;
  size_t bytes = 0;
  enum front_status status = describe(hip.impl, -1, &info);
  if (status != FRONT_OK) return status;
  bundle_arch(info.isa, arch);
  status = bundle_take(bundle, key, arch, name, &image, &bytes);
  if (status != FRONT_OK) return status;
  status = make_kernel(hip.impl, image, bytes, name, kernel);
  return status == FRONT_OK ? status : status_fail(status, "%s.%s.hsaco: %s", name, arch, front_error());
}

enum front_status front_hip_kernel_destroy(front_hip_kernel kernel) {
  if (!kernel.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_kernel_destroy: the kernel is null");
  uint32_t users = kernel.impl->users;
  if (users) return status_fail(FRONT_ERR_BUSY, "front_hip_kernel_destroy: %u bindings are left: destroy them first", users);
  kernel.impl->hip->users--;
  release(kernel.impl);
  return FRONT_OK;
}

enum front_status front_hip_kernel_describe(front_hip_kernel kernel, struct front_kernel_info *info) {
  if (!kernel.impl || !info) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_kernel_describe: null argument");
  *info = kernel.impl->info;
  return FRONT_OK;
}

enum front_status front_hip_stream_check(front_hip_kernel kernel, struct ihipStream_t *stream) {
  if (!kernel.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_stream_check: the kernel is null");
  const struct hip_kernel *k = kernel.impl;
  int device = 0;
  unsigned error = k->hip->call.hipStreamGetDevice(stream, &device);
  if (error != HIP_GOOD) return hip_fail(&k->hip->call, "front_hip_stream_check", "hipStreamGetDevice", error);
  if (device != k->device.ordinal)
    return status_fail(FRONT_ERR_ARGUMENT, "front_hip_stream_check: the stream is of HIP device %d, %s was loaded for device %d", device,
        k->info.name, k->device.ordinal);
  return check_residency(k, "the stream", count_units(&k->hip->call, stream, k->device.compute_units));
}

/* ---- bindings and launches ---- */

static enum front_status check_owned(const char *name, const void *address, uintptr_t align, uint32_t bytes) {
  if (!address)
    return status_fail(
        FRONT_ERR_ARGUMENT, "%s is null: on the HIP route it is the caller's: %u zeroed bytes of device memory", name, bytes);
  if ((uintptr_t)address % align)
    return status_fail(FRONT_ERR_ARGUMENT, "%s is at %p: it must be aligned to %u bytes", name, address, (unsigned)align);
  return FRONT_OK;
}

static uint64_t memory_behind_hip(const void *context, const void *address) {
  const struct hip_table *call = context;
  void *base = NULL;
  size_t bytes = 0;
  if (call->hipMemGetAddressRange(&base, &bytes, (void *)(uintptr_t)address) != HIP_GOOD) {
    (void)call->hipGetLastError(); /* not HIP's: believed */
    return UINT64_MAX;
  }
  uintptr_t begin = (uintptr_t)base, at = (uintptr_t)address;
  return at >= begin && at - begin < bytes ? bytes - (at - begin) : UINT64_MAX;
}

/* What an instance owns on the HSA route is the caller's here; the rest is checked alike. */
static enum front_status check_args(const struct hip_kernel *kernel, const struct front_args *args) {
  struct front_args others = *args;
  others.scratch = others.epoch = others.guard = NULL;
  enum front_status status = kernarg_check(&kernel->layer, &others);
  if (status == FRONT_OK) status = check_owned("scratch", args->scratch, 256, kernel->info.scratch_bytes);
  if (status == FRONT_OK) status = check_owned("epoch", args->epoch, 4, FRONT_HIP_EPOCH_BYTES);
  if (status == FRONT_OK && kernel->layer.guard) status = check_owned("guard", args->guard, 128, FRONT_HIP_GUARD_BYTES);
  return status == FRONT_OK ? kernarg_check_sizes(&kernel->layer, args, memory_behind_hip, &kernel->hip->call) : status;
}

enum front_status front_hip_binding_create(front_hip_kernel kernel, const struct front_args *args, front_hip_binding *binding) {
  if (!kernel.impl || !args || !binding) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_binding_create: null argument");
  enum front_status status = check_args(kernel.impl, args);
  if (status != FRONT_OK) return status;
  struct hip_binding *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_hip_binding_create: no host memory");
  *made = (struct hip_binding){.kernel = kernel.impl, .block = *args};
  kernel.impl->users++;
  binding->impl = made;
  return FRONT_OK;
}

enum front_status front_hip_binding_update(front_hip_binding binding, const struct front_args *args) {
  if (!binding.impl || !args) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_binding_update: null argument");
  enum front_status status = check_args(binding.impl->kernel, args);
  if (status == FRONT_OK) binding.impl->block = *args;
  return status;
}

enum front_status front_hip_binding_destroy(front_hip_binding binding) {
  if (!binding.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_binding_destroy: the binding is null");
  binding.impl->kernel->users--;
  free(binding.impl);
  return FRONT_OK;
}

enum front_status front_hip_step_check(
    front_hip_binding binding, const int64_t *pos, const int64_t *slot, const int32_t *swa_lens, const int32_t *t2r) {
  if (!binding.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_step_check: the binding is null");
  const struct hip_kernel *kernel = binding.impl->kernel;
  const struct step_values values = {pos, slot, swa_lens, t2r};
  return step_check_values(&kernel->layer, &binding.impl->block, &values, memory_behind_hip, &kernel->hip->call);
}

static enum front_status launch_failed(const struct hip_kernel *kernel, struct ihipStream_t *stream, unsigned error) {
  const struct hip_table *call = &kernel->hip->call;
  unsigned capturing = 0;
  char what[160];
  (void)call->hipGetLastError();
  bool captured = call->hipStreamIsCapturing(stream, &capturing) == HIP_GOOD && capturing;
  snprintf(what, sizeof what, "%s%s", kernel->info.name, captured ? ", on a stream that is being captured" : "");
  return hip_fail(call, what, "hipModuleLaunchKernel", error);
}

enum front_status front_hip_launch(front_hip_binding binding, struct ihipStream_t *stream) {
  if (!binding.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_launch: the binding is null");
  const struct hip_kernel *kernel = binding.impl->kernel;
  size_t bytes = sizeof binding.impl->block;
  /* HIP copies the block before it returns, also into a graph. */
  void *extra[] = {(void *)HIP_PARAM_POINTER, &binding.impl->block, (void *)HIP_PARAM_SIZE, &bytes, (void *)HIP_PARAM_END};
  unsigned error = kernel->hip->call.hipModuleLaunchKernel(kernel->function, GRID, 1, 1, THREADS, 1, 1, 0, stream, NULL, extra);
  return error == HIP_GOOD ? FRONT_OK : launch_failed(kernel, stream, error);
}

enum front_status front_hip_guard_check(front_hip_kernel kernel, const uint32_t words[32]) {
  if (!kernel.impl || !words) return status_fail(FRONT_ERR_ARGUMENT, "front_hip_guard_check: null argument");
  return guard_read(&kernel.impl->info, words);
}
