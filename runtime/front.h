/* SPDX-License-Identifier: Apache-2.0 */
/* libfront: opens a code object that frontgen made, checks it against the GPU, and launches it through HSA.

   The order of a serving process: front_open, front_device_open, front_bundle_open, front_pick, front_kernel_load_bundle,
   front_instance_create, front_binding_create (one a layer), front_queue_create; then front_launch and front_wait, for ever.

   Every function returns FRONT_OK or an error; front_error() then says in one line what was wrong, with the numbers wanted and found,
   and what to do. An out parameter is written only on success. Handles are one-field structs: pass them by value. A handle's owner
   destroys it, once, children before parents; then it means no more than a freed pointer. The library never exits, aborts, prints, or picks
   the emulator unless it is named.

   Threads: different objects may be used from different threads at once. A queue belongs to one thread at a time, and so do an instance
   with its bindings and the queue that has its launches; runtimes, devices, kernels and bundles may be used by all. front_error() is per
   thread. A fork before front_open() is fine; in the child of a process that had opened HSA every call that needs it is FORKED. More, in
   one table: docs/runtime.md.

   Options: the struct may be null, and a field of zero is the default. Set size to the struct's sizeof: programs and libraries of different
   versions then know which fields the other has. */
#ifndef FRONT_H
#define FRONT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum front_status {
  FRONT_OK = 0,
  FRONT_ERR_ARGUMENT,    /* a null, misaligned or impossible argument, or a wrong handle */
  FRONT_ERR_LIBRARY,     /* no HSA library could be loaded, or it lacks a function */
  FRONT_ERR_NO_DEVICE,   /* no GPU, or none as asked for */
  FRONT_ERR_ISA,         /* the code object is for another GPU or other target features */
  FRONT_ERR_RESIDENCY,   /* 256 workgroups cannot be resident together: the launch would wait for ever */
  FRONT_ERR_CODE_OBJECT, /* not a code object of this ABI, truncated, compressed, with scratch, ... */
  FRONT_ERR_NOT_FOUND,   /* no such file, or no kernel for that key */
  FRONT_ERR_MEMORY,      /* host or device memory is exhausted */
  FRONT_ERR_BUSY,        /* the queue is full, or an object is still in use by a launch in flight */
  FRONT_ERR_TIMEOUT,     /* the launch did not end in time and may still run; or it has ended, but a poll of its gave up (guard) */
  FRONT_ERR_FAULT,       /* the queue stopped: a memory fault, an illegal instruction, ... The queue is dead */
  FRONT_ERR_HSA,         /* any other failure of an HSA call: the text has its name and HSA's own words */
  FRONT_ERR_HIP,         /* the same of a HIP call (front_hip.h) */
  FRONT_ERR_FORKED       /* this process is a child of the one that opened HSA: nothing works here */
};

typedef struct front_runtime {
  struct runtime *impl;
} front_runtime;
typedef struct front_device {
  struct device *impl;
} front_device;
typedef struct front_kernel {
  struct kernel *impl;
} front_kernel;
typedef struct front_bundle {
  struct bundle *impl;
} front_bundle;
typedef struct front_queue {
  struct queue *impl;
} front_queue;
typedef struct front_instance {
  struct instance *impl;
} front_instance;
typedef struct front_binding {
  struct binding *impl;
} front_binding;
typedef struct front_ticket {
  struct queue *queue;
  uint64_t number;
} front_ticket;

/* The name of a status: "FRONT_ERR_BUSY". Never null. */
const char *front_status_name(enum front_status status);

/* What the last failed call of this thread had to say: one line, without a newline; "" if none failed. Valid until the thread's next
   failing call. */
const char *front_error(void);

/* "0.1.0"; and the kernarg ABI that code objects must have. */
const char *front_version(void);
uint32_t front_kernarg_abi(void);

/* Receives one line, without a newline, of what the library does and passes over: the library it loaded, code objects that do not fit,
   faults. Called from any thread, HSA's too; it must not call this library, nor fork. */
typedef void (*front_log_callback)(void *user, const char *line);

/* Sets the process's log callback; null (the default): none. When this returns, the former one runs no more. */
void front_log(front_log_callback callback, void *user);

/* ---- the HSA library ------------------------------------------------------------------------------------------------------- */

struct front_options {
  size_t size;
  const char *hsa_library; /* a path or soname; default: the environment's FRONT_HSA_LIBRARY, else libhsa-runtime64.so.1 */
};

/* Loads the HSA library (an already loaded copy first) and initialises it. `options` may be null. Several front_open calls share one
   HSA, also with other users of it in the process. A library whose initialisation failed is not tried again: HSA does not bear it.
   Errors: LIBRARY (the text lists every name that was tried and why it failed), NO_DEVICE (HSA found no driver; the text says what is with
   /dev/kfd), HSA, FORKED. */
enum front_status front_open(const struct front_options *options, front_runtime *runtime);

/* Shuts HSA down if this was its last user. Every device must be closed. The library stays mapped. */
enum front_status front_close(front_runtime runtime);

/* Where the HSA library was loaded from; owned by the runtime. */
enum front_status front_library_path(front_runtime runtime, const char **path);

/* ---- devices ----------------------------------------------------------------------------------------------------------------- */

struct front_device_info {
  char name[64];          /* "gfx950" */
  char isa[96];           /* "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-" */
  char product[64];       /* for people only */
  char uuid[32];          /* "GPU-1234567890abcdef", or "" */
  char pci[16];           /* "0000:c1:00.0" */
  uint32_t compute_units; /* a queue may have fewer: front_queue_create() counts its mask */
  uint64_t memory_bytes;  /* of the device's own memory */
};

/* The number of GPU agents that ROCR_VISIBLE_DEVICES (obeyed by HSA) and HIP_VISIBLE_DEVICES or, if that is not set, CUDA_VISIBLE_DEVICES
   leave, in their order: index i is HIP's device i. Zero is not an error. */
enum front_status front_device_count(front_runtime runtime, uint32_t *count);

/* Describes agent `index`, without opening it. */
enum front_status front_device_describe(front_runtime runtime, uint32_t index, struct front_device_info *info);

/* Opens an agent: `which` is its index ("0"), its UUID ("GPU-...") or its PCI address ("0000:c1:00.0"); null: the first.
   Errors: NO_DEVICE (the text lists the agents there are). */
enum front_status front_device_open(front_runtime runtime, const char *which, front_device *device);

/* BUSY while a kernel, queue or allocation of the device is left. */
enum front_status front_device_close(front_device device);

/* ---- device memory ------------------------------------------------------------------------------------------------------------ */

/* Coarse-grained memory of the device, 4096-byte aligned, uninitialised. bytes > 0. Errors: MEMORY. */
enum front_status front_memory_allocate(front_device device, uint64_t bytes, void **address);

/* Null is allowed. No launch may be using it. Errors: ARGUMENT (no allocation starts there: freed twice? or it is another
   device's), HSA. */
enum front_status front_memory_free(front_device device, void *address);

/* Copies, and returns when it is done; either side may be host or device memory. Not ordered with launches: wait for them first.
   Errors: ARGUMENT (a side is memory that HSA knows to end before `bytes`; memory that it does not know is believed), HSA. */
enum front_status front_memory_copy(front_device device, void *to, const void *from, uint64_t bytes);

/* Sets `words` 32-bit words of device memory, 4-byte aligned, and returns when it is done. Errors: as front_memory_copy(). */
enum front_status front_memory_fill(front_device device, void *to, uint32_t value, uint64_t words);

/* ---- bundles --------------------------------------------------------------------------------------------------------------------- */

/* A code object that a program carries: `frontgen bundle --embed FILE.c` writes a table of these. Nothing is copied. */
struct front_embedded {
  const char *file;   /* "front_s8_tp4_r2_w128_t0.gfx950.hsaco" */
  const void *bytes;  /* the file's */
  size_t size;        /* in bytes */
  const char *sha256; /* of the bytes: 64 hexadecimal digits */
};

/* What a bundle has: one code object. */
struct front_bundle_entry {
  char name[96];    /* canonical: "front_s8_tp4_r2_w128_t0" */
  char arch[32];    /* "gfx950" */
  char sha256[65];  /* lower case */
  const char *file; /* "front_s8_tp4_r2_w128_t0.gfx950.hsaco", until the bundle is closed */
};

/* Opens a folder of code objects by its SHA256SUMS (in `sha256sum -c` format), the only file that is read now: lines of other files than
   NAME.ARCH.hsaco, and names that this library does not know, are passed over with a line to the log. A code object is read, and its
   hash checked, each time a kernel is loaded from it. The folder may be read-only, and may be moved while it is open. Nothing in it is
   trusted: a name that leaves the folder, a symbolic link, a name twice, an index cut short are refused. Also: `path` of a single
   code object, which is then a bundle of one.
   Needs no GPU and no front_open(). A bundle never changes: any threads may use it at once, on the HIP route too.
   Errors: NOT_FOUND (no folder, no index, nothing in it), CODE_OBJECT (a bad index; names file and line), MEMORY. */
enum front_status front_bundle_open(const char *path, front_bundle *bundle);

/* The same of a table in memory, and of one code object in memory: both are borrowed until the bundle is closed. */
enum front_status front_bundle_open_embedded(const struct front_embedded *table, size_t count, front_bundle *bundle);
enum front_status front_bundle_open_image(const void *image, size_t bytes, front_bundle *bundle);

/* Kernels loaded from it stay good. */
enum front_status front_bundle_close(front_bundle bundle);

/* The number of code objects; the index-th, in the index's order. Errors: NOT_FOUND (no such index). */
enum front_status front_bundle_count(front_bundle bundle, size_t *count);
enum front_status front_bundle_describe(front_bundle bundle, size_t index, struct front_bundle_entry *entry);

/* The bytes of a code object, hash and note checked: malloc'd, for free(). `key`: "tokens=8,tp=4,..." or a canonical name.
   Errors: NOT_FOUND (the text lists the kernels there are for `arch`), CODE_OBJECT (another hash, size, key or GPU than the index says,
   or not a regular file), MEMORY. */
enum front_status front_bundle_read(front_bundle bundle, const char *key, const char *arch, void **image, size_t *bytes);

/* The kernel for a step. Launch it with rows first_pad .. tokens - 1 as pad rows: slot -1, pos any that is valid (0), the rest of their
   rows readable memory of any content. They write nothing to the cache; their rows of q mean nothing, of kt are -1, of klen 0. */
struct front_pick {
  char name[96];      /* for front_kernel_load_bundle() */
  uint32_t tokens;    /* S: rows of every argument */
  uint32_t first_pad; /* rows of the step */
  uint32_t pads;      /* tokens - first_pad */
};

/* The smallest S that the bundle has for `tokens` rows of a layer on a GPU ("gfx950"). `layer` is a key without tokens:
   "tp=4,ratio=2,window=128,tuned=1". Reads no file, allocates nothing. Errors: NOT_FOUND (the text lists the S that there are). */
enum front_status front_pick(front_bundle bundle, const char *arch, const char *layer, uint32_t tokens, struct front_pick *pick);

/* ---- kernels -------------------------------------------------------------------------------------------------------------------- */

struct front_kernel_info {
  char name[96];                                                                           /* canonical: front_s8_tp4_r2_w128_t0 */
  char symbol[128];                                                                        /* the kernel's symbol in the code object */
  char arch[32];                                                                           /* "gfx950" */
  uint32_t tokens, tp, ratio, window, tuned, index, x8_given, dev, timeline, embed, guard; /* the key */
  uint32_t scratch_bytes;                                                                  /* what an instance allocates */
  uint32_t lds_bytes, vgprs, sgprs;
};

/* Loads a bare ELF code object from memory, and checks it: ELF, target, kernarg segment of 216 bytes, no private segment, workgroup of
   512, and that the device can hold 256 of its workgroups at once. `image` is copied. `key`: "tokens=8,tp=4,..." or a canonical name,
   for an object without frontgen's note; null: the note says. Both, and they differ: an error.
   Errors: CODE_OBJECT, ISA, RESIDENCY, NOT_FOUND (no kernel for that key in it), HSA. */
enum front_status front_kernel_load(front_device device, const void *image, size_t bytes, const char *key, front_kernel *kernel);

/* The same from a file. Errors: also NOT_FOUND and MEMORY for the file. */
enum front_status front_kernel_load_file(front_device device, const char *path, const char *key, front_kernel *kernel);

/* The same from a bundle, for the device's GPU; code objects for another one are passed over. Errors: also front_bundle_read()'s. */
enum front_status front_kernel_load_bundle(front_device device, front_bundle bundle, const char *key, front_kernel *kernel);

/* BUSY while an instance is left. */
enum front_status front_kernel_destroy(front_kernel kernel);

enum front_status front_kernel_describe(front_kernel kernel, struct front_kernel_info *info);

enum front_argument_use { FRONT_ARGUMENT_IN, FRONT_ARGUMENT_OUT, FRONT_ARGUMENT_INOUT, FRONT_ARGUMENT_INSTANCE, FRONT_ARGUMENT_SCALAR };

struct front_argument_info {
  const char *name; /* a field of struct front_args */
  uint32_t offset;  /* in struct front_args */
  uint32_t use;     /* enum front_argument_use; INSTANCE: leave it null */
  uint32_t needed;  /* 0: this key does not use it, it may be null */
  uint32_t align;   /* of what it points to */
  uint64_t bytes;   /* of what it points to; 0: the key does not say (x, comp_bt, cos_sin, swa) */
};

/* The index-th argument of the kernarg block. Errors: NOT_FOUND behind the last one. */
enum front_status front_kernel_argument(front_kernel kernel, uint32_t index, struct front_argument_info *argument);

/* ---- instances and bindings -------------------------------------------------------------------------------------------------------- */

struct front_instance_options {
  size_t size;
  void *epoch;          /* a u32 in device memory of the caller's; instances that share it launch on one queue; default: its own */
  uint32_t first_epoch; /* value of the instance's own epoch word */
  uint32_t guard_us;    /* how long one wait for another workgroup may take, if the kernel has a guard; at most 42 s; default: 2 s */
  uint32_t debug;       /* 1: every launch first looks at pos, slot, swa_lens and t2r, as front_launch_options says. Slow */
};

struct front_instance_info {
  void *scratch; /* device memory of front_kernel_info.scratch_bytes */
  void *epoch;   /* u32 in device memory: the next launch's tag is 2 * epoch + 1 */
};

/* A scratch, zeroed, an epoch word, and the guard's words. `options` may be null. Errors: ARGUMENT, MEMORY, HSA. */
enum front_status front_instance_create(front_kernel kernel, const struct front_instance_options *options, front_instance *instance);

/* BUSY while a binding is left. */
enum front_status front_instance_destroy(front_instance instance);

enum front_status front_instance_describe(front_instance instance, struct front_instance_info *info);

/* Zeroes the scratch, as after a launch that did not end. BUSY while a launch is in flight. */
enum front_status front_instance_reset(front_instance instance);

/* The kernel's arguments: the kernarg block itself (216 bytes), so it is also what a HIP launch takes. Pointers are device memory; what
   a key does not use may be null. S = tokens, q_rows = 32768 / tp, KEYS = the row width of kt. */
struct front_args {
  const void *x;        /* bf16 [S, 5120], rows x_stride elements apart; 16-byte aligned */
  const void *wqkv;     /* e4m3 [1792, 5120]; 16 */
  const void *wqkv_s;   /* E8M0 [56, 160]; 4 */
  const void *wqb;      /* e4m3 [q_rows, 1280]; 16 */
  const void *wqb_s;    /* E8M0 [q_rows / 32, 40]; 4 */
  void *scratch;        /* leave null: the instance's */
  void *epoch;          /* leave null: the instance's */
  int32_t x_stride;     /* elements, a multiple of 8, >= 5120 */
  int32_t bt_stride;    /* elements between rows of comp_bt */
  const void *pos;      /* i64 [S], 0 <= pos < 2^24, valid in pad rows too; 8 */
  const void *slot;     /* i64 [S], -2^31 <= slot < 2^31; negative: a pad row; 8 */
  const void *swa_idx;  /* i32 [S, window]; 4 */
  const void *swa_lens; /* i32 [S]; 4 */
  const void *topk;     /* i32 [S, 512], negative: none; ratio > 0; 4 */
  const void *t2r;      /* i32 [S]; ratio > 0; 4 */
  const void *comp_bt;  /* i32 [requests, bt_stride]; ratio > 0; 4 */
  const void *cos_sin;  /* f32 [positions, 64]: 32 cos, then 32 sin; 4 */
  const void *qn_w;     /* bf16 [1280]; 2 */
  const void *kvn_w;    /* bf16 [512]; 2 */
  void *swa;            /* the window cache; 8 */
  int64_t swa_stride;   /* bytes between blocks, a multiple of 8, >= 584 * swa_block */
  int32_t swa_block;    /* tokens a block, >= 1 */
  int32_t comp_block;   /* compressed rows a block, >= 1; ratio > 0 */
  void *q;              /* out: bf16 [S, q_rows]; 4 */
  void *kt;             /* out: i32 [S, KEYS]; 4 */
  void *klen;           /* out: i32 [2 S]: kv_len[S], then ntopk[S]; 4 */
  void *qr_out;         /* out, index: bf16 [S, 1280]; 16 */
  void *tl;             /* out, timeline: i64 [256, 6]; 8 */
  void *guard;          /* leave null: the instance's */
};

/* A kernarg block of the instance, written now. `args` is copied; the memory it points to must live as long as launches use it. Refused by
   name: a null pointer that the key uses, a misaligned one, a stride or block size that cannot be, memory that HSA knows to end before what
   the key reads or writes there, x for S rows, one block of swa, one position of cos_sin. Memory that HSA does not know is believed.
   Errors: ARGUMENT (names the argument), MEMORY. */
enum front_status front_binding_create(front_instance instance, const struct front_args *args, front_binding *binding);

/* Writes other arguments into the block. BUSY while a launch of the binding is in flight. */
enum front_status front_binding_update(front_binding binding, const struct front_args *args);

/* BUSY while a launch of the binding is in flight. */
enum front_status front_binding_destroy(front_binding binding);

/* ---- launches ------------------------------------------------------------------------------------------------------------------------ */

enum front_fence { FRONT_FENCE_SYSTEM, FRONT_FENCE_AGENT };

struct front_queue_options {
  size_t size;
  uint32_t launches;    /* room for so many in flight, rounded up to a power of two; at most 4096; default: 64 */
  uint32_t cooperative; /* 1: a cooperative HSA queue */
  uint32_t spin;        /* 1: front_wait() spins instead of sleeping */
  uint32_t acquire;     /* enum front_fence: scope before a launch. AGENT: nobody but this GPU wrote inputs since the last launch */
  uint32_t release;     /* enum front_fence: scope behind it. AGENT: nobody but this GPU reads the outputs */
};

/* Errors: RESIDENCY (a compute unit mask leaves too few), ARGUMENT, MEMORY, HSA. */
enum front_status front_queue_create(front_device device, const struct front_queue_options *options, front_queue *queue);

/* Gives up what is in flight: those launches are FAULT, the queue can only be destroyed, and the memory that they use must not be freed
   unless the device is known to have stopped. For launches that do not end. */
enum front_status front_queue_stop(front_queue queue);

/* Its tickets end with it. BUSY while a launch is in flight on a healthy queue. */
enum front_status front_queue_destroy(front_queue queue);

/* Puts one launch (256 x 512 threads) behind the queue's others: it starts when they have ended. Allocates nothing, locks nothing.
   `ticket` may be null. Nothing else may hold compute units while it runs.
   After a launch of the instance that gave up or did not end, this call first clears what it left (not on the fast path).
   Errors: BUSY (the queue is full, the instance has a launch in flight on another queue, or one that gave up has others in flight behind
   it), FAULT (the queue is dead), FORKED. */
enum front_status front_launch(front_queue queue, front_binding binding, front_ticket *ticket);

struct front_launch_options {
  size_t size;
  uint64_t after;      /* an hsa_signal_t's handle: the launch, and all behind it on its queue, start when its value is 0 */
  uint64_t completion; /* an hsa_signal_t's handle: 1 is subtracted when the launch has ended. Not if the queue dies before */
  /* Called once, from a thread of HSA's or by front_queue_stop(), when the launch has ended (OK; TIMEOUT: it gave up) or the queue has died
     (FAULT). It must not call this library; front_wait() then has the text. A launch is in flight until its callback has returned. */
  void (*ended)(void *user, enum front_status status);
  void *user;
  /* Debug mode only: host copies of the inputs of these names. Null: the launch copies the device's, which are what the kernel will read
     only if nothing in flight writes them. Refused: pos outside [0, 2^24) or cos_sin; a slot outside swa, below -2^31, or of two rows;
     swa_lens outside [0, window]; t2r outside comp_bt (each where the row uses it, and HSA knows the memory's size). Read before the call
     returns. */
  const int64_t *pos, *slot;
  const int32_t *swa_lens, *t2r;
};

/* The same, with options. `after` and `completion` take up to two more packets of the queue; `ended` allocates in HSA.
   Errors: also ARGUMENT (debug mode: names the input and the row), LIBRARY (no callbacks in this HSA). */
enum front_status front_launch_with(
    front_queue queue, front_binding binding, const struct front_launch_options *options, front_ticket *ticket);

/* Waits until that launch, and all before it on its queue, have ended, for at most timeout_ns (UINT64_MAX: for ever). A launch's outputs
   are valid only after FRONT_OK. Errors: TIMEOUT: the launch has not ended; or it has, but without what a poll of its waited for, or behind
   such a launch of its instance (the text names stage, workgroup, wave, pair, the tag seen and the tag wanted; what was written is right,
   and the instance can be launched again). FAULT (with address and reason where HSA gives them).
   A ticket is known as long as fewer launches than the queue has room for were put in behind it. */
enum front_status front_wait(front_ticket ticket, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
