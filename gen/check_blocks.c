/* SPDX-License-Identifier: Apache-2.0 */
/* Basic blocks, which block can run after which, and loops. */
#include "check_gates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 8192 };

enum ending { FALLS_THROUGH, BRANCHES, MAY_BRANCH, ENDS };

static enum ending ending_of(const struct check_inst *inst) {
  const char *name = inst->text.name;
  if (strcmp(name, "s_branch") == 0) return BRANCHES;
  if (strncmp(name, "s_cbranch_", 10) == 0) return MAY_BRANCH;
  if (strncmp(name, "s_endpgm", 8) == 0 || strncmp(name, "s_setpc", 7) == 0) return ENDS;
  return FALLS_THROUGH;
}

static enum frontgen_status fail(const struct check_inst *at, const char *what, char error[FRONTGEN_ERROR_MAX]) {
  snprintf(error, FRONTGEN_ERROR_MAX, "at +0x%x: %s %s", at->offset, at->text.name, what);
  return FRONTGEN_GATE;
}

/* The instruction at a byte offset, or `insts`. */
static uint32_t inst_at(const struct check_code *code, int64_t offset) {
  uint32_t low = 0, high = code->insts;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (code->inst[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low < code->insts && code->inst[low].offset == offset ? low : code->insts;
}

/* Where a branch goes; `insts` if that is no instruction of the kernel. */
static uint32_t target_of(const struct check_code *code, const struct check_inst *inst) {
  const struct text_operand *op = &inst->text.operand[0];
  if (inst->text.operands != 1 || (op->kind != TEXT_INT && op->kind != TEXT_LITERAL)) return code->insts;
  return inst_at(code, (int64_t)inst->offset + 4 + 4 * (int64_t)(int16_t)(uint16_t)op->value);
}

static enum frontgen_status mark_leaders(const struct check_code *code, bool *leader, char error[FRONTGEN_ERROR_MAX]) {
  leader[0] = true;
  for (uint32_t i = 0; i < code->insts; i++) {
    enum ending ending = ending_of(&code->inst[i]);
    if (ending == FALLS_THROUGH) continue;
    leader[i + 1] = true;
    if (ending == ENDS) continue;
    uint32_t target = target_of(code, &code->inst[i]);
    if (target == code->insts) return fail(&code->inst[i], "goes to no instruction of the kernel", error);
    leader[target] = true;
  }
  enum ending last = ending_of(&code->inst[code->insts - 1]);
  if (last == FALLS_THROUGH || last == MAY_BRANCH)
    return fail(&code->inst[code->insts - 1], "is the last instruction: the code runs on", error);
  return FRONTGEN_GOOD;
}

static void link_block(struct check_code *code, struct check_block *b, uint32_t index) {
  const struct check_inst *last = &code->inst[b->end - 1];
  enum ending ending = ending_of(last);
  if (ending == FALLS_THROUGH || ending == MAY_BRANCH) b->next[b->nexts++] = index + 1;
  if (ending == BRANCHES || ending == MAY_BRANCH) b->next[b->nexts++] = code->inst[target_of(code, last)].block;
}

/* Marks what can run after the block, into its row of the matrix. */
static void mark_reachable(struct check_code *code, uint32_t from, uint32_t *stack) {
  uint64_t *row = &code->reach[(size_t)from * code->reach_words];
  uint32_t depth = 0;
  stack[depth++] = from;
  while (depth > 0) {
    const struct check_block *b = &code->block[stack[--depth]];
    for (uint32_t i = 0; i < b->nexts; i++) {
      uint32_t next = b->next[i];
      if (row[next / 64] >> (next % 64) & 1) continue;
      row[next / 64] |= UINT64_C(1) << (next % 64);
      stack[depth++] = next;
    }
  }
}

static void number_loops(struct check_code *code) {
  for (uint32_t i = 0; i < code->blocks; i++) {
    if (code->block[i].loop || !check_block_reaches(code, i, i)) continue;
    code->loops++;
    for (uint32_t j = i; j < code->blocks; j++)
      if (check_block_reaches(code, i, j) && check_block_reaches(code, j, i)) code->block[j].loop = code->loops;
  }
}

enum frontgen_status check_find_blocks(struct check_code *code, char error[FRONTGEN_ERROR_MAX]) {
  bool *leader = calloc(code->insts + 1u, sizeof *leader);
  uint32_t *stack = NULL;
  enum frontgen_status status = FRONTGEN_ENVIRONMENT;
  snprintf(error, FRONTGEN_ERROR_MAX, "no memory to check the code object");
  if (leader) status = mark_leaders(code, leader, error);
  for (uint32_t i = 0; !status && i < code->insts; i++) code->blocks += leader[i];
  if (!status && code->blocks > BLOCKS_MAX) {
    snprintf(error, FRONTGEN_ERROR_MAX, "%u basic blocks: a kernel of ours has under %d", code->blocks, BLOCKS_MAX);
    status = FRONTGEN_GATE;
  }
  if (!status) {
    code->reach_words = (code->blocks + 63) / 64;
    code->block = calloc(code->blocks, sizeof *code->block);
    code->reach = calloc((size_t)code->blocks * code->reach_words, sizeof *code->reach);
    stack = calloc(code->blocks + 1u, sizeof *stack);
    if (!code->block || !code->reach || !stack) status = FRONTGEN_ENVIRONMENT;
  }
  if (!status) {
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; i < code->insts; i++) {
      if (leader[i]) code->block[++at].first = i;
      code->block[at].end = i + 1;
      code->inst[i].block = at;
    }
    for (uint32_t i = 0; i < code->blocks; i++) link_block(code, &code->block[i], i);
    for (uint32_t i = 0; i < code->blocks; i++) mark_reachable(code, i, stack);
    number_loops(code);
  }
  free(leader);
  free(stack);
  return status;
}

bool check_reaches(const struct check_code *code, uint32_t a, uint32_t b) {
  uint32_t from = code->inst[a].block, to = code->inst[b].block;
  return (from == to && a < b) || check_block_reaches(code, from, to);
}

bool check_on_every_path(const struct check_code *code, uint32_t block, uint32_t end) {
  /* Walk from the entry around the block: an end that is found shows a path without it. */
  bool *seen = calloc(code->blocks, sizeof *seen), through = true;
  uint32_t *stack = calloc(code->blocks + 1u, sizeof *stack), depth = 0;
  if (seen && stack && block != 0 && block != end) {
    stack[depth++] = 0;
    seen[0] = true;
  }
  while (depth > 0 && through) {
    uint32_t at = stack[--depth];
    const struct check_block *b = &code->block[at];
    if (end == UINT32_MAX ? b->nexts == 0 : at == end) through = false;
    for (uint32_t i = 0; i < b->nexts; i++) {
      if (b->next[i] == block || seen[b->next[i]]) continue;
      seen[b->next[i]] = true;
      stack[depth++] = b->next[i];
    }
  }
  through = through && seen && stack;
  free(seen);
  free(stack);
  return through;
}
