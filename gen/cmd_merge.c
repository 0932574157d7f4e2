/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen merge BUNDLE...: shards into one bundle. Nothing is compiled; every object's hash, name and gates are checked again. */
#include "bundle.h"
#include "bundle_load.h"
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

/* What all shards have, before sorting: key[i] is import[i]'s. */
struct merged {
  struct loaded_bundle *shard;
  size_t shards, keys;
  struct bundle_key *key;
  struct bundle_import *import;
};

static int add_shard(struct merged *m, const char *path) {
  char error[FRONTGEN_ERROR_MAX];
  struct loaded_bundle *b = &m->shard[m->shards];
  int status = (int)bundle_load(path, b, error);
  if (status) return cmd_fail(status, "%s", error);
  m->shards++;
  struct bundle_key *key = realloc(m->key, (m->keys + b->objects + 1) * sizeof *key);
  if (key) m->key = key;
  struct bundle_import *import = realloc(m->import, (m->keys + b->objects + 1) * sizeof *import);
  if (import) m->import = import;
  if (!key || !import) return cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the shards");
  for (size_t i = 0; i < b->objects; i++) {
    const struct loaded_object *o = &b->object[i];
    struct front_key k;
    const struct target *target = target_by_name(o->arch);
    if (!target) return cmd_fail(FRONTGEN_USAGE, "%s: %s: this version has no target %s: gfx950 is there", path, o->file, o->arch);
    if (!key_from_name(o->name, &k, error) || !bundle_key_make(&k, target, &m->key[m->keys], error))
      return cmd_fail(FRONTGEN_USAGE, "%s: %s", path, error);
    m->import[m->keys++] = (struct bundle_import){o->file, o->bytes, o->size};
  }
  return FRONTGEN_GOOD;
}

static const struct bundle_import *find(const struct merged *m, const char *file, size_t from) {
  for (size_t i = from; i < m->keys; i++)
    if (strcmp(m->import[i].file, file) == 0) return &m->import[i];
  return NULL;
}

/* One key in two shards is fine if it is one object. */
static int check_twins(const struct merged *m) {
  for (size_t i = 0; i < m->keys; i++) {
    const struct bundle_import *a = &m->import[i], *b = find(m, a->file, i + 1);
    if (b && (a->size != b->size || memcmp(a->bytes, b->bytes, a->size) != 0))
      return cmd_fail(FRONTGEN_USAGE, "%s is in two shards and they differ: make all shards with one frontgen and one LLVM", a->file);
  }
  return FRONTGEN_GOOD;
}

/* The shards' bundle is the one that a single machine makes, so one compiler makes all of it. */
static int check_makers(const struct merged *m) {
  const struct loaded_object *first = NULL;
  for (size_t s = 0; s < m->shards; s++)
    for (size_t i = 0; i < m->shard[s].objects; i++) {
      const struct loaded_object *o = &m->shard[s].object[i];
      if (!first) first = o;
      if (strcmp(first->maker, o->maker) != 0)
        return cmd_fail(FRONTGEN_USAGE, "%s is of %s, and %s of %s: make all shards with one frontgen and one LLVM", o->file, o->maker,
            first->file, first->maker);
    }
  return FRONTGEN_GOOD;
}

static int make(const struct cmd_line *line, struct merged *m) {
  size_t all = m->keys, keys = bundle_sort(m->key, all);
  struct bundle_import *ordered = calloc(keys + 1, sizeof *ordered);
  if (!ordered) return cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the shards");
  for (size_t i = 0; i < keys; i++) ordered[i] = *find(m, m->key[i].file, 0);
  struct bundle_options o = {.key = m->key, .keys = keys, .import = ordered};
  int status = cmd_make_bundle(line, &o);
  free(ordered);
  return status;
}

int cmd_merge(int argc, char **argv) {
  static const char doc[] = "Puts the shards of a bundle together, and runs the gates on all of it.";
  struct cmd_line line;
  struct merged m = {0};
  int status = cmd_parse(argc, argv, CMD_BUNDLE_OUTPUT | CMD_LIMITS | CMD_JOBS | CMD_EMBED, "BUNDLE...", doc, (size_t)argc, &line);
  if (status >= 0) return status;
  status = line.output ? FRONTGEN_GOOD : cmd_fail(FRONTGEN_USAGE, "merge needs -o: the folder to make");
  m.shard = calloc(line.count, sizeof *m.shard);
  if (!m.shard) status = cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the shards");
  for (size_t i = 0; i < line.count && !status; i++) status = add_shard(&m, line.words[i]);
  if (!status) status = check_makers(&m);
  if (!status) status = check_twins(&m);
  if (!status) status = make(&line, &m);
  for (size_t i = 0; i < m.shards; i++) bundle_unload(&m.shard[i]);
  free(m.shard);
  free(m.key);
  free(m.import);
  free(line.words);
  return status;
}
