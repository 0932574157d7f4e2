/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's schedule as words, written from DESIGN sections 5 to 7 by hand, and the same of emitted IR. A word is
     x       a load of argument or region x        x=   a store           x@   an atomic     *x=   a store at a 64-bit address
     ^       behind it: device scope               Q    a group's code    M    an MFMA
     |       barrier          w   wait for vmcnt 0     z   sleep          ( )  a branch      < >   a loop
   N*[ ... ] stands for N times the words within. Branches with nothing in them are not listed. */
#ifndef FRONT_TESTS_SCHEDULE_H
#define FRONT_TESTS_SCHEDULE_H

#include "ir_reader.h"

struct schedule_key {
  uint32_t tokens, tp, ratio, window;
  bool tuned, guard;
};

enum { SCHEDULE_MAX = 1 << 16 };

/* What the design says, for any key; static storage, until the next call. */
const char *schedule_wanted(const struct schedule_key *key);

/* What the IR does; static storage, until the next call. */
const char *schedule_found(const struct ir_reader *r);

/* `words` with its N*[ ] written out; static storage, until the next call. */
const char *schedule_expanded(const char *words);

/* Fails the running test at the first word that differs, with the words around it. */
void assert_same_schedule(const char *name, const char *wanted, const char *found);

#endif
