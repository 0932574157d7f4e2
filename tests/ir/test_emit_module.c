/* SPDX-License-Identifier: Apache-2.0 */
/* What every emitted module must be: exact buffers, a debug line an access, no contraction, attributes, and IR that LLVM accepts. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontgen.h"
#include "issue_order.h"
#include "llvm_accepts.h"
#include "sample.h"
#include "support.h"

static bool is_access(const struct ir_event *e) {
  return e->kind == IR_LOAD || e->kind == IR_STORE || e->kind == IR_ATOMIC || e->kind == IR_GLOBAL_STORE;
}

static bool one_of(const char *word, const char *list) {
  const char *at = strstr(list, word);
  for (; at; at = strstr(at + 1, word))
    if ((at == list || at[-1] == ' ') && (at[strlen(word)] == ' ' || at[strlen(word)] == 0)) return true;
  return false;
}

/* ---- accesses */

static void check_resource(const struct sample *s, const struct ir_event *e) {
  static const char masked[] = "x wqkv wqkv_s x8 x8s"; /* of workgroups without that work */
  const bool may_be = one_of(e->what, masked);
  const bool load = e->kind == IR_LOAD;
  if (e->flags != 0x27000) fail_msg("%s: resource word 3 of %s is %#x", s->key, e->what, e->flags);
  if (e->masked != (may_be && load)) fail_msg("%s: %s is %smasked", s->key, e->what, e->masked ? "" : "not ");
  if (strcmp(e->what, "x") == 0) {
    assert_true(e->computed);
    return;
  }
  uint32_t bytes = design_bytes(e->what, &s->sizes);
  if (bytes == IR_UNKNOWN_BYTES) {
    assert_true(one_of(e->what, "comp_bt cos_sin"));
    bytes = 0xFFFFFFF0u;
  }
  if (e->computed || e->records != bytes)
    fail_msg("%s: the buffer of %s has %llu bytes, the design says %u", s->key, e->what, (unsigned long long)e->records, bytes);
}

static void check_buffers(const struct sample *s, const struct ir_reader *r) {
  size_t examined = 0;
  for (size_t i = 0; i < r->events; i++)
    if (is_access(&r->event[i]) && r->event[i].kind != IR_GLOBAL_STORE) {
      check_resource(s, &r->event[i]);
      examined++;
    }
  assert_true(examined > 60);
}

static void scratch_has_the_designs_figures(void **state) {
  (void)state;
  static const struct {
    uint32_t tokens, plain, tuned;
  } figures[] = {{1, 36864, 38400}, {8, 287744, 289280}, {16, 574720, 577280}, {48, 1723392, 1731328}}; /* the design's */
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
    assert_int_equal(design_scratch_bytes(&(struct ir_sizes){.tokens = figures[i].tokens}), figures[i].plain);
    assert_int_equal(design_scratch_bytes(&(struct ir_sizes){.tokens = figures[i].tokens, .tuned = true}), figures[i].tuned);
  }
}

static void check_widths(const struct sample *s) {
  const struct {
    const char *names;
    uint32_t load, store;
  } widths[] = {{"x wqkv wqb", 16, 0}, {"x8 qx8", 16, 8}, {"x8s qx8s", 16, 4}, {"wqkv_s wqb_s", 4, 0}, {"qn_w kvn_w", 2, 0},
      {"pos slot swa_lens t2r topk swa_idx comp_bt cos_sin", 4, 0}, {"epoch done", 4, 4}, {"xrdy qrdy", 8, 8},
      {"qkvp", s->tuned ? 16 : 8, 8}, {"q kt klen", 0, 4}, {"scratch", 8, 0}, {"guard", 4, 16}};
  struct ir_reader r = ir_read(s->text, &s->sizes);
  for (size_t i = 0; i < r.events; i++) {
    const struct ir_event *e = &r.event[i];
    if (!is_access(e) || e->kind == IR_GLOBAL_STORE) continue;
    size_t n = 0;
    while (n < sizeof widths / sizeof *widths && !one_of(e->what, widths[n].names)) n++;
    if (n == sizeof widths / sizeof *widths) fail_msg("%s: an access of %s, which this key does not have", s->key, e->what);
    uint32_t wanted = e->kind == IR_LOAD ? widths[n].load : widths[n].store;
    if (e->kind == IR_ATOMIC) wanted = 4;
    if (e->kind == IR_STORE && strcmp(e->what, "guard") == 0 && e->bytes == 8) wanted = 8; /* the record's tags */
    if (e->bytes != wanted) fail_msg("%s: %u bytes a lane of %s, wanted %u", s->key, e->bytes, e->what, wanted);
    if (e->aux != 0 && e->aux != 16) fail_msg("%s: cache bits %u on %s", s->key, e->aux, e->what);
  }
  ir_reader_free(&r);
}

static void every_access_has_its_width_and_only_device_scope_bits(void **state) {
  (void)state;
  for_each_sample(EVERY_SEVENTH, check_widths);
}

/* ---- debug lines */

/* A row's debug line; `from`: where the line before it was. */
static const char *find_line(const struct sample *s, uint32_t row, const char *from) {
  char line[64];
  snprintf(line, sizeof line, "\n!%u = !DILocation(line: %u, scope: !5)", row + 100, row + 1);
  const char *at = strstr(from, line);
  if (!at) fail_msg("%s: no debug line %u", s->key, row + 1);
  return at;
}

/* The rows that the gates read against what the emitter did. */
static void check_lines(const struct sample *s, const struct ir_reader *r) {
  static const enum issue_kind kinds[] = {
      [IR_LOAD] = ISSUE_LOAD, [IR_STORE] = ISSUE_STORE, [IR_ATOMIC] = ISSUE_ATOMIC, [IR_GLOBAL_STORE] = ISSUE_STORE};
  struct issue_row row[ISSUE_ROWS_MAX];
  uint32_t seen[ISSUE_ROWS_MAX] = {0};
  int loops = 0, branches = 0, depth = 0;
  bool counts[64]; /* of the branches around: one past a stop mark is every wave's */
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX];
  assert_int_equal(frontgen_plan(s->key, "gfx950", &plan, error), FRONTGEN_GOOD);
  uint32_t rows = issue_rows(&plan, row);
  for (size_t i = 0; i < r->events; i++) {
    const struct ir_event *e = &r->event[i];
    loops += (e->kind == IR_LOOP) - (e->kind == IR_LOOP_END);
    if (e->kind == IR_BRANCH) branches += counts[depth++] = strncmp(e->what, "unless stopped", 14) != 0;
    if (e->kind == IR_BRANCH_END) branches -= counts[--depth];
    if (!is_access(e)) continue;
    if (e->debug < 100 || e->debug >= 100 + rows) fail_msg("%s: an access of %s without a debug line", s->key, e->what);
    const struct issue_row *w = &row[e->debug - 100];
    seen[e->debug - 100]++;
    bool fits = w->kind == kinds[e->kind] && w->sc1 == (e->aux == 16) && w->global == (e->kind == IR_GLOBAL_STORE) &&
                (w->poll || w->loop) == (loops > 0) && w->all == (branches == 0);
    if (!fits) fail_msg("%s: an access of %s is not what row %u (%s) says", s->key, e->what, e->debug - 100, issue_event_name(w->event));
  }
  const char *at = s->text;
  for (uint32_t i = 0; i < rows; i++) {
    at = find_line(s, i, at);
    if (seen[i] != row[i].count)
      fail_msg(
          "%s: %u accesses for %s %u, its row says %u", s->key, seen[i], issue_event_name(row[i].event), row[i].instance, row[i].count);
  }
}

static void check_accesses(const struct sample *s) {
  struct ir_reader r = ir_read(s->text, &s->sizes);
  check_buffers(s, &r);
  check_lines(s, &r);
  ir_reader_free(&r);
}

static void every_access_has_its_arguments_size_and_the_line_that_the_gates_look_for(void **state) {
  (void)state;
  for_each_sample(EVERY_KEY, check_accesses);
}

/* ---- arguments */

/* Which scalars a stage reads: the next access behind each must be of its stage. */
static void check_scalars(const struct sample *s, const struct ir_reader *r) {
  static const struct {
    const char *scalar, *stage;
  } uses[] = {{"x_stride", "x"}, {"bt_stride", "comp_bt"}, {"comp_block", "comp_bt"}, {"swa_block", "swa"}, {"swa_stride", "swa"},
      {"guard", "guard"}};
  for (size_t i = 0; i < r->events; i++) {
    if (r->event[i].kind != IR_SCALAR) continue;
    size_t next = i, use = 0;
    while (!is_access(&r->event[next])) next++;
    while (strcmp(uses[use].scalar, r->event[i].what) != 0) use++;
    if (strcmp(uses[use].stage, r->event[next].what) != 0)
      fail_msg("%s: %s is read before an access of %s", s->key, r->event[i].what, r->event[next].what);
  }
}

static void check_arguments(const struct sample *s) {
  static const char always[] = "x wqkv wqkv_s wqb wqb_s epoch x_stride pos slot swa_idx swa_lens cos_sin qn_w kvn_w swa swa_stride "
                               "swa_block q kt klen qkvp qx8 qx8s qrdy done";
  static const char compressed[] = "topk t2r comp_bt comp_block bt_stride", published[] = "x8 x8s xrdy";
  char used[1024] = "";
  uint32_t names = 0;
  struct ir_reader r = ir_read(s->text, &s->sizes);
  for (size_t i = 0; i < r.events; i++) {
    const struct ir_event *e = &r.event[i];
    if (!is_access(e) && e->kind != IR_SCALAR) continue;
    if (!one_of(e->what, always) && !(s->ratio && one_of(e->what, compressed)) && !(s->tokens > 16 && one_of(e->what, published)) &&
        !(s->guard && one_of(e->what, "guard scratch")))
      fail_msg("%s: reads or writes %s", s->key, e->what);
    if (one_of(e->what, used)) continue;
    strcat(strcat(used, e->what), " ");
    names++;
  }
  assert_int_equal(names, 25 + (s->ratio ? 5 : 0) + (s->tokens > 16 ? 3 : 0) + (s->guard ? 2 : 0));
  check_scalars(s, &r);
  ir_reader_free(&r);
}

static void a_key_touches_the_arguments_it_needs_and_no_other(void **state) {
  (void)state;
  for_each_sample(EVERY_SEVENTH, check_arguments);
}

/* ---- the text */

static uint32_t count(const char *text, const char *string) {
  uint32_t n = 0;
  for (const char *at = strstr(text, string); at; at = strstr(at + 1, string)) n++;
  return n;
}

static void check_forbidden(const struct sample *s) {
  static const char *const forbidden[] = {" fast ", " nnan ", " ninf ", " nsz ", " arcp ", " contract ", " afn ", " reassoc ", "fmuladd",
      " asm ", "alloca ", "atomicrmw", "cmpxchg", "inttoptr", "ptrtoint", "i64 -1", "i64 4294967295", "denormal", "unsafe-fp-math",
      "fp-contract", "nontemporal", "addrspace(7)", "addrspace(5)", " undef", "@printf", "fdiv", "llvm.sqrt"};
  for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
    if (strstr(s->text, forbidden[i])) fail_msg("%s: the IR has \"%s\"", s->key, forbidden[i]);
  uint32_t looks = s->guard ? count(s->text, ": ; poll\n") : 0; /* each reads the budget as a scalar, and makes a uniform status */
  assert_int_equal(count(s->text, " = addrspacecast "), looks);
  assert_int_equal(count(s->text, "@llvm.amdgcn.readfirstlane.i32("), looks + (s->guard ? 1u : 0u));
  const char *division = strstr(s->text, "define internal float @front.div_rn(");
  assert_non_null(division);
  assert_int_equal(count(s->text, "@llvm.fma.f32("), 2); /* div_rn's, and there they are */
  assert_true(strstr(division, "@llvm.fma.f32(") < strstr(division, "\n}\n"));
  assert_int_equal(count(division, "@llvm.fma.f32("), 2);
}

static void no_contraction_no_readfirstlane_no_assembly(void **state) {
  (void)state;
  for_each_sample(EVERY_SEVENTH, check_forbidden);
}

/* Two waits there are: for vmcnt where the schedule says, for LDS before the barriers behind LDS stores. Those that come behind loads
   alone have none: behind stores to memory, and behind a poll that leaves no mark. */
static void check_barriers(const struct sample *s) {
#define RELEASE "  fence syncscope(\"wavefront\") release, !mmra !3\n"
#define MEET    "  call void @llvm.amdgcn.s.barrier()\n  fence syncscope(\"wavefront\") acquire, !mmra !3\n"
  static const char waits[] = RELEASE "  call void @llvm.amdgcn.s.waitcnt(i32 49279)\n" /* lgkmcnt 0 */ MEET;
  static const char meets[] = RELEASE MEET;
  uint32_t barriers = count(s->text, "s.barrier()"), rows = s->tokens < 16 ? s->tokens : 16;
  uint32_t polls = rows < s->tokens ? 2 : 1, stores = rows < s->tokens ? 2 : 1;
  uint32_t meetings = (s->guard ? 0 : polls) + stores;
  assert_true(barriers >= 8);
  assert_int_equal(count(s->text, meets), meetings);
  assert_int_equal(count(s->text, waits), barriers - meetings);
  assert_int_equal(count(s->text, "fence "), 2 * barriers);
  assert_int_equal(count(s->text, "s.waitcnt("), barriers - meetings + count(s->text, "s.waitcnt(i32 3952)"));
  assert_int_equal(count(s->text, "s.sleep("), count(s->text, ": ; poll\n"));
  assert_int_equal(count(s->text, "\nloop."), count(s->text, ": ; poll\n") + (s->guard ? 1u : 0u)); /* the record's */
}

static void waits_and_fences_stand_at_every_barrier(void **state) {
  (void)state;
  for_each_sample(EVERY_SEVENTH, check_barriers);
}

/* Bytes of the kernarg block for the kernel's signature, at natural offsets. */
static uint32_t signature_bytes(const char *text) {
  const char *at = strchr(strstr(text, "define amdgpu_kernel"), '(') + 1, *end = strstr(at, ") #0");
  uint32_t bytes = 0;
  while (at < end) {
    uint32_t size = strncmp(at, "i32 ", 4) == 0 ? 4 : 8;
    bytes = (bytes + size - 1) / size * size + size;
    at = strstr(at, ", ") ? strstr(at, ", ") + 2 : end;
  }
  return bytes;
}

static uint32_t lds_bytes(const struct sample *s) {
  uint32_t tasks = 8 / s->tp, rows = s->tokens < 16 ? s->tokens : 16;
  return (tasks < 4 ? tasks : 4) * 8 * 64 * 16 + 64 + rows * (1280 + 16 + 160 + 16 + 2560 + 16 + 320 + 16);
}

static void check_module(const struct sample *s) {
  static const char *const attributes[] = {"nounwind", "\"uniform-work-group-size\"=\"true\"",
      "\"amdgpu-flat-work-group-size\"=\"512,512\"", "\"amdgpu-waves-per-eu\"=\"2,2\"", "\"amdgpu-agpr-alloc\"=\"0\"",
      "\"amdgpu-no-implicitarg-ptr\"", "\"amdgpu-no-dispatch-ptr\"", "\"amdgpu-no-queue-ptr\"", "\"amdgpu-no-dispatch-id\"",
      "\"amdgpu-no-hostcall-ptr\"", "\"amdgpu-no-heap-ptr\"", "\"amdgpu-no-multigrid-sync-arg\"", "\"amdgpu-no-default-queue\"",
      "\"amdgpu-no-completion-action\"", "\"amdgpu-no-workgroup-id-y\"", "\"amdgpu-no-workgroup-id-z\"", "\"amdgpu-no-workitem-id-y\"",
      "\"amdgpu-no-workitem-id-z\"", "\"amdgpu-no-lds-kernel-id\"", "\"amdgpu-no-flat-scratch-init\""};
  const char *line = strstr(s->text, "\nattributes #0 = {");
  char lds[96];
  assert_non_null(line);
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    if (!line_has(line + 1, attributes[i])) fail_msg("%s: no attribute %s", s->key, attributes[i]);
  assert_int_equal(signature_bytes(s->text), 216);
  snprintf(lds, sizeof lds, "\n@lds = internal addrspace(3) global [%u x i8] poison, align 16\n", lds_bytes(s));
  if (!strstr(s->text, lds)) fail_msg("%s: LDS is not %u bytes", s->key, lds_bytes(s));
  assert_non_null(strstr(s->text, "!{i32 1, !\"amdhsa_code_object_version\", i32 500}"));
  assert_int_equal(count(s->text, "\ndefine amdgpu_kernel"), 1);
  assert_int_equal(count(s->text, "\ndefine "), 1 + count(s->text, ") alwaysinline {\n"));
  assert_int_equal(count(s->text, "\n@"), 1);
}

static void the_module_states_workgroup_arguments_and_lds(void **state) {
  (void)state;
  for_each_sample(EVERY_SEVENTH, check_module);
}

/* ---- LLVM */

static void check_verified(const struct sample *s) { assert_llvm_accepts(s->key, s->text, s->text_bytes); }

static void llvms_verifier_accepts_every_module(void **state) {
  (void)state;
  for_each_sample(EVERY_SEVENTH, check_verified);
}

/* ---- determinism */

static char *first_text[SAMPLE_KEYS / EVERY_SEVENTH + 1];
static uint32_t first_number;

static void check_same_bytes(const struct sample *s) {
  char **kept = &first_text[s->number / EVERY_SEVENTH];
  if (!first_number)
    *kept = strdup(s->text);
  else if (strcmp(*kept, s->text) != 0)
    fail_msg("%s: other bytes the second time", s->key);
}

/* The second time other bytes stand in fresh memory, and other keys went before. */
static void the_same_key_gives_the_same_bytes(void **state) {
  (void)state;
  mallopt(M_PERTURB, 0x11);
  for_each_sample(EVERY_SEVENTH, check_same_bytes);
  first_number = 1;
  mallopt(M_PERTURB, 0xEE);
  for_each_sample(EVERY_SEVENTH, check_same_bytes);
  mallopt(M_PERTURB, 0);
  for (size_t i = 0; i < sizeof first_text / sizeof *first_text; i++) free(first_text[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scratch_has_the_designs_figures),
      cmocka_unit_test(every_access_has_its_width_and_only_device_scope_bits),
      cmocka_unit_test(every_access_has_its_arguments_size_and_the_line_that_the_gates_look_for),
      cmocka_unit_test(a_key_touches_the_arguments_it_needs_and_no_other),
      cmocka_unit_test(no_contraction_no_readfirstlane_no_assembly),
      cmocka_unit_test(waits_and_fences_stand_at_every_barrier),
      cmocka_unit_test(the_module_states_workgroup_arguments_and_lds),
      cmocka_unit_test(llvms_verifier_accepts_every_module),
      cmocka_unit_test(the_same_key_gives_the_same_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
