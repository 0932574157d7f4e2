/* SPDX-License-Identifier: Apache-2.0 */
/* hsa_init and what concerns the whole runtime: its limits, events and extensions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "hsa_state.h"

enum { EXTENSION_BYTES = 128 };

struct emu emu = {.lock = PTHREAD_MUTEX_INITIALIZER, .orphan_gone = PTHREAD_COND_INITIALIZER};

bool emu_running(void) {
  pthread_mutex_lock(&emu.lock);
  bool running = emu.references != 0;
  pthread_mutex_unlock(&emu.lock);
  return running;
}

char emu_device_error[MODEL_ERROR_MAX] = "FRONT_EMU_DEVICE is no device model";

/* Which partition an entry of ROCR_VISIBLE_DEVICES means: an index or a UUID. False: none. */
static bool find_partition(const char *text, size_t length, uint32_t *partition) {
  for (uint32_t i = 0; i < emu.model.agents; i++) {
    char uuid[EMU_UUID_BYTES], index[12];
    emu_uuid(i, uuid);
    snprintf(index, sizeof index, "%u", i);
    *partition = i;
    if (length == strlen(uuid) && !memcmp(text, uuid, length)) return true;
    if (length == strlen(index) && !memcmp(text, index, length)) return true;
  }
  return false;
}

/* All, or those of ROCR_VISIBLE_DEVICES in its order, up to the first entry that means none or one again: as ROCr does. */
static void find_visible(const char *list) {
  emu.gpus = 0;
  for (uint32_t i = 0; i < emu.model.agents && !list; i++) emu.partition[emu.gpus++] = i;
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    uint32_t partition;
    at += strspn(at, " ");
    if (!find_partition(at, strcspn(at, ", "), &partition)) return;
    for (uint32_t i = 0; i < emu.gpus; i++)
      if (emu.partition[i] == partition) return;
    emu.partition[emu.gpus++] = partition;
  }
}

static hsa_status_t start(void) {
  if (!model_select(getenv("FRONT_EMU_DEVICE"), &emu.model, emu_device_error)) return (hsa_status_t)HSA_EMU_STATUS_UNKNOWN_DEVICE;
  find_visible(getenv("ROCR_VISIBLE_DEVICES"));
  if (!device_init(&emu.device, &emu.model)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  emu.device.pending = queues_pending;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_init(void) {
  hsa_status_t status = HSA_STATUS_SUCCESS;
  pthread_mutex_lock(&emu.lock);
  if (emu.references == INT32_MAX) status = HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
  if (!emu.references) status = start();
  if (status == HSA_STATUS_SUCCESS) emu.references++;
  pthread_mutex_unlock(&emu.lock);
  return status;
}

/* The last user has gone: whatever it left goes too. */
static void stop(void) {
  pthread_mutex_unlock(&emu.lock); /* their functions may need it */
  async_end();
  pthread_mutex_lock(&emu.lock);
  while (emu.queues) {
    struct queue *q = emu.queues;
    emu.queues = q->next;
    pthread_mutex_unlock(&emu.lock); /* its thread may need the lock to end */
    queue_delete(q);
    pthread_mutex_lock(&emu.lock);
  }
  while (emu.orphans > (queue_orphaned_here() ? 1 : 0)) pthread_cond_wait(&emu.orphan_gone, &emu.lock);
  while (emu.executables) {
    struct executable *e = emu.executables;
    emu.executables = e->next;
    executable_delete(e);
  }
  while (emu.readers) {
    struct reader *r = emu.readers;
    emu.readers = r->next;
    reader_delete(r);
  }
  signal_groups_delete();
  memory_notes_delete();
  emu.events = 0;
  device_free(&emu.device);
}

hsa_status_t hsa_shut_down(void) {
  pthread_mutex_lock(&emu.lock);
  hsa_status_t status = emu.references ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (emu.references == 1) stop();
  if (emu.references) emu.references--;
  pthread_mutex_unlock(&emu.lock);
  return status;
}

uint64_t emu_timestamp(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch ((int)attribute) {
  case HSA_SYSTEM_INFO_VERSION_MAJOR:
    *(uint16_t *)value = 1;
    break;
  case HSA_SYSTEM_INFO_VERSION_MINOR:
    *(uint16_t *)value = 1;
    break;
  case HSA_SYSTEM_INFO_TIMESTAMP:
    *(uint64_t *)value = emu_timestamp();
    break;
  case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
    *(uint64_t *)value = EMU_TIMESTAMP_HZ;
    break;
  case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
    *(uint64_t *)value = UINT64_MAX;
    break;
  case HSA_SYSTEM_INFO_ENDIANNESS:
    *(hsa_endianness_t *)value = HSA_ENDIANNESS_LITTLE;
    break;
  case HSA_SYSTEM_INFO_MACHINE_MODEL:
    *(hsa_machine_model_t *)value = HSA_MACHINE_MODEL_LARGE;
    break;
  case HSA_SYSTEM_INFO_EXTENSIONS:
    memset(value, 0, EXTENSION_BYTES);
    ((uint8_t *)value)[HSA_EXTENSION_AMD_LOADER / 8] |= 1u << HSA_EXTENSION_AMD_LOADER % 8;
    break;
  case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
    *(const char **)value = "frontgen emulator";
    break;
  case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
    *(bool *)value = false;
    break;
  case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
    *(bool *)value = false;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

/* Every handler hears every event once, however often it was registered, so that two users of HSA in a process do not take them from each
 * other. */
hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&emu.lock);
  uint32_t i = 0;
  while (i < emu.events && (emu.event[i].call != callback || emu.event[i].data != data)) i++;
  hsa_status_t status = i == EVENT_HANDLERS_MAX ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
  if (status == HSA_STATUS_SUCCESS && i == emu.events) {
    emu.event[emu.events].call = callback;
    emu.event[emu.events++].data = data;
  }
  pthread_mutex_unlock(&emu.lock);
  return status;
}

static const struct {
  int number;
  const char *name;
} extensions[] = {
    {HSA_EXTENSION_FINALIZER, "HSA_EXTENSION_FINALIZER"},
    {HSA_EXTENSION_IMAGES, "HSA_EXTENSION_IMAGES"},
    {HSA_EXTENSION_PERFORMANCE_COUNTERS, "HSA_EXTENSION_PERFORMANCE_COUNTERS"},
    {HSA_EXTENSION_PROFILING_EVENTS, "HSA_EXTENSION_PROFILING_EVENTS"},
    {HSA_EXTENSION_AMD_PROFILER, "HSA_EXTENSION_AMD_PROFILER"},
    {HSA_EXTENSION_AMD_LOADER, "HSA_EXTENSION_AMD_LOADER"},
    {HSA_EXTENSION_AMD_AQLPROFILE, "HSA_EXTENSION_AMD_AQLPROFILE"},
};

static const char *extension_name(uint16_t extension) {
  for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
    if (extensions[i].number == extension) return extensions[i].name;
  return NULL;
}

bool emu_is_extension(uint16_t extension) { return extension_name(extension) != NULL; }

hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!name || !emu_is_extension(extension)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *name = extension_name(extension);
  return HSA_STATUS_SUCCESS;
}

static bool has_extension(uint16_t extension, uint16_t major) { return extension == HSA_EXTENSION_AMD_LOADER && major == LOADER_MAJOR; }

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t version_major, uint16_t version_minor, bool *result) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!result || !emu_is_extension(extension)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = has_extension(extension, version_major) && version_minor <= LOADER_MINOR;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t version_major, uint16_t *version_minor, bool *result) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!version_minor || !result || !emu_is_extension(extension)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = has_extension(extension, version_major);
  *version_minor = *result ? LOADER_MINOR : 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t version_major, size_t table_length, void *table) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!table || !table_length || !emu_is_extension(extension)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!has_extension(extension, version_major)) return HSA_STATUS_ERROR;
  loader_table(table_length, table);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t version_major, uint16_t version_minor, void *table) {
  static const size_t bytes[] = {sizeof(hsa_ven_amd_loader_1_00_pfn_t), sizeof(hsa_ven_amd_loader_1_01_pfn_t),
      sizeof(hsa_ven_amd_loader_1_02_pfn_t), sizeof(hsa_ven_amd_loader_1_03_pfn_t)};
  bool newer = version_minor > LOADER_MINOR;
  hsa_status_t status = hsa_system_get_major_extension_table(extension, version_major, bytes[newer ? LOADER_MINOR : version_minor], table);
  return status == HSA_STATUS_SUCCESS && newer ? HSA_STATUS_ERROR : status;
}
