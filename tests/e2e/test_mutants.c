/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison itself is tested: faults planted in the emitted IR must each fail on the default inputs, in the stage that has the fault.
   A fault is planted at an access of the issue order, found by its debug location, or at a line that a pattern picks. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontgen.h"

static unsigned part, parts = 1;

struct mutant {
  const char *what, *key;
  const char *event;   /* its name and instance, as the IR's last lines have it; null: any line */
  const char *pattern; /* that the line must contain; null: any */
  bool all;            /* every such line, not only the first */
  /* Either `from` becomes `to`; or the word behind `operand` (the last place of it in the line) is replaced by %mutant.N, which `make`
     makes of it. */
  const char *from, *to, *operand, *make;
  const char *stage; /* where frontrun must see it */
};

static const char eight[] = "tokens=8", seventeen[] = "tokens=17,tp=8";

static const struct mutant mutants[] = {
    {"wqkv takes a neighbouring block's scale", eight, "wqkv weights 0", "%code.", false, ", i32 0, i32 0)", ", i32 4, i32 0)", 0, 0,
        "wqkv"},
    {"wq_b takes a neighbouring block's scale", eight, "wq_b weights 0", "%code.", false, ", i32 0, i32 0)", ", i32 4, i32 0)", 0, 0,
        "wqb"},
    {"wqkv takes the next weight row", eight, "wqkv weights 0", "%weights.", true, ", i32 0, i32 0)", ", i32 5120, i32 0)", 0, 0, "wqkv"},
    {"wq_b takes the next weight row", eight, "wq_b weights 0", "%weights.", true, ", i32 0, i32 0)", ", i32 1280, i32 0)", 0, 0, "wqb"},
    {"the GEMV takes the row before of a token's", eight, 0, "mul i32 %call.", true, 0, 0, "mul i32 ",
        "call i32 @llvm.usub.sat.i32(i32 %s, i32 1)", "wqkv"},
    {"wqkv leaves out a K step", eight, 0, "icmp ult i32 %add.", true, ", 20", ", 19", 0, 0, "wqkv"},
    {"wq_b leaves out a K step", eight, 0, "icmp ult i32 %add.", true, ", 10", ", 9", 0, 0, "wqb"},
    {"wq_b's second tile takes the first one's rows", seventeen, "qx8 rows 1", "v4i32", true, 0, 0, ", i32 ", "sub i32 %s, 20480", "wqb"},
    {"wqkv's second tile takes the first one's rows", seventeen, "x8 rows 1", "v4i32", true, 0, 0, ", i32 ", "sub i32 %s, 81920", "wqkv"},
    {"cos and sin are swapped", eight, 0, "define internal float @front.rope_", true, "float %cos, float %sin", "float %sin, float %cos", 0,
        0, "kv"},
    {"q's lowest bit is wrong", eight, "q store 0", 0, false, 0, 0, "store.i32(i32 ", "xor i32 %s, 1", "wqb"},
    {"q goes to the neighbouring head", eight, "q store 0", 0, true, 0, 0, ", i32 ", "xor i32 %s, 1024", "wqb"},
    {"wq_b takes the next head's weights", eight, "wq_b weights 0", "%weights.", true, ", i32 0, i32 0)", ", i32 655360, i32 0)", 0, 0,
        "wqb"},
    {"wq_b rotates by the next token's position", eight, "pos 0", 0, true, ", i32 0, i32 0)", ", i32 8, i32 0)", 0, 0, "wqb"},
    {"a byte of the KV record is off by one", eight, "KV record store 0", "store i32", false, 0, 0, "store i32 ", "add i32 %s, 1", "kv"},
    {"a code of the quantised query is off by one", eight, "qx8 store 0", "store.i32", false, 0, 0, "store.i32(i32 ", "add i32 %s, 1",
        "qkv"},
    {"a code of the quantised input is off by one", eight, 0, "store i32 %mx_code.", false, 0, 0, "store i32 ", "add i32 %s, 1", "wqkv"},
    {"wqkv's sums go to the neighbouring row", eight, "qkvp put 0", 0, true, 0, 0, ", i32 ", "xor i32 %s, 8", "wqkv"},
    {"a key is off by one", eight, "kt store 0", 0, false, 0, 0, "store.i32(i32 ", "add i32 %s, 1", "kt"},
    {"the norm multiplies in another order", eight, 0, "define internal float @front.normed(float %v, float %r, float %w)", true,
        "float %v, float %r", "float %r, float %v", 0, 0, 0},
};
enum { MUTANTS = sizeof mutants / sizeof mutants[0] };

struct text {
  char *bytes;
  size_t used, room;
};

static void append(struct text *t, const char *bytes, size_t count) {
  if (t->used + count + 1 > t->room) {
    t->room = 2 * (t->used + count) + 4096;
    t->bytes = realloc(t->bytes, t->room);
    if (!t->bytes) fail_msg("out of memory");
  }
  memcpy(t->bytes + t->used, bytes, count);
  t->used += count;
  t->bytes[t->used] = 0;
}

/* "!104" of the line "!104 = !DILocation(...) ; kt store 0". */
static void find_location(const char *ir, const char *event, char location[32]) {
  char comment[64];
  snprintf(comment, sizeof comment, " ; %s\n", event);
  const char *end = strstr(ir, comment);
  if (!end) fail_msg("no access is named \"%s\" in the IR", event);
  const char *line = end;
  while (line > ir && line[-1] != '\n') line--;
  snprintf(location, 32, "!dbg %.*s\n", (int)strcspn(line, " "), line);
}

static const char *last_place(const char *line, const char *what) {
  const char *found = NULL;
  for (const char *at = line; (at = strstr(at, what)); at++) found = at;
  return found;
}

/* The buffer's offset is the first operand behind the resource; other operands stand behind the last place of their prefix. */
static const char *find_operand(const char *line, const char *prefix) {
  const char *resource = strstr(line, "ptr addrspace(8) ");
  const char *found = !strcmp(prefix, ", i32 ") && resource ? strstr(resource, prefix) : last_place(line, prefix);
  return found ? found + strlen(prefix) : NULL;
}

/* Appends the line with the fault in it; false if there is no place for it. */
static bool plant(const struct mutant *m, const char *line, unsigned number, struct text *out) {
  if (m->from) {
    const char *at = strstr(line, m->from);
    if (!at) return false;
    append(out, line, (size_t)(at - line));
    append(out, m->to, strlen(m->to));
    append(out, at + strlen(m->from), strlen(at + strlen(m->from)));
    return true;
  }
  const char *at = find_operand(line, m->operand);
  if (!at) return false;
  int length = (int)strcspn(at, ",)");
  char name[32], word[64], made[256];
  snprintf(name, sizeof name, "%%mutant.%u", number);
  snprintf(word, sizeof word, "%.*s", length, at);
  const char *hole = strstr(m->make, "%s");
  snprintf(made, sizeof made, "  %s = %.*s%s%s\n", name, (int)(hole - m->make), m->make, word, hole + 2);
  append(out, made, strlen(made));
  append(out, line, (size_t)(at - line));
  append(out, name, strlen(name));
  append(out, at + length, strlen(at + length));
  return true;
}

static char *mutate(const struct mutant *m, const char *ir) {
  char location[32] = "";
  if (m->event) find_location(ir, m->event, location);
  struct text out = {0};
  unsigned planted = 0;
  char *copy = strdup(ir);
  for (char *line = copy; *line;) {
    size_t length = strcspn(line, "\n") + 1;
    char *one = strndup(line, length);
    bool here = (m->all || !planted) && (!m->event || strstr(one, location)) && (!m->pattern || strstr(one, m->pattern));
    if (here && plant(m, one, planted, &out))
      planted++;
    else
      append(&out, one, strlen(one));
    free(one);
    line += length;
  }
  free(copy);
  if (!planted) fail_msg("%s: no place for this fault in the IR", m->what);
  return out.bytes;
}

static void expect_caught(const struct mutant *m) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], *ir;
  size_t bytes, object_bytes;
  void *object;
  const struct frontgen_options options = {.no_gates = true};
  if (frontgen_plan(m->key, "gfx950", &plan, error) || frontgen_emit(&plan, &ir, &bytes, error)) fail_msg("%s", error);
  char *mutant = mutate(m, ir);
  if (frontgen_compile_ir(mutant, strlen(mutant), &plan, &options, &object, &object_bytes, error)) fail_msg("%s: %s", m->what, error);
  const char *path = path_in(temp_dir(), "mutant.hsaco");
  write_file(path, object, object_bytes);
  struct outcome o = run(built_path("frontrun/frontrun"), path, "--device", "emulator", "--no-traffic");
  if (o.code != 1) fail_msg("%s: exit code %d, wanted 1: %s\n%.2000s", m->what, o.code, o.err, o.out);
  char row[64];
  snprintf(row, sizeof row, "\n  %s ", m->stage ? m->stage : "");
  const char *at = m->stage ? strstr(o.out, row) : o.out;
  if (!at || !strstr(at, "DIFFERS") || (m->stage && strcspn(at + 1, "\n") < (size_t)(strstr(at, "DIFFERS") - at)))
    fail_msg("%s: stage %s does not differ:\n%.2000s", m->what, m->stage, o.out);
  outcome_free(&o);
  free(object);
  free(mutant);
  free(ir);
}

static void every_planted_fault_is_seen_on_the_default_inputs(void **context) {
  (void)context;
  for (unsigned i = 0; i < MUTANTS; i++)
    if (i % parts == part) expect_caught(&mutants[i]);
}

int main(int argc, char **argv) {
  if (argc == 3) {
    part = (unsigned)atoi(argv[1]);
    parts = (unsigned)atoi(argv[2]);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_planted_fault_is_seen_on_the_default_inputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
