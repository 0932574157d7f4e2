/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for people. */
#include "table.h"

#include <stdio.h>

static const char *const argument_names[] = {
#define ARG(name, type, align, dtype, use, bytes) #name,
#include "front_args.def"
#undef ARG
};

void table_head(const struct run_options *options, const struct run_object *object, const struct session *session) {
  const struct plan *plan = &object->plan;
  const struct front_device_info *device = &session->device_info;
  const char *kind = session->emulator.there ? "the emulator" : "a GPU";
  if (*session->note) printf("no GPU: %s\n", session->note);
  printf("%s on %s: %s, %u compute units%s%s%s\n", plan->name, kind, device->name, device->compute_units, *device->product ? " (" : "",
      device->product, *device->product ? ")" : "");
  if (object->generated && !options->arch) printf("(for %s: --arch names another)\n", plan->target->name);
}

static void print_stage(const struct compare_row *row) {
  printf("  %-10s %11llu %11llu", row->stage, (unsigned long long)row->values, (unsigned long long)row->exact);
  if (row->has_worst)
    printf("  %8.3g tol", row->worst);
  else
    printf("  %12s", row->wrong ? "" : "exact");
  printf("  %s", row->good ? "good" : "DIFFERS");
  if (row->wrong) printf(": %llu wrong, first: %s", (unsigned long long)row->wrong, row->first);
  printf("\n");
}

static void print_traffic(const struct launch *launch) {
  bool any = false;
  for (int arg = 0; arg < FRONT_ARGS; arg++) any |= launch->traffic[arg].counted;
  if (!any) return;
  printf("  %-10s %11s %11s %11s  %s\n", "argument", "unique B", "total B", "minimum B", "fetches");
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    const struct launch_traffic *t = &launch->traffic[arg];
    if (!t->counted || !t->fetched_bytes) continue;
    printf("  %-10s %11llu %11llu %11llu  %u..%u\n", argument_names[arg], (unsigned long long)t->unique_bytes,
        (unsigned long long)t->fetched_bytes, (unsigned long long)t->minimum, t->min_fetches, t->max_fetches);
  }
}

static void print_figures(const struct launch *launch) {
  const struct hsa_emu_counters *c = &launch->counters;
  if (!launch->counted) {
    printf("  %.6f s\n", launch->seconds);
    return;
  }
  double seconds = (double)c->host_ns * 1e-9;
  printf("  %.3f s, %llu wave-instructions, %.3g a second; model time %.1f us\n", launch->seconds, (unsigned long long)c->instructions,
      seconds > 0 ? (double)c->instructions / seconds : 0.0, (double)c->model_ticks / 100);
  print_traffic(launch);
}

void table_launch(const struct run_options *options, uint32_t number, const struct run_result *result) {
  uint32_t launches = options->repeat * (options->schedules ? options->schedules : 1);
  printf("launch %u of %u: seed %llu, case %s, epoch %u", number + 1, launches, (unsigned long long)result->seed,
      input_case_name(options->which), result->launch.epoch_before);
  if (options->strict) printf(", schedule %llu", (unsigned long long)result->schedule);
  printf("\n");
  if (result->compare.rows) printf("  %-10s %11s %11s  %12s  %s\n", "stage", "values", "exact", "worst error", "verdict");
  for (size_t i = 0; i < result->compare.rows; i++) print_stage(&result->compare.row[i]);
  if (result->compare.verdict == COMPARE_BAD_INPUT) printf("  not judged: %s\n", result->compare.message);
  print_figures(&result->launch);
  if (*result->remarks) printf("  remarks: %s\n", result->remarks);
  if (options->timing && result->timed) timing_print(&result->timing, options->workgroups);
}
