/* SPDX-License-Identifier: Apache-2.0 */
/* Reads SHA256SUMS. What sha256sum escapes (a backslash before the hash) has a name that no file of ours has. */
#include "sums.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool refuse(char *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, CODE_ERROR_MAX, format, args);
  va_end(args);
  return false;
}

bool sums_is_name(const char *name, size_t length) {
  if (!length || length > SUMS_NAME_MAX || name[0] == '.') return false;
  for (size_t i = 0; i < length; i++) {
    char c = name[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("._+-", c));
    if (!plain) return false;
  }
  return true;
}

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool sums_hash(const char *hex, size_t length, uint8_t sha256[SHA256_BYTES]) {
  if (length != 2 * SHA256_BYTES) return false;
  for (size_t i = 0; i < SHA256_BYTES; i++) {
    int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    sha256[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

bool sums_split(const char *file, char *name, size_t name_bytes, char arch[SUMS_ARCH_MAX]) {
  static const char ending[] = ".hsaco";
  size_t length = strlen(file);
  if (length <= sizeof ending - 1 || strcmp(file + length - (sizeof ending - 1), ending) != 0) return false;
  length -= sizeof ending - 1;
  size_t dot = length;
  while (dot > 0 && file[dot - 1] != '.') dot--;
  if (dot < 2 || dot == length || dot > name_bytes || length - dot >= SUMS_ARCH_MAX) return false;
  memcpy(name, file, dot - 1);
  name[dot - 1] = 0;
  memcpy(arch, file + dot, length - dot);
  arch[length - dot] = 0;
  return true;
}

/* One line, without its newline; the name gets its 0 where that was. */
static bool read_line(char *line, size_t length, size_t number, struct sums_entry *entry, char *error) {
  enum { HEX = 2 * SHA256_BYTES };
  size_t hex = 0;
  while (hex < length && digit(line[hex]) >= 0) hex++;
  if (!sums_hash(line, hex, entry->sha256))
    return refuse(error, "line %zu: a SHA-256 of %d hexadecimal digits is needed, here are %zu", number, HEX, hex);
  if (length < HEX + 2 || line[HEX] != ' ' || (line[HEX + 1] != ' ' && line[HEX + 1] != '*'))
    return refuse(error, "line %zu: two blanks, or a blank and a star, are needed behind the hash", number);
  char *name = line + HEX + 2;
  size_t name_length = length - HEX - 2;
  if (memchr(name, '/', name_length)) return refuse(error, "line %zu: the file's name leaves the folder", number);
  if (name_length && name[name_length - 1] == '\r')
    return refuse(error, "line %zu: it ends in CR LF: a text conversion has changed the index, copy it byte for byte", number);
  if (!sums_is_name(name, name_length))
    return refuse(error, "line %zu: a file's name has 1 to %d letters, digits and \"._+-\", and no dot first", number, SUMS_NAME_MAX);
  name[name_length] = 0;
  entry->file = name;
  return true;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool no_name_twice(const struct sums *sums, char *error) {
  const char **names = calloc(sums->entries, sizeof *names);
  if (!names) return refuse(error, "no memory for its %zu names", sums->entries);
  for (size_t i = 0; i < sums->entries; i++) names[i] = sums->entry[i].file;
  qsort(names, sums->entries, sizeof *names, by_name);
  bool good = true;
  for (size_t i = 1; i < sums->entries && good; i++)
    if (!strcmp(names[i - 1], names[i])) good = refuse(error, "%s is there twice", names[i]);
  free(names);
  return good;
}

static bool read_lines(struct sums *sums, size_t bytes, char *error) {
  char *at = sums->text;
  for (size_t i = 0; i < sums->entries; i++) {
    char *end = memchr(at, '\n', bytes - (size_t)(at - sums->text));
    if (!read_line(at, (size_t)(end - at), i + 1, &sums->entry[i], error)) return false;
    at = end + 1;
  }
  return no_name_twice(sums, error);
}

bool sums_read(const char *text, size_t bytes, struct sums *sums, char error[CODE_ERROR_MAX]) {
  *sums = (struct sums){0};
  if (!bytes) return refuse(error, "it is empty");
  if (bytes > SUMS_BYTES_MAX) return refuse(error, "%zu bytes are no bundle's index", bytes);
  if (text[bytes - 1] != '\n') return refuse(error, "its last line has no end: it is cut short");
  for (size_t i = 0; i < bytes; i++) sums->entries += text[i] == '\n';
  sums->text = malloc(bytes);
  sums->entry = calloc(sums->entries, sizeof *sums->entry);
  bool good = sums->text && sums->entry;
  if (!good) refuse(error, "no memory for its %zu bytes", bytes);
  if (good) memcpy(sums->text, text, bytes);
  if (good && read_lines(sums, bytes, error)) return true;
  sums_free(sums);
  return false;
}

void sums_free(struct sums *sums) {
  free(sums->entry);
  free(sums->text);
  *sums = (struct sums){0};
}
