/* SPDX-License-Identifier: Apache-2.0 */
/* The gates in order, and their report. */
#include "check_gates.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void check_gate(struct check *c, const char *name, const char *unit, uint32_t examined, uint32_t expected, const char *wrong) {
  struct check_report *r = c->report;
  if (r->gates == CHECK_GATES_MAX) return;
  struct check_gate *g = &r->gate[r->gates++];
  *g = (struct check_gate){.name = name, .unit = unit, .examined = examined, .expected = expected};
  bool counted = expected == CHECK_SOME ? examined > 0 : examined == expected;
  if (wrong[0])
    snprintf(g->message, sizeof g->message, "%s", wrong);
  else if (!counted && expected == CHECK_SOME)
    snprintf(g->message, sizeof g->message, "no %s found: nothing was examined", unit);
  else if (!counted)
    snprintf(g->message, sizeof g->message, "%u %s, the plan has %u", examined, unit, expected);
  g->good = !g->message[0];
  r->failed += !g->good;
}

void check_figure(struct check *c, const char *format, ...) {
  struct check_gate *g = &c->report->gate[c->report->gates - 1];
  va_list args;
  va_start(args, format);
  vsnprintf(g->figure, sizeof g->figure, format, args);
  va_end(args);
}

const char *check_why(const char *gate) {
  static const struct {
    const char *name, *why;
  } rows[] = {
#define GATE(name, why) {name, why},
#include "gates.def"
#undef GATE
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, gate) == 0) return rows[i].why;
  return NULL;
}

void check_note_fault(const struct check_inst *at, char message[CHECK_MESSAGE_MAX], const char *format, ...) {
  char line[TEXT_LINE_MAX];
  va_list args;
  if (message[0]) return;
  int n = 0;
  if (at && inst_text_print(&at->text, line, sizeof line)) n = snprintf(message, CHECK_MESSAGE_MAX, "+0x%x %.90s: ", at->offset, line);
  va_start(args, format);
  vsnprintf(message + n, (size_t)(CHECK_MESSAGE_MAX - n), format, args);
  va_end(args);
}

static enum frontgen_status refuse(const char *text, const char *what, char error[FRONTGEN_ERROR_MAX]) {
  snprintf(error, FRONTGEN_ERROR_MAX, "%.280s%s", text, what);
  return FRONTGEN_USAGE;
}

/* What the object must be at least for a plan to check it against. */
static enum frontgen_status find_plan(struct check *c, char error[FRONTGEN_ERROR_MAX]) {
  struct front_key key;
  char why[KEY_ERROR_MAX];
  const struct target *target = target_by_name(c->co.arch);
  if (!target) return refuse(c->co.arch, ": this version has no plan for that target: gfx950 is there", error);
  c->kernel = code_object_kernel(&c->co, NULL);
  if (!c->kernel) return refuse("more than one kernel", ": an object of ours has one", error);
  if (!key_from_name(c->kernel->name, &key, why) || !plan_make(&key, target, &c->plan, why)) {
    snprintf(error, FRONTGEN_ERROR_MAX, "kernel %.80s is none of ours: %s", c->kernel->name, why);
    return FRONTGEN_USAGE;
  }
  c->rows = issue_rows(&c->plan, c->row);
  snprintf(c->report->kernel, sizeof c->report->kernel, "%s", c->plan.name);
  c->has_note = front_note_read(&c->co, &c->note, c->note_error);
  return FRONTGEN_GOOD;
}

static enum frontgen_status run_gates(struct check *c, const char *text, char error[FRONTGEN_ERROR_MAX]) {
  enum frontgen_status status = check_read_code(c, text, error);
  if (status != FRONTGEN_GOOD && status != FRONTGEN_GATE) return status;
  check_object_gates(c);
  check_gate(c, "whole code read", "bytes",
      c->code.insts ? c->code.inst[c->code.insts - 1].offset + c->code.inst[c->code.insts - 1].bytes : 0, (uint32_t)c->kernel->code_bytes,
      status ? error : "");
  if (status) return FRONTGEN_GATE;
  check_operand_gates(c);
  check_access_gates(c);
  check_order_gates(c);
  check_handoff_gates(c);
  return c->report->failed ? FRONTGEN_GATE : FRONTGEN_GOOD;
}

static void first_failed(const struct check_report *report, char error[FRONTGEN_ERROR_MAX]) {
  for (uint32_t i = 0; i < report->gates; i++) {
    if (report->gate[i].good) continue;
    snprintf(error, FRONTGEN_ERROR_MAX, "gate \"%s\": %s", report->gate[i].name, report->gate[i].message);
    return;
  }
}

/* One image and its disassembly. */
static enum frontgen_status check_one(
    const void *image, size_t bytes, const char *text, struct check_report *report, char error[FRONTGEN_ERROR_MAX]) {
  char why[CODE_ERROR_MAX];
  struct check *c = calloc(1, sizeof *c);
  memset(report, 0, sizeof *report);
  if (!c) {
    snprintf(error, FRONTGEN_ERROR_MAX, "no memory to check the code object");
    return FRONTGEN_ENVIRONMENT;
  }
  c->report = report;
  enum frontgen_status status = FRONTGEN_USAGE;
  if (code_object_open(image, bytes, &c->co, why)) {
    status = find_plan(c, error);
    if (!status) status = run_gates(c, text, error);
    check_free_code(&c->code);
    front_note_free(&c->note);
    code_object_close(&c->co);
  } else {
    snprintf(error, FRONTGEN_ERROR_MAX, "%s", why);
  }
  if (!status) error[0] = 0;
  if (status == FRONTGEN_GATE) first_failed(report, error);
  free(c);
  return status;
}

/* Before llvm-objdump sees it: its words on a file that is none of ours help nobody. */
static bool is_code_object(const void *image, size_t bytes, char error[FRONTGEN_ERROR_MAX]) {
  struct code_object co;
  char why[CODE_ERROR_MAX];
  bool good = code_object_open(image, bytes, &co, why);
  if (good)
    code_object_close(&co);
  else
    snprintf(error, FRONTGEN_ERROR_MAX, "%s", why);
  return good;
}

enum frontgen_status check_code_objects(struct check_image *image, struct check_report *report, size_t count,
    const struct frontgen_options *options, char error[FRONTGEN_ERROR_MAX]) {
  struct check_image some[CHECK_IMAGES_MAX];
  size_t place[CHECK_IMAGES_MAX], readable = 0;
  char *text[CHECK_IMAGES_MAX];
  if (count > CHECK_IMAGES_MAX) {
    snprintf(error, FRONTGEN_ERROR_MAX, "%zu code objects at once, %d are allowed", count, CHECK_IMAGES_MAX);
    return FRONTGEN_USAGE;
  }
  for (size_t i = 0; i < count; i++) {
    memset(&report[i], 0, sizeof report[i]);
    image[i].status = FRONTGEN_USAGE;
    if (!is_code_object(image[i].bytes, image[i].size, image[i].error)) continue;
    some[readable].bytes = image[i].bytes;
    some[readable].size = image[i].size;
    place[readable++] = i;
  }
  enum frontgen_status status = readable ? check_disassemble(some, readable, options, text, error) : FRONTGEN_GOOD;
  for (size_t i = 0; i < readable && !status; i++) {
    struct check_image *one = &image[place[i]];
    one->status = check_one(one->bytes, one->size, text[i], &report[place[i]], one->error);
    free(text[i]);
  }
  return status;
}

enum frontgen_status check_code_object(
    const void *image, size_t bytes, const struct frontgen_options *options, struct check_report *report, char error[FRONTGEN_ERROR_MAX]) {
  struct check_image one = {.bytes = image, .size = bytes};
  enum frontgen_status status = check_code_objects(&one, report, 1, options, error);
  if (status) return status;
  memcpy(error, one.error, sizeof one.error);
  return one.status;
}

void check_print(const struct check_report *report, FILE *out) {
  fprintf(out, "%s: %u gates, %u failed\n", report->kernel, report->gates, report->failed);
  for (uint32_t i = 0; i < report->gates; i++) {
    const struct check_gate *g = &report->gate[i];
    char expected[24] = "";
    if (g->expected != CHECK_SOME) snprintf(expected, sizeof expected, " of %u", g->expected);
    fprintf(out, "  %s  %-32s %s%s%u%s %s%s%s\n", g->good ? "good" : "FAIL", g->name, g->figure, g->figure[0] ? "; " : "", g->examined,
        expected, g->unit, g->good ? "" : ": ", g->message);
    const char *why = check_why(g->name);
    if (why) fprintf(out, "        %s\n", why);
  }
}
