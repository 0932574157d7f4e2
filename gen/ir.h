/* SPDX-License-Identifier: Apache-2.0 */
/* The text of one LLVM IR function. Every emit function appends one line; types are checked at the call. The first error latches
   with its emit site, and ir_finish() reports it. Values are handles by value: copy them freely. At most one emitting call in an
   argument list, since C does not order arguments (constants may nest). Not thread safe; one struct ir an emission. */
#ifndef FRONT_IR_H
#define FRONT_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

typedef enum {
#define TYPE(name, text, suffix, bytes, class, element, elements) T_##name,
#include "ir_types.def"
#undef TYPE
  IR_TYPES
} ir_type;

typedef struct {
  ir_type type;
  bool constant;
  uint32_t id;   /* of a value */
  uint64_t bits; /* of a constant */
} val;

enum { IR_BLOCKS_DEEP = 16, IR_ERROR_MAX = 200 };

struct ir {
  struct text body;
  const char **names; /* of values, by id */
  uint32_t values, room;
  uint32_t labels;
  struct {
    uint32_t label;
    bool loop;
  } block[IR_BLOCKS_DEEP];
  uint32_t depth;
  const char *hint;         /* the next value's name */
  char error[IR_ERROR_MAX]; /* the first one; empty: none */
};

void ir_begin(struct ir *b);
void ir_free(struct ir *b);

/* The first error, or null. */
const char *ir_error(const struct ir *b);
/* Latches an error; `site` is the emit function. */
void ir_fail(struct ir *b, const char *site, const char *what);

const char *ir_type_text(ir_type type);
const char *ir_type_suffix(ir_type type);
uint32_t ir_type_bytes(ir_type type);
ir_type ir_type_element(ir_type type);

/* Names the next value (a string that outlives the builder). */
void ir_hint(struct ir *b, const char *name);

static inline val ir_const(ir_type type, uint64_t bits) { return (val){.type = type, .constant = true, .bits = bits}; }
static inline val ir_i32(uint32_t v) { return ir_const(T_I32, v); }
static inline val ir_i64(uint64_t v) { return ir_const(T_I64, v); }
static inline val ir_i1(bool v) { return ir_const(T_I1, v); }
static inline val ir_lds(void) { return ir_const(T_LDS, 0); } /* the module's LDS block, @lds */
val ir_f32(float v);

#define BINARY(name, text, class)     val ir_##name(struct ir *b, val x, val y);
#define COMPARE(name, text, class)    val ir_##name(struct ir *b, val x, val y);
#define INTRINSIC2(name, text, types) val ir_##name(struct ir *b, val x, val y);
#include "ir_ops.def"
#undef BINARY
#undef COMPARE
#undef INTRINSIC2

val ir_select(struct ir *b, val condition, val x, val y);
val ir_cast(struct ir *b, const char *op, val x, ir_type to); /* zext, sext, trunc, bitcast, fptrunc: sizes are LLVM's to check */
val ir_bits(struct ir *b, val x, ir_type to);                 /* bitcast; nothing if x has the type */
val ir_extract(struct ir *b, val vector, uint32_t i);
val ir_vector(struct ir *b, ir_type type, const val *elements);
val ir_halves(struct ir *b, val low, val high);      /* two V4I32 -> V8I32 */
val ir_offset(struct ir *b, val pointer, val bytes); /* getelementptr i8 */
val ir_fabs(struct ir *b, val x);

struct ir_memory {
  const char *name;
  uint32_t align; /* bytes; 0: the type's size */
  bool is_volatile;
  uint32_t line; /* debug line; 0: none */
};
val ir_load_with(struct ir *b, ir_type type, val pointer, struct ir_memory options);
void ir_store_with(struct ir *b, val v, val pointer, struct ir_memory options);
#define ir_load(b, type, pointer, ...) ir_load_with(b, type, pointer, (struct ir_memory){__VA_ARGS__})
#define ir_store(b, v, pointer, ...)   ir_store_with(b, v, pointer, (struct ir_memory){__VA_ARGS__})

/* Any call; LLVM declares its intrinsics itself. `line`: debug line, 0 for none. The result's type may be T_NONE. */
val ir_call(struct ir *b, const char *function, ir_type result, uint32_t line, const val *args, uint32_t count);
#define IR_ARGS(...) (const val[]){__VA_ARGS__}, (uint32_t)(sizeof((const val[]){__VA_ARGS__}) / sizeof(val))

/* Structured control flow. An if has no result values; a value made in a loop may be used behind it. */
void ir_if(struct ir *b, val condition, const char *name);
void ir_end_if(struct ir *b);
void ir_loop(struct ir *b, const char *name);  /* do { … */
void ir_leave_if(struct ir *b, val condition); /*   if (condition) leave; … (inside of ifs too) */
void ir_end_loop(struct ir *b);                /* } again */

/* A loop that carries an integer from round to round: `now` in this round, `first` in the first one. */
struct ir_carry {
  val now, next;
};
struct ir_carry ir_loop_with(struct ir *b, const char *name, val first);
void ir_end_loop_with(struct ir *b, struct ir_carry carry, val next);

/* A line of text as it is: fences, comments. */
void ir_line(struct ir *b, const char *text);

#endif
