/* SPDX-License-Identifier: Apache-2.0 */
/* The IR builder: a wrong call is an error that names its site, and what it writes is what LLVM reads. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir_amdgcn.h"
#include "llvm_accepts.h"
#include "support.h"

/* A value of a type that the builder did not make from others. */
static val some(struct ir *b, ir_type type) {
  static const char *const functions[IR_TYPES] = {[T_I1] = "some_i1",
      [T_I16] = "some_i16",
      [T_I32] = "some_i32",
      [T_I64] = "some_i64",
      [T_F32] = "some_f32",
      [T_V4I32] = "some_v4i32",
      [T_V4F32] = "some_v4f32",
      [T_GLOBAL] = "some_global",
      [T_CONSTANT] = "some_constant",
      [T_V2I32] = "some_v2i32"};
  return ir_call(b, functions[type], type, 0, NULL, 0);
}

static const char declarations[] = "declare i1 @some_i1()\ndeclare i16 @some_i16()\ndeclare i32 @some_i32()\ndeclare i64 @some_i64()\n"
                                   "declare float @some_f32()\ndeclare <4 x i32> @some_v4i32()\ndeclare <4 x float> @some_v4f32()\n"
                                   "declare <2 x i32> @some_v2i32()\ndeclare ptr addrspace(1) @some_global()\n"
                                   "declare ptr addrspace(4) @some_constant()\n@lds = internal addrspace(3) global [64 x i8] poison\n";

/* The body as a module, verified; the caller frees it. */
static char *finished(struct ir *b) {
  if (ir_error(b)) fail_msg("%s", ir_error(b));
  size_t bytes;
  char *body = text_take(&b->body, &bytes), *module = malloc(bytes + 4096);
  int n = sprintf(module, "target triple = \"amdgcn-amd-amdhsa\"\n%sdefine void @f() {\n%s  ret void\n}\n", declarations, body);
  assert_llvm_accepts("a built function", module, (size_t)n);
  free(body);
  ir_free(b);
  return module;
}

static void assert_error(struct ir *b, const char *site) {
  const char *error = ir_error(b);
  if (!error || strncmp(error, site, strlen(site)) != 0) fail_msg("an error of \"%s\" wanted, found: %s", site, error ? error : "none");
  ir_free(b);
}

#define ASSERT_ERROR(site, ...)                                                                                                            \
  do {                                                                                                                                     \
    struct ir b_, *b = &b_;                                                                                                                \
    ir_begin(b);                                                                                                                           \
    __VA_ARGS__;                                                                                                                           \
    assert_error(b, site);                                                                                                                 \
  } while (0)

static void a_wrong_operand_is_an_error_that_names_its_operation(void **state) {
  (void)state;
  ASSERT_ERROR("add", val x = some(b, T_I32); val y = some(b, T_I64); ir_add(b, x, y));
  ASSERT_ERROR("fadd", val x = some(b, T_I32); ir_fadd(b, x, x));
  ASSERT_ERROR("mul", val x = some(b, T_F32); ir_mul(b, x, x));
  ASSERT_ERROR("ult", val x = some(b, T_I32); ir_ult(b, x, ir_i64(1)));
  ASSERT_ERROR("umin", ir_umin(b, ir_i64(1), ir_i64(2)));
  ASSERT_ERROR("fmaximum", ir_fmaximum(b, ir_i32(1), ir_f32(2)));
  ASSERT_ERROR("select", ir_select(b, ir_i32(1), ir_i32(1), ir_i32(2)));
  ASSERT_ERROR("select", ir_select(b, ir_i1(true), ir_i32(1), ir_f32(2)));
  ASSERT_ERROR("bits", ir_bits(b, ir_i64(1), T_F32));
  ASSERT_ERROR("extract", val v = some(b, T_V4I32); ir_extract(b, v, 4));
  ASSERT_ERROR("extract", ir_extract(b, ir_i32(1), 0));
  ASSERT_ERROR("vector", const val v[] = {ir_i32(1), ir_f32(1)}; ir_vector(b, T_V2I32, v));
  ASSERT_ERROR("halves", val v = some(b, T_V2I32); ir_halves(b, v, v));
  ASSERT_ERROR("offset", ir_offset(b, ir_i32(0), ir_i32(4)));
  ASSERT_ERROR("offset", val p = some(b, T_GLOBAL); ir_offset(b, p, ir_f32(4)));
  ASSERT_ERROR("load", ir_load(b, T_I32, ir_i32(0)));
  ASSERT_ERROR("store", ir_store(b, ir_i32(0), ir_i32(0)));
  ASSERT_ERROR("if", ir_if(b, ir_i32(1), "x"); ir_end_if(b));
  ASSERT_ERROR("put_operand", const val never = {.type = T_I32, .id = 7}; ir_add(b, never, never));
  ASSERT_ERROR("put_constant", ir_select(b, ir_i1(true), ir_const(T_V4I32, 1), ir_const(T_V4I32, 0)));
}

static void a_wrong_access_or_lane_move_is_an_error(void **state) {
  (void)state;
  ASSERT_ERROR("resource", amd_resource(b, ir_i64(0), ir_i64(4)));
  ASSERT_ERROR("resource", val p = some(b, T_GLOBAL); amd_resource(b, p, ir_i32(4)));
  ASSERT_ERROR("buffer_load", buffer_load(b, T_I32, ir_i32(0), ir_i32(0), .line = 1));
  ASSERT_ERROR("buffer_load", val p = some(b, T_GLOBAL); val r = amd_resource(b, p, ir_i64(4)); buffer_load(b, T_I64, r, ir_i32(0)));
  ASSERT_ERROR("buffer_load", val p = some(b, T_GLOBAL); val r = amd_resource(b, p, ir_i64(4)); buffer_load(b, T_I32, r, ir_i64(0)));
  ASSERT_ERROR("buffer_store", val p = some(b, T_GLOBAL); val r = amd_resource(b, p, ir_i64(4)); buffer_store(b, ir_i64(0), r, ir_i32(0)));
  ASSERT_ERROR("lane_xor", val x = some(b, T_F32); amd_lane_xor(b, x, 3));
  ASSERT_ERROR("lane_swap", val x = some(b, T_F32); val both[2]; amd_lane_swap(b, x, 8, both));
}

static void blocks_must_nest(void **state) {
  (void)state;
  ASSERT_ERROR("block", ir_end_if(b));
  ASSERT_ERROR("block", ir_end_loop(b));
  ASSERT_ERROR("block", ir_if(b, ir_i1(true), "x"); ir_end_loop(b));
  ASSERT_ERROR("block", ir_loop(b, "x"); ir_end_if(b));
  ASSERT_ERROR("leave", ir_leave_if(b, ir_i1(true)));
  ASSERT_ERROR("block", for (int i = 0; i <= IR_BLOCKS_DEEP; i++) ir_if(b, ir_i1(true), "x"));
  ASSERT_ERROR("a block was left open", ir_if(b, ir_i1(true), "x"));
}

static void the_first_error_stays_and_nothing_more_is_written(void **state) {
  (void)state;
  struct ir b;
  ir_begin(&b);
  val x = some(&b, T_I32);
  ir_add(&b, x, ir_i64(1));
  char first[IR_ERROR_MAX];
  snprintf(first, sizeof first, "%s", ir_error(&b));
  size_t before = b.body.bytes;
  ir_fadd(&b, x, x);
  ir_select(&b, x, x, x);
  val p = ir_offset(&b, x, x);
  ir_store(&b, x, p);
  ir_if(&b, x, "x");
  ir_mul(&b, x, x);
  assert_string_equal(ir_error(&b), first);
  assert_int_equal(b.body.bytes, before);
  ir_free(&b);
}

/* Every row of ir_ops.def, by its own text. */
static void every_operation_is_written_as_llvm_reads_it(void **state) {
  (void)state;
  struct ir b;
  ir_begin(&b);
  val i = some(&b, T_I32), f = some(&b, T_F32);
#define INT                          i
#define FLOAT                        f
#define T_I32_OPERAND                i
#define T_F32_OPERAND                f
#define BINARY(name, text, class)    ir_##name(&b, class, class);
#define COMPARE(name, text, class)   ir_##name(&b, class, class);
#define INTRINSIC2(name, text, type) ir_##name(&b, type##_OPERAND, type##_OPERAND);
#include "ir_ops.def"
#undef BINARY
#undef COMPARE
#undef INTRINSIC2
  char *module = finished(&b);
#define BINARY(name, text, class)    assert_non_null(strstr(module, " = " text " "));
#define COMPARE(name, text, class)   assert_non_null(strstr(module, " = " text " "));
#define INTRINSIC2(name, text, type) assert_non_null(strstr(module, "@" text "("));
#include "ir_ops.def"
  free(module);
}

static void shapes_casts_and_memory_are_written_as_llvm_reads_them(void **state) {
  (void)state;
  struct ir b;
  ir_begin(&b);
  val i = some(&b, T_I32), f = some(&b, T_F32), v = some(&b, T_V4I32), c = some(&b, T_I1);
  ir_select(&b, c, f, ir_f32(-0.0f));
  ir_cast(&b, "zext", i, T_I64);
  ir_bits(&b, f, T_I32);
  val e[4];
  for (uint32_t n = 0; n < 4; n++) e[n] = ir_extract(&b, v, 3 - n);
  val made = ir_vector(&b, T_V4I32, e);
  ir_halves(&b, made, ir_const(T_V4I32, 0));
  val p = ir_offset(&b, ir_lds(), i);
  val loaded = ir_load(&b, T_V2I32, p, .name = "pair", .align = 4);
  ir_store(&b, loaded, p, .is_volatile = true);
  ir_if(&b, c, "outer");
  ir_loop(&b, "poll");
  val more = some(&b, T_I1);
  ir_leave_if(&b, more);
  amd_sleep(&b);
  ir_end_loop(&b);
  ir_end_if(&b);
  char *module = finished(&b);
  assert_non_null(strstr(module, "%pair."));
  assert_non_null(strstr(module, "load <2 x i32>, ptr addrspace(3) "));
  assert_non_null(strstr(module, ", align 4\n"));
  assert_non_null(strstr(module, "store volatile <2 x i32> "));
  free(module);
}

static void amdgpu_operations_are_written_as_llvm_reads_them(void **state) {
  (void)state;
  struct ir b;
  ir_begin(&b);
  val p = some(&b, T_GLOBAL), f = some(&b, T_F32), v = some(&b, T_V4I32), i = some(&b, T_I32), both[2];
  val r = amd_resource(&b, p, ir_i64(64));
  static const ir_type loads[] = {T_I16, T_I32, T_F32, T_V2I32, T_V4I32};
  for (size_t n = 0; n < sizeof loads / sizeof *loads; n++) buffer_load(&b, loads[n], r, i, .offset = 8, .sc1 = n % 2 == 0);
  buffer_store(&b, v, r, ir_i32(0), .sc1 = true);
  amd_buffer_inc(&b, r, 255, 0);
  amd_workgroup_barrier(&b);
  amd_wait_vmcnt0(&b);
  for (uint32_t mask = 1; mask <= 8; mask *= 2) amd_lane_xor(&b, f, mask);
  for (uint32_t mask = 16; mask <= 32; mask *= 2) amd_lane_swap(&b, f, mask, both);
  amd_pack_fp8(&b, f, f, ir_i32(0), true);
  amd_pack_bf16(&b, f, f);
  amd_rsq(&b, f);
  val wide = ir_halves(&b, v, v);
  amd_mfma_scale_16x16x128(&b, wide, wide, ir_const(T_V4F32, 0), i, i);
  val c = ir_eq(&b, i, ir_i32(0));
  amd_none(&b, c);
  ir_line(&b, "; the fences' operand is the module's");
  /* !3 is the emitter's; here it stands in for it. */
  size_t bytes;
  if (ir_error(&b)) fail_msg("%s", ir_error(&b));
  char *body = text_take(&b.body, &bytes), *module = malloc(bytes + 4096);
  int n = sprintf(module,
      "target triple = \"amdgcn-amd-amdhsa\"\n%sdefine void @f() {\n%s  ret void\n}\n!3 = !{!\"amdgpu-synchronize-as\", "
      "!\"local\"}\n",
      declarations, body);
  assert_llvm_accepts("AMDGPU operations", module, (size_t)n);
  free(module);
  free(body);
  ir_free(&b);
}

/* LLVM prints a float as the double of the same value. The bits are written out by hand. */
static void float_constants_are_exact(void **state) {
  (void)state;
  static const struct {
    float v;
    const char *text;
  } cases[] = {{448, "0x407C000000000000"}, {1, "0x3FF0000000000000"}, {-0.0f, "0x8000000000000000"}, {0x1p-149f, "0x36A0000000000000"},
      {FLT_MAX, "0x47EFFFFFE0000000"}, {0x1p-126f, "0x3810000000000000"}, {INFINITY, "0x7FF0000000000000"}, {0.1f, "0x3FB99999A0000000"}};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    struct ir b;
    ir_begin(&b);
    val f = some(&b, T_F32);
    ir_fadd(&b, f, ir_f32(cases[n].v));
    char *module = finished(&b), line[64];
    snprintf(line, sizeof line, ", %s\n", cases[n].text);
    if (!strstr(module, line)) fail_msg("%a is not written as %s: %s", (double)cases[n].v, cases[n].text, strstr(module, "fadd"));
    free(module);
  }
}

static void a_hint_names_the_next_value_only(void **state) {
  (void)state;
  struct ir b;
  ir_begin(&b);
  ir_hint(&b, "row_byte");
  val x = ir_add(&b, ir_i32(1), ir_i32(2));
  ir_add(&b, x, x);
  char *module = finished(&b);
  assert_non_null(strstr(module, "  %row_byte.0 = add i32 1, 2\n  %add.1 = add i32 %row_byte.0, %row_byte.0\n"));
  free(module);
}

/* More values than the first allocation holds. */
static void long_functions_keep_their_names(void **state) {
  (void)state;
  struct ir b;
  ir_begin(&b);
  val x = some(&b, T_I32);
  for (int n = 0; n < 20000; n++) x = ir_add(&b, x, ir_i32(1));
  char *module = finished(&b);
  assert_non_null(strstr(module, "  %add.20000 = add i32 %add.19999, 1\n"));
  free(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wrong_operand_is_an_error_that_names_its_operation),
      cmocka_unit_test(a_wrong_access_or_lane_move_is_an_error),
      cmocka_unit_test(blocks_must_nest),
      cmocka_unit_test(the_first_error_stays_and_nothing_more_is_written),
      cmocka_unit_test(every_operation_is_written_as_llvm_reads_it),
      cmocka_unit_test(shapes_casts_and_memory_are_written_as_llvm_reads_them),
      cmocka_unit_test(amdgpu_operations_are_written_as_llvm_reads_them),
      cmocka_unit_test(float_constants_are_exact),
      cmocka_unit_test(a_hint_names_the_next_value_only),
      cmocka_unit_test(long_functions_keep_their_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
