/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: made, found dead, destroyed. */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "extensible.h"
#include "geometry.h"
#include "instance_guard.h"
#include "log.h"
#include "status.h"

enum { LAUNCHES_DEFAULT = 64, LAUNCHES_MAX = 4096, PACKETS_A_LAUNCH = 3, MASK_WORDS = 32, HANDLER_TRIES = 1000, HANDLER_NAP_NS = 1000000 };

/* The first cause wins; `error` or `fault` are there before it can be seen. From any thread. */
static void kill_queue(struct queue *queue, enum queue_death death, hsa_status_t error, const struct fault *fault) {
  uint32_t alive = QUEUE_ALIVE;
  if (!atomic_compare_exchange_strong(&queue->death, &alive, QUEUE_DYING)) return;
  queue->error = error;
  if (fault) queue->fault = *fault;
  queue->death = death;
  for (uint32_t i = 0; i < queue->slots; i++) ended_fire(&queue->slot[i].ended, FRONT_ERR_FAULT);
}

static void on_queue_error(hsa_status_t status, hsa_queue_t *source, void *data) {
  (void)source;
  if (!data || status == HSA_STATUS_SUCCESS) return;
  log_line("a queue stopped with 0x%x", (unsigned)status);
  kill_queue(data, QUEUE_ERROR, status, NULL);
}

/* A fault with nothing of ours in flight is somebody else's. */
static bool on_memory_fault(struct fault_watch *watch, const struct fault *fault) {
  struct queue *queue = (struct queue *)(void *)((char *)watch - offsetof(struct queue, watch));
  if (queue->next == queue->retired) return false;
  kill_queue(queue, QUEUE_MEMORY_FAULT, HSA_STATUS_SUCCESS, fault);
  return true;
}

static enum front_status make_slots(struct queue *queue) {
  const struct hsa_table *hsa = queue->device->hsa;
  queue->slot = calloc(queue->slots, sizeof *queue->slot);
  if (!queue->slot) return status_fail(FRONT_ERR_MEMORY, "front_queue_create: no host memory");
  for (uint32_t i = 0; i < queue->slots; i++) {
    hsa_status_t code = hsa->hsa_signal_create(0, 0, NULL, &queue->slot[i].done);
    if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_signal_create", code);
  }
  return FRONT_OK;
}

/* Compute units that the queue may use, masks of the environment included. */
static enum front_status check_mask(const struct queue *queue) {
  const struct hsa_table *hsa = queue->device->hsa;
  uint32_t mask[MASK_WORDS] = {0}, units = 0;
  if (!hsa->hsa_amd_queue_cu_get_mask) return FRONT_OK;
  if (hsa->hsa_amd_queue_cu_get_mask(queue->hsa, MASK_WORDS * 32, mask) != HSA_STATUS_SUCCESS) return FRONT_OK;
  for (size_t i = 0; i < MASK_WORDS; i++) units += (uint32_t)__builtin_popcount(mask[i]);
  if (units >= GRID || units >= queue->device->info.compute_units) return FRONT_OK;
  return status_fail(FRONT_ERR_RESIDENCY,
      "a compute unit mask (HSA_CU_MASK, ROC_GLOBAL_CU_MASK) leaves a queue of %s %u of its %u compute units, and %d workgroups must be "
      "resident together: take the mask away",
      queue->device->info.name, units, queue->device->info.compute_units, GRID);
}

static enum front_status make_ring(struct queue *queue, bool cooperative) {
  const struct hsa_table *hsa = queue->device->hsa;
  uint32_t least = 0, most = 0;
  hsa_status_t code = hsa->hsa_agent_get_info(queue->device->agent, HSA_AGENT_INFO_QUEUE_MIN_SIZE, &least);
  if (code == HSA_STATUS_SUCCESS) code = hsa->hsa_agent_get_info(queue->device->agent, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &most);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_agent_get_info", code);
  uint32_t size = queue->slots > least ? queue->slots : least;
  if (size > most)
    return status_fail(FRONT_ERR_ARGUMENT, "front_queue_create: %u launches: the agent's queues hold at most %u", size, most);
  while (size < queue->slots * PACKETS_A_LAUNCH && size * 2 <= most) size *= 2;
  code = hsa->hsa_queue_create(queue->device->agent, size, cooperative ? HSA_QUEUE_TYPE_COOPERATIVE : HSA_QUEUE_TYPE_SINGLE, on_queue_error,
      queue, UINT32_MAX, UINT32_MAX, &queue->hsa);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_queue_create", code);
  return check_mask(queue);
}

/* Destroys what there is of a queue. HSA's queue first: then nobody calls us. */
static enum front_status release(struct queue *queue) {
  const struct hsa_table *hsa = queue->device->hsa;
  enum front_status status = FRONT_OK;
  fault_forget(&queue->watch);
  hsa_status_t code = queue->hsa ? hsa->hsa_queue_destroy(queue->hsa) : HSA_STATUS_SUCCESS;
  if (code != HSA_STATUS_SUCCESS) status = hsa_fail(hsa, FRONT_ERR_HSA, "hsa_queue_destroy", code);
  for (uint32_t i = 0; queue->slot && i < queue->slots; i++)
    if (queue->slot[i].done.handle) (void)hsa->hsa_signal_destroy(queue->slot[i].done);
  free(queue->slot);
  free(queue);
  return status;
}

static uint32_t fences_of(const struct front_queue_options *options) {
  static const uint32_t scope[] = {[FRONT_FENCE_SYSTEM] = HSA_FENCE_SCOPE_SYSTEM, [FRONT_FENCE_AGENT] = HSA_FENCE_SCOPE_AGENT};
  return scope[options->acquire] << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE | scope[options->release]
                                                                                  << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
}

static enum front_status check_options(const struct front_queue_options *o) {
  if (o->launches > LAUNCHES_MAX)
    return status_fail(FRONT_ERR_ARGUMENT, "front_queue_create: %u launches in flight: at most %d", o->launches, LAUNCHES_MAX);
  if (o->acquire > FRONT_FENCE_AGENT || o->release > FRONT_FENCE_AGENT)
    return status_fail(FRONT_ERR_ARGUMENT, "front_queue_create: acquire %u, release %u: FRONT_FENCE_SYSTEM or FRONT_FENCE_AGENT is needed",
        o->acquire, o->release);
  return FRONT_OK;
}

enum front_status front_queue_create(front_device device, const struct front_queue_options *options, front_queue *queue) {
  struct front_queue_options o;
  if (!device.impl || !queue) return status_fail(FRONT_ERR_ARGUMENT, "front_queue_create: null argument");
  if (!device_is_here(device.impl)) return process_forked("front_queue_create");
  enum front_status status = options_take(&o, sizeof o, options, "front_queue_create");
  if (status == FRONT_OK) status = check_options(&o);
  if (status != FRONT_OK) return status;
  struct queue *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_queue_create: no host memory");
  made->device = device.impl;
  made->fences = fences_of(&o);
  made->spin = o.spin != 0;
  made->watch = (struct fault_watch){.agent = device.impl->agent, .tell = on_memory_fault};
  made->slots = 1;
  while (made->slots < (o.launches ? o.launches : LAUNCHES_DEFAULT)) made->slots *= 2;
  status = make_slots(made);
  if (status == FRONT_OK) status = make_ring(made, o.cooperative != 0);
  if (status != FRONT_OK) {
    (void)release(made);
    return status;
  }
  fault_watch(&made->watch);
  device.impl->users++;
  queue->impl = made;
  return FRONT_OK;
}

/* An ended launch that may not have done its work: it gave up, or was put in behind one that did. */
static void keep_record(struct slot *slot, uint64_t number, const uint32_t *record) {
  struct instance *instance = slot->binding->instance;
  slot->stopped = number + 1;
  slot->kernel = instance->kernel->info;
  memcpy(slot->record, record, sizeof slot->record);
  instance->stopped = true;
}

static void forget_launch(struct queue *queue) {
  uint64_t number = queue_get(&queue->retired);
  struct slot *slot = queue_slot(queue, number);
  slot->binding->in_flight--;
  slot->binding->instance->in_flight--;
  slot->binding = NULL;
  queue_set(&queue->retired, number + 1);
}

static bool has_ended(const struct queue *queue, uint64_t number) {
  struct slot *slot = queue_slot(queue, number);
  return queue->device->hsa->hsa_signal_load_scacquire(slot->done) < 1 && !ended_is_busy(&slot->ended);
}

void queue_retire(struct queue *queue) {
  if (!queue) return;
  uint64_t ended = queue_get(&queue->retired), next = queue_get(&queue->next);
  while (ended < next && has_ended(queue, ended)) ended++;
  const struct instance *read = NULL; /* once for launches in a row: a status stays set until it is cleared */
  uint32_t record[GUARD_RECORD_WORDS];
  bool stopped = false;
  for (uint64_t number = queue_get(&queue->retired); number < ended; number++) {
    struct slot *slot = queue_slot(queue, number);
    if (slot->binding->instance != read) {
      read = slot->binding->instance;
      stopped = instance_guard_read(read, record);
    }
    if (stopped) keep_record(slot, number, record);
    forget_launch(queue);
  }
}

enum front_status queue_check(struct queue *queue) {
  const char *name = queue->device->info.name;
  enum queue_death death = (enum queue_death)queue->death;
  while (death == QUEUE_DYING) death = (enum queue_death)queue->death; /* three stores of another thread away */
  if (death == QUEUE_ALIVE) return FRONT_OK;
  if (death == QUEUE_STOPPED) return status_fail(FRONT_ERR_FAULT, "the queue of %s was stopped: it is dead, create another", name);
  if (death == QUEUE_MEMORY_FAULT) {
    char reasons[200];
    fault_reasons(queue->fault.reasons, reasons, sizeof reasons);
    return status_fail(FRONT_ERR_FAULT,
        "memory fault on %s at address 0x%llx: %s: the queue is dead, check the kernel's pointers and sizes", name,
        (unsigned long long)queue->fault.address, reasons);
  }
  const char *words = NULL;
  if (queue->device->hsa->hsa_status_string(queue->error, &words) != HSA_STATUS_SUCCESS || !words) words = "no words for it";
  return status_fail(
      FRONT_ERR_FAULT, "the queue of %s stopped with 0x%x: %s: it is dead, create another", name, (unsigned)queue->error, words);
}

enum front_status front_queue_stop(front_queue queue) {
  if (!queue.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_queue_stop: the queue is null");
  struct queue *q = queue.impl;
  if (!device_is_here(q->device)) return process_forked("front_queue_stop");
  hsa_status_t code = q->device->hsa->hsa_queue_inactivate(q->hsa);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(q->device->hsa, FRONT_ERR_HSA, "hsa_queue_inactivate", code);
  kill_queue(q, QUEUE_STOPPED, HSA_STATUS_SUCCESS, NULL);
  return FRONT_OK;
}

/* HSA must let go of a dead queue's callbacks, which it does once their signals are 0. */
static bool end_handlers(struct queue *queue) {
  const struct timespec nap = {.tv_nsec = HANDLER_NAP_NS};
  for (uint32_t i = 0; i < queue->slots; i++) {
    struct slot *slot = &queue->slot[i];
    if (!ended_is_busy(&slot->ended)) continue;
    queue->device->hsa->hsa_signal_store_screlease(slot->done, 0);
    for (int tries = 0; tries < HANDLER_TRIES && ended_is_busy(&slot->ended); tries++) nanosleep(&nap, NULL);
    if (ended_is_busy(&slot->ended)) return false;
  }
  return true;
}

enum front_status front_queue_destroy(front_queue queue) {
  if (!queue.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_queue_destroy: the queue is null");
  struct queue *q = queue.impl;
  if (!device_is_here(q->device)) return process_forked("front_queue_destroy");
  queue_retire(q);
  uint64_t in_flight = queue_get(&q->next) - queue_get(&q->retired);
  if (in_flight && queue_check(q) == FRONT_OK)
    return status_fail(FRONT_ERR_BUSY, "front_queue_destroy: %llu launches are in flight: wait for them, or front_queue_stop",
        (unsigned long long)in_flight);
  if (in_flight && !end_handlers(q)) return status_fail(FRONT_ERR_BUSY, "front_queue_destroy: a callback has not returned");
  while (queue_get(&q->retired) < queue_get(&q->next)) {
    queue_slot(q, queue_get(&q->retired))->binding->instance->unfinished = true;
    forget_launch(q);
  }
  q->device->users--;
  return release(q);
}
