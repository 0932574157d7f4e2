/* SPDX-License-Identifier: Apache-2.0 */
/* What LLVM 22's disassembler cannot be asked about, or does not say: bits of the encoding itself. Pure functions. */
#ifndef EMULATOR_ENCODING_H
#define EMULATOR_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

#include "inst_text.h"

/* Is it one of the encodings that do not exist and that crash the disassembler? `code` is 8 bytes. */
bool encoding_stops_llvm(const uint8_t code[8]);

/* A modifier that is set in the encoding and missing in its text, as a sentence about the instruction; null: there is none. */
const char *encoding_loses(const uint8_t code[8], const struct inst_text *text);

#endif
