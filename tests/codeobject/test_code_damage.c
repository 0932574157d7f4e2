/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no code object, another GPU's, cut off or damaged: one sentence says which; nothing is read out of bounds. */
#include "codeobject.h"
#include "note.h"

#include "code_samples.h"
#include "support.h"
#include "toolchain_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_refused(const void *bytes, size_t size, const char *words) {
  struct code_object co;
  char error[CODE_ERROR_MAX] = "";
  if (code_object_open(bytes, size, &co, error)) fail_msg("it was to be refused with \"%s\"", words);
  if (!strstr(error, words)) fail_msg("\"%s\" was to have \"%s\"", error, words);
}

static void test_containers(void **state) {
  (void)state;
  static const struct {
    const char *magic, *words;
  } files[] = {
      {"CCOB....................................", "compressed offload bundle (CCOB)"},
      {"__CLANG_OFFLOAD_BUNDLE__................", "clang-offload-bundler --unbundle"},
      {"\x10\xff\x10\xad............................", "LLVM offload binary"},
      {"BC\xc0\xde....................................", "bitcode"},
      {"!<arch>\n................................", "archive"},
      {"; ModuleID = 'x'", "no ELF file"},
      {"CCO", "no ELF file"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) assert_refused(files[i].magic, strlen(files[i].magic), files[i].words);
  assert_refused("", 0, "no ELF file (0 bytes)");
}

static void test_foreign(void **state) {
  (void)state;
  size_t bytes;
  unsigned char *host = (unsigned char *)read_file("/proc/self/exe", &bytes);
  assert_refused(host, bytes, "not for AMDGPU");
  free(host);
  unsigned char *object = assembly_to_code_object(SAMPLE, "gfx950", &bytes);
  static const struct {
    size_t at;
    unsigned char value;
    const char *words;
  } edits[] = {
      {0x30, 0x41, "code for gfx1100"},
      {0x30, 0xee, "an unknown GPU"},
      {0x08, 1, "code object version 3"},
      {0x08, 9, "code object version 11"},
      {0x07, 0, "OS ABI 0"},
      {0x10, 1, "ld.lld -shared"},
      {0x04, 1, "no 64-bit"},
      {0x36, 0, "program headers"},
  };
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    unsigned char old = object[edits[i].at];
    object[edits[i].at] = edits[i].value;
    assert_refused(object, bytes, edits[i].words);
    object[edits[i].at] = old;
  }
  free(object);
}

/* An image with its last byte at the end of its own allocation, so that the sanitizer sees any read beyond it. */
static void open_copy(const void *bytes, size_t size) {
  struct code_object co;
  struct front_note note;
  char error[CODE_ERROR_MAX] = "";
  void *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  if (code_object_open(copy, size, &co, error)) {
    if (front_note_read(&co, &note, error)) front_note_free(&note);
    code_object_close(&co);
  } else {
    assert_true(error[0] != 0);
  }
  free(copy);
}

static void test_cut_off(void **state) {
  (void)state;
  size_t bytes;
  unsigned char *object = assembly_to_code_object(SAMPLE, "gfx950", &bytes);
  struct code_object co;
  char error[CODE_ERROR_MAX];
  assert_true(code_object_open(object, bytes, &co, error));
  const struct code_segment *last = &co.segment[co.segments - 1];
  size_t loaded = last->offset + last->filesz;
  code_object_close(&co);
  for (size_t size = 0; size < bytes; size++) {
    open_copy(object, size);
    if (size >= loaded) continue;
    if (code_object_open(object, size, &co, error)) fail_msg("accepted with %zu of %zu bytes", size, bytes);
  }
  free(object);
}

static void test_bit_flips(void **state) {
  (void)state;
  size_t bytes;
  unsigned char *object = assembly_to_code_object(SAMPLE, "gfx950", &bytes);
  for (size_t bit = 0; bit < 8 * bytes; bit++) {
    object[bit / 8] ^= (unsigned char)(1 << bit % 8);
    open_copy(object, bytes);
    object[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  free(object);
}

/* Every aligned 8 bytes replaced by numbers that break careless sums. */
static void test_extreme_numbers(void **state) {
  (void)state;
  static const uint64_t extremes[] = {UINT64_MAX, UINT64_MAX - 7, INT64_MAX, UINT64_C(1) << 63, UINT32_MAX, 0x80000000u, 0x7fffffff};
  size_t bytes;
  unsigned char *object = assembly_to_code_object(SAMPLE "  .data\n  .p2align 3\n  .quad k\n", "gfx950", &bytes);
  for (size_t at = 16; at + 8 <= bytes; at += 8) {
    uint64_t old;
    memcpy(&old, object + at, 8);
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
      memcpy(object + at, &extremes[i], 8);
      open_copy(object, bytes);
    }
    memcpy(object + at, &old, 8);
  }
  free(object);
}

static void test_unknown_relocation(void **state) {
  (void)state;
  size_t bytes;
  unsigned char *object = assembly_to_code_object(SAMPLE "  .data\n  .p2align 3\n  .globl t\nt:\n  .quad t\n", "gfx950", &bytes);
  static const unsigned char relative[] = {13, 0, 0, 0, 0, 0, 0, 0}, absolute[] = {3, 0, 0, 0};
  size_t changed = 0;
  for (size_t at = 8; at + 8 <= bytes; at += 8) { /* r_info of the one relocation */
    struct code_object co;
    char error[CODE_ERROR_MAX];
    if (memcmp(object + at, relative, 8) != 0 && memcmp(object + at, absolute, 4) != 0) continue;
    unsigned char old = object[at];
    object[at] = 4;
    if (!code_object_open(object, bytes, &co, error) && strstr(error, "relocation type 4 (R_AMDGPU_REL32)"))
      changed++;
    else
      code_object_close(&co);
    object[at] = old;
  }
  assert_int_equal(changed, 1);
  free(object);
}

static void test_lying_metadata(void **state) {
  (void)state;
  static const struct {
    const char *what, *with, *words;
  } edits[] = {
      {"\n    .kernarg_segment_size: 24", "\n    .kernarg_segment_size: 32", "metadata and descriptor differ (kernarg 32, 24"},
      {".symbol: k.kd", ".symbol: x.kd", "a kernel without a .symbol"},
  };
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    char text[8192], edited[8192];
    size_t bytes;
    snprintf(text, sizeof text, "%s", SAMPLE);
    char *at = strstr(text, edits[i].what);
    assert_non_null(at);
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, edits[i].with, at + strlen(edits[i].what));
    void *object = assembly_to_code_object(edited, "gfx950", &bytes);
    assert_refused(object, bytes, edits[i].words);
    free(object);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      {"a bundle, archive or bitcode is named, with what extracts it", test_containers, NULL, NULL, NULL},
      {"another machine's, GPU's or version's object is named", test_foreign, NULL, NULL, NULL},
      {"an object that is cut off anywhere in what is loaded is refused", test_cut_off, NULL, NULL, NULL},
      {"no flipped bit reads out of bounds", test_bit_flips, NULL, NULL, NULL},
      {"no size or address that lies reads out of bounds", test_extreme_numbers, NULL, NULL, NULL},
      {"a relocation that is not modelled is refused by its name", test_unknown_relocation, NULL, NULL, NULL},
      {"metadata that contradicts the descriptor is refused", test_lying_metadata, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
