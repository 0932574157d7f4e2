/* SPDX-License-Identifier: Apache-2.0 */
/* The public API's way through the parts: key -> plan -> IR -> code object -> file. */
#include "frontgen.h"
#include "bundle_runner.h"
#include "emit.h"
#include "output.h"
#include "tool.h"
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum frontgen_status frontgen_plan(const char *text, const char *arch, struct plan *plan, char error[FRONTGEN_ERROR_MAX]) {
  struct front_key key;
  const struct target *target = target_by_name(arch);
  bool named = strncmp(text, "front_s", 7) == 0;
  if (!target) {
    snprintf(error, FRONTGEN_ERROR_MAX, "target %.40s is not in this version: gfx950 is", arch);
    return FRONTGEN_USAGE;
  }
  if (!(named ? key_from_name(text, &key, error) : key_parse(text, &key, error))) return FRONTGEN_USAGE;
  return plan_make(&key, target, plan, error) ? FRONTGEN_GOOD : FRONTGEN_USAGE;
}

enum frontgen_status frontgen_emit(const struct plan *plan, char **text, size_t *bytes, char error[FRONTGEN_ERROR_MAX]) {
  return emit_module(plan, text, bytes, error) ? FRONTGEN_GOOD : FRONTGEN_ENVIRONMENT;
}

enum frontgen_status frontgen_build(
    const struct plan *plan, const struct frontgen_options *options, void **object, size_t *object_bytes, char error[FRONTGEN_ERROR_MAX]) {
  char *text;
  size_t bytes;
  enum frontgen_status status = frontgen_emit(plan, &text, &bytes, error);
  if (status) return status;
  status = frontgen_compile_ir(text, bytes, plan, options, object, object_bytes, error);
  free(text);
  return status;
}

enum frontgen_status frontgen_build_file(
    const struct plan *plan, const struct frontgen_options *options, const char *path, char error[FRONTGEN_ERROR_MAX]) {
  void *object;
  size_t bytes;
  enum frontgen_status status = output_check(path, error); /* before the work, not after it */
  if (!status) status = frontgen_build(plan, options, &object, &bytes, error);
  if (status) return status;
  status = output_write(path, object, bytes, error);
  free(object);
  return status;
}

void frontgen_file_name(const struct plan *plan, char name[KEY_NAME_MAX + 32]) {
  snprintf(name, KEY_NAME_MAX + 32, "%s.%s.hsaco", plan->name, plan->target->name);
}

void frontgen_interrupt(void) {
  bundle_interrupt();
  verify_interrupt();
  tool_interrupt();
  output_interrupt();
}
