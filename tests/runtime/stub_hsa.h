/* SPDX-License-Identifier: Apache-2.0 */
/* A pretended HSA library: no GPU, no execution; it keeps what it was asked to do and fails on request. Not for threads. */
#ifndef FRONT_TESTS_STUB_HSA_H
#define FRONT_TESTS_STUB_HSA_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

enum stub_behaviour {
  STUB_COMPLETES,    /* a launch ends at once */
  STUB_HANGS,        /* it never ends, until stub_finish() */
  STUB_QUEUE_ERROR,  /* the queue's callback is called instead */
  STUB_MEMORY_FAULT, /* the process's memory fault handler is called instead */
};

enum { STUB_PACKETS = 256 };

struct stub_state {
  /* What to pretend. */
  uint32_t gpus, compute_units;
  const char *isa;
  enum stub_behaviour behaviour;
  bool no_driver;           /* hsa_init says OUT_OF_RESOURCES */
  uint32_t gives_up;        /* the n-th packet from now leaves a guard record; 0: none */
  bool no_host_access;      /* the host cannot reach device memory */
  uint32_t fail_allocation; /* the n-th pool allocation from now fails; 0: none */
  /* What was asked. */
  hsa_kernel_dispatch_packet_t packet[STUB_PACKETS];
  uint32_t packets;
  int inits, allocations, queues, signals, executables;
};

/* Looked up with dlsym. */
struct stub_state *stub_state(void);
void stub_reset(void);
void stub_finish(void); /* ends the launches that hang */

#endif
