/* SPDX-License-Identifier: Apache-2.0 */
#include "ir.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type_class { OTHER, INT, FLOAT, VECTOR, POINTER };

static const struct {
  const char *text, *suffix;
  uint32_t bytes;
  enum type_class class;
  ir_type element;
  uint32_t elements;
} types[IR_TYPES] = {
#define TYPE(name, text, suffix, bytes, class, element, elements) {text, suffix, bytes, class, T_##element, elements},
#include "ir_types.def"
#undef TYPE
};

const char *ir_type_text(ir_type type) { return types[type].text; }
const char *ir_type_suffix(ir_type type) { return types[type].suffix; }
uint32_t ir_type_bytes(ir_type type) { return types[type].bytes; }
ir_type ir_type_element(ir_type type) { return types[type].element; }

void ir_begin(struct ir *b) { *b = (struct ir){0}; }

void ir_free(struct ir *b) {
  text_free(&b->body);
  free(b->names);
  b->names = NULL;
}

const char *ir_error(const struct ir *b) {
  if (b->error[0]) return b->error;
  if (b->body.failed) return "out of memory while emitting IR";
  return b->depth ? "a block was left open" : NULL;
}

void ir_fail(struct ir *b, const char *site, const char *what) {
  if (!b->error[0]) snprintf(b->error, sizeof b->error, "%s: %s (after value %" PRIu32 ")", site, what, b->values);
}

static inline __attribute__((always_inline)) void put(struct ir *b, const char *string) { text_string(&b->body, string); }
static void put_number(struct ir *b, uint64_t number) { text_number(&b->body, number); }

void ir_hint(struct ir *b, const char *name) { b->hint = name; }

val ir_f32(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return ir_const(T_F32, bits);
}

static val new_value(struct ir *b, ir_type type, const char *name) {
  if (b->values == b->room) {
    uint32_t room = b->room ? 2 * b->room : 4096;
    const char **names = realloc(b->names, room * sizeof *names);
    if (!names) {
      ir_fail(b, "new_value", "out of memory");
      return (val){.type = type};
    }
    b->names = names;
    b->room = room;
  }
  b->names[b->values] = b->hint ? b->hint : name;
  b->hint = NULL;
  return (val){.type = type, .id = b->values++};
}

/* Floats print as the double of the same value, in hex: LLVM's own spelling, exact. */
static void put_constant(struct ir *b, val v) {
  if (v.type == T_F32) {
    uint32_t bits = (uint32_t)v.bits;
    float f;
    memcpy(&f, &bits, sizeof f);
    double d = (double)f;
    uint64_t wide;
    memcpy(&wide, &d, sizeof wide);
    text_print(&b->body, "0x%016" PRIX64, wide);
  } else if (v.type == T_I1) {
    put(b, v.bits ? "true" : "false");
  } else if (types[v.type].class == INT) {
    put_number(b, v.bits);
  } else if (v.type == T_LDS) {
    put(b, "@lds");
  } else if (v.bits == 0) {
    put(b, "zeroinitializer");
  } else {
    ir_fail(b, "put_constant", "a constant of this type can only be zero");
  }
}

static void put_name(struct ir *b, val v) {
  put(b, "%");
  put(b, b->names[v.id]);
  put(b, ".");
  put_number(b, v.id);
}

static void put_operand(struct ir *b, val v) {
  if (v.constant)
    put_constant(b, v);
  else if (v.id < b->values)
    put_name(b, v);
  else
    ir_fail(b, "put_operand", "a value that was never made");
}

static void put_typed(struct ir *b, val v) {
  put(b, types[v.type].text);
  put(b, " ");
  put_operand(b, v);
}

static void put_result(struct ir *b, val v) {
  put(b, "  ");
  put_name(b, v);
  put(b, " = ");
}

static void put_align(struct ir *b, uint32_t wanted, ir_type type) {
  put(b, ", align ");
  put_number(b, wanted ? wanted : types[type].bytes);
}

static void put_line(struct ir *b, uint32_t line) {
  if (line) {
    put(b, ", !dbg !");
    put_number(b, line + 99);
  }
  text_put(&b->body, "\n", 1);
}

static val binary(struct ir *b, const char *name, const char *text, enum type_class class, ir_type result, val x, val y) {
  if (x.type != y.type || types[x.type].class != class) ir_fail(b, name, "operand types differ or do not fit the operation");
  val r = new_value(b, result, name);
  if (b->error[0]) return r;
  put_result(b, r);
  put(b, text);
  put(b, " ");
  put_typed(b, x);
  put(b, ", ");
  put_operand(b, y);
  put_line(b, 0);
  return r;
}

#define BINARY(name, text, class)                                                                                                          \
  val ir_##name(struct ir *b, val x, val y) { return binary(b, #name, text, class, x.type, x, y); }
#define COMPARE(name, text, class)                                                                                                         \
  val ir_##name(struct ir *b, val x, val y) { return binary(b, #name, text, class, T_I1, x, y); }
#define INTRINSIC2(name, text, want)                                                                                                       \
  val ir_##name(struct ir *b, val x, val y) {                                                                                              \
    if (x.type != want || y.type != want) ir_fail(b, #name, "wrong operand type");                                                         \
    return ir_call(b, text, want, 0, IR_ARGS(x, y));                                                                                       \
  }
#include "ir_ops.def"
#undef BINARY
#undef COMPARE
#undef INTRINSIC2

val ir_fabs(struct ir *b, val x) { return ir_call(b, "llvm.fabs.f32", T_F32, 0, IR_ARGS(x)); }

val ir_select(struct ir *b, val condition, val x, val y) {
  if (condition.type != T_I1 || x.type != y.type) ir_fail(b, "select", "operand types do not fit");
  val r = new_value(b, x.type, "select");
  if (b->error[0]) return r;
  put_result(b, r);
  put(b, "select ");
  put_typed(b, condition);
  put(b, ", ");
  put_typed(b, x);
  put(b, ", ");
  put_typed(b, y);
  put_line(b, 0);
  return r;
}

val ir_cast(struct ir *b, const char *op, val x, ir_type to) {
  val r = new_value(b, to, op);
  if (b->error[0]) return r;
  put_result(b, r);
  put(b, op);
  put(b, " ");
  put_typed(b, x);
  put(b, " to ");
  put(b, types[to].text);
  put_line(b, 0);
  return r;
}

val ir_bits(struct ir *b, val x, ir_type to) {
  if (x.type == to) return x;
  if (types[x.type].bytes != types[to].bytes) ir_fail(b, "bits", "sizes differ");
  return ir_cast(b, "bitcast", x, to);
}

val ir_extract(struct ir *b, val vector, uint32_t i) {
  if (!types[vector.type].elements || i >= types[vector.type].elements) ir_fail(b, "extract", "no such element");
  val r = new_value(b, types[vector.type].element, "element");
  if (b->error[0]) return r;
  put_result(b, r);
  bool vectorial = types[vector.type].class == VECTOR;
  put(b, vectorial ? "extractelement " : "extractvalue ");
  put_typed(b, vector);
  put(b, vectorial ? ", i32 " : ", ");
  put_number(b, i);
  put_line(b, 0);
  return r;
}

val ir_vector(struct ir *b, ir_type type, const val *elements) {
  val r = {0};
  for (uint32_t i = 0; i < types[type].elements; i++) {
    if (elements[i].type != types[type].element) ir_fail(b, "vector", "wrong element type");
    val next = new_value(b, type, "vector");
    if (b->error[0]) return next;
    put_result(b, next);
    put(b, "insertelement ");
    if (i == 0) {
      put(b, types[type].text);
      put(b, " poison");
    } else {
      put_typed(b, r);
    }
    put(b, ", ");
    put_typed(b, elements[i]);
    put(b, ", i32 ");
    put_number(b, i);
    put_line(b, 0);
    r = next;
  }
  return r;
}

val ir_halves(struct ir *b, val low, val high) {
  if (low.type != T_V4I32 || high.type != T_V4I32) ir_fail(b, "halves", "two V4I32 wanted");
  val r = new_value(b, T_V8I32, "operand");
  if (b->error[0]) return r;
  put_result(b, r);
  put(b, "shufflevector ");
  put_typed(b, low);
  put(b, ", ");
  put_typed(b, high);
  put(b, ", <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>");
  put_line(b, 0);
  return r;
}

val ir_offset(struct ir *b, val pointer, val bytes) {
  if (types[pointer.type].class != POINTER || types[bytes.type].class != INT) ir_fail(b, "offset", "pointer and integer wanted");
  val r = new_value(b, pointer.type, "address");
  if (b->error[0]) return r;
  put_result(b, r);
  put(b, "getelementptr i8, ");
  put_typed(b, pointer);
  put(b, ", ");
  put_typed(b, bytes);
  put_line(b, 0);
  return r;
}

val ir_load_with(struct ir *b, ir_type type, val pointer, struct ir_memory options) {
  if (types[pointer.type].class != POINTER) ir_fail(b, "load", "pointer wanted");
  val r = new_value(b, type, options.name ? options.name : "load");
  if (b->error[0]) return r;
  put_result(b, r);
  put(b, options.is_volatile ? "load volatile " : "load ");
  put(b, types[type].text);
  put(b, ", ");
  put_typed(b, pointer);
  put_align(b, options.align, type);
  put_line(b, options.line);
  return r;
}

void ir_store_with(struct ir *b, val v, val pointer, struct ir_memory options) {
  if (types[pointer.type].class != POINTER) ir_fail(b, "store", "pointer wanted");
  if (b->error[0]) return;
  put(b, options.is_volatile ? "  store volatile " : "  store ");
  put_typed(b, v);
  put(b, ", ");
  put_typed(b, pointer);
  put_align(b, options.align, v.type);
  put_line(b, options.line);
}

val ir_call(struct ir *b, const char *function, ir_type result, uint32_t line, const val *args, uint32_t count) {
  val r = {.type = result};
  if (result != T_NONE) r = new_value(b, result, "call");
  if (b->error[0]) return r;
  if (result != T_NONE)
    put_result(b, r);
  else
    put(b, "  ");
  put(b, "call ");
  put(b, types[result].text);
  put(b, " @");
  put(b, function);
  put(b, "(");
  for (uint32_t i = 0; i < count; i++) {
    if (i) put(b, ", ");
    put_typed(b, args[i]);
  }
  put(b, ")");
  put_line(b, line);
  return r;
}

static bool push_block(struct ir *b, bool loop) {
  if (b->depth == IR_BLOCKS_DEEP) {
    ir_fail(b, "block", "nested too deep");
    return false;
  }
  b->block[b->depth].label = b->labels++;
  b->block[b->depth].loop = loop;
  b->depth++;
  return true;
}

/* The label of the innermost block, which must be of that kind. */
static uint32_t top_block(struct ir *b, bool loop) {
  if (b->depth == 0 || b->block[b->depth - 1].loop != loop) {
    ir_fail(b, "block", "an end without its begin");
    return 0;
  }
  return b->block[b->depth - 1].label;
}

void ir_if(struct ir *b, val condition, const char *name) {
  if (condition.type != T_I1) ir_fail(b, "if", "i1 wanted");
  if (!push_block(b, false) || b->error[0]) return;
  uint32_t n = b->block[b->depth - 1].label;
  put(b, "  br i1 ");
  put_operand(b, condition);
  put(b, ", label %then.");
  put_number(b, n);
  put(b, ", label %end.");
  put_number(b, n);
  put(b, "\nthen.");
  put_number(b, n);
  put(b, ": ; ");
  put(b, name);
  put(b, "\n");
}

void ir_end_if(struct ir *b) {
  uint32_t n = top_block(b, false);
  if (b->error[0]) return;
  b->depth--;
  put(b, "  br label %end.");
  put_number(b, n);
  put(b, "\nend.");
  put_number(b, n);
  put(b, ":\n");
}

static void put_label(struct ir *b, const char *kind, uint32_t n) {
  put(b, kind);
  put(b, ".");
  put_number(b, n);
}

static void put_branch(struct ir *b, const char *kind, uint32_t n) {
  put(b, "  br label %");
  put_label(b, kind, n);
  put(b, "\n");
}

void ir_loop(struct ir *b, const char *name) {
  if (!push_block(b, true) || b->error[0]) return;
  uint32_t n = b->block[b->depth - 1].label;
  put_branch(b, "loop", n);
  put_label(b, "loop", n);
  put(b, ": ; ");
  put(b, name);
  put(b, "\n");
}

struct ir_carry ir_loop_with(struct ir *b, const char *name, val first) {
  struct ir_carry c = {.now = first, .next = first};
  if (!push_block(b, true) || b->error[0]) return c;
  uint32_t n = b->block[b->depth - 1].label;
  put_branch(b, "before", n);
  put_label(b, "before", n);
  put(b, ":\n");
  put_branch(b, "loop", n);
  put_label(b, "loop", n);
  put(b, ": ; ");
  put(b, name);
  put(b, "\n");
  c.next = new_value(b, first.type, name);
  c.now = new_value(b, first.type, name);
  put_result(b, c.now);
  put(b, "phi ");
  put(b, types[first.type].text);
  put(b, " [ ");
  put_operand(b, first);
  put(b, ", %");
  put_label(b, "before", n);
  put(b, " ], [ ");
  put_operand(b, c.next);
  put(b, ", %");
  put_label(b, "latch", n);
  put(b, " ]\n");
  return c;
}

/* The innermost loop around here. */
static uint32_t loop_around(struct ir *b) {
  for (uint32_t i = b->depth; i-- > 0;)
    if (b->block[i].loop) return b->block[i].label;
  ir_fail(b, "leave", "not in a loop");
  return 0;
}

void ir_leave_if(struct ir *b, val condition) {
  uint32_t n = loop_around(b), again = b->labels++;
  if (b->error[0]) return;
  put(b, "  br i1 ");
  put_operand(b, condition);
  put(b, ", label %");
  put_label(b, "leave", n);
  put(b, ", label %");
  put_label(b, "again", again);
  put(b, "\n");
  put_label(b, "again", again);
  put(b, ":\n");
}

void ir_end_loop(struct ir *b) {
  uint32_t n = top_block(b, true);
  if (b->error[0]) return;
  b->depth--;
  put_branch(b, "loop", n);
  put_label(b, "leave", n);
  put(b, ":\n");
}

void ir_end_loop_with(struct ir *b, struct ir_carry carry, val next) {
  uint32_t n = top_block(b, true);
  if (next.type != carry.next.type || types[next.type].class != INT) ir_fail(b, "end_loop", "an integer of the carried type wanted");
  if (b->error[0]) return;
  put_branch(b, "latch", n);
  put_label(b, "latch", n);
  put(b, ":\n");
  put_result(b, carry.next); /* the name that the loop's head has already used */
  put(b, "add ");
  put_typed(b, next);
  put(b, ", 0\n");
  ir_end_loop(b);
}

void ir_line(struct ir *b, const char *text) {
  put(b, "  ");
  put(b, text);
  put(b, "\n");
}
