/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of vector memory. Sources: 0 the address, 1 the base (a resource, or a scalar pair), 2 the scalar offset, 3 the data. */
#include "shape_mem.h"

static struct source take_sgprs(struct reading *r, uint32_t words) {
  const struct text_operand *op = take_text(r);
  if (op->kind != TEXT_SREG || op->count != words) reading_error(r, "operand %u should be %u scalar registers", r->next, words);
  return (struct source){.kind = OPERAND_SREG, .words = (uint8_t)words, .reg = op->reg, .select = SELECT_ALL};
}

static uint32_t row_words(const struct reading *r) {
  uint32_t bytes = r->row->extra & MEM_BYTES;
  return bytes < 4 ? 1 : bytes / 4;
}

/* Address VGPR (index, offset, or both) or `off`, resource, scalar offset, modifiers. */
static void take_buffer_address(struct reading *r) {
  struct inst *in = r->in;
  in->space = SPACE_BUFFER;
  in->offen = take_mod(r, TEXT_MOD_OFFEN);
  in->idxen = take_mod(r, TEXT_MOD_IDXEN);
  in->offset = take_mod(r, TEXT_MOD_OFFSET);
  if (in->offen || in->idxen)
    in->src[0] = take_vgprs(r, in->offen && in->idxen ? 2 : 1);
  else if (take_text(r)->kind != TEXT_OFF)
    reading_error(r, "an address that is neither offen nor idxen should be off");
  in->src[1] = take_sgprs(r, 4);
  in->sources = 2;
  take_scalar_source(r, T_u32);
  take_cache_mods(r);
}

/* A pair of VGPRs and `off`, or a VGPR and a pair of scalars. */
static void take_global_address(struct reading *r) {
  struct inst *in = r->in;
  const struct text_operand *address = take_text(r);
  if (!text_is_vector(address)) reading_error(r, "operand %u should be VGPRs", r->next);
  in->src[0] = vgprs_of(address);
  in->offset = take_mod(r, TEXT_MOD_OFFSET);
  take_cache_mods(r);
}

static void take_global_base(struct reading *r) {
  struct inst *in = r->in;
  in->space = r->row->name[0] == 'f' ? SPACE_FLAT : SPACE_GLOBAL;
  bool has_base = false;
  if (in->space == SPACE_GLOBAL) {
    const struct text_operand *op = take_text(r);
    has_base = op->kind == TEXT_SREG;
    if (has_base && op->count == 2)
      in->src[1] = (struct source){.kind = OPERAND_SREG, .words = 2, .reg = op->reg, .select = SELECT_ALL};
    else if (op->kind != TEXT_OFF)
      reading_error(r, "operand %u should be a scalar pair or off", r->next);
  }
  if (in->src[0].words != (has_base ? 1 : 2)) reading_error(r, "the address has %u registers", in->src[0].words);
}

void read_buffer_load(struct reading *r) {
  r->in->lds = take_mod(r, TEXT_MOD_LDS);
  if (!r->in->lds) take_vgpr_result(r, row_words(r));
  take_buffer_address(r);
}

void read_buffer_store(struct reading *r) {
  r->in->src[3] = take_vgprs(r, row_words(r));
  take_buffer_address(r);
}

/* Data, then (compare) in one group; the old value goes to its first half. */
static void take_atomic_data(struct reading *r) { r->in->src[3] = take_vgprs(r, row_words(r) * (r->row->extra & MEM_COMPARES ? 2 : 1)); }

void read_buffer_atomic(struct reading *r) {
  take_atomic_data(r);
  take_buffer_address(r);
  if (r->in->sc0) r->in->dst = (struct dest){.kind = OPERAND_VGPR, .words = (uint8_t)row_words(r), .reg = r->in->src[3].reg};
}

void read_global_load(struct reading *r) {
  take_vgpr_result(r, row_words(r));
  take_global_address(r);
  take_global_base(r);
}

void read_global_load_lds(struct reading *r) {
  r->in->lds = true;
  take_global_address(r);
  take_global_base(r);
}

void read_global_store(struct reading *r) {
  take_global_address(r);
  r->in->src[3] = take_vgprs(r, row_words(r));
  take_global_base(r);
}

/* [result,] address, data, base */
void read_global_atomic(struct reading *r) {
  if (inst_text_has(r->text, TEXT_MOD_SC0)) take_vgpr_result(r, row_words(r));
  take_global_address(r);
  take_atomic_data(r);
  take_global_base(r);
}

/* A VGPR and a scalar, either may be `off`; the offset is the lane's own. */
static void take_scratch_base(struct reading *r, struct source *s, bool vector) {
  const struct text_operand *op = take_text(r);
  if (op->kind == TEXT_OFF) return;
  if (vector ? !text_is_vector(op) : op->kind != TEXT_SREG) reading_error(r, "operand %u is no address of scratch memory", r->next);
  if (op->count != 1) reading_error(r, "the address has %u registers", op->count);
  *s = vector ? vgprs_of(op) : (struct source){.kind = OPERAND_SREG, .words = 1, .reg = op->reg, .select = SELECT_ALL};
}

static void take_scratch_rest(struct reading *r) {
  r->in->space = SPACE_SCRATCH;
  r->in->offset = take_mod(r, TEXT_MOD_OFFSET);
  take_cache_mods(r);
}

void read_scratch_load(struct reading *r) {
  take_vgpr_result(r, row_words(r));
  take_scratch_base(r, &r->in->src[0], true);
  take_scratch_base(r, &r->in->src[1], false);
  take_scratch_rest(r);
}

void read_scratch_store(struct reading *r) {
  take_scratch_base(r, &r->in->src[0], true);
  r->in->src[3] = take_vgprs(r, row_words(r));
  take_scratch_base(r, &r->in->src[1], false);
  take_scratch_rest(r);
}

void read_cache(struct reading *r) { take_cache_mods(r); }
