/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on what an object says of itself: each is seen to fail on a planted fault. */
#include "planted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char small[] = "tokens=8", large[] = "tokens=17,tp=2,tuned=1";

static void test_good_kernels(void **state) {
  (void)state;
  struct planted a = planted_kernel(small), b = planted_kernel(large);
  planted_assert(&a, NULL, NULL);
  planted_assert(&b, NULL, NULL);
}

/* One edit, one gate. */
struct edit {
  const char *what, *with, *gate, *words;
};

static void plant(const struct edit *edits, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct planted p = planted_kernel(small);
    planted_edit(&p, edits[i].what, edits[i].with);
    planted_assert(&p, edits[i].gate, edits[i].words);
  }
}

static void test_version(void **state) {
  (void)state;
  const struct edit e = {".amdhsa_code_object_version 5", ".amdhsa_code_object_version 6", "code object version", "6 as version, 5 wanted"};
  plant(&e, 1);
}

static void test_target_features(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  size_t bytes;
  unsigned char *object = planted_object(&p, &bytes);
  assert_int_equal(object[0x31], 0x05); /* e_flags: xnack any, sramecc any */
  object[0x31] = 0x06;
  planted_assert_object(object, bytes, "feature-neutral target", "gfx950:xnack-, gfx950 wanted");
  object[0x31] = 0x0d;
  planted_assert_object(object, bytes, "feature-neutral target", "gfx950:sramecc+, gfx950 wanted");
  free(object);
  planted_free(&p);
}

static void test_note(void **state) {
  (void)state;
  struct planted p = planted_kernel(small), other = planted_kernel(small);
  p.without_note = true;
  planted_assert(&p, "note", "no frontgen note");
  strcpy(other.note_key, "front_s9_tp4_r2_w128_t0");
  planted_assert(&other, "note", "front_s9_tp4_r2_w128_t0");
}

static void test_without_note_nothing_is_proved(void **state) {
  (void)state;
  struct planted p = planted_kernel(small), q = planted_kernel(small);
  p.without_note = q.without_note = true;
  planted_assert(&p, "issue order", "0 accesses, the plan has");
  planted_assert(&q, "data waited for before a flag", "0 data stores and flags, the plan has");
}

static void test_shape(void **state) {
  (void)state;
  static const struct edit edits[] = {
      {"    .reqd_workgroup_size:\n      - 512", "    .reqd_workgroup_size:\n      - 256", "required workgroup size", "256 x 1 x 1"},
      {".max_flat_workgroup_size: 512", ".max_flat_workgroup_size: 1024", "required workgroup size", "1024 threads"},
      {".amdhsa_float_denorm_mode_32 3", ".amdhsa_float_denorm_mode_32 0", "float mode", "denormal mode 0"},
      {".amdhsa_float_round_mode_32 0", ".amdhsa_float_round_mode_32 3", "float mode", "rounding mode 3"},
      {".uses_dynamic_stack: false", ".uses_dynamic_stack: true", "no dynamic stack", "dynamic"},
      {".amdhsa_uses_dynamic_stack 0", ".amdhsa_uses_dynamic_stack 1", "no dynamic stack", "dynamic"},
  };
  plant(edits, sizeof edits / sizeof *edits);
}

static void test_arguments(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  planted_edit(&p, ".amdhsa_kernarg_size 216", ".amdhsa_kernarg_size 224");
  planted_edit(&p, ".kernarg_segment_size: 216", ".kernarg_segment_size: 224");
  planted_assert(&p, "kernarg segment", "224 bytes, 216 wanted");
  p = planted_kernel(small);
  planted_edit(&p, "    .group_segment_fixed_size:",
      "      - .offset:         216\n        .size:           8\n        .value_kind:     hidden_heap_v1\n    .group_segment_fixed_size:");
  planted_assert(&p, "no hidden arguments", "1 hidden arguments");
  p = planted_kernel(small);
  planted_edit_from(&p, planted_line_with(&p, 0, ".name:           arg.wqkv\n"), ".size:           8", ".size:           4");
  planted_assert(&p, "arguments", "argument 1 (wqkv) has 4 bytes at 8");
  p = planted_kernel(small);
  planted_edit(&p, ".amdhsa_user_sgpr_count 2", ".amdhsa_user_sgpr_count 4");
  planted_edit(&p, ".amdhsa_user_sgpr_kernarg_preload_length 0", ".amdhsa_user_sgpr_kernarg_preload_length 2");
  planted_assert(&p, "no kernarg preload", "2 dwords preloaded");
}

static void test_registers(void **state) {
  (void)state;
  static const struct edit edits[] = {
      {".vgpr_spill_count: 0", ".vgpr_spill_count: 3", "no vector spills", "3 spilled VGPRs"},
      {"    .vgpr_spill_count: 0\n", "", "no vector spills", "does not say"},
      {".sgpr_spill_count: 0", ".sgpr_spill_count: 1", "no scalar spills", "1 spilled SGPRs"},
      {".vgpr_count:     ", ".vgpr_count:     1", "VGPR count", "at most 256"},
      {".agpr_count:     0", ".agpr_count:     4", "no AGPRs", "4 AGPRs"},
  };
  plant(edits, sizeof edits / sizeof *edits);
  struct planted p = planted_kernel(small);
  planted_edit(&p, ".amdhsa_private_segment_fixed_size 0", ".amdhsa_private_segment_fixed_size 16");
  planted_edit(&p, ".private_segment_fixed_size: 0", ".private_segment_fixed_size: 16");
  planted_assert(&p, "no scratch", "16 bytes");
}

static void test_occupancy(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  size_t at = planted_line_with(&p, 0, ".amdhsa_next_free_vgpr");
  free(planted_cut_line(&p, at));
  planted_insert(&p, at, "\t\t.amdhsa_next_free_vgpr 128\n");
  planted_assert(&p, "one workgroup a CU", "128 VGPRs allocated");
}

static void test_lds(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  char old[2][64], new[2][64];
  for (uint32_t i = 0; i < 2; i++) {
    static const char *const form[] = {".amdhsa_group_segment_fixed_size %u\n", ".group_segment_fixed_size: %u\n"};
    snprintf(old[i], sizeof old[i], form[i], p.plan.lds.bytes);
    snprintf(new[i], sizeof new[i], form[i], p.plan.lds.bytes + 16);
    planted_edit(&p, old[i], new[i]);
  }
  planted_assert(&p, "LDS as planned", "B planned, a CU has 163840 B");
}

static void test_relocations(void **state) {
  (void)state;
  struct planted p = planted_kernel(small);
  char data[160];
  snprintf(data, sizeof data, "\t.data\n\t.p2align 3\n\t.globl table\ntable:\n\t.quad %s\n\t.text\n", p.plan.name);
  planted_insert(&p, planted_line_with(&p, 0, "\t.section\t.rodata"), data);
  planted_assert(&p, "bare ELF", "1 relocations");
}

/* From IR, as a slip in an emit file would plant it: llc adds no wait of its own, and the build says so. */
static void test_lost_wait_in_ir(void **state) {
  (void)state;
  static const char wait[] = "@llvm.amdgcn.s.waitcnt(i32 3952)", other[] = "@llvm.amdgcn.s.waitcnt(i32 3967)"; /* vmcnt(0), vmcnt(15) */
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], *text;
  size_t text_bytes, bytes;
  void *object;
  assert_int_equal(frontgen_plan("tokens=1", "gfx950", &plan, error), 0);
  assert_int_equal(frontgen_emit(&plan, &text, &text_bytes, error), 0);
  assert_non_null(strstr(text, wait));
  for (char *at; (at = strstr(text, wait));) memcpy(at, other, strlen(other));
  assert_int_equal(frontgen_compile_ir(text, text_bytes, &plan, NULL, &object, &bytes, error), FRONTGEN_GATE);
  assert_non_null(strstr(error, "gate \"data waited for before a flag\""));
  free(text);
}

static void test_not_ours(void **state) {
  (void)state;
  struct check_report report;
  char error[FRONTGEN_ERROR_MAX];
  assert_int_equal(check_code_object("text", 4, NULL, &report, error), FRONTGEN_USAGE);
  assert_non_null(strstr(error, "no ELF file"));
  struct planted p = planted_kernel(small);
  size_t bytes;
  void *object = planted_object(&p, &bytes);
  const struct frontgen_options options = {.objdump = "/nowhere/llvm-objdump"};
  assert_int_equal(check_code_object(object, bytes, &options, &report, error), FRONTGEN_ENVIRONMENT);
  assert_non_null(strstr(error, "/nowhere/llvm-objdump"));
  free(object);
  planted_free(&p);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      {"good kernels pass every gate", test_good_kernels, NULL, NULL, NULL},
      {"code that an older ROCm would not load is not shipped", test_version, NULL, NULL, NULL},
      {"code tied to xnack or sramecc is not shipped", test_target_features, NULL, NULL, NULL},
      {"an object without its note, or with another key's, is found", test_note, NULL, NULL, NULL},
      {"a gate that finds nothing to examine fails", test_without_note_nothing_is_proved, NULL, NULL, NULL},
      {"a kernel for other workgroups, float modes or with a dynamic stack is found", test_shape, NULL, NULL, NULL},
      {"a kernarg block that launches do not fill is found", test_arguments, NULL, NULL, NULL},
      {"spills and scratch are found", test_registers, NULL, NULL, NULL},
      {"two workgroups on a CU, which would leave others waiting for ever, are found", test_occupancy, NULL, NULL, NULL},
      {"LDS other than planned is found", test_lds, NULL, NULL, NULL},
      {"code that depends on its address is found", test_relocations, NULL, NULL, NULL},
      {"a build whose IR lost a wait fails", test_lost_wait_in_ir, NULL, NULL, NULL},
      {"a file that is no object of ours, or a missing disassembler, is an error", test_not_ours, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
