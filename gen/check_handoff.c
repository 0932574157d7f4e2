/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on hand-offs: data stores are waited for, then a barrier, then the flag; LDS stores are waited for before each barrier.
   Followed over every path of the code. */
#include "check_gates.h"

#include <stdlib.h>
#include <string.h>

/* What may hold at a place of the code, on some path to it. */
enum {
  PENDING = 1, /* a data store that no vmcnt(0) has waited for */
  WAITED = 2,  /* waited for, but no barrier since */
  LDS = 4      /* an LDS store that no lgkmcnt(0) has waited for */
};

static bool is_data(const struct check *c, const struct check_inst *inst) {
  if (!inst->access || inst->row >= c->rows) return false;
  enum issue_event event = c->row[inst->row].event;
  return event == EV_XQ_STORE || event == EV_QX8_STORE;
}

static bool is_flag(const struct check *c, const struct check_inst *inst) {
  if (!inst->access || inst->row >= c->rows) return false;
  enum issue_event event = c->row[inst->row].event;
  return event == EV_XRDY_PUT || event == EV_QRDY_PUT;
}

static const char *put_name(const struct check *c, const struct check_inst *inst) { return issue_event_name(c->row[inst->row].event); }

static unsigned step(const struct check *c, const struct check_inst *inst, unsigned state) {
  if (is_data(c, inst)) return state | PENDING;
  if (strncmp(inst->text.name, "ds_write", 8) == 0) return state | LDS;
  if (strcmp(inst->text.name, "s_barrier") == 0) return state & ~(unsigned)WAITED;
  if (strcmp(inst->text.name, "s_waitcnt") != 0) return state;
  if (inst->text.wait_lgkm == 0) state &= ~(unsigned)LDS;
  if (inst->text.wait_vm == 0 && (state & PENDING)) state = (state & ~(unsigned)PENDING) | WAITED;
  return state;
}

/* The state at each block's start, to a fixed point. */
static void flow(const struct check *c, unsigned *at_start) {
  const struct check_code *code = &c->code;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < code->blocks; i++) {
      const struct check_block *b = &code->block[i];
      unsigned state = at_start[i];
      for (uint32_t k = b->first; k < b->end; k++) state = step(c, &code->inst[k], state);
      for (uint32_t k = 0; k < b->nexts; k++) {
        unsigned *next = &at_start[b->next[k]];
        changed = changed || (*next | state) != *next;
        *next |= state;
      }
    }
  }
}

static void settle_gate(struct check *c) {
  const struct check_code *code = &c->code;
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0, expected = 0;
  unsigned *at_start = calloc(code->blocks, sizeof *at_start);
  if (at_start) flow(c, at_start);
  for (uint32_t i = 0; i < c->rows; i++) {
    enum issue_event event = c->row[i].event;
    if (event == EV_XQ_STORE || event == EV_QX8_STORE || event == EV_XRDY_PUT || event == EV_QRDY_PUT) expected += c->row[i].count;
  }
  for (uint32_t i = 0; at_start && i < code->blocks; i++) {
    unsigned state = at_start[i];
    for (uint32_t k = code->block[i].first; k < code->block[i].end; k++) {
      const struct check_inst *inst = &code->inst[k];
      examined += is_data(c, inst) || is_flag(c, inst);
      if (is_flag(c, inst) && (state & PENDING))
        check_note_fault(inst, wrong, "%s while a data store may be in flight: s_waitcnt vmcnt(0) is missing on a path", put_name(c, inst));
      else if (is_flag(c, inst) && (state & WAITED))
        check_note_fault(inst, wrong, "%s with no s_barrier since the wait for the data: other waves may not be done", put_name(c, inst));
      state = step(c, inst, state);
    }
  }
  check_gate(c, "data waited for before a flag", "data stores and flags", examined, expected, wrong);
  free(at_start);
}

static uint32_t barriers_of(const struct plan *p) {
  uint32_t tiles = p->tiles, wqkv = p->quantise_in_workgroup ? 2 : 1 + 2 * tiles, qkv = 3, wqb = 1 + p->rounds * tiles * 2;
  return (p->xq ? 1 : 0) + wqkv + qkv + wqb;
}

/* No barrier waits for LDS by itself: a wave's store may still be on its way when another's load, behind the barrier, is done. */
static void barrier_gate(struct check *c) {
  const struct check_code *code = &c->code;
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0;
  unsigned *at_start = calloc(code->blocks, sizeof *at_start);
  if (at_start) flow(c, at_start);
  for (uint32_t i = 0; at_start && i < code->blocks; i++) {
    unsigned state = at_start[i];
    for (uint32_t k = code->block[i].first; k < code->block[i].end; k++) {
      const struct check_inst *inst = &code->inst[k];
      bool barrier = strcmp(inst->text.name, "s_barrier") == 0;
      examined += barrier;
      if (barrier && (state & LDS)) check_note_fault(inst, wrong, "LDS stores in flight at a barrier: lgkmcnt(0) is missing on a path");
      state = step(c, inst, state);
    }
  }
  check_gate(c, "LDS waited for before a barrier", "barriers", examined, barriers_of(&c->plan), wrong);
  free(at_start);
}

/* Stricter than "no LDS-DMA in flight at a barrier": no load goes to LDS at all. */
static void lds_dma_gate(struct check *c) {
  const struct check_code *code = &c->code;
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0, expected = 0;
  for (uint32_t i = 0; i < c->rows; i++) expected += c->row[i].count;
  for (uint32_t i = 0; i < code->insts; i++) {
    const struct check_inst *inst = &code->inst[i];
    if (!inst->access) continue;
    examined++;
    if (inst_text_has(&inst->text, TEXT_MOD_LDS) || strstr(inst->text.name, "_lds"))
      check_note_fault(inst, wrong, "a load to LDS can be in flight at a barrier");
  }
  check_gate(c, "no LDS-DMA at a barrier", "accesses", examined, expected, wrong);
}

void check_handoff_gates(struct check *c) {
  settle_gate(c);
  barrier_gate(c);
  lds_dma_gate(c);
}
