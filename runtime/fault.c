/* SPDX-License-Identifier: Apache-2.0 */
/* A process-wide record of GPU memory faults, by agent. */
#include "fault.h"

#include <pthread.h>
#include <stdio.h>

enum { FAULT_AGENTS = 64, FAULT_TABLES = 8 };

static struct {
  pthread_mutex_t lock;
  struct {
    uint64_t agent;
    struct fault fault;
  } agent[FAULT_AGENTS];
  unsigned agents;
  __typeof__(hsa_amd_register_system_event_handler) *listened[FAULT_TABLES]; /* one a library */
  unsigned listeners;
} record = {.lock = PTHREAD_MUTEX_INITIALIZER};

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data) {
  (void)data;
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR; /* not handled here */
  const hsa_amd_gpu_memory_fault_info_t *info = &event->memory_fault;
  pthread_mutex_lock(&record.lock);
  unsigned i = 0;
  while (i < record.agents && record.agent[i].agent != info->agent.handle) i++;
  if (i == record.agents && i < FAULT_AGENTS) record.agent[record.agents++].agent = info->agent.handle;
  if (i < FAULT_AGENTS) {
    record.agent[i].fault.count++;
    record.agent[i].fault.address = info->virtual_address;
    record.agent[i].fault.reasons = info->fault_reason_mask;
  }
  pthread_mutex_unlock(&record.lock);
  return HSA_STATUS_SUCCESS; /* handled: HSA must not abort the process */
}

void fault_listen(const struct hsa_table *hsa) {
  pthread_mutex_lock(&record.lock);
  unsigned i = 0;
  while (i < record.listeners && record.listened[i] != hsa->hsa_amd_register_system_event_handler) i++;
  bool fresh = i == record.listeners && i < FAULT_TABLES;
  if (fresh) record.listened[record.listeners++] = hsa->hsa_amd_register_system_event_handler;
  pthread_mutex_unlock(&record.lock);
  if (fresh) (void)hsa->hsa_amd_register_system_event_handler(on_event, NULL);
}

struct fault fault_of(hsa_agent_t agent) {
  struct fault found = {0};
  pthread_mutex_lock(&record.lock);
  for (unsigned i = 0; i < record.agents; i++)
    if (record.agent[i].agent == agent.handle) found = record.agent[i].fault;
  pthread_mutex_unlock(&record.lock);
  return found;
}

void fault_reasons(uint32_t reasons, char *text, size_t bytes) {
  static const struct {
    uint32_t bit;
    const char *words;
  } words[] = {
      {HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, "page not present"},
      {HSA_AMD_MEMORY_FAULT_READ_ONLY, "write to a read-only page"},
      {HSA_AMD_MEMORY_FAULT_NX, "execution of a page without that right"},
      {HSA_AMD_MEMORY_FAULT_HOST_ONLY, "page of the host only"},
      {HSA_AMD_MEMORY_FAULT_DRAMECC, "uncorrectable DRAM error"},
      {HSA_AMD_MEMORY_FAULT_IMPRECISE, "address imprecise"},
      {HSA_AMD_MEMORY_FAULT_SRAMECC, "uncorrectable SRAM error"},
      {(uint32_t)HSA_AMD_MEMORY_FAULT_HANG, "the GPU was reset after a hang"},
  };
  size_t used = 0;
  snprintf(text, bytes, "reason not given");
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (!(reasons & words[i].bit)) continue;
    int n = snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", words[i].words);
    if (n < 0 || used + (size_t)n >= bytes) return;
    used += (size_t)n;
  }
}
