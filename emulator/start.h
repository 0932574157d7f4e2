/* SPDX-License-Identifier: Apache-2.0 */
/* What a wave's registers hold when a kernel starts, from the packet and the kernel descriptor. */
#ifndef EMULATOR_START_H
#define EMULATOR_START_H

#include <stdbool.h>
#include <stdint.h>

#include "loader.h"
#include "wave.h"

struct start {
  const struct loaded_kernel *kernel;
  uint64_t kernarg, packet, queue, dispatch_id;
  uint32_t grid[3]; /* work-items */
  uint32_t size[3]; /* work-items of a workgroup */
  uint32_t lds_bytes;
  uint32_t private_bytes;       /* of a work-item */
  uint32_t agent;               /* whose compute units it takes ... */
  uint32_t cus[MODEL_XCDS_MAX]; /* ... and by XCD, how many of them it may */
  /* From start_plan(). */
  uint32_t groups[3], workgroups;
  uint32_t waves;         /* of a full workgroup */
  uint32_t vgprs, agprs;  /* allocated to a wave */
  uint32_t scratch_bytes; /* of a lane */
};

enum { START_ERROR_MAX = 256 };

/* Checks the launch and fills the rest in. False: `error` says what is wrong with the packet or not modelled. */
bool start_plan(struct start *s, char error[START_ERROR_MAX]);

/* Workgroup `index` (group->index) takes its place: id, LDS contents, waves and their registers. group->wave, lds and view are the
   caller's. Registers and LDS that the hardware leaves as they were are filled with 0xAA bytes. */
void start_workgroup(const struct start *s, struct workgroup *group);

#endif
