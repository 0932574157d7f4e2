/* SPDX-License-Identifier: Apache-2.0 */
/* Once a launch: what each instruction reads, which counter it raises and how its result depends on its sources. By LLVM's name, the
   first fitting prefix of a table. */
#include "strict.h"

#include <stdlib.h>
#include <string.h>

#include "row.h"

struct named {
  const char *prefix;
  uint8_t value, flip;
};

static const struct named kinds[] = {
    {"buffer_wbl2", KIND_WBL2, 0},
    {"buffer_inv", KIND_INV, 0},
    {"s_load_", KIND_SCALAR_LOAD, 0},
    {"s_buffer_load_", KIND_SCALAR_LOAD, 0},
    {"s_memtime", KIND_CLOCK, 0},
    {"s_memrealtime", KIND_CLOCK, 0},
    {"s_dcache_inv", KIND_SCALAR_INV, 0},
    {"ds_read", KIND_LDS_READ, 0},
    {"ds_write", KIND_LDS_WRITE, 0},
    {"ds_swizzle", KIND_LDS_LANES, 0},
    {"ds_permute", KIND_LDS_LANES, 0},
    {"ds_bpermute", KIND_LDS_LANES, 0},
    {"ds_nop", KIND_OTHER, 0},
    {"ds_", KIND_LDS_ATOMIC, 0},
    {"s_waitcnt", KIND_WAIT, 0},
    {"s_barrier", KIND_BARRIER, 0},
    {"s_endpgm", KIND_END, 0},
};

static const struct named flows[] = {
    {"s_andn2_saveexec", FLOW_SAVEEXEC, 0},
    {"s_andn1_saveexec", FLOW_SAVEEXEC, 0},
    {"s_and_saveexec", FLOW_SAVEEXEC, 0},
    {"s_or_saveexec", FLOW_SAVEEXEC, 1},
    {"s_nor_saveexec", FLOW_SAVEEXEC, 1},
    {"s_orn1_saveexec", FLOW_SAVEEXEC, 1},
    {"s_orn2_saveexec", FLOW_SAVEEXEC, 1},
    {"s_nand_saveexec", FLOW_SAVEEXEC, 0},
    {"s_xor_saveexec", FLOW_SAVEEXEC, 2},
    {"s_xnor_saveexec", FLOW_SAVEEXEC, 2},
    {"s_andn2_b", FLOW_AND, 1},
    {"s_and_b", FLOW_AND, 0},
    {"s_nand_b", FLOW_AND, 2},
    {"s_orn2_b", FLOW_OR, 1},
    {"s_or_b", FLOW_OR, 0},
    {"s_nor_b", FLOW_OR, 2},
    {"s_xor_b", FLOW_XOR, 0},
    {"s_xnor_b", FLOW_XOR, 0},
    {"s_not_b", FLOW_MOVE, 0},
    {"s_mov_b", FLOW_MOVE, 0},
    {"s_movk", FLOW_NONE, 0},
    {"s_cselect", FLOW_SELECT, 0},
    {"s_cbranch_scc", FLOW_BRANCH_SCC, 0},
    {"s_cbranch_vcc", FLOW_BRANCH_VCC, 0},
    {"s_setpc", FLOW_JUMP, 0},
    {"s_swappc", FLOW_JUMP, 0},
    {"v_and_b32", FLOW_AND, 0},
    {"v_or_b32", FLOW_OR, 0},
    {"v_cndmask", FLOW_SELECT, 0},
    {"v_cmp", FLOW_COMPARE, 0},
    {"v_perm_b32", FLOW_PERM, 0},
    {"v_readlane", FLOW_READLANE, 0},
    {"v_readfirstlane", FLOW_READLANE, 0},
    {"v_writelane", FLOW_WRITELANE, 0},
    {"v_swap_b32", FLOW_SWAP, 0},
    {"v_permlane16_swap", FLOW_SWAP16, 0},
    {"v_permlane32_swap", FLOW_SWAP32, 0},
    {"v_mfma", FLOW_MFMA, 0},
    {"v_smfmac", FLOW_NONE, 0},
    {"v_mad_u64_u32", FLOW_LOW_WORD, 0},
    {"v_mad_i64_i32", FLOW_LOW_WORD, 0},
    {"v_lshl_add_u64", FLOW_LOW_WORD, 0},
    {"v_lshlrev_b64", FLOW_LOW_WORD, 0},
    {"v_mov_b64", FLOW_WORDS, 0},
    {"v_pk_add_f32", FLOW_PAIRS, 0},
    {"v_pk_mul_f32", FLOW_PAIRS, 0},
    {"v_pk_fma_f32", FLOW_PAIRS, 0},
    {"v_pk_mov_b32", FLOW_PAIR_MOVE, 0},
};

/* Scalar arithmetic that leaves SCC as it was. */
static const char *const keep_scc[] = {"s_mov", "s_cmov", "s_cselect", "s_bfm", "s_mul", "s_pack", "s_ff", "s_flbit", "s_brev", "s_sext",
    "s_bitset", "s_bitreplicate", "s_getpc", "s_getreg", "s_setreg", "s_set_gpr", "s_swappc", "s_setpc", "s_c", "s_nop", "s_sleep"};

static bool starts(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

static const struct named *lookup(const struct named *table, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (starts(name, table[i].prefix)) return &table[i];
  return NULL;
}

static uint8_t vector_kind(const struct inst *in) {
  const char *name = in->row->name;
  if (strstr(name, "_atomic_")) return KIND_ATOMIC;
  if (strstr(name, "_store_")) return KIND_STORE;
  return in->lds ? KIND_LOAD_LDS : KIND_LOAD;
}

static void describe(const struct inst *in, struct strict_inst *si) {
  const char *name = in->row->name;
  const struct named *kind = lookup(kinds, sizeof kinds / sizeof *kinds, name), *flow = lookup(flows, sizeof flows / sizeof *flows, name);
  if (kind)
    si->kind = kind->value;
  else if (in->class == CLASS_VMEM)
    si->kind = vector_kind(in);
  si->flow = si->kind ? FLOW_MEMORY : FLOW_ANY;
  if (flow) {
    si->flow = flow->value;
    si->flip = flow->flip;
  }
  si->two = starts(name, "ds_read2") || starts(name, "ds_write2");
  if (in->class == CLASS_LDS) si->bytes = (uint8_t)(in->row->extra & (si->two ? 15 : 31));
  si->writes_scc = in->class == CLASS_SALU && (starts(name, "s_cmp") || !starts(name, "s_cselect"));
  for (size_t i = 0; i < sizeof keep_scc / sizeof *keep_scc; i++)
    if (starts(name, keep_scc[i]) && !starts(name, "s_cmp")) si->writes_scc = false;
  for (uint8_t i = 0; i < INST_SOURCES; i++) {
    const struct source *s = &in->src[i];
    struct reg_range range = {.reg = s->reg, .words = s->words, .source = i};
    if (s->kind == OPERAND_VGPR && s->words) si->vread[si->vreads++] = range;
    if (s->kind == OPERAND_SREG && s->words) si->sread[si->sreads++] = range;
  }
}

struct strict_inst *strict_inst_table(const struct program *program) {
  struct strict_inst *table = calloc(program->count + 1, sizeof *table);
  for (uint32_t i = 0; table && i < program->count; i++)
    if (program->inst[i].row && !program->inst[i].refusal) describe(&program->inst[i], &table[i]);
  return table;
}
