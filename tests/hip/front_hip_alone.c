/* SPDX-License-Identifier: Apache-2.0 */
/* front_hip.h compiles alone, as C99. */
#include "front_hip.h"

int main(void) { return FRONT_HIP_GUARD_BYTES == 32 * sizeof(uint32_t) ? 0 : 1; }
