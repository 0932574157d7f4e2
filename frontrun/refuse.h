/* SPDX-License-Identifier: Apache-2.0 */
/* How the readers of files say no. */
#ifndef FRONT_REFUSE_H
#define FRONT_REFUSE_H

#include <stdbool.h>

enum { REFUSE_ERROR_MAX = 320 }; /* what inputs, tensors and their files have room for */

/* Writes the sentence to `error`, which has REFUSE_ERROR_MAX bytes. Always false: `return refuse(error, ...)`. */
bool refuse(char *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
