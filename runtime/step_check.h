/* SPDX-License-Identifier: Apache-2.0 */
/* Debug mode: the inputs that differ from step to step. */
#ifndef FRONT_STEP_CHECK_H
#define FRONT_STEP_CHECK_H

#include "instance.h"

/* Looks at the step that `options` has host copies of (null: none), the device's memory for those it has not. ARGUMENT names the input and
   its row; HSA if the device's memory cannot be copied. */
enum front_status step_check(const struct binding *binding, const struct front_launch_options *options);

#endif
