/* SPDX-License-Identifier: Apache-2.0 */
/* HSA_CU_MASK: the compute units that a process may use of each agent. */
#ifndef EMULATOR_CU_MASK_H
#define EMULATOR_CU_MASK_H

#include <stdint.h>

enum { CU_MASK_WORDS = 10, CU_MASK_BITS = 32 * CU_MASK_WORDS };

/* Agent `agent`'s units by the text, "agents:units" once or more, separated by ';', each a list of numbers and ranges: "0:0-31;1,2:0,4-7".
   An agent that it does not name, and every one if it is null or cannot be read, has all. */
void cu_mask_read(const char *text, uint32_t agent, uint32_t mask[CU_MASK_WORDS]);

#endif
