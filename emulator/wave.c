/* SPDX-License-Identifier: Apache-2.0 */
/* The loop that executes a wave, and the state changes that have more than one effect. */
#include "wave.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>

#include "memory.h"
#include "operand.h"

void wave_set_exec(struct wave *w, uint64_t exec) {
  wave_put_sreg64(w, SREG_EXEC, exec);
  w->exec_full = exec == UINT64_MAX;
  bits_to_lanes(&w->exec_mask, exec);
}

void wave_set_mode(struct wave *w, uint32_t mode) {
  w->mode = mode;
  w->flush32 = (mode & MODE_DENORM_32) != MODE_DENORM_32;
  w->flush64 = (mode & MODE_DENORM_16_64) != MODE_DENORM_16_64;
  w->modal = w->flush32 || w->flush64 || (mode & (MODE_ROUND_32 | MODE_ROUND_16_64 | MODE_GPR_INDEX));
}

void wave_init(struct wave *w, const struct program *program, struct workgroup *group, uint32_t index, uint32_t pc, uint32_t mode) {
  memset(w, 0, offsetof(struct wave, v));
  w->program = program;
  w->group = group;
  w->index = index;
  w->pc = pc;
  wave_set_exec(w, UINT64_MAX);
  wave_set_mode(w, mode);
}

void wave_atomic_done(struct wave *w, const struct atomic *a) {
  if (!a->returns) return;
  for (uint32_t k = 0; k < a->bytes / 4; k++) FOR_LANES if (a->lanes >> l & 1) w->v[a->dst + k].w[l] = (uint32_t)(a->old[l] >> (32 * k));
}

void wave_fault(struct wave *w, const struct inst *in, const char *what, ...) {
  va_list args;
  int n = snprintf(w->fault, sizeof w->fault, "%s at 0x%llx: ", in->text, (unsigned long long)in->address);
  if (n > 0 && (size_t)n < sizeof w->fault) {
    va_start(args, what);
    vsnprintf(w->fault + n, sizeof w->fault - (size_t)n, what, args);
    va_end(args);
  }
  w->stop = WAVE_FAULT;
  w->pc = (uint32_t)(in - w->program->inst);
}

/* The host's rounding mode for one instruction. The rows' f16 results are rounded to nearest by software: another mode is refused. */
static void run_rounded(struct wave *w, const struct inst *in) {
  static const int host_modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  uint32_t mode32 = w->mode & MODE_ROUND_32, mode64 = (w->mode & MODE_ROUND_16_64) >> 2;
  bool wide = in->dst.type == T_f64 || (in->sources && in->src[0].type == T_f64);
  bool half = in->dst.type == T_f16 || in->dst.type == T_pkh;
  bool narrow = in->dst.type == T_f32 || in->dst.type == T_pkf;
  uint32_t mode = narrow ? mode32 : wide ? mode64 : 0;
  if (half && mode64) {
    wave_fault(w, in, "f16 with a rounding mode other than to nearest is not modelled");
    return;
  }
  if (in->row->fidelity == APPROXIMATE) mode = 0;
  if (mode) fesetround(host_modes[mode]);
  in->run(w, in);
  if (mode) fesetround(FE_TONEAREST);
}

/* M0: the distance, and from bit 12 on a bit for each of the sources and one for the result. */
static void run_indexed(struct wave *w, const struct inst *in) {
  struct inst moved = *in;
  uint32_t distance = w->sreg[SREG_M0] & 0xFF, which = w->sreg[SREG_M0] >> 12 & 15;
  bool outside = false;
  for (uint32_t i = 0; i < in->sources && i < 3; i++)
    if (which >> i & 1 && in->src[i].kind == OPERAND_VGPR) outside |= (moved.src[i].reg = (uint16_t)(in->src[i].reg + distance)) >= VGPRS;
  if (which >> 3 && in->dst.kind == OPERAND_VGPR) outside |= (moved.dst.reg = (uint16_t)(in->dst.reg + distance)) >= VGPRS;
  if (outside)
    wave_fault(w, in, "index %u leads outside the vector registers", distance);
  else
    run_rounded(w, &moved);
}

void wave_step(struct wave *w) {
  const struct inst *in = &w->program->inst[w->pc++];
  if (w->modal && in->class == CLASS_VALU)
    w->mode &MODE_GPR_INDEX ? run_indexed(w, in) : run_rounded(w, in);
  else
    in->run(w, in);
  w->executed[in->class]++;
  w->cycles += CYCLES_AN_INSTRUCTION;
}

enum wave_stop wave_run(struct wave *w, uint64_t budget) {
  const struct inst *code = w->program->inst;
  w->stop = WAVE_RUNS;
  while (budget-- > 0 && w->stop == WAVE_RUNS) {
    const struct inst *in = &code[w->pc++];
    if (__builtin_expect(w->modal, 0) && in->class == CLASS_VALU)
      w->mode &MODE_GPR_INDEX ? run_indexed(w, in) : run_rounded(w, in);
    else
      in->run(w, in);
    w->executed[in->class]++;
    w->cycles += CYCLES_AN_INSTRUCTION;
  }
  return (enum wave_stop)w->stop;
}
