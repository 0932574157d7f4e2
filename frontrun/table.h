/* SPDX-License-Identifier: Apache-2.0 */
/* What frontrun prints: for people, or as JSON. Both from the same structs. */
#ifndef FRONT_RUN_TABLE_H
#define FRONT_RUN_TABLE_H

#include "object.h"
#include "strict_log.h"
#include "timing.h"

/* One launch and its judgement. */
struct run_result {
  uint64_t seed, schedule;
  struct launch launch;
  struct compare_result compare;
  char remarks[512]; /* the emulator's */
  size_t findings;   /* strict mode's */
  bool timed;
  struct timing timing;
};

/* The head of the tables: what runs where. */
void table_head(const struct run_options *options, const struct run_object *object, const struct session *session);

/* A launch: stages, figures, traffic. */
/* `number`: of the launch in the run. */
void table_launch(const struct run_options *options, uint32_t number, const struct run_result *result);

/* JSON is collected launch by launch and printed at the end. */
struct report;
struct report *report_new(const struct run_options *options, const struct plan *plan, const struct session *session);
void report_launch(struct report *report, const struct run_result *result);
/* Prints, and frees. `error` null: none. */
void report_print(struct report *report, enum run_code code, const char *error, const char *fault_report, const struct strict_log *strict);

#endif
