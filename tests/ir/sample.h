/* SPDX-License-Identifier: Apache-2.0 */
/* The keys that the IR tests look at: tokens at every edge of the tiles, and all of the other fields' sample with them. */
#ifndef FRONT_TESTS_SAMPLE_H
#define FRONT_TESTS_SAMPLE_H

#include "ir_reader.h"

enum { SAMPLE_KEYS = 11 * 4 * 3 * 5 * 2 };

struct sample {
  char key[96];
  uint32_t tokens, tp, ratio, window;
  bool tuned, guard;
  struct ir_sizes sizes;
  const char *text; /* the module, text_bytes long, zero-terminated */
  size_t text_bytes;
  uint32_t number; /* of the sample, from 0 */
};

/* 7 is prime to the number of values of every field: each value and pair of values still occurs. AddressSanitizer makes a key six times as
   long: all of them are for the other builds. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EVERY_KEY EVERY_SEVENTH
#endif
#endif
#ifndef EVERY_KEY
#define EVERY_KEY 1
#endif
enum { EVERY_SEVENTH = 7 };

/* Emits every n-th of the keys and calls `check` with it. */
void for_each_sample(uint32_t every, void (*check)(const struct sample *s));

#endif
