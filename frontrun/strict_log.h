/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a whole run: each once, under the schedule that showed it first. */
#ifndef FRONT_STRICT_LOG_H
#define FRONT_STRICT_LOG_H

#include <jansson.h>

#include "strict_launch.h"

struct strict_entry {
  struct strict_finding finding; /* the text is the log's */
  uint64_t schedule;             /* of the first launch with it */
  uint32_t launch, launches;     /* the first, from 0; how many had it */
};

/* Zero is an empty log. */
struct strict_log {
  struct strict_entry *entry;
  size_t entries, room;
  uint32_t launches, bad; /* launches added, and those with a finding */
};

/* A launch's findings; those of kind and instructions that the log has are counted only. False: no memory. */
bool strict_log_add(struct strict_log *log, const struct strict_findings *findings, uint64_t schedule, uint32_t launch);
void strict_log_free(struct strict_log *log);

/* One line an entry from `first` on. */
void strict_log_print(const struct strict_log *log, size_t first);
/* {"launches", "bad_launches", "findings": [{"kind", "text", "schedule", ...}]}. Null: no memory. */
json_t *strict_log_describe(const struct strict_log *log);

#endif
