/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of bundles share: one bundle of two kernels that no test changes, copies of it, scripts that stand for tools. */
#ifndef FRONT_BUNDLE_RIG_H
#define FRONT_BUNDLE_RIG_H

#include <sys/types.h>

#include "support.h"

#define FRONTGEN      built_path("gen/frontgen")
#define FRONTRUN      built_path("frontrun/frontrun")
#define PATTERN       "tokens=1,tp=8,ratio=0|1"
#define ONE           "front_s1_tp8_r0_w128_t0"
#define OTHER         "front_s1_tp8_r1_w128_t0"
#define FILE_OF(name) name ".gfx950.hsaco"

extern const char *whole; /* the bundle of both keys */

/* A group's setup: makes it. */
int make_whole(void **state);

/* frontgen bundle PATTERN -o folder, with one change of the environment (or null) and up to three more arguments. */
struct outcome bundle(const char *pattern, const char *folder, const char *change, const char *const more[3]);

/* The same, which must be good. */
void make(const char *pattern, const char *folder);

/* A part of the work folder beside a bundle. Static storage, until the next call. */
const char *work_of(const char *folder, const char *part);

void assert_same(const char *a, const char *b);

/* A copy of a bundle, work folder and all, with times kept. Static storage as path_in()'s. */
const char *copy_of(const char *folder);

/* An executable script as a tool: "VARIABLE=path". Static storage, until the next call. */
const char *script(const char *variable, const char *text);

/* Starts a program, silent, with one more setting in its environment. */
pid_t start(const char *const argv[], const char *setting);

/* Ended within ten seconds, if perhaps not yet waited for by whoever inherited it. */
void assert_gone(pid_t pid);

#endif
