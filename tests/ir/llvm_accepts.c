/* SPDX-License-Identifier: Apache-2.0 */
#include "llvm_accepts.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "support.h"

void assert_llvm_accepts(const char *name, const char *text, size_t bytes) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = NULL;
  char *message = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, bytes, name);
  if (LLVMParseIRInContext(context, buffer, &module, &message)) fail_msg("%s: %s", name, message);
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message)) fail_msg("%s: %s", name, message);
  LLVMDisposeMessage(message);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
}
