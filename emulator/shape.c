/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of arithmetic: which text operand is which source or destination, and what the modifiers mean. */
#include <stdarg.h>
#include <stdio.h>

#include "row.h"
#include "small_float.h"

uint32_t type_words(enum isa_type type) {
  static const uint8_t words[ISA_TYPES] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 8, 16};
  return words[type];
}

static bool is_16_bit(enum isa_type type) { return type == T_u16 || type == T_i16 || type == T_f16; }
static bool is_float(enum isa_type type) { return type == T_f16 || type == T_f32 || type == T_f64 || type == T_pkf || type == T_pkh; }

void reading_error(struct reading *r, const char *what, ...) {
  if (r->failed) return;
  r->failed = true;
  va_list args;
  va_start(args, what);
  vsnprintf(r->error, DECODE_ERROR_MAX, what, args);
  va_end(args);
}

int32_t take_mod(struct reading *r, enum text_mod mod) {
  bool left = r->mods_left >> mod & 1;
  r->mods_left &= ~(UINT64_C(1) << mod);
  return left ? r->text->mod[mod] : 0;
}

const struct text_operand *take_text(struct reading *r) {
  static const struct text_operand empty = {.kind = TEXT_OFF};
  if (r->next < r->text->operands) return &r->text->operand[r->next++];
  reading_error(r, "has too few operands for the emulator's row");
  return &empty;
}

int64_t take_integer(struct reading *r) {
  const struct text_operand *op = take_text(r);
  if (op->kind != TEXT_INT && op->kind != TEXT_LITERAL) reading_error(r, "operand %u should be an immediate", r->next);
  return op->value;
}

/* --- sources -------------------------------------------------------------------------------------------------------------- */

static uint64_t float_constant(double v, enum isa_type type) {
  switch (type) {
  case T_f64:
  case T_u64:
  case T_i64:
    return f64_bits(v);
  case T_f16:
  case T_u16:
  case T_i16:
  case T_pk:
  case T_pkh:
    return small_from_f64(&float_f16, v, false);
  default:
    return f32_bits((float)v);
  }
}

static void set_constant(struct source *s, const struct text_operand *op, enum isa_type type) {
  uint64_t bits = (uint64_t)op->value;
  if (op->kind == TEXT_FLOAT)
    bits = float_constant(op->real, type);
  else if (op->kind == TEXT_LITERAL && type == T_f64)
    bits = (uint64_t)op->value << 32;
  else if (op->kind == TEXT_LITERAL && type == T_i64)
    bits = (uint64_t)(int64_t)(int32_t)op->value;
  s->kind = OPERAND_CONST;
  s->value[0] = (uint32_t)bits;
  s->value[1] = (uint32_t)(bits >> 32);
}

static bool set_special(struct source *s, const struct text_operand *op) {
  switch (op->reg) {
  case TEXT_SRC_SCC:
    s->kind = OPERAND_SCC;
    return true;
  case TEXT_SRC_EXECZ:
    s->kind = OPERAND_EXECZ;
    return true;
  case TEXT_SRC_VCCZ:
    s->kind = OPERAND_VCCZ;
    return true;
  case TEXT_SRC_SHARED_BASE:
    s->kind = OPERAND_CONST;
    s->value[0] = 0;
    s->value[1] = SHARED_APERTURE;
    return s->words == 2;
  case TEXT_SRC_PRIVATE_BASE:
    s->kind = OPERAND_CONST;
    s->value[0] = 0;
    s->value[1] = PRIVATE_APERTURE;
    return s->words == 2;
  default:
    return false;
  }
}

static void set_sign_bits(struct source *s, const struct text_operand *op, enum isa_type type) {
  uint32_t sign = is_16_bit(type) ? 0x8000u : 0x80000000u, word = type_words(type) == 2 ? 1 : 0;
  if (op->abs) s->keep[word] &= ~sign;
  if (op->neg) s->flip[word] |= sign;
}

static struct source *new_source(struct reading *r, enum isa_type type) {
  if (r->in->sources == INST_SOURCES) {
    reading_error(r, "has too many sources for the emulator");
    r->in->sources--;
  }
  struct source *s = &r->in->src[r->in->sources++];
  *s = (struct source){.type = (uint8_t)type, .words = (uint8_t)type_words(type), .select = SELECT_ALL, .hi = 1};
  s->keep[0] = s->keep[1] = UINT32_MAX;
  return s;
}

void take_source(struct reading *r, enum isa_type type) {
  struct source *s = new_source(r, type);
  const struct text_operand *op = take_text(r);
  s->reg = op->reg;
  s->sign_extend = op->sext;
  set_sign_bits(s, op, type);
  switch (op->kind) {
  case TEXT_VGPR:
  case TEXT_AGPR:
    s->kind = OPERAND_VGPR;
    if (op->kind == TEXT_AGPR) s->reg = (uint16_t)(s->reg + VGPRS);
    break;
  case TEXT_SREG:
    s->kind = OPERAND_SREG;
    break;
  case TEXT_SOURCE:
    if (!set_special(s, op)) reading_error(r, "operand %u is a scalar that the emulator does not have", r->next);
    return;
  case TEXT_INT:
  case TEXT_FLOAT:
  case TEXT_LITERAL:
    set_constant(s, op, type);
    return;
  default:
    reading_error(r, "operand %u is of a kind that the emulator does not know here", r->next);
    return;
  }
  s->plain = s->kind == OPERAND_VGPR && !op->neg && !op->abs && !op->sext;
  if (op->count != s->words) reading_error(r, "operand %u has %u registers, the emulator's row wants %u", r->next, op->count, s->words);
}

bool text_is_vector(const struct text_operand *op) { return op->kind == TEXT_VGPR || op->kind == TEXT_AGPR; }

void take_vector_source(struct reading *r, enum isa_type type) {
  if (r->next < r->text->operands && !text_is_vector(&r->text->operand[r->next]))
    reading_error(r, "operand %u should be a VGPR", r->next + 1);
  take_source(r, type);
}

void take_scalar_source(struct reading *r, enum isa_type type) {
  if (r->next < r->text->operands && text_is_vector(&r->text->operand[r->next]))
    reading_error(r, "operand %u should be a scalar", r->next + 1);
  take_source(r, type);
}

struct source vgprs_of(const struct text_operand *op) {
  return (struct source){.kind = OPERAND_VGPR,
      .words = (uint8_t)op->count,
      .select = SELECT_ALL,
      .reg = (uint16_t)(op->reg + (op->kind == TEXT_AGPR ? VGPRS : 0))};
}

struct source take_vgprs(struct reading *r, uint32_t words) {
  const struct text_operand *op = take_text(r);
  if (!text_is_vector(op) || op->count != words) reading_error(r, "operand %u should be %u VGPRs", r->next, words);
  return vgprs_of(op);
}

void take_vgpr_result(struct reading *r, uint32_t words) {
  struct source s = take_vgprs(r, words);
  r->in->dst = (struct dest){.kind = OPERAND_VGPR, .words = s.words, .reg = s.reg, .select = SELECT_ALL};
}

/* --- destinations --------------------------------------------------------------------------------------------------------- */

void take_vector_dest(struct reading *r, enum isa_type type) {
  const struct text_operand *op = take_text(r);
  struct dest *d = &r->in->dst;
  if (!text_is_vector(op)) reading_error(r, "operand %u should be a VGPR", r->next);
  d->kind = OPERAND_VGPR;
  d->type = (uint8_t)type;
  d->words = (uint8_t)type_words(type);
  d->select = SELECT_ALL;
  d->reg = (uint16_t)(op->reg + (op->kind == TEXT_AGPR ? VGPRS : 0));
  if (op->count != d->words) reading_error(r, "the result has %u registers, the emulator's row wants %u", op->count, d->words);
}

void take_scalar_dest(struct reading *r, struct dest *d, enum isa_type type) {
  const struct text_operand *op = take_text(r);
  if (op->kind != TEXT_SREG) reading_error(r, "operand %u should be a scalar register", r->next);
  d->kind = OPERAND_SREG;
  d->type = (uint8_t)type;
  d->words = (uint8_t)type_words(type);
  d->select = SELECT_ALL;
  d->reg = op->reg;
  if (op->count != d->words) reading_error(r, "operand %u has %u registers, the emulator's row wants %u", r->next, op->count, d->words);
}

void add_dest_source(struct reading *r, enum isa_type type) {
  struct source *s = new_source(r, type);
  s->kind = r->in->dst.kind;
  s->reg = r->in->dst.reg;
  s->plain = s->kind == OPERAND_VGPR;
}

/* --- modifiers ------------------------------------------------------------------------------------------------------------ */

/* The source lane of lane l, or -1; `n` is the modifier's number. */
static int dpp_source(enum text_mod m, const uint8_t *list, int n, int l) {
  int row = l & ~15, in_row = l & 15, from;
  switch (m) {
  case TEXT_MOD_QUAD_PERM:
    return (l & ~3) | (list[l & 3] & 3);
  case TEXT_MOD_ROW_SHL:
    from = in_row + n;
    break;
  case TEXT_MOD_ROW_SHR:
    from = in_row - n;
    break;
  case TEXT_MOD_ROW_ROR:
    from = (in_row - n) & 15;
    break;
  case TEXT_MOD_ROW_MIRROR:
    from = 15 - in_row;
    break;
  case TEXT_MOD_ROW_HALF_MIRROR:
    from = in_row ^ 7;
    break;
  case TEXT_MOD_ROW_NEWBCAST:
    from = n & 15;
    break;
  case TEXT_MOD_ROW_BCAST:
    return n == 15 ? row - 1 : l >= 32 ? 31 : -1;
  case TEXT_MOD_WAVE_SHL:
    return l + 1 < LANES_A_WAVE ? l + 1 : -1;
  case TEXT_MOD_WAVE_SHR:
    return l - 1;
  case TEXT_MOD_WAVE_ROL:
    return (l + 1) & 63;
  case TEXT_MOD_WAVE_ROR:
    return (l - 1) & 63;
  default:
    return -1;
  }
  return from >= 0 && from < 16 ? row + from : -1;
}

static void take_dpp(struct reading *r) {
  static const enum text_mod kinds[] = {TEXT_MOD_QUAD_PERM, TEXT_MOD_ROW_SHL, TEXT_MOD_ROW_SHR, TEXT_MOD_ROW_ROR, TEXT_MOD_WAVE_SHL,
      TEXT_MOD_WAVE_SHR, TEXT_MOD_WAVE_ROL, TEXT_MOD_WAVE_ROR, TEXT_MOD_ROW_MIRROR, TEXT_MOD_ROW_HALF_MIRROR, TEXT_MOD_ROW_BCAST,
      TEXT_MOD_ROW_NEWBCAST};
  struct inst *in = r->in;
  uint32_t found = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    enum text_mod m = kinds[i];
    if (!inst_text_has(r->text, m)) continue;
    int n = take_mod(r, m);
    if (m == TEXT_MOD_QUAD_PERM && n != 4) reading_error(r, "quad_perm wants 4 lanes");
    for (int l = 0; l < LANES_A_WAVE; l++) in->dpp_lane[l] = (int8_t)dpp_source(m, r->text->list[m], n, l);
    found++;
  }
  if (found != 1) reading_error(r, "has %u lane moves, DPP has one", found);
  in->dpp = true;
  in->row_mask = (uint8_t)take_mod(r, TEXT_MOD_ROW_MASK);
  in->bank_mask = (uint8_t)take_mod(r, TEXT_MOD_BANK_MASK);
  in->bound_ctrl = take_mod(r, TEXT_MOD_BOUND_CTRL) != 0;
  for (int l = 0; l < LANES_A_WAVE; l++) {
    bool on = (in->row_mask >> (l / 16) & 1) && (in->bank_mask >> (l % 16 / 4) & 1);
    in->dpp_written |= (uint64_t)(on && (in->bound_ctrl || in->dpp_lane[l] >= 0)) << l;
  }
  in->slow_commit = true;
  in->src[0].plain = false;
  if (in->src[0].kind != OPERAND_VGPR) reading_error(r, "DPP of a scalar");
}

static void take_sdwa(struct reading *r) {
  static const enum text_mod selects[] = {TEXT_MOD_SRC0_SEL, TEXT_MOD_SRC1_SEL};
  struct inst *in = r->in;
  for (uint8_t i = 0; i < 2; i++) {
    if (!inst_text_has(r->text, selects[i]) || i >= in->sources) continue;
    in->src[i].select = (uint8_t)take_mod(r, selects[i]);
    if (in->src[i].select != SELECT_ALL) in->src[i].plain = false;
  }
  if (inst_text_has(r->text, TEXT_MOD_DST_SEL)) in->dst.select = (uint8_t)take_mod(r, TEXT_MOD_DST_SEL);
  in->dst.unused = (uint8_t)take_mod(r, TEXT_MOD_DST_UNUSED);
  if (in->dst.select != SELECT_ALL) in->slow_commit = true;
}

static void take_op_sel(struct reading *r) {
  struct inst *in = r->in;
  const uint8_t *list = r->text->list[TEXT_MOD_OP_SEL];
  uint8_t count = r->text->list_count[TEXT_MOD_OP_SEL];
  take_mod(r, TEXT_MOD_OP_SEL);
  for (uint8_t i = 0; i < count; i++) {
    if (!list[i]) continue;
    if (i < in->sources && is_16_bit((enum isa_type)in->src[i].type)) {
      in->src[i].lo = 1;
      in->src[i].plain = false;
    } else if (i == count - 1 && i >= in->sources && is_16_bit((enum isa_type)in->dst.type)) {
      in->dst.half = 1;
      in->slow_commit = true;
    } else {
      reading_error(r, "op_sel of operand %u is not modelled", i);
    }
  }
}

void take_vector_mods(struct reading *r) {
  struct inst *in = r->in;
  in->clamp = take_mod(r, TEXT_MOD_CLAMP);
  int32_t mul = take_mod(r, TEXT_MOD_MUL), div = take_mod(r, TEXT_MOD_DIV);
  in->omod = mul == 2 ? 1 : mul == 4 ? 2 : div == 2 ? 3 : 0;
  if ((mul || div) && !in->omod) reading_error(r, "an output modifier that does not exist");
  if ((in->clamp || in->omod) && !is_float((enum isa_type)in->dst.type)) reading_error(r, "clamp of this result is not modelled");
  if (in->clamp || in->omod || in->dst.keep_other) in->slow_commit = true;
  if (r->mods_left >> TEXT_MOD_OP_SEL & 1) take_op_sel(r); /* a packed shape has taken it */
  if (r->text->suffix == TEXT_DPP) take_dpp(r);
  if (r->text->suffix == TEXT_SDWA) take_sdwa(r);
}

/* --- shapes of vector arithmetic ------------------------------------------------------------------------------------------ */

static void take_sources(struct reading *r, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last && r->row->type[i] != T_NONE; i++) take_source(r, (enum isa_type)r->row->type[i]);
}

void read_vector(struct reading *r) {
  take_vector_dest(r, (enum isa_type)r->row->type[0]);
  take_sources(r, 1, 4);
  r->in->dst.keep_other = r->row->extra & ROW_KEEP_OTHER;
  if (inst_text_has(r->text, TEXT_MOD_BITOP3)) r->in->imm = (uint32_t)take_mod(r, TEXT_MOD_BITOP3);
  take_vector_mods(r);
}

void read_vector_acc(struct reading *r) {
  uint32_t last = 4;
  while (r->row->type[last] == T_NONE) last--;
  take_vector_dest(r, (enum isa_type)r->row->type[0]);
  take_sources(r, 1, last - 1);
  add_dest_source(r, (enum isa_type)r->row->type[last]);
  r->in->dst.keep_other = r->row->extra & ROW_KEEP_OTHER;
  take_vector_mods(r);
}

void read_compare(struct reading *r) {
  take_scalar_dest(r, &r->in->dst, T_u64);
  take_sources(r, 1, 2);
  take_vector_mods(r);
}

void read_carry(struct reading *r) {
  take_vector_dest(r, (enum isa_type)r->row->type[0]);
  take_scalar_dest(r, &r->in->dst2, T_u64);
  take_sources(r, 1, 4);
  if (r->row->extra & ROW_CARRY_IN) take_scalar_source(r, T_u64);
  take_vector_mods(r);
}

void read_select(struct reading *r) {
  take_vector_dest(r, (enum isa_type)r->row->type[0]);
  take_sources(r, 1, 2);
  take_scalar_source(r, T_u64);
  take_vector_mods(r);
}

static void set_packed_source(struct reading *r, struct source *s, uint8_t i) {
  const struct inst_text *t = r->text;
  uint32_t sign_lo = s->type == T_pkf ? 0x80000000u : 0x8000u;
  if (i < t->list_count[TEXT_MOD_OP_SEL]) s->lo = t->list[TEXT_MOD_OP_SEL][i] & 1;
  if (i < t->list_count[TEXT_MOD_OP_SEL_HI]) s->hi = t->list[TEXT_MOD_OP_SEL_HI][i] & 1;
  if (i < t->list_count[TEXT_MOD_NEG_LO] && t->list[TEXT_MOD_NEG_LO][i]) s->flip[0] |= sign_lo;
  if (i < t->list_count[TEXT_MOD_NEG_HI] && t->list[TEXT_MOD_NEG_HI][i]) s->flip[s->type == T_pkf ? 1 : 0] |= 0x80000000u;
  if (r->row->extra & ROW_LOW_ONLY) s->hi = s->lo;
  if (s->type == T_pkf && s->kind == OPERAND_CONST) {
    if ((s->lo || s->hi) && s->value[0]) reading_error(r, "the high half of a constant as source %u is not modelled", i);
    s->lo = 0;
    s->value[1] = s->value[0];
    s->hi = 1;
  }
  bool halves = s->type == T_pk || s->type == T_pkh || s->type == T_pkf;
  if (!halves && (s->lo || !s->hi || s->flip[0])) reading_error(r, "op_sel or neg of source %u is not modelled", i);
  s->plain = s->kind == OPERAND_VGPR && !s->lo && s->hi && !s->flip[0] && !s->flip[1];
}

void read_packed(struct reading *r) {
  static const enum text_mod lists[] = {TEXT_MOD_OP_SEL, TEXT_MOD_OP_SEL_HI, TEXT_MOD_NEG_LO, TEXT_MOD_NEG_HI};
  take_vector_dest(r, (enum isa_type)r->row->type[0]);
  take_sources(r, 1, 4);
  for (uint8_t i = 0; i < r->in->sources; i++) set_packed_source(r, &r->in->src[i], i);
  for (size_t i = 0; i < 4; i++) {
    take_mod(r, lists[i]);
    for (uint8_t k = r->in->sources; k < r->text->list_count[lists[i]]; k++)
      if (r->text->list[lists[i]][k]) reading_error(r, "%u is more than the instruction's sources", k);
  }
  take_vector_mods(r);
}

void read_mix(struct reading *r) {
  const uint8_t *sel = r->text->list[TEXT_MOD_OP_SEL], *half = r->text->list[TEXT_MOD_OP_SEL_HI];
  take_vector_dest(r, (enum isa_type)r->row->type[0]);
  for (uint8_t i = 0; i < 3; i++) {
    take_source(r, half[i] ? T_f16 : T_f32);
    struct source *s = &r->in->src[i];
    s->lo = half[i] && sel[i];
    if (s->lo) s->plain = false;
    if (sel[i] && !half[i]) reading_error(r, "op_sel of a source that is f32");
  }
  take_mod(r, TEXT_MOD_OP_SEL);
  take_mod(r, TEXT_MOD_OP_SEL_HI);
  r->in->dst.keep_other = r->row->extra == 1;
  r->in->dst.half = r->row->extra == 2;
  if (r->row->extra) r->in->slow_commit = true;
  take_vector_mods(r);
}

/* --- scalar shapes -------------------------------------------------------------------------------------------------------- */

static void take_scalar_sources(struct reading *r) {
  for (uint32_t i = 1; i < 5 && r->row->type[i] != T_NONE; i++) take_scalar_source(r, (enum isa_type)r->row->type[i]);
}

void read_scalar(struct reading *r) {
  take_scalar_dest(r, &r->in->dst, (enum isa_type)r->row->type[0]);
  if (r->row->extra & ROW_DEST_IS_SOURCE) add_dest_source(r, (enum isa_type)r->row->type[0]);
  take_scalar_sources(r);
}

void read_scalar_nodest(struct reading *r) { take_scalar_sources(r); }

void read_scalar_imm(struct reading *r) {
  bool is_unsigned = r->row->type[2] == T_u32;
  if (r->row->extra & ROW_COMPARE) {
    take_scalar_source(r, T_u32);
  } else {
    take_scalar_dest(r, &r->in->dst, T_u32);
    add_dest_source(r, T_u32);
  }
  uint32_t imm = (uint32_t)take_integer(r) & 0xFFFF;
  struct source *s = new_source(r, T_u32);
  s->kind = OPERAND_CONST;
  s->value[0] = is_unsigned ? imm : (uint32_t)(int32_t)(int16_t)imm;
}

void read_branch(struct reading *r) {
  r->in->offset = (int32_t)(int16_t)take_integer(r) * 4;
  r->in->branch = true;
}

void read_plain(struct reading *r) { (void)r; }
void read_count(struct reading *r) { r->in->imm = (uint32_t)take_integer(r); }
