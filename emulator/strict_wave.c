/* SPDX-License-Identifier: Apache-2.0 */
/* The strict loop, and the scoreboard: what is outstanding, in the order in which the counters count it. Vector memory completes in order
   (loads and stores share vmcnt on gfx9), LDS in order, scalar loads out of order: with one outstanding only lgkmcnt(0) says anything. */
#include "operand.h"
#include "strict.h"

static uint8_t *board_of(struct strict_wave *sw, const struct pending_queue *q, const struct pending *p) {
  return p->kind == PENDING_SCALAR ? sw->by_scalar : q == &sw->vm ? sw->by_vm : sw->by_lgkm;
}

static void count_registers(struct strict_wave *sw, const struct pending_queue *q, const struct pending *p, int by) {
  uint8_t *board = board_of(sw, q, p);
  uint32_t *sum = p->kind == PENDING_SCALAR ? &sw->scalar_pending : &sw->vector_pending;
  for (uint32_t k = 0; k < p->words; k++) board[p->reg + k] = (uint8_t)(board[p->reg + k] + by);
  *sum += p->words * (uint32_t)by;
}

static void pop(struct strict_wave *sw, struct pending_queue *q) {
  struct pending p = q->op[q->first % PENDING_MAX];
  q->first++;
  q->count--;
  count_registers(sw, q, &p, -1);
  sw->scalar_loads -= p.kind == PENDING_SCALAR;
  sw->lds_loads -= p.kind == PENDING_LOAD_LDS;
  if (p.kind == PENDING_STORE) stores_complete(&sw->group->strict->lines, sw, p.time);
}

static void push(struct strict_wave *sw, struct pending_queue *q, const struct wave *w, const struct inst *in, uint8_t kind, bool result) {
  if (q->count == PENDING_MAX) pop(sw, q);
  struct pending *p = &q->op[(q->first + q->count++) % PENDING_MAX];
  *p = (struct pending){.inst = (uint32_t)(in - w->program->inst), .time = sw->group->strict->time, .kind = kind};
  if (result) {
    p->reg = in->dst.reg;
    p->words = in->dst.words;
  }
  if (kind == PENDING_LOAD_LDS) p->lds = (w->sreg[SREG_M0] & 0xFFFF) + (uint32_t)in->offset;
  sw->scalar_loads += kind == PENDING_SCALAR;
  sw->lds_loads += kind == PENDING_LOAD_LDS;
  count_registers(sw, q, p, 1);
}

static void wait_for(struct strict_wave *sw, const struct inst *in) {
  while (in->wait_vm >= 0 && sw->vm.count > (uint32_t)in->wait_vm) pop(sw, &sw->vm);
  if (in->wait_lgkm == 0 || !sw->scalar_loads)
    while (in->wait_lgkm >= 0 && sw->lgkm.count > (uint32_t)in->wait_lgkm) pop(sw, &sw->lgkm);
}

/* --- use before the wait ------------------------------------------------------------------------------------------------------- */

static const struct pending *pending_of(const struct strict_wave *sw, bool scalar, uint32_t reg) {
  const struct pending_queue *queues[] = {&sw->vm, &sw->lgkm};
  for (int i = 0; i < 2; i++)
    for (uint32_t k = queues[i]->count; k-- > 0;) {
      const struct pending *p = &queues[i]->op[(queues[i]->first + k) % PENDING_MAX];
      if ((p->kind == PENDING_SCALAR) == scalar && reg - p->reg < p->words) return p;
    }
  return NULL;
}

static void unwaited(struct strict_wave *sw, const struct wave *w, const struct inst *in, bool scalar, uint32_t reg, const char *verb) {
  struct strict *st = sw->group->strict;
  const struct pending *p = pending_of(sw, scalar, reg);
  if (!p) return;
  struct hsa_emu_party other = strict_party_of(st, w->group->index, w->index, LANE_NONE, p->inst);
  const char *file = scalar ? "s" : reg < VGPRS ? "v" : "a";
  strict_found(st, HSA_EMU_UNWAITED, strict_party(st, w, in, LANE_NONE), 0, &other, "%s %s%u without an s_waitcnt for what loads it,", verb,
      file, reg < VGPRS || scalar ? reg : reg - VGPRS);
}

/* In-order results may land on one another: a VMEM load on a VMEM load's target, LDS on LDS's. */
static bool may_overwrite(const struct strict_wave *sw, const struct inst *in, uint32_t reg) {
  bool vm = in->class == CLASS_VMEM && in->space != SPACE_FLAT, lds = in->class == CLASS_LDS;
  return (!sw->by_vm[reg] || vm) && (!sw->by_lgkm[reg] || lds);
}

static void check_write(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct dest *d) {
  for (uint32_t k = 0; k < d->words; k++) {
    uint32_t reg = d->reg + k;
    if (d->kind == OPERAND_VGPR && !may_overwrite(sw, in, reg)) unwaited(sw, w, in, false, reg, "overwrites");
    if (d->kind == OPERAND_SREG && sw->by_scalar[reg]) unwaited(sw, w, in, true, reg, "overwrites");
  }
}

static void check_pending(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  for (uint32_t i = 0; i < si->vreads; i++)
    for (uint32_t k = 0; k < si->vread[i].words; k++) {
      uint32_t reg = si->vread[i].reg + k;
      if (sw->by_vm[reg] | sw->by_lgkm[reg]) unwaited(sw, w, in, false, reg, "reads");
    }
  for (uint32_t i = 0; i < si->sreads; i++)
    for (uint32_t k = 0; k < si->sread[i].words; k++)
      if (sw->by_scalar[si->sread[i].reg + k]) unwaited(sw, w, in, true, si->sread[i].reg + k, "reads");
  check_write(sw, w, in, &in->dst);
  check_write(sw, w, in, &in->dst2);
}

/* --- memory and control -------------------------------------------------------------------------------------------------------- */

static void begin_access(struct strict *st) {
  st->time++;
  st->openeds = 0;
  st->event = 0;
  st->mark = NULL;
  st->looked = 0;
}

/* Before the instruction is executed. */
static void before(struct strict_wave *sw, struct wave *w, const struct inst *in, const struct strict_inst *si) {
  struct strict *st = sw->group->strict;
  if (in->class == CLASS_VMEM || in->class == CLASS_LDS || in->class == CLASS_SMEM) begin_access(st);
  switch (si->kind) {
  case KIND_WAIT:
    wait_for(sw, in);
    break;
  case KIND_BARRIER:
    strict_barrier(sw, w, in);
    break;
  case KIND_LDS_READ:
  case KIND_LDS_WRITE:
  case KIND_LDS_ATOMIC:
  case KIND_LOAD_LDS:
    strict_lds_step(sw, w, in, si);
    break;
  case KIND_INV:
    if (in->sc1) cache_invalidate(&st->lines, sw->group->cu, sw->group->xcd, true);
    break;
  case KIND_SCALAR_INV:
    cache_invalidate(&st->lines, sw->group->cu, sw->group->xcd, false);
    break;
  case KIND_WBL2:
    if (in->sc1 && !strict_store_fence(st, sw)) st->short_of_memory = true;
    break;
  default:
    break;
  }
}

/* ... and after it: what the counters count from now on. */
static void after(struct strict_wave *sw, struct wave *w, const struct inst *in, const struct strict_inst *si) {
  bool flat = in->class == CLASS_VMEM && in->space == SPACE_FLAT;
  switch (si->kind) {
  case KIND_LOAD:
    push(sw, &sw->vm, w, in, PENDING_LOAD, true);
    if (flat) push(sw, &sw->lgkm, w, in, PENDING_LDS, true);
    break;
  case KIND_LOAD_LDS:
    push(sw, &sw->vm, w, in, PENDING_LOAD_LDS, false);
    break;
  case KIND_STORE:
  case KIND_WBL2:
    push(sw, &sw->vm, w, in, PENDING_STORE, false);
    if (flat) push(sw, &sw->lgkm, w, in, PENDING_LDS, false);
    break;
  case KIND_INV:
    push(sw, &sw->vm, w, in, PENDING_LOAD, false);
    break;
  case KIND_ATOMIC:
    push(sw, &sw->vm, w, in, in->dst.words ? PENDING_LOAD : PENDING_STORE, in->dst.words != 0);
    break;
  case KIND_SCALAR_LOAD:
  case KIND_CLOCK:
    push(sw, &sw->lgkm, w, in, PENDING_SCALAR, true);
    break;
  case KIND_LDS_READ:
  case KIND_LDS_ATOMIC:
  case KIND_LDS_LANES:
  case KIND_LDS_WRITE:
    push(sw, &sw->lgkm, w, in, PENDING_LDS, in->dst.words != 0);
    break;
  case KIND_END:
    sw->barrier_complete = order_complete(sw, sw->group->strict->time + 1);
    stores_orphan(&sw->group->strict->lines, sw);
    break;
  default:
    break;
  }
}

enum wave_stop strict_run(struct wave *w, uint64_t budget) {
  struct strict_wave *sw = w->strict;
  struct strict *st = sw->group->strict;
  st->wave = w;
  w->stop = WAVE_RUNS;
  while (budget-- > 0 && w->stop == WAVE_RUNS) {
    const struct strict_inst *si = &st->inst[w->pc];
    const struct inst *in = st->in = &w->program->inst[w->pc];
    if (sw->vector_pending | sw->scalar_pending) check_pending(sw, w, in, si);
    strict_undef_step(sw, w, in, si);
    if (si->kind) before(sw, w, in, si);
    wave_step(w);
    if (si->kind && w->stop != WAVE_FAULT) after(sw, w, in, si);
  }
  return (enum wave_stop)w->stop;
}
