/* SPDX-License-Identifier: Apache-2.0 */
/* A bundle from first to last: keys, work folder, ninja, publication. */
#include "bundle.h"
#include "bundle_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_TOKENS = 8 };

/* Keys that differ in tokens alone, eight to a group: one process emits a group, one checks it. A key's group does not depend on what
   else is in the bundle. */
static void name_group(struct bundle_key *k) {
  char rest[KEY_NAME_MAX];
  int octet = (k->key.tokens - 1) / GROUP_TOKENS;
  const char *tail = strstr(k->name, "_tp");
  snprintf(rest, sizeof rest, "%s", tail ? tail : "");
  snprintf(k->group, sizeof k->group, "s%d-%d%s.%s", octet * GROUP_TOKENS + 1, (octet + 1) * GROUP_TOKENS, rest, k->target->name);
}

bool bundle_key_make(const struct front_key *key, const struct target *target, struct bundle_key *out, char error[FRONTGEN_ERROR_MAX]) {
  struct plan plan;
  if (!plan_make(key, target, &plan, error)) return false;
  *out = (struct bundle_key){.key = *key, .target = target};
  memcpy(out->name, plan.name, sizeof out->name);
  frontgen_file_name(&plan, out->file);
  name_group(out);
  return true;
}

static int compare(const void *a, const void *b) {
  const struct bundle_key *x = a, *y = b;
  const int *p = (const int *)&x->key, *q = (const int *)&y->key; /* a struct of ints, one a field */
  int order = strcmp(x->target->name, y->target->name);
  for (size_t i = 0; i < sizeof x->key / sizeof(int) && !order; i++) order = (p[i] > q[i]) - (p[i] < q[i]);
  return order;
}

size_t bundle_sort(struct bundle_key *key, size_t keys) {
  size_t kept = 0;
  if (keys) qsort(key, keys, sizeof *key, compare);
  for (size_t i = 0; i < keys; i++)
    if (kept == 0 || compare(&key[kept - 1], &key[i]) != 0) key[kept++] = key[i];
  return kept;
}

/* The objects of a merge, where ninja would have put them. */
static enum frontgen_status import(const struct bundle_options *o, const struct bundle_work *w, char *error) {
  enum frontgen_status status = FRONTGEN_GOOD;
  for (size_t i = 0; o->import && i < o->keys && !status; i++) {
    char part[BUNDLE_PATH_MAX], path[PATH_MAX];
    snprintf(part, sizeof part, "obj/%s", o->import[i].file);
    status = bundle_path(w, part, path, error) ? bundle_write(path, o->import[i].bytes, o->import[i].size, NULL, error) : FRONTGEN_USAGE;
  }
  return status;
}

enum frontgen_status bundle_make(const struct bundle_options *options, struct bundle_result *result, char error[FRONTGEN_ERROR_MAX]) {
  struct bundle_work w;
  *result = (struct bundle_result){0};
  enum frontgen_status status = bundle_work_open(options->folder, &w, error);
  if (status) return status;
  status = bundle_may_publish(options, &w, error);
  if (!status) status = import(options, &w, error);
  if (!status) status = bundle_run_ninja(options, &w, error);
  if (!status) status = bundle_publish(options, &w, result, error);
  bundle_work_close(&w);
  return status;
}
