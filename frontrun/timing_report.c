/* SPDX-License-Identifier: Apache-2.0 */
/* Timing as tables and as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

enum { EXTREMES = 4 }; /* busiest workgroups, and as many that waited most */

const char *const timing_stall_name[HSA_EMU_STALLS] = {"vmcnt", "lgkmcnt", "barrier", "poll", "atomic", "turn"};

static double us(uint64_t cycles) { return (double)cycles / (double)HSA_EMU_CYCLES_A_US; }

/* 1234567 bytes as "1.2 MB". */
static const char *size(uint64_t bytes, char text[16]) {
  static const char *const units[] = {"B", "kB", "MB", "GB"};
  double value = (double)bytes;
  int unit = 0;
  for (; value >= 999.5 && unit < 3; unit++) value /= 1000;
  snprintf(text, 16, value < 10 && unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

static void print_heads(void) {
  printf("%9s %8s %7s %7s %7s %9s %9s %9s", "instr", "valu", "mfma", "lds", "vmem", "loaded", "stored", "wave us");
  for (int i = 0; i < HSA_EMU_STALLS; i++) printf(" %8s", timing_stall_name[i]);
  printf("\n");
}

static void print_row(const struct hsa_emu_region *r) {
  char loaded[16], stored[16];
  printf("%9llu %8llu %7llu %7llu %7llu %9s %9s %9.1f", (unsigned long long)r->instructions, (unsigned long long)r->by_class[HSA_EMU_VALU],
      (unsigned long long)r->by_class[HSA_EMU_MFMA], (unsigned long long)r->by_class[HSA_EMU_LDS],
      (unsigned long long)r->by_class[HSA_EMU_VMEM], size(r->load_bytes, loaded), size(r->store_bytes, stored), us(r->cycles));
  for (int i = 0; i < HSA_EMU_STALLS; i++) printf(" %8.1f", us(r->stall[i]));
  printf("\n");
}

static void print_stages(const struct timing *t) {
  printf("  %-22s", "stage");
  print_heads();
  struct hsa_emu_region all[TIMING_STAGES];
  for (int s = 0; s < TIMING_STAGES; s++) {
    all[s] = timing_stage_sum(t, (enum timing_stage)s);
    if (!all[s].instructions) continue;
    printf("  %-22s", timing_stage_name[s]);
    print_row(&all[s]);
  }
  struct hsa_emu_region sum = timing_sum(all);
  printf("  %-22s", "all");
  print_row(&sum);
}

static void print_workgroup(const struct timing *t, const struct timing_workgroup *w) {
  struct hsa_emu_region sum = timing_sum(w->stage);
  printf("  %4u %3u %6.2f %6.2f ", w->ran.workgroup, w->ran.xcc, us(w->ran.begin - t->begin), us(w->ran.end - t->begin));
  print_row(&sum);
}

/* The time in which its waves wait for nothing. */
static uint64_t worked(const struct timing_workgroup *w) {
  struct hsa_emu_region sum = timing_sum(w->stage);
  for (int i = 0; i < HSA_EMU_STALLS; i++) sum.cycles -= sum.stall[i] < sum.cycles ? sum.stall[i] : sum.cycles;
  return sum.cycles;
}

/* The busiest first; among equals in their order. */
static int by_work(const void *a, const void *b) {
  const struct timing_workgroup *x = *(const struct timing_workgroup *const *)a, *y = *(const struct timing_workgroup *const *)b;
  if (worked(x) != worked(y)) return worked(x) < worked(y) ? 1 : -1;
  return x->ran.workgroup < y->ran.workgroup ? -1 : x->ran.workgroup > y->ran.workgroup;
}

/* They end together, since all wait for the last token's flag: what tells them apart is how much of the time they work. */
static void print_extremes(const struct timing *t) {
  const struct timing_workgroup **sorted = calloc(t->workgroups + 1, sizeof *sorted);
  uint32_t middle = t->workgroups / 2;
  for (uint32_t i = 0; sorted && i < t->workgroups; i++) sorted[i] = &t->workgroup[i];
  if (sorted) qsort(sorted, t->workgroups, sizeof *sorted, by_work);
  for (uint32_t i = 0; sorted && i < t->workgroups; i++) {
    bool busiest = i < EXTREMES, idlest = i + EXTREMES >= t->workgroups;
    if (!busiest && !idlest && i != middle) continue;
    if (i == 0 || i == middle || (idlest && i + EXTREMES == t->workgroups))
      printf("  %s: %.1f us of work\n", i == 0 ? "busiest" : i == middle ? "in the middle" : "waited most", us(worked(sorted[i])));
    print_workgroup(t, sorted[i]);
  }
  free(sorted);
}

static void print_ends(const struct timing *t) {
  const struct timing_workgroup *first = t->workgroup, *last = t->workgroup;
  for (uint32_t i = 1; i < t->workgroups; i++) {
    if (t->workgroup[i].ran.end < first->ran.end) first = &t->workgroup[i];
    if (t->workgroup[i].ran.end > last->ran.end) last = &t->workgroup[i];
  }
  printf("  %u workgroups: %u ends first, at %.2f us, %u last, at %.2f us\n", t->workgroups, first->ran.workgroup,
      us(first->ran.end - t->begin), last->ran.workgroup, us(last->ran.end - t->begin));
}

void timing_print(const struct timing *t, bool all) {
  printf("  timing: %.2f us of model time, with a latency for memory; waits in microseconds, summed over waves\n", us(t->end - t->begin));
  print_stages(t);
  print_ends(t);
  printf("  %4s %3s %6s %6s ", "wg", "xcd", "begin", "end");
  print_heads();
  if (!all) print_extremes(t);
  for (uint32_t i = 0; all && i < t->workgroups; i++) print_workgroup(t, &t->workgroup[i]);
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
