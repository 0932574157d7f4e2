/* SPDX-License-Identifier: Apache-2.0 */
/* HSA_EXTENSION_AMD_LOADER, version 1.03: what is loaded where, as debuggers, profilers and HIP ask. */
#include <hsa/hsa_ven_amd_loader.h>
#include <stdio.h>
#include <string.h>

#include "hsa_state.h"

/* The code object that holds the device address. The caller holds emu.lock. */
static const struct executable_code *code_at(const void *address) {
  for (const struct executable *e = emu.executables; e; e = e->next)
    for (const struct executable_code *c = e->code; c; c = c->next)
      if ((uint64_t)(uintptr_t)address - c->loaded->base < c->loaded->object.span) return c;
  return NULL;
}

/* Host and device share addresses. */
static hsa_status_t query_host_address(const void *device_address, const void **host_address) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!device_address || !host_address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&emu.lock);
  const struct executable_code *c = code_at(device_address);
  pthread_mutex_unlock(&emu.lock);
  if (!c) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *host_address = device_address;
  return HSA_STATUS_SUCCESS;
}

static hsa_ven_amd_loader_code_object_storage_type_t storage_of(const struct executable_code *c) {
  return c->file >= 0 ? HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE : HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
}

static hsa_ven_amd_loader_segment_descriptor_t describe(const struct executable_code *c, const struct code_segment *s) {
  bool memory = storage_of(c) == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
  return (hsa_ven_amd_loader_segment_descriptor_t){.agent = emu_gpu_agent(c->agent),
      .executable = {(uint64_t)(uintptr_t)c->executable},
      .code_object_storage_type = storage_of(c),
      .code_object_storage_base = memory ? c->image : NULL,
      .code_object_storage_size = c->image_bytes,
      .code_object_storage_offset = s->offset,
      .segment_base = (const void *)(uintptr_t)(c->loaded->base + s->vaddr),
      .segment_size = s->memsz};
}

/* Without an array: how many there are. With one: exactly so many. */
static hsa_status_t query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t *descriptors, size_t *count) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!count || (!descriptors && *count)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  size_t n = 0;
  pthread_mutex_lock(&emu.lock);
  for (const struct executable *e = emu.executables; e; e = e->next)
    for (const struct executable_code *c = e->code; c; c = c->next)
      for (uint32_t s = 0; s < c->loaded->object.segments; s++, n++)
        if (descriptors && n < *count) descriptors[n] = describe(c, &c->loaded->object.segment[s]);
  pthread_mutex_unlock(&emu.lock);
  if (descriptors && *count != n) return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  *count = n;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t query_executable(const void *device_address, hsa_executable_t *executable) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!device_address || !executable) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&emu.lock);
  const struct executable_code *c = code_at(device_address);
  if (c) executable->handle = (uint64_t)(uintptr_t)c->executable;
  pthread_mutex_unlock(&emu.lock);
  return c ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t iterate_loaded_code_objects(hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t n = 0;; n++) {
    pthread_mutex_lock(&emu.lock);
    const struct executable *e = executable_of(executable);
    const struct executable_code *c = e ? e->code : NULL;
    for (uint32_t i = 0; c && i < n; i++) c = c->next;
    pthread_mutex_unlock(&emu.lock);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!c) return HSA_STATUS_SUCCESS;
    hsa_status_t status = callback(executable, (hsa_loaded_code_object_t){(uint64_t)(uintptr_t)c}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
}

enum { URI_MAX = 96 };

static size_t uri_of(const struct executable_code *c, char uri[URI_MAX]) {
  int n = c->file >= 0
              ? snprintf(uri, URI_MAX, "file:///proc/self/fd/%d", c->file)
              : snprintf(uri, URI_MAX, "memory://self#offset=0x%llx&size=%zu", (unsigned long long)(uintptr_t)c->image, c->image_bytes);
  return (size_t)n;
}

static hsa_status_t code_info(const struct executable_code *c, int attribute, void *value) {
  char uri[URI_MAX];
  size_t length = uri_of(c, uri);
  switch (attribute) {
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
    ((hsa_executable_t *)value)->handle = (uint64_t)(uintptr_t)c->executable;
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
    *(uint32_t *)value = HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT;
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
    *(hsa_agent_t *)value = emu_gpu_agent(c->agent);
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
    *(uint32_t *)value = storage_of(c);
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
    if (c->file >= 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint64_t *)value = (uint64_t)(uintptr_t)c->image;
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
    if (c->file >= 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint64_t *)value = c->image_bytes;
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE:
    if (c->file < 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(int *)value = c->file;
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
    *(uint64_t *)value = c->loaded->base;
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
    *(uint64_t *)value = c->loaded->object.span;
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
    *(uint32_t *)value = (uint32_t)length;
    break;
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
    memcpy(value, uri, length);
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t loaded_code_object_get_info(
    hsa_loaded_code_object_t loaded_code_object, hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  pthread_mutex_lock(&emu.lock);
  for (const struct executable *e = emu.executables; e; e = e->next)
    for (const struct executable_code *c = e->code; c; c = c->next)
      if ((uint64_t)(uintptr_t)c == loaded_code_object.handle) status = code_info(c, (int)attribute, value);
  pthread_mutex_unlock(&emu.lock);
  return status;
}

static hsa_status_t iterate_executables(hsa_status_t (*callback)(hsa_executable_t executable, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t n = 0;; n++) {
    pthread_mutex_lock(&emu.lock);
    const struct executable *e = emu.executables;
    for (uint32_t i = 0; e && i < n; i++) e = e->next;
    pthread_mutex_unlock(&emu.lock);
    if (!e) return HSA_STATUS_SUCCESS;
    hsa_status_t status = callback((hsa_executable_t){(uint64_t)(uintptr_t)e}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
}

void loader_table(size_t bytes, void *table) {
  static const hsa_ven_amd_loader_1_03_pfn_t functions = {query_host_address, query_segment_descriptors, query_executable,
      iterate_loaded_code_objects, loaded_code_object_get_info, loader_read_part, iterate_executables};
  memcpy(table, &functions, bytes < sizeof functions ? bytes : sizeof functions);
}
