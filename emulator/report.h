/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows, and what reports say about waves. */
#ifndef EMULATOR_REPORT_H
#define EMULATOR_REPORT_H

#include <stddef.h>
#include <stdint.h>

struct slot;
struct loaded_kernel;

/* Zero is an empty report. Text that does not fit the host's memory is dropped. */
struct report {
  char *text; /* null, or 0-terminated */
  size_t length, capacity;
};

void report_add(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_clear(struct report *r); /* frees it */

/* Copies as hsa_emu_report() promises. */
size_t report_copy(const struct report *r, char *out, size_t size);

/* Where every wave of these workgroups stands, one line a place: instruction, address, state, workgroups and waves. */
void report_waves(struct report *r, const struct loaded_kernel *kernel, struct slot *const *live, uint32_t count);

#endif
