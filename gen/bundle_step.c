/* SPDX-License-Identifier: Apache-2.0 */
/* What ninja runs: a group's IR, a key's code object, a group's gates. */
#include "bundle_parts.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUP_MAX = 16 };

/* "front_s8_tp4_r2_w128_t0.gfx950" */
static enum frontgen_status plan_of(const char *name, struct plan *plan, char error[FRONTGEN_ERROR_MAX]) {
  char key[KEY_NAME_MAX];
  const char *dot = strrchr(name, '.');
  size_t length = dot ? (size_t)(dot - name) : 0;
  if (length == 0 || length >= sizeof key) {
    snprintf(error, FRONTGEN_ERROR_MAX, "\"%.100s\" is no key of a bundle's: delete the work folder", name);
    return FRONTGEN_USAGE;
  }
  memcpy(key, name, length);
  key[length] = 0;
  return frontgen_plan(key, dot + 1, plan, error);
}

static enum frontgen_status missing(const char *path, char error[FRONTGEN_ERROR_MAX]) {
  snprintf(error, FRONTGEN_ERROR_MAX, "cannot read %.300s in the work folder: %s: delete that folder", path, strerror(errno));
  return FRONTGEN_USAGE;
}

static void limits(struct frontgen_options *options) {
  const char *text = getenv(BUNDLE_LIMITS);
  *options = (struct frontgen_options){.no_gates = true}; /* a step of their own checks the objects */
  if (text && sscanf(text, "%u,%u", &options->seconds, &options->mebibytes) != 2) options->seconds = options->mebibytes = 0;
}

/* The names of a group's file. */
struct group {
  char *text;
  const char *name[GROUP_MAX];
  size_t count;
};

static enum frontgen_status read_group(const char *what, struct group *g, char error[FRONTGEN_ERROR_MAX]) {
  char path[BUNDLE_PATH_MAX], *rest;
  size_t bytes;
  *g = (struct group){0};
  snprintf(path, sizeof path, "groups/%s", what);
  g->text = bundle_read(path, &bytes);
  if (!g->text) return missing(path, error);
  for (char *name = strtok_r(g->text, "\n", &rest); name && g->count < GROUP_MAX; name = strtok_r(NULL, "\n", &rest))
    g->name[g->count++] = name;
  return FRONTGEN_GOOD;
}

static enum frontgen_status emit_step(const char *what, char error[FRONTGEN_ERROR_MAX]) {
  struct group g;
  enum frontgen_status status = read_group(what, &g, error);
  for (size_t i = 0; i < g.count && !status; i++) {
    struct plan plan;
    char path[BUNDLE_PATH_MAX], *text = NULL;
    size_t bytes;
    snprintf(path, sizeof path, "ir/%s.ll", g.name[i]);
    status = plan_of(g.name[i], &plan, error);
    if (!status) status = frontgen_emit(&plan, &text, &bytes, error);
    if (!status) status = bundle_write(path, text, bytes, NULL, error);
    free(text);
  }
  free(g.text);
  return status;
}

static enum frontgen_status object_step(const char *what, char error[FRONTGEN_ERROR_MAX]) {
  struct plan plan;
  struct frontgen_options options;
  char path[BUNDLE_PATH_MAX], file[KEY_NAME_MAX + 32], why[FRONTGEN_ERROR_MAX];
  void *object = NULL;
  size_t bytes, object_bytes;
  limits(&options);
  enum frontgen_status status = plan_of(what, &plan, error);
  if (status) return status;
  frontgen_file_name(&plan, file);
  snprintf(path, sizeof path, "ir/%s.ll", what);
  char *text = bundle_read(path, &bytes);
  if (!text) return missing(path, error);
  status = frontgen_compile_ir(text, bytes, &plan, &options, &object, &object_bytes, why);
  if (status) snprintf(error, FRONTGEN_ERROR_MAX, "%s: %.500s", plan.name, why);
  snprintf(path, sizeof path, "obj/%s", file);
  if (!status) status = bundle_write(path, object, object_bytes, NULL, error);
  free(object);
  free(text);
  return status;
}

struct checked {
  struct check_image image[GROUP_MAX];
  struct check_report report[GROUP_MAX];
  char file[GROUP_MAX][KEY_NAME_MAX + 32];
};

static enum frontgen_status read_objects(const struct group *g, struct checked *c, char error[FRONTGEN_ERROR_MAX]) {
  enum frontgen_status status = FRONTGEN_GOOD;
  for (size_t i = 0; i < g->count && !status; i++) {
    struct plan plan;
    char path[BUNDLE_PATH_MAX];
    status = plan_of(g->name[i], &plan, error);
    if (status) break;
    frontgen_file_name(&plan, c->file[i]);
    snprintf(path, sizeof path, "obj/%s", c->file[i]);
    c->image[i].bytes = bundle_read(path, &c->image[i].size);
    if (!c->image[i].bytes) status = missing(path, error);
  }
  return status;
}

/* One key's verdict: it must be what its name says, besides. */
static enum frontgen_status settle(const struct group *g, struct checked *c, size_t i, char error[FRONTGEN_ERROR_MAX]) {
  const struct check_image *image = &c->image[i];
  struct text out = {0};
  char path[BUNDLE_PATH_MAX];
  if (image->status == FRONTGEN_USAGE) { /* unreadable: the disk may have lost some of it, and without it ninja makes it anew */
    char object[BUNDLE_PATH_MAX];
    snprintf(object, sizeof object, "obj/%s", c->file[i]);
    unlink(object);
    snprintf(error, FRONTGEN_ERROR_MAX, "%s: %.400s: run this again, it makes the object anew", g->name[i], image->error);
    return image->status;
  }
  if (image->status) {
    snprintf(error, FRONTGEN_ERROR_MAX, "%s: %.500s", g->name[i], image->error);
    return image->status;
  }
  enum frontgen_status status = bundle_manifest_entry(c->file[i], image->bytes, image->size, &c->report[i], &out, error);
  snprintf(path, sizeof path, "meta/%s.json", c->file[i]);
  if (!status) status = bundle_write(path, out.data, out.bytes, NULL, error);
  text_free(&out);
  return status;
}

static enum frontgen_status check_step(const char *what, char error[FRONTGEN_ERROR_MAX]) {
  struct group g;
  struct frontgen_options options;
  struct checked *c = calloc(1, sizeof *c);
  limits(&options);
  enum frontgen_status status = read_group(what, &g, error);
  if (!status && !c) {
    snprintf(error, FRONTGEN_ERROR_MAX, "out of memory to check the objects");
    status = FRONTGEN_ENVIRONMENT;
  }
  if (!status) status = read_objects(&g, c, error);
  if (!status) status = check_code_objects(c->image, c->report, g.count, &options, error);
  for (size_t i = 0; i < g.count && !status; i++) status = settle(&g, c, i, error);
  for (size_t i = 0; c && i < g.count; i++) free((void *)(uintptr_t)c->image[i].bytes);
  free(c);
  free(g.text);
  return status;
}

enum frontgen_status bundle_step(const char *step, const char *what, char error[FRONTGEN_ERROR_MAX]) {
  char path[BUNDLE_PATH_MAX], text[FRONTGEN_ERROR_MAX + 16], ignored[FRONTGEN_ERROR_MAX];
  enum frontgen_status status = FRONTGEN_USAGE;
  if (strchr(what, '/') || strlen(what) >= KEY_NAME_MAX + 32)
    snprintf(error, FRONTGEN_ERROR_MAX, "\"%.100s\" is no part of a bundle's build", what);
  else if (strcmp(step, "emit") == 0)
    status = emit_step(what, error);
  else if (strcmp(step, "object") == 0)
    status = object_step(what, error);
  else if (strcmp(step, "check") == 0)
    status = check_step(what, error);
  else
    snprintf(error, FRONTGEN_ERROR_MAX, "unknown step \"%.40s\"", step);
  if (status) {
    int n = snprintf(text, sizeof text, "%d %s", (int)status, error);
    snprintf(path, sizeof path, "failed/%s", strchr(what, '/') ? "step" : what);
    output_write(path, text, (size_t)n, ignored);
  }
  return status;
}
