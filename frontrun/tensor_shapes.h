/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes and dtypes of the arguments, from front_args.def and DESIGN section 3. */
#ifndef FRONT_TENSOR_SHAPES_H
#define FRONT_TENSOR_SHAPES_H

#include "inputs.h"

#define ANY_LENGTH UINT64_MAX /* the file says how long */

struct argument_shape {
  const char *name;
  enum tensor_dtype dtype;
  bool scalar; /* shape [1]; also the epoch */
  bool output; /* written by the launch; what was there before does not matter */
};
extern const struct argument_shape argument_shapes[FRONT_ARGS];

/* The argument of that name, or FRONT_ARGS. */
int argument_by_name(const char *name);

/* The shape of an array argument; returns its rank (1 or 2). Strides and counts that no key fixes are ANY_LENGTH until they are known. */
uint32_t argument_shape(const struct inputs *in, enum front_arg arg, uint64_t shape[2]);

#endif
