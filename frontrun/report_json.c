/* SPDX-License-Identifier: Apache-2.0 */
/* The same as table.c prints, as one JSON object. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "tensors.h"

struct report {
  json_t *root, *launches; /* launches: borrowed from root */
  bool strict;
};

static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *describe_device(const struct session *session) {
  const struct front_device_info *info = &session->device_info;
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s?}", "kind", session->emulator.there ? "emulator" : "gpu", "name", info->name,
      "isa", info->isa, "product", info->product, "pci", info->pci, "compute_units", number(info->compute_units), "library",
      session->library ? session->library : "", "why_no_gpu", *session->note ? session->note : NULL);
}

struct report *report_new(const struct run_options *options, const struct plan *plan, const struct session *session) {
  struct report *report = calloc(1, sizeof *report);
  if (!report) return NULL;
  char key[KEY_ERROR_MAX];
  tensors_key_text(&plan->key, key);
  report->launches = json_array();
  report->strict = options->strict;
  report->root = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "kernel", plan->name, "key", key, "arch", plan->target->name, "case",
      input_case_name(options->which), "device", describe_device(session), "launches", report->launches);
  return report;
}

static json_t *describe_stage(const struct compare_row *row) {
  json_t *stage = json_pack("{s:s, s:o, s:o, s:o, s:b}", "stage", row->stage, "values", number(row->values), "exact", number(row->exact),
      "wrong", number(row->wrong), "good", row->good);
  if (row->has_worst) {
    json_object_set_new(stage, "worst", json_real(row->worst));
    json_object_set_new(stage, "worst_at", json_string(row->worst_at));
  }
  if (row->wrong) json_object_set_new(stage, "first", json_string(row->first));
  return stage;
}

static json_t *describe_counters(const struct hsa_emu_counters *c) {
  static const char *const classes[HSA_EMU_CLASSES] = {"salu", "smem", "valu", "mfma", "lds", "vmem", "control"};
  json_t *by_class = json_object();
  for (int i = 0; i < HSA_EMU_CLASSES; i++) json_object_set_new(by_class, classes[i], number(c->by_class[i]));
  double seconds = (double)c->host_ns * 1e-9;
  return json_pack("{s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "wave_instructions", number(c->instructions),
      "wave_instructions_per_second", seconds > 0 ? (double)c->instructions / seconds : 0.0, "by_class", by_class, "waves",
      number(c->waves), "load_bytes", number(c->load_bytes), "store_bytes", number(c->store_bytes), "out_of_range", number(c->out_of_range),
      "quanta", number(c->quanta), "model_ticks", number(c->model_ticks), "host_ns", number(c->host_ns));
}

static json_t *describe_traffic(const struct launch *launch) {
  json_t *traffic = json_object();
  int arg = 0;
#define ARG(name, type, align, dtype, use, bytes_)                                                                                         \
  if (launch->traffic[arg].counted) {                                                                                                      \
    const struct launch_traffic *t = &launch->traffic[arg];                                                                                \
    json_object_set_new(traffic, #name,                                                                                                    \
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "bytes", number(t->bytes), "unique_bytes", number(t->unique_bytes), "total_bytes",     \
            number(t->fetched_bytes), "minimum_bytes", number(t->minimum), "min_fetches", number(t->min_fetches), "max_fetches",           \
            number(t->max_fetches)));                                                                                                      \
  }                                                                                                                                        \
  arg++;
#include "front_args.def"
#undef ARG
  return traffic;
}

void report_launch(struct report *report, const struct run_result *result) {
  const struct compare_result *compare = &result->compare;
  json_t *stages = json_array();
  for (size_t i = 0; i < compare->rows; i++) json_array_append_new(stages, describe_stage(&compare->row[i]));
  json_t *launch = json_pack("{s:o, s:o, s:o, s:f, s:b, s:s, s:o}", "seed", number(result->seed), "epoch",
      number(result->launch.epoch_before), "epoch_after", number(result->launch.epoch_after), "seconds", result->launch.seconds, "good",
      compare->verdict == COMPARE_GOOD, "message", compare->message, "stages", stages);
  if (result->launch.counted) {
    json_object_set_new(launch, "emulator", describe_counters(&result->launch.counters));
    json_object_set_new(launch, "traffic", describe_traffic(&result->launch));
  }
  if (report->strict) json_object_set_new(launch, "schedule", number(result->schedule));
  if (result->timed) json_object_set_new(launch, "timing", timing_describe(&result->timing));
  if (*result->remarks) json_object_set_new(launch, "remarks", json_string(result->remarks));
  json_array_append_new(report->launches, launch);
}

/* A file's name may be no UTF-8: then its bytes beyond ASCII become "?". */
static json_t *any_text(const char *text) {
  json_t *string = json_string(text);
  if (string) return string;
  size_t length = strlen(text);
  char *plain = malloc(length + 1);
  if (!plain) return NULL;
  for (size_t i = 0; i <= length; i++) plain[i] = (signed char)text[i] < 0 ? '?' : text[i];
  string = json_string(plain);
  free(plain);
  return string;
}

void report_print(struct report *report, enum run_code code, const char *error, const char *fault_report, const struct strict_log *strict) {
  json_object_set_new(report->root, "exit_code", json_integer((int)code));
  if (error) json_object_set_new(report->root, "error", any_text(error));
  if (fault_report && *fault_report) json_object_set_new(report->root, "report", any_text(fault_report));
  if (strict) json_object_set_new(report->root, "strict", strict_log_describe(strict));
  char *text = json_dumps(report->root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  if (text) puts(text);
  free(text);
  json_decref(report->root);
  free(report);
}
