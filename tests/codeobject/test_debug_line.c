/* SPDX-License-Identifier: Apache-2.0 */
/* The event table against llvm-objdump -l, which reads the same line table with code that is not ours. */
#include "debug_line.h"

#include "support.h"
#include "toolchain_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder(void) {
  static const char *dir;
  if (!dir) dir = temp_dir();
  return dir;
}

/* The object of an IR text, not linked. */
static const char *object_of(const char *ir, size_t bytes) {
  const char *source = path_in(folder(), "kernel.ll"), *object = path_in(folder(), "kernel.o");
  write_file(source, ir, bytes);
  struct outcome o = run(LLC_PATH, "-O3", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-filetype=obj", source, "-o", object);
  assert_code(&o, 0);
  outcome_free(&o);
  return object;
}

/* Compares each access's row with the "; issue_order:N" that stands above it; returns how many there were. */
static unsigned compare(const char *object_path) {
  struct front_note note = {0};
  char error[CODE_ERROR_MAX];
  size_t bytes;
  char *object = read_file(object_path, &bytes);
  if (!debug_line_events(object, bytes, &note.event, &note.events, error)) fail_msg("%s", error);
  struct outcome o = run(OBJDUMP_PATH, "-d", "-l", object_path);
  assert_code(&o, 0);
  unsigned long line = 0;
  unsigned accesses = 0;
  for (char *at = strtok(o.out, "\n"); at; at = strtok(NULL, "\n")) {
    const char *name = strstr(at, "issue_order:"), *address = strstr(at, "// ");
    if (at[0] == ';') line = name ? strtoul(name + strlen("issue_order:"), NULL, 10) : line;
    if (at[0] == ';' && !name && strstr(at, ":0")) line = 0;
    if (at[0] != '\t' || !address || (strncmp(at, "\tbuffer_", 8) != 0 && strncmp(at, "\tglobal_", 8) != 0)) continue;
    uint16_t row = front_note_row(&note, (uint32_t)strtoul(address + 3, NULL, 16));
    if (row != (line ? line - 1 : FRONT_EVENT_NONE)) fail_msg("%s: row %u, objdump has line %lu", at, row, line);
    accesses++;
  }
  outcome_free(&o);
  front_note_free(&note);
  free(object);
  return accesses;
}

static void test_small(void **state) {
  (void)state;
  static const char form[] =
      "define amdgpu_kernel void @k(ptr addrspace(1) %%p, i32 %%n) !dbg !5 {\n"
      "  %%v = load volatile i32, ptr addrspace(1) %%p, !dbg !100\n  %%w = load volatile i32, ptr addrspace(1) %%p, !dbg !101\n"
      "  %%s = add i32 %%v, %%w\n  store volatile i32 %%s, ptr addrspace(1) %%p, !dbg !102\n  ret void\n}\n"
      "!llvm.module.flags = !{!0, !1}\n!llvm.dbg.cu = !{!7}\n!0 = !{i32 7, !\"Dwarf Version\", i32 %d}\n"
      "!1 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
      "!5 = distinct !DISubprogram(name: \"k\", scope: !8, file: !8, line: 0, type: !9, unit: !7, spFlags: DISPFlagDefinition)\n"
      "!7 = distinct !DICompileUnit(language: DW_LANG_C11, file: !8, emissionKind: LineTablesOnly)\n"
      "!8 = !DIFile(filename: \"issue_order\", directory: \"\")\n!9 = !DISubroutineType(types: !10)\n!10 = !{null}\n"
      "!100 = !DILocation(line: 7, scope: !5)\n!101 = !DILocation(line: 4000, scope: !5)\n!102 = !DILocation(line: 1, scope: !5)\n";
  for (int version = 4; version <= 5; version++) {
    char ir[4096];
    snprintf(ir, sizeof ir, form, version);
    assert_int_equal(compare(object_of(ir, strlen(ir))), 3);
  }
}

static void test_kernels(void **state) {
  (void)state;
  static const char *const keys[] = {"tokens=8", "tokens=48,tp=1,tuned=1", "tokens=17,tp=2,ratio=0"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    struct outcome o = run(built_path("gen/frontgen"), "emit", "--arch", "gfx950", keys[i]);
    assert_code(&o, 0);
    assert_true(compare(object_of(o.out, o.out_bytes)) > 50);
    outcome_free(&o);
  }
}

static void refuse(const void *object, size_t bytes, const char *words) {
  struct front_event *event;
  uint32_t events;
  char error[CODE_ERROR_MAX] = "";
  if (debug_line_events(object, bytes, &event, &events, error)) fail_msg("it was to be refused with \"%s\"", words);
  assert_null(event);
  if (!strstr(error, words)) fail_msg("\"%s\" was to have \"%s\"", error, words);
}

static void test_no_lines(void **state) {
  (void)state;
  static const char ir[] = "define amdgpu_kernel void @k() {\n  ret void\n}\n";
  size_t bytes;
  char *object = read_file(object_of(ir, sizeof ir - 1), &bytes);
  refuse(object, bytes, "no line table");
  refuse(object, 10, "truncated");
  refuse("text that is long enough to be a header of an ELF file, but is none", 64, "no relocatable");
  free(object);
}

static void test_damage(void **state) {
  (void)state;
  struct outcome o = run(built_path("gen/frontgen"), "emit", "--arch", "gfx950", "tokens=1");
  assert_code(&o, 0);
  size_t bytes;
  unsigned char *object = (unsigned char *)read_file(object_of(o.out, o.out_bytes), &bytes);
  struct front_event *event;
  uint32_t events, seed = 1;
  char error[CODE_ERROR_MAX];
  for (size_t size = 0; size < bytes; size += size < 4096 ? 1 : 7) {
    unsigned char *copy = malloc(size + 1);
    memcpy(copy, object, size);
    if (debug_line_events(copy, size, &event, &events, error)) free(event);
    free(copy);
  }
  for (int i = 0; i < 20000; i++) {
    seed = seed * 1664525 + 1013904223;
    size_t at = (seed >> 3) % bytes;
    object[at] ^= (unsigned char)(1 << (seed & 7));
    if (debug_line_events(object, bytes, &event, &events, error)) free(event);
    object[at] ^= (unsigned char)(1 << (seed & 7));
  }
  free(object);
  outcome_free(&o);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      {"lines of DWARF 4 and 5 are the disassembler's", test_small, NULL, NULL, NULL},
      {"every access of real kernels has the disassembler's line", test_kernels, NULL, NULL, NULL},
      {"an object without lines is an error", test_no_lines, NULL, NULL, NULL},
      {"a damaged line table reads nothing out of bounds", test_damage, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
