/* SPDX-License-Identifier: Apache-2.0 */
/* Where a launch on the emulator spends its instructions, bytes and model time: by stage and by workgroup. */
#ifndef FRONT_TIMING_H
#define FRONT_TIMING_H

#include <jansson.h>

#include "session.h"

/* Stages as section 5 of the design orders them; start: the epoch; end: the guard's record, done, the epoch's advance. */
enum timing_stage { TIMING_START, TIMING_XQ, TIMING_KT, TIMING_WQKV, TIMING_QKV, TIMING_WQB, TIMING_END, TIMING_STAGES };

extern const char *const timing_stage_name[TIMING_STAGES];
extern const char *const timing_stall_name[HSA_EMU_STALLS];

/* The stage of each instruction. An access's is its row's in the issue order, by the event table of the object's note; other code belongs
   to the access that follows it, or, before the wq_b weights, which are loaded early, to what stands there. False with a sentence in
   `error`: an object without our note. Pure. */
bool timing_stages(const struct plan *plan, const void *object, size_t bytes, const struct hsa_emu_instruction *instruction, size_t count,
    uint8_t *stage, char error[RUN_ERROR_MAX]);

struct timing_workgroup {
  struct hsa_emu_profiled ran;
  struct hsa_emu_region stage[TIMING_STAGES];
  struct hsa_emu_span *span; /* ran.spans of them */
};

struct timing {
  struct timing_workgroup *workgroup;
  uint32_t workgroups;
  uint64_t begin, end; /* model cycles: the first workgroup's begin, the last one's end */
};

/* Has the session's launches profiled. RUN_USAGE: not the emulator, or an object without our note. */
enum run_code timing_start(struct session *session, const struct plan *plan, const void *object, size_t bytes, char error[RUN_ERROR_MAX]);

/* The last launch's. False: nothing was profiled, or no memory. Free with timing_free(). */
bool timing_take(const struct emulator_link *emulator, struct timing *t);
void timing_free(struct timing *t);

/* Sums over the stages, over the workgroups. */
struct hsa_emu_region timing_sum(const struct hsa_emu_region *stage);
struct hsa_emu_region timing_stage_sum(const struct timing *t, enum timing_stage stage);

/* Two tables: stages, then workgroups: the busiest and those that waited most, or all in their order. */
void timing_print(const struct timing *t, bool all);
/* The same and more: {"begin_us", "end_us", "stages": [...], "workgroups": [{..., "stages": [...]}]}. Null: no memory. */
json_t *timing_describe(const struct timing *t);
json_t *timing_figures(const struct hsa_emu_region *r);

/* Adds a launch's events to an array in the Trace Event Format (JSON): a process an XCD, a thread a workgroup, a complete event for each
   span of wave 0, stalls inside stages. Times are microseconds of model time since `since` (cycles). */
bool trace_add(json_t *events, const struct timing *t, uint32_t launch, uint64_t since);
/* {"traceEvents": events, ...} to a file that appears whole or not at all. RUN_ENVIRONMENT: no room or no memory. */
enum run_code trace_write(const char *path, json_t *events, char error[RUN_ERROR_MAX]);

#endif
