/* SPDX-License-Identifier: Apache-2.0 */
/* The leaf operations as LLVM IR text: every function of the folder's .ll files, to be appended to a module. */
#ifndef FRONT_TEMPLATES_H
#define FRONT_TEMPLATES_H

#include <stddef.h>

extern const char template_text[]; /* zero-terminated */
extern const size_t template_bytes;

#endif
