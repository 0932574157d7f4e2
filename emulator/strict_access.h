/* SPDX-License-Identifier: Apache-2.0 */
/* What view.c asks strict mode to do instead of what it does itself: a view with `strict` set. */
#ifndef EMULATOR_STRICT_ACCESS_H
#define EMULATOR_STRICT_ACCESS_H

#include "memory.h"

struct inst;

/* As view_read(), view_write(). */
const void *strict_read(struct view *v, uint64_t address, uint32_t bytes, void *temp);
/* Lanes' loads that lie one behind another in a line that no one has stored to, from v->lane on: true, and they may be taken from memory.
   False: nothing is done, each needs strict_read(). */
bool strict_read_run(struct view *v, uint64_t address, uint32_t bytes);
bool strict_write(struct view *v, uint64_t address, const void *data, uint32_t bytes);
/* One lane of an atomic, whose address is good; the old value goes to a->old. */
bool strict_exchange(struct view *v, struct atomic *a, uint32_t lane);

/* A lane's access lies outside its buffer (at `address`), LDS or scratch memory (0). */
void strict_out_of_range(struct wave *w, const struct inst *in, uint32_t lane, uint64_t address, uint64_t offset, uint64_t size);

#endif
