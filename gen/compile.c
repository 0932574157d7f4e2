/* SPDX-License-Identifier: Apache-2.0 */
/* IR text -> opt -> llc -> our note -> ld.lld -> gates -> code object, each step from one memory file to the next. */
#include "compile.h"
#include "output.h"
#include "tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
  return tool_run(tool, arguments, input, *output, files, count, w->options, w->error);
}

static enum frontgen_status run_pipeline(struct work *w, const char *text, size_t bytes) {
  const struct target *target = w->plan->target;
  enum frontgen_status status = tool_llvm_version(w->options, w->version, w->error);
  if (status) return status;
  w->ir = tool_file(text, bytes);
  if (w->ir < 0) return no_memory(w);
  status = save(w, w->ir, "ll");
  if (!status) status = step(w, TOOL_OPT, target->opt_flags, w->ir, NULL, 0, &w->bitcode);
  if (!status) status = save(w, w->bitcode, "bc");
  if (!status) status = step(w, TOOL_LLC, target->llc_flags, w->bitcode, NULL, 0, &w->object);
  if (!status) status = save(w, w->object, "o");
  if (!status) status = step(w, TOOL_LLD, target->lld_flags, -1, (const int[]){w->object, w->note}, w->note >= 0 ? 2 : 1, &w->linked);
  return status;
}

enum frontgen_status frontgen_compile_ir(const char *text, size_t bytes, const struct plan *plan, const struct frontgen_options *options,
    void **object, size_t *object_bytes, char error[FRONTGEN_ERROR_MAX]) {
  struct work w = {.plan = plan, .options = options, .error = error, .ir = -1, .bitcode = -1, .object = -1, .note = -1, .linked = -1};
  *object = NULL;
  enum frontgen_status status = run_pipeline(&w, text, bytes);
  if (!status) {
    *object = tool_file_read(w.linked, object_bytes);
    if (!*object) status = no_memory(&w);
  }
  const int files[] = {w.ir, w.bitcode, w.object, w.note, w.linked};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i] >= 0) close(files[i]);
  return status;
}
