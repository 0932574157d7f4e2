/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the kernel in emitted IR text as a list of what happens in it, knowing LLVM's syntax and DESIGN's sections 3 and 4 but nothing
   of gen/: its argument and region tables are its own. A text that it cannot follow fails the running cmocka test. */
#ifndef FRONT_TESTS_IR_READER_H
#define FRONT_TESTS_IR_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ir_event_kind {
  IR_LOAD, /* through a buffer */
  IR_STORE,
  IR_ATOMIC,
  IR_GLOBAL_STORE, /* at a 64-bit address */
  IR_SCALAR,       /* a kernarg scalar is read; pointers are seen at their use */
  IR_BARRIER,
  IR_WAIT, /* for vmcnt 0 */
  IR_SLEEP,
  IR_MFMA,
  IR_QUANTISE, /* a group's code is made */
  IR_BRANCH,
  IR_BRANCH_END,
  IR_LOOP,
  IR_LOOP_END,
};

struct ir_event {
  enum ir_event_kind kind;
  const char *what; /* argument or scratch region; the name of a branch */
  const char *text; /* the line in the module */
  uint32_t aux;     /* cache bits of a buffer access */
  uint32_t debug;   /* number of its !dbg, 0: none */
  uint32_t bytes;   /* of a lane's access */
  /* The access's resource: */
  bool masked;   /* its size is a select between `records` and 0 */
  bool computed; /* its size is not a constant */
  uint64_t records;
  uint32_t flags; /* word 3 */
};

struct ir_reader {
  struct ir_event *event;
  size_t events;
  const char *body, *end; /* the kernel's text */
};

/* The key's numbers that the tables need. */
struct ir_sizes {
  uint32_t tokens, q_rows, keys, window;
  bool tuned;
};

enum { IR_UNKNOWN_BYTES = 0 };

/* The text must outlive the reader. Free with ir_reader_free(). */
struct ir_reader ir_read(const char *text, const struct ir_sizes *sizes);
void ir_reader_free(struct ir_reader *r);

/* Bytes that DESIGN says an argument or region has; IR_UNKNOWN_BYTES where the key does not say. */
uint32_t design_bytes(const char *what, const struct ir_sizes *sizes);

/* The whole scratch of section 4. */
uint32_t design_scratch_bytes(const struct ir_sizes *sizes);

/* True if the line at `text` contains the string. */
bool line_has(const char *text, const char *string);

#endif
