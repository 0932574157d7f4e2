/* SPDX-License-Identifier: Apache-2.0 */
/* Inside check: the kernel's code as instructions and blocks, and the gates' files. */
#ifndef FRONT_CHECK_GATES_H
#define FRONT_CHECK_GATES_H

#include "check.h"
#include "codeobject.h"
#include "inst_text.h"
#include "issue_order.h"
#include "note.h"

struct check_inst {
  uint32_t offset, bytes; /* from the kernel's entry */
  uint32_t block;
  uint16_t row; /* of the issue order, of a vector memory access; else FRONT_EVENT_NONE */
  bool access;  /* goes to memory through a buffer, global, flat or scratch instruction */
  struct inst_text text;
};

struct check_block {
  uint32_t first, end; /* instructions first .. end - 1 */
  uint32_t next[2], nexts;
  uint32_t loop; /* blocks of one loop (each reaches the other) have the same number; 0: in none */
};

struct check_code {
  struct check_inst *inst;
  uint32_t insts, room;
  struct check_block *block;
  uint32_t blocks, loops;
  uint64_t *reach; /* bit j of row i: block j can run after block i */
  uint32_t reach_words;
};

struct check {
  struct code_object co;
  const struct code_kernel *kernel;
  struct plan plan;
  bool has_note;
  char note_error[CODE_ERROR_MAX];
  struct front_note note;
  struct issue_row row[ISSUE_ROWS_MAX];
  uint32_t rows;
  struct check_code code;
  struct check_report *report;
};

/* Adds a gate's verdict: good if `wrong` is empty and the counts agree. */
void check_gate(struct check *c, const char *name, const char *unit, uint32_t examined, uint32_t expected, const char *wrong);

/* What the last gate found, for people. */
void check_figure(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "+0x1f24 buffer_load_dword v1, ...: " and then the text, into a gate's message. Keeps what is there: the first finding counts. */
void check_note_fault(const struct check_inst *at, char message[CHECK_MESSAGE_MAX], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* llvm-objdump's text of each image, malloc'd. */
enum frontgen_status check_disassemble(const struct check_image *image, size_t count, const struct frontgen_options *options,
    char *text[CHECK_IMAGES_MAX], char error[FRONTGEN_ERROR_MAX]);

/* Reads the kernel's instructions of that text, and finds its blocks and loops. FRONTGEN_GATE: the code cannot be followed (`error` says
   where). */
enum frontgen_status check_read_code(struct check *c, const char *text, char error[FRONTGEN_ERROR_MAX]);
void check_free_code(struct check_code *code);

/* Finds the blocks, their successors and loops of the instructions. */
enum frontgen_status check_find_blocks(struct check_code *code, char error[FRONTGEN_ERROR_MAX]);

/* True if instruction b can run after instruction a. */
bool check_reaches(const struct check_code *code, uint32_t a, uint32_t b);

/* True if every path from the entry to the block `end` goes through the block. UINT32_MAX: to any end of the kernel. */
bool check_on_every_path(const struct check_code *code, uint32_t block, uint32_t end);

static inline bool check_block_reaches(const struct check_code *code, uint32_t from, uint32_t to) {
  return code->reach[(size_t)from * code->reach_words + to / 64] >> (to % 64) & 1;
}

void check_object_gates(struct check *c);  /* what ELF, note, descriptor and metadata say */
void check_access_gates(struct check *c);  /* vector memory accesses against the rows of the issue order */
void check_order_gates(struct check *c);   /* in which order they can run; loops */
void check_handoff_gates(struct check *c); /* waits and barriers */
void check_operand_gates(struct check *c); /* MFMA operands, resources, forbidden instructions */

#endif
