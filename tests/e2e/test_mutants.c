/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison sees plausible bugs of the kernel on its default inputs, in the stage where they are and in no other:
   test_mutants PART PARTS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontgen.h"
#include "launched.h"
#include "mutate.h"
#include "support.h"

/* S <= TILE and S > TILE, untuned and tuned. In all of them a kt row is 640 wide. */
enum key_number { SMALL, SMALL_TUNED, LARGE, LARGE_TUNED, KEY_COUNT };

static const struct {
  const char *key;
  struct ir_sizes sizes;
} keys[KEY_COUNT] = {
    {"tokens=8,tp=8", {8, 4096, 640, 128, false}},
    {"tokens=7,tp=4,ratio=1,tuned=1", {7, 8192, 640, 128, true}},
    {"tokens=20,tp=8", {20, 4096, 640, 128, false}},
    {"tokens=18,tp=8,tuned=1", {18, 4096, 640, 128, true}},
};

struct mutant {
  const char *name;
  enum key_number key;
  const char *bad; /* stages that differ; 0: a poll gives up */
  struct edit edits[3];
};

#define ALL                  EVERY, EVERY
#define ONLY(n)              n, n
#define FROM_TO(first, last) first, last
#define RESULT(of, which, code)                                                                                                            \
  { EDIT_RESULT, IR_LOAD, of, which, code, 0 }
#define ADDRESS(of, which, code)                                                                                                           \
  { EDIT_OFFSET, IR_LOAD, of, which, code, 0 }
#define TARGET(of, which, code)                                                                                                            \
  { EDIT_OFFSET, IR_STORE, of, which, code, 0 }
#define STORED(of, which, code)                                                                                                            \
  { EDIT_DATA, IR_STORE, of, which, code, 0 }
#define RECORD(what, which, code)                                                                                                          \
  { EDIT_##what, IR_GLOBAL_STORE, "swa", which, code, 0 }
#define TEXT(line, times, find, replace)                                                                                                   \
  { EDIT_TEXT, IR_LOAD, line, 1, times, replace, find }

#define ROTATED_CODES  "call i32 @llvm.fshr.i32(i32 $, i32 $, i32 8)"
#define ROTATED_GROUPS "shufflevector <4 x i32> $, <4 x i32> $, <4 x i32> <i32 1, i32 2, i32 3, i32 0>"

/* clang-format off */
static const struct mutant mutants[] = {
    /* scales */
    {"wqkv: the next block's scale", SMALL, "wqkv", {RESULT("wqkv_s", ALL, ROTATED_CODES)}},
    {"wqkv: the next block row's scales", LARGE, "wqkv", {ADDRESS("wqkv_s", ALL, "add i32 $, 160")}},
    {"wqkv: one step's scales are the next step's", LARGE_TUNED, "wqkv", {ADDRESS("wqkv_s", ONLY(1), "add i32 $, 4")}},
    {"wqb: the next block's scale", LARGE_TUNED, "wqb", {RESULT("wqb_s", ALL, ROTATED_CODES)}},
    {"wqb: the next block row's scales", SMALL_TUNED, "wqb", {ADDRESS("wqb_s", ALL, "add i32 $, 40")}},
    {"wqb: another head's scales", SMALL, "wqb", {ADDRESS("wqb_s", ALL, "add i32 $, 640")}},
    {"wqkv: a token's scale is its next group's", LARGE, "wqkv", {RESULT("x8s", ALL, ROTATED_GROUPS)}},
    {"wqkv: a token's scales are the next token's", LARGE_TUNED, "wqkv", {ADDRESS("x8s", ALL, "add i32 $, 320")}},
    {"wqb: a token's scale is its next group's", SMALL, "wqb", {RESULT("qx8s", ALL, ROTATED_GROUPS)}},
    {"wqb: a token's scales are the next token's", LARGE, "wqb", {ADDRESS("qx8s", ALL, "add i32 $, 160")}},
    /* rows */
    {"wqkv: weight row + 1", SMALL, "wqkv", {ADDRESS("wqkv", ALL, "add i32 $, 5120")}},
    {"wqkv: weight row - 1", LARGE_TUNED, "wqkv", {ADDRESS("wqkv", ALL, "sub i32 $, 5120")}},
    {"wqb: weight row + 1", LARGE, "wqb", {ADDRESS("wqb", ALL, "add i32 $, 1280")}},
    {"wqb: weight row - 1", SMALL_TUNED, "wqb", {ADDRESS("wqb", ALL, "sub i32 $, 1280")}},
    {"wqkv: token row - 1", LARGE, "wqkv", {ADDRESS("x8", ALL, "sub i32 $, 5120")}},
    {"wqb: token row + 1", SMALL, "wqb", {ADDRESS("qx8", ALL, "add i32 $, 1280")}},
    {"wqkv: 8 columns of x later", SMALL_TUNED, "wqkv", {ADDRESS("x", ALL, "add i32 $, 16")}},
    {"xq: 8 columns of x later", LARGE, "xq", {ADDRESS("x", ALL, "add i32 $, 16")}},
    /* steps of K */
    {"wqkv: a step less", SMALL, "wqkv", {TEXT("icmp ult i32 %add.", 2, ", 20\n", ", 19\n")}},
    {"wqb: a step less", SMALL_TUNED, "wqb", {TEXT("icmp ult i32 %add.", 3, ", 10\n", ", 9\n")}},
    {"wqkv: a wave's first step less", LARGE, "wqkv", {{EDIT_SKIP, IR_MFMA, 0, ONLY(1), "", 0}}},
    {"wqb: the last tile lacks a step", LARGE_TUNED, "wqb", {{EDIT_SKIP, IR_MFMA, 0, ONLY(9), "", 0}}},
    {"wqb: 64 columns of a weight step twice", LARGE, "wqb", {ADDRESS("wqb", ONLY(1), "sub i32 $, 64")}},
    /* token tiles */
    {"wqkv: tile 1 takes tile 0's rows", LARGE, "wqkv", {ADDRESS("x8", FROM_TO(5, 6), "sub i32 $, 81920")}},
    {"wqb: tile 1 takes tile 0's rows", LARGE_TUNED, "wqb", {ADDRESS("qx8", ONLY(3), "sub i32 $, 20480")}},
    {"wqb: tile 1 takes tile 0's positions", LARGE, "wqb", {ADDRESS("pos", ONLY(2), "sub i32 $, 128")}},
    {"wqb: tile 1 is stored as tile 0", LARGE_TUNED, "wqb", {TARGET("q", ONLY(1), "sub i32 $, 131072")}},
    /* RoPE */
    {"kv: cos and sin swapped", SMALL, "kv",
        {ADDRESS("cos_sin", ONLY(0), "add i32 $, 128"), ADDRESS("cos_sin", ONLY(1), "sub i32 $, 128")}},
    {"wqb: cos and sin swapped", SMALL_TUNED, "wqb",
        {ADDRESS("cos_sin", ONLY(2), "add i32 $, 128"), ADDRESS("cos_sin", ONLY(3), "sub i32 $, 128")}},
    {"kv: the neighbour pair's angle", LARGE_TUNED, "kv", {ADDRESS("cos_sin", FROM_TO(0, 1), "xor i32 $, 4")}},
    {"wqb: the angle of the position before", LARGE, "wqb", {RESULT("pos", FROM_TO(1, 2), "call i32 @llvm.usub.sat.i32(i32 $, i32 1)")}},
    {"RoPE's sum for its difference", SMALL, "kv wqb", {TEXT("%sum = fsub float %x, %y", 1, "fsub", "fadd")}},
    /* q */
    {"wqb: one low bit of one q", SMALL, "wqb", {STORED("q", ALL, "xor i32 $, " THREAD_MARK)}},
    {"wqb: one low bit of one rotated q", LARGE_TUNED, "wqb", {STORED("q", ONLY(0), "xor i32 $, " ROPE_MARK)}},
    {"wqb: heads swapped", SMALL_TUNED, "wqb", {TARGET("q", ALL, "xor i32 $, 1024")}},
    {"wqb: another head's weights", SMALL, "wqb", {ADDRESS("wqb", ALL, "add i32 $, 655360")}},
    /* norms */
    {"qkv: the next column's weight of q", SMALL, "qkv", {ADDRESS("qn_w", ALL, "add i32 $, 2")}},
    {"kv: the next column's weight of kv", LARGE, "kv", {ADDRESS("kvn_w", ALL, "add i32 $, 2")}},
    {"qkv and kv: half 1 is half 0 again", SMALL, "qkv kv", {ADDRESS("qkvp", FROM_TO(10, 19), "sub i32 $, 114688")}},
    {"qkv and kv, tuned: half 1 is half 0 again", LARGE_TUNED, "qkv kv", {ADDRESS("qkvp", FROM_TO(5, 9), "sub i32 $, 258048")}},
    {"qkv: one low bit of each 4 codes", LARGE, "qkv", {STORED("qx8", ALL, "xor <2 x i32> $, <i32 1, i32 0>")}},
    /* quantisation */
    {"the exponent's floor for its ceiling, in the workgroup", SMALL, "wqkv qkv kv",
        {TEXT("%up = add i32 %magnitude, 8388607", 1, "8388607", "0")}},
    {"the exponent's floor for its ceiling, published", LARGE_TUNED, "xq qkv kv",
        {TEXT("%up = add i32 %magnitude, 8388607", 1, "8388607", "0")}},
    {"xq: one low bit of each 4 codes", LARGE, "xq", {STORED("x8", ONLY(0), "xor <2 x i32> $, <i32 1, i32 0>")}},
    {"xq: a scale of twice the value", LARGE_TUNED, "xq", {STORED("x8s", ONLY(1), "add i32 $, 1")}},
    /* the KV record */
    {"kv: a byte off by one", SMALL, "kv", {RECORD(DATA, ONLY(0), "add i32 $, 256")}},
    {"kv: a word off by one place", LARGE, "kv untouched", {RECORD(POINTER, ONLY(0), "getelementptr i8, ptr addrspace(1) $, i64 4")}},
    {"kv: a scale of twice the value", SMALL_TUNED, "kv", {RECORD(DATA, ONLY(1), "add <2 x i32> $, <i32 0, i32 65536>")}},
    {"kv: the next record's scales", LARGE_TUNED, "kv untouched", {RECORD(POINTER, ONLY(1), "getelementptr i8, ptr addrspace(1) $, i64 8")}},
    {"kv: the slot before", SMALL, "kv untouched", {RESULT("slot", ONLY(1), "sub i32 $, 1")}},
    /* keys */
    {"kt: stored one key later", SMALL, "kt", {TARGET("kt", ALL, "add i32 $, 4")}},
    {"kt: the window's next slot", LARGE, "kt", {ADDRESS("swa_idx", ALL, "add i32 $, 4")}},
    {"kt: the block table's next entry", SMALL_TUNED, "kt", {ADDRESS("comp_bt", ALL, "add i32 $, 4")}},
    {"kt: every other key's top-k twice", LARGE_TUNED, "kt", {ADDRESS("topk", ALL, "and i32 $, -8")}},
    {"kt: always request 0's table", LARGE, "kt", {RESULT("t2r", ALL, "and i32 $, 0")}},
    {"kt: a compressed row too few", SMALL_TUNED, "kt", {RESULT("pos", ONLY(0), "call i32 @llvm.usub.sat.i32(i32 $, i32 1)")}},
    {"kt: kv_len off by one", SMALL, "kt", {STORED("klen", ONLY(0), "add i32 $, 1")}},
    {"kt: ntopk off by one", LARGE_TUNED, "kt", {STORED("klen", ONLY(1), "add i32 $, 1")}},
    /* hand-offs */
    {"the epoch stays", SMALL, "flags", {STORED("epoch", ALL, "sub i32 $, 1")}},
    {"a flag's value is 2", LARGE, "flags", {STORED("xrdy", ALL, "add <2 x i32> $, <i32 1, i32 0>")}},
    {"the first copies of the flags are never put", LARGE_TUNED, 0, {TARGET("qrdy", ALL, "add i32 $, 256")}},
    {"the partials' tag is the launch before's", SMALL, 0, {STORED("qkvp", ALL, "sub <2 x i32> $, <i32 0, i32 2>")}},
};
/* clang-format on */
enum { MUTANTS = sizeof mutants / sizeof *mutants };

static uint32_t part, parts = 1;

/* Compiled from its text as any kernel is, but for the gates. Returns the file's path. */
static const char *build_mutant(const char *dir, const struct mutant *m) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], *text;
  size_t bytes, object_bytes;
  void *object;
  const struct frontgen_options options = {.no_gates = true};
  if (frontgen_plan(keys[m->key].key, "gfx950", &plan, error)) fail_msg("%s", error);
  if (frontgen_emit(&plan, &text, &bytes, error)) fail_msg("%s", error);
  char *changed = mutated(text, &keys[m->key].sizes, m->edits);
  free(text);
  if (frontgen_compile_ir(changed, strlen(changed), &plan, &options, &object, &object_bytes, error)) fail_msg("%s: %s", m->name, error);
  free(changed);
  const char *path = path_in(dir, "mutant.hsaco");
  write_file(path, object, object_bytes);
  free(object);
  return path;
}

static struct launched launch_mutant(const struct mutant *m) {
  static const char *dir;
  static const char *const options[] = {"--no-traffic", NULL};
  if (!dir) dir = temp_dir();
  return launch(build_mutant(dir, m), options);
}

/* Or the mutants would prove nothing. */
static void an_unchanged_kernel_is_good(void **state) {
  (void)state;
  for (uint32_t k = part; k < KEY_COUNT; k += parts) {
    struct mutant m = {.name = "no change", .key = (enum key_number)k, .bad = ""};
    struct launched l = launch_mutant(&m);
    if (l.code != 0) fail_msg("%s: exit code %d, bad stages: %s; %s", keys[k].key, l.code, bad_stages(&l, 0), l.error);
    launched_free(&l);
  }
}

static bool is_seen(const struct mutant *m, const struct launched *l) {
  if (!m->bad) return l->code == 4 && strstr(l->error, "waited longer than the budget");
  return l->code == 1 && strcmp(bad_stages(l, 0), m->bad) == 0;
}

/* All of them are tried before the test fails, so that one run tells of every mutant that lives. */
static void every_mutant_is_seen_in_its_stage(void **state) {
  (void)state;
  uint32_t alive = 0;
  for (uint32_t i = part; i < MUTANTS; i += parts) {
    const struct mutant *m = &mutants[i];
    struct launched l = launch_mutant(m);
    bool seen = is_seen(m, &l);
    if (!seen)
      print_error("MUTANT %s (%s): exit code %d, bad stages: \"%s\", wanted \"%s\"; %s", m->name, keys[m->key].key, l.code,
          bad_stages(&l, 0), m->bad ? m->bad : "a timeout", l.error);
    alive += !seen;
    launched_free(&l);
  }
  assert_int_equal(alive, 0);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    part = (uint32_t)strtoul(argv[1], NULL, 10);
    parts = (uint32_t)strtoul(argv[2], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_unchanged_kernel_is_good),
      cmocka_unit_test(every_mutant_is_seen_in_its_stage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
