/* SPDX-License-Identifier: Apache-2.0 */
/* What `frontgen info` says: a plan, and a code object's resources, as text or JSON. */
#ifndef FRONT_INFO_H
#define FRONT_INFO_H

#include "plan.h"
#include "text.h"

/* Resources of a code object's kernel, from its descriptor and metadata. */
struct info_object {
  const char *llvm;         /* the note's LLVM version */
  const char *sha256;       /* the note's hash of IR and flags, as hex */
  uint32_t vgprs_allocated; /* to a wave, by the descriptor: more than 128 keeps a second workgroup off the CU */
  uint32_t vgprs, sgprs, agprs, vgpr_spills, sgpr_spills;
  uint32_t lds_bytes, private_bytes, kernarg_bytes, file_bytes, code_bytes;
};

/* Bytes that a launch has to move at least, each byte counted once. Scratch is written and read. Block table and pad rows not counted. */
struct info_bytes {
  uint64_t weights, inputs, outputs, scratch, total;
};
struct info_bytes info_bytes(const struct plan *plan);

/* Appends the report to `out`. object: null for a key. */
void info_print(const struct plan *plan, const struct info_object *object, bool json, struct text *out);

#endif
