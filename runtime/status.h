/* SPDX-License-Identifier: Apache-2.0 */
/* The last error's text, one buffer a thread. */
#ifndef FRONT_STATUS_H
#define FRONT_STATUS_H

#include "front.h"

/* Sets front_error() and returns `status`. The text is one sentence: what, why, what to do. */
__attribute__((format(printf, 2, 3))) enum front_status status_fail(enum front_status status, const char *format, ...);

/* Makes one line of a text: an untrusted name in it does not command a terminal. */
void status_line(char *text);

#endif
