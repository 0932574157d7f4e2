/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen diff A B: two files' or bundles' figures side by side, for reviewing a new compiler or a changed generator. */
#include "bundle_load.h"
#include "check_figures.h"
#include "cmd.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* A side: objects, and their figures in the same order. */
struct side {
  struct loaded_bundle bundle;
  struct check_figures *figures;
};

static int load_side(const char *path, const struct frontgen_options *options, struct side *s) {
  char error[FRONTGEN_ERROR_MAX];
  int status = (int)bundle_load(path, &s->bundle, error);
  if (status) return cmd_fail(status, "%s", error);
  s->figures = calloc(s->bundle.objects + 1, sizeof *s->figures);
  if (!s->figures) return cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory for the figures");
  for (size_t first = 0; first < s->bundle.objects; first += CHECK_IMAGES_MAX) {
    struct check_image image[CHECK_IMAGES_MAX];
    size_t count = 0, bad;
    for (; count < CHECK_IMAGES_MAX && first + count < s->bundle.objects; count++) {
      image[count].bytes = s->bundle.object[first + count].bytes;
      image[count].size = s->bundle.object[first + count].size;
    }
    status = (int)check_measure(image, count, options, s->figures + first, &bad, error);
    if (status) return cmd_fail(status, "%.300s: %s: %s", path, bad < count ? s->bundle.object[first + bad].file : "its objects", error);
  }
  return FRONTGEN_GOOD;
}

static const struct loaded_object *find(const struct loaded_bundle *b, const char *file, size_t *at) {
  for (*at = 0; *at < b->objects; ++*at)
    if (strcmp(b->object[*at].file, file) == 0) return &b->object[*at];
  return NULL;
}

enum change { SAME_BYTES, SAME_FIGURES, DIFFERS };

struct tally {
  size_t same_bytes, same_figures, differ, only_a, only_b;
};

static void put_pair(struct text *out, const char *label, uint32_t a, uint32_t b, bool json) {
  if (json)
    text_print(out, ", \"%s\": [%u, %u]", label, a, b);
  else if (a != b)
    text_print(out, "  %s %u -> %u (%+d)", label, a, b, (int)(b - a));
}

/* A key that both have. In JSON every key has a row; in text only those whose figures differ. */
static enum change put_both(struct text *out, const struct loaded_object *a, const struct check_figures *fa, const struct loaded_object *b,
    const struct check_figures *fb, bool json, bool first) {
  bool bytes = a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
  bool figures = memcmp(fa, fb, sizeof *fa) == 0;
  if (json) text_print(out, "%s\n  {\"file\": \"%s\", \"same_bytes\": %s", first ? "" : ",", a->file, bytes ? "true" : "false");
  if (!json && !figures) text_print(out, "%s:", a->file);
  for (enum check_figure_name i = 0; i < FIGURES; i++) put_pair(out, check_figure_label(i), fa->value[i], fb->value[i], json);
  if (json)
    text_string(out, "}");
  else if (!figures)
    text_string(out, "\n");
  return bytes ? SAME_BYTES : figures ? SAME_FIGURES : DIFFERS;
}

static void put_missing(struct text *out, const struct loaded_object *o, const char *side, bool json, bool first) {
  if (json)
    text_print(out, "%s\n  {\"file\": \"%s\", \"only\": \"%s\"}", first ? "" : ",", o->file, side);
  else
    text_print(out, "%s: only in %s\n", o->file, side);
}

/* Two single files are compared whatever their names are. */
static bool is_pair(const struct side *a, const struct side *b) { return a->bundle.objects == 1 && b->bundle.objects == 1; }

static struct tally compare(const struct side *a, const struct side *b, bool json, struct text *out) {
  struct tally t = {0};
  size_t rows = 0, at;
  for (size_t i = 0; i < a->bundle.objects; i++, rows++) {
    const struct loaded_object *o = &a->bundle.object[i], *other = find(&b->bundle, o->file, &at);
    if (!other && is_pair(a, b)) other = &b->bundle.object[at = 0];
    if (!other) {
      put_missing(out, o, "A", json, rows == 0);
      t.only_a++;
      continue;
    }
    enum change c = put_both(out, o, &a->figures[i], other, &b->figures[at], json, rows == 0);
    t.same_bytes += c == SAME_BYTES;
    t.same_figures += c == SAME_FIGURES;
    t.differ += c == DIFFERS;
  }
  for (size_t i = 0; i < b->bundle.objects && !is_pair(a, b); i++) {
    if (find(&a->bundle, b->bundle.object[i].file, &at)) continue;
    put_missing(out, &b->bundle.object[i], "B", json, rows++ == 0);
    t.only_b++;
  }
  return t;
}

static int report(const struct side *a, const struct side *b, bool json) {
  struct text out = {0};
  if (json) text_string(&out, "[");
  struct tally t = compare(a, b, json, &out);
  if (json)
    text_string(&out, "\n]\n");
  else
    text_print(&out, "%zu the same bytes, %zu other bytes with the same figures, %zu other figures, %zu only in A, %zu only in B\n",
        t.same_bytes, t.same_figures, t.differ, t.only_a, t.only_b);
  int status = out.failed ? cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory") : cmd_print(out.data, out.bytes);
  text_free(&out);
  return status ? status : t.differ + t.only_a + t.only_b + t.same_figures ? FRONTGEN_GATE : FRONTGEN_GOOD;
}

int cmd_diff(int argc, char **argv) {
  static const char doc[] =
      "Compares two code objects, or two bundles key by key: registers, LDS, code size, instructions, loads, stores, waits. "
      "Exit code 1 if any byte differs.";
  struct cmd_line line;
  struct side a = {0}, b = {0};
  int status = cmd_parse(argc, argv, CMD_JSON | CMD_LIMITS, "A B", doc, 2, &line);
  if (status >= 0) return status;
  status = line.count == 2 ? FRONTGEN_GOOD : cmd_fail(FRONTGEN_USAGE, "an argument is missing: frontgen diff takes A B");
  if (!status) status = load_side(line.words[0], &line.options, &a);
  if (!status) status = load_side(line.words[1], &line.options, &b);
  if (!status) status = report(&a, &b, line.json);
  free(a.figures);
  free(b.figures);
  bundle_unload(&a.bundle);
  bundle_unload(&b.bundle);
  free(line.words);
  return status;
}
