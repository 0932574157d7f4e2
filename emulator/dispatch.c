/* SPDX-License-Identifier: Apache-2.0 */
/* A launch: which workgroups are resident, one quantum after the other, and how it ends. */
#include "dispatch.h"

#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "quantum.h"
#include "strict.h"

enum {
  SLOT_ALIGN = 256,
  LDS_SLACK = 64,
  HUGE_PAGE = 2 << 20,
  /* Quanta without progress until states are compared, and in which powers of two apart a state is kept to compare with. */
  IDLE_COMPARE = 16,
  IDLE_WINDOW = 64,
  /* Quanta without progress after which others get the device, and how many a launch has it for at most while others wait. */
  IDLE_TURN = 4,
  QUANTA_A_TURN = 4096
};

/* Nothing has happened for so many wave-instructions, or so much model time: give up, whatever the waves wait for. */
static const uint64_t idle_instructions_max = (uint64_t)1 << 32;
static const uint64_t idle_ticks_max = (uint64_t)3600 * 100000000;

/* Host time that a stuck launch gives the host's threads, which may be about to ring another queue or to write what the waves wait for: in
   so many waits of 2^n ms, all in all half a second, with a look behind each. As often as what the host did changes the waves' states. */
enum { WAITS = 9, CHANGES_MAX = 256 };

/* One launch's state. */
struct dispatch {
  struct device *device;
  struct dispatch *next_live; /* others that have begun and not ended */
  struct start *start;
  struct quantum quantum;
  struct slot *slot; /* all places */
  uint32_t slots;
  struct slot **free_slot;
  uint32_t free_slots;
  uint32_t next[MODEL_XCDS_MAX];     /* by XCD: its next workgroup */
  uint32_t capacity[MODEL_XCDS_MAX]; /* ... how many more fit if nobody else is there */
  uint32_t resident[MODEL_XCDS_MAX]; /* ... and how many are there */
  uint32_t groups_a_cu;
  uint8_t *arena; /* the device's, or its own if another launch has that */
  uint64_t arena_bytes;
  uint64_t began;  /* cycles */
  uint32_t turn;   /* quanta since it got the device */
  uint64_t others; /* device->progress, as it was when this launch last looked */
  bool profiled;
  bool says; /* strict mode is the environment's: its findings and why it ended a launch go to stderr too */
  /* Since the last progress. */
  uint64_t idle, idle_from, idle_instructions, idle_reads;
  uint32_t waits, changes; /* WAITS since the last change, of which there were so many */
  uint64_t anchor_at, anchor, anchor_first;
  uint64_t cycle; /* quanta after which all waves are back at the anchor; 0: not known to be */
  struct hsa_emu_counters counters;
  struct report report, remarks;
  struct dispatch_result result;
};

static uint64_t host_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- residency ---------------------------------------------------------------------------------------------------------------- */

static bool place_slots(struct dispatch *d) {
  const struct model *m = d->device->model;
  const struct start *s = d->start;
  uint32_t a_cu = d->groups_a_cu = model_workgroups_a_cu(m, s->waves, s->vgprs + s->agprs, s->lds_bytes);
  if (!a_cu) {
    report_add(&d->report, "%s: a workgroup (%u waves of %u registers, %u bytes of LDS) does not fit on a CU of %s\n",
        s->kernel->code->name, s->waves, s->vgprs + s->agprs, s->lds_bytes, m->product);
    d->result.status = DISPATCH_REFUSED;
    return false;
  }
  for (uint32_t x = 0; x < m->xcds; x++) {
    uint32_t mine = s->workgroups / m->xcds + (x < s->workgroups % m->xcds), fit = a_cu * s->cus[x];
    if (mine && !fit) {
      report_add(&d->report, "%s: its queue's mask leaves XCD %u no compute unit\n", s->kernel->code->name, x);
      d->result.status = DISPATCH_REFUSED;
      return false;
    }
    d->next[x] = x;
    d->capacity[x] = mine < fit ? mine : fit;
    d->slots += d->capacity[x];
  }
  d->slot = calloc(d->slots, sizeof *d->slot);
  d->free_slot = calloc(d->slots, sizeof(struct slot *));
  d->quantum.live = calloc(d->slots, sizeof(struct slot *));
  return d->slot && d->free_slot && d->quantum.live;
}

static uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

/* Kept from launch to launch, in huge pages: new small pages would cost more than what runs on them. */
static bool take_arena(struct dispatch *d, uint64_t bytes) {
  struct device *device = d->device;
  d->arena = device->arena;
  d->arena_bytes = device->arena ? device->arena_bytes : 0;
  device->arena = NULL;
  if (d->arena_bytes >= bytes) return true;
  if (d->arena) munmap(d->arena, d->arena_bytes);
  d->arena_bytes = round_up(bytes, HUGE_PAGE) + HUGE_PAGE;
  d->arena = memory_zeros(d->arena_bytes);
  if (!d->arena) return false;
  madvise(d->arena, d->arena_bytes, MADV_HUGEPAGE);
  return true;
}

static void give_arena(struct dispatch *d) {
  if (!d->arena) return;
  if (d->device->arena) {
    munmap(d->arena, d->arena_bytes);
    return;
  }
  d->device->arena = d->arena;
  d->device->arena_bytes = d->arena_bytes;
}

/* Host memory of the places: waves and LDS. */
static bool place_arena(struct dispatch *d) {
  const struct start *start = d->start;
  uint64_t registers = start->agprs ? VGPRS + start->agprs : start->vgprs;
  uint64_t wave_bytes = offsetof(struct wave, v) + registers * sizeof(vgpr);
  uint64_t scratch_at = round_up(start->waves * wave_bytes + start->lds_bytes + LDS_SLACK, SLOT_ALIGN);
  uint64_t slot_bytes = round_up(scratch_at + (uint64_t)start->waves * LANES_A_WAVE * start->scratch_bytes, SLOT_ALIGN);
  if (!take_arena(d, d->slots * slot_bytes)) return false;
  for (uint32_t i = 0; i < d->slots; i++) {
    struct slot *s = &d->slot[i];
    uint8_t *at = (uint8_t *)round_up((uint64_t)(uintptr_t)d->arena, SLOT_ALIGN) + i * slot_bytes;
    for (uint32_t w = 0; w < start->waves; w++) s->wave[w] = (struct wave *)(void *)(at + w * wave_bytes);
    s->group.lds = at + start->waves * wave_bytes;
    s->group.scratch = at + scratch_at;
    s->group.wave = s->wave;
    s->group.view = &s->view;
    if (!view_init(&s->view, d->device->memory)) return false;
    if (d->device->traffic.count && !(s->view.log = traffic_log_create(&d->device->traffic))) return false;
    d->free_slot[d->slots - 1 - i] = s;
  }
  d->free_slots = d->slots;
  return true;
}

/* How many of this launch's workgroups XCD `x` holds beside those of other launches on the same agent. Which unit has which workgroup is
   not modelled: units with another launch's are counted as full. */
static uint32_t room(const struct dispatch *d, uint32_t x) {
  uint32_t units = model_xcd_cus(d->device->model, x), taken = 0;
  for (const struct dispatch *o = d->device->live; o; o = o->next_live)
    if (o != d && o->start->agent == d->start->agent && o->groups_a_cu) taken += (o->resident[x] + o->groups_a_cu - 1) / o->groups_a_cu;
  uint32_t left = taken < units ? units - taken : 0, allowed = d->start->cus[x];
  return (left < allowed ? left : allowed) * d->groups_a_cu;
}

/* The XCDs' next workgroups take what room there is. The list of live ones stays in launch order. */
static void admit(struct dispatch *d) {
  uint32_t xcds = d->device->model->xcds;
  struct quantum *q = &d->quantum;
  for (uint32_t x = 0; x < xcds; x++) {
    uint32_t most = room(d, x);
    for (; d->capacity[x] && d->resident[x] < most && d->next[x] < d->start->workgroups; d->next[x] += xcds) {
      d->capacity[x]--;
      d->resident[x]++;
      struct slot *s = d->free_slot[--d->free_slots];
      s->group.index = d->next[x];
      s->group.xcc = x;
      s->group.waves = 0;
      s->fresh = true;
      if (d->profiled) s->profile = profile_begin(&d->device->profile, s->group.index, x);
      view_begin(&s->view, s->group.index);
      uint32_t at = q->count++;
      for (; at && q->live[at - 1]->group.index > s->group.index; at--) q->live[at] = q->live[at - 1];
      q->live[at] = s;
    }
  }
}

static void count_group(struct dispatch *d, struct slot *s) {
  struct hsa_emu_counters *c = &d->counters;
  c->workgroups++;
  c->waves += s->group.waves;
  c->load_bytes += s->view.load_bytes;
  c->store_bytes += s->view.store_bytes;
  c->atomics += s->view.atomic_lanes;
  c->out_of_range += s->group.out_of_range;
  for (uint32_t w = 0; w < s->group.waves; w++)
    for (int k = 0; k < INST_CLASSES; k++) c->by_class[k] += s->wave[w]->executed[k];
  if (s->view.log) traffic_merge(&d->device->traffic, s->view.log);
  if (s->profile) profile_end(&d->device->profile, s->profile);
  s->profile = NULL;
  if (s->group.out_of_range)
    report_add(&d->remarks, "workgroup %u: %" PRIu64 " lanes out of range, first %s\n", s->group.index, s->group.out_of_range,
        s->group.out_of_range_text);
}

/* Those that have ended make room. */
static void retire(struct dispatch *d) {
  struct quantum *q = &d->quantum;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < q->count; i++) {
    struct slot *s = q->live[i];
    if (!slot_ended(s)) {
      q->live[kept++] = s;
      continue;
    }
    count_group(d, s);
    if (q->strict) strict_end_group(s);
    d->capacity[s->group.xcc]++;
    d->resident[s->group.xcc]--;
    d->free_slot[d->free_slots++] = s;
  }
  q->count = kept;
}

/* --- progress ----------------------------------------------------------------------------------------------------------------- */

static uint64_t clock_reads(const struct quantum *q) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < q->count; i++) sum += q->live[i]->clock_reads;
  return sum;
}

static bool progressed(const struct quantum *q, bool changed) {
  for (uint32_t i = 0; i < q->count && !changed; i++) changed = q->live[i]->progress;
  return changed;
}

static void begin_idle(struct dispatch *d) { d->idle = d->cycle = 0; }

static void note_progress(struct dispatch *d) {
  begin_idle(d);
  d->waits = d->changes = 0;
  d->others = d->device->progress;
}

/* After each cycle of a launch that is stuck. If it is no longer where it was, the host has done something, and has its time again. */
static bool comes_back(struct dispatch *d) {
  if (d->idle - d->anchor_at < d->cycle) return false;
  if (quantum_digest(&d->quantum, d->device->workers) == d->anchor) return true;
  begin_idle(d);
  if (d->changes++ < CHANGES_MAX) d->waits = 0;
  return false;
}

/* Whether all waves are back in a state that they were in since the last progress, without having read a clock: then they will be for
   ever, unless the host does something. A state is kept at every power of two and compared with those that follow, until somebody looks at
   a clock; once one has come back, only after as many quanta. */
static bool repeats(struct dispatch *d) {
  if (d->idle < IDLE_COMPARE || clock_reads(&d->quantum) != d->idle_reads) return false;
  if (d->cycle) return comes_back(d);
  bool keep = !(d->idle & (d->idle - 1));
  if (!keep && d->idle - d->anchor_at > IDLE_WINDOW) return false;
  uint64_t first = quantum_digest_first(&d->quantum);
  if (!keep && first != d->anchor_first) return false;
  uint64_t now = quantum_digest(&d->quantum, d->device->workers);
  if (keep) {
    d->anchor = now;
    d->anchor_first = first;
    d->anchor_at = d->idle;
    return false;
  }
  if (now == d->anchor) d->cycle = d->idle - d->anchor_at;
  return d->cycle != 0;
}

/* Model time runs faster while everybody only waits and looks at the clock, so that budgets of seconds run out in some hundred quanta. */
static void hurry(struct dispatch *d) {
  uint64_t step = (d->quantum.now - d->idle_from) / 4;
  d->quantum.now += step;
  for (uint32_t i = 0; i < d->quantum.count; i++)
    for (uint32_t w = 0; w < d->quantum.live[i]->group.waves; w++) d->quantum.live[i]->wave[w]->cycles = d->quantum.now;
}

static uint64_t instructions(const struct dispatch *d) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < d->quantum.count; i++) {
    const struct slot *s = d->quantum.live[i];
    for (uint32_t w = 0; w < s->group.waves; w++)
      for (int k = 0; k < INST_CLASSES; k++) sum += s->wave[w]->executed[k];
  }
  return sum;
}

/* Lets other launches have the device until one does something, or the time is up. */
static void wait_for_host(struct dispatch *d, uint32_t ms, const bool *cancel) {
  struct device *device = d->device;
  for (; ms && d->others == device->progress && !__atomic_load_n(cancel, __ATOMIC_ACQUIRE); ms--) {
    turns_give(&device->turns);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    turns_take(&device->turns);
  }
}

/* Whether a stuck launch looks once more: what its waves wait for may come from another launch, or from the host. Without a cycle a look is
   dear: there is one. */
static bool may_wake(struct dispatch *d, const bool *cancel) {
  if (d->device->pending && d->device->pending()) {
    sched_yield();
  } else if (d->waits < WAITS) {
    wait_for_host(d, d->cycle ? 1u << d->waits : 1u << WAITS, cancel);
    d->waits = d->cycle ? d->waits + 1 : WAITS;
  } else {
    return false;
  }
  d->anchor_at = d->idle;
  if (!d->cycle) begin_idle(d);
  return true;
}

/* Judges a quantum without a fault; false: the launch is stuck. */
static bool watch(struct dispatch *d, bool changed, uint64_t reads_before, const bool *cancel) {
  const struct quantum *q = &d->quantum;
  d->device->progress += progressed(q, changed);
  if (d->others != d->device->progress) { /* it, or another launch, so that this one may go on too */
    note_progress(d);
    return true;
  }
  if (!d->idle++) {
    d->idle_from = q->now;
    d->idle_instructions = instructions(d);
    d->idle_reads = clock_reads(q);
  }
  const char *why = NULL;
  if (repeats(d))
    why = "every wave waits for what no wave will do";
  else if (q->now - d->idle_from > idle_ticks_max * CYCLES_A_TICK)
    why = "nothing has happened for an hour of model time";
  else if (d->idle % IDLE_WINDOW == 0 && instructions(d) - d->idle_instructions > idle_instructions_max)
    why = "nothing has happened for 2^32 wave-instructions";
  if (why && may_wake(d, cancel)) return true;
  if (!why) {
    if (clock_reads(q) != reads_before) hurry(d);
    return true;
  }
  report_add(&d->report, "deadlock: %s: %s\n", d->start->kernel->code->name, why);
  report_waves(&d->report, d->start->kernel, q->live, q->count);
  d->result.status = DISPATCH_DEADLOCK;
  return false;
}

/* --- ends --------------------------------------------------------------------------------------------------------------------- */

static void report_fault(struct dispatch *d, struct commit_result c) {
  const struct slot *s = c.faulty;
  const struct wave *w = s->wave[s->faulty];
  const char *name = d->start->kernel->code->name;
  report_add(&d->report, "fault: %s: workgroup %u wave %u: ", name, s->group.index, s->faulty);
  if (c.bad) {
    char text[WAVE_TEXT_MAX];
    const struct inst *in = &w->program->inst[w->pc - 1];
    view_fault_text(&s->view, text, sizeof text);
    report_add(&d->report, "%s at 0x%" PRIx64 ": %s\n", in->text, in->address, text);
  } else {
    report_add(&d->report, "%s\n", w->fault);
  }
  report_waves(&d->report, d->start->kernel, d->quantum.live, d->quantum.count);
  bool memory = s->view.fault.kind != MEM_GOOD && s->view.fault.kind != MEM_NO_MEMORY;
  d->result.status = memory ? DISPATCH_MEMORY : s->view.fault.kind == MEM_GOOD ? DISPATCH_INSTRUCTION : DISPATCH_NO_MEMORY;
  d->result.fault_address = s->view.fault.addr;
  d->result.fault_read_only = s->view.fault.kind == MEM_READ_ONLY;
}

static bool cancelled(struct dispatch *d, const bool *cancel) {
  if (!__atomic_load_n(cancel, __ATOMIC_ACQUIRE)) return false;
  report_add(&d->report, "cancelled: %s: its queue was destroyed or made inactive\n", d->start->kernel->code->name);
  d->result.status = DISPATCH_CANCELLED;
  return true;
}

/* One quantum; false: the launch ends early. */
static bool step(struct dispatch *d, const bool *cancel) {
  struct quantum *q = &d->quantum;
  if (cancelled(d, cancel)) return false;
  if (!q->count) return true; /* other launches have the room */
  uint64_t reads = clock_reads(q);
  memory_read_lock(d->device->memory);
  if (q->strict)
    strict_round(q->strict, q, d->idle);
  else
    quantum_run(q, d->device->workers);
  struct commit_result c = quantum_commit(q);
  memory_read_unlock(d->device->memory);
  d->counters.quanta++;
  if (c.faulty) {
    report_fault(d, c);
    return false;
  }
  return watch(d, c.changed, reads, cancel);
}

static bool prepare_strict(struct dispatch *d) {
  struct hsa_emu_strict options;
  char error[STRICT_ERROR_MAX];
  struct device *device = d->device;
  if (!device_strict(device, &options, error)) {
    d->says = true;
    report_add(&d->report, "%s: %s\n", d->start->kernel->code->name, error);
    d->result.status = DISPATCH_REFUSED;
    return false;
  }
  if (!options.on) return true;
  pthread_mutex_lock(&device->report_lock);
  d->says = !device->strict_set;
  pthread_mutex_unlock(&device->report_lock);
  d->quantum.strict = strict_create(&options, d->start, device->model, device->memory, d->slot, d->slots);
  if (!d->quantum.strict) report_add(&d->report, "%s: the host has no memory for strict mode\n", d->start->kernel->code->name);
  return d->quantum.strict != NULL;
}

static bool prepare(struct dispatch *d) {
  char error[START_ERROR_MAX];
  struct device *device = d->device;
  if (!start_plan(d->start, error)) {
    report_add(&d->report, "%s\n", error);
    d->result.status = DISPATCH_REFUSED;
    return false;
  }
  struct allocation a;
  uint32_t kernarg_bytes = d->start->kernel->code->descriptor.kernarg_bytes;
  if (kernarg_bytes && (!memory_find(device->memory, d->start->kernarg, &a) || kernarg_bytes > a.base + a.bytes - d->start->kernarg)) {
    report_add(&d->report, "%s: no allocation holds the %u kernarg bytes at 0x%" PRIx64 "\n", d->start->kernel->code->name, kernarg_bytes,
        d->start->kernarg);
    d->result.status = DISPATCH_MEMORY;
    d->result.fault_address = d->start->kernarg;
    return false;
  }
  uint32_t threads = device_threads(device);
  if (!device->workers || workers_threads(device->workers) != threads) {
    workers_destroy(device->workers);
    device->workers = workers_create(threads);
  }
  d->result.status = DISPATCH_NO_MEMORY;
  if (!device->workers || !place_slots(d) || !place_arena(d)) {
    if (d->result.status == DISPATCH_NO_MEMORY)
      report_add(&d->report, "%s: the host is out of memory or threads\n", d->start->kernel->code->name);
    return false;
  }
  if (!prepare_strict(d)) return false;
  bool alone = !device->live->next_live && !d->quantum.strict; /* the profile is one launch's */
  d->profiled = alone && profile_launch(&device->profile, d->start->kernel, d->start->workgroups);
  d->result.status = DISPATCH_GOOD;
  return true;
}

static void add_counters(struct hsa_emu_counters *to, const struct hsa_emu_counters *c) {
  to->dispatches += c->dispatches;
  to->workgroups += c->workgroups;
  to->waves += c->waves;
  to->instructions += c->instructions;
  for (int k = 0; k < HSA_EMU_CLASSES; k++) to->by_class[k] += c->by_class[k];
  to->load_bytes += c->load_bytes;
  to->store_bytes += c->store_bytes;
  to->atomics += c->atomics;
  to->out_of_range += c->out_of_range;
  to->quanta += c->quanta;
  to->model_ticks += c->model_ticks;
  to->host_ns += c->host_ns;
}

/* What is on its way arrives, and the launch's findings become the device's. */
static void finish_strict(struct dispatch *d) {
  struct strict *st = d->quantum.strict;
  if (!st) return;
  struct findings *found = &st->findings;
  memory_read_lock(d->device->memory);
  strict_end(st);
  memory_read_unlock(d->device->memory);
  pthread_mutex_lock(&d->device->report_lock);
  for (uint32_t i = 0; i < found->count; i++) {
    found->list[i].finding.dispatch = d->device->total.dispatches;
    if (d->says && found->list[i].text) fprintf(stderr, "libhsa-emu: %s\n", found->list[i].text);
  }
  findings_merge(&d->device->findings, found);
  pthread_mutex_unlock(&d->device->report_lock);
  strict_destroy(st);
}

/* Hands counters and texts to the device and frees everything else. */
static void finish(struct dispatch *d, uint64_t began_ns) {
  struct device *device = d->device;
  for (uint32_t i = 0; i < d->quantum.count; i++) count_group(d, d->quantum.live[i]);
  finish_strict(d);
  for (uint32_t i = 0; d->slot && i < d->slots; i++) view_free(&d->slot[i].view);
  free(d->slot);
  free(d->free_slot);
  free(d->quantum.live);
  give_arena(d);
  struct hsa_emu_counters *c = &d->counters;
  c->dispatches = 1;
  for (int k = 0; k < HSA_EMU_CLASSES; k++) c->instructions += c->by_class[k];
  c->model_ticks = (d->quantum.now - d->began) / CYCLES_A_TICK;
  c->host_ns = host_ns() - began_ns;
  if (d->quantum.now > device->cycles) __atomic_store_n(&device->cycles, d->quantum.now, __ATOMIC_RELAXED);
  pthread_mutex_lock(&device->report_lock);
  device->last = *c;
  add_counters(&device->total, c);
  report_clear(&device->remarks);
  device->remarks = d->remarks;
  if (d->result.status != DISPATCH_GOOD) {
    if (d->says && d->report.text) fprintf(stderr, "libhsa-emu: %s", d->report.text);
    report_clear(&device->report);
    device->report = d->report;
  }
  pthread_mutex_unlock(&device->report_lock);
}

/* Lets others have the device if it is their turn. */
static void yield_turn(struct dispatch *d) {
  struct turns *turns = &d->device->turns;
  bool stands = !d->quantum.count || d->idle >= IDLE_TURN;
  if ((!stands && ++d->turn < QUANTA_A_TURN) || !turns_wanted(turns)) return;
  turns_give(turns);
  turns_take(turns);
  d->turn = 0;
}

static bool unfinished(const struct dispatch *d) {
  for (uint32_t x = 0; x < d->device->model->xcds; x++)
    if (d->next[x] < d->start->workgroups) return true;
  return d->quantum.count != 0;
}

static void join_live(struct dispatch *d) {
  turns_begin_launch(&d->device->turns);
  d->next_live = d->device->live;
  d->device->live = d;
}

static void leave_live(struct dispatch *d) {
  struct dispatch **at = &d->device->live;
  while (*at != d) at = &(*at)->next_live;
  *at = d->next_live;
  d->device->progress++;
  turns_end_launch(&d->device->turns);
}

struct dispatch_result dispatch_run(struct device *device, struct start *start, const bool *cancel) {
  turns_take(&device->turns);
  uint64_t began_ns = host_ns();
  struct dispatch d = {.device = device, .start = start, .began = device->cycles, .others = ++device->progress};
  d.quantum = (struct quantum){.start = start, .now = device->cycles, .instructions = QUANTUM_INSTRUCTIONS};
  join_live(&d);
  if (prepare(&d)) {
    admit(&d);
    while (unfinished(&d) && step(&d, cancel)) {
      retire(&d);
      yield_turn(&d);
      admit(&d);
    }
  }
  finish(&d, began_ns);
  leave_live(&d);
  turns_give(&device->turns);
  return d.result;
}
