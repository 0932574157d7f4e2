/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen bundle PATTERN...: a folder of code objects. */
#include "bundle.h"
#include "cmd.h"
#include "output.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The keys of the line as a bundle's, sorted, this shard's alone. */
static int bundle_keys(const struct cmd_line *line, const struct target *target, struct bundle_key **out, size_t *count) {
  struct front_key *keys;
  size_t all;
  char error[FRONTGEN_ERROR_MAX];
  int status = cmd_expand_all(line, &keys, &all);
  *out = status ? NULL : malloc((all + 1) * sizeof **out);
  if (!status && !*out) status = cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the keys: narrow a range");
  for (size_t i = 0; i < all && !status; i++)
    if (!bundle_key_make(&keys[i], target, &(*out)[i], error)) status = cmd_fail(FRONTGEN_USAGE, "%s", error);
  free(keys);
  if (status) return status;
  size_t sorted = bundle_sort(*out, all);
  *count = 0;
  for (size_t i = 0; i < sorted; i++)
    if (!line->shards || i % line->shards == line->shard - 1) (*out)[(*count)++] = (*out)[i];
  if (*count == 0) return cmd_fail(FRONTGEN_USAGE, "shard %u/%u has no key: there are %zu keys", line->shard, line->shards, sorted);
  return FRONTGEN_GOOD;
}

/* This program's path: ninja runs it. */
static bool own_path(char path[PATH_MAX]) {
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length > 0) path[length] = 0;
  return length > 0;
}

/* The folders above the bundle's. */
static int make_parents(const char *folder) {
  char parent[PATH_MAX];
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') length--;
  while (length > 0 && folder[length - 1] != '/') length--;
  if (length <= 1 || length >= sizeof parent) return FRONTGEN_GOOD;
  snprintf(parent, sizeof parent, "%.*s", (int)(length - 1), folder);
  return cmd_make_folder(parent);
}

int cmd_make_bundle(const struct cmd_line *line, struct bundle_options *o) {
  struct bundle_result result;
  char error[FRONTGEN_ERROR_MAX], program[PATH_MAX], text[PATH_MAX + 128];
  if (!own_path(program)) return cmd_fail(FRONTGEN_ENVIRONMENT, "this program's own path is not known: mount /proc");
  o->folder = line->output;
  o->embed = line->embed;
  o->program = program;
  o->jobs = line->jobs;
  o->tools = &line->options;
  int status = make_parents(line->output);
  if (status) return status;
  if (line->embed) status = (int)output_check(line->embed, error); /* before the work, not after it */
  if (status) return cmd_fail(status, "%s", error);
  status = (int)bundle_make(o, &result, error);
  if (status) return cmd_fail(status, "%s", error);
  int n = snprintf(text, sizeof text, "%s: %zu code objects, %llu bytes%s\n", line->output, result.files, (unsigned long long)result.bytes,
      result.changed ? "" : ", as before");
  return cmd_print(text, (size_t)n);
}

int cmd_bundle(int argc, char **argv) {
  static const char doc[] =
      "Makes the code objects of all keys as one folder, with SHA256SUMS and manifest.json. Ninja does the work, beside the folder in "
      ".NAME.frontgen, which only speeds up the next build and may be deleted.";
  struct cmd_line line;
  struct bundle_key *keys = NULL;
  size_t count = 0;
  int status = cmd_parse(argc, argv, CMD_BUNDLE_ARCH | CMD_BUNDLE_OUTPUT | CMD_LIMITS | CMD_JOBS | CMD_SHARD | CMD_EMBED, "PATTERN...", doc,
      (size_t)argc, &line);
  if (status >= 0) return status;
  status = FRONTGEN_GOOD;
  if (!line.arch) status = cmd_fail(FRONTGEN_USAGE, "bundle needs --arch: the GPU that the code objects are for (gfx950)");
  if (!status && !line.output) status = cmd_fail(FRONTGEN_USAGE, "bundle needs -o: the folder to make");
  const struct target *target = status ? NULL : cmd_target(&line);
  if (!status && !target) status = FRONTGEN_USAGE;
  if (!status) status = bundle_keys(&line, target, &keys, &count);
  struct bundle_options o = {.key = keys, .keys = count};
  if (!status) status = cmd_make_bundle(&line, &o);
  free(keys);
  free(line.words);
  return status;
}

int cmd_bundle_step(int argc, char **argv) {
  char error[FRONTGEN_ERROR_MAX];
  if (argc != 3) return cmd_fail(FRONTGEN_USAGE, "bundle-step is run by ninja alone: use frontgen bundle");
  return (int)bundle_step(argv[1], argv[2], error);
}
