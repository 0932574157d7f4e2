/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels through clang, llc and lld to the emulator. A step that fails fails the running test. With CORPUS_KEEP=DIRECTORY in the
   environment the code objects stay there. One thread. */
#ifndef FRONT_TESTS_CORPUS_BUILD_H
#define FRONT_TESTS_CORPUS_BUILD_H

#include <stdbool.h>

#include "emu_support.h"

extern const char *corpus_cpu, *corpus_level; /* "gfx950", "2" */

/* GPU and LEVEL from the command line. Without them it says how `program` is called, and what `more` it takes: false. */
bool corpus_arguments(int argc, char **argv, const char *program, const char *more);

void corpus_open(void);
int corpus_tear_down(void **state); /* a group's teardown */

/* tests/corpus/FILE.c by clang; IR by llc alone, NAME being the code object's. Their kernels can be found from then on. */
void corpus_load_c(const char *file);
void corpus_load_ir(const char *name, const char *ir);

/* False: there is none. */
bool corpus_kernel_named(const char *name, struct emu_kernel *k);

#endif
