/* SPDX-License-Identifier: Apache-2.0 */
/* front.h compiles alone, as C99 and as C++: see meson.build. */
#include "front.h"

int header_alone(void);
int header_alone(void) { return (int)sizeof(struct front_args) == 216 ? 0 : 1; }
