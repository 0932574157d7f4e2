/* SPDX-License-Identifier: Apache-2.0 */
/* Where a launch's instructions, bytes and model time go, by region of the code and by workgroup, with the times that memory takes. A
   workgroup without a profile never comes here. */
#ifndef EMULATOR_PROFILE_H
#define EMULATOR_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hsa_emu.h"
#include "quantum.h"
#include "wave.h"

struct loaded_kernel;

/* Model cycles until a result is there, and bytes of a wave's access that move in one. Round numbers of the order that is published for
   CDNA3; no wave gets in another's way. */
enum { LATENCY_VMEM = 800, LATENCY_SMEM = 200, LATENCY_LDS = 64, PROFILE_BYTES_A_CYCLE = 64 };

/* A counter that s_waitcnt waits for: when the accesses in flight will be done. They end in the order of their issue. */
struct in_flight {
  uint64_t done[64];
  uint32_t first, count;
  uint64_t last;
};

struct profile_wave {
  struct in_flight vm, lgkm;
  uint64_t left;  /* its clock when it stopped */
  uint32_t place; /* ... and the region that it stopped in */
  uint8_t stop;   /* enum wave_stop */
};

/* One workgroup of a launch. */
struct profile_group {
  uint32_t workgroup, xcc, regions;
  const uint8_t *region; /* an instruction: the profile's */
  uint64_t begin, end;   /* model cycles */
  struct hsa_emu_region *figures;
  struct hsa_emu_span *span; /* of wave 0; the last one of kind HSA_EMU_IN_REGION may be open */
  size_t spans, room, open;
  bool short_of_memory;
  struct profile_wave wave[GROUP_WAVES_MAX];
};

/* The device's: which kernel is looked at, and what its last launch did. Not thread safe: under the device's run lock. */
struct profile {
  uint64_t object; /* the kernel's; 0: none */
  uint8_t *region; /* an instruction of its code object */
  size_t count;
  uint32_t regions;
  struct profile_group **group; /* by workgroup, of the last launch of it */
  uint32_t groups;
};

/* False: no host memory. */
bool profile_set(struct profile *p, uint64_t object, const uint8_t *region, size_t count, uint32_t regions);
void profile_clear(struct profile *p);

/* A launch begins: whether it is to be profiled. Drops what is known of the last one. */
bool profile_launch(struct profile *p, const struct loaded_kernel *kernel, uint32_t workgroups);

/* A workgroup begins and ends. NULL: no host memory; it then runs unseen. */
struct profile_group *profile_begin(struct profile *p, uint32_t workgroup, uint32_t xcc);
void profile_end(struct profile *p, struct profile_group *g);

/* wave_run(), looked at: waits take as long as what they wait for. */
enum wave_stop profile_run(struct profile_group *g, struct wave *w, uint64_t budget);

#endif
