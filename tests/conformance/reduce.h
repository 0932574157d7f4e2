/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a program down while it still fails. */
#ifndef CONFORMANCE_REDUCE_H
#define CONFORMANCE_REDUCE_H

#include "both_sides.h"

/* Whether the program still fails. */
typedef bool still_fails(const struct program *p, void *data);

/* Outputs are dropped, operations replaced by constants or by an operand of their type, as long as `fails` says yes; at most `tries`
   calls of it. */
void reduce(struct program *p, still_fails *fails, void *data, uint32_t tries);

#endif
