/* SPDX-License-Identifier: Apache-2.0 */
/* Who loads which dwords of registered address ranges. While a workgroup runs it marks bits in its own log (no sharing between host
   threads); when it ends its log is merged into the ranges. */
#ifndef EMULATOR_TRAFFIC_H
#define EMULATOR_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "hsa_emu.h"
#include "memory.h"

struct traffic_chunk {
  uint8_t merged; /* logs since `recent` was zero: no count in it is greater */
  bool touched;   /* somebody has loaded there */
  bool spilled;   /* `earlier` is not all zero */
};

struct traffic_range {
  uint64_t base, bytes;
  uint32_t number;
  /* A dword: how many workgroups loaded it, as the sum of two. Most of the second's pages are never touched. */
  uint8_t *recent;
  uint32_t *earlier;
  struct traffic_chunk *chunk; /* of dwords. Those where nobody has loaded are not looked at: a cache may be huge, and sparse */
  uint64_t lane_bytes;
};

struct traffic_log;

/* All ranges. Not thread safe: the caller holds the device's run lock. */
struct traffic {
  struct traffic_range **range;
  uint32_t count;
};

enum traffic_status { TRAFFIC_GOOD, TRAFFIC_BAD_RANGE, TRAFFIC_NO_MEMORY };

/* A range in one allocation of `memory`. */
enum traffic_status traffic_add(struct traffic *t, struct memory *memory, uint64_t base, uint64_t bytes, uint32_t *number);
void traffic_clear(struct traffic *t, struct memory *memory);                 /* forgets all ranges */
void traffic_forget(struct traffic *t, struct memory *memory, uint64_t base); /* the allocation goes away: its ranges stay readable */
void traffic_reset(struct traffic *t);
bool traffic_read(const struct traffic *t, uint32_t number, struct hsa_emu_traffic *out);
bool traffic_fetches(const struct traffic *t, uint32_t number, uint64_t first, uint64_t count, uint32_t *out);

/* A workgroup's log; used by one thread at a time. */
struct traffic_log *traffic_log_create(const struct traffic *t); /* NULL: no host memory */
void traffic_log_free(struct traffic_log *log);
/* False: no host memory. */
bool traffic_note(struct traffic_log *log, const struct traffic_range *range, uint64_t addr, uint32_t bytes);
/* Adds what the workgroup did to the ranges and empties the log. */
void traffic_merge(struct traffic *t, struct traffic_log *log);

#endif
