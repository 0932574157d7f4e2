/* SPDX-License-Identifier: Apache-2.0 */
/* Every wait and every sc1 of the emitted IR, taken away one at a time: strict mode finds it, or it is on the list of those that are not
   needed, with the reason (docs/waits.md). study_waits [EVERY FIRST [KERNEL [WORD]]]: only sites FIRST, FIRST + EVERY, ... of each kernel,
   or of one, those with WORD in their name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobject.h"
#include "issue_order.h"
#include "kernel_rig.h"
#include "mutate.h"
#include "support.h"

enum { SCHEDULES = 6, SITES_MAX = 400, WHAT_MAX = 128, FIRST_DEBUG = 100 };

static const struct kernel {
  const char *key;
  struct ir_sizes sizes;
} kernels[] = {
    {"tokens=8,tp=8", {8, 4096, 640, 128, false}},
    {"tokens=7,tp=8,tuned=1", {7, 4096, 640, 128, true}},
    {"tokens=17,tp=8", {17, 4096, 640, 128, false}},
    {"tokens=17,tp=8,tuned=1", {17, 4096, 640, 128, true}},
};

/* What is not needed, by the site's name. */
static const struct {
  const char *what, *why;
} not_needed[] = {
#include "not_needed.def"
};

struct site {
  const char *line; /* in the module */
  bool guard;       /* only a launch in which a poll gives up comes there */
  const char *poll; /* what is to be withheld, so that the poll near it gives up */
  char what[WHAT_MAX];
};

struct study {
  const struct kernel *kernel;
  struct plan plan;
  struct issue_row rows[ISSUE_ROWS_MAX];
  char *ir;
  struct ir_reader reader;
  struct site site[SITES_MAX];
  uint32_t sites;
};

static bool is_access(const struct ir_event *e) {
  return e->kind == IR_LOAD || e->kind == IR_STORE || e->kind == IR_ATOMIC || e->kind == IR_GLOBAL_STORE;
}

static const struct issue_row *row_of(const struct study *s, const struct ir_event *e) { return &s->rows[e->debug - FIRST_DEBUG]; }

static const char *event_name(const struct study *s, const struct ir_event *e) {
  return e ? issue_event_name(row_of(s, e)->event) : "the end";
}

static struct site *add_site(struct study *s, const char *line) {
  assert_true(s->sites < SITES_MAX);
  s->site[s->sites] = (struct site){.line = line};
  return &s->site[s->sites++];
}

static bool is_guards(enum issue_event event) {
  return event == EV_GUARD_LOOK || event == EV_GUARD_SCAN || event == EV_GUARD_CLAIM || event == EV_GUARD_RECORD;
}

/* A wait is named after the accesses around it. */
static void add_wait(struct study *s, const char *line, const char *counter) {
  const struct ir_event *before = NULL, *behind = NULL;
  uint32_t barriers = 0; /* since the access before it */
  for (size_t i = 0; i < s->reader.events && !behind; i++) {
    const struct ir_event *e = &s->reader.event[i];
    if (e->text < line && is_access(e)) before = e;
    if (e->text < line && is_access(e)) barriers = 0;
    if (e->text < line && e->kind == IR_BARRIER) barriers++;
    if (e->text > line && is_access(e)) behind = e;
  }
  struct site *site = add_site(s, line);
  site->poll = behind && row_of(s, behind)->event == EV_X8_ROWS ? "xrdy" : "qrdy";
  snprintf(site->what, WHAT_MAX, "%s between %s and %s, barrier %u", counter, event_name(s, before), event_name(s, behind), barriers + 1);
}

/* The region whose pairs a poll waits for: of a look at the guard, the row before it. */
static const char *polled(const struct issue_row *poll) {
  return poll->event == EV_XRDY_POLL ? "xrdy" : poll->event == EV_QKVP_POLL ? "qkvp" : "qrdy";
}

static void find_sites(struct study *s) {
  for (const char *line = s->reader.body; line < s->reader.end; line += strcspn(line, "\n") + 1) {
    if (strncmp(line, "  call void @llvm.amdgcn.s.waitcnt(i32 3952)", 44) == 0) add_wait(s, line, "vmcnt");
    if (strncmp(line, "  call void @llvm.amdgcn.s.waitcnt(i32 49279)", 45) == 0) add_wait(s, line, "lgkmcnt");
  }
  for (size_t i = 0; i < s->reader.events; i++) {
    const struct ir_event *e = &s->reader.event[i];
    if (!is_access(e) || e->aux != 16) continue;
    struct site *site = add_site(s, e->text);
    site->guard = is_guards(row_of(s, e)->event);
    site->poll = row_of(s, e)->event == EV_GUARD_LOOK ? polled(row_of(s, e) - 1) : "qrdy";
    snprintf(site->what, WHAT_MAX, "sc1 of %s", event_name(s, e));
  }
}

static struct study *open_study(const struct kernel *kernel) {
  struct study *s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->kernel = kernel;
  rig_plan(kernel->key, &s->plan);
  (void)issue_rows(&s->plan, s->rows);
  s->ir = rig_ir(kernel->key);
  s->reader = ir_read(s->ir, &kernel->sizes);
  find_sites(s);
  return s;
}

static void close_study(struct study *s) {
  ir_reader_free(&s->reader);
  free(s->ir);
  free(s);
}

/* The module without the wait, or with the access's last operand 0. */
static char *without(const struct study *s, const struct site *site) {
  size_t length = strlen(s->ir), at = (size_t)(site->line - s->ir), line = strcspn(site->line, "\n") + 1;
  char *text = malloc(length + 1);
  assert_non_null(text);
  memcpy(text, s->ir, at);
  char *to = text + at;
  if (!strstr(site->what, "cnt between")) {
    const char *scope = memmem(site->line, line, ", i32 16)", 9);
    assert_non_null(scope);
    to += sprintf(to, "%.*s, i32 0)", (int)(scope - site->line), site->line);
    strcpy(to, scope + 9);
  } else {
    strcpy(to, site->line + line);
  }
  return text;
}

/* No pair of the region ever has this launch's tag. */
static char *withheld(const struct study *s, const char *flags, char *ir) {
  const struct edit edits[] = {{EDIT_DATA, IR_STORE, flags, EVERY, EVERY, "sub <2 x i32> $, <i32 0, i32 2>", 0}, {.what = EDIT_NOTHING}};
  char *changed = mutated(ir, &s->kernel->sizes, edits);
  free(ir);
  return changed;
}

static bool same_code(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
  struct code_object x, y;
  char error[CODE_ERROR_MAX];
  if (!code_object_open(a, a_bytes, &x, error) || !code_object_open(b, b_bytes, &y, error)) fail_msg("%s", error);
  uint64_t bytes = x.kernel[0].code_bytes;
  bool same = bytes == y.kernel[0].code_bytes &&
              !memcmp(code_object_at(&x, x.kernel[0].entry, bytes), code_object_at(&y, y.kernel[0].entry, bytes), bytes);
  code_object_close(&x);
  code_object_close(&y);
  return same;
}

/* What strict mode says of it first, in `text`; false: nothing. */
static bool is_found(const struct study *s, bool broken, const void *object, size_t bytes, char text[RUN_ERROR_MAX]) {
  struct rig r;
  bool found = false;
  rig_open(&r, s->kernel->key, object, bytes);
  for (uint64_t schedule = 0; schedule < SCHEDULES && !found; schedule++) {
    struct shown shown;
    rig_launch(&r, schedule, &shown);
    found = shown.findings.count || (shown.code != RUN_GOOD && !broken);
    if (found)
      snprintf(text, RUN_ERROR_MAX, "schedule %u: %.2000s", (unsigned)schedule,
          shown.findings.count ? shown.findings.finding[0].text : shown.error);
    shown_free(&shown);
    r.broken = false; /* a poll gave up: the next launch is good */
  }
  rig_close(&r);
  return found;
}

static const char *reason(const char *what) {
  for (size_t i = 0; i < sizeof not_needed / sizeof *not_needed; i++)
    if (!strcmp(not_needed[i].what, what)) return not_needed[i].why;
  return NULL;
}

/* One launch or several, without the site's line; `broken`: such that polls give up. *same: it is no other code. */
static bool try_launches(const struct study *s, const struct site *site, bool broken, bool *same, char text[RUN_ERROR_MAX]) {
  char *ir = without(s, site), *whole = strdup(s->ir);
  size_t bytes, whole_bytes;
  if (broken) {
    ir = withheld(s, site->poll, ir);
    whole = withheld(s, site->poll, whole);
  }
  void *object = rig_compile(s->kernel->key, ir, &bytes), *first = rig_compile(s->kernel->key, whole, &whole_bytes);
  *same = same_code(object, bytes, first, whole_bytes);
  bool found = !*same && is_found(s, broken, object, bytes, text);
  free(object);
  free(first);
  free(ir);
  free(whole);
  return found;
}

/* True if it is found, or known not to be needed. */
static bool try_site(const struct study *s, const struct site *site) {
  char text[RUN_ERROR_MAX] = "";
  bool same = false, found = !site->guard && try_launches(s, site, false, &same, text);
  if (!found && !same) found = try_launches(s, site, true, &same, text);
  const char *why = reason(site->what);
  print_message("%s\t%s\t%s\t%.160s\n", s->kernel->key, site->what,
      found  ? "found"
      : same ? "same code"
             : "not found",
      found ? text
      : why ? why
            : "");
  return found || why;
}

static uint32_t every = 1, first_site;
static long only = -1;   /* kernel */
static const char *word; /* in the site's name */

static void every_wait_and_scope_is_missed_or_known_not_to_be_needed(void **state) {
  (void)state;
  uint32_t bad = 0, tried = 0;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    if (only >= 0 && (size_t)only != k) continue;
    struct study *s = open_study(&kernels[k]);
    assert_true(s->sites > 10);
    for (uint32_t i = first_site; i < s->sites; i += every) {
      if (word && !strstr(s->site[i].what, word)) continue;
      tried++;
      bool good = try_site(s, &s->site[i]);
      if (!good) print_error("NOT FOUND: %s: %s\n", s->kernel->key, s->site[i].what);
      bad += !good;
    }
    close_study(s);
  }
  print_message("%u sites, %u neither found nor explained\n", tried, bad);
  assert_int_equal(bad, 0);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    every = (uint32_t)strtoul(argv[1], NULL, 10);
    first_site = (uint32_t)strtoul(argv[2], NULL, 10);
  }
  if (argc > 3) only = strtol(argv[3], NULL, 10);
  if (argc > 4) word = argv[4];
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_wait_and_scope_is_missed_or_known_not_to_be_needed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
