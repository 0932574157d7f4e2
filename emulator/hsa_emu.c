/* SPDX-License-Identifier: Apache-2.0 */
/* hsa_emu.h's functions. */
#include "hsa_emu.h"

#include <stdio.h>

#include <string.h>

#include "hsa_state.h"

enum { THREADS_MAX = 256 };

hsa_status_t hsa_emu_set_threads(uint32_t threads) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (threads > THREADS_MAX) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  __atomic_store_n(&emu.device.threads, threads, __ATOMIC_RELAXED);
  return HSA_STATUS_SUCCESS;
}

uint32_t hsa_emu_threads(void) { return emu_running() ? device_threads(&emu.device) : 0; }

/* --- strict mode ------------------------------------------------------------------------------------------------------------ */

hsa_status_t hsa_emu_set_strict(const struct hsa_emu_strict *options) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (options && !strict_option_good(options)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&emu.device.report_lock);
  emu.device.strict_set = options != NULL;
  if (options) emu.device.strict = *options;
  pthread_mutex_unlock(&emu.device.report_lock);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_emu_strict(struct hsa_emu_strict *options) {
  char error[STRICT_ERROR_MAX];
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!options || !device_strict(&emu.device, options, error)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return HSA_STATUS_SUCCESS;
}

size_t hsa_emu_findings(void) {
  if (!emu_running()) return 0;
  pthread_mutex_lock(&emu.device.report_lock);
  size_t count = emu.device.findings.count;
  pthread_mutex_unlock(&emu.device.report_lock);
  return count;
}

size_t hsa_emu_finding(size_t i, struct hsa_emu_finding *finding, char *out, size_t size) {
  size_t length = 0;
  if (size) out[0] = 0;
  if (!emu_running()) return 0;
  pthread_mutex_lock(&emu.device.report_lock);
  if (i < emu.device.findings.count) {
    const struct found *f = &emu.device.findings.list[i];
    const char *text = f->text ? f->text : finding_name(f->finding.kind);
    if (finding) *finding = f->finding;
    length = (size_t)snprintf(out, size, "%s", text);
  }
  pthread_mutex_unlock(&emu.device.report_lock);
  return length;
}

void hsa_emu_findings_clear(void) {
  if (!emu_running()) return;
  pthread_mutex_lock(&emu.device.report_lock);
  findings_clear(&emu.device.findings);
  pthread_mutex_unlock(&emu.device.report_lock);
}

/* --- figures and texts ------------------------------------------------------------------------------------------------------ */

static hsa_status_t copy_counters(const struct hsa_emu_counters *from, struct hsa_emu_counters *to) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!to) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&emu.device.report_lock);
  *to = *from;
  pthread_mutex_unlock(&emu.device.report_lock);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_emu_last_dispatch(struct hsa_emu_counters *counters) { return copy_counters(&emu.device.last, counters); }
hsa_status_t hsa_emu_total(struct hsa_emu_counters *counters) { return copy_counters(&emu.device.total, counters); }

uint64_t hsa_emu_model_time(void) { return __atomic_load_n(&emu.device.cycles, __ATOMIC_RELAXED) / CYCLES_A_TICK; }

hsa_status_t hsa_emu_range_add(const void *base, uint64_t bytes, uint32_t *range) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!range) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  turns_take_alone(&emu.device.turns);
  enum traffic_status status = traffic_add(&emu.device.traffic, emu.device.memory, (uint64_t)(uintptr_t)base, bytes, range);
  turns_give(&emu.device.turns);
  if (status == TRAFFIC_NO_MEMORY) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  return status == TRAFFIC_GOOD ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_emu_ranges_clear(void) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  turns_take_alone(&emu.device.turns);
  traffic_clear(&emu.device.traffic, emu.device.memory);
  turns_give(&emu.device.turns);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_emu_traffic_reset(void) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  turns_take_alone(&emu.device.turns);
  traffic_reset(&emu.device.traffic);
  turns_give(&emu.device.turns);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_emu_range_traffic(uint32_t range, struct hsa_emu_traffic *traffic) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!traffic) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  turns_take_alone(&emu.device.turns);
  bool good = traffic_read(&emu.device.traffic, range, traffic);
  turns_give(&emu.device.turns);
  return good ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_INDEX;
}

hsa_status_t hsa_emu_range_fetches(uint32_t range, uint64_t first, uint64_t count, uint32_t *fetches) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!fetches) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  turns_take_alone(&emu.device.turns);
  bool good = traffic_fetches(&emu.device.traffic, range, first, count, fetches);
  turns_give(&emu.device.turns);
  return good ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_INDEX;
}

static size_t copy_text(const struct report *r, char *out, size_t size) {
  if (!emu_running()) {
    if (size) out[0] = 0;
    return 0;
  }
  pthread_mutex_lock(&emu.device.report_lock);
  size_t length = report_copy(r, out, size);
  pthread_mutex_unlock(&emu.device.report_lock);
  return length;
}

size_t hsa_emu_report(char *out, size_t size) { return copy_text(&emu.device.report, out, size); }
size_t hsa_emu_remarks(char *out, size_t size) { return copy_text(&emu.device.remarks, out, size); }

void hsa_emu_report_clear(void) {
  if (!emu_running()) return;
  pthread_mutex_lock(&emu.device.report_lock);
  report_clear(&emu.device.report);
  pthread_mutex_unlock(&emu.device.report_lock);
}

size_t hsa_emu_code(const char *kernel, uint64_t *object, struct hsa_emu_instruction *out, size_t capacity) {
  const struct loaded_kernel *k = emu_running() && kernel && object ? executable_kernel_named(kernel) : NULL;
  if (!k) return 0;
  *object = k->object;
  for (size_t i = 0; i < k->program->count && i < capacity; i++) {
    const struct inst *in = &k->program->inst[i];
    out[i] = (struct hsa_emu_instruction){(int64_t)(in->address - k->entry), (enum hsa_emu_class)in->class, in->text};
  }
  return k->program->count;
}

static bool regions_fit(const struct loaded_kernel *k, const uint8_t *region, size_t count, uint32_t regions) {
  if (!k || !region || count != k->program->count || !regions || regions > UINT8_MAX + 1) return false;
  for (size_t i = 0; i < count; i++)
    if (region[i] >= regions) return false;
  return true;
}

hsa_status_t hsa_emu_profile(uint64_t object, const uint8_t *region, size_t count, uint32_t regions) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (object && !regions_fit(executable_kernel(object), region, count, regions)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  turns_take_alone(&emu.device.turns);
  bool good = true;
  if (object)
    good = profile_set(&emu.device.profile, object, region, count, regions);
  else
    profile_clear(&emu.device.profile);
  turns_give(&emu.device.turns);
  return good ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_emu_profile_workgroup(
    uint32_t workgroup, struct hsa_emu_profiled *out, struct hsa_emu_region *figures, struct hsa_emu_span *spans, size_t count) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!out) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  turns_take_alone(&emu.device.turns);
  const struct profile *p = &emu.device.profile;
  const struct profile_group *g = workgroup < p->groups ? p->group[workgroup] : NULL;
  if (g) {
    *out = (struct hsa_emu_profiled){g->workgroup, g->xcc, g->begin, g->end, g->spans};
    if (figures) memcpy(figures, g->figures, g->regions * sizeof *figures);
    if (spans && g->spans) memcpy(spans, g->span, (count < g->spans ? count : g->spans) * sizeof *spans);
  }
  turns_give(&emu.device.turns);
  return g ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_INDEX;
}
