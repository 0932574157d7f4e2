/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: a 64-bit value that threads of the host wait for. The orders of the names are all the strongest one here.

   Whoever sees the value that it waits for may destroy the signal at once, while the thread that wrote the value still wakes the others.
   So the new value is the last thing of a signal that a writer touches: what threads sleep on outlives all signals, and several share it.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "hsa_state.h"

/* A program that has a pointer to the value may change it without a word: its waiters look again after so long. */
enum { LOOK_AGAIN_NS = 2000000 };

/* Where threads sleep until a signal changes; each signal has one, by its address. */
enum { BENCHES = 61 };
static struct bench {
  pthread_mutex_t lock;
  pthread_cond_t changed;
} benches[BENCHES];

/* For those who wait for more than one signal: changes with every signal while anybody does. */
static struct {
  struct bench bench;
  uint64_t generation;
  uint32_t waiters; /* atomic */
  uint32_t exposed; /* signals to whose value the program has a pointer. Atomic */
} any;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_bench(struct bench *b, const pthread_condattr_t *attr) {
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->changed, attr);
}

static void init_benches(void) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  for (int i = 0; i < BENCHES; i++) init_bench(&benches[i], &attr);
  init_bench(&any.bench, &attr);
  pthread_condattr_destroy(&attr);
}

static struct bench *bench_of(const struct signal *s) { return &benches[(uintptr_t)s / _Alignof(struct signal) % BENCHES]; }

struct signal *signal_of(hsa_signal_t handle) {
  struct signal *s = (struct signal *)(uintptr_t)handle.handle;
  return s && handle.handle % _Alignof(struct signal) == 0 &&
                 (s->abi.kind == AMD_SIGNAL_KIND_USER || s->abi.kind == AMD_SIGNAL_KIND_DOORBELL)
             ? s
             : NULL;
}

struct signal *signal_new(int64_t value, amd_signal_kind64_t kind) {
  pthread_once(&once, init_benches);
  struct signal *s = aligned_alloc(_Alignof(struct signal), sizeof *s);
  if (!s) return NULL;
  *s = (struct signal){.abi = {.kind = kind, .value = value}, .rung = -1};
  return s;
}

void signal_delete(struct signal *s) {
  if (!s) return;
  s->abi.kind = AMD_SIGNAL_KIND_INVALID;
  if (s->exposed) __atomic_fetch_sub(&any.exposed, 1, __ATOMIC_RELAXED);
  free(s);
}

int64_t signal_load(const struct signal *s) { return __atomic_load_n(&s->abi.value, __ATOMIC_SEQ_CST); }

void signal_wake_any(void) {
  if (!__atomic_load_n(&any.waiters, __ATOMIC_SEQ_CST)) return;
  pthread_mutex_lock(&any.bench.lock);
  any.generation++;
  pthread_cond_broadcast(&any.bench.changed);
  pthread_mutex_unlock(&any.bench.lock);
}

enum operation { PUT, ADD, AND, OR, XOR, CAS };

static uint64_t result_of(enum operation op, uint64_t old, uint64_t value, uint64_t expected) {
  switch (op) {
  case PUT:
    return value;
  case ADD:
    return old + value;
  case AND:
    return old & value;
  case OR:
    return old | value;
  case XOR:
    return old ^ value;
  case CAS:
    return old == expected ? value : old;
  }
  return old;
}

/* Changes the value, wakes those who wait, and returns what it was. Nothing of the signal is touched once its value is new. */
static int64_t update(struct signal *s, enum operation op, int64_t value, int64_t expected) {
  struct bench *bench = bench_of(s);
  bool doorbell = s->abi.kind == AMD_SIGNAL_KIND_DOORBELL;
  pthread_mutex_lock(&bench->lock);
  int64_t old = signal_load(s), now;
  do {
    now = (int64_t)result_of(op, (uint64_t)old, (uint64_t)value, (uint64_t)expected);
  } while (!__atomic_compare_exchange_n(&s->abi.value, &old, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  if (doorbell && now > s->rung) s->rung = now; /* its queue destroys it */
  pthread_cond_broadcast(&bench->changed);
  pthread_mutex_unlock(&bench->lock);
  signal_wake_any();
  return old;
}

void signal_put(struct signal *s, int64_t value) { update(s, PUT, value, 0); }
void signal_add(struct signal *s, int64_t value) { update(s, ADD, value, 0); }

bool signal_holds(hsa_signal_condition_t condition, int64_t value, int64_t compare) {
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

static struct timespec after(struct timespec t, uint64_t ns) {
  uint64_t sum = (uint64_t)t.tv_nsec + ns % 1000000000;
  t.tv_sec += (time_t)(ns / 1000000000 + sum / 1000000000);
  t.tv_nsec = (long)(sum % 1000000000);
  return t;
}

static bool earlier(struct timespec a, struct timespec b) { return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec; }

/* When a wait that began now ends. */
struct deadline {
  bool never;
  struct timespec at;
};

static struct deadline deadline_of(uint64_t ns) {
  struct deadline d = {.never = ns > (uint64_t)INT64_MAX / 2};
  clock_gettime(CLOCK_MONOTONIC, &d.at);
  if (!d.never) d.at = after(d.at, ns);
  return d;
}

/* One sleep, to be followed by a look. False: the time is up. */
static bool sleep_on(struct bench *b, const struct deadline *d, bool look_again) {
  if (!look_again && d->never) return pthread_cond_wait(&b->changed, &b->lock) == 0;
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!d->never && !earlier(now, d->at)) return false;
  end = look_again ? after(now, LOOK_AGAIN_NS) : d->at;
  if (!d->never && earlier(d->at, end)) end = d->at;
  pthread_cond_timedwait(&b->changed, &b->lock, &end);
  return true;
}

int64_t signal_wait(struct signal *s, hsa_signal_condition_t condition, int64_t compare, uint64_t ns) {
  int64_t value = signal_load(s);
  if (signal_holds(condition, value, compare) || !ns) return value;
  struct deadline end = deadline_of(ns);
  struct bench *bench = bench_of(s);
  pthread_mutex_lock(&bench->lock);
  for (value = signal_load(s); !signal_holds(condition, value, compare); value = signal_load(s))
    if (!sleep_on(bench, &end, s->exposed)) break;
  pthread_mutex_unlock(&bench->lock);
  return value;
}

bool doorbell_wait(struct signal *s, int64_t value, const bool *stop) {
  struct bench *bench = bench_of(s);
  pthread_mutex_lock(&bench->lock);
  while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE) && s->rung < value) pthread_cond_wait(&bench->changed, &bench->lock);
  pthread_mutex_unlock(&bench->lock);
  return !__atomic_load_n(stop, __ATOMIC_ACQUIRE);
}

void doorbell_stop(struct signal *s, bool *stop) {
  struct bench *bench = bench_of(s);
  __atomic_store_n(stop, true, __ATOMIC_RELEASE);
  pthread_mutex_lock(&bench->lock);
  pthread_cond_broadcast(&bench->changed);
  pthread_mutex_unlock(&bench->lock);
}

int64_t doorbell_rung(struct signal *s) {
  struct bench *bench = bench_of(s);
  pthread_mutex_lock(&bench->lock);
  int64_t rung = s->rung;
  pthread_mutex_unlock(&bench->lock);
  return rung;
}

bool signal_wait_many(bool (*ready)(void *context), void *context, uint64_t ns) {
  struct deadline end = deadline_of(ns);
  pthread_once(&once, init_benches);
  __atomic_fetch_add(&any.waiters, 1, __ATOMIC_SEQ_CST);
  bool met, in_time = true;
  for (;;) {
    pthread_mutex_lock(&any.bench.lock);
    uint64_t seen = any.generation;
    pthread_mutex_unlock(&any.bench.lock);
    met = ready(context);
    if (met || !in_time) break;
    pthread_mutex_lock(&any.bench.lock);
    if (any.generation == seen) in_time = sleep_on(&any.bench, &end, __atomic_load_n(&any.exposed, __ATOMIC_RELAXED) != 0);
    pthread_mutex_unlock(&any.bench.lock);
  }
  __atomic_fetch_sub(&any.waiters, 1, __ATOMIC_SEQ_CST);
  return met;
}

/* --- creation ------------------------------------------------------------------------------------------------------------------- */

hsa_status_t hsa_amd_signal_create(
    hsa_signal_value_t initial_value, uint32_t num_consumers, const hsa_agent_t *consumers, uint64_t attributes, hsa_signal_t *signal) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!signal || (num_consumers && !consumers)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (attributes & ~(uint64_t)HSA_AMD_SIGNAL_AMD_GPU_ONLY) return HSA_STATUS_ERROR_INVALID_ARGUMENT; /* none is shared by processes */
  for (uint32_t i = 0; i < num_consumers; i++)
    for (uint32_t k = 0; k < i; k++)
      if (consumers[i].handle == consumers[k].handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct signal *s = signal_new(initial_value, AMD_SIGNAL_KIND_USER);
  if (!s) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  signal->handle = (uint64_t)(uintptr_t)s;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_create(
    hsa_signal_value_t initial_value, uint32_t num_consumers, const hsa_agent_t *consumers, hsa_signal_t *signal) {
  return hsa_amd_signal_create(initial_value, num_consumers, consumers, 0, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!signal.handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct signal *s = signal_of(signal);
  if (!s || s->abi.kind != AMD_SIGNAL_KIND_USER) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  async_forget(s);
  signal_delete(s);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t **value_ptr) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  struct signal *s = signal_of(signal);
  if (!s || s->abi.kind != AMD_SIGNAL_KIND_USER) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (!value_ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct bench *bench = bench_of(s);
  pthread_mutex_lock(&bench->lock);
  if (!s->exposed) __atomic_fetch_add(&any.exposed, 1, __ATOMIC_RELAXED);
  s->exposed = true;
  pthread_cond_broadcast(&bench->changed); /* who sleeps already begins to look again */
  pthread_mutex_unlock(&bench->lock);
  signal_wake_any();
  *value_ptr = &s->abi.value;
  return HSA_STATUS_SUCCESS;
}

/* --- by memory order. A signal that is none is the program's fault: these calls cannot say so, 0 is loaded. ------------------------ */

#define LOAD(order)                                                                                                                        \
  hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal) {                                                                        \
    struct signal *s = signal_of(signal);                                                                                                  \
    return s ? signal_load(s) : 0;                                                                                                         \
  }
LOAD(relaxed)
LOAD(scacquire)
LOAD(acquire)

#define CHANGE(name, op, sign, order)                                                                                                      \
  void hsa_signal_##name##_##order(hsa_signal_t signal, hsa_signal_value_t value) {                                                        \
    struct signal *s = signal_of(signal);                                                                                                  \
    if (s) update(s, op, (int64_t)(sign(uint64_t) value), 0);                                                                              \
  }
CHANGE(store, PUT, , relaxed)
CHANGE(store, PUT, , screlease)
CHANGE(store, PUT, , release)
CHANGE(silent_store, PUT, , relaxed)
CHANGE(silent_store, PUT, , screlease)

#define EXCHANGE(order)                                                                                                                    \
  hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t signal, hsa_signal_value_t value) {                                          \
    struct signal *s = signal_of(signal);                                                                                                  \
    return s ? update(s, PUT, value, 0) : 0;                                                                                               \
  }                                                                                                                                        \
  hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value) {                  \
    struct signal *s = signal_of(signal);                                                                                                  \
    return s ? update(s, CAS, value, expected) : 0;                                                                                        \
  }
#define CHANGES(order)                                                                                                                     \
  CHANGE(add, ADD, , order)                                                                                                                \
  CHANGE(subtract, ADD, 0 -, order)                                                                                                        \
  CHANGE(and, AND, , order) CHANGE(or, OR, , order) CHANGE(xor, XOR, , order) EXCHANGE(order)
CHANGES(relaxed)
CHANGES(scacquire)
CHANGES(screlease)
CHANGES(scacq_screl)
CHANGES(acquire)
CHANGES(release)
CHANGES(acq_rel)

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
