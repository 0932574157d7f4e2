/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a code object's kernel, after holding it against the ABI and the device. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "bundle_open.h"
#include "geometry.h"
#include "inspect.h"
#include "kernarg.h"
#include "kernel.h"
#include "log.h"
#include "read_file.h"
#include "status.h"

/* One workgroup a compute unit: our kernels take more than half of its registers. */
static enum front_status check_residency(const struct device *device) {
  if (device->info.compute_units >= GRID) return FRONT_OK;
  return status_fail(FRONT_ERR_RESIDENCY,
      "%s has %u compute units, and %d workgroups must be resident together: use a whole MI300X or MI355X, without a CU mask",
      device->info.name, device->info.compute_units, GRID);
}

static enum front_status find_object(struct kernel *kernel) {
  const struct hsa_table *hsa = kernel->device->hsa;
  hsa_executable_symbol_t symbol;
  hsa_status_t code = hsa->hsa_executable_get_symbol_by_name(kernel->executable, kernel->info.symbol, &kernel->device->agent, &symbol);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_executable_get_symbol_by_name", code);
  uint32_t private_bytes = 0;
  code = hsa->hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel->object);
  if (code == HSA_STATUS_SUCCESS)
    code = hsa->hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel->lds_bytes);
  if (code == HSA_STATUS_SUCCESS)
    code = hsa->hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &private_bytes);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_executable_symbol_get_info", code);
  if (private_bytes)
    return status_fail(FRONT_ERR_CODE_OBJECT, "HSA says that %s needs %u bytes of private memory", kernel->info.symbol, private_bytes);
  return FRONT_OK;
}

static enum front_status load(struct kernel *kernel) {
  const struct hsa_table *hsa = kernel->device->hsa;
  hsa_code_object_reader_t reader;
  hsa_status_t code = hsa->hsa_code_object_reader_create_from_memory(kernel->image, kernel->image_bytes, &reader);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_code_object_reader_create_from_memory", code);
  code = hsa->hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &kernel->executable);
  enum front_status status = code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(hsa, FRONT_ERR_HSA, "hsa_executable_create_alt", code);
  if (status == FRONT_OK) {
    code = hsa->hsa_executable_load_agent_code_object(kernel->executable, kernel->device->agent, reader, NULL, NULL);
    if (code != HSA_STATUS_SUCCESS) status = hsa_fail(hsa, FRONT_ERR_HSA, "hsa_executable_load_agent_code_object", code);
  }
  if (status == FRONT_OK) {
    code = hsa->hsa_executable_freeze(kernel->executable, NULL);
    if (code != HSA_STATUS_SUCCESS) status = hsa_fail(hsa, FRONT_ERR_HSA, "hsa_executable_freeze", code);
  }
  (void)hsa->hsa_code_object_reader_destroy(reader);
  return status == FRONT_OK ? find_object(kernel) : status;
}

static void release(struct kernel *kernel) {
  if (kernel->executable.handle) (void)kernel->device->hsa->hsa_executable_destroy(kernel->executable);
  free(kernel->image);
  free(kernel);
}

/* Takes `image`, also when it fails. */
static enum front_status make_kernel(struct device *device, void *image, size_t bytes, const char *key, front_kernel *kernel) {
  struct kernel *made = calloc(1, sizeof *made);
  if (!made || !device_is_here(device)) {
    free(image);
    free(made);
    return made ? process_forked("front_kernel_load") : status_fail(FRONT_ERR_MEMORY, "front_kernel_load: no host memory");
  }
  made->device = device;
  made->image = image;
  made->image_bytes = bytes;
  enum front_status status = inspect_object(image, bytes, key, device->info.isa, &made->layer, &made->info);
  if (status == FRONT_OK) status = check_residency(device);
  if (status == FRONT_OK) status = load(made);
  if (status != FRONT_OK) {
    release(made);
    return status;
  }
  device->users++;
  log_line("kernel: %s for %s, %u bytes of scratch", made->info.name, made->info.arch, made->info.scratch_bytes);
  kernel->impl = made;
  return FRONT_OK;
}

enum front_status front_kernel_load(front_device device, const void *image, size_t bytes, const char *key, front_kernel *kernel) {
  if (!device.impl || !image || !kernel) return status_fail(FRONT_ERR_ARGUMENT, "front_kernel_load: null argument");
  void *copy = malloc(bytes ? bytes : 1);
  if (!copy) return status_fail(FRONT_ERR_MEMORY, "front_kernel_load: no host memory for %zu bytes", bytes);
  memcpy(copy, image, bytes);
  return make_kernel(device.impl, copy, bytes, key, kernel);
}

enum front_status front_kernel_load_file(front_device device, const char *path, const char *key, front_kernel *kernel) {
  if (!device.impl || !path || !kernel) return status_fail(FRONT_ERR_ARGUMENT, "front_kernel_load_file: null argument");
  void *image = NULL;
  size_t bytes = 0;
  enum front_status status = file_read(AT_FDCWD, path, path, false, IMAGE_BYTES_MAX, &image, &bytes);
  if (status != FRONT_OK) return status;
  status = make_kernel(device.impl, image, bytes, key, kernel);
  return status == FRONT_OK ? status : status_fail(status, "%s: %s", path, front_error());
}

enum front_status front_kernel_load_bundle(front_device device, front_bundle bundle, const char *key, front_kernel *kernel) {
  if (!device.impl || !bundle.impl || !key || !kernel) return status_fail(FRONT_ERR_ARGUMENT, "front_kernel_load_bundle: null argument");
  char arch[32], name[LAYER_NAME_MAX];
  void *image = NULL;
  size_t bytes = 0;
  bundle_arch(device.impl->info.isa, arch);
  enum front_status status = bundle_take(bundle, key, arch, name, &image, &bytes);
  if (status != FRONT_OK) return status;
  status = make_kernel(device.impl, image, bytes, name, kernel);
  return status == FRONT_OK ? status : status_fail(status, "%s.%s.hsaco: %s", name, arch, front_error());
}

enum front_status front_kernel_destroy(front_kernel kernel) {
  if (!kernel.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_kernel_destroy: the kernel is null");
  if (!device_is_here(kernel.impl->device)) return process_forked("front_kernel_destroy");
  uint32_t users = kernel.impl->users;
  if (users) return status_fail(FRONT_ERR_BUSY, "front_kernel_destroy: %u instances are left: destroy them first", users);
  kernel.impl->device->users--;
  release(kernel.impl);
  return FRONT_OK;
}

enum front_status front_kernel_describe(front_kernel kernel, struct front_kernel_info *info) {
  if (!kernel.impl || !info) return status_fail(FRONT_ERR_ARGUMENT, "front_kernel_describe: null argument");
  *info = kernel.impl->info;
  return FRONT_OK;
}

enum front_status front_kernel_argument(front_kernel kernel, uint32_t index, struct front_argument_info *argument) {
  if (!kernel.impl || !argument) return status_fail(FRONT_ERR_ARGUMENT, "front_kernel_argument: null argument");
  if (index >= KERNARG_ARGUMENTS)
    return status_fail(FRONT_ERR_NOT_FOUND, "front_kernel_argument: index %u: there are %d arguments", index, KERNARG_ARGUMENTS);
  const struct kernarg_argument *a = &kernarg_arguments[index];
  const struct layer *layer = &kernel.impl->layer;
  *argument = (struct front_argument_info){.name = a->name,
      .offset = a->offset,
      .use = a->use,
      .needed = kernarg_needed(layer, index),
      .align = a->align,
      .bytes = kernarg_bytes(layer, index)};
  return FRONT_OK;
}
