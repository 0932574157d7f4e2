/* SPDX-License-Identifier: Apache-2.0 */
/* One AQL packet a launch, one signal a slot of the queue; a caller's signals take a packet each. */
#include "launch.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "extensible.h"
#include "geometry.h"
#include "instance_guard.h"
#include "status.h"
#include "step_check.h"

enum { WAIT_SLICE_TICKS = 1000000, TICK_NS = 10 };

static const uint32_t in_order = 1u << HSA_PACKET_HEADER_BARRIER;

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
  uint32_t setup = 1u << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  return HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | in_order | setup << 16;
}

/* A packet that waits for a signal of the caller's, or counts one down, or neither. */
static uint32_t signal_packet(uint64_t after, uint64_t completion, hsa_barrier_and_packet_t *packet) {
  memset((char *)packet + sizeof(uint32_t), 0, sizeof *packet - sizeof(uint32_t));
  packet->dep_signal[0].handle = after;
  packet->completion_signal.handle = completion;
  return HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | in_order;
}

static hsa_kernel_dispatch_packet_t *packet_at(const struct queue *queue, uint64_t index) {
  hsa_kernel_dispatch_packet_t *ring = queue->hsa->base_address;
  return &ring[index & (queue->hsa->size - 1)];
}

/* The header, stored last, gives the packet to the device. */
static void give(hsa_kernel_dispatch_packet_t *packet, uint32_t header) {
  __atomic_store_n((uint32_t *)(void *)packet, header, __ATOMIC_RELEASE);
}

/* The only function that touches the ring and the doorbell. Packets become visible in the ring's order. */
static void publish(struct queue *queue, const struct binding *binding, const struct front_launch_options *options, hsa_signal_t done) {
  const struct hsa_table *hsa = queue->device->hsa;
  uint64_t after = options ? options->after : 0, completion = options ? options->completion : 0;
  uint64_t packets = 1u + (after != 0) + (completion != 0);
  uint64_t index = hsa->hsa_queue_add_write_index_screlease(queue->hsa, packets), end = index + packets;
  if (after) {
    hsa_kernel_dispatch_packet_t *packet = packet_at(queue, index++);
    give(packet, signal_packet(after, 0, (hsa_barrier_and_packet_t *)(void *)packet));
  }
  hsa_kernel_dispatch_packet_t *packet = packet_at(queue, index++);
  give(packet, launch_packet(binding, done, packet) | queue->fences);
  if (completion) {
    packet = packet_at(queue, index);
    give(packet, signal_packet(0, completion, (hsa_barrier_and_packet_t *)(void *)packet));
  }
  queue->packets = end;
  hsa->hsa_signal_store_screlease(queue->hsa->doorbell_signal, (hsa_signal_value_t)(end - 1));
}

static bool has_room(struct queue *queue, uint32_t packets) {
  if (queue_get(&queue->next) - queue_get(&queue->retired) >= queue->slots) return false;
  if (queue->packets + packets - queue->packets_read <= queue->hsa->size) return true;
  queue->packets_read = queue->device->hsa->hsa_queue_load_read_index_scacquire(queue->hsa);
  return queue->packets + packets - queue->packets_read <= queue->hsa->size;
}

static enum front_status check_room(struct queue *queue, const struct binding *binding, uint32_t packets) {
  const struct instance *instance = binding->instance;
  if (queue->device != instance->kernel->device)
    return status_fail(FRONT_ERR_ARGUMENT, "front_launch: queue and binding are of different devices");
  if (instance->in_flight && instance->queue != queue) queue_retire(instance->queue);
  if (instance->in_flight && instance->queue != queue)
    return status_fail(FRONT_ERR_BUSY,
        "front_launch: the instance has %u launches in flight on another queue: they would share its scratch", instance->in_flight);
  if (!has_room(queue, packets)) queue_retire(queue);
  if (!has_room(queue, packets))
    return status_fail(
        FRONT_ERR_BUSY, "front_launch: %u launches are in flight, the queue has no room for another: wait for one", queue->slots);
  if (instance->stopped || instance->unfinished) return instance_recover(binding->instance);
  return FRONT_OK;
}

/* Everything but the checks. */
static enum front_status put(
    struct queue *queue, struct binding *binding, const struct front_launch_options *options, front_ticket *ticket) {
  uint64_t number = queue_get(&queue->next);
  struct slot *slot = queue_slot(queue, number);
  queue->device->hsa->hsa_signal_store_screlease(slot->done, 1);
  if (options && options->ended) {
    slot->ended.instance = binding->instance;
    slot->ended.call = options->ended;
    slot->ended.user = options->user;
    enum front_status status = ended_arm(&slot->ended, slot->done);
    if (status != FRONT_OK) return status;
  }
  slot->binding = binding;
  binding->in_flight++;
  binding->instance->in_flight++;
  binding->instance->queue = queue;
  if (ticket) *ticket = (front_ticket){.queue = queue, .number = number};
  queue_set(&queue->next, number + 1);
  publish(queue, binding, options, slot->done);
  return FRONT_OK;
}

static enum front_status check(front_queue queue, front_binding binding, uint32_t packets) {
  if (!queue.impl || !binding.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_launch: null argument");
  if (!device_is_here(queue.impl->device)) return process_forked("front_launch");
  enum front_status status = queue.impl->death == QUEUE_ALIVE ? FRONT_OK : queue_check(queue.impl);
  return status == FRONT_OK ? check_room(queue.impl, binding.impl, packets) : status;
}

enum front_status front_launch(front_queue queue, front_binding binding, front_ticket *ticket) {
  enum front_status status = check(queue, binding, 1);
  if (status == FRONT_OK && binding.impl->instance->debug) status = step_check(binding.impl, NULL);
  return status == FRONT_OK ? put(queue.impl, binding.impl, NULL, ticket) : status;
}

enum front_status front_launch_with(
    front_queue queue, front_binding binding, const struct front_launch_options *options, front_ticket *ticket) {
  struct front_launch_options o;
  enum front_status status = options_take(&o, sizeof o, options, "front_launch_with");
  if (status == FRONT_OK) status = check(queue, binding, 1u + (o.after != 0) + (o.completion != 0));
  if (status == FRONT_OK && binding.impl->instance->debug) status = step_check(binding.impl, &o);
  if (status != FRONT_OK) return status;
  status = put(queue.impl, binding.impl, &o, ticket);
  if (status == FRONT_OK && queue.impl->death != QUEUE_ALIVE) /* it died before it could see this launch */
    ended_fire(&queue_slot(queue.impl, queue_get(&queue.impl->next) - 1)->ended, FRONT_ERR_FAULT);
  return status;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of a launch that has ended. */
static enum front_status verdict(const struct queue *queue, uint64_t number) {
  const struct slot *slot = queue_slot(queue, number);
  if (slot->stopped != number + 1) return FRONT_OK;
  return guard_read(&slot->kernel, slot->record);
}

/* HSA may return early, and its time limit is a hint: the value and our own clock decide. */
enum front_status front_wait(front_ticket ticket, uint64_t timeout_ns) {
  struct queue *queue = ticket.queue;
  if (!queue || ticket.number >= queue_get(&queue->next))
    return status_fail(FRONT_ERR_ARGUMENT, "front_wait: not a ticket that a launch gave");
  if (!device_is_here(queue->device)) return process_forked("front_wait");
  const struct hsa_table *hsa = queue->device->hsa;
  uint64_t start = now_ns();
  for (;;) {
    queue_retire(queue);
    uint64_t retired = queue_get(&queue->retired);
    if (ticket.number < retired) return verdict(queue, ticket.number);
    enum front_status status = queue_check(queue);
    if (status != FRONT_OK) return status;
    uint64_t waited = now_ns() - start, slice = (timeout_ns - waited) / TICK_NS + 1;
    if (waited >= timeout_ns)
      return status_fail(FRONT_ERR_TIMEOUT, "launch %llu has not ended after %.3f s (%llu launches before it in flight): it may still run",
          (unsigned long long)ticket.number, (double)waited / 1e9, (unsigned long long)(ticket.number - retired));
    hsa_signal_t done = queue_slot(queue, ticket.number)->done;
    if (hsa->hsa_signal_load_scacquire(done) < 1) sched_yield(); /* its callback runs */
    (void)hsa->hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, slice < WAIT_SLICE_TICKS ? slice : WAIT_SLICE_TICKS,
        queue->spin ? HSA_WAIT_STATE_ACTIVE : HSA_WAIT_STATE_BLOCKED);
  }
}
