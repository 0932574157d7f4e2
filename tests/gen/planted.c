/* SPDX-License-Identifier: Apache-2.0 */
/* Faults planted in a real kernel. */
#include "planted.h"

#include "debug_line.h"
#include "note.h"
#include "note_object.h"
#include "toolchain_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAX = 8, FLAGS_MAX = 32 };

static struct {
  char key[64];
  struct planted kernel;
} made[KERNELS_MAX];
static size_t kernels;

static const char *folder(void) {
  static const char *dir;
  if (!dir) dir = temp_dir();
  return dir;
}

static void run_tool(const char *const argv[]) {
  struct outcome o = run_argv(argv, NULL);
  assert_code(&o, 0);
  outcome_free(&o);
}

/* tool FLAGS... input -o output, without the flag that asks llc for an object. */
static void run_step(const char *tool, const char *const *flags, const char *more, const char *input, const char *output) {
  const char *argv[FLAGS_MAX] = {tool};
  size_t n = 1;
  for (; *flags && n < FLAGS_MAX - 6; flags++)
    if (strcmp(*flags, "-filetype=obj") != 0) argv[n++] = *flags;
  if (more) argv[n++] = more;
  argv[n++] = input;
  argv[n++] = "-o";
  argv[n++] = output;
  run_tool(argv);
}

static struct planted compile(const char *key) {
  struct planted p = {0};
  char error[FRONTGEN_ERROR_MAX], *ir = NULL;
  size_t bytes;
  if (frontgen_plan(key, "gfx950", &p.plan, error) || frontgen_emit(&p.plan, &ir, &bytes, error)) fail_msg("%s", error);
  const char *source = path_in(folder(), "kernel.ll"), *bitcode = path_in(folder(), "kernel.bc"), *text = path_in(folder(), "whole.s");
  write_file(source, ir, bytes);
  run_step(OPT_PATH, p.plan.target->opt_flags, NULL, source, bitcode);
  run_step(LLC_PATH, p.plan.target->llc_flags, "-filetype=asm", bitcode, text);
  p.text = read_file(text, NULL);
  snprintf(p.note_key, sizeof p.note_key, "%s", p.plan.name);
  free(ir);
  return p;
}

struct planted planted_kernel(const char *key) {
  size_t i = 0;
  while (i < kernels && strcmp(made[i].key, key) != 0) i++;
  if (i == kernels) {
    assert_true(kernels < KERNELS_MAX && strlen(key) < sizeof made[i].key);
    strcpy(made[i].key, key);
    made[i].kernel = compile(key);
    kernels++;
  }
  struct planted p = made[i].kernel;
  p.text = strdup(p.text);
  return p;
}

void planted_free(struct planted *p) {
  free(p->text);
  p->text = NULL;
}

static void splice(struct planted *p, size_t at, size_t remove, const char *insert) {
  size_t length = strlen(p->text), more = strlen(insert);
  char *text = malloc(length - remove + more + 1);
  assert_non_null(text);
  memcpy(text, p->text, at);
  memcpy(text + at, insert, more);
  strcpy(text + at + more, p->text + at + remove);
  free(p->text);
  p->text = text;
}

void planted_edit_from(struct planted *p, size_t at, const char *what, const char *with) {
  const char *found = strstr(p->text + at, what);
  if (!found) fail_msg("the assembly has no \"%s\"", what);
  splice(p, (size_t)(found - p->text), strlen(what), with);
}

void planted_edit(struct planted *p, const char *what, const char *with) { planted_edit_from(p, 0, what, with); }

void planted_insert(struct planted *p, size_t at, const char *text) { splice(p, at, 0, text); }

size_t planted_next_line(const struct planted *p, size_t at) {
  const char *end = strchr(p->text + at, '\n');
  return end ? (size_t)(end + 1 - p->text) : strlen(p->text);
}

char *planted_cut_line(struct planted *p, size_t at) {
  size_t length = planted_next_line(p, at) - at;
  char *line = strndup(p->text + at, length);
  splice(p, at, length, "");
  return line;
}

size_t planted_line_with(const struct planted *p, size_t at, const char *what) {
  const char *found = strstr(p->text + at, what);
  if (!found) fail_msg("the assembly has no \"%s\" there", what);
  while (found > p->text && found[-1] != '\n') found--;
  return (size_t)(found - p->text);
}

size_t planted_line_before(const struct planted *p, size_t at, const char *what) {
  size_t last = SIZE_MAX;
  for (size_t line = 0; line < at; line = planted_next_line(p, line)) {
    const char *found = strstr(p->text + line, what);
    if (!found || (size_t)(found - p->text) >= at) break;
    line = last = planted_line_with(p, line, what);
  }
  if (last == SIZE_MAX) fail_msg("the assembly has no \"%s\" before", what);
  return last;
}

static bool is_access(const char *line) { return strncmp(line, "\tbuffer_", 8) == 0 || strncmp(line, "\tglobal_", 8) == 0; }

size_t planted_access(const struct planted *p, enum issue_event event, uint32_t instance, uint32_t nth) {
  static struct issue_row row[ISSUE_ROWS_MAX];
  uint32_t rows = issue_rows(&p->plan, row), wanted = 0, line = 0, seen = 0;
  for (uint32_t i = 0; i < rows; i++)
    if (row[i].event == event && row[i].instance == instance) wanted = i + 1;
  for (size_t at = 0; p->text[at]; at = planted_next_line(p, at)) {
    if (strncmp(p->text + at, "\t.loc\t1 ", 8) == 0) line = (uint32_t)strtoul(p->text + at + 8, NULL, 10);
    if (wanted && line == wanted && is_access(p->text + at) && seen++ == nth) return at;
  }
  fail_msg("%s has no access %u of %s %u", p->plan.name, nth, issue_event_name(event), instance);
  return 0;
}

/* The note's object beside the kernel's. */
static void write_note(const struct planted *p, const char *object_path, const char *note_path) {
  struct front_note note = {.kernarg_abi = FRONT_NOTE_KERNARG_ABI,
      .key = p->note_key,
      .arch = p->plan.target->name,
      .llvm_version = LLVM_VERSION,
      .generator_version = "0"};
  char error[CODE_ERROR_MAX];
  size_t object_bytes, record_bytes, made_bytes;
  char *object = read_file(object_path, &object_bytes);
  if (!debug_line_events(object, object_bytes, &note.event, &note.events, error)) fail_msg("%s", error);
  void *record = front_note_write(&note, &record_bytes);
  void *whole = note_object(object, object_bytes, FRONT_NOTE_SECTION, record, record_bytes, &made_bytes);
  assert_non_null(whole);
  write_file(note_path, whole, made_bytes);
  free(whole);
  free(record);
  free(note.event);
  free(object);
}

void *planted_object(const struct planted *p, size_t *bytes) {
  const char *source = path_in(folder(), "kernel.s"), *object = path_in(folder(), "kernel.o"), *note = path_in(folder(), "note.o");
  const char *linked = path_in(folder(), "kernel.hsaco");
  write_file(source, p->text, strlen(p->text));
  run_tool((const char *const[]){LLVM_MC_PATH, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-filetype=obj", source, "-o", object, NULL});
  write_note(p, object, note);
  run_tool((const char *const[]){LLD_PATH, "-shared", "--strip-debug", "-o", linked, object, p->without_note ? NULL : note, NULL});
  return read_file(linked, bytes);
}

void planted_assert_object(const void *object, size_t bytes, const char *gate, const char *words) {
  struct check_report report;
  char error[FRONTGEN_ERROR_MAX] = "";
  enum frontgen_status status = check_code_object(object, bytes, NULL, &report, error);
  if (!gate) {
    if (status) check_print(&report, stderr);
    if (status) fail_msg("%s", error);
    return;
  }
  const struct check_gate *found = NULL;
  for (uint32_t i = 0; i < report.gates; i++)
    if (strcmp(report.gate[i].name, gate) == 0) found = &report.gate[i];
  if (status != FRONTGEN_GATE) fail_msg("status %d (%s), the gate \"%s\" was to fail", (int)status, error, gate);
  if (!found) fail_msg("no gate \"%s\"", gate);
  if (found->good || !strstr(found->message, words)) {
    check_print(&report, stderr);
    fail_msg("the gate \"%s\" was to fail with \"%s\", it says \"%s\"", gate, words, found->message);
  }
}

void planted_assert(struct planted *p, const char *gate, const char *words) {
  size_t bytes;
  void *object = planted_object(p, &bytes);
  planted_assert_object(object, bytes, gate, words);
  free(object);
  planted_free(p);
}
