/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow of registers: lanes and bits that were never written flow through instructions without a word, and are reported where
   something depends on them: an address, stored data, a branch, EXEC. A register that is written in part counts as written. */
#include <string.h>

#include "operand.h"
#include "strict.h"

void strict_undef_begin(struct strict_wave *sw, struct wave *w, const struct start *start) {
  const struct code_descriptor *d = &start->kernel->code->descriptor;
  uint32_t given = d->user_sgprs + d->workgroup_id_x + d->workgroup_id_y + d->workgroup_id_z + d->workgroup_info;
  memset(sw->undef, 0xFF, sizeof sw->undef);
  memset(sw->origin, 0, sizeof sw->origin);
  sw->undef[0] = ~wave_exec(w);
  memset(sw->sundef, 0, sizeof sw->sundef);
  memset(sw->sorigin, 0, sizeof sw->sorigin);
  for (uint32_t i = given; i < SREG_FLAT_SCRATCH; i++) sw->sundef[i] = UINT32_MAX;
  sw->sundef[SREG_VCC] = sw->sundef[SREG_VCC + 1] = sw->sundef[SREG_M0] = UINT32_MAX;
  sw->scc_undef = true;
  sw->scc_origin = 0;
}

/* --- reports ------------------------------------------------------------------------------------------------------------------- */

static void report(struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t lane, const char *use, const char *file,
    uint32_t reg, uint32_t origin) {
  struct strict *st = sw->group->strict;
  struct hsa_emu_party other = {0};
  if (origin) other = strict_party_of(st, w->group->index, w->index, LANE_NONE, origin - 1);
  strict_found(st, HSA_EMU_UNINITIALISED, strict_party(st, w, in, lane), 0, origin ? &other : NULL, "%s %s%u, %s", use, file, reg,
      origin ? "which holds nothing that was ever written since" : "which was never written");
}

/* Reports a VGPR operand's lanes, once: they count as written from then on. */
static void use_lanes(struct strict_wave *sw, const struct wave *w, const struct inst *in, int source, uint64_t lanes, const char *use) {
  const struct source *s = &in->src[source];
  if (s->kind != OPERAND_VGPR) return;
  for (uint32_t k = 0; k < s->words; k++) {
    uint32_t reg = s->reg + k;
    uint64_t bad = sw->undef[reg] & lanes;
    if (!bad) continue;
    report(sw, w, in, (uint32_t)__builtin_ctzll(bad), use, reg < VGPRS ? "v" : "a", reg % VGPRS, sw->origin[reg]);
    sw->undef[reg] &= ~bad;
  }
}

static void use_scalar(struct strict_wave *sw, const struct wave *w, const struct inst *in, int source, const char *use) {
  const struct source *s = &in->src[source];
  if (s->kind != OPERAND_SREG) return;
  for (uint32_t k = 0; k < s->words; k++) {
    uint32_t reg = s->reg + k;
    if (!sw->sundef[reg]) continue;
    report(sw, w, in, LANE_NONE, use, "s", reg, sw->sorigin[reg]);
    sw->sundef[reg] = 0;
  }
}

/* --- sources ------------------------------------------------------------------------------------------------------------------- */

struct taint {
  uint64_t lanes;
  uint32_t origin;
};

static void add_taint(struct taint *t, uint64_t lanes, uint32_t origin) {
  if (!lanes) return;
  if (!t->lanes) t->origin = origin;
  t->lanes |= lanes;
}

static uint64_t through_dpp(const struct wave *w, const struct inst *in, uint64_t undef) {
  uint64_t out = 0, exec = wave_exec(w);
  FOR_LANES {
    int from = in->dpp_lane[l];
    if (from >= 0) out |= (undef & exec) >> from & 1 ? UINT64_C(1) << l : 0;
  }
  return out;
}

/* A scalar pair that is a bit a lane (the carry of v_addc, the mask of v_cndmask), and not 64 bits for all (v_mad_u64_u32). */
static bool is_mask(const struct inst *in, const struct strict_inst *si, uint32_t source) {
  bool carry = in->dst2.kind == OPERAND_SREG && in->dst.words == 1;
  return source == 2 && in->src[2].words == 2 && (si->flow == FLOW_SELECT || carry);
}

static uint64_t mask_bits(const uint32_t *sundef, uint32_t reg) { return sundef[reg] | (uint64_t)sundef[reg + 1] << 32; }

static struct taint scalar_taint(const struct strict_wave *sw, const struct inst *in, const struct strict_inst *si) {
  struct taint t = {0, 0};
  for (uint32_t i = 0; i < si->sreads; i++) {
    const struct reg_range *r = &si->sread[i];
    if (is_mask(in, si, r->source)) {
      add_taint(&t, mask_bits(sw->sundef, r->reg), sw->sorigin[r->reg]);
      continue;
    }
    for (uint32_t k = 0; k < r->words; k++)
      if (sw->sundef[r->reg + k]) add_taint(&t, UINT64_MAX, sw->sorigin[r->reg + k]);
  }
  return t;
}

static uint64_t source_lanes(const struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t source) {
  const struct source *s = &in->src[source];
  uint64_t lanes = 0;
  if (s->kind != OPERAND_VGPR) return 0;
  for (uint32_t k = 0; k < s->words; k++) lanes |= sw->undef[s->reg + k];
  return source == 0 && in->dpp && lanes ? through_dpp(w, in, lanes) : lanes;
}

static struct taint vector_taint(const struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  struct taint t = scalar_taint(sw, in, si);
  for (uint32_t i = 0; i < si->vreads; i++) add_taint(&t, source_lanes(sw, w, in, si->vread[i].source), sw->origin[si->vread[i].reg]);
  return t;
}

/* --- results ------------------------------------------------------------------------------------------------------------------- */

static void put_lanes(struct strict_wave *sw, uint32_t reg, uint64_t written, uint64_t undef, uint32_t origin) {
  sw->undef[reg] = (sw->undef[reg] & ~written) | (undef & written);
  if (undef & written) sw->origin[reg] = origin;
}

static void put_scalar(
    struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct dest *d, uint64_t bits, uint32_t origin) {
  for (uint32_t k = 0; k < d->words; k++) {
    uint32_t undef = d->words == 1 ? (bits ? (uint32_t)bits : 0) : k < 2 ? (uint32_t)(bits >> (32 * k)) : bits ? UINT32_MAX : 0;
    if (undef && d->reg + k >= SREG_EXEC) {
      report(sw, w, in, LANE_NONE, "makes EXEC of", "s", d->reg + k, origin);
      undef = 0;
    }
    sw->sundef[d->reg + k] = undef;
    if (undef) sw->sorigin[d->reg + k] = origin;
  }
}

/* Lanes whose value in the other operand decides the result alone: zeros for AND, ones for OR. */
static uint64_t deciding(const struct strict_wave *sw, const struct wave *w, const struct inst *in, int source, uint32_t value) {
  const struct source *s = &in->src[source];
  uint64_t lanes = 0;
  if (s->kind == OPERAND_VGPR) {
    if (!s->plain) return 0;
    FOR_LANES lanes |= (uint64_t)(w->v[s->reg].w[l] == value) << l;
    return lanes & ~sw->undef[s->reg];
  }
  if (s->kind == OPERAND_SREG && sw->sundef[s->reg]) return 0;
  return (uint32_t)scalar_bits(w, in, source) == value ? UINT64_MAX : 0;
}

static uint64_t select_lanes(const struct strict_wave *sw, const struct wave *w, const struct inst *in, uint64_t mask_undef) {
  uint64_t mask = scalar_bits(w, in, 2), a = source_lanes(sw, w, in, 0), b = source_lanes(sw, w, in, 1);
  return mask_undef | (mask & b) | (~mask & a);
}

/* A constant selector that takes nothing from an undefined side. */
static uint64_t perm_lanes(const struct strict_wave *sw, const struct wave *w, const struct inst *in, uint64_t all) {
  if (in->src[2].kind == OPERAND_VGPR) return all;
  uint32_t select = (uint32_t)scalar_bits(w, in, 2);
  uint64_t a = source_lanes(sw, w, in, 0), b = source_lanes(sw, w, in, 1), lanes = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t byte = select >> (8 * i) & 0xFF;
    lanes |= byte < 4 ? b : byte < 8 ? a : 0;
  }
  return lanes;
}

/* Which words [*first, *end) of a source word k of the result depends on. */
static void words_of_source(const struct inst *in, enum strict_flow flow, uint32_t source, uint32_t k, uint32_t *first, uint32_t *end) {
  const struct source *s = &in->src[source];
  uint32_t word = flow == FLOW_WORDS ? k : flow == FLOW_PAIRS && k ? s->hi : s->lo;
  *first = 0;
  *end = s->words;
  if (flow == FLOW_PAIR_MOVE && source != k) *end = 0;
  if (s->words < 2) return;
  if (flow == FLOW_LOW_WORD) {
    *end = k ? 2 : 1;
  } else if (*end) {
    *first = word;
    *end = word + 1;
  }
}

/* Lanes of word k of a pair, where its words depend on different ones of the sources'. */
static uint64_t word_lanes(const struct strict_wave *sw, const struct inst *in, const struct strict_inst *si, uint32_t k) {
  uint64_t lanes = 0;
  for (uint32_t i = 0; i < INST_SOURCES; i++) {
    const struct source *s = &in->src[i];
    uint32_t word, end;
    for (words_of_source(in, (enum strict_flow)si->flow, i, k, &word, &end); word < end; word++) {
      if (s->kind == OPERAND_VGPR) lanes |= sw->undef[s->reg + word];
      if (s->kind == OPERAND_SREG && sw->sundef[s->reg + word]) lanes = UINT64_MAX;
    }
  }
  return lanes;
}

static bool by_word(const struct inst *in, const struct strict_inst *si) {
  return si->flow >= FLOW_LOW_WORD && si->flow <= FLOW_PAIR_MOVE && !in->dpp && in->dst.words == 2;
}

static void vector_step(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  struct taint t = vector_taint(sw, w, in, si);
  uint64_t exec = wave_exec(w);
  if (t.lanes && si->flow == FLOW_AND) t.lanes &= ~(deciding(sw, w, in, 0, 0) | deciding(sw, w, in, 1, 0));
  if (t.lanes && si->flow == FLOW_OR) t.lanes &= ~(deciding(sw, w, in, 0, UINT32_MAX) | deciding(sw, w, in, 1, UINT32_MAX));
  if (t.lanes && si->flow == FLOW_SELECT && in->src[2].kind == OPERAND_SREG)
    t.lanes = select_lanes(sw, w, in, mask_bits(sw->sundef, in->src[2].reg));
  if (t.lanes && si->flow == FLOW_PERM) t.lanes = perm_lanes(sw, w, in, t.lanes);
  if (si->flow == FLOW_NONE) t.lanes = 0;
  uint32_t origin = t.origin ? t.origin : (uint32_t)(in - w->program->inst) + 1;
  uint64_t pair[2] = {t.lanes, t.lanes};
  for (uint32_t k = 0; t.lanes && k < 2 && by_word(in, si); k++) pair[k] = word_lanes(sw, in, si, k);
  if (in->dst.kind == OPERAND_VGPR)
    for (uint32_t k = 0; k < in->dst.words; k++) put_lanes(sw, in->dst.reg + k, exec, k < 2 ? pair[k] : t.lanes, origin);
  else if (in->dst.kind == OPERAND_SREG)
    put_scalar(sw, w, in, &in->dst, t.lanes & exec, origin);
  if (in->dst2.kind == OPERAND_SREG) put_scalar(sw, w, in, &in->dst2, t.lanes & exec, origin);
}

/* --- between lanes ------------------------------------------------------------------------------------------------------------- */

static void readlane(struct strict_wave *sw, const struct wave *w, const struct inst *in) {
  uint64_t exec = wave_exec(w);
  uint32_t reg = in->src[0].reg, lane = exec ? (uint32_t)__builtin_ctzll(exec) : 0;
  if (in->sources == 2) lane = (uint32_t)scalar_bits(w, in, 1) & 63;
  put_scalar(sw, w, in, &in->dst, sw->undef[reg] >> lane & 1 ? UINT64_MAX : 0, sw->origin[reg]);
}

static void swap_lanes(struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t width) {
  uint64_t *a = &sw->undef[in->dst.reg], *b = &sw->undef[in->src[0].reg], x = *a, exec = wave_exec(w);
  static const uint64_t odd16 = UINT64_C(0xFFFF0000FFFF0000), odd32 = UINT64_C(0xFFFFFFFF00000000);
  uint64_t odd = width == 16 ? odd16 : odd32;
  if (!width) {
    *a = (*b & exec) | (x & ~exec);
    *b = (x & exec) | (*b & ~exec);
    return;
  }
  *a = (x & ~odd) | (*b << width & odd);
  *b = (*b & odd) | ((x & odd) >> width);
}

/* Rows of A, columns of B that a lane's registers belong to; the same for their scales. */
static uint64_t spread(uint64_t lanes, uint32_t side) {
  uint64_t one = lanes;
  for (uint32_t by = side; by < 64; by *= 2) one |= one >> by;
  one &= side == 64 ? UINT64_MAX : (UINT64_C(1) << side) - 1;
  for (uint32_t by = side; by < 64; by *= 2) one |= one << by;
  return one;
}

/* Element (i, j) depends on row i of A and column j of B. Forms of several blocks, and f64's layout, are taken as written. */
static void mfma(struct strict_wave *sw, const struct wave *w, const struct inst *in) {
  const char *name = in->row->name;
  uint32_t side = strstr(name, "_16x16x") ? 16 : 32, across = 64 / side, words = in->dst.words;
  uint64_t a = source_lanes(sw, w, in, 0), b = source_lanes(sw, w, in, 1), old[32];
  if (in->src[3].kind == OPERAND_VGPR) a |= source_lanes(sw, w, in, 3), b |= source_lanes(sw, w, in, 4);
  bool plain = (strstr(name, "_16x16x") || strstr(name, "_32x32x")) && words * 64 == side * side && !strstr(name, "f64");
  uint32_t origin = a ? sw->origin[in->src[0].reg] : b ? sw->origin[in->src[1].reg] : 0;
  for (uint32_t k = 0; k < words && k < 32; k++) old[k] = in->src[2].kind == OPERAND_VGPR ? sw->undef[in->src[2].reg + k] : 0;
  if (in->src[2].kind == OPERAND_VGPR && !origin) origin = sw->origin[in->src[2].reg];
  a = spread(a, side);
  b = spread(b, side);
  for (uint32_t k = 0; k < words && k < 32; k++) {
    uint64_t undef = old[k] | b, rows = 0;
    for (uint32_t part = 0; part < across; part++)
      if (a >> (4 * (k / 4 * across + part) + k % 4) & 1) rows |= (side == 32 ? UINT64_C(0xFFFFFFFF) : UINT64_C(0xFFFF)) << (side * part);
    put_lanes(sw, in->dst.reg + k, UINT64_MAX, plain ? undef | rows : 0, origin);
  }
  for (uint32_t k = 32; k < words; k++) sw->undef[in->dst.reg + k] = 0;
}

/* --- scalars ------------------------------------------------------------------------------------------------------------------- */

static uint64_t bits_taint(const struct strict_wave *sw, const struct inst *in, int source) {
  const struct source *s = &in->src[source];
  if (s->kind == OPERAND_SCC) return sw->scc_undef ? UINT64_MAX : 0;
  if (s->kind != OPERAND_SREG) return 0;
  return s->words == 2 ? mask_bits(sw->sundef, s->reg) : sw->sundef[s->reg];
}

static uint32_t scalar_origin(const struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  for (uint32_t i = 0; i < si->sreads; i++)
    for (uint32_t k = 0; k < si->sread[i].words; k++)
      if (sw->sundef[si->sread[i].reg + k]) {
        uint32_t origin = sw->sorigin[si->sread[i].reg + k];
        return origin ? origin : (uint32_t)(in - w->program->inst) + 1;
      }
  return (uint32_t)(in - w->program->inst) + 1;
}

/* Bit by bit; and whether SCC ("not 0") is decided by a bit that was written. */
static uint64_t logic(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  uint64_t ua = bits_taint(sw, in, 0), ub = bits_taint(sw, in, 1), a = scalar_bits(w, in, 0), b = scalar_bits(w, in, 1);
  uint64_t all = in->dst.words == 2 ? UINT64_MAX : UINT32_MAX, undef = ua | ub, value = a ^ b;
  if (si->flip == 1) b = ~b;
  if (si->flow == FLOW_AND) {
    undef &= (ua | a) & (ub | b);
    value = a & b;
  } else if (si->flow == FLOW_OR) {
    undef &= (ua | ~a) & (ub | ~b);
    value = a | b;
  }
  if (si->flip == 2) value = ~value;
  undef &= all;
  sw->scc_undef = undef && !(value & all & ~undef);
  return undef;
}

static void scalar_step(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  uint64_t undef = 0, exec = wave_exec(w), any = 0;
  uint32_t origin = scalar_origin(sw, w, in, si);
  for (int i = 0; i < INST_SOURCES; i++) any |= bits_taint(sw, in, i);
  switch (si->flow) {
  case FLOW_AND:
  case FLOW_OR:
  case FLOW_XOR:
    undef = logic(sw, w, in, si);
    if (sw->scc_undef) sw->scc_origin = origin;
    break;
  case FLOW_MOVE:
    undef = bits_taint(sw, in, 0);
    if (in->row->name[2] == 'n') sw->scc_undef = false;
    break;
  case FLOW_NONE:
    break;
  case FLOW_SELECT:
    undef = sw->scc_undef ? UINT64_MAX : bits_taint(sw, in, w->scc ? 0 : 1);
    break;
  case FLOW_SAVEEXEC:
    if (bits_taint(sw, in, 0) & (si->flip == 0 ? exec : si->flip == 1 ? ~exec : UINT64_MAX))
      report(sw, w, in, LANE_NONE, "makes EXEC of", "s", in->src[0].reg, sw->sorigin[in->src[0].reg]);
    sw->scc_undef = false;
    break;
  default:
    undef = any ? UINT64_MAX : 0;
    if (si->writes_scc) {
      sw->scc_undef = any != 0;
      sw->scc_origin = origin;
    }
    break;
  }
  if (in->dst.kind == OPERAND_SREG) put_scalar(sw, w, in, &in->dst, undef, origin);
}

static void branch_step(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  uint64_t vcc = mask_bits(sw->sundef, SREG_VCC);
  if (si->flow == FLOW_BRANCH_SCC && sw->scc_undef) {
    report(sw, w, in, LANE_NONE, "branches on SCC, made of", "SCC", 0, sw->scc_origin);
    sw->scc_undef = false;
  }
  if (si->flow == FLOW_BRANCH_VCC && vcc && !(wave_vcc(w) & ~vcc)) {
    report(sw, w, in, LANE_NONE, "branches on VCC, made of", "s", SREG_VCC, sw->sorigin[SREG_VCC]);
    sw->sundef[SREG_VCC] = sw->sundef[SREG_VCC + 1] = 0;
  }
  if (si->flow == FLOW_JUMP) use_scalar(sw, w, in, 0, "jumps to");
  if (in->dst.kind == OPERAND_SREG) put_scalar(sw, w, in, &in->dst, 0, 0);
}

/* --- memory -------------------------------------------------------------------------------------------------------------------- */

static void vmem_step(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  uint64_t exec = wave_exec(w);
  bool masked =
      in->space == SPACE_BUFFER && in->src[1].kind == OPERAND_SREG && !sw->sundef[in->src[1].reg + 2] && !w->sreg[in->src[1].reg + 2];
  if (si->kind != KIND_WBL2 && si->kind != KIND_INV && !masked && exec) {
    use_lanes(sw, w, in, 0, exec, "takes its address from");
    use_scalar(sw, w, in, 1, "takes its address from");
    use_scalar(sw, w, in, 2, "takes its address from");
    /* A function saves registers that its caller may not have written. */
    if (in->space != SPACE_SCRATCH) use_lanes(sw, w, in, 3, exec, si->kind == KIND_STORE ? "stores" : "changes memory by");
  }
  if (si->kind == KIND_LOAD_LDS && sw->sundef[SREG_M0]) {
    report(sw, w, in, LANE_NONE, "takes its LDS address from", "M0, s", SREG_M0, sw->sorigin[SREG_M0]);
    sw->sundef[SREG_M0] = 0;
  }
  for (uint32_t k = 0; in->dst.kind == OPERAND_VGPR && k < in->dst.words; k++) sw->undef[in->dst.reg + k] &= ~exec;
}

static uint64_t moved_lanes(const struct strict_wave *sw, const struct wave *w, const struct inst *in) {
  uint64_t undef = sw->undef[in->src[in->src[1].words ? 1 : 0].reg], out = 0;
  if (!undef || strcmp(in->row->name, "ds_bpermute_b32") != 0) return undef ? wave_exec(w) & undef : 0;
  FOR_LANES {
    uint32_t lane = (w->v[in->src[0].reg].w[l] + (uint32_t)in->offset) / 4 & 63;
    out |= (undef & wave_exec(w)) >> lane & 1 ? UINT64_C(1) << l : 0;
  }
  return out;
}

static void lds_step(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  uint64_t exec = wave_exec(w);
  if (si->kind != KIND_LDS_LANES) {
    use_lanes(sw, w, in, 0, exec, "takes its address from");
    for (uint32_t k = 0; in->dst.kind == OPERAND_VGPR && k < in->dst.words; k++) sw->undef[in->dst.reg + k] &= ~exec;
    return;
  }
  bool swizzle = !in->src[1].words;
  if (!swizzle) use_lanes(sw, w, in, 0, exec, "takes its lane from");
  uint64_t lanes = swizzle ? 0 : moved_lanes(sw, w, in);
  put_lanes(sw, in->dst.reg, exec, lanes, sw->origin[in->src[swizzle ? 0 : 1].reg]);
}

void strict_undef_loaded(struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t word, uint64_t lanes) {
  uint32_t reg = in->dst.reg + word;
  if (!lanes) return;
  sw->undef[reg] |= lanes;
  sw->origin[reg] = (uint32_t)(in - w->program->inst) + 1;
}

void strict_undef_memory(struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t word, uint32_t lane) {
  if (word >= in->dst.words) return;
  if (in->dst.kind == OPERAND_VGPR) strict_undef_loaded(sw, w, in, word, UINT64_C(1) << lane);
  if (in->dst.kind != OPERAND_SREG) return;
  sw->sundef[in->dst.reg + word] = UINT32_MAX;
  sw->sorigin[in->dst.reg + word] = (uint32_t)(in - w->program->inst) + 1;
}

static void smem_step(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  if (si->kind == KIND_SCALAR_LOAD) {
    use_scalar(sw, w, in, 0, "takes its address from");
    use_scalar(sw, w, in, 1, "takes its address from");
  }
  for (uint32_t k = 0; in->dst.kind == OPERAND_SREG && k < in->dst.words; k++) sw->sundef[in->dst.reg + k] = 0;
}

static void valu_step(struct strict_wave *sw, const struct wave *w, const struct inst *in, const struct strict_inst *si) {
  switch (si->flow) {
  case FLOW_READLANE:
    readlane(sw, w, in);
    break;
  case FLOW_WRITELANE:
    sw->undef[in->dst.reg] &= ~(UINT64_C(1) << (scalar_bits(w, in, 1) & 63));
    break;
  case FLOW_SWAP:
    swap_lanes(sw, w, in, 0);
    break;
  case FLOW_SWAP16:
    swap_lanes(sw, w, in, 16);
    break;
  case FLOW_SWAP32:
    swap_lanes(sw, w, in, 32);
    break;
  default:
    vector_step(sw, w, in, si);
    break;
  }
}

void strict_undef_step(struct strict_wave *sw, struct wave *w, const struct inst *in, const struct strict_inst *si) {
  if (!in->row || in->refusal) return;
  switch (in->class) {
  case CLASS_VALU:
    /* With registers by index the target is another one: it counts as written. */
    if (w->mode & MODE_GPR_INDEX)
      sw->undef[(in->dst.reg + (w->sreg[SREG_M0] & 0xFF)) % (2 * VGPRS)] = 0;
    else
      valu_step(sw, w, in, si);
    break;
  case CLASS_MFMA:
    mfma(sw, w, in);
    break;
  case CLASS_SALU:
    scalar_step(sw, w, in, si);
    break;
  case CLASS_SMEM:
    smem_step(sw, w, in, si);
    break;
  case CLASS_VMEM:
    vmem_step(sw, w, in, si);
    break;
  case CLASS_LDS:
    lds_step(sw, w, in, si);
    break;
  default:
    branch_step(sw, w, in, si);
    break;
  }
}
