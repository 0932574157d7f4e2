/* SPDX-License-Identifier: Apache-2.0 */
/* GPU memory faults, told to the queues of the agent. */
#include "fault.h"

#include <pthread.h>
#include <stdio.h>

#include "log.h"

static struct {
  pthread_mutex_t lock;
  struct fault_watch *watch;
} record = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Not handled here: another handler, or HSA's default, which ends the process. */
static const hsa_status_t not_ours = HSA_STATUS_ERROR;

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data) {
  (void)data;
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return not_ours;
  const hsa_amd_gpu_memory_fault_info_t *info = &event->memory_fault;
  const struct fault fault = {info->virtual_address, info->fault_reason_mask};
  bool taken = false;
  log_line("memory fault of agent 0x%llx at 0x%llx", (unsigned long long)info->agent.handle, (unsigned long long)fault.address);
  pthread_mutex_lock(&record.lock);
  for (struct fault_watch *w = record.watch; w; w = w->next)
    if (w->agent.handle == info->agent.handle) taken |= w->tell(w, &fault);
  pthread_mutex_unlock(&record.lock);
  return taken ? HSA_STATUS_SUCCESS : not_ours;
}

void fault_listen(const struct hsa_table *hsa) { (void)hsa->hsa_amd_register_system_event_handler(on_event, NULL); }

void fault_watch(struct fault_watch *watch) {
  pthread_mutex_lock(&record.lock);
  watch->next = record.watch;
  record.watch = watch;
  pthread_mutex_unlock(&record.lock);
}

void fault_forget(struct fault_watch *watch) {
  pthread_mutex_lock(&record.lock);
  struct fault_watch **at = &record.watch;
  while (*at && *at != watch) at = &(*at)->next;
  if (*at) *at = watch->next;
  pthread_mutex_unlock(&record.lock);
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
