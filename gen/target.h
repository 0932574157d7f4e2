/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between GPUs, one struct each. */
#ifndef FRONT_TARGET_H
#define FRONT_TARGET_H

#include <stdint.h>

struct gemv;

struct target {
  const char *name; /* "gfx950", as -mcpu and in file names */
  uint32_t tile;    /* tokens a GEMV pass takes */
  float fp8_max;
  uint32_t lds_bytes;           /* of a CU */
  uint32_t vgpr_budget;         /* VGPRs and AGPRs together, a wave */
  const struct gemv *gemv;      /* the inner product */
  const char *const *opt_flags; /* null-terminated; hashed into the note */
  const char *const *llc_flags;
  const char *const *lld_flags;
};

extern const struct target target_gfx950;

/* The target of that name, or null. */
const struct target *target_by_name(const char *name);

#endif
