/* SPDX-License-Identifier: Apache-2.0 */
/* A launch of CORPUS_GROUPS workgroups of CORPUS_ITEMS work-items on this machine. One thread. */
#ifndef FRONT_TESTS_COROUTINES_H
#define FRONT_TESTS_COROUTINES_H

#include "corpus.h"

typedef void corpus_kernel(const u32 *in, u32 *out, u32 n);

/* in and out: CORPUS_WORDS each. Every work-item reaches the same barriers. */
void run_on_host(corpus_kernel *kernel, const u32 *in, u32 *out, u32 n);

#endif
