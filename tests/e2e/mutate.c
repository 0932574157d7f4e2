/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

struct out {
  char *text;
  size_t length, room;
  uint32_t values; /* new ones */
};

enum {
  FIRST_VALUE = 60000, /* the reader tells values apart by their numbers */
  OUT_MAX = 1 << 28,
};

static void put(struct out *o, const char *text, size_t length) {
  if (length > OUT_MAX) fail_msg("a piece of a module that ends before it begins");
  if (o->length + length + 1 > o->room) {
    o->room = 2 * (o->length + length) + 4096;
    o->text = realloc(o->text, o->room);
    assert_non_null(o->text);
  }
  memcpy(o->text + o->length, text, length);
  o->length += length;
  o->text[o->length] = 0;
}

static void put_string(struct out *o, const char *text) { put(o, text, strlen(text)); }

/* `code` with $ replaced. */
static void put_code(struct out *o, const char *code, const char *old, size_t old_length) {
  for (const char *at = code; *at; at++)
    if (*at == '$')
      put(o, old, old_length);
    else
      put(o, at, 1);
}

struct piece {
  const char *at;
  size_t length;
};

/* The operand behind `string` in the line: up to the next comma. */
static struct piece operand_behind(const char *line, const char *string) {
  const char *at = memmem(line, strcspn(line, "\n"), string, strlen(string));
  if (!at) fail_msg("no \"%s\" in %.*s", string, (int)strcspn(line, "\n"), line);
  at += strlen(string);
  return (struct piece){at, strcspn(at, ",)\n")};
}

static struct piece offset_of(const char *line) {
  struct piece resource = operand_behind(line, "ptr addrspace(8) ");
  return operand_behind(resource.at, ", i32 ");
}

/* A store's value: behind its type, which is what stands behind "(" or "store ". */
static struct piece data_of(const char *line) {
  bool vector = memmem(line, strcspn(line, "\n"), "(<2 x i32> ", 11) || strncmp(line, "  store <2 x i32> ", 18) == 0;
  bool plain = strncmp(line, "  store ", 8) == 0;
  return operand_behind(line, vector ? (plain ? "store <2 x i32> " : "(<2 x i32> ") : plain ? "store i32 " : "(i32 ");
}

/* A new value made from an operand, and the line with it. */
static void put_changed_operand(struct out *o, const char *line, struct piece operand, const char *code) {
  char name[32];
  snprintf(name, sizeof name, "%%mutant.%u", FIRST_VALUE + o->values++);
  put_string(o, "  ");
  put_string(o, name);
  put_string(o, " = ");
  put_code(o, code, operand.at, operand.length);
  put_string(o, "\n");
  put(o, line, (size_t)(operand.at - line));
  put_string(o, name);
  const char *rest = operand.at + operand.length;
  put(o, rest, strcspn(rest, "\n") + 1);
}

/* The line with another result, and the old name's value made from it. */
static void put_changed_result(struct out *o, const char *line, const char *code) {
  char name[32];
  size_t old = strcspn(line + 2, " "), whole = strcspn(line, "\n") + 1;
  int n = snprintf(name, sizeof name, "%%mutant.%u", FIRST_VALUE + o->values++);
  put_string(o, "  ");
  put_string(o, name);
  put(o, line + 2 + old, whole - 2 - old);
  put(o, line, 2 + old);
  put_string(o, " = ");
  put_code(o, code, name, (size_t)n);
  put_string(o, "\n");
}

static void put_skipped(struct out *o, const char *line) {
  struct piece accumulator = operand_behind(line, "<4 x float> @");
  accumulator = operand_behind(accumulator.at, ", <4 x float> ");
  put(o, line, 2 + strcspn(line + 2, " "));
  put_string(o, " = select i1 true, <4 x float> ");
  put(o, accumulator.at, accumulator.length);
  put_string(o, ", <4 x float> zeroinitializer\n");
}

static void put_other_text(struct out *o, const char *line, const struct edit *e) {
  size_t length = strcspn(line, "\n") + 1;
  const char *from = memmem(line, length, e->from, strlen(e->from));
  if (!from) fail_msg("no \"%s\" in %.*s", e->from, (int)length, line);
  put(o, line, (size_t)(from - line));
  put_string(o, e->code);
  put(o, from + strlen(e->from), length - (size_t)(from - line) - strlen(e->from));
}

/* The tag's name, from the module so far. */
static void put_before(struct out *o, const char *line, const struct edit *e) {
  const char *tag = strstr(o->text, "%tag.");
  if (!tag) fail_msg("code before the launch's tag is known");
  put_string(o, "  ");
  put_code(o, e->code, tag, strcspn(tag, " "));
  put_string(o, "\n");
  put(o, line, strcspn(line, "\n") + 1);
}

static void put_edited(struct out *o, const char *line, const struct edit *e) {
  switch (e->what) {
  case EDIT_OFFSET:
    put_changed_operand(o, line, offset_of(line), e->code);
    break;
  case EDIT_DATA:
    put_changed_operand(o, line, data_of(line), e->code);
    break;
  case EDIT_POINTER:
    put_changed_operand(o, line, operand_behind(line, ", ptr addrspace(1) "), e->code);
    break;
  case EDIT_RESULT:
    put_changed_result(o, line, e->code);
    break;
  case EDIT_SKIP:
    put_skipped(o, line);
    break;
  case EDIT_DROP:
    break;
  case EDIT_LINE:
    put_other_text(o, line, e);
    break;
  case EDIT_BEFORE:
    put_before(o, line, e);
    break;
  case EDIT_NOTHING:
  case EDIT_TEXT:
    fail_msg("not an edit of an access");
  }
}

static char *edit_accesses(const char *module, const struct ir_sizes *sizes, const struct edit *e) {
  struct out o = {0};
  struct ir_reader r = ir_read(module, sizes);
  const char *done = module;
  uint32_t seen = 0, hits = 0;
  for (const char *at = module; (at = strstr(at, "%mutant.6")); at++) o.values++; /* of edits before this one */
  for (size_t i = 0; i < r.events; i++) {
    const struct ir_event *event = &r.event[i];
    if (event->kind != e->kind || (e->where && strcmp(event->what, e->where) != 0)) continue;
    uint32_t number = seen++;
    if (e->first != EVERY && (number < e->first || number > e->last)) continue;
    put(&o, done, (size_t)(event->text - done));
    put_edited(&o, event->text, e);
    done = event->text + strcspn(event->text, "\n") + 1;
    hits++;
  }
  put_string(&o, done);
  if (!hits || (e->first != EVERY && hits != e->last - e->first + 1))
    fail_msg("an edit of %s changed %u accesses of %u", e->where, hits, seen);
  ir_reader_free(&r);
  return o.text;
}

/* Lines count with their newline, so that `from` may be a line's end. */
static char *edit_text(const char *module, const struct edit *e) {
  struct out o = {0};
  uint32_t hits = 0;
  for (const char *line = module; *line;) {
    size_t length = strcspn(line, "\n");
    length += line[length] == '\n';
    const char *from = memmem(line, length, e->from, strlen(e->from));
    if (from && memmem(line, length, e->where, strlen(e->where))) {
      put(&o, line, (size_t)(from - line));
      put_string(&o, e->code);
      put(&o, from + strlen(e->from), length - (size_t)(from - line) - strlen(e->from));
      hits++;
    } else {
      put(&o, line, length);
    }
    line += length;
  }
  if (hits != e->last - e->first + 1) fail_msg("\"%s\" was found in %u lines, not %u", e->from, hits, e->last - e->first + 1);
  return o.text;
}

/* The module with the values that single out a thread. */
static char *with_thread_marks(const char *module) {
  static const char marks[] =
      "  %thread.59000 = call i32 @llvm.amdgcn.workitem.id.x()\n  %group.59001 = call i32 @llvm.amdgcn.workgroup.id.x()\n"
      "  %five.59002 = icmp eq i32 %thread.59000, 5\n  %three.59003 = icmp eq i32 %group.59001, 3\n"
      "  %late.59004 = icmp eq i32 %group.59001, 29\n  %both.59005 = and i1 %five.59002, %three.59003\n"
      "  %both.59006 = and i1 %five.59002, %late.59004\n  %mark.59007 = zext i1 %both.59005 to i32\n"
      "  %mark.59008 = zext i1 %both.59006 to i32\n";
  struct out o = {0};
  const char *body = strstr(module, "define amdgpu_kernel");
  assert_non_null(body);
  body += strcspn(body, "\n") + 1;
  put(&o, module, (size_t)(body - module));
  put_string(&o, marks);
  put_string(&o, body);
  return o.text;
}

char *mutated(const char *module, const struct ir_sizes *sizes, const struct edit *edits) {
  char *text = with_thread_marks(module);
  for (; edits->what != EDIT_NOTHING; edits++) {
    char *next = edits->what == EDIT_TEXT ? edit_text(text, edits) : edit_accesses(text, sizes, edits);
    if (strcmp(text, next) == 0) fail_msg("an edit changed nothing");
    free(text);
    text = next;
  }
  return text;
}
