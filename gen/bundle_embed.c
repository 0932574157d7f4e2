/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects as a C file: words of 8 bytes, which a compiler reads several times faster than single bytes. */
#include "bundle_parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_A_LINE = 6, NAME_MAX_OURS = 64 };

/* What a file may be called and a table in C or C++ may not. */
static bool is_taken(const char *name, size_t length) {
  static const char words[] = " alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default "
                              "delete do double else enum explicit export extern false float for friend front_embedded goto if inline int "
                              "long main mutable namespace new noexcept not nullptr operator or private protected public register restrict "
                              "return short signed size_t sizeof static struct switch template this throw true try typedef typename "
                              "typeof uint64_t union unsigned using virtual void volatile while xor ";
  for (const char *at = words; (at = strchr(at, ' ')) && at[1]; at++)
    if (strncmp(at + 1, name, length) == 0 && at[1 + length] == ' ') return true;
  return false;
}

/* "out/my-kernels.c" -> "my_kernels" */
static void table_name(const char *path, char name[NAME_MAX_OURS]) {
  const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path;
  size_t length = strcspn(stem, "."), n = 0;
  if (isdigit((unsigned char)*stem) || length == 0 || is_taken(stem, length)) n += (size_t)snprintf(name, NAME_MAX_OURS, "front_");
  for (size_t i = 0; i < length && n < NAME_MAX_OURS - 1; i++) name[n++] = isalnum((unsigned char)stem[i]) ? stem[i] : '_';
  name[n] = 0;
}

static void put_words(struct text *out, const struct bundle_file *f) {
  static const char digits[] = "0123456789abcdef";
  for (size_t at = 0; at < f->size; at += 8) {
    char word[] = "0x0000000000000000,";
    for (size_t i = 0; i < 8 && at + i < f->size; i++) {
      word[16 - 2 * i] = digits[f->bytes[at + i] >> 4];
      word[17 - 2 * i] = digits[f->bytes[at + i] & 15];
    }
    text_put(out, word, sizeof word - 1);
    if (at / 8 % WORDS_A_LINE == WORDS_A_LINE - 1) text_put(out, "\n", 1);
  }
}

void bundle_embed(const char *path, const struct bundle_file *files, size_t count, struct text *out) {
  char name[NAME_MAX_OURS];
  table_name(path, name);
  text_print(out,
      "/* Made by frontgen bundle --embed. Compile it for a little-endian machine, link it, and open it:\n"
      "     extern const struct front_embedded %s[];\n"
      "     extern const size_t %s_count;\n"
      "     front_bundle_open_embedded(%s, %s_count, &bundle); */\n"
      "#include \"front.h\"\n\n",
      name, name, name, name);
  for (size_t i = 0; i < count; i++) {
    text_print(out, "static const uint64_t %s_object_%zu[] = {\n", name, i);
    put_words(out, &files[i]);
    text_string(out, "\n};\n");
  }
  text_print(out, "\nextern const struct front_embedded %s[];\nextern const size_t %s_count;\nconst struct front_embedded %s[] = {\n", name,
      name, name);
  for (size_t i = 0; i < count; i++)
    text_print(out, "    {\"%s\", %s_object_%zu, %zu, \"%s\"},\n", files[i].file, name, i, files[i].size, files[i].sha256);
  text_print(out, "};\nconst size_t %s_count = %zu;\n", name, count);
}
