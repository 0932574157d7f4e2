/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata and our note inside an object that is valid otherwise, so that every input gets past the ELF header. The input is two bytes of
   length, that much metadata, and our note. SEED is the object. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEED_MAX = 1 << 20 };
static uint8_t seed[SEED_MAX];
static size_t seed_bytes;

static void read_seed(void) {
  FILE *f = fopen(SEED, "rb");
  if (f) seed_bytes = fread(seed, 1, sizeof seed, f);
  if (f) fclose(f);
  if (seed_bytes < sizeof(Elf64_Ehdr)) {
    fprintf(stderr, "%s: cannot be read\n", SEED);
    abort();
  }
}

/* Appends one ELF note; returns the new end. */
static size_t put_note(uint8_t *at, const char *owner, uint32_t type, const uint8_t *contents, size_t bytes) {
  uint32_t head[3] = {(uint32_t)strlen(owner) + 1, (uint32_t)bytes, type};
  size_t end = sizeof head;
  memcpy(at, head, sizeof head);
  memcpy(at + end, owner, head[0]);
  end += (head[0] + 3) / 4 * 4;
  if (bytes) memcpy(at + end, contents, bytes);
  return end + (bytes + 3) / 4 * 4;
}

/* The first note segment becomes the one that was appended, others vanish. */
static void point_to_notes(uint8_t *image, size_t offset, size_t bytes) {
  Elf64_Ehdr head;
  memcpy(&head, image, sizeof head);
  for (unsigned i = 0, notes = 0; i < head.e_phnum; i++) {
    Elf64_Phdr p;
    uint8_t *at = image + head.e_phoff + i * sizeof p;
    memcpy(&p, at, sizeof p);
    if (p.p_type != PT_NOTE) continue;
    p.p_type = notes++ ? PT_NULL : PT_NOTE;
    p.p_offset = offset;
    p.p_filesz = p.p_memsz = bytes;
    memcpy(at, &p, sizeof p);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!seed_bytes) read_seed();
  if (size < 2) return 0;
  size_t metadata = data[0] | (size_t)data[1] << 8;
  if (metadata > size - 2) metadata = size - 2;
  size_t offset = (seed_bytes + 7) / 8 * 8;
  uint8_t *image = calloc(1, offset + size + 128);
  if (!image) return 0;
  memcpy(image, seed, seed_bytes);
  size_t notes = put_note(image + offset, "AMDGPU", 32, data + 2, metadata);
  if (metadata < size - 2)
    notes += put_note(image + offset + notes, FRONT_NOTE_OWNER, FRONT_NOTE_TYPE, data + 2 + metadata, size - 2 - metadata);
  point_to_notes(image, offset, notes);
  struct code_object co;
  struct front_note note;
  char error[CODE_ERROR_MAX] = "";
  if (code_object_open(image, offset + notes, &co, error)) {
    if (front_note_read(&co, &note, error)) front_note_free(&note);
    code_object_close(&co);
  } else if (!error[0]) {
    abort();
  }
  free(image);
  return 0;
}
