/* SPDX-License-Identifier: Apache-2.0 */
/* A launch in the Trace Event Format, for ui.perfetto.dev or chrome://tracing: a process an XCD, a thread a workgroup. Process and thread
   numbers are one more than the XCD's and the workgroup's: viewers take 0 for the idle thread. */
#include <stdlib.h>

#include "output.h"
#include "timing.h"

static double us(uint64_t cycles) { return (double)cycles / (double)HSA_EMU_CYCLES_A_US; }

static bool name_it(json_t *events, const char *what, uint32_t process, uint32_t thread, const char *name, uint32_t number) {
  json_t *text = json_sprintf("%s %u", name, number);
  return json_array_append_new(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:o}}", "ph", "M", "name", what, "pid", (int)process + 1, "tid",
                                           (int)thread + 1, "args", "name", text)) == 0;
}

/* Viewers sort processes and threads by these. */
static bool sort_it(json_t *events, const char *what, uint32_t process, uint32_t thread, uint32_t at) {
  return json_array_append_new(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "ph", "M", "name", what, "pid", (int)process + 1, "tid",
                                           (int)thread + 1, "args", "sort_index", (int)at)) == 0;
}

static bool name_places(json_t *events, const struct timing *t) {
  bool good = true;
  uint64_t named = 0; /* XCDs */
  for (uint32_t i = 0; i < t->workgroups && good; i++) {
    const struct hsa_emu_profiled *ran = &t->workgroup[i].ran;
    if (!(named >> ran->xcc & 1))
      good = name_it(events, "process_name", ran->xcc, ran->workgroup, "XCD", ran->xcc) &&
             sort_it(events, "process_sort_index", ran->xcc, ran->workgroup, ran->xcc);
    named |= UINT64_C(1) << ran->xcc;
    good = good && name_it(events, "thread_name", ran->xcc, ran->workgroup, "workgroup", ran->workgroup) &&
           sort_it(events, "thread_sort_index", ran->xcc, ran->workgroup, ran->workgroup);
  }
  return good;
}

/* A stage's first span carries what all waves of the workgroup did in it. */
static json_t *arguments(const struct timing_workgroup *w, const struct hsa_emu_span *span, uint32_t launch, bool *told) {
  json_t *args = NULL;
  if (span->kind == HSA_EMU_IN_REGION && !told[span->region]) {
    args = timing_figures(&w->stage[span->region]);
    told[span->region] = true;
  }
  if (!args) args = json_object();
  json_object_set_new(args, "launch", json_integer((json_int_t)launch));
  return args;
}

static bool add_workgroup(json_t *events, const struct timing_workgroup *w, uint32_t launch, uint64_t since) {
  bool told[TIMING_STAGES] = {false};
  for (size_t i = 0; i < w->ran.spans; i++) {
    const struct hsa_emu_span *s = &w->span[i];
    bool stage = s->kind == HSA_EMU_IN_REGION;
    json_t *event = json_pack("{s:s, s:s, s:s, s:i, s:i, s:f, s:f, s:o}", "ph", "X", "name",
        stage ? timing_stage_name[s->region] : timing_stall_name[s->kind], "cat", stage ? "stage" : "stall", "pid", (int)w->ran.xcc + 1,
        "tid", (int)w->ran.workgroup + 1, "ts", us(s->begin - since), "dur", us(s->end - s->begin), "args", arguments(w, s, launch, told));
    if (!event || json_array_append_new(events, event) != 0) return false;
  }
  return true;
}

bool trace_add(json_t *events, const struct timing *t, uint32_t launch, uint64_t since) {
  bool good = events && (json_array_size(events) || name_places(events, t));
  for (uint32_t i = 0; i < t->workgroups && good; i++) good = add_workgroup(events, &t->workgroup[i], launch, since);
  return good;
}

enum run_code trace_write(const char *path, json_t *events, char error[RUN_ERROR_MAX]) {
  json_t *root = json_pack("{s:O, s:s}", "traceEvents", events, "displayTimeUnit", "ns");
  size_t bytes = root ? json_dumpb(root, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(15)) : 0;
  char *text = bytes ? malloc(bytes) : NULL;
  enum run_code code = RUN_ENVIRONMENT;
  char why[FRONTGEN_ERROR_MAX] = "no memory for the trace";
  if (text) {
    (void)json_dumpb(root, text, bytes, JSON_COMPACT | JSON_REAL_PRECISION(15));
    code = (enum run_code)output_write(path, text, bytes, why);
  }
  if (code != RUN_GOOD) snprintf(error, RUN_ERROR_MAX, "%s", why);
  free(text);
  json_decref(root);
  return code;
}
