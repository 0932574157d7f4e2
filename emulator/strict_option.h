/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the next launch is strict: what the program has set, else what the environment says. */
#ifndef EMULATOR_STRICT_OPTION_H
#define EMULATOR_STRICT_OPTION_H

#include <stdbool.h>

#include "hsa_emu.h"

enum { STRICT_ERROR_MAX = 160 };

/* Reads FRONT_EMU_STRICT, FRONT_EMU_SEED and FRONT_EMU_L2. False: one has a value that is not allowed; `error` names it. */
bool strict_from_environment(struct hsa_emu_strict *options, char error[STRICT_ERROR_MAX]);

/* Whether a program may ask for this. */
bool strict_option_good(const struct hsa_emu_strict *options);

#endif
