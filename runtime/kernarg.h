/* SPDX-License-Identifier: Apache-2.0 */
/* The kernarg block: its layout against front_args.def, and what a binding may hold. */
#ifndef FRONT_KERNARG_H
#define FRONT_KERNARG_H

#include "layer.h"

/* Refuses, by name, an argument that the kernel of this layer needs and that is null, misaligned or impossible. ARGUMENT. */
enum front_status kernarg_check(const struct layer *layer, const struct front_args *args);

#endif
