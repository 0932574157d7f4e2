/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen build KEY|PATTERN...: code objects under their canonical names. Prints each file's path once it is there. */
#include "cmd.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int build_key(const struct front_key *key, const struct target *target, const char *folder, const struct frontgen_options *options) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], name[KEY_NAME_MAX + 32], path[PATH_MAX + KEY_NAME_MAX + 32];
  if (!plan_make(key, target, &plan, error)) return cmd_fail(FRONTGEN_USAGE, "%s", error);
  frontgen_file_name(&plan, name);
  if (strcmp(folder, ".") == 0)
    snprintf(path, sizeof path, "%s", name);
  else
    snprintf(path, sizeof path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  int status = (int)frontgen_build_file(&plan, options, path, error);
  if (status) return cmd_fail(status, "%s: %s", plan.name, error);
  strcat(path, "\n");
  return cmd_print(path, strlen(path));
}

int cmd_build(int argc, char **argv) {
  static const char doc[] = "Makes the code object of each key, as NAME.ARCH.hsaco, and prints its path.";
  struct cmd_line line;
  struct front_key *keys = NULL;
  size_t count = 0;
  int status = cmd_parse(argc, argv, CMD_ARCH | CMD_OUTPUT | CMD_LIMITS | CMD_SAVE_TEMPS, "KEY|PATTERN...", doc, (size_t)argc, &line);
  if (status >= 0) return status;
  const char *folder = line.output ? line.output : ".";
  const struct target *target = cmd_target(&line);
  status = target ? cmd_expand_all(&line, &keys, &count) : FRONTGEN_USAGE;
  if (!status && line.output) status = cmd_make_folder(folder);
  if (!status) cmd_say_target(&line);
  if (line.save_temps) line.options.save_temps = folder;
  for (size_t i = 0; i < count && !status; i++) status = build_key(&keys[i], target, folder, &line.options);
  free(keys);
  free(line.words);
  return status;
}
