; SPDX-License-Identifier: Apache-2.0
; A small kernel: the object that the code object targets start from.
target triple = "amdgcn-amd-amdhsa"

@table = addrspace(1) constant [2 x ptr addrspace(1)] [ptr addrspace(1) @table, ptr addrspace(1) null]

define amdgpu_kernel void @k(ptr addrspace(1) %out, i32 %n, i64 %m) #0 {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %id
  %sum = add i32 %id, %n
  store i32 %sum, ptr addrspace(1) %at
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }
