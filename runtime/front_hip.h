/* SPDX-License-Identifier: Apache-2.0 */
/* The HIP route of libfront: the same kernels, launched on a stream of the caller's, also while it is captured into a graph. A peer of
   front.h's HSA route, which it does not need: no front_open(), no HSA queue (an HSA queue cannot be ordered with a HIP stream).

   The order of a serving process: front_hip_open, front_hip_kernel_load_file, front_hip_binding_create (one a layer); then
   front_hip_launch, for ever. HIP's headers are not needed here: hipStream_t is `struct ihipStream_t *` in all of its versions, so a
   hipStream_t is passed as it is; null is HIP's null stream.

   What the caller owns. On this route there is no instance: scratch, epoch and guard are device memory of the caller's (hipMalloc, or a
   tensor), in front_args.scratch, .epoch and .guard:
     scratch   front_kernel_info.scratch_bytes, 256-byte aligned. Zeroed by the caller once, before its first launch (hipMemsetAsync on
               the stream), and again after a launch that did not end. One a kernel: never shared between keys.
     epoch     4 bytes, 4-byte aligned; zeroed by the caller once. Each launch adds 1 to it. Several scratches may share one, but a
               scratch must always see the same one.
     guard     FRONT_HIP_GUARD_BYTES, 128-byte aligned; zeroed by the caller once, then word 8 set to the budget in ticks of 10 ns
               (FRONT_HIP_GUARD_BUDGET is 2 s; 0 polls for ever). After a launch that broke off, words 0 to 7 must be zeroed before the
               next one: front_hip_guard_check(). Null for a kernel without guard.

   Order. Launches that share a scratch or an epoch must be ordered one behind another: on one stream, or by events. Nothing else may hold
   compute units while a launch waits for its 256 workgroups to be resident: a kernel that runs for ever on another stream stops it for
   ever. Neither can be seen from here, so neither is checked.

   Graphs. Load kernels and create bindings before a capture begins (HIP refuses to load code during one); front_hip_launch() then only
   adds a kernel node. All addresses are in the kernarg block and nowhere else, and HIP copies that block when the launch is captured: later
   replays use the same addresses, so
     - inputs change *behind* the captured pointers (hipMemcpyAsync into them, on the stream or as a node before this one),
     - scratch, epoch and guard must live and keep their place as long as the graph; they need no reset between replays: the tag follows
       the epoch word in memory,
     - a front_hip_binding_update() or _destroy() does not reach graphs captured before it; the kernel must outlive the graph.
   Replays of one graph, and of graphs that share a scratch, follow the same order rule.

   Errors and threads are as in front.h. HIP's "last error" of the thread is as it was: a failure is taken out of it again, since it is
   reported here. A fault of the kernel itself shows where HIP shows it: at the caller's next synchronisation. */
#ifndef FRONT_HIP_H
#define FRONT_HIP_H

#include "front.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ihipStream_t; /* hipStream_t is a pointer to it */

typedef struct front_hip {
  struct hip *impl;
} front_hip;
typedef struct front_hip_kernel {
  struct hip_kernel *impl;
} front_hip_kernel;
typedef struct front_hip_binding {
  struct hip_binding *impl;
} front_hip_binding;

#define FRONT_HIP_EPOCH_BYTES  4
#define FRONT_HIP_GUARD_BYTES  128
#define FRONT_HIP_GUARD_BUDGET 200000000 /* 2 s of the 100 MHz clock */

/* ---- the HIP library --------------------------------------------------------------------------------------------------------- */

/* Zero means the default for every field. Set size to sizeof(struct front_hip_options). */
struct front_hip_options {
  size_t size;
  const char *hip_library; /* a path or soname; default: the environment's FRONT_HIP_LIBRARY, else the copy that is loaded, else ROCm's */
};

/* Finds the HIP library (6.0 or newer) and its devices. A copy that the process has loaded comes first (PyTorch brings its own): streams
   belong to the copy that made them. A library that is named is the only one that is tried. `options` may be null. The library is never
   unloaded.
   Errors: LIBRARY (the text lists every name that was tried and why it failed), NO_DEVICE, HIP. */
enum front_status front_hip_open(const struct front_hip_options *options, front_hip *hip);

/* BUSY while a kernel is left. HIP itself goes on. */
enum front_status front_hip_close(front_hip hip);

/* Where the HIP library was loaded from; owned by `hip`. */
enum front_status front_hip_library_path(front_hip hip, const char **path);

/* ---- devices ----------------------------------------------------------------------------------------------------------------- */

struct front_hip_device_info {
  int32_t ordinal;        /* as hipSetDevice takes it */
  char isa[96];           /* "gfx950:sramecc+:xnack-" */
  char product[64];       /* for people only */
  uint32_t compute_units; /* that a stream without a mask of its own may use: ROC_GLOBAL_CU_MASK is counted */
};

/* Describes a device; ordinal -1: the thread's current one (hipSetDevice). Errors: NO_DEVICE, HIP. */
enum front_status front_hip_device_describe(front_hip hip, int32_t ordinal, struct front_hip_device_info *info);

/* ---- kernels ----------------------------------------------------------------------------------------------------------------- */

/* Loads a bare ELF code object for the thread's current HIP device, with front_kernel_load()'s checks: the object, its key, target and
   features against the device's, and that compute units x workgroups a compute unit holds >= 256. `image` is copied.
   Errors: CODE_OBJECT, ISA, RESIDENCY, NOT_FOUND, MEMORY, HIP. */
enum front_status front_hip_kernel_load(front_hip hip, const void *image, size_t bytes, const char *key, front_hip_kernel *kernel);

/* The same from a file. */
enum front_status front_hip_kernel_load_file(front_hip hip, const char *path, const char *key, front_hip_kernel *kernel);

/* The same from a bundle, for the current device's GPU. */
enum front_status front_hip_kernel_load_bundle(front_hip hip, front_bundle bundle, const char *key, front_hip_kernel *kernel);

/* BUSY while a binding is left. Unloads the code: no launch may be queued, and no graph with one may be left. */
enum front_status front_hip_kernel_destroy(front_hip_kernel kernel);

enum front_status front_hip_kernel_describe(front_hip_kernel kernel, struct front_kernel_info *info);

/* Can this stream run the kernel? It must be of the kernel's device, and its compute unit mask, if it was made with one
   (hipExtStreamCreateWithCUMask), must leave room for 256 workgroups. Ask once a stream; front_hip_launch() does not.
   Errors: ARGUMENT (another device), RESIDENCY, HIP. */
enum front_status front_hip_stream_check(front_hip_kernel kernel, struct ihipStream_t *stream);

/* ---- bindings and launches ---------------------------------------------------------------------------------------------------- */

/* A layer's arguments, checked and copied: host memory only. As front_binding_create(), but scratch, epoch and (if the kernel has one)
   guard are the caller's and must be set; an allocation of HIP's that ends too early is refused by name, and so is theirs. Errors: ARGUMENT
   (names the argument), MEMORY. */
enum front_status front_hip_binding_create(front_hip_kernel kernel, const struct front_args *args, front_hip_binding *binding);

/* Other arguments for later launches. Those that are queued or captured keep theirs: HIP has copied them. */
enum front_status front_hip_binding_update(front_hip_binding binding, const struct front_args *args);

/* Launches that are queued or captured are not touched. */
enum front_status front_hip_binding_destroy(front_hip_binding binding);

/* Queues one launch (256 x 512 threads) on the stream, or adds it to the graph that the stream is captured into. Returns at once; allocates
   nothing, locks nothing of its own. Launches of one binding may come from several threads. Errors: HIP (with HIP's words). */
enum front_status front_hip_launch(front_hip_binding binding, struct ihipStream_t *stream);

/* What debug mode looks at on the HSA route: a step's host copies, an element a row of the binding's kernel, against its arguments
   (front.h, struct front_launch_options, says what is refused). swa_lens and t2r may be null where the key does not use them. No GPU work;
   for debugging, before the step is launched. Errors: ARGUMENT (names the input and the row). */
enum front_status front_hip_step_check(
    front_hip_binding binding, const int64_t *pos, const int64_t *slot, const int32_t *swa_lens, const int32_t *t2r);

/* Reads a host copy of the guard's 32 words (hipMemcpyAsync on the stream, then a synchronisation) after a launch of the kernel. Good if
   every poll of it ended; TIMEOUT if one gave up: the text names stage, workgroup, pair and tags. Then zero words 0 to 7 and go on. */
enum front_status front_hip_guard_check(front_hip_kernel kernel, const uint32_t words[32]);

#ifdef __cplusplus
}
#endif

#endif
