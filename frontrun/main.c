/* SPDX-License-Identifier: Apache-2.0 */
/* frontrun: inputs, launch, comparison. Everything it finds goes to stdout, every error is one line on stderr. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "conduct.h"
#include "draw.h"
#include "output.h"
#include "table.h"
#include "tensors.h"

enum { STREAM_EPOCH = 1000, FAULT_REPORT_MAX = 1 << 16 };

struct run {
  struct run_options options;
  struct run_object object;
  struct tensor_file file; /* --input */
  struct session session;
  struct report *report; /* --json */
  json_t *trace;         /* --trace: events */
  uint64_t trace_begin;  /* model cycles */
  struct strict_log log; /* --strict */
  bool broken;           /* a launch did not end well: the session is of no more use */
  char error[RUN_ERROR_MAX];
};

/* The launch's host side: what compare_run() needs besides the inputs. */
static void judge(const struct run *run, const struct inputs *in, struct run_result *result) {
  struct compare_block *block = calloc(in->blocks + 1, sizeof *block);
  for (size_t i = 0; block && i < in->blocks; i++)
    block[i] = (struct compare_block){in->block[i].number, in->block[i].before, in->block[i].after, 0};
  const struct compare_inputs inputs = inputs_view(in);
  const struct compare_outputs outputs = {
      .scratch_before = result->launch.scratch_before,
      .scratch = result->launch.scratch,
      .epoch_before = result->launch.epoch_before,
      .epoch = result->launch.epoch_after,
      .blocks = block,
      .block_count = block ? in->blocks : 0,
      .q = in->left[ARG_q],
      .kt = in->left[ARG_kt],
      .klen = in->left[ARG_klen],
      .kt_before = in->data[ARG_kt],
      .klen_before = in->data[ARG_klen],
      .qr_out = in->left[ARG_qr_out],
      .qr_out_before = in->data[ARG_qr_out],
  };
  const struct compare_options options = {.hardware = !run->session.emulator.there, .threads = run->options.threads};
  compare_run(&in->key, run->object.plan.target, &inputs, &outputs, &options, &result->compare);
  free(block);
}

static enum run_code verdict_code(const struct run *run, const struct compare_result *compare, char *error) {
  if (compare->verdict == COMPARE_GOOD) return RUN_GOOD;
  snprintf(error, RUN_ERROR_MAX, "%s: %s", run->object.plan.name, compare->message);
  return compare->verdict == COMPARE_DIFFERS ? RUN_DIFFERS : RUN_USAGE;
}

static uint32_t launches_of(const struct run_options *options) { return options->repeat * (options->schedules ? options->schedules : 1); }

/* What the launch did when, if that was asked for. */
static enum run_code take_timing(struct run *run, uint32_t number, struct run_result *result) {
  if (!run->options.timing && !run->options.trace) return RUN_GOOD;
  result->timed = timing_take(&run->session.emulator, &result->timing);
  bool good = result->timed;
  if (good && run->options.trace) {
    if (!run->trace) run->trace_begin = result->timing.begin;
    if (!run->trace) run->trace = json_array();
    good = trace_add(run->trace, &result->timing, number, run->trace_begin);
  }
  if (good) return RUN_GOOD;
  snprintf(run->error, sizeof run->error, "no memory for the timing of launch %u", number + 1);
  return RUN_ENVIRONMENT;
}

static void show(const struct run *run, uint32_t number, struct run_result *result) {
  if (run->session.emulator.there) (void)run->session.emulator.remarks(result->remarks, sizeof result->remarks);
  if (run->report)
    report_launch(run->report, result);
  else
    table_launch(&run->options, number, result);
}

static struct launch_options launch_options(const struct run *run) {
  double seconds = run->options.timeout > 0 ? run->options.timeout : run->session.emulator.there ? 600 : 10;
  return (struct launch_options){
      .timeout_ns = (uint64_t)(seconds * 1e9), .prefill_tag = run->options.prefill_tag, .traffic = run->options.traffic};
}

/* Strict mode's findings, also of a launch that ended badly. */
static enum run_code take_findings(struct run *run, uint32_t number, struct run_result *result) {
  struct strict_findings found;
  size_t before = run->log.entries;
  bool good = strict_take(&run->session.emulator, run->object.plan.lds.stop, &found);
  if (good) {
    good = strict_log_add(&run->log, &found, result->schedule, number);
    result->findings = found.count;
    strict_free(&found);
  }
  if (!run->report) strict_log_print(&run->log, before);
  if (good) return RUN_GOOD;
  snprintf(run->error, sizeof run->error, "no memory for the findings of launch %u", number + 1);
  return RUN_ENVIRONMENT;
}

static enum run_code start_strict(struct run *run, uint64_t schedule) {
  if (strict_start(&run->session.emulator, run->options.l2, schedule)) return RUN_GOOD;
  snprintf(run->error, sizeof run->error, "--strict is the emulator's: use --device emulator");
  return RUN_USAGE;
}

static enum run_code dump_last(struct run *run, uint32_t number, const struct inputs *in, const struct run_result *result) {
  if (!run->options.dump || number + 1 < launches_of(&run->options)) return RUN_GOOD;
  const struct tensors_results results = {result->launch.scratch, result->launch.epoch_before};
  return (enum run_code)tensors_dump(run->options.dump, &run->object.plan, in, &results, run->error);
}

static enum run_code launch_once(struct run *run, uint32_t number, struct inputs *in, struct run_result *result) {
  const struct plan *plan = &run->object.plan;
  const struct launch_options options = launch_options(run);
  enum run_code code = run->options.strict ? start_strict(run, result->schedule) : RUN_GOOD;
  if (code != RUN_GOOD) return code;
  code = session_launch(&run->session, plan, in, &options, &result->launch, run->error);
  run->broken = code == RUN_FAULT;
  if (run->options.strict) {
    enum run_code taken = take_findings(run, number, result);
    if (code == RUN_GOOD) code = taken;
  }
  if (code == RUN_GOOD) code = take_timing(run, number, result);
  if (code != RUN_GOOD) return code;
  judge(run, in, result);
  show(run, number, result);
  code = dump_last(run, number, in, result);
  if (code == RUN_GOOD) code = verdict_code(run, &result->compare, run->error);
  if (code == RUN_GOOD && result->findings) {
    snprintf(run->error, RUN_ERROR_MAX, "%s relies on luck: %zu findings of strict mode under schedule %llu: the report says which",
        plan->name, result->findings, (unsigned long long)result->schedule);
    code = RUN_FAULT;
  }
  return code;
}

static struct input_options input_options(const struct run *run, uint32_t number) {
  return (struct input_options){.seed = run->options.seed + number,
      .rank = run->options.rank,
      .which = run->options.which,
      .file = run->options.input ? &run->file : NULL};
}

static enum run_code make_inputs(struct run *run, uint32_t number, struct inputs *in) {
  const struct input_options options = input_options(run, number);
  if (inputs_make(&run->object.plan, &options, in, run->error) && inputs_check(in, run->error)) return RUN_GOOD;
  return RUN_USAGE;
}

static uint32_t first_epoch(const struct run *run, const struct inputs *in) {
  if (run->options.has_epoch) return run->options.epoch;
  if (in->has_epoch) return in->epoch;
  struct draw d = draw_stream(run->options.seed, STREAM_EPOCH, 0);
  return (uint32_t)draw_u64(&d);
}

static enum run_code open_session(struct run *run, const struct inputs *in) {
  const struct session_options options = {
      .device = run->options.device,
      .arch = run->object.plan.target->name,
      .object = run->object.bytes,
      .object_bytes = run->object.size,
      .key = run->object.key,
      .first_epoch = first_epoch(run, in),
  };
  enum run_code code = session_open(&options, &run->session, run->error);
  if (code == RUN_GOOD && (run->options.timing || run->options.trace))
    code = timing_start(&run->session, &run->object.plan, run->object.bytes, run->object.size, run->error);
  if (code != RUN_GOOD) return code;
  if (run->options.json)
    run->report = report_new(&run->options, &run->object.plan, &run->session);
  else
    table_head(&run->options, &run->object, &run->session);
  return RUN_GOOD;
}

/* One launch, with a result of its own. */
static enum run_code launch_new(struct run *run, uint32_t number, uint64_t schedule, struct inputs *in) {
  struct run_result *result = calloc(1, sizeof *result);
  if (!result) {
    snprintf(run->error, sizeof run->error, "no memory for the results");
    return RUN_ENVIRONMENT;
  }
  result->seed = in->seed;
  result->schedule = schedule;
  enum run_code code = launch_once(run, number, in, result);
  launch_free(&result->launch);
  timing_free(&result->timing);
  free(result);
  return code;
}

/* Keeps the first error of the worst kind; false: nothing more is to be launched. */
static bool go_on(const struct run *run, enum run_code code, enum run_code *worst, char *error) {
  if (code > *worst) {
    *worst = code;
    memcpy(error, run->error, RUN_ERROR_MAX);
  }
  return code <= RUN_DIFFERS || (code == RUN_FAULT && !run->broken);
}

/* Every launch, also those behind one whose results differ, or in which strict mode found something; a fault ends it. */
static enum run_code run_launches(struct run *run) {
  enum run_code worst = RUN_GOOD;
  char error[RUN_ERROR_MAX] = "";
  uint32_t schedules = launches_of(&run->options) / run->options.repeat;
  bool more = true;
  for (uint32_t i = 0; i < run->options.repeat && more; i++) {
    struct inputs in = {0};
    enum run_code code = make_inputs(run, i, &in);
    if (code == RUN_GOOD && i == 0) code = open_session(run, &in);
    more = go_on(run, code, &worst, error);
    for (uint32_t s = 0; s < schedules && more && code <= RUN_DIFFERS; s++)
      more = go_on(run, launch_new(run, i * schedules + s, run->options.schedule + s, &in), &worst, error);
    inputs_free(&in);
  }
  memcpy(run->error, error, sizeof error);
  return worst;
}

/* Before the work, not after it: files to read, and the place of those to write. */
static enum run_code check_files(struct run *run) {
  const struct run_options *options = &run->options;
  const char *const written[] = {options->dump, options->trace};
  if (options->input && !tensor_file_read(options->input, &run->file, run->error)) return RUN_USAGE;
  for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
    enum run_code code = written[i] ? (enum run_code)output_check(written[i], run->error) : RUN_GOOD;
    if (code != RUN_GOOD) return code;
  }
  return RUN_GOOD;
}

static enum run_code check_options(struct run *run) {
  const struct run_options *options = &run->options;
  if (options->rank >= (uint32_t)run->object.plan.key.tp) {
    snprintf(run->error, sizeof run->error, "--rank %u: this key has ranks 0 to %d", options->rank, run->object.plan.key.tp - 1);
    return RUN_USAGE;
  }
  return RUN_GOOD;
}

/* Where every wave stood, if the emulator stopped the kernel. */
static char *fault_report(const struct run *run, enum run_code code) {
  char *text = run->broken && code == RUN_FAULT && run->session.emulator.there ? malloc(FAULT_REPORT_MAX) : NULL;
  if (text && !run->session.emulator.report(text, FAULT_REPORT_MAX)) *text = 0;
  return text;
}

/* Prints what is left to print; the program's exit code. */
static enum run_code finish(struct run *run, enum run_code code) {
  char *report = fault_report(run, code);
  if (run->report)
    report_print(run->report, code, code == RUN_GOOD ? NULL : run->error, report, run->options.strict ? &run->log : NULL);
  else if (report)
    printf("%s", report);
  else if (code == RUN_GOOD)
    printf("good: every stage of %u launch%s%s\n", launches_of(&run->options), launches_of(&run->options) == 1 ? "" : "es",
        run->options.strict ? ", and nothing found by strict mode" : "");
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && code == RUN_GOOD) {
    code = RUN_ENVIRONMENT;
    snprintf(run->error, sizeof run->error, "cannot write to standard output: %s: give it a place with room",
        errno ? strerror(errno) : "it took a part only");
  }
  if (code != RUN_GOOD) conduct_complain("frontrun", run->error);
  free(report);
  return code;
}

/* --accept: another program in this one. */
static enum run_code accept(struct run *run) {
  enum run_code code = run->options.report ? (enum run_code)output_check(run->options.report, run->error) : RUN_GOOD;
  if (code == RUN_GOOD) code = accept_run(&run->options, run->error);
  (void)fflush(stdout);
  if (code != RUN_GOOD) conduct_complain("frontrun", run->error);
  free(run);
  return code;
}

int main(int argc, char **argv) {
  struct run *run = conduct_begin() ? calloc(1, sizeof *run) : NULL;
  if (!run) return RUN_ENVIRONMENT;
  run->options = options_parse(argc, argv);
  if (run->options.accept) return (int)accept(run);
  enum run_code code = check_files(run);
  if (code == RUN_GOOD) code = object_get(&run->options, &run->object, run->error);
  if (code == RUN_GOOD) code = check_options(run);
  if (code == RUN_GOOD) code = run_launches(run);
  if (run->trace) {
    char why[RUN_ERROR_MAX];
    enum run_code written = trace_write(run->options.trace, run->trace, code == RUN_GOOD ? run->error : why);
    if (code == RUN_GOOD) code = written;
  }
  code = finish(run, code);
  if (!run->broken) session_close(&run->session);
  json_decref(run->trace);
  strict_log_free(&run->log);
  tensor_file_free(&run->file);
  free(run->object.bytes);
  free(run);
  return (int)code;
}
