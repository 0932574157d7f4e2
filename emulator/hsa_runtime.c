/* SPDX-License-Identifier: Apache-2.0 */
/* hsa_init and what concerns the whole runtime. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hsa_state.h"

struct emu emu = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool emu_running(void) {
  pthread_mutex_lock(&emu.lock);
  bool running = emu.references != 0;
  pthread_mutex_unlock(&emu.lock);
  return running;
}

static hsa_status_t start(void) {
  const struct model *model = model_find(getenv("FRONT_EMU_DEVICE"));
  if (!model) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return device_init(&emu.device, model) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
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
  while (emu.queues) {
    struct queue *q = emu.queues;
    emu.queues = q->next;
    pthread_mutex_unlock(&emu.lock); /* its thread may need the lock to end */
    queue_delete(q);
    pthread_mutex_lock(&emu.lock);
  }
  while (emu.executables) {
    struct executable *e = emu.executables;
    emu.executables = e->next;
    executable_delete(e);
  }
  emu.on_event = NULL;
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

static const struct {
  int status;
  const char *text;
} status_texts[] = {
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
    {HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "the code object symbol is invalid"},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "the executable symbol is invalid"},
    {HSA_STATUS_ERROR_INVALID_FILE, "the file is invalid"},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "the code object reader is invalid"},
    {HSA_STATUS_ERROR_EXCEPTION, "the kernel ended with an exception, or cannot end: hsa_emu_report() says where it stands"},
    {HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "the memory pool is invalid"},
    {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "the kernel executed an instruction that the emulator refuses: hsa_emu_report() names it"},
    {HSA_STATUS_ERROR_MEMORY_FAULT, "the kernel accessed a bad address: hsa_emu_report() names it"},
};

hsa_status_t hsa_status_string(hsa_status_t status, const char **status_string) {
  if (!status_string) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (size_t i = 0; i < sizeof status_texts / sizeof status_texts[0]; i++)
    if (status_texts[i].status == (int)status) {
      *status_string = status_texts[i].text;
      return HSA_STATUS_SUCCESS;
    }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static uint64_t timestamp(void) {
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
    *(uint64_t *)value = timestamp();
    break;
  case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
    *(uint64_t *)value = 1000000000;
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
    memset(value, 0, 128);
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

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&emu.lock);
  hsa_status_t status = emu.on_event && callback ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
  if (status == HSA_STATUS_SUCCESS) {
    emu.on_event = callback;
    emu.on_event_data = data;
  }
  pthread_mutex_unlock(&emu.lock);
  return status;
}
