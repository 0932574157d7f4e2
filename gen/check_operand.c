/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on operands: MFMA's, buffer resources', and instructions that no kernel of ours has. */
#include "check_gates.h"
#include "gemv.h"

#include <stdlib.h>
#include <string.h>

enum { SCALARS = 128 };

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool starts_any(const char *text, const char *const *list) {
  for (; *list; list++)
    if (starts(text, *list)) return true;
  return false;
}

static bool is_mfma(const char *name) { return starts(name, "v_mfma_") || starts(name, "v_smfmac_"); }

static uint32_t planned_mfmas(const struct plan *p) {
  uint32_t wqkv = gemv_wave_steps(WQKV_STEPS), wqb = p->rounds * p->round_tasks * gemv_wave_steps(WQB_STEPS);
  return p->tiles * (wqkv + wqb) * p->target->gemv->mfmas_a_step;
}

/* One opcode in the whole kernel: then no accumulator can have two. */
static void opcode_gate(struct check *c) {
  char wrong[CHECK_MESSAGE_MAX] = "";
  const char *first = NULL;
  uint32_t examined = 0;
  for (uint32_t i = 0; i < c->code.insts; i++) {
    const struct check_inst *inst = &c->code.inst[i];
    if (!is_mfma(inst->text.name)) continue;
    examined++;
    if (!first) first = inst->text.name;
    if (strcmp(first, inst->text.name) != 0)
      check_note_fault(inst, wrong, "another MFMA opcode is %s: wait states between them are missing", first);
  }
  check_gate(c, "one MFMA opcode", "MFMAs", examined, planned_mfmas(&c->plan), wrong);
}

static void scale_gate(struct check *c) {
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0;
  for (uint32_t i = 0; i < c->code.insts; i++) {
    const struct check_inst *inst = &c->code.inst[i];
    const struct inst_text *t = &inst->text;
    if (!starts(t->name, "v_mfma_scale_")) {
      if (starts(t->name, "v_mfma_") && strstr(t->name, "f8f6f4"))
        check_note_fault(inst, wrong, "without scales: a code was a literal zero");
      continue;
    }
    examined++;
    if (t->operands != 6 || t->operand[4].kind != TEXT_VGPR || t->operand[5].kind != TEXT_VGPR)
      check_note_fault(inst, wrong, "a scale is no VGPR: the hardware reads other bits");
  }
  if (examined || strcmp(c->plan.target->name, "gfx950") == 0)
    check_gate(c, "scale operands are VGPRs", "scaled MFMAs", examined, planned_mfmas(&c->plan), wrong);
}

static void forbidden_gates(struct check *c) {
  static const char *const calls[] = {
      "s_swappc", "s_setpc", "s_call", "s_rfe", "s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join", NULL};
  static const char *const modes[] = {"s_setreg", "s_round_mode", "s_denorm_mode", "s_set_gpr_idx", "s_setvskip", NULL};
  char call[CHECK_MESSAGE_MAX] = "", agpr[CHECK_MESSAGE_MAX] = "", mode[CHECK_MESSAGE_MAX] = "";
  for (uint32_t i = 0; i < c->code.insts; i++) {
    const struct check_inst *inst = &c->code.inst[i];
    if (starts_any(inst->text.name, calls)) check_note_fault(inst, call, "a call, or a jump through a register");
    if (starts_any(inst->text.name, modes)) check_note_fault(inst, mode, "changes how later instructions work");
    bool bad = starts(inst->text.name, "v_accvgpr");
    for (uint32_t k = 0; k < inst->text.operands; k++) bad |= inst->text.operand[k].kind == TEXT_AGPR;
    if (bad) check_note_fault(inst, agpr, "an AGPR: registers spill into them");
  }
  check_gate(c, "no calls", "instructions", c->code.insts, CHECK_SOME, call);
  check_gate(c, "no v_accvgpr", "instructions", c->code.insts, CHECK_SOME, agpr);
  check_gate(c, "modes stay as set", "instructions", c->code.insts, CHECK_SOME, mode);
}

/* Which scalar registers may hold bits that came from v_readfirstlane or v_readlane. A condition that did (SCC) is no such bit: a select
   by it picks between values that are scalar already. */
struct taint {
  bool of[SCALARS];
};

static bool tainted(const struct taint *t, const struct text_operand *op) {
  for (uint32_t i = op->reg; op->kind == TEXT_SREG && i < (uint32_t)op->reg + op->count && i < SCALARS; i++)
    if (t->of[i]) return true;
  return false;
}

static void set(struct taint *t, const struct text_operand *op, bool value) {
  for (uint32_t i = op->reg; op->kind == TEXT_SREG && i < (uint32_t)op->reg + op->count && i < SCALARS; i++) t->of[i] = value;
}

static void step_scalar(const struct inst_text *in, struct taint *t) {
  static const char *const no_result[] = {"s_cmp", "s_bitcmp", "s_cbranch", NULL};
  static const char *const keeps[] = {"s_cmov", "s_addk", "s_mulk", "s_bitset", NULL}; /* the old value counts */
  bool from = false;
  if (in->operands == 0 || starts_any(in->name, no_result)) return;
  for (uint32_t i = starts_any(in->name, keeps) ? 0 : 1; i < in->operands; i++) from |= tainted(t, &in->operand[i]);
  set(t, &in->operand[0], from);
}

static void step_taint(const struct inst_text *in, struct taint *t) {
  static const char *const lanes[] = {"v_readfirstlane", "v_readlane", NULL};
  if (starts(in->name, "s_")) {
    step_scalar(in, t);
    return;
  }
  if (in->operands == 0 || in->operand[0].kind != TEXT_SREG) return;
  bool from = starts_any(in->name, lanes);
  for (uint32_t i = 1; i < in->operands; i++) from |= tainted(t, &in->operand[i]);
  set(t, &in->operand[0], from);
}

static bool join(struct taint *into, const struct taint *from) {
  bool changed = false;
  for (uint32_t i = 0; i < SCALARS; i++) {
    changed |= from->of[i] && !into->of[i];
    into->of[i] |= from->of[i];
  }
  return changed;
}

static void flow(const struct check_code *code, struct taint *at_start) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < code->blocks; i++) {
      const struct check_block *b = &code->block[i];
      struct taint t = at_start[i];
      for (uint32_t k = b->first; k < b->end; k++) step_taint(&code->inst[k].text, &t);
      for (uint32_t k = 0; k < b->nexts; k++) changed |= join(&at_start[b->next[k]], &t);
    }
  }
}

/* A buffer access's resource: its operand of four scalar registers. */
static const struct text_operand *resource_of(const struct inst_text *in) {
  for (uint32_t i = 0; i < in->operands; i++)
    if (in->operand[i].kind == TEXT_SREG && in->operand[i].count == 4) return &in->operand[i];
  return NULL;
}

static void resource_gate(struct check *c) {
  const struct check_code *code = &c->code;
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0, expected = 0;
  struct taint *at_start = calloc(code->blocks, sizeof *at_start);
  if (at_start) flow(code, at_start);
  for (uint32_t i = 0; i < c->rows; i++) expected += c->row[i].global ? 0 : c->row[i].count;
  for (uint32_t i = 0; at_start && i < code->blocks; i++) {
    struct taint t = at_start[i];
    for (uint32_t k = code->block[i].first; k < code->block[i].end; k++) {
      const struct check_inst *inst = &code->inst[k];
      const struct text_operand *resource = inst->access ? resource_of(&inst->text) : NULL;
      if (resource) {
        examined++;
        if (tainted(&t, resource)) check_note_fault(inst, wrong, "its resource comes from v_readfirstlane");
      }
      step_taint(&inst->text, &t);
    }
  }
  check_gate(c, "resources not from lanes", "buffer accesses", examined, expected, wrong);
  free(at_start);
}

void check_operand_gates(struct check *c) {
  opcode_gate(c);
  scale_gate(c);
  forbidden_gates(c);
  resource_gate(c);
}
