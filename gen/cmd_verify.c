/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen verify BUNDLE: every code object on the emulator, against the reference. */
#include "cmd.h"
#include "front.h"
#include "output.h"
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bundle's kernels; entries[i] holds what cases[i] names. */
static int list(const char *path, struct verify_case **cases, struct front_bundle_entry **entries, size_t *count) {
  front_bundle bundle;
  if (front_bundle_open(path, &bundle) != FRONT_OK || front_bundle_count(bundle, count) != FRONT_OK)
    return cmd_fail(FRONTGEN_USAGE, "%s", front_error());
  *cases = calloc(*count + 1, sizeof **cases);
  *entries = calloc(*count + 1, sizeof **entries);
  int status = *cases && *entries ? FRONTGEN_GOOD : cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the bundle's keys");
  for (size_t i = 0; i < *count && !status; i++) {
    struct front_bundle_entry *e = &(*entries)[i];
    if (front_bundle_describe(bundle, i, e) != FRONT_OK) status = cmd_fail(FRONTGEN_USAGE, "%s", front_error());
    (*cases)[i].name = e->name;
    (*cases)[i].arch = e->arch;
  }
  (void)front_bundle_close(bundle);
  return status;
}

static int write_junit(const struct cmd_line *line, const struct verify_case *cases, size_t count) {
  struct text out = {0};
  char error[FRONTGEN_ERROR_MAX];
  verify_junit(line->words[0], cases, count, &out);
  int status = out.failed ? cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the report") : FRONTGEN_GOOD;
  if (!status) {
    status = (int)output_write(line->junit, out.data, out.bytes, error);
    if (status) cmd_fail(status, "%s", error);
  }
  text_free(&out);
  return status;
}

/* The worst of the exit codes; a signal is a fault. */
static int summary(const char *path, const struct verify_case *cases, size_t count) {
  char line[256];
  size_t failed = 0;
  int worst = 0;
  for (size_t i = 0; i < count; i++) {
    int code = cases[i].code > 4 ? 4 : cases[i].code;
    failed += code != 0;
    worst = code > worst ? code : worst;
  }
  int n = snprintf(line, sizeof line, "%.180s: %zu of %zu kernels good\n", path, count - failed, count);
  int status = cmd_print(line, (size_t)n);
  return status ? status : worst;
}

int cmd_verify(int argc, char **argv) {
  static const char doc[] = "Runs every code object of a bundle on the emulator and compares every stage with the reference.";
  struct cmd_line line;
  struct verify_case *cases = NULL;
  struct front_bundle_entry *entries = NULL;
  size_t count = 0;
  char frontrun[4096], error[FRONTGEN_ERROR_MAX];
  int status = cmd_parse(argc, argv, CMD_JOBS | CMD_JUNIT | CMD_LAUNCH_LIMIT, "BUNDLE", doc, 1, &line);
  if (status >= 0) return status;
  status = FRONTGEN_GOOD;
  if (line.junit) {
    status = (int)output_check(line.junit, error);
    if (status) cmd_fail(status, "%s", error);
  }
  if (!status) status = list(line.words[0], &cases, &entries, &count);
  if (!status && !verify_find(frontrun))
    status = cmd_fail(FRONTGEN_ENVIRONMENT, "no frontrun at %.300s: install it beside frontgen, or set FRONTGEN_FRONTRUN", frontrun);
  if (!status) {
    status = (int)verify_run(frontrun, line.words[0], cases, count, line.jobs, line.options.seconds, error);
    if (status) cmd_fail(status, "%s", error);
  }
  if (!status && line.junit) status = write_junit(&line, cases, count);
  if (!status) status = summary(line.words[0], cases, count);
  free(cases);
  free(entries);
  free(line.words);
  return status;
}
