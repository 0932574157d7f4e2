/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM IR around the body of a test's kernel "k". */
#ifndef TESTS_EMU_KERNELS_H
#define TESTS_EMU_KERNELS_H

/* `globals`: variables; `args`: the kernel's parameters; `size`: work-items of a workgroup, as a string. The body finds %lane (work-item
   in the workgroup), %group and %i (in the grid), and ends with its own ret. */
#define KERNEL_IR(globals, args, size, body)                                                                                               \
  "target triple = \"amdgcn-amd-amdhsa\"\n"                                                                                                \
  "declare i32 @llvm.amdgcn.workitem.id.x()\n"                                                                                             \
  "declare i32 @llvm.amdgcn.workgroup.id.x()\n"                                                                                            \
  "declare i32 @llvm.amdgcn.readfirstlane.i32(i32)\n"                                                                                      \
  "declare void @llvm.amdgcn.s.barrier()\n"                                                                                                \
  "declare void @llvm.amdgcn.s.sleep(i32)\n"                                                                                               \
  "declare i64 @llvm.amdgcn.s.memrealtime()\n" globals "define amdgpu_kernel void @k(" args ") #0 {\n"                                     \
  "  %lane = call i32 @llvm.amdgcn.workitem.id.x()\n"                                                                                      \
  "  %group = call i32 @llvm.amdgcn.workgroup.id.x()\n"                                                                                    \
  "  %before = mul i32 %group, " size "\n"                                                                                                 \
  "  %i = add i32 %before, %lane\n"                                                                                                        \
  "  br label %start\nstart:\n" body "}\n"                                                                                                 \
  "attributes #0 = { nounwind \"amdgpu-flat-work-group-size\"=\"" size "," size "\" \"amdgpu-no-implicitarg-ptr\" "                        \
  "\"amdgpu-no-hostcall-ptr\" \"amdgpu-no-multigrid-sync-arg\" \"amdgpu-no-heap-ptr\" \"amdgpu-no-default-queue\" "                        \
  "\"amdgpu-no-completion-action\" \"amdgpu-no-queue-ptr\" \"amdgpu-no-dispatch-ptr\" \"amdgpu-no-dispatch-id\" }\n"                       \
  "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n!1 = !{}\n"

/* A wait for a dword to be `wanted`, asleep between the looks; goes on at label %met. */
#define POLL_IR(pointer, wanted)                                                                                                           \
  "  br label %poll\n"                                                                                                                     \
  "poll:\n"                                                                                                                                \
  "  %seen = load atomic i32, ptr addrspace(1) " pointer " syncscope(\"agent\") monotonic, align 4\n"                                      \
  "  %is = icmp eq i32 %seen, " wanted "\n"                                                                                                \
  "  br i1 %is, label %met, label %again\n"                                                                                                \
  "again:\n"                                                                                                                               \
  "  call void @llvm.amdgcn.s.sleep(i32 1)\n"                                                                                              \
  "  br label %poll\n"                                                                                                                     \
  "met:\n"

#define AT_IR(name, type, pointer, index) "  " name " = getelementptr " type ", ptr addrspace(1) " pointer ", i32 " index "\n"

#endif
