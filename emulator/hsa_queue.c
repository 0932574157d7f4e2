/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: a ring of packets in device memory, its indices, and a thread that processes it. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

enum { PACKET_BYTES = 64, QUEUE_OWNER = UINT16_MAX - 1 };

/* The queue is registered until it is destroyed: an unknown pointer is found out. */
static struct queue *queue_of(const hsa_queue_t *handle) {
  pthread_mutex_lock(&emu.lock);
  struct queue *q = emu.queues;
  while (q && &q->abi->hsa_queue != handle) q = q->next;
  pthread_mutex_unlock(&emu.lock);
  return q;
}

void queue_free(struct queue *q) {
  if (!q->soft) signal_delete(q->doorbell);
  if (q->ring) memory_free(emu.device.memory, q->ring);
  if (q->abi) memory_free(emu.device.memory, (uint64_t)(uintptr_t)q->abi);
  free(q);
}

static _Thread_local bool orphaned_here;

bool queue_orphaned_here(void) { return orphaned_here; }

void queue_end_orphan(struct queue *q) {
  queue_free(q);
  pthread_mutex_lock(&emu.lock);
  emu.orphans--;
  pthread_cond_broadcast(&emu.orphan_gone);
  pthread_mutex_unlock(&emu.lock);
}

void queue_delete(struct queue *q) {
  if (!q->soft) {
    doorbell_stop(q->doorbell, &q->stop);
    pthread_join(q->thread, NULL);
  }
  queue_free(q);
}

bool queues_pending(void) {
  bool pending = false;
  pthread_mutex_lock(&emu.lock);
  for (struct queue *q = emu.queues; q && !pending; q = q->next) {
    if (q->soft || __atomic_load_n(&q->busy, __ATOMIC_ACQUIRE) || __atomic_load_n(&q->stop, __ATOMIC_ACQUIRE)) continue;
    pending = doorbell_rung(q->doorbell) >= (int64_t)__atomic_load_n(&q->abi->read_dispatch_id, __ATOMIC_ACQUIRE);
  }
  pthread_mutex_unlock(&emu.lock);
  return pending;
}

static bool fill(struct queue *q, uint32_t size, uint32_t type, uint32_t features) {
  static uint64_t ids;
  uint64_t abi = memory_allocate(emu.device.memory, sizeof *q->abi, 0, QUEUE_OWNER);
  q->abi = (amd_queue_t *)(uintptr_t)abi;
  q->ring = memory_allocate(emu.device.memory, (uint64_t)size * PACKET_BYTES, 0, QUEUE_OWNER);
  if (!q->soft) q->doorbell = signal_new(0, AMD_SIGNAL_KIND_DOORBELL);
  if (!q->abi || !q->ring || !q->doorbell) return false;
  for (uint32_t i = 0; i < size; i++) {
    uint16_t header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
    memcpy((void *)(uintptr_t)(q->ring + (uint64_t)i * PACKET_BYTES), &header, sizeof header);
  }
  q->abi->hsa_queue = (hsa_queue_t){.type = type,
      .features = features,
      .base_address = (void *)(uintptr_t)q->ring,
      .doorbell_signal = {(uint64_t)(uintptr_t)q->doorbell},
      .size = size,
      .id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED)};
  cu_mask_read(getenv("HSA_CU_MASK"), q->agent, q->allowed);
  memcpy(q->cu_mask, q->allowed, sizeof q->cu_mask);
  return true;
}

/* Fills the queue, registers and starts it, or frees it. */
static hsa_status_t begin(struct queue *q, uint32_t size, uint32_t type, uint32_t features, hsa_queue_t **queue) {
  pthread_mutex_lock(&emu.lock); /* the thread sees itself in the list */
  bool good = fill(q, size, type, features) && (q->soft || !pthread_create(&q->thread, NULL, packets_process, q));
  if (good) {
    q->next = emu.queues;
    emu.queues = q;
    *queue = &q->abi->hsa_queue;
  }
  pthread_mutex_unlock(&emu.lock);
  if (!good) queue_free(q);
  return good ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data, uint32_t private_segment_size,
    uint32_t group_segment_size, hsa_queue_t **queue) {
  uint32_t index;
  (void)private_segment_size, (void)group_segment_size;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!queue || !is_power_of_two(size) || type > HSA_QUEUE_TYPE_COOPERATIVE) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (size > EMU_QUEUE_SIZE_MAX || !emu_gpu_index(agent, &index)) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
  struct queue *q = calloc(1, sizeof *q);
  if (!q) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  q->agent = index;
  q->callback = callback;
  q->data = data;
  return begin(q, size, type, HSA_QUEUE_FEATURE_KERNEL_DISPATCH, queue);
}

/* The program itself is the packet processor. */
hsa_status_t hsa_soft_queue_create(
    hsa_region_t region, uint32_t size, hsa_queue_type32_t type, uint32_t features, hsa_signal_t doorbell_signal, hsa_queue_t **queue) {
  const uint32_t known = HSA_QUEUE_FEATURE_KERNEL_DISPATCH | HSA_QUEUE_FEATURE_AGENT_DISPATCH;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!queue || !is_power_of_two(size) || type > HSA_QUEUE_TYPE_SINGLE || !features || features & ~known || !doorbell_signal.handle)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!emu_is_region(region)) return HSA_STATUS_ERROR_INVALID_REGION;
  if (!signal_of(doorbell_signal)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  struct queue *q = calloc(1, sizeof *q);
  if (!q) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  q->soft = true;
  q->doorbell = signal_of(doorbell_signal);
  return begin(q, size, type, features, queue);
}

static bool is_own(const struct queue *q) { return !q->soft && pthread_equal(q->thread, pthread_self()); }

static struct queue *unlink_queue(const hsa_queue_t *handle) {
  pthread_mutex_lock(&emu.lock);
  struct queue **at = &emu.queues;
  while (*at && &(*at)->abi->hsa_queue != handle) at = &(*at)->next;
  struct queue *q = *at;
  if (q) *at = q->next;
  if (q && is_own(q)) {
    orphaned_here = true;
    emu.orphans++;
  }
  pthread_mutex_unlock(&emu.lock);
  return q;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  struct queue *q = unlink_queue(queue);
  if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (is_own(q)) { /* from its error callback */
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
  if (!q->soft) doorbell_stop(q->doorbell, &q->stop);
  return HSA_STATUS_SUCCESS;
}

/* --- AMD's settings of a queue ---------------------------------------------------------------------------------------------------- */

static uint32_t mask_bits(void) { return emu.model.cus < CU_MASK_BITS ? emu.model.cus : CU_MASK_BITS; }

static uint32_t mask_word(const struct queue *q, uint32_t i) { return __atomic_load_n(&q->cu_mask[i], __ATOMIC_RELAXED); }

void queue_cus(const struct queue *q, uint32_t cus[MODEL_XCDS_MAX]) {
  memset(cus, 0, MODEL_XCDS_MAX * sizeof *cus);
  for (uint32_t i = 0; i < mask_bits(); i++) cus[i % emu.model.xcds] += mask_word(q, i / 32) >> i % 32 & 1;
}

/* No bits at all: every unit. Bits behind the last unit are left out without a word, as by the driver. */
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t num_cu_mask_count, const uint32_t *cu_mask) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  struct queue *q = queue ? queue_of(queue) : NULL;
  if (!q || q->soft) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (num_cu_mask_count % 32 || (num_cu_mask_count && !cu_mask)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  uint32_t refused = 0;
  for (uint32_t i = 0; i < CU_MASK_WORDS; i++) {
    uint32_t wanted = !num_cu_mask_count ? UINT32_MAX : i < num_cu_mask_count / 32 ? cu_mask[i] : 0;
    if (num_cu_mask_count) refused |= wanted & ~q->allowed[i];
    __atomic_store_n(&q->cu_mask[i], wanted & q->allowed[i], __ATOMIC_RELAXED);
  }
  return refused ? (hsa_status_t)HSA_STATUS_CU_MASK_REDUCED : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t *queue, uint32_t num_cu_mask_count, uint32_t *cu_mask) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct queue *q = queue ? queue_of(queue) : NULL;
  if (!q || q->soft) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (!num_cu_mask_count || num_cu_mask_count % 32 || !cu_mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  memset(cu_mask, 0, num_cu_mask_count / 8);
  for (uint32_t i = 0; i < mask_bits() && i < num_cu_mask_count; i++) cu_mask[i / 32] |= mask_word(q, i / 32) & 1u << i % 32;
  return HSA_STATUS_SUCCESS;
}

/* Queues take turns, whatever their priority. */
hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t priority) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct queue *q = queue ? queue_of(queue) : NULL;
  if (!q || q->soft) return HSA_STATUS_ERROR_INVALID_QUEUE;
  bool known =
      priority == HSA_AMD_QUEUE_PRIORITY_LOW || priority == HSA_AMD_QUEUE_PRIORITY_NORMAL || priority == HSA_AMD_QUEUE_PRIORITY_HIGH;
  return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!queue) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct queue *q = queue_of(queue);
  if (!q || q->soft) return HSA_STATUS_ERROR_INVALID_QUEUE;
  __atomic_store_n(&q->timed, enable != 0, __ATOMIC_RELAXED);
  return HSA_STATUS_SUCCESS;
}

/* In the system clock: how long the emulator took. */
hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal, hsa_amd_profiling_dispatch_time_t *time) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!time) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!emu_is_gpu(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  const struct signal *s = signal_of(signal);
  if (!s) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *time = (hsa_amd_profiling_dispatch_time_t){.start = s->abi.start_ts, .end = s->abi.end_ts};
  return HSA_STATUS_SUCCESS;
}

/* An agent's ticks are model time, of which 100 MHz make a second: the two clocks have no common zero. */
hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t agent_tick, uint64_t *system_tick) {
  enum { NS_A_TICK = 10 };
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!system_tick) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *system_tick = agent_tick * NS_A_TICK;
  return HSA_STATUS_SUCCESS;
}

/* --- indices ------------------------------------------------------------------------------------------------------------------------ */

/* By memory order: all are the strongest here. The queue's first member is what the program has. */
static amd_queue_t *abi_of(const hsa_queue_t *queue) { return (amd_queue_t *)(uintptr_t)queue; }

#define INDEX_LOAD(which, order)                                                                                                           \
  uint64_t hsa_queue_load_##which##_index_##order(const hsa_queue_t *queue) {                                                              \
    return __atomic_load_n(&abi_of(queue)->which##_dispatch_id, __ATOMIC_SEQ_CST);                                                         \
  }
INDEX_LOAD(read, relaxed)
INDEX_LOAD(read, scacquire)
INDEX_LOAD(read, acquire)
INDEX_LOAD(write, relaxed)
INDEX_LOAD(write, scacquire)
INDEX_LOAD(write, acquire)

#define INDEX_STORE(which, order)                                                                                                          \
  void hsa_queue_store_##which##_index_##order(const hsa_queue_t *queue, uint64_t value) {                                                 \
    __atomic_store_n(&abi_of(queue)->which##_dispatch_id, value, __ATOMIC_SEQ_CST);                                                        \
  }
INDEX_STORE(write, relaxed)
INDEX_STORE(write, screlease)
INDEX_STORE(write, release)
INDEX_STORE(read, relaxed)
INDEX_STORE(read, screlease)
INDEX_STORE(read, release)

#define INDEX_CHANGE(order)                                                                                                                \
  uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t value) {                                                   \
    return __atomic_fetch_add(&abi_of(queue)->write_dispatch_id, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                                                                        \
  uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t *queue, uint64_t expected, uint64_t value) {                                \
    __atomic_compare_exchange_n(&abi_of(queue)->write_dispatch_id, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    return expected;                                                                                                                       \
  }
INDEX_CHANGE(relaxed)
INDEX_CHANGE(scacquire)
INDEX_CHANGE(screlease)
INDEX_CHANGE(scacq_screl)
INDEX_CHANGE(acquire)
INDEX_CHANGE(release)
INDEX_CHANGE(acq_rel)
