/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a bundle: SHA256SUMS, a line a file as sha256sum writes it. The text is untrusted. libc only; no state, thread safe. */
#ifndef CODEOBJECT_SUMS_H
#define CODEOBJECT_SUMS_H

#include "codeobject.h"
#include "sha256.h"

#define SUMS_FILE_NAME "SHA256SUMS"

enum { SUMS_NAME_MAX = 200, SUMS_BYTES_MAX = 16 << 20, SUMS_ARCH_MAX = 32 };

struct sums_entry {
  const char *file; /* a bare name: no folder, no leading dot */
  uint8_t sha256[SHA256_BYTES];
};

/* sums_free() frees it. */
struct sums {
  struct sums_entry *entry;
  size_t entries;
  char *text; /* that the names point into */
};

/* Reads "HASH  NAME" or "HASH *NAME" lines. False, with a sentence that names the line: a hash that is not 64 hexadecimal digits, a name
   with a folder, a leading dot or a character other than letters, digits and "._+-", a name twice, a last line without its newline (cut
   short), no line at all, more than SUMS_BYTES_MAX bytes; or no memory. Nothing to free then. */
bool sums_read(const char *text, size_t bytes, struct sums *sums, char error[CODE_ERROR_MAX]);
void sums_free(struct sums *sums);

/* May a file of a bundle have this name? */
bool sums_is_name(const char *name, size_t length);

/* 64 hexadecimal digits of either case, and no more, to bytes. */
bool sums_hash(const char *hex, size_t length, uint8_t sha256[SHA256_BYTES]);

/* Splits "NAME.ARCH.hsaco". False if the file's name is not like that, or a part has no room. */
bool sums_split(const char *file, char *name, size_t name_bytes, char arch[SUMS_ARCH_MAX]);

#endif
