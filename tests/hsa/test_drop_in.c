/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary HSA program runs on the emulator when its loader finds the emulator under ROCr's name. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char add_ir[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare i32 @llvm.amdgcn.workgroup.id.x()\n"
    "define amdgpu_kernel void @vector_add(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) #0 {\n"
    "  %lane = call i32 @llvm.amdgcn.workitem.id.x()\n  %group = call i32 @llvm.amdgcn.workgroup.id.x()\n"
    "  %before = mul i32 %group, 64\n  %i = add i32 %before, %lane\n"
    "  %pa = getelementptr float, ptr addrspace(1) %a, i32 %i\n  %pb = getelementptr float, ptr addrspace(1) %b, i32 %i\n"
    "  %pc = getelementptr float, ptr addrspace(1) %c, i32 %i\n"
    "  %x = load float, ptr addrspace(1) %pa\n  %y = load float, ptr addrspace(1) %pb\n  %z = fadd float %x, %y\n"
    "  store float %z, ptr addrspace(1) %pc\n  ret void\n}\n"
    "attributes #0 = { nounwind \"amdgpu-flat-work-group-size\"=\"64,64\" }\n"
    "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n";

static void an_ordinary_program_adds_vectors_on(const char *device, const char *cpu) {
  const char *dir = temp_dir();
  size_t bytes;
  void *image = ir_to_code_object(add_ir, cpu, true, NULL, &bytes);
  write_file(path_in(dir, "add.hsaco"), image, bytes);
  free(image);
  assert_int_equal(symlink(built_path("emulator/libhsa-emu.so"), path_in(dir, "libhsa-runtime64.so.1")), 0);
  char library[1024], model[64];
  snprintf(library, sizeof library, "LD_LIBRARY_PATH=%s", dir);
  snprintf(model, sizeof model, "FRONT_EMU_DEVICE=%s", device);
  const char *env[] = {library, model, NULL};
  struct outcome o = run_argv(
      (const char *const[]){built_path("tests/hsa/vector_add"), path_in(dir, "add.hsaco"), NULL}, &(struct run_options){.env = env});
  assert_code(&o, 0);
  assert_string_equal(o.out, "0 of 1000 sums are wrong\n");
  outcome_free(&o);
}

static void an_ordinary_program_runs_on_every_isa(void **state) {
  (void)state;
  an_ordinary_program_adds_vectors_on("mi355x", "gfx950");
  an_ordinary_program_adds_vectors_on("mi308x-cpx", "gfx942");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_ordinary_program_runs_on_every_isa)};
  return cmocka_run_group_tests_name("drop_in", tests, NULL, NULL);
}
