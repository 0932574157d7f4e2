/* SPDX-License-Identifier: Apache-2.0 */
/* The timing view: its figures are the launch's, in the stages that DESIGN says, and its trace is one that viewers open. */
#include "support.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Of tokens=3,tp=8: 256 workgroups of 8 waves; a wqkv part has 20 steps and a wq_b task 10, shared by 8 waves; one MFMA a step. */
enum { WORKGROUPS = 256, XCDS = 8, PARTS = 224, WAVES = 8, TASKS = 1, TOKENS = 3, MFMA_WQKV = 3, MFMA_WQB = 2 };

static json_t *root, *trace; /* of one launch, for all tests */

static int launch(void **context) {
  (void)context;
  const char *file = path_in(temp_dir(), "trace.json");
  struct outcome o = run(built_path("frontrun/frontrun"), "tokens=3,tp=8", "--device", "emulator", "--timing", "--trace", file, "--json");
  assert_code(&o, 0);
  json_error_t error;
  root = json_loads(o.out, JSON_REJECT_DUPLICATES, &error);
  if (!root) fail_msg("not JSON: %s", error.text);
  trace = json_load_file(file, JSON_REJECT_DUPLICATES, &error);
  if (!trace) fail_msg("the trace is not JSON: %s", error.text);
  outcome_free(&o);
  return 0;
}

static int forget(void **context) {
  (void)context;
  json_decref(root);
  json_decref(trace);
  return 0;
}

static const json_t *first_launch(const char *name) { return json_object_get(json_array_get(json_object_get(root, "launches"), 0), name); }

static json_int_t figure(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (!json_is_integer(value)) fail_msg("no figure %s", name);
  return json_integer_value(value);
}

static json_int_t sum(const json_t *array, const char *name) {
  json_int_t total = 0;
  for (size_t i = 0; i < json_array_size(array); i++) total += figure(json_array_get(array, i), name);
  return total;
}

static const json_t *stage_of(const json_t *stages, const char *name) {
  for (size_t i = 0; i < json_array_size(stages); i++)
    if (!strcmp(json_string_value(json_object_get(json_array_get(stages, i), "stage")), name)) return json_array_get(stages, i);
  return NULL;
}

static void stages_and_workgroups_add_up_to_the_launch(void **context) {
  (void)context;
  static const char *const names[] = {
      "instructions", "salu", "smem", "valu", "mfma", "lds", "vmem", "control", "load_bytes", "store_bytes"};
  const json_t *timing = first_launch("timing"), *whole = first_launch("emulator"), *classes = json_object_get(whole, "by_class");
  const json_t *workgroups = json_object_get(timing, "workgroups");
  assert_int_equal(json_array_size(workgroups), WORKGROUPS);
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    json_int_t by_workgroup = 0;
    for (size_t i = 0; i < WORKGROUPS; i++) by_workgroup += sum(json_object_get(json_array_get(workgroups, i), "stages"), names[n]);
    json_int_t wanted = n == 0 ? figure(whole, "wave_instructions") : n < 8 ? figure(classes, names[n]) : figure(whole, names[n]);
    assert_int_equal(sum(json_object_get(timing, "stages"), names[n]), wanted);
    assert_int_equal(by_workgroup, wanted);
  }
}

static void what_a_stage_does_is_counted_there(void **context) {
  (void)context;
  const json_t *timing = first_launch("timing"), *stages = json_object_get(timing, "stages");
  const json_t *workgroups = json_object_get(timing, "workgroups");
  static const char *const names[] = {"start", "xq", "kt", "wqkv", "qkv", "wqb", "end"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const json_t *stage = stage_of(stages, names[i]);
    if (!stage) fail_msg("no stage %s", names[i]);
    json_int_t mfma = i == 3 ? PARTS * WAVES * MFMA_WQKV : i == 5 ? WORKGROUPS * WAVES * TASKS * MFMA_WQB : 0;
    assert_int_equal(figure(stage, "mfma"), mfma);
  }
  /* The records of 3 tokens, less the pad rows'; their partial sums as pairs; q in bf16. */
  assert_int_equal(figure(stage_of(stages, "wqkv"), "store_bytes"), 2 * TOKENS * 1792 * 8);
  assert_int_equal(figure(stage_of(stages, "wqb"), "store_bytes"), TOKENS * 64 / 8 * 512 * 2);
  assert_int_equal(figure(stage_of(stages, "kt"), "store_bytes"), TOKENS * 640 * 4 + 2 * TOKENS * 4);
  assert_int_equal(figure(stage_of(stages, "start"), "load_bytes") % (WORKGROUPS * WAVES), 0);
  /* kt's keys are the free workgroups' work, qkv's rows the first workgroups'. */
  for (size_t i = 0; i < WORKGROUPS; i++) {
    const json_t *own = json_object_get(json_array_get(workgroups, i), "stages");
    assert_int_equal(figure(stage_of(own, "kt"), "store_bytes") > 0, i >= PARTS && i < PARTS + TOKENS);
    assert_int_equal(figure(stage_of(own, "qkv"), "store_bytes") > 0, i < TOKENS);
    assert_int_equal(figure(stage_of(own, "wqkv"), "mfma") > 0, i < PARTS);
  }
}

static double real(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (!json_is_number(value)) fail_msg("no number %s", name);
  return json_number_value(value);
}

static void waits_are_part_of_their_stages_time(void **context) {
  (void)context;
  static const char *const kinds[] = {"vmcnt", "lgkmcnt", "barrier", "poll", "atomic", "turn"};
  const json_t *timing = first_launch("timing"), *stages = json_object_get(timing, "stages");
  double polls = 0;
  for (size_t i = 0; i < json_array_size(stages); i++) {
    const json_t *stage = json_array_get(stages, i), *stalls = json_object_get(stage, "stall_us");
    double waits = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      assert_true(real(stalls, kinds[k]) >= 0);
      waits += real(stalls, kinds[k]);
    }
    polls += real(stalls, "poll");
    assert_true(waits <= real(stage, "wave_us") + 1e-6);
    double busy = (double)figure(stage, "instructions") * 4 / 2100; /* 4 cycles an instruction */
    assert_true(waits + busy > real(stage, "wave_us") - 1e-3 && waits + busy < real(stage, "wave_us") + 1e-3);
  }
  assert_true(polls > 0);
}

/* --- the trace: Trace Event Format, JSON object form ---------------------------------------------------------------------------- */

enum { DEPTH = 8 };

struct thread {
  int named, stages, depth;
  double end[DEPTH], stage_end;
};

static struct thread threads[WORKGROUPS + 1];

/* Complete events of a thread nest: each ends before the one around it does. */
static void take_complete(const json_t *event, struct thread *t) {
  double ts = real(event, "ts"), dur = real(event, "dur"), slack = 1e-6;
  bool stage = !strcmp(json_string_value(json_object_get(event, "cat")), "stage");
  assert_true(ts >= 0 && dur >= 0);
  assert_non_null(json_string_value(json_object_get(event, "name")));
  while (t->depth && t->end[t->depth - 1] <= ts + slack) t->depth--;
  if (t->depth) assert_true(ts + dur <= t->end[t->depth - 1] + slack);
  assert_int_equal(t->depth, stage ? 0 : 1);
  assert_true(t->depth < DEPTH);
  if (stage) assert_true(ts >= t->stage_end - slack);
  if (stage) t->stage_end = ts + dur;
  t->end[t->depth++] = ts + dur;
  t->stages += stage;
}

static void a_viewer_can_open_the_trace(void **context) {
  (void)context;
  const json_t *events = json_object_get(trace, "traceEvents");
  const char *unit = json_string_value(json_object_get(trace, "displayTimeUnit"));
  assert_true(unit && (!strcmp(unit, "ns") || !strcmp(unit, "ms")));
  assert_true(json_array_size(events) > WORKGROUPS * 5);
  int processes = 0;
  json_int_t instructions = 0;
  for (size_t i = 0; i < json_array_size(events); i++) {
    const json_t *event = json_array_get(events, i), *args = json_object_get(event, "args");
    const char *phase = json_string_value(json_object_get(event, "ph")), *name = json_string_value(json_object_get(event, "name"));
    json_int_t process = figure(event, "pid"), thread = figure(event, "tid");
    assert_non_null(phase);
    assert_in_range(process, 1, XCDS);
    assert_in_range(thread, 1, WORKGROUPS);
    assert_int_equal(process - 1, (thread - 1) % XCDS); /* workgroup i runs on XCD i mod 8 */
    assert_true(json_is_object(args));
    if (!strcmp(phase, "M")) {
      processes += !strcmp(name, "process_name");
      threads[thread].named += !strcmp(name, "thread_name");
      continue;
    }
    assert_string_equal(phase, "X");
    take_complete(event, &threads[thread]);
    if (json_object_get(args, "instructions")) instructions += figure(args, "instructions");
  }
  assert_int_equal(processes, XCDS);
  assert_int_equal(instructions, figure(first_launch("emulator"), "wave_instructions"));
  for (int i = 1; i <= WORKGROUPS; i++) {
    assert_int_equal(threads[i].named, 1);
    assert_true(threads[i].stages >= 5);
  }
}

static void without_a_note_the_stages_are_refused_in_one_line(void **context) {
  (void)context;
  const char *bare = path_in(temp_dir(), "bare.hsaco"), *key = "tokens=1,tp=8";
  struct outcome o = run(built_path("gen/frontgen"), "emit", key);
  size_t bytes;
  void *object = ir_to_code_object(o.out, "gfx950", true, (const char *const[]){"-disable-machine-sink", NULL}, &bytes);
  write_file(bare, object, bytes);
  free(object);
  outcome_free(&o);
  o = run(built_path("frontrun/frontrun"), bare, "--key", key, "--device", "emulator", "--timing");
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, "note"));
  assert_ptr_equal(strchr(o.err, '\n'), o.err + o.err_bytes - 1);
  outcome_free(&o);
}

/* --- the table --------------------------------------------------------------------------------------------------------------------- */

struct rows {
  unsigned count, workgroup[WORKGROUPS + 1];
  unsigned long long sum, all; /* instructions: of the rows, and of the stages' table */
};

static struct rows table_rows(const char *option) {
  struct rows rows = {0};
  struct outcome o = run(built_path("frontrun/frontrun"), "tokens=1,tp=8", "--device", "emulator", "--no-traffic", "--timing", option);
  assert_code(&o, 0);
  bool below = false;
  for (char *line = strtok(o.out, "\n"); line; line = strtok(NULL, "\n")) {
    unsigned workgroup, xcd;
    double begin, end;
    unsigned long long instructions;
    assert_true(strlen(line) <= 160);
    if (sscanf(line, "  all %llu", &instructions) == 1) rows.all = instructions;
    below = below || strncmp(line, "    wg xcd", 10) == 0;
    if (!below || sscanf(line, "%u %u %lf %lf %llu", &workgroup, &xcd, &begin, &end, &instructions) != 5) continue;
    assert_true(rows.count < WORKGROUPS);
    rows.workgroup[rows.count++] = workgroup;
    rows.sum += instructions;
  }
  outcome_free(&o);
  return rows;
}

static void a_person_reads_nine_workgroups_or_all(void **context) {
  (void)context;
  struct rows some = table_rows(NULL), all = table_rows("--workgroups");
  assert_int_equal(all.count, WORKGROUPS);
  assert_int_equal(all.sum, all.all);
  for (unsigned i = 0; i < WORKGROUPS; i++) assert_int_equal(all.workgroup[i], i);
  assert_int_equal(some.count, 9);
  assert_int_equal(some.workgroup[0], 0); /* S = 1: token 0's, which has a wqkv part too */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_and_workgroups_add_up_to_the_launch),
      cmocka_unit_test(what_a_stage_does_is_counted_there),
      cmocka_unit_test(waits_are_part_of_their_stages_time),
      cmocka_unit_test(a_viewer_can_open_the_trace),
      cmocka_unit_test(a_person_reads_nine_workgroups_or_all),
      cmocka_unit_test(without_a_note_the_stages_are_refused_in_one_line),
  };
  return cmocka_run_group_tests(tests, launch, forget);
}
