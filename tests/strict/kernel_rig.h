/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel, as generated or changed, launched in strict mode in this process. Whatever cannot be done fails the running cmocka test. */
#ifndef FRONT_TESTS_KERNEL_RIG_H
#define FRONT_TESTS_KERNEL_RIG_H

#include "ir_reader.h"
#include "session.h"
#include "strict_launch.h"

enum { RIG_INPUTS = 2, RIG_EPOCH = 70 };

/* One kernel on one scratch. Launches take its inputs in turn, so that what a launch before has left is wrong. */
struct rig {
  struct plan plan;
  struct session session;
  struct inputs in[RIG_INPUTS];
  uint32_t launches;
  bool broken; /* a launch did not end well: no more of them */
};

/* What one launch showed. */
struct shown {
  struct strict_findings findings;
  enum run_code code; /* of the launch: RUN_FAULT if a poll gave up or the kernel was stopped */
  char error[RUN_ERROR_MAX];
};

void rig_plan(const char *key, struct plan *plan);

/* The key's IR, malloc'd. */
char *rig_ir(const char *key);

/* IR -> code object, malloc'd. */
void *rig_compile(const char *key, const char *ir, size_t *bytes);

/* Opens a rig on a code object of the key. */
void rig_open(struct rig *r, const char *key, const void *object, size_t bytes);
/* ... whose polls wait so long in vain: microseconds of the model's time. */
void rig_open_within(struct rig *r, const char *key, const void *object, size_t bytes, uint32_t guard_us);
void rig_close(struct rig *r);

/* One launch under a schedule. Free with shown_free(). */
void rig_launch(struct rig *r, uint64_t schedule, struct shown *shown);
void shown_free(struct shown *shown);

#endif
