/* SPDX-License-Identifier: Apache-2.0 */
/* Host threads that share out the indices of a loop. */
#ifndef EMULATOR_WORKERS_H
#define EMULATOR_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

struct workers;

/* `threads` in all, the caller of workers_run included. NULL: no thread or memory. */
struct workers *workers_create(uint32_t threads);
void workers_destroy(struct workers *w);
uint32_t workers_threads(const struct workers *w);

/* fn(context, i) for every i < count, each once, in any order on any thread; returns when all are done. One caller at a time. */
void workers_run(struct workers *w, void (*fn)(void *context, uint32_t i), void *context, uint32_t count);

#endif
