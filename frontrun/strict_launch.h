/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in the emulator's strict mode, and what it finds. */
#ifndef FRONT_STRICT_LAUNCH_H
#define FRONT_STRICT_LAUNCH_H

#include "emulator_link.h"

struct strict_finding {
  struct hsa_emu_finding found;
  char *text; /* one line */
};

struct strict_findings {
  struct strict_finding *finding;
  size_t count;
};

/* The next launches are strict, under this schedule, and nothing is found yet. False: not the emulator's strict mode. */
bool strict_start(const struct emulator_link *emulator, enum hsa_emu_l2 l2, uint64_t schedule);

/* What launches since strict_start() have shown. False: no memory. Free with strict_free(). */
bool strict_take(const struct emulator_link *emulator, struct strict_findings *findings);
void strict_free(struct strict_findings *findings);

/* "stale load": what kind of fault it is, in a word for JSON. */
const char *strict_kind_name(enum hsa_emu_finding_kind kind);

#endif
