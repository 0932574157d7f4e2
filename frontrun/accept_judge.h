/* SPDX-License-Identifier: Apache-2.0 */
/* The micro-tests' inputs, and what must come out of them. */
#ifndef FRONT_ACCEPT_JUDGE_H
#define FRONT_ACCEPT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

enum { ACCEPT_DETAIL_MAX = 240, ACCEPT_FACTS = 7, ACCEPT_OUT_BYTES = 9175040, ACCEPT_X_BYTES = 10240 };

/* What a micro-test found. */
struct accept_fact {
  const char *name;     /* "rsq" */
  const char *question; /* what it answers, for people */
  uint64_t examined, wrong;
  char detail[ACCEPT_DETAIL_MAX]; /* the figures that it measured */
  bool good;
};

/* What a micro-kernel left, and what it was given. */
struct accept_result {
  uint8_t x[ACCEPT_X_BYTES];
  uint8_t *out;                  /* ACCEPT_OUT_BYTES */
  double seconds, seconds_short; /* of the launch, and of a shorter one (the clock's) */
  bool hardware;
};

/* Fills x for the micro-kernel (its kernel has tokens = fact + 1). `round` varies it. */
void accept_fill(unsigned fact, uint32_t round, bool hardware, uint8_t x[ACCEPT_X_BYTES]);

/* Judges one launch; adds to the fact's counts. */
void accept_judge(unsigned fact, const struct accept_result *result, struct accept_fact *found);

#endif
