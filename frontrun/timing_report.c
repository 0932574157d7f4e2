/* SPDX-License-Identifier: Apache-2.0 */
/* Timing as tables and as JSON. */
#include <stdio.h>

#include "timing.h"

const char *const timing_stall_name[HSA_EMU_STALLS] = {"vmcnt", "lgkmcnt", "barrier", "poll", "atomic", "turn"};

static double us(uint64_t cycles) { return (double)cycles / (double)HSA_EMU_CYCLES_A_US; }

static void print_heads(void) {
  printf("%11s %10s %9s %8s %10s %11s %11s %9s", "instr", "valu", "mfma", "lds", "vmem", "load B", "store B", "wave us");
  for (int i = 0; i < HSA_EMU_STALLS; i++) printf(" %8s", timing_stall_name[i]);
  printf("\n");
}

static void print_row(const struct hsa_emu_region *r) {
  printf("%11llu %10llu %9llu %8llu %10llu %11llu %11llu %9.1f", (unsigned long long)r->instructions,
      (unsigned long long)r->by_class[HSA_EMU_VALU], (unsigned long long)r->by_class[HSA_EMU_MFMA],
      (unsigned long long)r->by_class[HSA_EMU_LDS], (unsigned long long)r->by_class[HSA_EMU_VMEM], (unsigned long long)r->load_bytes,
      (unsigned long long)r->store_bytes, us(r->cycles));
  for (int i = 0; i < HSA_EMU_STALLS; i++) printf(" %8.1f", us(r->stall[i]));
  printf("\n");
}

void timing_print(const struct timing *t) {
  printf("  timing: %.2f us of model time, with a latency for memory; waits in microseconds, summed over waves\n", us(t->end - t->begin));
  printf("  %-26s", "stage");
  print_heads();
  struct hsa_emu_region all[TIMING_STAGES];
  for (int s = 0; s < TIMING_STAGES; s++) {
    all[s] = timing_stage_sum(t, (enum timing_stage)s);
    if (!all[s].instructions) continue;
    printf("  %-26s", timing_stage_name[s]);
    print_row(&all[s]);
  }
  struct hsa_emu_region sum = timing_sum(all);
  printf("  %-26s", "all");
  print_row(&sum);
  printf("  %-9s %3s %6s %5s ", "workgroup", "xcd", "begin", "end");
  print_heads();
  for (uint32_t i = 0; i < t->workgroups; i++) {
    const struct timing_workgroup *w = &t->workgroup[i];
    sum = timing_sum(w->stage);
    printf("  %9u %3u %6.2f %5.2f ", w->ran.workgroup, w->ran.xcc, us(w->ran.begin - t->begin), us(w->ran.end - t->begin));
    print_row(&sum);
  }
}

static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }

json_t *timing_figures(const struct hsa_emu_region *r) {
  json_t *stalls = json_object();
  for (int i = 0; i < HSA_EMU_STALLS; i++) json_object_set_new(stalls, timing_stall_name[i], json_real(us(r->stall[i])));
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o}", "instructions", number(r->instructions), "salu",
      number(r->by_class[HSA_EMU_SALU]), "smem", number(r->by_class[HSA_EMU_SMEM]), "valu", number(r->by_class[HSA_EMU_VALU]), "mfma",
      number(r->by_class[HSA_EMU_MFMA]), "lds", number(r->by_class[HSA_EMU_LDS]), "vmem", number(r->by_class[HSA_EMU_VMEM]), "control",
      number(r->by_class[HSA_EMU_CONTROL]), "load_bytes", number(r->load_bytes), "store_bytes", number(r->store_bytes), "wave_us",
      us(r->cycles), "stall_us", stalls);
}

static json_t *describe_stages(const struct hsa_emu_region *stage) {
  json_t *stages = json_array();
  for (int s = 0; s < TIMING_STAGES; s++) {
    if (!stage[s].instructions) continue;
    json_t *one = timing_figures(&stage[s]);
    json_object_set_new(one, "stage", json_string(timing_stage_name[s]));
    json_array_append_new(stages, one);
  }
  return stages;
}

json_t *timing_describe(const struct timing *t) {
  struct hsa_emu_region all[TIMING_STAGES];
  for (int s = 0; s < TIMING_STAGES; s++) all[s] = timing_stage_sum(t, (enum timing_stage)s);
  json_t *workgroups = json_array();
  for (uint32_t i = 0; i < t->workgroups; i++) {
    const struct timing_workgroup *w = &t->workgroup[i];
    json_array_append_new(
        workgroups, json_pack("{s:o, s:o, s:f, s:f, s:o}", "workgroup", number(w->ran.workgroup), "xcd", number(w->ran.xcc), "begin_us",
                        us(w->ran.begin - t->begin), "end_us", us(w->ran.end - t->begin), "stages", describe_stages(w->stage)));
  }
  return json_pack("{s:f, s:o, s:o}", "model_us", us(t->end - t->begin), "stages", describe_stages(all), "workgroups", workgroups);
}
