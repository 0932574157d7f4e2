/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen info KEY|FILE: the plan, and of a file what its kernel takes. */
#include "cmd.h"
#include "info.h"

#include <stdlib.h>
#include <string.h>

int cmd_info(int argc, char **argv) {
  static const char doc[] = "Prints geometry, LDS, scratch, arguments and bytes moved of a key, and a code object's registers too.";
  struct cmd_line line;
  struct plan plan;
  struct text out = {0};
  char error[FRONTGEN_ERROR_MAX];
  int status = cmd_parse(argc, argv, CMD_ARCH | CMD_JSON, "KEY|FILE", doc, 1, &line);
  if (status >= 0) return status;
  status = frontgen_plan(line.words[0], line.arch ? line.arch : target_gfx950.name, &plan, error);
  if (status) {
    cmd_fail(status, "%s", error);
  } else {
    info_print(&plan, NULL, line.json, &out);
    status = out.failed ? cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory") : cmd_print(out.data, out.bytes);
  }
  text_free(&out);
  free(line.words);
  return status;
}
