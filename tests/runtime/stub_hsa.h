/* SPDX-License-Identifier: Apache-2.0 */
/* A pretended HSA library: no GPU, no execution; it keeps what it was asked to do and fails on request. Its functions may be called from
   several threads; what to pretend is set while nobody calls. */
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
  STUB_MEMORY_FAULT, /* the process's memory fault handlers are called instead */
  STUB_SLOW,         /* it ends once somebody has looked at a signal some times */
  STUB_LOST,         /* it ends, and its completion signal is forgotten */
};

enum { STUB_PACKETS = 256, STUB_SLOW_LOOKS = 20 };

struct stub_state {
  /* What to pretend. */
  uint32_t gpus, compute_units;
  const char *isa;
  enum stub_behaviour behaviour;
  bool no_driver;             /* hsa_init says OUT_OF_RESOURCES */
  bool slow_init;             /* hsa_init takes 50 ms */
  uint32_t gives_up;          /* the n-th packet from now leaves a guard record; 0: none */
  bool no_host_access;        /* the host cannot reach device memory */
  uint32_t fail_allocation;   /* the n-th pool allocation from now fails; 0: none */
  _Atomic uint32_t fail_call; /* the n-th call from now that can fail does, with OUT_OF_RESOURCES; 0: none */
  uint32_t masked_units;      /* compute units of a queue's mask; 0: all */
  bool unnoted;               /* packets are not kept */
  /* What was asked. */
  hsa_kernel_dispatch_packet_t packet[STUB_PACKETS];
  _Atomic uint32_t packets, last_queue_type;
  _Atomic bool initialising; /* in a slow hsa_init */
  _Atomic int inits, allocations, queues, signals, executables, readers;
  const char *failed;           /* the call that fail_call made fail */
  _Atomic int faults_not_taken; /* memory faults that no handler took: HSA would have ended the process */
};

/* Looked up with dlsym. */
struct stub_state *stub_state(void);
void stub_reset(void);
void stub_finish(void);       /* ends the launches that hang */
void stub_memory_fault(void); /* of the first GPU, out of the blue */

#endif
