/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code -> an array of instructions ready to execute. LLVM's disassembler says what the bytes mean, inst_text reads its text,
   the rows of isa_*.def give the function. Done once a code object; the result is read-only and shared by all threads. */
#ifndef EMULATOR_DECODE_H
#define EMULATOR_DECODE_H

#include "wave.h"

enum { DECODE_ERROR_MAX = 256, INST_SOURCES = 5 };

enum operand_kind { OPERAND_NONE, OPERAND_VGPR, OPERAND_SREG, OPERAND_CONST, OPERAND_SCC, OPERAND_EXECZ, OPERAND_VCCZ };

/* How an instruction reads an operand's bits, or writes its result. pk: two 16-bit integers in a register, pkh: two f16, pkf: two f32 in
   a pair; the b ones are register groups without a number type. */
enum isa_type {
  T_NONE,
  T_u16,
  T_i16,
  T_f16,
  T_pk,
  T_pkh,
  T_u32,
  T_i32,
  T_f32,
  T_u64,
  T_i64,
  T_f64,
  T_pkf,
  T_b96,
  T_b128,
  T_b256,
  T_b512,
  ISA_TYPES
};

/* A source. `reg` counts from v0 (a0 is 256), or is a scalar's hardware number. A word of it is (raw & keep) ^ flip, which is abs and neg
   for every type. */
struct source {
  uint8_t kind; /* enum operand_kind */
  uint8_t type; /* enum isa_type */
  uint8_t words;
  bool plain;       /* a VGPR without any modifier: its register is the operand */
  uint8_t select;   /* SDWA: which byte or word, as in the encoding; SELECT_ALL: everything */
  bool sign_extend; /* SDWA: sext() */
  uint8_t lo, hi;   /* op_sel, op_sel_hi: which half (packed f32: which dword) feeds the low, the high result; lo alone for 16-bit types */
  uint16_t reg;
  bool uniform;      /* a scalar or constant of one word without any modifier: the same in all lanes */
  uint32_t value[2]; /* OPERAND_CONST */
  uint32_t keep[2], flip[2];
};

struct dest {
  uint8_t kind; /* VGPR, SREG or NONE */
  uint8_t type;
  uint8_t words;
  uint8_t select, unused; /* SDWA dst_sel, dst_unused */
  uint8_t half;           /* op_sel: the high half is written */
  bool keep_other;        /* a 16-bit result leaves the register's other half alone */
  uint16_t reg;
};

enum { SELECT_ALL = 6 };

/* How a vector memory instruction addresses. */
enum memory_space { SPACE_BUFFER, SPACE_GLOBAL, SPACE_FLAT, SPACE_SCRATCH };

struct inst {
  void (*run)(struct wave *w, const struct inst *in);
  const struct isa_row *row;
  uint8_t class; /* enum inst_class */
  uint8_t sources;
  bool slow_commit;      /* SDWA, DPP, halves, clamp or omod: commit() takes the slow way */
  bool dpp;              /* source 0 goes through dpp_lane */
  struct dest dst, dst2; /* dst2: the scalar result of carries, compares, div_scale */
  struct source src[INST_SOURCES];
  bool clamp;
  uint8_t omod;                  /* 1: times 2, 2: times 4, 3: times 1/2 */
  int8_t dpp_lane[LANES_A_WAVE]; /* the source lane of each lane, -1: there is none */
  uint64_t dpp_written;          /* lanes that DPP writes when all are active */
  uint8_t row_mask, bank_mask;
  bool bound_ctrl; /* a lane without a source reads 0, instead of being left alone */
  uint8_t space;   /* enum memory_space */
  bool sc0, sc1, nt, offen, idxen;
  bool lds; /* the loaded dwords go to LDS */
  uint8_t cbsz, abid, blgp;
  uint8_t words; /* memory: dwords that move; 0: less than one */
  int32_t offset, offset1;
  uint32_t imm;                         /* swizzle pattern, hwreg, bitop3, s_sleep's count: what the row says */
  bool branch;                          /* goes to address + 4 + offset */
  uint32_t target;                      /* branches: index of the instruction, NO_INST: no instruction starts there */
  int16_t wait_vm, wait_lgkm, wait_exp; /* s_waitcnt; -1: not waited for */
  uint32_t bytes;
  uint64_t address;    /* of the device */
  const char *refusal; /* why executing it is a fault; null: it is known */
  const char *text;    /* LLVM's text, for messages */
};

#define NO_INST UINT32_MAX

/* The high half of a flat address into LDS, into a lane's scratch memory: no host address has it. */
enum { SHARED_APERTURE = 0x00010000, PRIVATE_APERTURE = 0x00020000 };

struct program {
  struct inst *inst;
  uint32_t count;
  uint64_t address, bytes; /* of the text in the device's address space */
  uint32_t *index;         /* by (byte offset / 4): the instruction that starts there, or NO_INST */
  char *texts;
  uint32_t unknown;                     /* instructions that executing would fault on */
  char first_unknown[DECODE_ERROR_MAX]; /* ... why, of the first of them; padding between kernels counts too */
  uint8_t *executed;                    /* an instruction: it was, if someone asks (executed.h); or null */
  bool gfx950;
  bool fnuz; /* fp8 is FNUZ: gfx940, gfx941, gfx942 */
};

/* Decodes `bytes` of machine code (a code object's .text) that the device sees at `address`, for `cpu` ("gfx950"). An instruction that the
   emulator does not know becomes one that faults with its name and address when it is executed. Null and a sentence in `error` if the
   disassembler cannot be made or memory is short. Free with program_free(). */
struct program *program_decode(const void *text, uint64_t bytes, uint64_t address, const char *cpu, char error[DECODE_ERROR_MAX]);
void program_free(struct program *program);

/* The instruction at a device address, or NO_INST. */
uint32_t program_at(const struct program *program, uint64_t address);

#endif
