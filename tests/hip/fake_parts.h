/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fake libamdhip64 share. */
#ifndef FRONT_TESTS_FAKE_PARTS_H
#define FRONT_TESTS_FAKE_PARTS_H

#include <stdbool.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "fake_hip.h"

extern struct fake_hip fake;

/* ---- fake_device.c: the emulator's GPU through HSA */
struct fake_gpu {
  hsa_agent_t agent;
  hsa_amd_memory_pool_t device, kernarg;
  hsa_queue_t *queue;
  hsa_signal_t done;
  char isa[128];
  int compute_units;
  int error; /* the queue's, 0: none. Atomic */
  bool open;
};

/* Opened at the first call that needs it. Null: there is none. */
struct fake_gpu *fake_gpu(void);

/* Sets the thread's last error and returns it. Every HIP function ends with it. */
hipError_t fake_return(hipError_t error);

/* ---- fake_module.c: kernels */
struct ihipModuleSymbol_t {
  uint64_t object;
  uint32_t kernarg_bytes, lds_bytes;
};

struct fake_launch {
  struct ihipModuleSymbol_t function;
  uint32_t grid[3], block[3], lds_bytes;
  void *kernarg; /* malloc'd */
  size_t kernarg_bytes;
};

/* Runs it on the GPU, to its end. */
hipError_t fake_run(const struct fake_launch *launch);

/* ---- fake_stream.c: work in order */
enum work_kind { WORK_LAUNCH, WORK_COPY, WORK_FILL, WORK_WAIT };

struct work {
  enum work_kind kind;
  struct fake_launch launch;
  void *to;
  const void *from;
  size_t bytes;
  int value;
  struct ihipStream_t *stream; /* WAIT: until that stream has done `position` pieces of work */
  size_t position;
};

struct work_list {
  struct work *item;
  size_t count;
};

struct ihipStream_t {
  struct ihipStream_t *next;
  struct work_list work;
  size_t done;
  uint32_t mask[FAKE_WORDS];
  bool masked;
  struct ihipGraph *capture; /* null: none */
  bool capture_origin;
};

/* The stream behind a handle; null is the null stream. */
struct ihipStream_t *fake_stream(hipStream_t handle);

/* All streams, the newest first. */
struct ihipStream_t *fake_streams(void);

/* Appends a copy of the work: to the stream, or to the graph that it is captured into. */
hipError_t fake_submit(struct ihipStream_t *stream, const struct work *work);
bool work_append(struct work_list *list, const struct work *work);
void work_free(struct work_list *list);

/* Runs the stream's first `count` pieces of work. */
hipError_t fake_run_stream(struct ihipStream_t *stream, size_t count);
hipError_t fake_run_all(void);

/* ---- fake_graph.c */
struct ihipGraph {
  struct work_list work;
  bool spoiled;
};

/* For calls that may not be made while anything is captured: spoils the captures and returns the error. */
hipError_t fake_forbid_capture(void);

#endif
