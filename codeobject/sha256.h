/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4). No allocation; a struct is one thread's. */
#ifndef CODEOBJECT_SHA256_H
#define CODEOBJECT_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };

struct sha256 {
  uint32_t state[8];
  uint64_t bytes; /* hashed so far */
  uint8_t block[64];
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t bytes);
/* The digest of all that was added; begin anew before the next use. */
void sha256_end(struct sha256 *h, uint8_t digest[SHA256_BYTES]);

/* The three above at once. */
void sha256(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES]);

/* Lower case, zero-terminated. */
void sha256_hex(const uint8_t digest[SHA256_BYTES], char hex[SHA256_HEX]);

#endif
