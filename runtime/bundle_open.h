/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects by key, from a folder, a table or an image. */
#ifndef FRONT_BUNDLE_OPEN_H
#define FRONT_BUNDLE_OPEN_H

#include "front.h"

/* The processor of an ISA's name: "gfx950" of "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-". */
void bundle_arch(const char *isa, char arch[32]);

/* As front_bundle_read(), but only the hash is checked. `name`: the kernel's canonical name. */
enum front_status bundle_take(front_bundle bundle, const char *key, const char *arch, char name[96], void **image, size_t *bytes);

#endif
