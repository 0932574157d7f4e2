/* SPDX-License-Identifier: Apache-2.0 */
/* One description for both forms: sections of named values, and rows of several numbers. Text is indented lines, JSON is objects. */
#include "info.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct writer {
  struct text *out;
  bool json, first;
  int depth;
};

static void start_item(struct writer *w, const char *name) {
  if (w->json && !w->first) text_put(w->out, ",", 1);
  if (w->json) text_put(w->out, "\n", 1);
  w->first = false;
  text_print(w->out, w->json ? "%*s\"%s\":" : "%*s%s:", 2 * w->depth, "", name);
}

static void end_line(struct writer *w) {
  if (!w->json) text_put(w->out, "\n", 1);
}

/* A file's note may hold anything: what would break a line or a JSON string becomes a question mark. */
static void string(struct writer *w, const char *name, const char *from) {
  char value[KEY_NAME_MAX];
  snprintf(value, sizeof value, "%s", from);
  for (char *c = value; *c; c++)
    if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = '?';
  start_item(w, name);
  text_print(w->out, w->json ? " \"%s\"" : " %s", value);
  end_line(w);
}

static void number(struct writer *w, const char *name, uint64_t value) {
  start_item(w, name);
  text_print(w->out, " %llu", (unsigned long long)value);
  end_line(w);
}

static void open_section(struct writer *w, const char *name) {
  start_item(w, name);
  if (w->json)
    text_put(w->out, " {", 2);
  else
    text_print(w->out, "\n");
  w->depth++;
  w->first = true;
}

static void close_section(struct writer *w) {
  w->depth--;
  if (w->json) text_print(w->out, "\n%*s}", 2 * w->depth, "");
  w->first = false;
}

/* `count` pairs of a label and a number (uint32_t) on one line. */
static void row(struct writer *w, const char *name, int count, ...) {
  va_list args;
  va_start(args, count);
  start_item(w, name);
  if (w->json) text_put(w->out, " {", 2);
  for (int i = 0; i < count; i++) {
    const char *label = va_arg(args, const char *);
    uint32_t value = va_arg(args, uint32_t);
    text_print(w->out, w->json ? "%s\"%s\": %u" : "%s%s %u", i ? ", " : w->json ? "" : " ", label, value);
  }
  if (w->json) text_put(w->out, "}", 1);
  va_end(args);
  end_line(w);
}

struct info_bytes info_bytes(const struct plan *p) {
  struct info_bytes b = {0};
  bool ratio = p->key.ratio > 0;
#define ARG_SIZE(name) p->arg[ARG_##name].size
  b.weights = (uint64_t)ARG_SIZE(wqkv) + ARG_SIZE(wqkv_s) + ARG_SIZE(wqb) + ARG_SIZE(wqb_s) + ARG_SIZE(qn_w) + ARG_SIZE(kvn_w);
  b.inputs = (uint64_t)p->tokens * (HIDDEN * 2 + ROPE * 4) + ARG_SIZE(pos) + ARG_SIZE(slot) + ARG_SIZE(swa_idx) + ARG_SIZE(swa_lens) +
             (ratio ? ARG_SIZE(topk) + ARG_SIZE(t2r) : 0u);
  b.outputs = (uint64_t)ARG_SIZE(q) + ARG_SIZE(kt) + ARG_SIZE(klen) + (uint64_t)p->tokens * KV_RECORD_BYTES;
#undef ARG_SIZE
  for (int r = 0; r < SCRATCH_REGIONS; r++)
    if (!(p->quantise_in_workgroup && (r == SCRATCH_x8 || r == SCRATCH_x8s || r == SCRATCH_xrdy)))
      b.scratch += 2u * p->scratch.region[r].bytes;
  b.total = b.weights + b.inputs + b.outputs + b.scratch;
  return b;
}

static void print_key(struct writer *w, const struct plan *p) {
  open_section(w, "key");
#define FIELD(name, lowest, highest, fallback, suffix, ready) number(w, #name, (uint64_t)p->key.name);
#include "key_fields.def"
#undef FIELD
  close_section(w);
}

static void print_geometry(struct writer *w, const struct plan *p) {
  open_section(w, "geometry");
  number(w, "workgroups", GRID);
  number(w, "threads", THREADS);
  number(w, "q_rows", p->q_rows);
  number(w, "kt_width", p->keys);
  number(w, "wqkv_parts", WQKV_PARTS);
  number(w, "wqb_tasks", p->tasks);
  number(w, "wqb_rounds", p->rounds);
  number(w, "token_tiles", p->tiles);
  for (uint32_t i = 0; i < p->tiles; i++) {
    char name[16];
    snprintf(name, sizeof name, "tile%u", i);
    row(w, name, 2, "first", p->tile[i].first, "count", p->tile[i].count);
  }
  close_section(w);
}

static void print_lds(struct writer *w, const struct lds_layout *l) {
  open_section(w, "lds");
  number(w, "bytes", l->bytes);
  row(w, "red", 2, "offset", l->red, "bytes", l->qx_rows - l->red);
  row(w, "qx_rows", 3, "offset", l->qx_rows, "bytes", l->qx_codes - l->qx_rows, "row", l->qx_row_bytes);
  row(w, "qx_codes", 3, "offset", l->qx_codes, "bytes", l->x_rows - l->qx_codes, "row", l->qx_code_row_bytes);
  row(w, "x_rows", 3, "offset", l->x_rows, "bytes", l->x_codes - l->x_rows, "row", l->x_row_bytes);
  row(w, "x_codes", 3, "offset", l->x_codes, "bytes", l->bytes - l->x_codes, "row", l->x_code_row_bytes);
  close_section(w);
}

static void print_memory(struct writer *w, const struct plan *p) {
  open_section(w, "scratch");
  number(w, "bytes", p->scratch.bytes);
  for (int r = 0; r < SCRATCH_REGIONS; r++)
    row(w, p->scratch.region[r].name, 2, "offset", p->scratch.region[r].offset, "bytes", p->scratch.region[r].bytes);
  close_section(w);
  open_section(w, "kernarg");
  number(w, "bytes", KERNARG_BYTES);
  for (int a = 0; a < FRONT_ARGS; a++) /* a scalar points to nothing, and what the caller's strides decide has no size here */
    row(w, p->arg[a].name, p->arg[a].size ? 3 : 2, "offset", p->arg[a].offset, "bytes", p->arg[a].bytes, "points_to", p->arg[a].size);
  close_section(w);
}

static void print_bytes(struct writer *w, const struct plan *p) {
  struct info_bytes b = info_bytes(p);
  open_section(w, "bytes_moved");
  number(w, "weights", b.weights);
  number(w, "inputs", b.inputs);
  number(w, "outputs", b.outputs);
  number(w, "scratch", b.scratch);
  number(w, "total", b.total);
  close_section(w);
}

static void print_object(struct writer *w, const struct info_object *o) {
  open_section(w, "object");
  string(w, "llvm", o->llvm);
  string(w, "sha256", o->sha256);
  number(w, "file_bytes", o->file_bytes);
  number(w, "code_bytes", o->code_bytes);
  number(w, "vgprs", o->vgprs);
  number(w, "vgprs_allocated", o->vgprs_allocated);
  number(w, "agprs", o->agprs);
  number(w, "sgprs", o->sgprs);
  number(w, "vgpr_spills", o->vgpr_spills);
  number(w, "sgpr_spills", o->sgpr_spills);
  number(w, "lds_bytes", o->lds_bytes);
  number(w, "private_bytes", o->private_bytes);
  number(w, "kernarg_bytes", o->kernarg_bytes);
  close_section(w);
}

void info_print(const struct plan *p, const struct info_object *object, bool json, struct text *out) {
  struct writer w = {.out = out, .json = json, .first = true, .depth = json};
  if (json) text_put(out, "{", 1);
  string(&w, "name", p->name);
  string(&w, "arch", p->target->name);
  number(&w, "guard", (uint64_t)p->key.guard);
  print_key(&w, p);
  print_geometry(&w, p);
  print_lds(&w, &p->lds);
  print_memory(&w, p);
  print_bytes(&w, p);
  if (object) print_object(&w, object);
  if (json) text_put(out, "\n}\n", 3);
}
