/* SPDX-License-Identifier: Apache-2.0 */
/* Runs frontrun on each code object of a bundle, several at once. */
#ifndef FRONT_VERIFY_H
#define FRONT_VERIFY_H

#include "frontgen.h"
#include "text.h"

enum { VERIFY_MESSAGE_MAX = 600 };

struct verify_case {
  const char *name, *arch; /* the caller's */
  int code;                /* frontrun's exit code, or 128 + signal; FRONTGEN_ENVIRONMENT: 0 without a verdict */
  double seconds;
  char message[VERIFY_MESSAGE_MAX]; /* its line on standard error; "" if good */
};

/* Where frontrun is: $FRONTGEN_FRONTRUN, else beside this program or its folder. False, with what was looked at in `path`. */
bool verify_find(char path[4096]);

/* Runs all of them on the emulator, `jobs` at once (0: one a CPU), with a progress line on standard error. `seconds`: a launch's limit, 0:
   frontrun's. The hash of an object is checked by the process that runs it. FRONTGEN_ENVIRONMENT: frontrun cannot be run. */
enum frontgen_status verify_run(const char *frontrun, const char *bundle, struct verify_case *cases, size_t count, uint32_t jobs,
    uint32_t seconds, char error[FRONTGEN_ERROR_MAX]);

/* Ends what runs. Async-signal-safe. */
void verify_interrupt(void);

/* The cases as a JUnit report. */
void verify_junit(const char *bundle, const struct verify_case *cases, size_t count, struct text *out);

#endif
