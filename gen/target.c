/* SPDX-License-Identifier: Apache-2.0 */
/* The targets. The flags are the pipeline of a code object: they go into its note's hash. */
#include "target.h"

#include "gemv.h"

#include <string.h>

/* What -O3 does that matters for code that is already one straight function: with it opt takes 2.5 times as long, and the kernel has 1 to 2
   % more instructions, since it merges fewer LDS loads. No pass is here that copies or moves a loop: rotation would peel a poll's first
   round and unrolling would copy it, so that its loads stood there twice. */
static const char *const opt_flags[] = {"-passes=always-inline,function(early-cse,instcombine<no-verify-fixpoint;max-iterations=1>,gvn,"
                                        "instcombine<no-verify-fixpoint;max-iterations=1>,infer-alignment)",
    NULL};
/* Debug variables: there are none, and the pass that follows them takes 15 % of llc's time. The scalar IR passes take 20 % and leave the
   number of instructions as it is. Uniform regions need no structure: a poll's
   loop is two branches instead of five. */
static const char *const gfx950_llc_flags[] = {"-experimental-debug-variable-locations=0", "-structurizecfg-skip-uniform-regions=1",
    "-amdgpu-scalar-ir-passes=0", "-O3", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-disable-machine-sink", "-filetype=obj", NULL};
static const char *const lld_flags[] = {"-shared", "--strip-debug", NULL};

const struct target target_gfx950 = {
    .name = "gfx950",
    .tile = 16,
    .fp8_max = 448.0f,
    .lds_bytes = 163840,
    .vgpr_budget = 256,
    .gemv = &gemv_gfx950,
    .opt_flags = opt_flags,
    .llc_flags = gfx950_llc_flags,
    .lld_flags = lld_flags,
};

const struct target *target_by_name(const char *name) { return strcmp(name, target_gfx950.name) == 0 ? &target_gfx950 : NULL; }
