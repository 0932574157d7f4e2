/* SPDX-License-Identifier: Apache-2.0 */
/* One run of frontrun on the emulator, and what its JSON says. */
#ifndef FRONT_TESTS_LAUNCH_H
#define FRONT_TESTS_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct launched {
  int code; /* exit code */
  json_t *json;
  char *error; /* stderr */
};

enum { LAUNCH_OPTIONS_MAX = 24 };

/* frontrun WHAT OPTIONS... (null-terminated, may be null) --device emulator --json, on one thread: meson runs tests side by side. */
struct launched launch(const char *what, const char *const options[]);
void launched_free(struct launched *l);

/* Fails the test unless every launch is good in every stage, no access was out of range, and each weight was fetched exactly once, each
   word of scales by the two row tiles that need it. Frees. */
void assert_good_launches(const char *name, struct launched *l, size_t launches);

/* The names of the stages that differ in launch n, in order, separated by blanks. Static storage, until the next call. */
const char *bad_stages(const struct launched *l, size_t n);

#endif
