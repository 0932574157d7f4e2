/* SPDX-License-Identifier: Apache-2.0 */
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>

static enum run_code fail(char *error, const char *what) {
  snprintf(error, RUN_ERROR_MAX, "%s", what);
  return RUN_USAGE;
}

static enum run_code start(struct session *session, const struct plan *plan, const void *object, size_t bytes,
    struct hsa_emu_instruction *instruction, uint8_t *stage, size_t count, char *error) {
  uint64_t kernel;
  if (!instruction || !stage) {
    (void)fail(error, "no memory for the profile");
    return RUN_ENVIRONMENT;
  }
  (void)session->emulator.code(session->kernel_info.symbol, &kernel, instruction, count);
  if (!timing_stages(plan, object, bytes, instruction, count, stage, error)) return RUN_USAGE;
  if (session->emulator.profile(kernel, stage, count, TIMING_STAGES) == HSA_STATUS_SUCCESS) return RUN_GOOD;
  (void)fail(error, "the emulator cannot profile this kernel: it is short of memory");
  return RUN_ENVIRONMENT;
}

enum run_code timing_start(struct session *session, const struct plan *plan, const void *object, size_t bytes, char error[RUN_ERROR_MAX]) {
  uint64_t kernel;
  if (!session->emulator.there) return fail(error, "--timing and --trace show the emulator's model time: use --device emulator");
  size_t count = session->emulator.code(session->kernel_info.symbol, &kernel, NULL, 0);
  if (!count) return fail(error, "the emulator does not know the kernel that it has loaded");
  struct hsa_emu_instruction *instruction = calloc(count, sizeof *instruction);
  uint8_t *stage = calloc(count, 1);
  enum run_code code = start(session, plan, object, bytes, instruction, stage, count, error);
  free(instruction);
  free(stage);
  return code;
}

static bool take_one(const struct emulator_link *emulator, uint32_t i, struct timing_workgroup *w) {
  if (emulator->profile_workgroup(i, &w->ran, w->stage, NULL, 0) != HSA_STATUS_SUCCESS) return false;
  w->span = calloc(w->ran.spans + 1, sizeof *w->span);
  return w->span && emulator->profile_workgroup(i, &w->ran, NULL, w->span, w->ran.spans) == HSA_STATUS_SUCCESS;
}

bool timing_take(const struct emulator_link *emulator, struct timing *t) {
  struct hsa_emu_profiled ran;
  *t = (struct timing){0};
  uint32_t count = 0;
  while (emulator->profile_workgroup(count, &ran, NULL, NULL, 0) == HSA_STATUS_SUCCESS) count++;
  t->workgroup = count ? calloc(count, sizeof *t->workgroup) : NULL;
  bool good = t->workgroup != NULL;
  for (uint32_t i = 0; i < count && good; i++) {
    good = take_one(emulator, i, &t->workgroup[i]);
    t->workgroups = i + 1;
    if (i == 0 || t->workgroup[i].ran.begin < t->begin) t->begin = t->workgroup[i].ran.begin;
    if (t->workgroup[i].ran.end > t->end) t->end = t->workgroup[i].ran.end;
  }
  if (!good) timing_free(t);
  return good;
}

void timing_free(struct timing *t) {
  for (uint32_t i = 0; i < t->workgroups; i++) free(t->workgroup[i].span);
  free(t->workgroup);
  *t = (struct timing){0};
}

static void add(struct hsa_emu_region *to, const struct hsa_emu_region *r) {
  to->instructions += r->instructions;
  for (int i = 0; i < HSA_EMU_CLASSES; i++) to->by_class[i] += r->by_class[i];
  to->load_bytes += r->load_bytes;
  to->store_bytes += r->store_bytes;
  to->cycles += r->cycles;
  for (int i = 0; i < HSA_EMU_STALLS; i++) to->stall[i] += r->stall[i];
}

struct hsa_emu_region timing_sum(const struct hsa_emu_region *stage) {
  struct hsa_emu_region sum = {0};
  for (int i = 0; i < TIMING_STAGES; i++) add(&sum, &stage[i]);
  return sum;
}

struct hsa_emu_region timing_stage_sum(const struct timing *t, enum timing_stage stage) {
  struct hsa_emu_region sum = {0};
  for (uint32_t i = 0; i < t->workgroups; i++) add(&sum, &t->workgroup[i].stage[stage]);
  return sum;
}
