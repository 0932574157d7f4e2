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

/* What launches since strict_start() have shown, but for what strict_is_mark_race() says is harmless. `marks`: the byte of LDS where the
   kernel's stop marks lie. False: no memory. Free with strict_free(). */
bool strict_take(const struct emulator_link *emulator, uint32_t marks, struct strict_findings *findings);
void strict_free(struct strict_findings *findings);

/* The one race that the kernel has: a workgroup that stops, since a poll gave up, goes on to later polls, and a wave leaves its mark there
   (a byte) over the one that another still reads (all 8 bytes). docs/waits.md has the proof that all of them stop all the same. */
bool strict_is_mark_race(const struct strict_finding *finding, uint32_t marks);

/* "stale load": what kind of fault it is, in a word for JSON. */
const char *strict_kind_name(enum hsa_emu_finding_kind kind);

#endif
