/* SPDX-License-Identifier: Apache-2.0 */
/* Control: waits, barriers, sleep, branches, hardware registers: the rows of isa_wait.def. Memory operations are complete when they are
   issued, so that s_waitcnt has nothing to do yet. */
#include "operand.h"

enum { HWREG_MODE = 1, HWREG_XCC_ID = 20 };

static void run_nothing(struct wave *w, const struct inst *in) { (void)w, (void)in; }

static void run_sleep(struct wave *w, const struct inst *in) {
  w->sleep_cycles = (uint64_t)in->imm * SLEEP_CYCLES;
  w->stop = WAVE_SLEEPS;
}

static void run_barrier(struct wave *w, const struct inst *in) {
  (void)in;
  w->stop = WAVE_BARRIER;
}

static void run_endpgm(struct wave *w, const struct inst *in) {
  (void)in;
  w->stop = WAVE_ENDED;
}

/* --- branches ------------------------------------------------------------------------------------------------------------- */

static void run_branch(struct wave *w, const struct inst *in) {
  if (in->target == NO_INST)
    wave_fault(w, in, "no instruction starts at the branch's target");
  else
    w->pc = in->target;
}

#define BRANCH(name, condition)                                                                                                            \
  static void run_##name(struct wave *w, const struct inst *in) {                                                                          \
    if (condition) run_branch(w, in);                                                                                                      \
  }
BRANCH(scc0, !w->scc)
BRANCH(scc1, w->scc)
BRANCH(vccz, wave_vcc(w) == 0)
BRANCH(vccnz, wave_vcc(w) != 0)
BRANCH(execz, wave_exec(w) == 0)
BRANCH(execnz, wave_exec(w) != 0)

/* s_getpc has a destination, s_setpc a source, s_swappc both. */
static void read_pc(struct reading *r) {
  if (r->row->name[2] != 's' || r->row->name[3] == 'w') take_scalar_dest(r, &r->in->dst, T_u64);
  if (r->row->name[2] == 's') take_scalar_source(r, T_u64);
}

static void run_getpc(struct wave *w, const struct inst *in) { put_scalar_bits(w, in->dst.reg, 2, in->address + in->bytes); }

static void run_setpc(struct wave *w, const struct inst *in) {
  uint64_t address = scalar_bits(w, in, 0);
  uint32_t target = program_at(w->program, address);
  if (target == NO_INST)
    wave_fault(w, in, "no instruction of this code object starts at 0x%llx", (unsigned long long)address);
  else
    w->pc = target;
}

static void run_swappc(struct wave *w, const struct inst *in) {
  run_setpc(w, in);
  if (w->stop == WAVE_RUNS) run_getpc(w, in);
}

static void read_call(struct reading *r) {
  take_scalar_dest(r, &r->in->dst, T_u64);
  read_branch(r);
}

static void run_call(struct wave *w, const struct inst *in) {
  run_branch(w, in);
  if (w->stop == WAVE_RUNS) run_getpc(w, in);
}

/* llvm.trap: on hardware the debugger's or the runtime's handler ends the queue. */
static void run_trap(struct wave *w, const struct inst *in) { wave_fault(w, in, "the program trapped (%u)", in->imm); }

/* --- hardware registers: imm is id | offset << 6 | (size - 1) << 11 ---------------------------------------------------------- */

static void take_hwreg(struct reading *r) {
  const struct text_operand *op = take_text(r);
  uint32_t id = (uint32_t)op->value & 63;
  if (op->kind != TEXT_HWREG)
    reading_error(r, "operand %u should be a hwreg", r->next);
  else if (id != HWREG_MODE && id != HWREG_XCC_ID)
    reading_error(r, "hardware register %u is not modelled", id);
  r->in->imm = (uint32_t)op->value;
}

static void read_getreg(struct reading *r) {
  take_scalar_dest(r, &r->in->dst, T_u32);
  take_hwreg(r);
}

static void read_setreg(struct reading *r) {
  take_hwreg(r);
  if ((r->in->imm & 63) != HWREG_MODE) reading_error(r, "hardware register %u cannot be written", r->in->imm & 63);
  take_scalar_source(r, T_u32);
}

static void run_getreg(struct wave *w, const struct inst *in) {
  uint32_t value = (in->imm & 63) == HWREG_MODE ? w->mode : w->group->xcc;
  put_scalar_bits(w, in->dst.reg, 1, value >> (in->imm >> 6 & 31) & (UINT32_MAX >> (31 - (in->imm >> 11 & 31))));
}

static void run_setreg(struct wave *w, const struct inst *in) {
  uint32_t offset = in->imm >> 6 & 31, mask = (UINT32_MAX >> (31 - (in->imm >> 11 & 31))) << offset;
  wave_set_mode(w, (w->mode & ~mask) | ((uint32_t)scalar_bits(w, in, 0) << offset & mask));
}

/* --- vector registers by index: M0 and a mode bit ------------------------------------------------------------------------------ */

static void read_index(struct reading *r) { take_scalar_source(r, T_u32); }

/* gpr_idx(SRC0,DST): which registers the index is added to. */
static void read_index_on(struct reading *r) {
  static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
  read_index(r);
  const struct text_operand *op = take_text(r);
  if (op->kind != TEXT_WORD || strncmp(op->word, "gpr_idx(", 8)) reading_error(r, "operand %u should be gpr_idx(...)", r->next);
  for (uint32_t i = 0; i < 4; i++)
    if (strstr(op->word, names[i])) r->in->imm |= 1u << i;
}

static void run_index_on(struct wave *w, const struct inst *in) {
  uint32_t index = (uint32_t)scalar_bits(w, in, 0) & 0xFF;
  w->sreg[SREG_M0] = (w->sreg[SREG_M0] & 0xFFFF0F00u) | in->imm << 12 | index;
  wave_set_mode(w, w->mode | MODE_GPR_INDEX);
}

static void run_index_off(struct wave *w, const struct inst *in) {
  (void)in;
  wave_set_mode(w, w->mode & ~(uint32_t)MODE_GPR_INDEX);
}

static void run_index(struct wave *w, const struct inst *in) {
  w->sreg[SREG_M0] = (w->sreg[SREG_M0] & 0xFFFFFF00u) | ((uint32_t)scalar_bits(w, in, 0) & 0xFF);
}

/* --- scalar registers by index: M0 is added to a register's number ---------------------------------------------------------------- */

static bool in_sgprs(struct wave *w, const struct inst *in, uint32_t reg, uint32_t words) {
  if (reg + words <= SREG_VCC) return true;
  wave_fault(w, in, "M0 = %u makes it scalar register %u", w->sreg[SREG_M0], reg);
  return false;
}

static void run_movrels(struct wave *w, const struct inst *in) {
  uint32_t from = in->src[0].reg + w->sreg[SREG_M0], words = in->dst.words;
  if (in_sgprs(w, in, from, words))
    put_scalar_bits(w, in->dst.reg, (int)words, w->sreg[from] | (words == 2 ? (uint64_t)w->sreg[from + 1] << 32 : 0));
}

static void run_movreld(struct wave *w, const struct inst *in) {
  uint32_t to = in->dst.reg + w->sreg[SREG_M0], words = in->dst.words;
  if (in_sgprs(w, in, to, words)) put_scalar_bits(w, to, (int)words, scalar_bits(w, in, 0));
}

#define MOVREL(name, type, run)    {#name, read_scalar, run, CLASS_CONTROL, EXACT, {T_##type, T_##type}, 0},
#define WAIT_ROW(name, shape, run) {#name, shape, run, CLASS_CONTROL, EXACT, {T_NONE}, 0},
static const struct isa_row rows[] = {
#include "isa_wait.def"
};

const struct isa_table isa_wait = {"wait", rows, sizeof rows / sizeof rows[0]};
