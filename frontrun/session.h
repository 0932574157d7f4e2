/* SPDX-License-Identifier: Apache-2.0 */
/* A device, a kernel on it and one instance: what all launches of a run share. */
#ifndef FRONT_SESSION_H
#define FRONT_SESSION_H

#include <stdbool.h>

#include "emulator_link.h"
#include "front.h"
#include "inputs.h"

/* frontrun's exit codes. FAULT: also a finding of strict mode. */
enum run_code { RUN_GOOD = 0, RUN_DIFFERS = 1, RUN_USAGE = 2, RUN_ENVIRONMENT = 3, RUN_FAULT = 4 };

enum run_device { DEVICE_AUTO, DEVICE_GPU, DEVICE_EMULATOR };

enum { RUN_ERROR_MAX = 2304 };

struct session {
  front_runtime runtime;
  front_device device;
  front_kernel kernel;
  front_instance instance;
  front_queue queue;
  struct front_device_info device_info;
  struct front_kernel_info kernel_info;
  struct front_instance_info instance_info;
  const char *library; /* the HSA library's path */
  struct emulator_link emulator;
  char note[RUN_ERROR_MAX]; /* why `auto` did not take a GPU; "" if it did or was not asked */
};

struct session_options {
  enum run_device device;
  const char *arch;   /* "gfx950" */
  const void *object; /* the code object */
  size_t object_bytes;
  const char *key; /* null: the object's note says */
  uint32_t first_epoch;
  uint32_t guard_us; /* budget of a guarded poll; 0: libfront's default */
};

/* Opens all of it. On failure `error` is a sentence and *session is closed. */
enum run_code session_open(const struct session_options *options, struct session *session, char error[RUN_ERROR_MAX]);

/* Closes what is open; after a fault or a timeout nothing but the process's end can. */
void session_close(struct session *session);

/* The exit code that a libfront status means. */
enum run_code session_code(enum front_status status);

/* A launch's figures. */
struct launch_traffic {
  bool counted;
  uint64_t bytes, unique_bytes, fetched_bytes, minimum;
  uint32_t min_fetches, max_fetches;
};

struct launch {
  uint32_t epoch_before, epoch_after;
  uint8_t *scratch_before, *scratch;
  double seconds; /* from launch to completion, as the host saw it */
  bool counted;   /* by the emulator: */
  struct hsa_emu_counters counters;
  struct launch_traffic traffic[FRONT_ARGS];
};

struct launch_options {
  uint64_t timeout_ns;
  bool prefill_tag; /* fill the scratch as a launch before would have left it, with wrong values */
  bool traffic;     /* count traffic (emulator) */
};

/* One launch of `in` with device buffers of its own: copies there, launches, waits, copies back (after a
   TIMEOUT too, whose text is the error). FAULT leaves the session unusable. */
enum run_code session_launch(struct session *session, const struct plan *plan, struct inputs *in, const struct launch_options *options,
    struct launch *launch, char error[RUN_ERROR_MAX]);

void launch_free(struct launch *launch);

/* The bytes that any kernel must load of an argument for these inputs. */
uint64_t traffic_minimum(const struct inputs *in, enum front_arg arg);

#endif
