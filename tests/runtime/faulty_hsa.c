/* SPDX-License-Identifier: Apache-2.0 */
/* Linked to the emulator: what is not defined here is found there. */
#include "faulty_hsa.h"

#include <dlfcn.h>
#include <string.h>

#include <hsa/hsa_ext_amd.h>

enum { QUEUES = 16 };

static struct faulty faulty;
static struct {
  hsa_queue_t *queue;
  void (*callback)(hsa_status_t, hsa_queue_t *, void *);
  void *data;
} seen[QUEUES];

/* A function of the emulator's that is named keeps the linker from leaving the library out. */
static __typeof__(hsa_init) *const volatile emulators = hsa_init;

struct faulty *faulty_state(void) {
  return emulators ? &faulty : NULL;
}

/* The emulator's function of this name. */
#define NEXT(function)                                                                                                                     \
  __typeof__(function) *next;                                                                                                              \
  {                                                                                                                                        \
    void *found = dlsym(RTLD_NEXT, #function);                                                                                             \
    memcpy(&next, &found, sizeof next); /* C has no cast for this */                                                                       \
  }

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags, void **address) {
  NEXT(hsa_amd_memory_pool_allocate)
  if (faulty.fail_allocation && --faulty.fail_allocation == 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  return next(pool, bytes, flags, address);
}

hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t signal) {
  NEXT(hsa_signal_load_scacquire)
  if (!faulty.hide_looks) return next(signal);
  faulty.hide_looks--;
  return 1;
}

hsa_signal_value_t hsa_signal_wait_scacquire(
    hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t how) {
  NEXT(hsa_signal_wait_scacquire)
  return faulty.early || faulty.hide_looks ? 1 : next(signal, condition, compare, timeout, how);
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue) {
  NEXT(hsa_queue_create)
  hsa_status_t status = next(agent, size, type, callback, data, private_bytes, group_bytes, queue);
  size_t i = 0;
  while (i < QUEUES - 1 && seen[i].queue && (status != HSA_STATUS_SUCCESS || seen[i].queue != *queue)) i++;
  if (status != HSA_STATUS_SUCCESS) return status;
  seen[i].queue = *queue;
  seen[i].callback = callback;
  seen[i].data = data;
  return status;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue) {
  NEXT(hsa_queue_destroy)
  for (size_t i = 0; i < QUEUES; i++)
    if (seen[i].queue == queue) seen[i].queue = NULL;
  return next(queue);
}

void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
  NEXT(hsa_signal_store_screlease)
  for (size_t i = 0; i < QUEUES && faulty.queue_error; i++) {
    if (!seen[i].queue || seen[i].queue->doorbell_signal.handle != signal.handle) continue;
    faulty.queue_error = false;
    seen[i].callback((hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, seen[i].queue, seen[i].data);
    return;
  }
  next(signal, value);
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  NEXT(hsa_isa_get_info_alt)
  if (!faulty.isa) return next(isa, attribute, value);
  const uint32_t length = (uint32_t)strlen(faulty.isa) + 1;
  if (attribute == HSA_ISA_INFO_NAME_LENGTH) memcpy(value, &length, sizeof length);
  if (attribute == HSA_ISA_INFO_NAME) memcpy(value, faulty.isa, length);
  return HSA_STATUS_SUCCESS;
}
