/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen check FILE...: the gates of section 9 on code objects. */
#include "check.h"
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>

static int check_file(const char *path, const struct frontgen_options *options, FILE *out) {
  char *data, error[FRONTGEN_ERROR_MAX];
  size_t bytes;
  int status = cmd_read_file(path, &data, &bytes);
  if (status) return status;
  struct check_report *report = malloc(sizeof *report);
  if (report) {
    status = (int)check_code_object(data, bytes, options, report, error);
    if (status <= FRONTGEN_GATE) {
      fprintf(out, "%s\n", path);
      check_print(report, out);
    }
    if (status) cmd_fail(status, "%s: %s", path, error);
  } else {
    status = cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory");
  }
  free(report);
  free(data);
  return status;
}

int cmd_check(int argc, char **argv) {
  static const char doc[] = "Runs the static gates on code objects and prints each gate's verdict. Exit code 1 if one fails.";
  struct cmd_line line;
  char *text = NULL;
  size_t bytes = 0;
  int status = cmd_parse(argc, argv, CMD_LIMITS, "FILE...", doc, (size_t)argc, &line);
  if (status >= 0) return status;
  FILE *out = open_memstream(&text, &bytes);
  status = out ? FRONTGEN_GOOD : cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory");
  /* Every file is looked at; the worst code is the program's. */
  for (size_t i = 0; i < line.count && out; i++) {
    int one = check_file(line.words[i], &line.options, out);
    if (one > status) status = one;
  }
  if (out && fclose(out) != 0) status = cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory");
  int printed = text ? cmd_print(text, bytes) : FRONTGEN_GOOD;
  free(text);
  free(line.words);
  return printed > status ? printed : status;
}
