/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: a 64-bit value that threads of the host wait for. The orders of the names are all the strongest one here. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "hsa_state.h"

struct signal *signal_of(hsa_signal_t handle) {
  struct signal *s = (struct signal *)(uintptr_t)handle.handle;
  return s && handle.handle % _Alignof(struct signal) == 0 &&
                 (s->abi.kind == AMD_SIGNAL_KIND_USER || s->abi.kind == AMD_SIGNAL_KIND_DOORBELL)
             ? s
             : NULL;
}

struct signal *signal_new(int64_t value, amd_signal_kind64_t kind) {
  struct signal *s = aligned_alloc(_Alignof(struct signal), sizeof *s);
  if (!s) return NULL;
  *s = (struct signal){.abi = {.kind = kind, .value = value}, .rung = -1};
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&s->changed, &attr);
  pthread_condattr_destroy(&attr);
  pthread_mutex_init(&s->lock, NULL);
  return s;
}

void signal_delete(struct signal *s) {
  if (!s) return;
  s->abi.kind = AMD_SIGNAL_KIND_INVALID;
  pthread_cond_destroy(&s->changed);
  pthread_mutex_destroy(&s->lock);
  free(s);
}

static void set(struct signal *s, int64_t value) {
  s->abi.value = value;
  if (value > s->rung) s->rung = value;
  pthread_cond_broadcast(&s->changed);
}

void signal_put(struct signal *s, int64_t value) {
  pthread_mutex_lock(&s->lock);
  set(s, value);
  pthread_mutex_unlock(&s->lock);
}

void signal_add(struct signal *s, int64_t value) {
  pthread_mutex_lock(&s->lock);
  set(s, (int64_t)((uint64_t)s->abi.value + (uint64_t)value));
  pthread_mutex_unlock(&s->lock);
}

static int64_t load(struct signal *s) {
  pthread_mutex_lock(&s->lock);
  int64_t value = s->abi.value;
  pthread_mutex_unlock(&s->lock);
  return value;
}

static bool holds(hsa_signal_condition_t condition, int64_t value, int64_t compare) {
  switch (condition) {
  case HSA_SIGNAL_CONDITION_EQ:
    return value == compare;
  case HSA_SIGNAL_CONDITION_NE:
    return value != compare;
  case HSA_SIGNAL_CONDITION_LT:
    return value < compare;
  case HSA_SIGNAL_CONDITION_GTE:
    return value >= compare;
  }
  return true;
}

int64_t signal_wait(struct signal *s, hsa_signal_condition_t condition, int64_t compare, uint64_t ns) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  bool forever = ns > (uint64_t)INT64_MAX / 2;
  if (!forever) {
    uint64_t sum = (uint64_t)end.tv_nsec + ns % 1000000000;
    end.tv_sec += (time_t)(ns / 1000000000 + sum / 1000000000);
    end.tv_nsec = (long)(sum % 1000000000);
  }
  pthread_mutex_lock(&s->lock);
  while (!holds(condition, s->abi.value, compare)) {
    if (forever)
      pthread_cond_wait(&s->changed, &s->lock);
    else if (pthread_cond_timedwait(&s->changed, &s->lock, &end) == ETIMEDOUT)
      break;
  }
  int64_t value = s->abi.value;
  pthread_mutex_unlock(&s->lock);
  return value;
}

hsa_status_t hsa_signal_create(
    hsa_signal_value_t initial_value, uint32_t num_consumers, const hsa_agent_t *consumers, hsa_signal_t *signal) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!signal || (num_consumers && !consumers)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct signal *s = signal_new(initial_value, AMD_SIGNAL_KIND_USER);
  if (!s) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  signal->handle = (uint64_t)(uintptr_t)s;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!signal.handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct signal *s = signal_of(signal);
  if (!s || s->abi.kind != AMD_SIGNAL_KIND_USER) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  signal_delete(s);
  return HSA_STATUS_SUCCESS;
}

/* The functions by memory order. A signal that is none is the program's fault: these calls cannot say so, 0 is loaded. */
#define LOAD(order)                                                                                                                        \
  hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal) {                                                                        \
    struct signal *s = signal_of(signal);                                                                                                  \
    return s ? load(s) : 0;                                                                                                                \
  }
LOAD(relaxed)
LOAD(scacquire)
LOAD(acquire)

#define STORE(order)                                                                                                                       \
  void hsa_signal_store_##order(hsa_signal_t signal, hsa_signal_value_t value) {                                                           \
    struct signal *s = signal_of(signal);                                                                                                  \
    if (s) signal_put(s, value);                                                                                                           \
  }
STORE(relaxed)
STORE(screlease)
STORE(release)

#define ADD(name, sign, order)                                                                                                             \
  void hsa_signal_##name##_##order(hsa_signal_t signal, hsa_signal_value_t value) {                                                        \
    struct signal *s = signal_of(signal);                                                                                                  \
    if (s) signal_add(s, (int64_t)(sign(uint64_t) value));                                                                                 \
  }
#define ADDS(order) ADD(add, , order) ADD(subtract, 0 -, order)
ADDS(relaxed)
ADDS(scacquire)
ADDS(screlease)
ADDS(scacq_screl)

#define WAIT(order)                                                                                                                        \
  hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare_value,      \
      uint64_t timeout_hint, hsa_wait_state_t wait_state_hint) {                                                                           \
    (void)wait_state_hint;                                                                                                                 \
    struct signal *s = signal_of(signal);                                                                                                  \
    return s ? signal_wait(s, condition, compare_value, timeout_hint) : 0;                                                                 \
  }
WAIT(relaxed)
WAIT(scacquire)
WAIT(acquire)
