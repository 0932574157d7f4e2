/* SPDX-License-Identifier: Apache-2.0 */
/* What a code object holds, and whether it can run on a GPU at all. No HSA, no HIP. */
#ifndef FRONT_INSPECT_H
#define FRONT_INSPECT_H

#include "layer.h"

/* Checks target, note, key and kernel of an image and describes it. `isa`: the GPU's, with its features ("gfx950:sramecc+:xnack-", also
   behind "amdgcn-amd-amdhsa--"). `key`: as in front_kernel_load(). Borrows nothing. Errors: CODE_OBJECT, ISA, NOT_FOUND, ARGUMENT. */
enum front_status inspect_object(
    const void *image, size_t bytes, const char *key, const char *isa, struct layer *layer, struct front_kernel_info *info);

/* The canonical name and the target's processor ("gfx950") that an image's note gives. Errors: CODE_OBJECT. */
enum front_status inspect_name(const void *image, size_t bytes, char name[LAYER_NAME_MAX], char arch[32]);

#endif
