/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel driver's device file: HSA's own status does not say what is wrong with it. */
#ifndef FRONT_KFD_H
#define FRONT_KFD_H

#include <stddef.h>

/* A sentence on whether this process may open /dev/kfd, and what to do if not. Facts only. */
void kfd_describe(char *text, size_t bytes);

#endif
