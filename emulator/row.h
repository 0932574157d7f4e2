/* SPDX-License-Identifier: Apache-2.0 */
/* A row of the instruction table, and how a row's shape turns instruction text into a struct inst. The rows are in isa_*.def, next to
   the functions in exec_*.c that include them. */
#ifndef EMULATOR_ROW_H
#define EMULATOR_ROW_H

#include "decode.h"
#include "inst_text.h"

enum fidelity { EXACT, APPROXIMATE };

/* What a shape reads from. Operands and modifiers are taken off; whatever is left at the end is an error. */
struct reading {
  const struct inst_text *text;
  const struct isa_row *row;
  const struct program *program;
  struct inst *in;
  uint32_t next;      /* text operand */
  uint64_t mods_left; /* modifiers not yet taken */
  char *error;        /* DECODE_ERROR_MAX */
  bool failed;
};

struct isa_row {
  const char *name;                /* LLVM's mnemonic without suffix; " clamp" behind it: the row for the saturating form */
  void (*read)(struct reading *r); /* the shape */
  void (*run)(struct wave *w, const struct inst *in);
  uint8_t class;    /* enum inst_class */
  uint8_t fidelity; /* enum fidelity */
  uint8_t type[5];  /* enum isa_type: result, sources; meaning is the shape's */
  uint16_t extra;   /* the shape's */
};

struct isa_table {
  const char *name; /* the .def: "valu" */
  const struct isa_row *rows;
  uint32_t count;
};

/* All tables, in reading order. */
extern const struct isa_table *const isa_tables[];
extern const uint32_t isa_table_count;

extern const struct isa_table isa_salu, isa_valu, isa_cvt, isa_cmp, isa_packed, isa_lane, isa_lds, isa_vmem, isa_smem, isa_mfma, isa_wait;

/* --- pieces of shapes (shape.c) ------------------------------------------------------------------------------------------- */

/* Takes the modifier off and gives its value, 0 if absent. */
int32_t take_mod(struct reading *r, enum text_mod mod);
/* The next text operand, or null and an error. */
const struct text_operand *take_operand_text(struct reading *r);
/* Latches the first error: a sentence about this instruction. */
__attribute__((format(printf, 2, 3))) void reading_error(struct reading *r, const char *what, ...);
/* The next text operand as a source / a destination of a type. */
void take_source(struct reading *r, enum isa_type type);
void take_vector_source(struct reading *r, enum isa_type type); /* VGPRs only */
void take_dest(struct reading *r, enum isa_type type);
void take_scalar_dest(struct reading *r, struct dest *dst, uint32_t words);
/* An integer operand (decimal or hexadecimal). */
int64_t take_integer(struct reading *r);
/* Modifiers of vector arithmetic: DPP, SDWA, clamp, omod, op_sel. Call it when all operands are taken. */
void take_vector_mods(struct reading *r);
void take_cache_mods(struct reading *r);

uint32_t type_words(enum isa_type type);

#endif
