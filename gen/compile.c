/* SPDX-License-Identifier: Apache-2.0 */
/* IR text -> opt -> llc -> our note -> ld.lld -> gates -> code object, each step from one memory file to the next. */
#include "compile.h"
#include "check.h"
#include "debug_line.h"
#include "note.h"
#include "note_object.h"
#include "output.h"
#include "tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLAGS_MAX = 16, LINKED_MAX = 2 };

/* A build's memory files, -1 until they are there. */
struct work {
  const struct plan *plan;
  const struct frontgen_options *options;
  char *error;
  char version[32];
  int ir, bitcode, object, note, linked;
};

static enum frontgen_status no_memory(const struct work *w) {
  snprintf(w->error, FRONTGEN_ERROR_MAX, "no memory file for the compiler: %s: memfd_create and memory are needed", strerror(errno));
  return FRONTGEN_ENVIRONMENT;
}

/* Keeps a copy of a step's result, if that is wanted. */
static enum frontgen_status save(const struct work *w, int file, const char *suffix) {
  char path[PATH_MAX];
  size_t bytes;
  if (!w->options || !w->options->save_temps) return FRONTGEN_GOOD;
  char *data = tool_file_read(file, &bytes);
  if (!data) return no_memory(w);
  int n = snprintf(path, sizeof path, "%s/%s.%s.%s", w->options->save_temps, w->plan->name, w->plan->target->name, suffix);
  enum frontgen_status status = output_write(n < PATH_MAX ? path : "", data, bytes, w->error);
  free(data);
  return status;
}

/* One tool with the target's flags, from `input` and the linked `files` to a new memory file. */
static enum frontgen_status step(
    struct work *w, enum tool tool, const char *const *flags, int input, const int *files, size_t count, int *output) {
  const char *arguments[FLAGS_MAX + LINKED_MAX + 3];
  char paths[LINKED_MAX][TOOL_PATH_MAX];
  size_t n = 0;
  while (flags[n] && n < FLAGS_MAX) {
    arguments[n] = flags[n];
    n++;
  }
  for (size_t i = 0; i < count; i++) {
    tool_file_path(files[i], paths[i]);
    arguments[n++] = paths[i];
  }
  arguments[n++] = "-o";
  arguments[n++] = "-";
  arguments[n] = NULL;
  *output = tool_file(NULL, 0);
  if (*output < 0) return no_memory(w);
  enum frontgen_status status = tool_run(tool, arguments, input, *output, files, count, w->options, w->error);
  struct stat made;
  if (status || fstat(*output, &made) != 0 || made.st_size > 0) return status;
  snprintf(w->error, FRONTGEN_ERROR_MAX, "%s ended well and wrote nothing: set %s to LLVM's own", tool_program(tool, w->options),
      tool_variable(tool));
  return FRONTGEN_ENVIRONMENT;
}

void compile_hash(const char *text, size_t bytes, const struct target *target, uint8_t hash[SHA256_BYTES]) {
  const char *const *const flags[] = {target->opt_flags, target->llc_flags, target->lld_flags};
  struct sha256 h;
  sha256_begin(&h);
  sha256_add(&h, text, bytes);
  for (size_t t = 0; t < sizeof flags / sizeof *flags; t++)
    for (size_t i = 0; flags[t][i]; i++) {
      sha256_add(&h, "", 1);
      sha256_add(&h, flags[t][i], strlen(flags[t][i]));
    }
  sha256_end(&h, hash);
}

/* The note of llc's object, as an object of its own. */
static enum frontgen_status make_note(struct work *w, const char *text, size_t bytes) {
  struct front_note note = {.kernarg_abi = FRONT_NOTE_KERNARG_ABI,
      .key = w->plan->name,
      .arch = w->plan->target->name,
      .llvm_version = w->version,
      .generator_version = FRONTGEN_VERSION};
  size_t object_bytes = 0, note_bytes = 0, made_bytes = 0;
  enum frontgen_status status = FRONTGEN_GOOD;
  char *object = tool_file_read(w->object, &object_bytes), why[CODE_ERROR_MAX];
  compile_hash(text, bytes, w->plan->target, note.sha256);
  if (object && !debug_line_events(object, object_bytes, &note.event, &note.events, why) && !(w->options && w->options->no_gates)) {
    snprintf(w->error, FRONTGEN_ERROR_MAX, "llc's object has no event table: %s: every vector memory access needs a !dbg line", why);
    status = FRONTGEN_GATE;
  }
  void *record = object && !status ? front_note_write(&note, &note_bytes) : NULL;
  void *made = record ? note_object(object, object_bytes, FRONT_NOTE_SECTION, record, note_bytes, &made_bytes) : NULL;
  if (made) w->note = tool_file(made, made_bytes);
  if (!status && w->note < 0) status = no_memory(w);
  free(made);
  free(record);
  free(note.event);
  free(object);
  return status ? status : save(w, w->note, "note.o");
}

static enum frontgen_status find_version(struct work *w) {
  size_t bytes;
  char *bitcode = tool_file_read(w->bitcode, &bytes);
  if (!bitcode) return no_memory(w);
  enum frontgen_status status = tool_bitcode_version(bitcode, bytes, w->options, w->version, w->error);
  free(bitcode);
  return status;
}

static enum frontgen_status run_pipeline(struct work *w, const char *text, size_t bytes) {
  const struct target *target = w->plan->target;
  w->ir = tool_file(text, bytes);
  if (w->ir < 0) return no_memory(w);
  enum frontgen_status status = save(w, w->ir, "ll");
  if (!status) status = step(w, TOOL_OPT, target->opt_flags, w->ir, NULL, 0, &w->bitcode);
  if (!status) status = save(w, w->bitcode, "bc");
  if (!status) status = find_version(w);
  if (!status) status = step(w, TOOL_LLC, target->llc_flags, w->bitcode, NULL, 0, &w->object);
  if (!status) status = save(w, w->object, "o");
  if (!status) status = make_note(w, text, bytes);
  if (!status) status = step(w, TOOL_LLD, target->lld_flags, -1, (const int[]){w->object, w->note}, 2, &w->linked);
  return status;
}

static enum frontgen_status run_gates(const struct work *w, const void *object, size_t bytes) {
  if (w->options && w->options->no_gates) return FRONTGEN_GOOD;
  struct check_report *report = malloc(sizeof *report);
  if (!report) return no_memory(w);
  enum frontgen_status status = check_code_object(object, bytes, w->options, report, w->error);
  free(report);
  if (status != FRONTGEN_USAGE) return status;
  /* No file of the user's: the linker's. */
  char why[FRONTGEN_ERROR_MAX];
  snprintf(why, sizeof why, "%.500s", w->error);
  snprintf(w->error, FRONTGEN_ERROR_MAX, "ld.lld made no code object: %.500s", why);
  return FRONTGEN_ENVIRONMENT;
}

enum frontgen_status frontgen_compile_ir(const char *text, size_t bytes, const struct plan *plan, const struct frontgen_options *options,
    void **object, size_t *object_bytes, char error[FRONTGEN_ERROR_MAX]) {
  struct work w = {.plan = plan, .options = options, .error = error, .ir = -1, .bitcode = -1, .object = -1, .note = -1, .linked = -1};
  char *made = NULL;
  *object = NULL;
  enum frontgen_status status = run_pipeline(&w, text, bytes);
  if (!status) {
    made = tool_file_read(w.linked, object_bytes);
    status = made ? run_gates(&w, made, *object_bytes) : no_memory(&w);
  }
  const int files[] = {w.ir, w.bitcode, w.object, w.note, w.linked};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i] >= 0) close(files[i]);
  if (status) {
    free(made);
    return status;
  }
  *object = made;
  return FRONTGEN_GOOD;
}
