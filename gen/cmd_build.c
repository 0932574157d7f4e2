/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen build KEY|PATTERN...: code objects under their canonical names. Prints each file's path once it is there. */
#include "cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct keys {
  struct front_key *key;
  size_t count;
};

/* Every word's keys, before anything is built: a slip in the last word costs no time and leaves no file. */
static int expand_all(const struct cmd_line *line, struct keys *all) {
  for (size_t i = 0; i < line->count; i++) {
    struct front_key *keys;
    size_t count;
    int status = cmd_expand(line->words[i], &keys, &count);
    if (status) return status;
    struct front_key *grown = realloc(all->key, (all->count + count) * sizeof *grown);
    if (grown) memcpy(grown + all->count, keys, count * sizeof *grown);
    free(keys);
    if (!grown) return cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the keys: narrow a range");
    all->key = grown;
    all->count += count;
  }
  return FRONTGEN_GOOD;
}

/* mkdir -p */
static int make_folder(const char *path) {
  char part[PATH_MAX];
  size_t length = strlen(path);
  if (length == 0 || length >= sizeof part) return cmd_fail(FRONTGEN_USAGE, "-o \"%.60s\": not a path", path);
  for (size_t i = 1; i <= length; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    snprintf(part, sizeof part, "%.*s", (int)i, path);
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return cmd_fail(FRONTGEN_USAGE, "cannot make the folder %.400s: %s: name another with -o", part, strerror(errno));
  }
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return cmd_fail(FRONTGEN_USAGE, "-o %.400s is not a folder: name another", path);
  return FRONTGEN_GOOD;
}

static int build_key(const struct front_key *key, const struct target *target, const char *folder, const struct frontgen_options *options) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], name[KEY_NAME_MAX + 32], path[PATH_MAX + KEY_NAME_MAX + 32];
  if (!plan_make(key, target, &plan, error)) return cmd_fail(FRONTGEN_USAGE, "%s", error);
  frontgen_file_name(&plan, name);
  if (strcmp(folder, ".") == 0)
    snprintf(path, sizeof path, "%s", name);
  else
    snprintf(path, sizeof path, "%s/%s", folder, name);
  int status = (int)frontgen_build_file(&plan, options, path, error);
  if (status) return cmd_fail(status, "%s: %s", plan.name, error);
  strcat(path, "\n");
  return cmd_print(path, strlen(path));
}

int cmd_build(int argc, char **argv) {
  static const char doc[] = "Makes the code object of each key, as NAME.ARCH.hsaco, and prints its path.";
  struct cmd_line line;
  struct keys all = {0};
  int status = cmd_parse(argc, argv, CMD_ARCH | CMD_OUTPUT | CMD_LIMITS, "KEY|PATTERN...", doc, (size_t)argc, &line);
  if (status >= 0) return status;
  const char *folder = line.output ? line.output : ".";
  const struct target *target = cmd_target(&line);
  status = target ? expand_all(&line, &all) : FRONTGEN_USAGE;
  if (!status && line.output) status = make_folder(folder);
  if (line.save_temps) line.options.save_temps = folder;
  for (size_t i = 0; i < all.count && !status; i++) status = build_key(&all.key[i], target, folder, &line.options);
  free(all.key);
  free(line.words);
  return status;
}
