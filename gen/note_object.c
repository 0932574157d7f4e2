/* SPDX-License-Identifier: Apache-2.0 */
/* Written by hand rather than assembled: llvm-mc would cost a process a key. */
#include "note_object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION_NULL, SECTION_NOTE, SECTION_NAMES, SECTIONS };

void *note_object(const void *like, size_t like_bytes, const char *name, const void *note, size_t note_bytes, size_t *bytes) {
  static const char names_name[] = ".shstrtab";
  Elf64_Ehdr head;
  if (like_bytes < sizeof head) return NULL;
  memcpy(&head, like, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
    return NULL;
  size_t name_bytes = strlen(name) + 1, names_bytes = 1 + name_bytes + sizeof names_name;
  size_t note_at = sizeof head, names_at = note_at + note_bytes;
  size_t sections_at = (names_at + names_bytes + 7) & ~(size_t)7;
  Elf64_Shdr section[SECTIONS] = {
      [SECTION_NOTE] =
          {.sh_name = 1, .sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_offset = note_at, .sh_size = note_bytes, .sh_addralign = 4},
      [SECTION_NAMES] = {.sh_name = (Elf64_Word)(1 + name_bytes),
          .sh_type = SHT_STRTAB,
          .sh_offset = names_at,
          .sh_size = names_bytes,
          .sh_addralign = 1},
  };
  head.e_type = ET_REL;
  head.e_entry = head.e_phoff = 0;
  head.e_shoff = sections_at;
  head.e_phentsize = head.e_phnum = 0;
  head.e_shentsize = sizeof *section;
  head.e_shnum = SECTIONS;
  head.e_shstrndx = SECTION_NAMES;
  *bytes = sections_at + sizeof section;
  unsigned char *object = calloc(1, *bytes);
  if (!object) return NULL;
  memcpy(object, &head, sizeof head);
  memcpy(object + note_at, note, note_bytes);
  memcpy(object + names_at + 1, name, name_bytes);
  memcpy(object + names_at + 1 + name_bytes, names_name, sizeof names_name);
  memcpy(object + sections_at, section, sizeof section);
  return object;
}
