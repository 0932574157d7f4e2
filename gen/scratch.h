/* SPDX-License-Identifier: Apache-2.0 */
/* Where scratch.def's regions lie, for a number of tokens and a schedule. Header-only: every part that needs a number includes it. */
#ifndef FRONT_SCRATCH_H
#define FRONT_SCRATCH_H

#include "geometry.h"

enum scratch_region {
#define REGION(name, bytes) SCRATCH_##name,
#include "scratch.def"
#undef REGION
  SCRATCH_REGIONS
};

struct scratch_layout {
  struct {
    const char *name;
    uint32_t offset, bytes; /* bytes as used, without the padding to 256 */
  } region[SCRATCH_REGIONS];
  uint32_t bytes; /* of the whole scratch */
};

/* Pairs between two copies of a flag region that has `pairs` flags. */
static inline uint32_t flag_copy_stride(uint32_t pairs) { return round_up_u32(pairs, FLAG_LINE_PAIRS); }

static inline struct scratch_layout scratch_layout(uint32_t tokens, int tuned) {
  struct scratch_layout layout = {0};
  uint32_t at = 0, i = 0;
#define S                tokens
#define COPIES_OF(pairs) (tuned ? COPIES * flag_copy_stride(pairs) : (pairs))
#define REGION(name_, bytes_)                                                                                                              \
  layout.region[i].name = #name_;                                                                                                          \
  layout.region[i].offset = at;                                                                                                            \
  layout.region[i].bytes = (bytes_);                                                                                                       \
  at += round_up_u32(layout.region[i++].bytes, 256);
#include "scratch.def"
#undef REGION
#undef COPIES_OF
#undef S
  layout.bytes = at;
  return layout;
}

#endif
