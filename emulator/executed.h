/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of the instruction tables have been executed: FRONT_EMU_EXECUTED=FILE appends a line "table row" for each to FILE when its
   code object is unloaded. Without it nothing is counted and nothing costs. */
#ifndef EMULATOR_EXECUTED_H
#define EMULATOR_EXECUTED_H

#include "decode.h"

/* A decoded program is about to run: from now on its instructions leave a mark each. */
void executed_watch(struct program *program);
/* It is about to be freed. */
void executed_report(const struct program *program);

#endif
