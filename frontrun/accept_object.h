/* SPDX-License-Identifier: Apache-2.0 */
/* The micro-kernels' code object, made of accept_kernels.ll by the build. */
#ifndef FRONT_ACCEPT_OBJECT_H
#define FRONT_ACCEPT_OBJECT_H

#include <stddef.h>

extern const unsigned char accept_object[];
extern const size_t accept_object_bytes;

#endif
