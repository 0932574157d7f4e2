/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen emit KEY: the kernel's IR on standard output. */
#include "cmd.h"

#include <stdlib.h>

int cmd_emit(int argc, char **argv) {
  struct cmd_line line;
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], *text = NULL;
  size_t bytes = 0;
  int status = cmd_parse(argc, argv, CMD_ARCH, "KEY", "Prints the LLVM IR of the key's kernel.", 1, &line);
  if (status >= 0) return status;
  const struct target *target = cmd_target(&line);
  status = FRONTGEN_USAGE;
  if (target) {
    status = (int)frontgen_plan(line.words[0], target->name, &plan, error);
    if (!status) cmd_say_target(&line);
    if (!status) status = (int)frontgen_emit(&plan, &text, &bytes, error);
    if (status)
      cmd_fail(status, "%s", error);
    else
      status = cmd_print(text, bytes);
  }
  free(text);
  free(line.words);
  return status;
}
