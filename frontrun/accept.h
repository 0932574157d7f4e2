/* SPDX-License-Identifier: Apache-2.0 */
/* frontrun --accept: what the design takes for granted of the hardware, a micro-test a fact, and every kernel of a bundle. */
#ifndef FRONT_ACCEPT_H
#define FRONT_ACCEPT_H

#include "accept_judge.h"
#include "options.h"

/* Runs the micro-test on the session's kind of device. The code object has a kernel for each. */
enum run_code accept_fact_run(const struct run_options *options, const void *object, size_t bytes, unsigned fact, struct accept_fact *found,
    bool *hardware, struct front_device_info *device, char error[RUN_ERROR_MAX]);

/* All of it: prints the report, writes it as JSON to options->report. The exit code; `error` is the first fault's line. */
enum run_code accept_run(const struct run_options *options, char error[RUN_ERROR_MAX]);

#endif
