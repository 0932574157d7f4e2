/* SPDX-License-Identifier: Apache-2.0 */
/* What strict mode has found: one entry for each kind and pair of instructions, with its text. The structs are hsa_emu.h's. */
#ifndef EMULATOR_FINDING_H
#define EMULATOR_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hsa_emu.h"

enum { FINDINGS_MAX = 256, LANE_NONE = UINT32_MAX };

struct found {
  struct hsa_emu_finding finding;
  const void *kernel; /* whose instructions they are: a part of what makes two findings the same */
  char *text;         /* null if memory was short */
};

/* Zero is an empty list. */
struct findings {
  struct found *list;
  uint32_t count;
};

/* Counts a finding; true: it is new here, and its text is to be set (of the last entry). When the list is full nothing is kept. */
bool findings_add(struct findings *f, const struct hsa_emu_finding *finding, const void *kernel);
void findings_set_text(struct findings *f, const char *text);

/* Adds `from`'s to `to`, and empties `from`. */
void findings_merge(struct findings *to, struct findings *from);
void findings_clear(struct findings *f); /* frees everything */

/* "stale load": how a kind begins its text. */
const char *finding_name(enum hsa_emu_finding_kind kind);

#endif
