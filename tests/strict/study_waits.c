/* SPDX-License-Identifier: Apache-2.0 */
/* Every wait, barrier and sc1 of the emitted IR, taken away one at a time: strict mode finds it, or it is on the list of those that are not
   needed, with the reason (docs/waits.md). A larger kernel's sites are tried only where no kernel before it has one of that kind.
   study_waits [EVERY FIRST [KERNEL [WORD]]]: only sites FIRST, FIRST + EVERY, ... of each kernel, or of one, those with WORD in their name;
   "-n" before them: names what would be tried, and tries nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobject.h"
#include "issue_order.h"
#include "kernel_rig.h"
#include "mutate.h"
#include "support.h"

enum { SCHEDULES = 6, SITES_MAX = 400, WHAT_MAX = 128, PLACE_MAX = 32, KIND_MAX = 256, KINDS_MAX = 400, FIRST_DEBUG = 100, POLLS = 3 };

static const struct kernel {
  const char *key;
  struct ir_sizes sizes;
  bool all; /* every site; else those of a new kind */
} kernels[] = {
    {"tokens=8,tp=8", {8, 4096, 640, 128, false}, true},
    {"tokens=7,tp=8,tuned=1", {7, 4096, 640, 128, true}, true},
    {"tokens=17,tp=8", {17, 4096, 640, 128, false}, true},
    {"tokens=17,tp=8,tuned=1", {17, 4096, 640, 128, true}, true},
    {"tokens=1,tp=8", {1, 4096, 640, 128, false}, true},
    {"tokens=1,tp=8,tuned=1", {1, 4096, 640, 128, true}, true},
    {"tokens=1,tp=4", {1, 8192, 640, 128, false}, false},
    {"tokens=1,tp=4,tuned=1", {1, 8192, 640, 128, true}, false},
    {"tokens=1,tp=1", {1, 32768, 640, 128, false}, false},
    {"tokens=1,tp=1,tuned=1", {1, 32768, 640, 128, true}, false},
    {"tokens=48,tp=8", {48, 4096, 640, 128, false}, false},
    {"tokens=48,tp=8,tuned=1", {48, 4096, 640, 128, true}, false},
    {"tokens=17,tp=1,tuned=1", {17, 32768, 640, 128, true}, false},
};

static const char *const polls[POLLS] = {"xrdy", "qkvp", "qrdy"};

/* What is not needed, by the site's name or kind. */
static const struct {
  const char *what, *why;
} not_needed[] = {
#include "not_needed.def"
};

struct site {
  const char *line; /* in the module */
  bool guard;       /* only a launch in which a poll gives up comes there */
  uint32_t poll;    /* what is to be withheld, so that the poll near it gives up */
  char what[WHAT_MAX];
  char kind[KIND_MAX]; /* `what` and the places of its accesses among tiles and rounds */
};

struct code {
  void *object;
  size_t bytes;
};

struct study {
  const struct kernel *kernel;
  struct plan plan;
  struct issue_row rows[ISSUE_ROWS_MAX];
  char *ir;
  struct ir_reader reader;
  struct site site[SITES_MAX];
  uint32_t sites;
  struct code whole, broken[POLLS]; /* nothing taken away; a region's pairs withheld */
};

static bool is_access(const struct ir_event *e) {
  return e->kind == IR_LOAD || e->kind == IR_STORE || e->kind == IR_ATOMIC || e->kind == IR_GLOBAL_STORE;
}

static const struct issue_row *row_of(const struct study *s, const struct ir_event *e) { return &s->rows[e->debug - FIRST_DEBUG]; }

static const char *event_name(const struct study *s, const struct ir_event *e) {
  return e ? issue_event_name(row_of(s, e)->event) : "the end";
}

/* Which of the accesses of its event it is: tiles as first, last or between them. */
static void place_name(const struct study *s, const struct ir_event *e, char name[PLACE_MAX]) {
  const struct issue_row *row = e ? row_of(s, e) : NULL;
  enum issue_event event = row ? row->event : ISSUE_EVENTS;
  bool tiled = event == EV_X8_ROWS || event == EV_QKVP_PUT || event == EV_QX8_ROWS || event == EV_Q_STORE || event == EV_POS;
  uint32_t tiles = tiled ? s->plan.tiles : 1, instance = row ? row->instance : 0, tile = instance % tiles;
  snprintf(name, PLACE_MAX, " %s%u",
      !tiled || tiles == 1 ? ""
      : !tile              ? "first "
      : tile + 1 == tiles  ? "last "
                           : "middle ",
      instance / tiles);
}

static struct site *add_site(struct study *s, const char *line) {
  assert_true(s->sites < SITES_MAX);
  s->site[s->sites] = (struct site){.line = line};
  return &s->site[s->sites++];
}

static bool is_guards(enum issue_event event) {
  return event == EV_GUARD_LOOK || event == EV_GUARD_SCAN || event == EV_GUARD_CLAIM || event == EV_GUARD_RECORD;
}

static void set_kind(const struct study *s, struct site *site, const char *first, const char *second) {
  char kind[KIND_MAX];
  snprintf(kind, KIND_MAX, "%.127s%s%s%s", site->what, first, second, s->plan.tuned ? " t" : "");
  strcpy(site->kind, kind);
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
  site->poll = behind && row_of(s, behind)->event == EV_X8_ROWS ? 0 : 2;
  snprintf(site->what, WHAT_MAX, "%s between %s and %s, barrier %u", counter, event_name(s, before), event_name(s, behind), barriers + 1);
  char first[PLACE_MAX], second[PLACE_MAX];
  place_name(s, before, first);
  place_name(s, behind, second);
  set_kind(s, site, first, second);
}

/* The region whose pairs a poll waits for: of a look at the guard, the row before it. */
static uint32_t polled(const struct issue_row *poll) { return poll->event == EV_XRDY_POLL ? 0 : poll->event == EV_QKVP_POLL ? 1 : 2; }

static void find_sites(struct study *s) {
  for (const char *line = s->reader.body; line < s->reader.end; line += strcspn(line, "\n") + 1) {
    if (strncmp(line, "  call void @llvm.amdgcn.s.waitcnt(i32 3952)", 44) == 0) add_wait(s, line, "vmcnt");
    if (strncmp(line, "  call void @llvm.amdgcn.s.waitcnt(i32 49279)", 45) == 0) add_wait(s, line, "lgkmcnt");
    if (strncmp(line, "  call void @llvm.amdgcn.s.barrier()", 36) == 0) add_wait(s, line, "s_barrier");
  }
  for (size_t i = 0; i < s->reader.events; i++) {
    const struct ir_event *e = &s->reader.event[i];
    if (!is_access(e) || e->aux != 16) continue;
    struct site *site = add_site(s, e->text);
    site->guard = is_guards(row_of(s, e)->event);
    site->poll = row_of(s, e)->event == EV_GUARD_LOOK ? polled(row_of(s, e) - 1) : 2;
    snprintf(site->what, WHAT_MAX, "sc1 of %s", event_name(s, e));
    char place[PLACE_MAX];
    place_name(s, e, place);
    set_kind(s, site, place, "");
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
  for (uint32_t i = 0; i < POLLS; i++) free(s->broken[i].object);
  free(s->whole.object);
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
  if (!strstr(site->what, " between ")) {
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

static struct code compile(const struct study *s, const char *ir) {
  struct code code;
  code.object = rig_compile(s->kernel->key, ir, &code.bytes);
  return code;
}

static bool same_code(struct code a, struct code b) {
  struct code_object x, y;
  char error[CODE_ERROR_MAX];
  if (!code_object_open(a.object, a.bytes, &x, error) || !code_object_open(b.object, b.bytes, &y, error)) fail_msg("%s", error);
  uint64_t bytes = x.kernel[0].code_bytes;
  bool same = bytes == y.kernel[0].code_bytes &&
              !memcmp(code_object_at(&x, x.kernel[0].entry, bytes), code_object_at(&y, y.kernel[0].entry, bytes), bytes);
  code_object_close(&x);
  code_object_close(&y);
  return same;
}

/* What strict mode says of it first, in `text`; false: nothing. */
static bool is_found(const struct study *s, bool broken, struct code code, char text[RUN_ERROR_MAX]) {
  struct rig r;
  bool found = false;
  rig_open(&r, s->kernel->key, code.object, code.bytes);
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

enum { NOT_NEEDED = sizeof not_needed / sizeof *not_needed };
static bool met[NOT_NEEDED];

static const char *reason(const struct site *site) {
  for (size_t i = 0; i < NOT_NEEDED; i++)
    if (!strcmp(not_needed[i].what, site->what) || !strcmp(not_needed[i].what, site->kind)) {
      met[i] = true;
      return not_needed[i].why;
    }
  return NULL;
}

/* The module as it is, compiled once; `poll`: with that region withheld, POLLS: nothing. */
static struct code unchanged(struct study *s, uint32_t poll) {
  struct code *code = poll < POLLS ? &s->broken[poll] : &s->whole;
  if (!code->object) {
    char *ir = strdup(s->ir);
    if (poll < POLLS) ir = withheld(s, polls[poll], ir);
    *code = compile(s, ir);
    free(ir);
  }
  return *code;
}

/* Some launches without the site's line, with the pairs of `poll` withheld. *same: it is no other code. */
static bool try_launches(struct study *s, const struct site *site, uint32_t poll, bool *same, char text[RUN_ERROR_MAX]) {
  char *ir = without(s, site);
  if (poll < POLLS) ir = withheld(s, polls[poll], ir);
  struct code code = compile(s, ir);
  *same = same_code(code, unchanged(s, poll));
  bool found = !*same && is_found(s, poll < POLLS, code, text);
  free(code.object);
  free(ir);
  return found;
}

/* True if it is found, or known not to be needed. */
static bool try_site(struct study *s, const struct site *site) {
  char text[RUN_ERROR_MAX] = "";
  bool same = false, found = !site->guard && try_launches(s, site, POLLS, &same, text);
  if (!found && !same) found = try_launches(s, site, site->poll, &same, text);
  const char *why = found ? NULL : reason(site);
  print_message("%s\t%s\t%s\t%.200s\n", s->kernel->key, site->kind,
      found  ? "found"
      : same ? "same code"
             : "not found",
      found ? text
      : why ? why
            : "");
  return found || why;
}

/* Whether no site of this kind was met before; it is remembered. */
static bool is_new(const char *kind) {
  static char kinds[KINDS_MAX][KIND_MAX];
  static uint32_t count;
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(kinds[i], kind)) return false;
  assert_true(count < KINDS_MAX);
  strcpy(kinds[count++], kind);
  return true;
}

static uint32_t every = 1, first_site;
static long only = -1;   /* kernel */
static const char *word; /* in the site's name */

static bool names_only;

static uint32_t bad, tried, of_a_kind;

static void study_kernel(const struct kernel *kernel, bool chosen) {
  struct study *s = open_study(kernel);
  assert_true(s->sites > 10);
  for (uint32_t i = 0; i < s->sites; i++) {
    const struct site *site = &s->site[i];
    bool fresh = is_new(site->kind), wanted = chosen && i >= first_site && (i - first_site) % every == 0;
    if (!wanted || (word && !strstr(site->what, word))) continue;
    of_a_kind += !fresh && !kernel->all;
    if (!fresh && !kernel->all) continue;
    tried++;
    bool good = names_only || try_site(s, site);
    if (names_only) print_message("%s\t%s\n", kernel->key, site->kind);
    if (!good) print_error("NOT FOUND: %s: %s\n", kernel->key, site->kind);
    bad += !good;
  }
  close_study(s);
}

static void every_wait_barrier_and_scope_is_missed_or_known_not_to_be_needed(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
    if (only < 0 || k <= (size_t)only) study_kernel(&kernels[k], only < 0 || (size_t)only == k);
  print_message("%u sites tried, %u of a kind that was, %u neither found nor explained\n", tried, of_a_kind, bad);
  for (size_t i = 0; i < NOT_NEEDED; i++)
    if (only < 0 && every == 1 && !word && !names_only && !met[i]) {
      print_error("not_needed.def: every \"%s\" is found, or there is none\n", not_needed[i].what);
      bad++;
    }
  assert_int_equal(bad, 0);
}

int main(int argc, char **argv) {
  names_only = argc > 1 && !strcmp(argv[1], "-n");
  argc -= names_only;
  argv += names_only;
  if (argc > 2) {
    every = (uint32_t)strtoul(argv[1], NULL, 10);
    first_site = (uint32_t)strtoul(argv[2], NULL, 10);
  }
  if (argc > 3) only = strtol(argv[3], NULL, 10);
  if (argc > 4) word = argv[4];
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_wait_barrier_and_scope_is_missed_or_known_not_to_be_needed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
