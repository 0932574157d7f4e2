/* SPDX-License-Identifier: Apache-2.0 */
/* A program on this machine: a workgroup's lanes one after another, with our model of what passes between them. */
#ifndef CONFORMANCE_HOST_MODEL_H
#define CONFORMANCE_HOST_MODEL_H

#include "program.h"

typedef void host_function(const uint8_t *in, uint8_t *record, uint32_t uniform);

/* fp8 is FNUZ (gfx942), or OCP. For the model functions that compiled code calls. */
extern bool model_fnuz;

/* Runs one workgroup: in and records have LANES entries, INPUT_BYTES and RECORD_BYTES apart. One thread at a time. */
void host_run(const struct program *p, host_function *f, const uint8_t *in, uint8_t *records, uint32_t uniform);

#endif
