/* SPDX-License-Identifier: Apache-2.0 */
/* A row of the instruction table, and how a row's shape turns instruction text into a struct inst. The rows are in isa_*.def, next to
   the functions in exec_*.c that include them. */
#ifndef EMULATOR_ROW_H
#define EMULATOR_ROW_H

#include "decode.h"
#include "inst_text.h"

enum fidelity { EXACT, APPROXIMATE };

/* isa_row.extra of the arithmetic shapes. */
enum { ROW_KEEP_OTHER = 1, ROW_CARRY_IN = 2, ROW_DEST_IS_SOURCE = 4, ROW_COMPARE = 8, ROW_LOW_ONLY = 16 };

/* What a shape reads from. Operands and modifiers are taken off; whatever is left at the end is an error. */
struct reading {
  const struct inst_text *text;
  const struct isa_row *row;
  const struct program *program;
  struct inst *in;
  const uint8_t *code; /* its bytes, for what the text does not say */
  uint32_t next;       /* text operand */
  uint64_t mods_left;  /* modifiers not yet taken */
  char *error;         /* DECODE_ERROR_MAX */
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

extern const struct isa_table isa_salu, isa_valu, isa_cvt, isa_scale, isa_cmp, isa_packed, isa_lane, isa_lds, isa_vmem, isa_smem,
    isa_scratch, isa_mfma, isa_wait;

/* --- pieces of shapes (shape.c) ------------------------------------------------------------------------------------------- */

uint32_t type_words(enum isa_type type);

/* Latches the first error: a sentence about this instruction. */
__attribute__((format(printf, 2, 3))) void reading_error(struct reading *r, const char *what, ...);

/* The modifier's value, 0 if absent or taken before. */
int32_t take_mod(struct reading *r, enum text_mod mod);
/* The next text operand; after an error, an empty one. */
const struct text_operand *take_text(struct reading *r);
/* The next text operand as a source or destination of a type: anywhere, VGPRs (and AGPRs) only, scalars only. */
void take_source(struct reading *r, enum isa_type type);
void take_vector_source(struct reading *r, enum isa_type type);
void take_scalar_source(struct reading *r, enum isa_type type);
void take_vector_dest(struct reading *r, enum isa_type type);
void take_scalar_dest(struct reading *r, struct dest *dst, enum isa_type type);
/* A copy of the vector destination as one more source. */
void add_dest_source(struct reading *r, enum isa_type type);
/* Groups of VGPRs (or AGPRs) whose elements the row's function picks itself: of an operand; the next operand; the result. */
bool text_is_vector(const struct text_operand *op);
struct source vgprs_of(const struct text_operand *op);
struct source take_vgprs(struct reading *r, uint32_t words);
void take_vgpr_result(struct reading *r, uint32_t words);
/* An immediate, decimal or hexadecimal. */
int64_t take_integer(struct reading *r);
/* DPP, SDWA, clamp, omod, op_sel of vector arithmetic; after all operands. */
void take_vector_mods(struct reading *r);

/* --- shapes: what a row's operands are, and what type[] says --------------------------------------------------------------- */

void read_vector(struct reading *r);        /* vdst, sources: result, then each source */
void read_vector_acc(struct reading *r);    /* the same, the last source being the destination */
void read_compare(struct reading *r);       /* sdst pair, sources: type[1], type[2] */
void read_carry(struct reading *r);         /* vdst, sdst pair, sources; ROW_CARRY_IN: and a carry-in pair */
void read_select(struct reading *r);        /* vdst, two sources, a mask pair */
void read_packed(struct reading *r);        /* VOP3P: vdst, sources */
void read_mix(struct reading *r);           /* v_fma_mix: each source f32 or, by op_sel_hi, a half of f16 */
void read_scalar(struct reading *r);        /* sdst, sources; ROW_DEST_IS_SOURCE: sdst comes first */
void read_scalar_nodest(struct reading *r); /* sources alone */
void read_scalar_imm(struct reading *r);    /* sopk: sdst is source 0, a 16-bit immediate source 1; ROW_COMPARE: no result */
void read_branch(struct reading *r);        /* a 16-bit distance in words */
void read_plain(struct reading *r);         /* nothing */
void read_count(struct reading *r);         /* one immediate, into imm */

#endif
