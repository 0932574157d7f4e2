/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM's parser and verifier on a module's text. */
#ifndef FRONT_TESTS_LLVM_ACCEPTS_H
#define FRONT_TESTS_LLVM_ACCEPTS_H

#include <stddef.h>

/* Fails the running test with LLVM's message unless both accept it. The text has a 0 behind its last byte. */
void assert_llvm_accepts(const char *name, const char *text, size_t bytes);

#endif
