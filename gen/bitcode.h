/* SPDX-License-Identifier: Apache-2.0 */
/* Which LLVM wrote a bitcode file: its first block says. Saves asking a program, which costs 25 ms a key. */
#ifndef FRONT_BITCODE_H
#define FRONT_BITCODE_H

#include <stdbool.h>
#include <stddef.h>

/* The version behind "LLVM" in the identification block, e.g. "22.1.8", into version. False if there is none that this reads. */
bool bitcode_version(const void *data, size_t bytes, char version[32]);

#endif
