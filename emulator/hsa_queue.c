/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: a ring of packets in device memory, its indices, and a thread that processes it. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

enum { PACKET_BYTES = 64, QUEUE_SIZE_MAX = 131072, QUEUE_OWNER = UINT16_MAX - 1 };

/* The queue is registered until it is destroyed: an unknown pointer is found out. */
static struct queue *queue_of(const hsa_queue_t *handle) {
  pthread_mutex_lock(&emu.lock);
  struct queue *q = emu.queues;
  while (q && &q->abi->hsa_queue != handle) q = q->next;
  pthread_mutex_unlock(&emu.lock);
  return q;
}

void queue_free(struct queue *q) {
  signal_delete(q->doorbell);
  if (q->ring) memory_free(emu.device.memory, q->ring);
  if (q->abi) memory_free(emu.device.memory, (uint64_t)(uintptr_t)q->abi);
  free(q);
}

static void halt(struct queue *q) {
  __atomic_store_n(&q->stop, true, __ATOMIC_RELEASE);
  pthread_mutex_lock(&q->doorbell->lock);
  pthread_cond_broadcast(&q->doorbell->changed);
  pthread_mutex_unlock(&q->doorbell->lock);
}

void queue_delete(struct queue *q) {
  halt(q);
  pthread_join(q->thread, NULL);
  queue_free(q);
}

static bool fill(struct queue *q, uint32_t size, uint32_t type) {
  static uint64_t ids;
  uint64_t abi = memory_allocate(emu.device.memory, sizeof *q->abi, 0, QUEUE_OWNER);
  q->abi = (amd_queue_t *)(uintptr_t)abi;
  q->ring = memory_allocate(emu.device.memory, (uint64_t)size * PACKET_BYTES, 0, QUEUE_OWNER);
  q->doorbell = signal_new(0, AMD_SIGNAL_KIND_DOORBELL);
  if (!q->abi || !q->ring || !q->doorbell) return false;
  for (uint32_t i = 0; i < size; i++) {
    uint16_t header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
    memcpy((void *)(uintptr_t)(q->ring + (uint64_t)i * PACKET_BYTES), &header, sizeof header);
  }
  q->abi->hsa_queue = (hsa_queue_t){.type = type,
      .features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
      .base_address = (void *)(uintptr_t)q->ring,
      .doorbell_signal = {(uint64_t)(uintptr_t)q->doorbell},
      .size = size,
      .id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED)};
  return true;
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data, uint32_t private_segment_size,
    uint32_t group_segment_size, hsa_queue_t **queue) {
  (void)private_segment_size, (void)group_segment_size;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!queue || !size || size & (size - 1) || type > HSA_QUEUE_TYPE_COOPERATIVE) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (size > QUEUE_SIZE_MAX || agent.handle != emu_gpu_agent.handle) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
  struct queue *q = calloc(1, sizeof *q);
  if (!q) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  q->callback = callback;
  q->data = data;
  pthread_mutex_lock(&emu.lock); /* the thread sees itself in the list */
  bool good = fill(q, size, type) && !pthread_create(&q->thread, NULL, packets_process, q);
  if (good) {
    q->next = emu.queues;
    emu.queues = q;
    *queue = &q->abi->hsa_queue;
  }
  pthread_mutex_unlock(&emu.lock);
  if (!good) queue_free(q);
  return good ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static struct queue *unlink_queue(const hsa_queue_t *handle) {
  pthread_mutex_lock(&emu.lock);
  struct queue **at = &emu.queues;
  while (*at && &(*at)->abi->hsa_queue != handle) at = &(*at)->next;
  struct queue *q = *at;
  if (q) *at = q->next;
  pthread_mutex_unlock(&emu.lock);
  return q;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  struct queue *q = unlink_queue(queue);
  if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (pthread_equal(q->thread, pthread_self())) { /* from its error callback */
    __atomic_store_n(&q->orphan, true, __ATOMIC_RELEASE);
    __atomic_store_n(&q->stop, true, __ATOMIC_RELEASE);
    pthread_detach(q->thread);
  } else {
    queue_delete(q);
  }
  return HSA_STATUS_SUCCESS;
}

/* Ends what runs; no packet is processed any more. */
hsa_status_t hsa_queue_inactivate(hsa_queue_t *queue) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  struct queue *q = queue_of(queue);
  if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
  halt(q);
  return HSA_STATUS_SUCCESS;
}

/* The indices, by memory order: all are the strongest here. The queue's first member is what the program has. */
static amd_queue_t *abi_of(const hsa_queue_t *queue) { return (amd_queue_t *)(uintptr_t)queue; }

#define INDEX_LOAD(which, order)                                                                                                           \
  uint64_t hsa_queue_load_##which##_index_##order(const hsa_queue_t *queue) {                                                              \
    return __atomic_load_n(&abi_of(queue)->which##_dispatch_id, __ATOMIC_SEQ_CST);                                                         \
  }
INDEX_LOAD(read, relaxed)
INDEX_LOAD(read, scacquire)
INDEX_LOAD(write, relaxed)
INDEX_LOAD(write, scacquire)

#define INDEX_STORE(order)                                                                                                                 \
  void hsa_queue_store_write_index_##order(const hsa_queue_t *queue, uint64_t value) {                                                     \
    __atomic_store_n(&abi_of(queue)->write_dispatch_id, value, __ATOMIC_SEQ_CST);                                                          \
  }
INDEX_STORE(relaxed)
INDEX_STORE(screlease)

#define INDEX_ADD(order)                                                                                                                   \
  uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t value) {                                                   \
    return __atomic_fetch_add(&abi_of(queue)->write_dispatch_id, value, __ATOMIC_SEQ_CST);                                                 \
  }
INDEX_ADD(relaxed)
INDEX_ADD(scacquire)
INDEX_ADD(screlease)
INDEX_ADD(scacq_screl)

#define INDEX_CAS(order)                                                                                                                   \
  uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t *queue, uint64_t expected, uint64_t value) {                                \
    __atomic_compare_exchange_n(&abi_of(queue)->write_dispatch_id, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    return expected;                                                                                                                       \
  }
INDEX_CAS(relaxed)
INDEX_CAS(scacquire)
INDEX_CAS(screlease)
INDEX_CAS(scacq_screl)
