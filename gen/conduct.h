/* SPDX-License-Identifier: Apache-2.0 */
/* What a program of ours owes its user whatever it does: no file under a standard stream's number, nothing left behind when it is
   interrupted, complaints of one line. For main(); a library calls none of it. */
#ifndef FRONT_CONDUCT_H
#define FRONT_CONDUCT_H

#include <stdbool.h>

/* Once, first: keeps closed standard streams from becoming files that we open, and on SIGINT, SIGTERM or SIGHUP (unless ignored) calls
   frontgen_interrupt() before the program dies of it. A file size limit becomes a failed write. False: there is no /dev/null. */
bool conduct_begin(void);

/* What else to do then: async-signal-safe. */
void conduct_on_interrupt(void (*end)(void));

/* "program: text" and a newline on standard error; control characters in the text, from a file's name perhaps, become "?". */
void conduct_complain(const char *program, const char *text);

/* The word that argp stopped at, `next` being its state's at ARGP_KEY_ERROR: an option that is unknown or lacks its value. */
const char *conduct_bad_option(int argc, char **argv, int next);

#endif
