/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen keys PATTERN: one canonical name a line. */
#include "cmd.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

int cmd_expand(const char *word, struct front_key **keys, size_t *count) {
  char error[KEY_ERROR_MAX];
  if (strncmp(word, "front_s", 7) != 0) {
    if (key_expand(word, keys, count, error)) return FRONTGEN_GOOD;
    return cmd_fail(FRONTGEN_USAGE, "%s", error);
  }
  *keys = malloc(sizeof **keys);
  *count = 1;
  if (!*keys) return cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory");
  if (key_from_name(word, *keys, error)) return FRONTGEN_GOOD;
  free(*keys);
  return cmd_fail(FRONTGEN_USAGE, "%s", error);
}

int cmd_expand_all(const struct cmd_line *line, struct front_key **all, size_t *all_count) {
  *all = NULL;
  *all_count = 0;
  for (size_t i = 0; i < line->count; i++) {
    struct front_key *keys;
    size_t count;
    int status = cmd_expand(line->words[i], &keys, &count);
    if (status) return status;
    struct front_key *grown = realloc(*all, (*all_count + count) * sizeof *grown);
    if (grown) memcpy(grown + *all_count, keys, count * sizeof *grown);
    free(keys);
    if (!grown) return cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the keys: narrow a range");
    *all = grown;
    *all_count += count;
  }
  return FRONTGEN_GOOD;
}

int cmd_keys(int argc, char **argv) {
  struct cmd_line line;
  struct text out = {0};
  int status = cmd_parse(argc, argv, 0, "PATTERN...", "Prints the canonical name of each key of the patterns.", (size_t)argc, &line);
  if (status >= 0) return status;
  status = FRONTGEN_GOOD;
  for (size_t i = 0; i < line.count && !status; i++) {
    struct front_key *keys;
    size_t count;
    status = cmd_expand(line.words[i], &keys, &count);
    if (status) break;
    for (size_t k = 0; k < count; k++) {
      char name[KEY_NAME_MAX];
      key_name(&keys[k], name);
      text_put(&out, name, strlen(name));
      text_put(&out, "\n", 1);
    }
    free(keys);
  }
  if (!status) status = out.failed ? cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory: narrow a range") : cmd_print(out.data, out.bytes);
  text_free(&out);
  free(line.words);
  return status;
}
