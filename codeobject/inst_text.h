/* SPDX-License-Identifier: Apache-2.0 */
/* One line of LLVM's AMDGPU disassembly (llvm-objdump's or the C API's, gfx9 targets) as a struct, and back. It knows how operands
   and modifiers are spelled, not what an instruction does. No allocation, no state: thread safe. */
#ifndef CODEOBJECT_INST_TEXT_H
#define CODEOBJECT_INST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_NAME_MAX = 48, TEXT_OPERANDS_MAX = 8, TEXT_LIST_MAX = 8, TEXT_LINE_MAX = 320, TEXT_ERROR_MAX = 160 };

enum text_suffix { TEXT_PLAIN, TEXT_E32, TEXT_E64, TEXT_DPP, TEXT_SDWA };

enum text_kind {
  TEXT_VGPR,    /* v5, v[4:7] */
  TEXT_AGPR,    /* a5, a[4:7] */
  TEXT_SREG,    /* s5, s[4:7], vcc, exec, m0, ttmp..., by hardware number: see TEXT_REG_... */
  TEXT_SOURCE,  /* src_scc, src_shared_base, ...: read-only scalars, by hardware number */
  TEXT_INT,     /* 12, -1: an inline integer or an immediate field */
  TEXT_FLOAT,   /* 1.0, -4.0: an inline float; its type is the instruction's */
  TEXT_LITERAL, /* 0x42f60000: a 32-bit literal's bits */
  TEXT_OFF,     /* off */
  TEXT_HWREG,   /* hwreg(HW_REG_MODE, 0, 4): value is the 16-bit immediate */
  TEXT_WORD     /* any other name(...): sendmsg, gpr_idx; only spelled out */
};

/* Hardware numbers of scalar registers (gfx9). s0 is 0. */
enum {
  TEXT_REG_FLAT_SCRATCH = 102,
  TEXT_REG_XNACK_MASK = 104,
  TEXT_REG_VCC = 106,
  TEXT_REG_TTMP = 108,
  TEXT_REG_M0 = 124,
  TEXT_REG_EXEC = 126,
  TEXT_SRC_SHARED_BASE = 235,
  TEXT_SRC_SHARED_LIMIT,
  TEXT_SRC_PRIVATE_BASE,
  TEXT_SRC_PRIVATE_LIMIT,
  TEXT_SRC_POPS_EXITING_WAVE_ID,
  TEXT_SRC_VCCZ = 251,
  TEXT_SRC_EXECZ,
  TEXT_SRC_SCC
};

struct text_operand {
  enum text_kind kind;
  uint16_t reg;   /* VGPR, AGPR, SREG, SOURCE: the first register */
  uint16_t count; /* ... and how many dwords; vcc and exec have 2, vcc_lo has 1 */
  bool neg, abs;  /* -v1, |v1| (both: -|v1|) */
  bool sext;      /* sext(v1), SDWA */
  int64_t value;  /* INT, LITERAL, HWREG */
  double real;    /* FLOAT; 1 / (2 pi) is given in full precision */
  char word[32];  /* WORD */
};

/* Trailing modifiers: MOD(enum name, spelling, kind). FLAG: a bare word; NUMBER: word:5 or word:0xf; LIST: word:[1,0,1];
   SELECT: word:NAME, value is the field of the encoding; MAYBE: a bare word (value 1) or word:N. */
#define TEXT_MODIFIERS(MOD)                                                                                                                \
  MOD(OFFEN, "offen", FLAG)                                                                                                                \
  MOD(IDXEN, "idxen", FLAG)                                                                                                                \
  MOD(OFFSET, "offset", NUMBER)                                                                                                            \
  MOD(OFFSET0, "offset0", NUMBER)                                                                                                          \
  MOD(OFFSET1, "offset1", NUMBER)                                                                                                          \
  MOD(SC0, "sc0", FLAG)                                                                                                                    \
  MOD(NT, "nt", FLAG)                                                                                                                      \
  MOD(SC1, "sc1", FLAG)                                                                                                                    \
  MOD(GLC, "glc", FLAG)                                                                                                                    \
  MOD(TFE, "tfe", FLAG)                                                                                                                    \
  MOD(LDS, "lds", FLAG)                                                                                                                    \
  MOD(GDS, "gds", FLAG)                                                                                                                    \
  MOD(CLAMP, "clamp", FLAG)                                                                                                                \
  MOD(MUL, "mul", NUMBER)                                                                                                                  \
  MOD(DIV, "div", NUMBER)                                                                                                                  \
  MOD(OP_SEL, "op_sel", LIST)                                                                                                              \
  MOD(OP_SEL_HI, "op_sel_hi", LIST)                                                                                                        \
  MOD(NEG_LO, "neg_lo", LIST)                                                                                                              \
  MOD(NEG_HI, "neg_hi", LIST)                                                                                                              \
  MOD(NEG, "neg", LIST)                                                                                                                    \
  MOD(BYTE_SEL, "byte_sel", NUMBER)                                                                                                        \
  MOD(BITOP3, "bitop3", NUMBER)                                                                                                            \
  MOD(CBSZ, "cbsz", NUMBER)                                                                                                                \
  MOD(ABID, "abid", NUMBER)                                                                                                                \
  MOD(BLGP, "blgp", NUMBER)                                                                                                                \
  MOD(QUAD_PERM, "quad_perm", LIST)                                                                                                        \
  MOD(ROW_SHL, "row_shl", NUMBER)                                                                                                          \
  MOD(ROW_SHR, "row_shr", NUMBER)                                                                                                          \
  MOD(ROW_ROR, "row_ror", NUMBER)                                                                                                          \
  MOD(WAVE_SHL, "wave_shl", NUMBER)                                                                                                        \
  MOD(WAVE_SHR, "wave_shr", NUMBER)                                                                                                        \
  MOD(WAVE_ROL, "wave_rol", NUMBER)                                                                                                        \
  MOD(WAVE_ROR, "wave_ror", NUMBER)                                                                                                        \
  MOD(ROW_MIRROR, "row_mirror", FLAG)                                                                                                      \
  MOD(ROW_HALF_MIRROR, "row_half_mirror", FLAG)                                                                                            \
  MOD(ROW_BCAST, "row_bcast", NUMBER)                                                                                                      \
  MOD(ROW_NEWBCAST, "row_newbcast", NUMBER)                                                                                                \
  MOD(ROW_MASK, "row_mask", NUMBER)                                                                                                        \
  MOD(BANK_MASK, "bank_mask", NUMBER)                                                                                                      \
  MOD(BOUND_CTRL, "bound_ctrl", NUMBER)                                                                                                    \
  MOD(FI, "fi", NUMBER)                                                                                                                    \
  MOD(DST_SEL, "dst_sel", SELECT)                                                                                                          \
  MOD(DST_UNUSED, "dst_unused", SELECT)                                                                                                    \
  MOD(SRC0_SEL, "src0_sel", SELECT)                                                                                                        \
  MOD(SRC1_SEL, "src1_sel", SELECT)

enum text_mod {
#define MOD(name, spelling, kind) TEXT_MOD_##name,
  TEXT_MODIFIERS(MOD)
#undef MOD
      TEXT_MODS
};

/* SELECT values: BYTE_0..3, WORD_0..1, DWORD are 0..6; UNUSED_PAD, UNUSED_SEXT, UNUSED_PRESERVE are 0..2. */
enum { TEXT_SEL_BYTE_0, TEXT_SEL_WORD_0 = 4, TEXT_SEL_WORD_1, TEXT_SEL_DWORD };
enum { TEXT_UNUSED_PAD, TEXT_UNUSED_SEXT, TEXT_UNUSED_PRESERVE };

struct inst_text {
  char name[TEXT_NAME_MAX]; /* the mnemonic without _e32, _e64, _dpp, _sdwa */
  enum text_suffix suffix;
  uint32_t operands;
  struct text_operand operand[TEXT_OPERANDS_MAX];
  uint64_t mods;          /* bit m: modifier m is there */
  int32_t mod[TEXT_MODS]; /* its value; 0 if absent; a flag's is 1 */
  uint8_t list_count[TEXT_MODS];
  uint8_t list[TEXT_MODS][TEXT_LIST_MAX];
  int16_t wait_vm, wait_exp, wait_lgkm; /* s_waitcnt; -1: not waited for */
};

/* Parses one line. White space around it, and a comment from "//" or ";" on, are ignored. ds_swizzle's offset:swizzle(...) becomes the
   16-bit offset. False, and one sentence in `error` with the text that nobody understood, if anything is left over. */
bool inst_text_parse(const char *line, struct inst_text *inst, char error[TEXT_ERROR_MAX]);

static inline bool inst_text_has(const struct inst_text *inst, enum text_mod mod) { return inst->mods >> mod & 1; }

/* Writes the instruction as assembler text that llvm-mc takes. False if `size` bytes do not hold it. */
bool inst_text_print(const struct inst_text *inst, char *out, size_t size);

#endif
