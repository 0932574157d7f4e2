/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator with faults: a library that has its functions, a few of them disturbed on request. */
#ifndef FRONT_TESTS_FAULTY_HSA_H
#define FRONT_TESTS_FAULTY_HSA_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

struct faulty {
  _Atomic uint32_t fail_allocation; /* the n-th pool allocation from now fails; 0: none */
  _Atomic uint32_t hide_looks;      /* so many looks at signals see a launch still running */
  bool early;                       /* a wait returns at once */
  bool queue_error;                 /* the next doorbell calls the queue's error callback instead */
  const char *isa;                  /* of the GPU; null: its own */
};

/* Looked up with dlsym. */
struct faulty *faulty_state(void);

#endif
