/* SPDX-License-Identifier: Apache-2.0 */
/* A libamdhip64 of ours: one device, the emulator's GPU, reached through HSA. It is as lazy as HIP's rules allow: a stream's work runs when
   someone synchronises, later streams first, so that work in the wrong order or on the wrong stream gives wrong results every time; what
   HIP copies when it is called is copied then. While a stream is captured the calls that HIP's global mode forbids fail and spoil the
   capture. Not for threads. */
#ifndef FRONT_TESTS_FAKE_HIP_H
#define FRONT_TESTS_FAKE_HIP_H

#include <hip/hip_runtime_api.h>

enum { FAKE_WORDS = 16 };

struct fake_hip {
  /* What to pretend. */
  int devices;              /* 1 */
  const char *isa;          /* gcnArchName; the emulator's */
  int compute_units;        /* the emulator's */
  int workgroups_a_unit;    /* 1: what libfront's kernels have by design */
  hipError_t fail_launch;   /* the next hipModuleLaunchKernel's error, once */
  hipError_t fail_load;     /* the next hipModuleLoadData's, once */
  hipError_t fail_function; /* the next hipModuleGetFunction's, once */
  hipError_t fail_mask;     /* every hipExtStreamGetCUMask's */
  uint32_t global_mask[FAKE_WORDS];
  int stream_device; /* what hipStreamGetDevice says; 0 */
  /* What was asked. */
  int launches, captured, ran; /* hipModuleLaunchKernel calls, those of them that were captured, kernels that the GPU ran */
  int modules;                 /* that are loaded */
};

/* The state, for the test to look at and to change. */
struct fake_hip *fake_hip(void);

/* Back to what a whole GPU looks like; counts to 0, but for modules. */
void fake_hip_reset(void);

#endif
