/* SPDX-License-Identifier: Apache-2.0 */
/* One AQL packet a launch, one signal a slot of the queue. */
#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fault.h"
#include "geometry.h"
#include "instance_guard.h"
#include "status.h"

enum { LAUNCHES_DEFAULT = 64, LAUNCHES_MAX = 4096, WAIT_SLICE_TICKS = 1000000, NO_ERROR = 0 };

struct slot {
  hsa_signal_t done; /* 1 while the launch is in flight, then 0 */
  struct binding *binding;
  uint64_t stopped;                    /* the last launch here that gave up, counted from 1; 0: none */
  struct front_kernel_info kernel;     /* its kernel, */
  uint32_t record[GUARD_RECORD_WORDS]; /* and what it left */
};

struct queue {
  struct device *device;
  hsa_queue_t *hsa;
  struct slot *slot;
  uint32_t slots;         /* a power of two, at most the ring's size */
  uint64_t next, retired; /* launches put in; launches known to have ended */
  uint64_t faults_before; /* the agent's memory faults when the queue was made */
  _Atomic uint32_t error; /* the hsa_status_t that stopped the queue */
};

static void on_queue_error(hsa_status_t status, hsa_queue_t *source, void *data) {
  (void)source;
  struct queue *queue = data;
  if (queue && status != HSA_STATUS_SUCCESS) queue->error = (uint32_t)status;
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

static enum front_status make_ring(struct queue *queue) {
  const struct hsa_table *hsa = queue->device->hsa;
  uint32_t least = 0, most = 0;
  hsa_status_t code = hsa->hsa_agent_get_info(queue->device->agent, HSA_AGENT_INFO_QUEUE_MIN_SIZE, &least);
  if (code == HSA_STATUS_SUCCESS) code = hsa->hsa_agent_get_info(queue->device->agent, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &most);
  if (code != HSA_STATUS_SUCCESS) return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_agent_get_info", code);
  uint32_t size = queue->slots > least ? queue->slots : least;
  if (size > most)
    return status_fail(FRONT_ERR_ARGUMENT, "front_queue_create: %u launches: the agent's queues hold at most %u", size, most);
  code =
      hsa->hsa_queue_create(queue->device->agent, size, HSA_QUEUE_TYPE_SINGLE, on_queue_error, queue, UINT32_MAX, UINT32_MAX, &queue->hsa);
  return code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(hsa, FRONT_ERR_HSA, "hsa_queue_create", code);
}

/* Destroys what there is of a queue. */
static enum front_status release(struct queue *queue) {
  const struct hsa_table *hsa = queue->device->hsa;
  enum front_status status = FRONT_OK;
  hsa_status_t code = queue->hsa ? hsa->hsa_queue_destroy(queue->hsa) : HSA_STATUS_SUCCESS;
  if (code != HSA_STATUS_SUCCESS) status = hsa_fail(hsa, FRONT_ERR_HSA, "hsa_queue_destroy", code);
  for (uint32_t i = 0; queue->slot && i < queue->slots; i++)
    if (queue->slot[i].done.handle) (void)hsa->hsa_signal_destroy(queue->slot[i].done);
  free(queue->slot);
  free(queue);
  return status;
}

enum front_status front_queue_create(front_device device, uint32_t launches, front_queue *queue) {
  if (!device.impl || !queue) return status_fail(FRONT_ERR_ARGUMENT, "front_queue_create: null argument");
  if (launches > LAUNCHES_MAX)
    return status_fail(FRONT_ERR_ARGUMENT, "front_queue_create: %u launches in flight: at most %d", launches, LAUNCHES_MAX);
  struct queue *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_queue_create: no host memory");
  made->device = device.impl;
  made->slots = 1;
  while (made->slots < (launches ? launches : LAUNCHES_DEFAULT)) made->slots *= 2;
  made->faults_before = fault_of(device.impl->agent).count;
  enum front_status status = make_slots(made);
  if (status == FRONT_OK) status = make_ring(made);
  if (status != FRONT_OK) {
    (void)release(made);
    return status;
  }
  device.impl->users++;
  queue->impl = made;
  return FRONT_OK;
}

static struct slot *slot_of(const struct queue *queue, uint64_t number) { return &queue->slot[number & (queue->slots - 1)]; }

/* An ended launch that may not have done its work: it gave up, or was put in behind one that did. */
static void keep_record(struct slot *slot, uint64_t number, const uint32_t *record) {
  struct instance *instance = slot->binding->instance;
  slot->stopped = number + 1;
  slot->kernel = instance->kernel->info;
  memcpy(slot->record, record, sizeof slot->record);
  instance->stopped = true;
}

static void forget_launch(struct queue *queue) {
  struct slot *slot = slot_of(queue, queue->retired++);
  slot->binding->in_flight--;
  slot->binding->instance->in_flight--;
  slot->binding = NULL;
}

void launch_retire(struct queue *queue) {
  if (!queue) return;
  const struct hsa_table *hsa = queue->device->hsa;
  uint64_t ended = queue->retired;
  while (ended < queue->next && hsa->hsa_signal_load_scacquire(slot_of(queue, ended)->done) < 1) ended++;
  const struct instance *read = NULL; /* once for launches in a row: a status stays set until it is cleared */
  uint32_t record[GUARD_RECORD_WORDS];
  bool stopped = false;
  while (queue->retired < ended) {
    struct slot *slot = slot_of(queue, queue->retired);
    if (slot->binding->instance != read) {
      read = slot->binding->instance;
      stopped = instance_guard_read(read, record);
    }
    if (stopped) keep_record(slot, queue->retired, record);
    forget_launch(queue);
  }
}

/* Says why the queue is dead, if it is. */
static enum front_status check_health(struct queue *queue) {
  uint32_t error = queue->error;
  struct fault fault = fault_of(queue->device->agent);
  if (fault.count != queue->faults_before) {
    char reasons[200];
    fault_reasons(fault.reasons, reasons, sizeof reasons);
    return status_fail(FRONT_ERR_FAULT,
        "memory fault on %s at address 0x%llx: %s: the queue is dead, check the kernel's pointers and sizes", queue->device->info.name,
        (unsigned long long)fault.address, reasons);
  }
  if (error == NO_ERROR) return FRONT_OK;
  const char *words = NULL;
  if (queue->device->hsa->hsa_status_string((hsa_status_t)error, &words) != HSA_STATUS_SUCCESS || !words) words = "no words for it";
  return status_fail(
      FRONT_ERR_FAULT, "the queue of %s stopped with 0x%x: %s: it is dead, create another", queue->device->info.name, error, words);
}

enum front_status front_queue_destroy(front_queue queue) {
  if (!queue.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_queue_destroy: the queue is null");
  struct queue *q = queue.impl;
  launch_retire(q);
  if (q->retired < q->next && check_health(q) == FRONT_OK)
    return status_fail(
        FRONT_ERR_BUSY, "front_queue_destroy: %llu launches are in flight: wait for them", (unsigned long long)(q->next - q->retired));
  while (q->retired < q->next) {
    slot_of(q, q->retired)->binding->instance->unfinished = true;
    forget_launch(q);
  }
  q->device->users--;
  return release(q);
}

uint32_t launch_packet(const struct binding *binding, hsa_signal_t completion, hsa_kernel_dispatch_packet_t *packet) {
  const struct kernel *kernel = binding->instance->kernel;
  packet->workgroup_size_x = THREADS;
  packet->workgroup_size_y = 1;
  packet->workgroup_size_z = 1;
  packet->reserved0 = 0;
  packet->grid_size_x = GRID * THREADS;
  packet->grid_size_y = 1;
  packet->grid_size_z = 1;
  packet->private_segment_size = 0;
  packet->group_segment_size = kernel->lds_bytes;
  packet->kernel_object = kernel->object;
  packet->kernarg_address = binding->block;
  packet->reserved2 = 0;
  packet->completion_signal = completion;
  uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER |
                    (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  uint32_t setup = 1u << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  return header | setup << 16;
}

/* The only function that touches the ring and the doorbell. The header, stored last, gives the packet to the device. */
static void publish(struct queue *queue, const struct binding *binding, hsa_signal_t completion) {
  const struct hsa_table *hsa = queue->device->hsa;
  uint64_t index = hsa->hsa_queue_add_write_index_screlease(queue->hsa, 1);
  hsa_kernel_dispatch_packet_t *ring = queue->hsa->base_address;
  hsa_kernel_dispatch_packet_t *packet = &ring[index & (queue->hsa->size - 1)];
  uint32_t header = launch_packet(binding, completion, packet);
  __atomic_store_n((uint32_t *)(void *)packet, header, __ATOMIC_RELEASE);
  hsa->hsa_signal_store_screlease(queue->hsa->doorbell_signal, (hsa_signal_value_t)index);
}

static enum front_status check_room(struct queue *queue, const struct binding *binding) {
  const struct instance *instance = binding->instance;
  if (queue->device != instance->kernel->device)
    return status_fail(FRONT_ERR_ARGUMENT, "front_launch: queue and binding are of different devices");
  if (instance->in_flight && instance->queue != queue) launch_retire(instance->queue);
  if (instance->in_flight && instance->queue != queue)
    return status_fail(FRONT_ERR_BUSY,
        "front_launch: the instance has %u launches in flight on another queue: they would share its scratch", instance->in_flight);
  uint64_t in_ring = queue->next - queue->device->hsa->hsa_queue_load_read_index_scacquire(queue->hsa);
  if (queue->next - queue->retired >= queue->slots || in_ring >= queue->hsa->size) launch_retire(queue);
  in_ring = queue->next - queue->device->hsa->hsa_queue_load_read_index_scacquire(queue->hsa);
  if (queue->next - queue->retired >= queue->slots || in_ring >= queue->hsa->size)
    return status_fail(
        FRONT_ERR_BUSY, "front_launch: %u launches are in flight, the queue has no room for another: wait for one", queue->slots);
  if (instance->stopped || instance->unfinished) return instance_recover(binding->instance);
  return FRONT_OK;
}

enum front_status front_launch(front_queue queue, front_binding binding, front_ticket *ticket) {
  if (!queue.impl || !binding.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_launch: null argument");
  struct queue *q = queue.impl;
  enum front_status status = check_health(q);
  if (status == FRONT_OK) status = check_room(q, binding.impl);
  if (status != FRONT_OK) return status;
  struct slot *slot = slot_of(q, q->next);
  q->device->hsa->hsa_signal_store_screlease(slot->done, 1);
  slot->binding = binding.impl;
  binding.impl->in_flight++;
  binding.impl->instance->in_flight++;
  binding.impl->instance->queue = q;
  if (ticket) *ticket = (front_ticket){.queue = q, .number = q->next};
  q->next++;
  publish(q, binding.impl, slot->done);
  return FRONT_OK;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of a launch that has ended. */
static enum front_status verdict(const struct queue *queue, uint64_t number) {
  const struct slot *slot = slot_of(queue, number);
  if (slot->stopped != number + 1) return FRONT_OK;
  return guard_read(&slot->kernel, slot->record);
}

/* HSA may return early, and its time limit is a hint: the value and our own clock decide. */
enum front_status front_wait(front_ticket ticket, uint64_t timeout_ns) {
  struct queue *queue = ticket.queue;
  if (!queue || ticket.number >= queue->next) return status_fail(FRONT_ERR_ARGUMENT, "front_wait: not a ticket that a launch gave");
  const struct hsa_table *hsa = queue->device->hsa;
  uint64_t start = now_ns();
  for (;;) {
    launch_retire(queue);
    if (ticket.number < queue->retired) return verdict(queue, ticket.number);
    enum front_status status = check_health(queue);
    if (status != FRONT_OK) return status;
    uint64_t waited = now_ns() - start;
    if (waited >= timeout_ns)
      return status_fail(FRONT_ERR_TIMEOUT, "launch %llu has not ended after %.3f s (%llu launches before it in flight): it may still run",
          (unsigned long long)ticket.number, (double)waited / 1e9, (unsigned long long)(ticket.number - queue->retired));
    hsa_signal_t done = slot_of(queue, ticket.number)->done;
    (void)hsa->hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, WAIT_SLICE_TICKS, HSA_WAIT_STATE_BLOCKED);
  }
}
