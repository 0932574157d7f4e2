/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar loads and clocks: the rows of isa_smem.def. */
#include "access.h"

static void take_scalar_group(struct reading *r, struct source *s, uint32_t words) {
  const struct text_operand *op = take_text(r);
  if (op->kind != TEXT_SREG || op->count != words) reading_error(r, "operand %u should be %u scalar registers", r->next, words);
  *s = (struct source){.kind = OPERAND_SREG, .words = (uint8_t)words, .reg = op->reg, .select = SELECT_ALL};
}

/* sdst, sbase (a pair, or a resource), an immediate or a scalar offset, offset:N. */
static void read_smem(struct reading *r) {
  const struct text_operand *dst = take_text(r);
  struct inst *in = r->in;
  uint32_t words = r->row->extra & 31;
  if (dst->kind != TEXT_SREG || dst->count != words) reading_error(r, "the result should be %u scalar registers", words);
  in->words = (uint8_t)words;
  in->dst = (struct dest){.kind = OPERAND_SREG, .words = (uint8_t)words, .reg = dst->reg, .select = SELECT_ALL};
  take_scalar_group(r, &in->src[0], r->row->extra >> 5 ? 4 : 2);
  in->sources = 1;
  take_scalar_source(r, T_u32);
  if (in->src[1].kind == OPERAND_CONST) in->src[1].value[1] = (uint32_t)((int32_t)in->src[1].value[0] >> 31);
  in->offset = take_mod(r, TEXT_MOD_OFFSET);
}

static void put_words(struct wave *w, const struct inst *in, const void *from) {
  memcpy(&w->sreg[in->dst.reg], from, 4u * in->words);
  if (in->dst.reg + in->words > SREG_EXEC) wave_set_exec(w, wave_exec(w));
}

static void run_load(struct wave *w, const struct inst *in) {
  uint8_t room[MEMORY_ACCESS_MAX];
  uint64_t offset = scalar_bits(w, in, 1) + (uint64_t)(int64_t)in->offset;
  uint64_t address = (wave_sreg64(w, in->src[0].reg) + offset) & ~UINT64_C(3);
  const void *from = view_read(w->group->view, address, 4u * in->words, room);
  if (from)
    put_words(w, in, from);
  else
    memory_fault(w, in);
}

/* Words outside the buffer are 0. */
static void run_buffer_load(struct wave *w, const struct inst *in) {
  uint8_t room[MEMORY_ACCESS_MAX];
  uint32_t words[16] = {0};
  uint64_t offset = (scalar_bits(w, in, 1) + (uint64_t)(int64_t)in->offset) & ~UINT64_C(3);
  struct buffer b;
  if (!buffer_of(w, in, in->src[0].reg, &b)) return;
  uint64_t inside = offset >= b.size ? 0 : (b.size - offset) / 4;
  if (inside > in->words) inside = in->words;
  if (inside < in->words && b.size) note_out_of_range(w, in, 0, b.base + offset, offset, b.size);
  if (inside) {
    const void *from = view_read(w->group->view, b.base + offset, 4 * (uint32_t)inside, room);
    if (!from) {
      memory_fault(w, in);
      return;
    }
    memcpy(words, from, 4 * (size_t)inside);
  }
  put_words(w, in, words);
}

static void read_clock(struct reading *r) { take_scalar_dest(r, &r->in->dst, T_u64); }

static void put_clock(struct wave *w, const struct inst *in, uint64_t value) {
  put_scalar_bits(w, in->dst.reg, 2, value);
  w->clock_reads++;
}

static void run_memtime(struct wave *w, const struct inst *in) { put_clock(w, in, w->cycles); }
static void run_memrealtime(struct wave *w, const struct inst *in) { put_clock(w, in, w->cycles / CYCLES_A_TICK); }
static void run_nothing(struct wave *w, const struct inst *in) { (void)w, (void)in; }

#define SMEM_LOAD(name, words)     {#name, read_smem, run_load, CLASS_SMEM, EXACT, {T_NONE}, words},
#define SMEM_BUFFER(name, words)   {#name, read_smem, run_buffer_load, CLASS_SMEM, EXACT, {T_NONE}, words | 32},
#define SMEM_ROW(name, shape, run) {#name, shape, run, CLASS_SMEM, EXACT, {T_NONE}, 0},
static const struct isa_row rows[] = {
#include "isa_smem.def"
};

const struct isa_table isa_smem = {"smem", rows, sizeof rows / sizeof rows[0]};
