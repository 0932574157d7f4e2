/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the first of several signals: groups, and AMD's wait_any. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

/* Handle: its address. */
struct group {
  struct group *next;
  uint32_t count;
  hsa_signal_t signal[];
};

static struct group *groups; /* under emu.lock */

struct awaited {
  uint32_t count;
  const hsa_signal_t *signal; /* those that are none are left out */
  const hsa_signal_condition_t *condition;
  const hsa_signal_value_t *compare;
  uint32_t met; /* the first */
  hsa_signal_value_t value;
};

static bool one_is_met(void *context) {
  struct awaited *a = context;
  for (uint32_t i = 0; i < a->count; i++) {
    const struct signal *s = signal_of(a->signal[i]);
    if (!s) continue;
    a->value = signal_load(s);
    a->met = i;
    if (signal_holds(a->condition[i], a->value, a->compare[i])) return true;
  }
  return false;
}

uint32_t hsa_amd_signal_wait_any(uint32_t signal_count, hsa_signal_t *signals, hsa_signal_condition_t *conds, hsa_signal_value_t *values,
    uint64_t timeout_hint, hsa_wait_state_t wait_hint, hsa_signal_value_t *satisfying_value) {
  (void)wait_hint;
  if (!emu_running() || !signals || !conds || !values) return UINT32_MAX;
  bool none = true;
  for (uint32_t i = 0; i < signal_count; i++) none = none && !signal_of(signals[i]);
  struct awaited a = {.count = signal_count, .signal = signals, .condition = conds, .compare = values};
  if (none || !signal_wait_many(one_is_met, &a, timeout_hint)) return UINT32_MAX;
  if (satisfying_value) *satisfying_value = a.value;
  return a.met;
}

hsa_status_t hsa_signal_group_create(uint32_t num_signals, const hsa_signal_t *signals, uint32_t num_consumers,
    const hsa_agent_t *consumers, hsa_signal_group_t *signal_group) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!num_signals || !signals || !signal_group || (num_consumers && !consumers)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < num_signals; i++)
    if (!signal_of(signals[i])) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  struct group *g = malloc(sizeof *g + num_signals * sizeof *signals);
  if (!g) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  g->count = num_signals;
  memcpy(g->signal, signals, num_signals * sizeof *signals);
  pthread_mutex_lock(&emu.lock);
  g->next = groups;
  groups = g;
  pthread_mutex_unlock(&emu.lock);
  signal_group->handle = (uint64_t)(uintptr_t)g;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t signal_group) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&emu.lock);
  struct group **at = &groups;
  while (*at && (uint64_t)(uintptr_t)*at != signal_group.handle) at = &(*at)->next;
  struct group *g = *at;
  if (g) *at = g->next;
  pthread_mutex_unlock(&emu.lock);
  free(g);
  return g ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
}

void signal_groups_delete(void) {
  while (groups) {
    struct group *next = groups->next;
    free(groups);
    groups = next;
  }
}

static const struct group *group_of(hsa_signal_group_t handle) {
  pthread_mutex_lock(&emu.lock);
  const struct group *g = groups;
  while (g && (uint64_t)(uintptr_t)g != handle.handle) g = g->next;
  pthread_mutex_unlock(&emu.lock);
  return g;
}

static hsa_status_t wait_group(hsa_signal_group_t handle, const hsa_signal_condition_t *conditions,
    const hsa_signal_value_t *compare_values, hsa_signal_t *signal, hsa_signal_value_t *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct group *g = group_of(handle);
  if (!g) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
  if (!conditions || !compare_values || !signal || !value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct awaited a = {.count = g->count, .signal = g->signal, .condition = conditions, .compare = compare_values};
  signal_wait_many(one_is_met, &a, UINT64_MAX);
  *signal = g->signal[a.met];
  *value = a.value;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_wait_any_scacquire(hsa_signal_group_t signal_group, const hsa_signal_condition_t *conditions,
    const hsa_signal_value_t *compare_values, hsa_wait_state_t wait_state_hint, hsa_signal_t *signal, hsa_signal_value_t *value) {
  (void)wait_state_hint;
  return wait_group(signal_group, conditions, compare_values, signal, value);
}

hsa_status_t hsa_signal_group_wait_any_relaxed(hsa_signal_group_t signal_group, const hsa_signal_condition_t *conditions,
    const hsa_signal_value_t *compare_values, hsa_wait_state_t wait_state_hint, hsa_signal_t *signal, hsa_signal_value_t *value) {
  (void)wait_state_hint;
  return wait_group(signal_group, conditions, compare_values, signal, value);
}
