/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of programs, compiled for the GPU and for this machine, and run. A failure of a tool fails the running test. */
#ifndef CONFORMANCE_BOTH_SIDES_H
#define CONFORMANCE_BOTH_SIDES_H

#include "host_model.h"

struct compiled; /* a module, loaded on both */

struct target {
  enum print_target gpu;
  int level;  /* -O */
  bool calls; /* kernels call their functions */
};

/* Opens the emulator as that GPU; at the end device_close(). */
void device_open(enum print_target gpu);
void device_close(void);

/* Compiles, links, loads. Null: the GPU's compiler failed, its words are in `error` (malloc'd). */
struct compiled *compile_programs(const struct program *const program[], uint32_t count, const struct target *t, char **error);
void compiled_free(struct compiled *c);

/* After a fault: the emulator anew, with the module that was compiled last. */
void compiled_reopen(struct compiled *c, uint32_t count, enum print_target gpu);

/* Both sides of program `index` of the module, for GROUPS * LANES lanes: records RECORD_BYTES apart. False: the emulator stopped with a
   fault, device_report() says why. */
bool run_both(struct compiled *c, uint32_t index, const struct program *p, uint8_t *host, uint8_t *gpu);
const char *device_report(void);

/* Where the records first differ (NaNs are all alike): the output, and *lane; -1: nowhere. */
int first_difference(const struct program *p, const uint8_t *host, const uint8_t *gpu, uint32_t *lane);

#endif
