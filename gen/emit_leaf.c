/* SPDX-License-Identifier: Apache-2.0 */
/* Typed calls of the leaf operations, made from templates.def. */
#include "emit.h"

static void want(struct ir *b, const char *name, val v, ir_type type) {
  if (v.type != type) ir_fail(b, name, "wrong argument type");
}

#define TEMPLATE1(name, result, a)                                                                                                         \
  val leaf_##name(struct ir *b, val x) {                                                                                                   \
    want(b, #name, x, T_##a);                                                                                                              \
    ir_hint(b, #name);                                                                                                                     \
    return ir_call(b, "front." #name, T_##result, 0, IR_ARGS(x));                                                                          \
  }
#define TEMPLATE3(name, result, a, c, d)                                                                                                   \
  val leaf_##name(struct ir *b, val x, val y, val z) {                                                                                     \
    want(b, #name, x, T_##a), want(b, #name, y, T_##c), want(b, #name, z, T_##d);                                                          \
    ir_hint(b, #name);                                                                                                                     \
    return ir_call(b, "front." #name, T_##result, 0, IR_ARGS(x, y, z));                                                                    \
  }
#define TEMPLATE4(name, result, a, c, d, f)                                                                                                \
  val leaf_##name(struct ir *b, val x, val y, val z, val w) {                                                                              \
    want(b, #name, x, T_##a), want(b, #name, y, T_##c), want(b, #name, z, T_##d), want(b, #name, w, T_##f);                                \
    ir_hint(b, #name);                                                                                                                     \
    return ir_call(b, "front." #name, T_##result, 0, IR_ARGS(x, y, z, w));                                                                 \
  }
#include "templates.def"
