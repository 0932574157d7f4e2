/* SPDX-License-Identifier: Apache-2.0 */
/* IR text -> code object. The public functions are in frontgen.h; this is what the rest of gen/ shares. */
#ifndef FRONT_COMPILE_H
#define FRONT_COMPILE_H

#include "frontgen.h"
#include "sha256.h"

/* The SHA-256 that a code object's note carries: of the IR text and, behind a zero byte each, of every flag of the pipeline. */
void compile_hash(const char *text, size_t bytes, const struct target *target, uint8_t hash[SHA256_BYTES]);

#endif
