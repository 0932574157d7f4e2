/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for the process's log callback. */
#ifndef FRONT_LOG_H
#define FRONT_LOG_H

/* Nothing without a callback. Never on the path of a launch that succeeds. */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

#endif
