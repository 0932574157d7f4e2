/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code -> an array of instructions ready to execute. LLVM's disassembler says what the bytes mean, inst_text reads its text,
   the rows of isa_*.def give the function. Done once a code object; the result is read-only and shared by all threads. */
#ifndef EMULATOR_DECODE_H
#define EMULATOR_DECODE_H

#include "wave.h"

enum { DECODE_ERROR_MAX = 256, INST_SOURCES = 6 };

enum operand_kind { OPERAND_NONE, OPERAND_VGPR, OPERAND_SREG, OPERAND_SCC, OPERAND_EXECZ, OPERAND_VCCZ, OPERAND_CONST };

/* A source. Its words are (raw & keep) ^ flip: abs and neg, whatever the type. `reg` counts from v0 (a0 is 256), or is a scalar's
   hardware number. */
struct source {
  uint8_t kind;
  uint8_t words;
  bool plain;       /* a VGPR without any modifier: its register is the operand */
  uint8_t select;   /* SDWA: enum text sel; TEXT_SEL_DWORD: all of it */
  bool sign_extend; /* SDWA sext() */
  uint8_t half;     /* op_sel of a 16-bit source: 1: the high half */
  uint8_t lo, hi;   /* packed operations: which half (or dword) feeds the low and the high result */
  uint8_t flip_lo, flip_hi; /* packed operations: neg_lo, neg_hi */
  uint16_t reg;
  uint32_t value[2];
  uint32_t keep[2], flip[2];
};

struct dest {
  uint8_t kind;
  uint8_t words;
  uint8_t select, unused; /* SDWA dst_sel, dst_unused */
  uint8_t half;           /* op_sel: write the high half only */
  bool keep_high;         /* a 16-bit result keeps the other half */
  uint16_t reg;
};

enum dpp_kind { DPP_NONE, DPP_MOVE }; /* lanes come from inst->dpp_lane */

struct inst {
  void (*run)(struct wave *w, const struct inst *in);
  uint8_t class;
  uint8_t sources;
  struct dest dst, dst2;    /* dst2: the scalar result of carries, compares, div_scale */
  struct source src[INST_SOURCES];
  bool special_commit;      /* SDWA, DPP masks, halves, clamp, omod: commit() takes the slow way */
  bool clamp;
  uint8_t omod;             /* 1: times 2, 2: times 4, 3: times 1/2 */
  const int8_t *dpp_lane;   /* DPP: source lane of each lane, -1: none; null: no DPP */
  uint8_t row_mask, bank_mask;
  bool bound_ctrl;          /* a lane without a source reads 0, instead of being left alone */
  uint8_t sc0, sc1, nt, lds;
  uint8_t offen, idxen, cbsz, abid, blgp, words;
  int32_t offset, offset1;
  uint32_t imm;             /* op_sel, swizzle pattern, hwreg, bitop3: whatever the row says */
  uint32_t target;          /* branches: index of the instruction; UINT32_MAX: not an instruction */
  int16_t wait_vm, wait_lgkm, wait_exp; /* s_waitcnt; -1: not waited for */
  uint64_t address;         /* device address */
  uint32_t bytes;
  const char *text;         /* LLVM's text, for messages */
  const void *row;          /* mfma shapes and the like */
};

struct program {
  struct inst *inst;
  uint32_t count;
  uint64_t address, bytes;  /* of the text in the device's address space */
  uint32_t *index;          /* by (byte offset / 4): the instruction that starts there, or UINT32_MAX */
  char *texts;
  uint32_t unknown;         /* instructions that executing would fault on */
  char first_unknown[DECODE_ERROR_MAX]; /* ... why, of the first of them; padding between kernels counts too */
  uint32_t vgprs, agprs, sgprs; /* highest register used, plus 1 */
  bool fnuz;                /* fp8 is FNUZ: gfx940, gfx941, gfx942 */
};

/* Decodes `bytes` of machine code (a code object's .text) that the device sees at `address`, for `cpu` ("gfx950"). An instruction that the
   emulator does not know becomes one that faults with its name and address when it is executed. Null and a sentence in `error` if the
   disassembler cannot be made or memory is short. Free with program_free(). */
struct program *program_decode(const void *text, uint64_t bytes, uint64_t address, const char *cpu, char error[DECODE_ERROR_MAX]);
void program_free(struct program *program);

/* The instruction at a device address, or UINT32_MAX. */
uint32_t program_at(const struct program *program, uint64_t address);

#endif
