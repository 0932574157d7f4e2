/* SPDX-License-Identifier: Apache-2.0 */
/* Runs ninja in the work folder. */
#ifndef FRONT_BUNDLE_RUNNER_H
#define FRONT_BUNDLE_RUNNER_H

#include "bundle_parts.h"

/* Runs $FRONTGEN_NINJA, else ninja, to its end, its progress on standard error; then says which key failed, and why. */
enum frontgen_status bundle_runner(const struct bundle_options *o, const struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]);

/* Ends ninja, which ends what it runs. Async-signal-safe. */
void bundle_interrupt(void);

#endif
