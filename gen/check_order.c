/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on the order in which accesses can run, blocks included, and on loops. */
#include "check_gates.h"

#include <stdlib.h>
#include <string.h>

/* Section 5 leaves these pairs free: qkv's cos and sin may follow the poll's first loads; the masked weights of free workgroups may
   precede xq's x, which is then no matter of every wave. */
static bool may_swap(const struct issue_row *a, const struct issue_row *b) {
  if (a->event == EV_QKV_ROPE && b->event == EV_QKVP_POLL) return b->instance == 0;
  return a->event == EV_XQ_X && b->event == EV_WQKV_WEIGHTS && !(a->all && b->all);
}

static void order_gate(struct check *c) {
  const struct check_code *code = &c->code;
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0, expected = 0;
  for (uint32_t i = 0; i < c->rows; i++) expected += c->row[i].count;
  for (uint32_t b = 0; b < code->insts; b++) {
    if (!code->inst[b].access || code->inst[b].row >= c->rows) continue;
    const struct issue_row *late = &c->row[code->inst[b].row];
    examined++;
    for (uint32_t a = 0; a < code->insts && !wrong[0]; a++) {
      if (!code->inst[a].access || code->inst[a].row >= c->rows) continue;
      const struct issue_row *early = &c->row[code->inst[a].row];
      if (early->group >= late->group || may_swap(early, late) || !check_reaches(code, b, a)) continue;
      check_note_fault(&code->inst[a], wrong, "%s %u can run after %s %u (+0x%x), which it must precede", issue_event_name(early->event),
          early->instance, issue_event_name(late->event), late->instance, code->inst[b].offset);
    }
  }
  check_gate(c, "issue order", "accesses", examined, expected, wrong);
}

/* Where the paths end that every wave's accesses are to be on: the kernel's end; with a guard, whose polls may give up and leave, the last
   of those accesses. */
static uint32_t last_everywhere(const struct check *c) {
  uint32_t last = UINT32_MAX;
  for (uint32_t i = 0; i < c->code.insts && c->plan.guard; i++) {
    const struct check_inst *inst = &c->code.inst[i];
    if (!inst->access || inst->row >= c->rows || !c->row[inst->row].all) continue;
    if (last == UINT32_MAX || c->row[inst->row].group >= c->row[c->code.inst[last].row].group) last = i;
  }
  return last == UINT32_MAX ? UINT32_MAX : c->code.inst[last].block;
}

static void everywhere_gate(struct check *c) {
  const struct check_code *code = &c->code;
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0, expected = 0, known = UINT32_MAX, end = last_everywhere(c);
  for (uint32_t i = 0; i < c->rows; i++)
    if (c->row[i].all) expected += c->row[i].count;
  for (uint32_t i = 0; i < code->insts; i++) {
    const struct check_inst *inst = &code->inst[i];
    if (!inst->access || inst->row >= c->rows || !c->row[inst->row].all) continue;
    examined++;
    if (inst->block == known) continue; /* the block is on every path */
    if (check_on_every_path(code, inst->block, end))
      known = inst->block;
    else
      check_note_fault(inst, wrong, "%s is to be on every path to the end", issue_event_name(c->row[inst->row].event));
  }
  check_gate(c, "accesses of every wave", "accesses", examined, expected, wrong);
}

/* True if the loop can go round from the block back to it without a block that sleeps. */
static bool spins(const struct check_code *code, uint32_t block, const bool *sleeps) {
  bool *seen = calloc(code->blocks, sizeof *seen), found = false;
  uint32_t *stack = calloc(code->blocks + 1u, sizeof *stack), depth = 0;
  if (seen && stack && !sleeps[block]) {
    stack[depth++] = block;
    while (depth > 0 && !found) {
      const struct check_block *b = &code->block[stack[--depth]];
      for (uint32_t i = 0; i < b->nexts; i++) {
        uint32_t next = b->next[i];
        if (next == block) found = true;
        if (seen[next] || sleeps[next] || code->block[next].loop != code->block[block].loop) continue;
        seen[next] = true;
        stack[depth++] = next;
      }
    }
  } else {
    found = !seen || !stack;
  }
  free(seen);
  free(stack);
  return found;
}

/* What an access's loop, or its lack of one, breaks; null if nothing. loop_of: the loop of each row so far, 0 for none. */
static const char *loop_fault(const struct check *c, const struct check_inst *inst, uint32_t *loop_of, const bool *sleeps) {
  uint32_t loop = c->code.block[inst->block].loop;
  const struct issue_row *row = inst->row < c->rows ? &c->row[inst->row] : NULL;
  bool poll = row && row->poll, loops = poll || (row && row->loop);
  if (!loops) return loop ? "stands in a loop, and is no poll" : NULL;
  if (!loop) return "is to stand in a loop: it would be made once";
  if (loop_of[inst->row] && loop_of[inst->row] != loop) return "accesses of one poll stand in two loops";
  loop_of[inst->row] = loop;
  for (uint32_t i = 0; i < c->rows; i++)
    if (loop_of[i] == loop && c->row[i].group != row->group) return "two polls share a loop";
  return poll && spins(&c->code, inst->block, sleeps) ? "the poll retries without s_sleep" : NULL;
}

/* A loop holds the accesses of one poll and sleeps before each retry; nothing else loops. */
static void loop_gate(struct check *c) {
  const struct check_code *code = &c->code;
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0, expected = 0, loop_of[ISSUE_ROWS_MAX] = {0};
  bool *sleeps = calloc(code->blocks, sizeof *sleeps);
  if (!sleeps) check_note_fault(NULL, wrong, "no memory for it");
  for (uint32_t i = 0; sleeps && i < code->insts; i++)
    if (strcmp(code->inst[i].text.name, "s_sleep") == 0) sleeps[code->inst[i].block] = true;
  for (uint32_t i = 0; i < c->rows; i++) expected += c->row[i].poll || c->row[i].loop ? c->row[i].count : 0;
  for (uint32_t i = 0; sleeps && i < code->insts; i++) {
    const struct check_inst *inst = &code->inst[i];
    if (!inst->access) continue;
    if (inst->row < c->rows) examined += c->row[inst->row].poll || c->row[inst->row].loop;
    const char *fault = loop_fault(c, inst, loop_of, sleeps);
    if (fault) check_note_fault(inst, wrong, "%s", fault);
  }
  check_gate(c, "polls sleep and retry", "accesses in loops", examined, expected, wrong);
  free(sleeps);
}

/* A waterfall loop picks a lane's value by v_readfirstlane, and compares each lane's with it. */
static bool in_waterfall(const struct check_code *code, uint32_t at) {
  uint32_t loop = code->block[code->inst[at].block].loop;
  const struct text_operand *picked = &code->inst[at].text.operand[0];
  if (!loop || strcmp(code->inst[at].text.name, "v_readfirstlane_b32") != 0) return false;
  for (uint32_t i = 0; i < code->insts; i++) {
    const struct inst_text *in = &code->inst[i].text;
    if (code->block[code->inst[i].block].loop != loop || strncmp(in->name, "v_cmp_eq_", 9) != 0) continue;
    for (uint32_t k = 0; k < in->operands; k++)
      if (in->operand[k].kind == TEXT_SREG && picked->reg >= in->operand[k].reg && picked->reg < in->operand[k].reg + in->operand[k].count)
        return true;
  }
  return false;
}

static void waterfall_gate(struct check *c) {
  const struct check_code *code = &c->code;
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t expected = 0, group = UINT32_MAX;
  for (uint32_t i = 0; i < c->rows; i++) { /* rows of one group share a loop */
    if (!c->row[i].poll && !c->row[i].loop) continue;
    expected += c->row[i].group != group;
    group = c->row[i].group;
  }
  for (uint32_t i = 0; i < code->insts; i++)
    if (in_waterfall(code, i)) check_note_fault(&code->inst[i], wrong, "a waterfall loop");
  check_gate(c, "no loop but the polls", "loops", code->loops, expected, wrong);
}

void check_order_gates(struct check *c) {
  order_gate(c);
  everywhere_gate(c);
  loop_gate(c);
  waterfall_gate(c);
}
