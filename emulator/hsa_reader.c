/* SPDX-License-Identifier: Apache-2.0 */
/* What executables are loaded from: code object readers, and the older code objects with their symbols. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsa_state.h"

struct reader *reader_of(uint64_t handle, bool old) {
  struct reader *r = emu.readers;
  while (r && ((uint64_t)(uintptr_t)r != handle || r->old != old)) r = r->next;
  return r;
}

void reader_delete(struct reader *r) {
  if (r->old) code_object_close(&r->object);
  free(r->owned);
  free(r);
}

static hsa_status_t new_reader(struct reader r, uint64_t *handle) {
  struct reader *kept = malloc(sizeof *kept);
  if (!kept) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *kept = r;
  pthread_mutex_lock(&emu.lock);
  kept->next = emu.readers;
  emu.readers = kept;
  pthread_mutex_unlock(&emu.lock);
  *handle = (uint64_t)(uintptr_t)kept;
  return HSA_STATUS_SUCCESS;
}

static bool destroy_reader(uint64_t handle, bool old) {
  pthread_mutex_lock(&emu.lock);
  struct reader **at = &emu.readers;
  while (*at && ((uint64_t)(uintptr_t)*at != handle || (*at)->old != old)) at = &(*at)->next;
  struct reader *r = *at;
  if (r) *at = r->next;
  pthread_mutex_unlock(&emu.lock);
  if (r) reader_delete(r);
  return r != NULL;
}

hsa_status_t hsa_code_object_reader_create_from_memory(const void *code_object, size_t size, hsa_code_object_reader_t *reader) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!code_object || !size || !reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return new_reader((struct reader){.image = code_object, .bytes = size, .file = -1}, &reader->handle);
}

static bool read_all(hsa_file_t file, size_t offset, uint8_t *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = pread(file, to + done, bytes - done, (off_t)(offset + done));
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

static hsa_status_t read_file(hsa_file_t file, size_t offset, size_t bytes, hsa_code_object_reader_t *reader) {
  struct reader r = {.bytes = bytes, .file = file, .owned = malloc(bytes)};
  if (!r.owned) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  r.image = r.owned;
  hsa_status_t status = read_all(file, offset, r.owned, bytes) ? new_reader(r, &reader->handle) : HSA_STATUS_ERROR_INVALID_FILE;
  if (status != HSA_STATUS_SUCCESS) free(r.owned);
  return status;
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t *reader) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct stat st;
  if (fstat(file, &st) || st.st_size <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
  return read_file(file, 0, (size_t)st.st_size, reader);
}

hsa_status_t loader_read_part(hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *reader) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!reader || !size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct stat st;
  if (fstat(file, &st) || st.st_size <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
  if (offset >= (size_t)st.st_size || size > (size_t)st.st_size - offset) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return read_file(file, offset, size, reader);
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return destroy_reader(reader.handle, false) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
}

/* --- the older code objects ------------------------------------------------------------------------------------------------------- */

hsa_status_t hsa_code_object_deserialize(
    void *serialized_code_object, size_t serialized_code_object_size, const char *options, hsa_code_object_t *code_object) {
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!serialized_code_object || !serialized_code_object_size || !code_object) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct reader r = {.old = true, .bytes = serialized_code_object_size, .file = -1, .owned = malloc(serialized_code_object_size)};
  if (!r.owned) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  memcpy(r.owned, serialized_code_object, r.bytes);
  r.image = r.owned;
  char error[CODE_ERROR_MAX];
  if (!code_object_open(r.image, r.bytes, &r.object, error)) {
    free(r.owned);
    return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  }
  hsa_status_t status = new_reader(r, &code_object->handle);
  if (status != HSA_STATUS_SUCCESS) {
    code_object_close(&r.object);
    free(r.owned);
  }
  return status;
}

static const struct reader *old_of(hsa_code_object_t code_object) {
  pthread_mutex_lock(&emu.lock);
  const struct reader *r = reader_of(code_object.handle, true);
  pthread_mutex_unlock(&emu.lock);
  return r;
}

hsa_status_t hsa_code_object_serialize(hsa_code_object_t code_object,
    hsa_status_t (*alloc_callback)(size_t size, hsa_callback_data_t data, void **address), hsa_callback_data_t callback_data,
    const char *options, void **serialized_code_object, size_t *serialized_code_object_size) {
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct reader *r = old_of(code_object);
  if (!r) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (!alloc_callback || !serialized_code_object || !serialized_code_object_size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  void *to = NULL;
  hsa_status_t status = alloc_callback(r->bytes, callback_data, &to);
  if (status != HSA_STATUS_SUCCESS) return status;
  if (!to) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  memcpy(to, r->image, r->bytes);
  *serialized_code_object = to;
  *serialized_code_object_size = r->bytes;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_destroy(hsa_code_object_t code_object) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return destroy_reader(code_object.handle, true) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

hsa_status_t hsa_code_object_get_info(hsa_code_object_t code_object, hsa_code_object_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct reader *r = old_of(code_object);
  if (!r) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  char target[CODE_TARGET_MAX], name[32 + CODE_TARGET_MAX];
  switch (attribute) {
  case HSA_CODE_OBJECT_INFO_VERSION:
    memset(value, 0, 64);
    snprintf(value, 64, "%u.0", r->object.version);
    break;
  case HSA_CODE_OBJECT_INFO_TYPE:
    *(hsa_code_object_type_t *)value = HSA_CODE_OBJECT_TYPE_PROGRAM;
    break;
  case HSA_CODE_OBJECT_INFO_ISA:
    code_object_target(&r->object, target);
    snprintf(name, sizeof name, "amdgcn-amd-amdhsa--%s", target);
    return hsa_isa_from_name(name, value);
  case HSA_CODE_OBJECT_INFO_MACHINE_MODEL:
    *(hsa_machine_model_t *)value = HSA_MACHINE_MODEL_LARGE;
    break;
  case HSA_CODE_OBJECT_INFO_PROFILE:
    *(hsa_profile_t *)value = HSA_PROFILE_BASE;
    break;
  case HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    *(hsa_default_float_rounding_mode_t *)value = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}
