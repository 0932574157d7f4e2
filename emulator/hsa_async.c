/* SPDX-License-Identifier: Apache-2.0 */
/* What happens once signals allow it: signal handlers and functions on one thread, copies on another. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

/* Rows of a block, or one row. */
struct copy {
  uint8_t *to;
  const uint8_t *from;
  size_t row, rows, slices, to_pitch, to_slice, from_pitch, from_slice;
};

struct task {
  struct task *next;
  bool (*ready)(struct task *t);
  bool (*run)(struct task *t); /* true: it goes on waiting */
  struct signal *signal;       /* of a handler, NULL once it is forgotten; a copy's completion signal */
  hsa_signal_condition_t condition;
  int64_t compare, seen;
  hsa_amd_signal_handler handler;
  void (*function)(void *argument);
  void *argument;
  struct copy copy;
  bool timed;
  uint32_t deps;
  hsa_signal_t dep[];
};

/* A thread and what it is to do. It looks again whenever a signal changes. */
struct lane {
  pthread_mutex_t lock;
  pthread_t thread;
  bool started, stop;
  struct task *tasks, *ready; /* in order of arrival; the one that runs or is about to */
};

static struct lane handlers = {.lock = PTHREAD_MUTEX_INITIALIZER}, copies = {.lock = PTHREAD_MUTEX_INITIALIZER};
static bool copies_timed; /* atomic */

/* Takes the first task that is ready into lane->ready; none, and true as well, if the lane ends. */
static bool take_ready(void *context) {
  struct lane *lane = context;
  pthread_mutex_lock(&lane->lock);
  struct task **at = &lane->tasks;
  while (*at && (lane->stop || !(*at)->ready(*at))) at = &(*at)->next;
  lane->ready = *at;
  if (*at) *at = (*at)->next;
  bool found = lane->ready || lane->stop;
  pthread_mutex_unlock(&lane->lock);
  return found;
}

static void append(struct lane *lane, struct task *t) {
  struct task **end = &lane->tasks;
  t->next = NULL;
  while (*end) end = &(*end)->next;
  *end = t;
}

static void *lane_main(void *context) {
  struct lane *lane = context;
  for (;;) {
    signal_wait_many(take_ready, lane, UINT64_MAX);
    struct task *t = lane->ready;
    if (!t) return NULL;
    bool again = t->run(t);
    pthread_mutex_lock(&lane->lock);
    if (again && t->signal && !lane->stop)
      append(lane, t);
    else
      free(t);
    lane->ready = NULL;
    pthread_mutex_unlock(&lane->lock);
  }
}

static hsa_status_t submit(struct lane *lane, struct task *t) {
  if (!t) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  pthread_mutex_lock(&lane->lock);
  if (!lane->started) {
    lane->stop = false;
    lane->started = !pthread_create(&lane->thread, NULL, lane_main, lane);
  }
  hsa_status_t status = !lane->started ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
                        : lane->stop   ? HSA_STATUS_ERROR_NOT_INITIALIZED /* by what runs while hsa_shut_down waits for it */
                                       : HSA_STATUS_SUCCESS;
  if (status == HSA_STATUS_SUCCESS)
    append(lane, t);
  else
    free(t);
  pthread_mutex_unlock(&lane->lock);
  signal_wake_any();
  return status;
}

static void end_lane(struct lane *lane) {
  pthread_mutex_lock(&lane->lock);
  bool started = lane->started;
  lane->stop = true;
  while (lane->tasks) {
    struct task *next = lane->tasks->next;
    free(lane->tasks);
    lane->tasks = next;
  }
  pthread_mutex_unlock(&lane->lock);
  if (!started) return;
  signal_wake_any();
  pthread_join(lane->thread, NULL);
  pthread_mutex_lock(&lane->lock);
  lane->started = false;
  pthread_mutex_unlock(&lane->lock);
}

void async_end(void) {
  end_lane(&handlers);
  end_lane(&copies);
}

void async_forget(const struct signal *s) {
  pthread_mutex_lock(&handlers.lock);
  if (handlers.ready && handlers.ready->signal == s) handlers.ready->signal = NULL; /* it runs, for the last time */
  for (struct task **at = &handlers.tasks; *at;) {
    struct task *t = *at;
    if (t->signal != s) {
      at = &t->next;
      continue;
    }
    *at = t->next;
    free(t);
  }
  pthread_mutex_unlock(&handlers.lock);
}

/* --- handlers --------------------------------------------------------------------------------------------------------------------- */

static bool condition_holds(struct task *t) {
  t->seen = signal_load(t->signal);
  return signal_holds(t->condition, t->seen, t->compare);
}

static bool run_handler(struct task *t) { return t->handler(t->seen, t->argument); }

hsa_status_t hsa_amd_signal_async_handler(
    hsa_signal_t signal, hsa_signal_condition_t cond, hsa_signal_value_t value, hsa_amd_signal_handler handler, void *arg) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  struct signal *s = signal_of(signal);
  if (!s) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (!handler) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct task *t = calloc(1, sizeof *t);
  if (t)
    *t = (struct task){.ready = condition_holds,
        .run = run_handler,
        .signal = s,
        .condition = cond,
        .compare = value,
        .handler = handler,
        .argument = arg};
  return submit(&handlers, t);
}

static bool at_once(struct task *t) { return t != NULL; }

static bool run_function(struct task *t) {
  t->function(t->argument);
  return false;
}

hsa_status_t hsa_amd_async_function(void (*callback)(void *arg), void *arg) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct task *t = calloc(1, sizeof *t);
  if (t) *t = (struct task){.ready = at_once, .run = run_function, .function = callback, .argument = arg};
  return submit(&handlers, t);
}

/* --- copies ------------------------------------------------------------------------------------------------------------------------- */

static bool deps_are_zero(struct task *t) {
  for (uint32_t i = 0; i < t->deps; i++) {
    const struct signal *s = signal_of(t->dep[i]);
    if (s && signal_load(s)) return false;
  }
  return true;
}

static bool run_copy(struct task *t) {
  const struct copy *c = &t->copy;
  uint64_t start = emu_timestamp();
  for (size_t z = 0; z < c->slices; z++)
    for (size_t y = 0; y < c->rows; y++)
      memmove(c->to + z * c->to_slice + y * c->to_pitch, c->from + z * c->from_slice + y * c->from_pitch, c->row);
  if (t->timed) {
    t->signal->abi.start_ts = start;
    t->signal->abi.end_ts = emu_timestamp();
  }
  signal_add(t->signal, -1);
  return false;
}

static hsa_status_t submit_copy(struct copy copy, uint32_t deps, const hsa_signal_t *dep, struct signal *completion) {
  struct task *t = calloc(1, sizeof *t + deps * sizeof *dep);
  if (!t) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  t->ready = deps_are_zero;
  t->run = run_copy;
  t->signal = completion;
  t->copy = copy;
  t->timed = __atomic_load_n(&copies_timed, __ATOMIC_RELAXED);
  t->deps = deps;
  if (deps) memcpy(t->dep, dep, deps * sizeof *dep);
  return submit(&copies, t);
}

static bool deps_are_signals(uint32_t deps, const hsa_signal_t *dep) {
  for (uint32_t i = 0; i < deps; i++)
    if (!signal_of(dep[i])) return false;
  return true;
}

hsa_status_t hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size,
    uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!dst || !src || !completion_signal.handle || (num_dep_signals && !dep_signals)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!emu_is_agent(dst_agent) || !emu_is_agent(src_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  struct signal *completion = signal_of(completion_signal);
  if (!completion || !deps_are_signals(num_dep_signals, dep_signals)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (!size) return HSA_STATUS_SUCCESS;
  return submit_copy((struct copy){.to = dst, .from = src, .row = size, .rows = 1, .slices = 1}, num_dep_signals, dep_signals, completion);
}

static bool is_block(const hsa_pitched_ptr_t *p, const hsa_dim3_t *offset, const hsa_dim3_t *range) {
  if (!p || !offset || !p->base || ((uintptr_t)p->base | p->pitch | p->slice | offset->x | range->x) & 3) return false;
  return (uint64_t)offset->x + range->x <= p->pitch || (range->y == 1 && range->z == 1);
}

static size_t block_start(const hsa_pitched_ptr_t *p, const hsa_dim3_t *o) { return o->x + o->y * p->pitch + o->z * p->slice; }

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
    const hsa_dim3_t *src_offset, const hsa_dim3_t *range, hsa_agent_t copy_agent, hsa_amd_copy_direction_t dir, uint32_t num_dep_signals,
    const hsa_signal_t *dep_signals, hsa_signal_t completion_signal) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!range || !is_block(dst, dst_offset, range) || !is_block(src, src_offset, range)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!completion_signal.handle || (num_dep_signals && !dep_signals)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (dir != hsaHostToDevice && dir != hsaDeviceToHost && dir != hsaDeviceToDevice) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!emu_is_agent(copy_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  struct signal *completion = signal_of(completion_signal);
  if (!completion || !deps_are_signals(num_dep_signals, dep_signals)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (!range->x || !range->y || !range->z) return HSA_STATUS_SUCCESS;
  struct copy copy = {.to = (uint8_t *)dst->base + block_start(dst, dst_offset),
      .from = (const uint8_t *)src->base + block_start(src, src_offset),
      .row = range->x,
      .rows = range->y,
      .slices = range->z,
      .to_pitch = dst->pitch,
      .to_slice = dst->slice,
      .from_pitch = src->pitch,
      .from_slice = src->slice};
  return submit_copy(copy, num_dep_signals, dep_signals, completion);
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  __atomic_store_n(&copies_timed, enable, __ATOMIC_RELAXED);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!time) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const struct signal *s = signal_of(signal);
  if (!s) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *time = (hsa_amd_profiling_async_copy_time_t){.start = s->abi.start_ts, .end = s->abi.end_ts};
  return HSA_STATUS_SUCCESS;
}
