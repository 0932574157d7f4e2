/* SPDX-License-Identifier: Apache-2.0 */
/* Option structs that may grow: a program and this library need not know the same fields. */
#ifndef FRONT_EXTENSIBLE_H
#define FRONT_EXTENSIBLE_H

#include "front.h"

/* Copies a caller's options, which begin with their size, into `to`, whose `known` bytes are zero otherwise. `from` may be null. ARGUMENT,
   beginning with the call's name: the size is not set, or a field that this library does not know is not zero. */
enum front_status options_take(void *to, size_t known, const void *from, const char *call);

#endif
