/* SPDX-License-Identifier: Apache-2.0 */
/* Debug mode: the inputs that differ from step to step. */
#ifndef FRONT_STEP_CHECK_H
#define FRONT_STEP_CHECK_H

#include "instance.h"
#include "kernarg.h"

/* Looks at the step that `options` has host copies of (null: none), the device's memory for those it has not. ARGUMENT names the input and
   its row; HSA if the device's memory cannot be copied. */
enum front_status step_check(const struct binding *binding, const struct front_launch_options *options);

/* A step's inputs on the host, an element a row; swa_lens and t2r only of keys that use them. */
struct step_values {
  const int64_t *pos, *slot;
  const int32_t *swa_lens, *t2r;
};

/* The same of host copies alone. `behind` says how long the device's memory is. ARGUMENT. */
enum front_status step_check_values(const struct layer *layer, const struct front_args *args, const struct step_values *values,
    kernarg_memory *behind, const void *context);

#endif
