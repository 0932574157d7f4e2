/* SPDX-License-Identifier: Apache-2.0 */
/* build.ninja: what depends on what. restat everywhere: a step that would write the bytes that are there writes nothing, and what comes
   behind it does not run. */
#include "bundle_parts.h"
#include "bundle_runner.h"
#include "gen_sources.h"
#include "tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path as ninja reads it. */
static void ninja_path(struct text *out, const char *path) {
  for (; *path; path++) {
    if (strchr("$ :", *path)) text_put(out, "$", 1);
    text_put(out, path, 1);
  }
}

/* A command names its program by a variable: one that is installed elsewhere is no other command. */
static void put_rules(struct text *out) {
  static const char *const rules[] = {"emit", "object", "check"};
  text_string(out, "# Made by frontgen bundle: it is written anew each time.\nninja_required_version = 1.5\n");
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    text_print(out, "rule %s\n  command = \"$$" BUNDLE_PROGRAM "\" bundle-step %s $what\n  description = %s $what\n  restat = 1\n",
        rules[i], rules[i], rules[i]);
}

static bool same_group(const struct bundle_key *a, const struct bundle_key *b) { return strcmp(a->group, b->group) == 0; }

static int by_group(const void *a, const void *b) {
  const struct bundle_key *x = *(const struct bundle_key *const *)a, *y = *(const struct bundle_key *const *)b;
  int order = strcmp(x->group, y->group);
  return order ? order : (x > y) - (x < y);
}

/* One group's edges. */
static void put_group(struct text *out, const struct bundle_options *o, const struct bundle_key *const *key, size_t keys) {
  const char *group = key[0]->group;
  if (!o->import) {
    text_string(out, "build");
    for (size_t i = 0; i < keys; i++) text_print(out, " ir/%s.%s.ll", key[i]->name, key[i]->target->name);
    text_print(out, ": emit groups/%s | ", group);
    ninja_path(out, o->program);
    text_print(out, "\n  what = %s\n", group);
  }
  for (size_t i = 0; i < keys && !o->import; i++) {
    const char *name = key[i]->name, *arch = key[i]->target->name;
    text_print(out, "build obj/%s: object ir/%s.%s.ll | recipe\n  what = %s.%s\n", key[i]->file, name, arch, name, arch);
  }
  text_string(out, "build");
  for (size_t i = 0; i < keys; i++) text_print(out, " meta/%s.json", key[i]->file);
  text_string(out, ": check");
  for (size_t i = 0; i < keys; i++) text_print(out, " obj/%s", key[i]->file);
  text_print(out, " | recipe\n  what = %s\n", group);
}

/* groups/GROUP: a name a line. */
static enum frontgen_status write_group(
    const struct bundle_work *w, const struct bundle_key *const *key, size_t keys, char error[FRONTGEN_ERROR_MAX]) {
  struct text out = {0};
  char part[BUNDLE_PATH_MAX], path[PATH_MAX];
  for (size_t i = 0; i < keys; i++) text_print(&out, "%s.%s\n", key[i]->name, key[i]->target->name);
  snprintf(part, sizeof part, "groups/%s", key[0]->group);
  enum frontgen_status status = FRONTGEN_ENVIRONMENT;
  if (out.failed)
    snprintf(error, FRONTGEN_ERROR_MAX, "out of memory for the bundle's keys");
  else
    status = bundle_path(w, part, path, error) ? bundle_write(path, out.data, out.bytes, NULL, error) : FRONTGEN_USAGE;
  text_free(&out);
  return status;
}

static enum frontgen_status put_groups(struct text *out, const struct bundle_options *o, const struct bundle_work *w, char *error) {
  const struct bundle_key **key = malloc((o->keys + 1) * sizeof *key);
  enum frontgen_status status = FRONTGEN_GOOD;
  if (!key) {
    snprintf(error, FRONTGEN_ERROR_MAX, "out of memory for the bundle's keys");
    return FRONTGEN_ENVIRONMENT;
  }
  for (size_t i = 0; i < o->keys; i++) key[i] = &o->key[i];
  qsort(key, o->keys, sizeof(*key), by_group);
  for (size_t first = 0, end; first < o->keys && !status; first = end) {
    for (end = first + 1; end < o->keys && same_group(key[first], key[end]);) end++;
    put_group(out, o, key + first, end - first);
    status = write_group(w, key + first, end - first, error);
  }
  free(key);
  return status;
}

/* What objects depend on besides their IR: this program's code behind the emitter, LLVM, and which tools. */
static enum frontgen_status write_recipe(const struct bundle_options *o, const struct bundle_work *w, char *error) {
  struct text out = {0};
  char version[32] = "", path[PATH_MAX];
  enum frontgen_status status = o->import ? FRONTGEN_GOOD : tool_llvm_version(o->tools, version, error);
  if (status) return status;
  text_print(&out, "frontgen %s %s\nllvm %s\n", FRONTGEN_VERSION, GEN_SOURCES, version);
  for (enum tool t = 0; t < TOOLS; t++) text_print(&out, "tool %s\n", tool_program(t, o->tools));
  status = FRONTGEN_ENVIRONMENT;
  if (out.failed)
    snprintf(error, FRONTGEN_ERROR_MAX, "out of memory for the bundle's recipe");
  else
    status = bundle_path(w, "recipe", path, error) ? bundle_write(path, out.data, out.bytes, NULL, error) : FRONTGEN_USAGE;
  text_free(&out);
  return status;
}

static enum frontgen_status write_ninja(const struct bundle_options *o, const struct bundle_work *w, char *error) {
  struct text out = {0};
  char path[PATH_MAX];
  if (strpbrk(o->program, "\n\r")) {
    snprintf(error, FRONTGEN_ERROR_MAX, "frontgen's own path has a line break, which ninja cannot take: install it elsewhere");
    return FRONTGEN_ENVIRONMENT;
  }
  put_rules(&out);
  enum frontgen_status status = put_groups(&out, o, w, error);
  if (!status && out.failed) {
    snprintf(error, FRONTGEN_ERROR_MAX, "out of memory for build.ninja");
    status = FRONTGEN_ENVIRONMENT;
  }
  if (!status) status = bundle_path(w, "build.ninja", path, error) ? bundle_write(path, out.data, out.bytes, NULL, error) : FRONTGEN_USAGE;
  text_free(&out);
  return status;
}

enum frontgen_status bundle_run_ninja(const struct bundle_options *o, const struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]) {
  enum frontgen_status status = write_recipe(o, w, error);
  if (!status) status = write_ninja(o, w, error);
  return status ? status : bundle_runner(o, w, error);
}
