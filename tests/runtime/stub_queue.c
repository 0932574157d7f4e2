/* SPDX-License-Identifier: Apache-2.0 */
/* The pretended HSA library's signals and queues: packets are taken by whoever rings a doorbell or sets a signal. */
#include <stdlib.h>
#include <string.h>

#include "stub_parts.h"

enum { QUEUES = 64, EVENT_HANDLERS = 16, CU_MASK_UNITS = 1024 };

struct stub_queue {
  hsa_queue_t hsa;
  _Atomic uint64_t write, read;
  void (*callback)(hsa_status_t, hsa_queue_t *, void *);
  void *data;
  uint64_t noted; /* packets that were kept */
  bool stopped;
};

struct stub_signal {
  _Atomic hsa_signal_value_t value;
  struct stub_queue *queue; /* a doorbell's */
  hsa_amd_signal_handler handler;
  hsa_signal_value_t below; /* the handler's condition */
  void *data;
};

static struct stub_queue *queues[QUEUES];
static _Atomic uint32_t looks; /* at signals, while launches are slow */
static struct {
  hsa_amd_system_event_callback_t call;
  void *data;
} event[EVENT_HANDLERS];

static struct stub_signal *signal_of(hsa_signal_t signal) { return (struct stub_signal *)(uintptr_t)signal.handle; }

/* ---- faults ---- */

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void *data) {
  pthread_mutex_lock(&stub_lock);
  size_t i = 0;
  while (i < EVENT_HANDLERS - 1 && event[i].call) i++;
  event[i].call = callback;
  event[i].data = data;
  pthread_mutex_unlock(&stub_lock);
  return HSA_STATUS_SUCCESS;
}

void stub_forget_handlers(void) {
  pthread_mutex_lock(&stub_lock);
  memset(event, 0, sizeof event);
  pthread_mutex_unlock(&stub_lock);
}

void stub_memory_fault(void) {
  hsa_amd_event_t what = {.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT};
  what.memory_fault.agent.handle = STUB_GPU_AGENT;
  what.memory_fault.virtual_address = 0xdead0000;
  what.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
  bool taken = false;
  for (size_t i = 0; i < EVENT_HANDLERS && event[i].call; i++) taken |= event[i].call(&what, event[i].data) == HSA_STATUS_SUCCESS;
  if (!taken) stub.faults_not_taken++;
}

/* ---- packets ---- */

/* As a kernel would whose workgroup 3 missed a pair: token 3, K half 1, row 77 of qkvp, for 8 tokens. */
static void leave_guard_record(const hsa_kernel_dispatch_packet_t *packet) {
  enum { GUARD_OFFSET = 208 };
  static const uint32_t record[8] = {1, 2, 3, 1, (8 + 3) * 1792 + 77, 151, 155, 0};
  void *guard;
  memcpy(&guard, (const char *)packet->kernarg_address + GUARD_OFFSET, sizeof guard);
  memcpy(guard, record, sizeof record);
}

static void set_value(hsa_signal_t signal, hsa_signal_value_t value) {
  struct stub_signal *s = signal_of(signal);
  s->value = value;
  if (!s->handler || value >= s->below) return;
  hsa_amd_signal_handler handler = s->handler;
  s->handler = NULL;
  if (handler(value, s->data)) s->handler = handler;
}

static void count_down(hsa_signal_t signal) {
  if (signal.handle) set_value(signal, signal_of(signal)->value - 1);
}

/* False: it cannot be taken now. */
static bool take_dispatch(struct stub_queue *queue, hsa_kernel_dispatch_packet_t *packet) {
  if (queue->read >= queue->noted && !stub.unnoted && stub.packets < STUB_PACKETS) stub.packet[stub.packets++] = *packet;
  queue->noted = queue->read + 1;
  switch (stub.behaviour) {
  case STUB_QUEUE_ERROR:
    queue->callback((hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, &queue->hsa, queue->data);
    queue->stopped = true;
    return false;
  case STUB_MEMORY_FAULT:
    stub_memory_fault();
    queue->stopped = true;
    return false;
  case STUB_HANGS:
    return false;
  case STUB_SLOW:
    if (looks < STUB_SLOW_LOOKS) return false;
    looks = 0;
    break;
  default:
    break;
  }
  if (stub.gives_up && --stub.gives_up == 0) leave_guard_record(packet);
  if (stub.behaviour != STUB_LOST) count_down(packet->completion_signal);
  return true;
}

static bool take_barrier(const hsa_barrier_and_packet_t *packet) {
  for (int i = 0; i < 5; i++)
    if (packet->dep_signal[i].handle && signal_of(packet->dep_signal[i])->value != 0) return false;
  count_down(packet->completion_signal);
  return true;
}

/* With the lock. */
static void take_packets(struct stub_queue *queue) {
  while (!queue->stopped && queue->read < queue->write) {
    hsa_kernel_dispatch_packet_t *packet = (hsa_kernel_dispatch_packet_t *)queue->hsa.base_address + (queue->read & (queue->hsa.size - 1));
    unsigned header = __atomic_load_n((uint32_t *)(void *)packet, __ATOMIC_ACQUIRE) & 0xff;
    bool taken = false;
    if (header == HSA_PACKET_TYPE_KERNEL_DISPATCH) taken = take_dispatch(queue, packet);
    if (header == HSA_PACKET_TYPE_BARRIER_AND) taken = take_barrier((hsa_barrier_and_packet_t *)(void *)packet);
    if (!taken) return;
    packet->header = HSA_PACKET_TYPE_INVALID;
    queue->read++;
  }
}

static void take_all(void) {
  for (size_t i = 0; i < QUEUES; i++)
    if (queues[i]) take_packets(queues[i]);
}

void stub_finish(void) {
  pthread_mutex_lock(&stub_lock);
  stub.behaviour = STUB_COMPLETES;
  take_all();
  pthread_mutex_unlock(&stub_lock);
}

/* ---- signals ---- */

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t consumers, const hsa_agent_t *agents, hsa_signal_t *signal) {
  (void)consumers, (void)agents;
  STUB_CALL();
  struct stub_signal *made = calloc(1, sizeof *made);
  made->value = value;
  signal->handle = (uintptr_t)made;
  stub.signals++;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  free(signal_of(signal));
  stub.signals--;
  return HSA_STATUS_SUCCESS;
}

static hsa_signal_value_t look(hsa_signal_t signal) {
  if (stub.behaviour == STUB_SLOW && ++looks >= STUB_SLOW_LOOKS) {
    pthread_mutex_lock(&stub_lock);
    take_all();
    pthread_mutex_unlock(&stub_lock);
  }
  return signal_of(signal)->value;
}

hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t signal) { return look(signal); }

/* Early, as HSA may: the caller must look at the value. */
hsa_signal_value_t hsa_signal_wait_scacquire(
    hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t how) {
  (void)condition, (void)compare, (void)timeout, (void)how;
  return look(signal);
}

void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
  struct stub_signal *s = signal_of(signal);
  if (value == 1 && !s->queue) { /* a launch begins: nothing to wake */
    s->value = value;
    return;
  }
  pthread_mutex_lock(&stub_lock);
  set_value(signal, value);
  if (s->queue)
    take_packets(s->queue);
  else
    take_all();
  pthread_mutex_unlock(&stub_lock);
}

hsa_status_t hsa_amd_signal_async_handler(
    hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_amd_signal_handler handler, void *data) {
  struct stub_signal *s = signal_of(signal);
  STUB_CALL();
  if (condition != HSA_SIGNAL_CONDITION_LT) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&stub_lock);
  s->below = value;
  s->data = data;
  s->handler = handler;
  pthread_mutex_unlock(&stub_lock);
  return HSA_STATUS_SUCCESS;
}

/* ---- queues ---- */

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue) {
  (void)agent, (void)private_bytes, (void)group_bytes;
  STUB_CALL();
  struct stub_queue *made = calloc(1, sizeof *made);
  struct stub_signal *bell = calloc(1, sizeof *bell);
  made->hsa.type = type;
  stub.last_queue_type = type;
  made->hsa.size = size;
  made->hsa.base_address = aligned_alloc(64, size * sizeof(hsa_kernel_dispatch_packet_t));
  memset(made->hsa.base_address, 0, size * sizeof(hsa_kernel_dispatch_packet_t));
  for (uint32_t i = 0; i < size; i++) ((hsa_kernel_dispatch_packet_t *)made->hsa.base_address)[i].header = HSA_PACKET_TYPE_INVALID;
  made->callback = callback;
  made->data = data;
  bell->queue = made;
  made->hsa.doorbell_signal.handle = (uintptr_t)bell;
  pthread_mutex_lock(&stub_lock);
  size_t i = 0;
  while (i < QUEUES - 1 && queues[i]) i++;
  queues[i] = made;
  pthread_mutex_unlock(&stub_lock);
  *queue = &made->hsa;
  stub.queues++;
  return HSA_STATUS_SUCCESS;
}

static struct stub_queue *queue_of(const hsa_queue_t *queue) { return (struct stub_queue *)(uintptr_t)queue; }

hsa_status_t hsa_queue_inactivate(hsa_queue_t *queue) {
  pthread_mutex_lock(&stub_lock);
  queue_of(queue)->stopped = true;
  pthread_mutex_unlock(&stub_lock);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue) {
  pthread_mutex_lock(&stub_lock);
  for (size_t i = 0; i < QUEUES; i++)
    if (queues[i] == queue_of(queue)) queues[i] = NULL;
  pthread_mutex_unlock(&stub_lock);
  free(signal_of(queue->doorbell_signal));
  free(queue->base_address);
  free(queue);
  stub.queues--;
  return HSA_STATUS_SUCCESS;
}

uint64_t hsa_queue_add_write_index_screlease(const hsa_queue_t *queue, uint64_t value) {
  return atomic_fetch_add(&queue_of(queue)->write, value);
}

uint64_t hsa_queue_load_read_index_scacquire(const hsa_queue_t *queue) { return queue_of(queue)->read; }

hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t *queue, uint32_t bits, uint32_t *mask) {
  uint32_t units = stub.masked_units ? stub.masked_units : stub.compute_units;
  (void)queue;
  STUB_CALL();
  if (bits < units || bits > CU_MASK_UNITS) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < units; i++) mask[i / 32] |= 1u << i % 32;
  return HSA_STATUS_SUCCESS;
}
