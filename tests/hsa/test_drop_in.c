/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary HSA program runs on the emulator when its loader finds the emulator under ROCr's name, in strict mode too. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `more` changes the sum %z. */
#define ADD_IR(more)                                                                                                                       \
  "target triple = \"amdgcn-amd-amdhsa\"\n"                                                                                                \
  "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare i32 @llvm.amdgcn.workgroup.id.x()\n"                                                  \
  "define amdgpu_kernel void @vector_add(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) #0 {\n"                            \
  "  %lane = call i32 @llvm.amdgcn.workitem.id.x()\n  %group = call i32 @llvm.amdgcn.workgroup.id.x()\n"                                   \
  "  %before = mul i32 %group, 64\n  %i = add i32 %before, %lane\n"                                                                        \
  "  %pa = getelementptr float, ptr addrspace(1) %a, i32 %i\n  %pb = getelementptr float, ptr addrspace(1) %b, i32 %i\n"                   \
  "  %pc = getelementptr float, ptr addrspace(1) %c, i32 %i\n"                                                                             \
  "  %x = load float, ptr addrspace(1) %pa\n  %y = load float, ptr addrspace(1) %pb\n  %z = fadd float %x, %y\n" more                      \
  "  store float %sum, ptr addrspace(1) %pc\n  ret void\n}\n"                                                                              \
  "attributes #0 = { nounwind \"amdgpu-flat-work-group-size\"=\"64,64\" }\n"                                                               \
  "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n"

static const char add_ir[] = ADD_IR("  %sum = fadd float %z, -0.0\n");
/* ... and to what it stores in, which the program has not written before its first launch. */
static const char add_to_nothing_ir[] = ADD_IR("  %old = load float, ptr addrspace(1) %pc\n  %sum = fadd float %z, %old\n");

/* The program with a kernel, in an environment of the emulator's. */
static struct outcome run_add(const char *ir, const char *cpu, const char *const variables[3]) {
  const char *dir = temp_dir();
  size_t bytes;
  void *image = ir_to_code_object(ir, cpu, true, NULL, &bytes);
  write_file(path_in(dir, "add.hsaco"), image, bytes);
  free(image);
  (void)unlink(path_in(dir, "libhsa-runtime64.so.1"));
  assert_int_equal(symlink(built_path("emulator/libhsa-emu.so"), path_in(dir, "libhsa-runtime64.so.1")), 0);
  char library[1024];
  snprintf(library, sizeof library, "LD_LIBRARY_PATH=%s", dir);
  const char *env[] = {library, variables[0], variables[1], variables[2], NULL};
  return run_argv(
      (const char *const[]){built_path("tests/hsa/vector_add"), path_in(dir, "add.hsaco"), NULL}, &(struct run_options){.env = env});
}

static void an_ordinary_program_adds_vectors_in(const char *cpu, const char *const variables[3]) {
  struct outcome o = run_add(add_ir, cpu, variables);
  assert_code(&o, 0);
  assert_string_equal(o.out, "0 of 1000 sums are wrong\n");
  assert_string_equal(o.err, "");
  outcome_free(&o);
}

static void an_ordinary_program_runs_on_every_isa(void **state) {
  (void)state;
  an_ordinary_program_adds_vectors_in("gfx950", (const char *const[]){"FRONT_EMU_DEVICE=mi355x", NULL, NULL});
  an_ordinary_program_adds_vectors_in("gfx942", (const char *const[]){"FRONT_EMU_DEVICE=mi308x-cpx", NULL, NULL});
}

static void strict_mode_says_nothing_of_an_ordinary_program(void **state) {
  (void)state;
  an_ordinary_program_adds_vectors_in("gfx950", (const char *const[]){"FRONT_EMU_STRICT=1", "FRONT_EMU_SEED=5", NULL});
  an_ordinary_program_adds_vectors_in(
      "gfx942", (const char *const[]){"FRONT_EMU_STRICT=1", "FRONT_EMU_DEVICE=mi308x-cpx", "FRONT_EMU_L2=probed"});
}

static void strict_mode_tells_any_program_on_stderr(void **state) {
  (void)state;
  struct outcome o = run_add(add_to_nothing_ir, "gfx950", (const char *const[]){"FRONT_EMU_STRICT=1", NULL, NULL});
  assert_non_null(strstr(o.err, "libhsa-emu: use of what was never written: vector_add: workgroup "));
  assert_non_null(strstr(o.err, "\"global_store_dword "));
  outcome_free(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_ordinary_program_runs_on_every_isa),
      cmocka_unit_test(strict_mode_says_nothing_of_an_ordinary_program),
      cmocka_unit_test(strict_mode_tells_any_program_on_stderr),
  };
  return cmocka_run_group_tests_name("drop_in", tests, NULL, NULL);
}
