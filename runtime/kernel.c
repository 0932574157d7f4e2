/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a code object's kernel, after holding it against the ABI and the device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobject.h"
#include "geometry.h"
#include "kernel.h"
#include "note.h"
#include "status.h"

enum { IMAGE_MAX = 256 << 20 };

/* The kernel's key, from the note, the caller, or both. */
static enum front_status find_layer(const struct code_object *co, const char *key, struct layer *layer) {
  char error[CODE_ERROR_MAX];
  struct front_note note;
  struct layer noted;
  if (!co->front_note) {
    if (key) return layer_parse(key, layer);
    return status_fail(FRONT_ERR_CODE_OBJECT, "the code object has no note of frontgen that names its key: give the key");
  }
  if (!front_note_read(co, &note, error)) return status_fail(FRONT_ERR_CODE_OBJECT, "%s", error);
  enum front_status status = FRONT_OK;
  if (note.kernarg_abi != FRONT_NOTE_KERNARG_ABI)
    status = status_fail(FRONT_ERR_CODE_OBJECT, "the code object has kernarg ABI %u, this library has %d: build one for the other",
        note.kernarg_abi, FRONT_NOTE_KERNARG_ABI);
  if (status == FRONT_OK) status = layer_parse(note.key, &noted);
  front_note_free(&note);
  if (status != FRONT_OK) return status;
  *layer = noted;
  if (!key) return FRONT_OK;
  status = layer_parse(key, layer);
  if (status != FRONT_OK || !memcmp(layer, &noted, sizeof noted)) return status;
  char found[LAYER_NAME_MAX], wanted[LAYER_NAME_MAX];
  layer_name(&noted, found);
  layer_name(layer, wanted);
  return status_fail(FRONT_ERR_NOT_FOUND, "the code object is %s: %s was asked for", found, wanted);
}

/* The kernel of that canonical name, or the only one there is. */
static const struct code_kernel *find_kernel(const struct code_object *co, const char *name) {
  const struct code_kernel *found = code_object_kernel(co, name);
  return found ? found : code_object_kernel(co, NULL);
}

static enum front_status check_kernel(const struct code_kernel *kernel) {
  if (kernel->kernarg_segment_size != KERNARG_BYTES || kernel->hidden_args)
    return status_fail(FRONT_ERR_CODE_OBJECT, "kernel %s has a kernarg segment of %u bytes with %u hidden arguments: %d and 0 are needed",
        kernel->name, kernel->kernarg_segment_size, kernel->hidden_args, KERNARG_BYTES);
  if (kernel->private_segment_fixed_size || kernel->uses_dynamic_stack)
    return status_fail(FRONT_ERR_CODE_OBJECT, "kernel %s needs %u bytes of private memory a thread%s: 0 is needed, it spills", kernel->name,
        kernel->private_segment_fixed_size, kernel->uses_dynamic_stack ? " and a dynamic stack" : "");
  if (kernel->max_flat_workgroup_size < THREADS)
    return status_fail(FRONT_ERR_CODE_OBJECT, "kernel %s is for workgroups of at most %u threads: %d are needed", kernel->name,
        kernel->max_flat_workgroup_size, THREADS);
  if (kernel->wavefront_size != WAVE)
    return status_fail(FRONT_ERR_CODE_OBJECT, "kernel %s has waves of %u lanes: %d are needed", kernel->name, kernel->wavefront_size, WAVE);
  return FRONT_OK;
}

/* Does an ISA name with ":sramecc+:xnack-" allow code with this feature on, off or either way? */
static bool feature_fits(const char *isa, const char *feature, enum code_feature code) {
  char on[24], off[24];
  snprintf(on, sizeof on, ":%s+", feature);
  snprintf(off, sizeof off, ":%s-", feature);
  if (code == CODE_ON) return !strstr(isa, off);
  if (code == CODE_OFF) return !strstr(isa, on);
  return true;
}

static enum front_status check_target(const struct code_object *co, const struct device *device) {
  char target[CODE_TARGET_MAX];
  code_object_target(co, target);
  const char *isa = strstr(device->info.isa, "--");
  isa = isa ? isa + 2 : device->info.isa;
  size_t length = strcspn(isa, ":");
  bool same = strlen(co->arch) == length && !strncmp(co->arch, isa, length);
  if (same && feature_fits(isa, "xnack", co->xnack) && feature_fits(isa, "sramecc", co->sramecc)) return FRONT_OK;
  return status_fail(FRONT_ERR_ISA, "the code object is for %s, the device is %s: build for that (--arch)", target, isa);
}

/* One workgroup a compute unit: our kernels take more than half of its registers. */
static enum front_status check_residency(const struct device *device) {
  if (device->info.compute_units >= GRID) return FRONT_OK;
  return status_fail(FRONT_ERR_RESIDENCY,
      "%s has %u compute units, and %d workgroups must be resident together: use a whole MI300X or MI355X, without a CU mask",
      device->info.name, device->info.compute_units, GRID);
}

static enum front_status inspect(const struct code_object *co, const char *key, struct kernel *kernel) {
  enum front_status status = check_target(co, kernel->device);
  if (status == FRONT_OK) status = find_layer(co, key, &kernel->layer);
  if (status != FRONT_OK) return status;
  struct front_kernel_info *info = &kernel->info;
  layer_name(&kernel->layer, info->name);
  const struct code_kernel *found = find_kernel(co, info->name);
  if (!found) return status_fail(FRONT_ERR_NOT_FOUND, "the code object has %u kernels, and none with the name %s", co->kernels, info->name);
  if (strlen(found->symbol) >= sizeof info->symbol)
    return status_fail(FRONT_ERR_CODE_OBJECT, "the kernel's name is longer than %zu bytes", sizeof info->symbol - 1);
  status = check_kernel(found);
  if (status == FRONT_OK) status = check_residency(kernel->device);
  if (status != FRONT_OK) return status;
  snprintf(info->symbol, sizeof info->symbol, "%s", found->symbol);
  snprintf(info->arch, sizeof info->arch, "%s", co->arch);
#define FIELD(name, lowest, highest, fallback, suffix, ready) info->name = (uint32_t)kernel->layer.name;
#include "key_fields.def"
#undef FIELD
  info->scratch_bytes = layer_scratch_bytes(&kernel->layer);
  info->lds_bytes = found->group_segment_fixed_size;
  info->vgprs = found->vgpr_count;
  info->sgprs = found->sgpr_count;
  return FRONT_OK;
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
  if (!made) {
    free(image);
    return status_fail(FRONT_ERR_MEMORY, "front_kernel_load: no host memory");
  }
  made->device = device;
  made->image = image;
  made->image_bytes = bytes;
  char error[CODE_ERROR_MAX];
  struct code_object co;
  enum front_status status = FRONT_OK;
  if (code_object_open(image, bytes, &co, error)) {
    status = inspect(&co, key, made);
    code_object_close(&co);
  } else {
    status = status_fail(FRONT_ERR_CODE_OBJECT, "%s", error);
  }
  if (status == FRONT_OK) status = load(made);
  if (status != FRONT_OK) {
    release(made);
    return status;
  }
  device->users++;
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

static enum front_status read_image(const char *path, void **image, size_t *bytes) {
  FILE *in = fopen(path, "rb");
  if (!in) return status_fail(FRONT_ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
  enum front_status status = FRONT_OK;
  long length = fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
  if (length < 0 || fseek(in, 0, SEEK_SET) != 0) status = status_fail(FRONT_ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
  if (length > IMAGE_MAX) status = status_fail(FRONT_ERR_CODE_OBJECT, "%s: %ld bytes are no code object of a kernel", path, length);
  *image = status == FRONT_OK ? malloc((size_t)length + 1) : NULL;
  if (status == FRONT_OK && !*image) status = status_fail(FRONT_ERR_MEMORY, "%s: no host memory for its %ld bytes", path, length);
  if (status == FRONT_OK && fread(*image, 1, (size_t)length, in) != (size_t)length) {
    status = status_fail(FRONT_ERR_NOT_FOUND, "%s: cannot be read", path);
    free(*image);
  }
  fclose(in);
  *bytes = (size_t)length;
  return status;
}

enum front_status front_kernel_load_file(front_device device, const char *path, const char *key, front_kernel *kernel) {
  if (!device.impl || !path || !kernel) return status_fail(FRONT_ERR_ARGUMENT, "front_kernel_load_file: null argument");
  void *image = NULL;
  size_t bytes = 0;
  enum front_status status = read_image(path, &image, &bytes);
  if (status == FRONT_OK) status = make_kernel(device.impl, image, bytes, key, kernel);
  if (status != FRONT_OK && status != FRONT_ERR_NOT_FOUND) return status_fail(status, "%s: %s", path, front_error());
  return status;
}

enum front_status front_kernel_destroy(front_kernel kernel) {
  if (!kernel.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_kernel_destroy: the kernel is null");
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
