/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of the hand-off protocol, broken in the generated kernel: strict mode says so within SEEDS schedules.
   test_protocol_faults PART PARTS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_rig.h"
#include "launched.h"
#include "mutate.h"
#include "support.h"

enum { SEEDS = 8 };

/* S <= TILE; S > TILE, untuned and tuned. */
enum key_number { SMALL, LARGE, LARGE_TUNED };

static const struct {
  const char *key;
  struct ir_sizes sizes;
} keys[] = {
    {"tokens=8,tp=8", {8, 4096, 640, 128, false}},
    {"tokens=17,tp=8", {17, 4096, 640, 128, false}},
    {"tokens=17,tp=8,tuned=1", {17, 4096, 640, 128, true}},
};

/* What may be said of it: kinds of findings, and whether a poll may give up instead. */
enum {
  UNORDERED = 1 << HSA_EMU_UNORDERED,
  STALE = 1 << HSA_EMU_STALE_LOAD,
  EARLY = 1 << HSA_EMU_EARLY_LOAD,
  RACE = 1 << HSA_EMU_LDS_RACE,
  RANGE = 1 << HSA_EMU_OUT_OF_RANGE,
  SCOPE = 1 << HSA_EMU_ATOMIC_SCOPE,
  GIVES_UP = 1 << 30,
};

struct fault {
  const char *rule, *name;
  enum key_number key;
  uint32_t kinds;
  struct edit edits[5];
  const char *helper; /* appended to the module */
};

#define ALL     EVERY, EVERY
#define ONLY(n) n, n
#define NO_WAIT(n)                                                                                                                         \
  { EDIT_DROP, IR_WAIT, 0, n, n, 0, 0 }
#define NO_BARRIER(n)                                                                                                                      \
  { EDIT_DROP, IR_BARRIER, 0, n, n, 0, 0 }
#define NO_SC1(kind, of)                                                                                                                   \
  { EDIT_LINE, kind, of, EVERY, EVERY, "i32 0)", "i32 16)" }
#define BEFORE(kind, of, n, code)                                                                                                          \
  { EDIT_BEFORE, kind, of, n, n, code, 0 }
#define MOVED(kind, of, code)                                                                                                              \
  { EDIT_OFFSET, kind, of, EVERY, EVERY, code, 0 }
#define TEXT(line, times, find, replace)                                                                                                   \
  { EDIT_TEXT, IR_LOAD, line, 1, times, replace, find }

/* The flag of this workgroup's token (S = 8, untuned: a pair a token), put before anything of it is stored. */
static const char early_flag[] =
    "\ndefine internal void @early_flag(i32 %tag) alwaysinline {\n  %k = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()\n"
    "  %a = getelementptr i8, ptr addrspace(4) %k, i32 40\n  %s = load volatile ptr addrspace(1), ptr addrspace(4) %a, align 8\n"
    "  %t = call i32 @llvm.amdgcn.workgroup.id.x()\n  %o = mul i32 %t, 8\n"
    "  %f = getelementptr i8, ptr addrspace(1) %s, i64 QRDY\n"
    "  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %f, i16 0, i64 64, i32 159744)\n"
    "  %v = insertelement <2 x i32> <i32 1, i32 0>, i32 %tag, i32 1\n"
    "  call void @llvm.amdgcn.raw.ptr.buffer.store.v2i32(<2 x i32> %v, ptr addrspace(8) %r, i32 %o, i32 0, i32 16)\n  ret void\n}\n";

/* Every thread loads its dword of a region's first 2 KB, plainly; the result is used. */
#define EARLY_LOAD(region)                                                                                                                 \
  "\ndefine internal void @early_load() alwaysinline {\n  %k = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()\n"                 \
  "  %a = getelementptr i8, ptr addrspace(4) %k, i32 40\n  %s = load volatile ptr addrspace(1), ptr addrspace(4) %a, align 8\n"            \
  "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %o = mul i32 %t, 4\n  %f = getelementptr i8, ptr addrspace(1) %s, i64 " region "\n"     \
  "  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %f, i16 0, i64 2048, i32 159744)\n"                   \
  "  %v = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %r, i32 %o, i32 0, i32 0)\n"                                      \
  "  call void asm sideeffect \"; $0\", \"v\"(i32 %v)\n  ret void\n}\n"

/* clang-format off */
static const struct fault faults[] = {
    {"wait", "no wait between a token's codes and its flag", SMALL, UNORDERED | STALE, {NO_WAIT(0)}, 0},
    {"wait", "no wait between a row's codes and its flag", LARGE, UNORDERED | STALE, {NO_WAIT(0)}, 0},
    {"wait", "no wait between a token's codes and its flags", LARGE_TUNED, UNORDERED | STALE, {NO_WAIT(2)}, 0},
    {"flag's scope", "a token's flag is not put at device scope", SMALL, STALE | GIVES_UP, {NO_SC1(IR_STORE, "qrdy")}, 0},
    {"flag's scope", "a row's flags are not put at device scope", LARGE_TUNED, STALE | GIVES_UP, {NO_SC1(IR_STORE, "xrdy")}, 0},
    {"flag's scope", "a partial sum is not put at device scope", SMALL, STALE | GIVES_UP, {NO_SC1(IR_STORE, "qkvp")}, 0},
    {"data's scope", "x8 is not stored at device scope", LARGE, UNORDERED | STALE, {NO_SC1(IR_STORE, "x8")}, 0},
    {"data's scope", "x8s is not stored at device scope", LARGE_TUNED, UNORDERED | STALE, {NO_SC1(IR_STORE, "x8s")}, 0},
    {"data's scope", "qx8 is not stored at device scope", SMALL, UNORDERED | STALE, {NO_SC1(IR_STORE, "qx8")}, 0},
    {"data's scope", "qx8s is not stored at device scope", LARGE_TUNED, UNORDERED | STALE, {NO_SC1(IR_STORE, "qx8s")}, 0},
    {"poll's scope", "rows' flags are not polled at device scope", LARGE, STALE | GIVES_UP, {NO_SC1(IR_LOAD, "xrdy")}, 0},
    {"poll's scope", "partial sums are not polled at device scope", SMALL, STALE | GIVES_UP, {NO_SC1(IR_LOAD, "qkvp")}, 0},
    {"poll's scope", "tokens' flags are not polled at device scope", LARGE_TUNED, STALE | GIVES_UP, {NO_SC1(IR_LOAD, "qrdy")}, 0},
    {"order", "a token's flag before its codes", SMALL, UNORDERED | STALE | EARLY, {BEFORE(IR_STORE, "qx8", 0, "call void @early_flag(i32 $)")},
        early_flag},
    {"barrier", "none between x's codes and the product", SMALL, RACE, {NO_BARRIER(0)}, 0},
    {"barrier", "none between the partial sums and their sum", SMALL, RACE, {NO_BARRIER(1)}, 0},
    {"barrier", "none between the waves' stores and the flag", LARGE, UNORDERED | STALE, {NO_BARRIER(0)}, 0},
    {"tags", "every launch has the same", SMALL, UNORDERED | STALE | EARLY, {TEXT("= shl i32 %epoch.", 1, "= shl", "= and")}, 0},
    {"copies", "flags are put one copy further", LARGE_TUNED, RANGE | GIVES_UP, {MOVED(IR_STORE, "qrdy", "add i32 $, 256")}, 0},
    {"copies", "flags are polled one copy further", LARGE_TUNED, RANGE, {MOVED(IR_LOAD, "qrdy", "add i32 $, 256")}, 0},
    {"early load", "a line of qx8 before its flag", SMALL, STALE | EARLY | UNORDERED, {BEFORE(IR_LOAD, "x", 0, "call void @early_load()")},
        EARLY_LOAD("QX8")},
    {"early load", "a line of x8 before its flag", LARGE_TUNED, STALE | EARLY | UNORDERED, {BEFORE(IR_LOAD, "x", 0, "call void @early_load()")},
        EARLY_LOAD("0")},
    {"lines", "x8s has both halves of a row on one line", LARGE, STALE | EARLY | UNORDERED,
        {TEXT("= mul i32 %", 3, ", 5504", ", 320"), TEXT("= mul i32 %lshr.", 2, ", 320\n", ", 640\n"),
            TEXT("= mul i32 %call.", 2, ", 320\n", ", 640\n"), TEXT("= add i32 %add.", 1, ", 5120\n", ", 10240\n")}, 0},
    {"LDS reuse", "the next tile's rows and sums come without a barrier", LARGE_TUNED, RACE, {NO_BARRIER(4)}, 0},
    {"LDS reuse", "wq_b's rows and sums come without a barrier", LARGE, RACE, {NO_BARRIER(11)}, 0},
    {"atomic", "workgroups are counted at system scope", SMALL, SCOPE, {{EDIT_LINE, IR_ATOMIC, "done", ALL, "i32 16)", "i32 0)"}}, 0},
};
/* clang-format on */
enum { FAULTS = sizeof faults / sizeof *faults };

static uint32_t part, parts = 1;

/* QRDY and QX8 in a helper are the regions' bytes in the scratch. */
static char *with_helper(char *module, const struct fault *f) {
  struct plan plan;
  char *both = malloc(strlen(module) + strlen(f->helper) + 64);
  assert_non_null(both);
  rig_plan(keys[f->key].key, &plan);
  strcpy(both, module);
  free(module);
  char *to = both + strlen(both);
  for (const char *at = f->helper; *at;) {
    bool qrdy = strncmp(at, "QRDY", 4) == 0, qx8 = strncmp(at, "QX8", 3) == 0;
    if (qrdy || qx8) {
      to += sprintf(to, "%u", plan.scratch.region[qrdy ? SCRATCH_qrdy : SCRATCH_qx8].offset);
      at += qrdy ? 4 : 3;
    } else {
      *to++ = *at++;
    }
  }
  *to = 0;
  return both;
}

static void *build(const struct fault *f, size_t *bytes) {
  char *ir = rig_ir(keys[f->key].key), *changed = mutated(ir, &keys[f->key].sizes, f->edits);
  if (f->helper) changed = with_helper(changed, f);
  void *object = rig_compile(keys[f->key].key, changed, bytes);
  free(ir);
  free(changed);
  return object;
}

/* Whether it says what it should; every party named. */
static bool is_told(const struct fault *f, const struct shown *shown, const char **text) {
  for (size_t i = 0; i < shown->findings.count; i++) {
    const struct strict_finding *found = &shown->findings.finding[i];
    if (!(f->kinds >> found->found.kind & 1)) continue;
    *text = found->text;
    assert_non_null(strstr(found->text, "front_s"));
    return true;
  }
  *text = shown->error;
  return f->kinds & GIVES_UP && shown->code == RUN_FAULT && strstr(shown->error, "waited longer than the budget");
}

static bool try_fault(const struct fault *f) {
  size_t bytes;
  void *object = build(f, &bytes);
  struct rig r;
  bool told = false;
  rig_open(&r, keys[f->key].key, object, bytes);
  for (uint64_t seed = 0; seed < SEEDS && !told && !r.broken; seed++) {
    struct shown shown;
    const char *text;
    rig_launch(&r, seed, &shown);
    told = is_told(f, &shown, &text);
    if (told) print_message("%s: %s: schedule %u: %.300s\n", f->rule, f->name, (unsigned)seed, text);
    for (size_t i = 0; i < shown.findings.count && !told; i++) print_message("  not this: %.300s\n", shown.findings.finding[i].text);
    if (!told && r.broken) print_message("  not this: %.300s\n", shown.error);
    shown_free(&shown);
  }
  rig_close(&r);
  free(object);
  return told;
}

/* All of them are tried (the kernels as they are: test_clean.c) before the test fails, so that one run tells of every fault that is missed.
 */
static void every_broken_rule_is_found(void **state) {
  (void)state;
  uint32_t missed = 0;
  for (uint32_t i = part; i < FAULTS; i += parts) {
    bool told = try_fault(&faults[i]);
    if (!told) print_error("MISSED %s: %s (%s)\n", faults[i].rule, faults[i].name, keys[faults[i].key].key);
    missed += !told;
  }
  assert_int_equal(missed, 0);
}

/* The last of the faults, which shows under every schedule and spoils no result. */
static void frontrun_says_it_in_json_and_exits_with_4(void **state) {
  (void)state;
  const char *path = path_in(temp_dir(), "fault.hsaco");
  size_t bytes;
  void *object = build(&faults[FAULTS - 1], &bytes);
  write_file(path, object, bytes);
  free(object);
  struct launched l = launch(path, (const char *const[]){"--strict", "--no-traffic", "--schedule", "5", NULL});
  const json_t *strict = json_object_get(l.json, "strict"), *found = json_array_get(json_object_get(strict, "findings"), 0);
  assert_int_equal(l.code, 4);
  assert_string_equal(bad_stages(&l, 0), "");
  assert_int_equal(json_integer_value(json_object_get(strict, "bad_launches")), 1);
  assert_string_equal(json_string_value(json_object_get(found, "kind")), "atomic_scope");
  assert_int_equal(json_integer_value(json_object_get(found, "schedule")), 5);
  assert_non_null(strstr(json_string_value(json_object_get(found, "text")), "buffer_atomic"));
  assert_true(json_is_integer(json_object_get(json_object_get(found, "at"), "workgroup")));
  assert_non_null(strstr(l.error, "strict mode under schedule 5"));
  launched_free(&l);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    part = (uint32_t)strtoul(argv[1], NULL, 10);
    parts = (uint32_t)strtoul(argv[2], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_broken_rule_is_found),
      cmocka_unit_test(frontrun_says_it_in_json_and_exits_with_4),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
