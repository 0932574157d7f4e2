/* SPDX-License-Identifier: Apache-2.0 */
/* The packet processor of a queue: takes AQL packets in slot order, once the doorbell says so and a packet's header is there. Packets run
   one after the other, so that the barrier bit is always satisfied. The first error ends the queue. */
#include <string.h>
#include <time.h>

#include "hsa_state.h"

enum { PACKET_BYTES = 64, POLL_NS = 20000, SIGNAL_POLL_NS = 10000000 };

static void set_busy(struct queue *q, bool busy) { __atomic_store_n(&q->busy, busy, __ATOMIC_RELEASE); }

static bool stopped(const struct queue *q) { return __atomic_load_n(&q->stop, __ATOMIC_ACQUIRE); }

static uint32_t packet_type(uint16_t header) { return header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1); }

/* Until the packet's header makes it visible. A doorbell may be rung for a later packet while another thread still fills this one. */
static bool await_header(struct queue *q, const uint16_t *header, uint16_t *value) {
  for (;;) {
    *value = __atomic_load_n(header, __ATOMIC_ACQUIRE);
    if (packet_type(*value) != HSA_PACKET_TYPE_INVALID) return true;
    if (stopped(q)) return false;
    set_busy(q, true);
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
  }
}

static void tell_memory_fault(const struct queue *q, const struct dispatch_result *r) {
  hsa_amd_event_t event = {.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT};
  event.memory_fault.agent = emu_gpu_agent(q->agent);
  event.memory_fault.virtual_address = r->fault_address;
  event.memory_fault.fault_reason_mask = r->fault_read_only ? HSA_AMD_MEMORY_FAULT_READ_ONLY : HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
  pthread_mutex_lock(&emu.lock);
  uint32_t handlers = emu.events;
  pthread_mutex_unlock(&emu.lock);
  for (uint32_t i = 0; i < handlers; i++) emu.event[i].call(&event, emu.event[i].data);
}

static hsa_status_t status_of(const struct dispatch_result *r) {
  switch (r->status) {
  case DISPATCH_GOOD:
  case DISPATCH_CANCELLED:
    return HSA_STATUS_SUCCESS;
  case DISPATCH_REFUSED:
    return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  case DISPATCH_MEMORY:
    return (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
  case DISPATCH_INSTRUCTION:
    return (hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION;
  case DISPATCH_DEADLOCK:
    return HSA_STATUS_ERROR_EXCEPTION;
  case DISPATCH_NO_MEMORY:
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  return HSA_STATUS_ERROR;
}

static hsa_status_t refuse(const char *what, uint64_t value) {
  pthread_mutex_lock(&emu.device.report_lock);
  report_clear(&emu.device.report);
  report_add(&emu.device.report, "%s 0x%llx\n", what, (unsigned long long)value);
  pthread_mutex_unlock(&emu.device.report_lock);
  return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
}

static hsa_status_t run_dispatch(struct queue *q, const hsa_kernel_dispatch_packet_t *p, uint64_t index) {
  uint32_t dims = p->setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS & 3;
  if (!dims) return refuse("the dispatch packet has no dimensions: setup", p->setup);
  struct start start = {.kernel = executable_kernel_on(q->agent, p->kernel_object),
      .agent = q->agent,
      .kernarg = (uint64_t)(uintptr_t)p->kernarg_address,
      .packet = (uint64_t)(uintptr_t)p,
      .queue = (uint64_t)(uintptr_t)q->abi,
      .dispatch_id = index,
      .grid = {p->grid_size_x, dims > 1 ? p->grid_size_y : 1, dims > 2 ? p->grid_size_z : 1},
      .size = {p->workgroup_size_x, dims > 1 ? p->workgroup_size_y : 1, dims > 2 ? p->workgroup_size_z : 1},
      .lds_bytes = p->group_segment_size,
      .private_bytes = p->private_segment_size};
  if (!start.kernel) return refuse("no frozen executable of this agent has the packet's kernel object", p->kernel_object);
  queue_cus(q, start.cus);
  set_busy(q, true);
  struct dispatch_result r = dispatch_run(&emu.device, &start, &q->stop);
  if (r.status == DISPATCH_MEMORY) tell_memory_fault(q, &r);
  return status_of(&r);
}

/* Waits in slices: the queue may be stopped meanwhile. */
static bool await_signal(const struct queue *q, struct signal *s, hsa_signal_condition_t condition, int64_t compare, uint64_t ns) {
  int64_t value = signal_wait(s, condition, compare, ns);
  return stopped(q) || (condition == HSA_SIGNAL_CONDITION_EQ && value == compare);
}

static hsa_status_t run_barrier(struct queue *q, const hsa_signal_t *deps, bool all) {
  bool met[5] = {false};
  for (;;) {
    int open = 0, closed = 0;
    for (int i = 0; i < 5; i++) {
      struct signal *s = signal_of(deps[i]);
      if (deps[i].handle && !s) return refuse("a barrier packet waits for what is not a signal:", deps[i].handle);
      if (!s) continue;
      if (!met[i]) met[i] = await_signal(q, s, HSA_SIGNAL_CONDITION_EQ, 0, all ? SIGNAL_POLL_NS : POLL_NS);
      open += !met[i];
      closed += met[i];
    }
    if (!open || (!all && closed) || stopped(q)) return HSA_STATUS_SUCCESS;
    set_busy(q, true);
  }
}

static bool value_holds(const hsa_amd_barrier_value_packet_t *p, int64_t value) {
  value &= p->mask;
  switch (p->cond) {
  case HSA_SIGNAL_CONDITION_EQ:
    return value == p->value;
  case HSA_SIGNAL_CONDITION_NE:
    return value != p->value;
  case HSA_SIGNAL_CONDITION_LT:
    return value < p->value;
  default:
    return value >= p->value;
  }
}

static hsa_status_t run_vendor(struct queue *q, const hsa_amd_barrier_value_packet_t *p) {
  if (p->header.AmdFormat != HSA_AMD_PACKET_TYPE_BARRIER_VALUE) return refuse("unknown vendor packet: format", p->header.AmdFormat);
  struct signal *s = signal_of(p->signal);
  if (p->signal.handle && !s) return refuse("a barrier value packet waits for what is not a signal:", p->signal.handle);
  while (s && !stopped(q)) {
    int64_t value = signal_wait(s, HSA_SIGNAL_CONDITION_GTE, INT64_MIN, 0);
    if (value_holds(p, value)) break;
    set_busy(q, true);
    signal_wait(s, HSA_SIGNAL_CONDITION_NE, value, SIGNAL_POLL_NS);
  }
  return HSA_STATUS_SUCCESS;
}

/* A fence's scope is none, agent or system; the bits behind them are reserved. */
static bool good_header(uint16_t header) {
  uint32_t acquire = header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE & 3, release = header >> HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE & 3;
  return acquire <= HSA_FENCE_SCOPE_SYSTEM && release <= HSA_FENCE_SCOPE_SYSTEM && !(header >> 13);
}

/* Executes a packet. Its completion signal is in the same place in all. */
static hsa_status_t run_packet(struct queue *q, void *packet, uint16_t header, uint64_t index) {
  const hsa_kernel_dispatch_packet_t *dispatch = packet;
  const hsa_barrier_and_packet_t *barrier = packet;
  hsa_signal_t completion = dispatch->completion_signal;
  if (!good_header(header)) return refuse("a packet's header has reserved bits or fence scopes: header", header);
  if (completion.handle && !signal_of(completion)) return refuse("a packet's completion signal is no signal:", completion.handle);
  switch (packet_type(header)) {
  case HSA_PACKET_TYPE_KERNEL_DISPATCH:
    return run_dispatch(q, dispatch, index);
  case HSA_PACKET_TYPE_BARRIER_AND:
    return run_barrier(q, barrier->dep_signal, true);
  case HSA_PACKET_TYPE_BARRIER_OR:
    return run_barrier(q, barrier->dep_signal, false);
  case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
    return run_vendor(q, packet);
  default:
    return refuse("a packet of a type that this queue does not process: header", header);
  }
}

/* One packet; false: the queue has ended. */
static bool process(struct queue *q, uint64_t index) {
  uint8_t *packet = (uint8_t *)(uintptr_t)(q->ring + index % q->abi->hsa_queue.size * PACKET_BYTES);
  uint16_t *at = (uint16_t *)(void *)packet, header;
  if (!doorbell_wait(q->doorbell, (int64_t)index, &q->stop) || !await_header(q, at, &header)) return false;
  uint64_t start = emu_timestamp();
  hsa_status_t status = run_packet(q, packet, header, index);
  if (status != HSA_STATUS_SUCCESS) {
    if (q->callback) q->callback(status, &q->abi->hsa_queue, q->data);
    return false;
  }
  if (stopped(q)) return false;
  struct signal *done = signal_of(((const hsa_kernel_dispatch_packet_t *)(const void *)packet)->completion_signal);
  if (done && __atomic_load_n(&q->timed, __ATOMIC_RELAXED)) {
    done->abi.start_ts = start;
    done->abi.end_ts = emu_timestamp();
  }
  __atomic_store_n(at, (uint16_t)(HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  __atomic_store_n(&q->abi->read_dispatch_id, index + 1, __ATOMIC_RELEASE);
  set_busy(q, false);
  if (done) signal_add(done, -1);
  return true;
}

void *packets_process(void *queue) {
  struct queue *q = queue;
  for (uint64_t index = 0; process(q, index); index++) {
  }
  set_busy(q, true);
  if (queue_orphaned_here()) queue_end_orphan(q);
  return NULL;
}
