/* SPDX-License-Identifier: Apache-2.0 */
/* What the emitted kernel does and in which order, against lists written by hand from the design: whole keys word by word, and the sample
   of keys by the rules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontgen.h"
#include "sample.h"
#include "schedule.h"
#include "support.h"

static char *emit(const char *key) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], *text;
  size_t bytes;
  if (frontgen_plan(key, "gfx950", &plan, error)) fail_msg("%s: %s", key, error);
  if (frontgen_emit(&plan, &text, &bytes, error)) fail_msg("%s: %s", key, error);
  return text;
}

static void check_words(const char *key, const struct ir_sizes *sizes, const char *wanted) {
  char *text = emit(key);
  struct ir_reader r = ir_read(text, sizes);
  assert_same_schedule(key, schedule_expanded(wanted), schedule_found(&r));
  ir_reader_free(&r);
  free(text);
}

static void one_token_is_scheduled_as_the_design_says(void **state) {
  (void)state;
  const struct ir_sizes sizes = {.tokens = 1, .q_rows = 8192, .keys = 640, .window = 128, .tuned = false};
  check_words("tokens=1,tp=4,ratio=2,window=128,guard=0", &sizes,
      "epoch^ x "
      "wqkv wqkv wqkv_s wqkv wqkv wqkv_s wqkv wqkv wqkv_s "
      "( slot swa_lens pos t2r topk swa_idx comp_bt kt= swa_idx ( kt= ) ( klen= klen= ) ) "
      "pos "
      "( Q | ) "
      "wqb wqb wqb_s wqb wqb wqb_s wqb wqb wqb_s wqb wqb wqb_s "
      "( M M M | ( qkvp=^ ) ) "
      "( qn_w qn_w qn_w qn_w qn_w qn_w qn_w qn_w kvn_w kvn_w pos slot cos_sin cos_sin "
      "< 12*[ qkvp^ ] z > < 8*[ qkvp^ ] z > "
      "| Q ( qx8=^ ( qx8s=^ ) ) Q | ( ( *swa= ) ( *swa= ) ) w | ( qrdy=^ ) ) "
      "cos_sin cos_sin ( < qrdy^ z > ) | qx8 qx8s | M M M M | ( q= ) "
      "( done@ ( epoch=^ ) ) ");
}

static void a_tuned_step_of_two_tiles_is_scheduled_as_the_design_says(void **state) {
  (void)state;
  const struct ir_sizes sizes = {.tokens = 31, .q_rows = 4096, .keys = 1024, .window = 1000, .tuned = true};
  check_words("tokens=31,tp=8,ratio=0,window=1000,tuned=1,guard=0", &sizes,
      "epoch^ x x "
      "3*[ wqkv wqkv wqkv_s ] "
      "( Q ( x8=^ ( x8s=^ ) ) Q ( x8=^ ( x8s=^ ) ) w | ( xrdy=^ ) ) "
      "( slot swa_lens swa_idx kt= swa_idx kt= ( klen= klen= ) ) "
      "pos pos "
      "( ( < xrdy^ z > ) | x8 x8 x8 x8 x8 x8s "
      "| x8 x8 x8 x8 x8 x8s M M M w | ( qkvp=^ ) "
      "| M M M | ( qkvp=^ ) ) "
      "wqb wqb wqb_s wqb wqb wqb_s "
      "( 8*[ qn_w ] kvn_w kvn_w pos slot cos_sin cos_sin "
      "< 10*[ qkvp^ ] z > "
      "| Q ( qx8=^ ( qx8s=^ ) ) w | ( qrdy=^ ) Q | ( ( *swa= ) ( *swa= ) ) ) "
      "cos_sin cos_sin cos_sin cos_sin ( < qrdy^ z > ) | qx8 qx8 qx8 qx8s "
      "| qx8 qx8 qx8 qx8s M M w | ( q= ) "
      "| M M | ( q= ) "
      "( done@ ( epoch=^ ) ) ");
}

static void the_largest_step_is_scheduled_as_the_design_says(void **state) {
  (void)state;
  const struct ir_sizes sizes = {.tokens = 48, .q_rows = 32768, .keys = 4608, .window = 4096, .tuned = false};
  check_words("tokens=48,tp=1,ratio=2,window=4096,guard=0", &sizes,
      "epoch^ x x x "
      "3*[ wqkv wqkv wqkv_s ] "
      "( 3*[ Q ( x8=^ ( x8s=^ ) ) ] w | ( xrdy=^ ) ) "
      "2*[ ( slot swa_lens pos t2r topk swa_idx comp_bt kt= swa_idx kt= swa_idx kt= swa_idx kt= swa_idx kt= swa_idx kt= swa_idx kt= "
      "swa_idx kt= "
      "swa_idx kt= ( klen= klen= ) ) ] "
      "pos pos pos "
      "( < xrdy^ z > ) | 5*[ x8 ] x8s "
      "| 5*[ x8 ] x8s M M M | ( qkvp=^ ) "
      "| 5*[ x8 ] x8s 8*[ wqb wqb wqb_s ] M M M | ( qkvp=^ ) "
      "| M M M | ( qkvp=^ ) "
      "( 8*[ qn_w ] kvn_w kvn_w pos slot cos_sin cos_sin < 12*[ qkvp^ ] z > < 8*[ qkvp^ ] z > "
      "| Q ( qx8=^ ( qx8s=^ ) ) Q | ( ( *swa= ) ( *swa= ) ) w | ( qrdy=^ ) ) "
      "6*[ cos_sin ] ( < qrdy^ z > ) | qx8 qx8 qx8 qx8s "
      "| qx8 qx8 qx8 qx8s 8*[ M ] | ( q= ) "
      "| qx8 qx8 qx8 qx8s 8*[ M ] | ( q= ) "
      "| 8*[ M ] 8*[ wqb wqb wqb_s ] qx8 qx8 qx8 qx8s | ( q= ) "
      "| qx8 qx8 qx8 qx8s 8*[ M ] | ( q= ) "
      "| qx8 qx8 qx8 qx8s 8*[ M ] | ( q= ) "
      "| 8*[ M ] | ( q= ) "
      "( done@ ( epoch=^ ) ) ");
}

/* A failed poll looks at the status word; behind a poll's barrier all is left out by a workgroup that gave up, but for `done`. */
static void a_guarded_step_is_scheduled_as_the_design_says(void **state) {
  (void)state;
  const struct ir_sizes sizes = {.tokens = 17, .q_rows = 8192, .keys = 640, .window = 128, .tuned = false};
  check_words("tokens=17,tp=4,ratio=2,window=128,guard=1", &sizes,
      "epoch^ x x "
      "3*[ wqkv wqkv wqkv_s ] "
      "( 2*[ Q ( x8=^ ( x8s=^ ) ) ] w | ( xrdy=^ ) ) "
      "( slot swa_lens pos t2r topk swa_idx comp_bt kt= swa_idx ( kt= ) ( klen= klen= ) ) "
      "pos pos "
      "( < xrdy^ z ( guard^ ) > ) | ( 5*[ x8 ] x8s "
      "| x8 x8s 4*[ wqb wqb wqb_s ] M M M | ( qkvp=^ ) "
      "| M M M | ( qkvp=^ ) "
      "( 8*[ qn_w ] kvn_w kvn_w pos slot cos_sin cos_sin "
      "< 12*[ qkvp^ ] z ( guard^ ) > < 8*[ qkvp^ ] z ( guard^ ) > "
      "| ( Q ( qx8=^ ( qx8s=^ ) ) Q | ( ( *swa= ) ( *swa= ) ) w | ( qrdy=^ ) ) ) "
      "4*[ cos_sin ] ( < qrdy^ z ( guard^ ) > ) | ( qx8 qx8 qx8 qx8s "
      "| qx8 qx8s M M M M | ( q= ) "
      "| M M M M | ( q= ) ) ) "
      "( < scratch^ > ( guard@ ( guard=^ guard=^ ) ) ) "
      "( done@ ( epoch=^ ) ) ");
}

static void check_sample_schedule(const struct sample *s) {
  const struct schedule_key key = {s->tokens, s->tp, s->ratio, s->window, s->tuned, s->guard};
  struct ir_reader r = ir_read(s->text, &s->sizes);
  static char wanted[SCHEDULE_MAX];
  strcpy(wanted, schedule_expanded(schedule_wanted(&key)));
  assert_same_schedule(s->key, wanted, schedule_found(&r));
  ir_reader_free(&r);
}

static void every_key_is_scheduled_by_the_designs_rules(void **state) {
  (void)state;
  for_each_sample(EVERY_KEY, check_sample_schedule);
}

/* The reader of these tests must itself see a change. */
static void a_changed_kernel_has_another_schedule(void **state) {
  (void)state;
  const struct schedule_key key = {8, 4, 2, 128, false, true};
  const struct ir_sizes sizes = {.tokens = 8, .q_rows = 8192, .keys = 640, .window = 128, .tuned = false};
  static const struct {
    const char *find, *replace;
  } edits[] = {
      {"i32 0, i32 16), !dbg !100", "i32 0, i32 17), !dbg !100"}, /* system scope */
      {"i32 0, i32 0), !dbg !101", "i32 0, i32 2), !dbg !101"},   /* nontemporal */
      {"%kernarg.0, i32 8\n", "%kernarg.0, i32 24\n"},            /* wqb for wqkv */
      {"call void @llvm.amdgcn.s.barrier()", "call void @llvm.amdgcn.s.nop()    "},
      {"call void @llvm.amdgcn.s.waitcnt(i32 3952)", "call void @llvm.amdgcn.s.waitcnt(i32 3953)"},
  };
  char *text = emit("tokens=8");
  static char wanted[SCHEDULE_MAX];
  strcpy(wanted, schedule_expanded(schedule_wanted(&key)));
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    char *at = strstr(text, edits[i].find), *changed = malloc(strlen(text) + 100);
    assert_non_null(at);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, edits[i].replace, at + strlen(edits[i].find));
    struct ir_reader r = ir_read(changed, &sizes);
    if (strcmp(wanted, schedule_found(&r)) == 0) fail_msg("nobody saw \"%s\"", edits[i].replace);
    ir_reader_free(&r);
    free(changed);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_token_is_scheduled_as_the_design_says),
      cmocka_unit_test(a_tuned_step_of_two_tiles_is_scheduled_as_the_design_says),
      cmocka_unit_test(the_largest_step_is_scheduled_as_the_design_says),
      cmocka_unit_test(a_guarded_step_is_scheduled_as_the_design_says),
      cmocka_unit_test(every_key_is_scheduled_by_the_designs_rules),
      cmocka_unit_test(a_changed_kernel_has_another_schedule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
