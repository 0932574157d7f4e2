/* SPDX-License-Identifier: Apache-2.0 */
/* What the HSA functions share: the one runtime of the process, and the objects behind HSA's handles. */
#ifndef EMULATOR_HSA_STATE_H
#define EMULATOR_HSA_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "cu_mask.h"
#include "dispatch.h"
#include "loader.h"
#include "model.h"

enum { EMU_QUEUE_SIZE_MAX = 131072, EMU_TIMESTAMP_HZ = 1000000000, EVENT_HANDLERS_MAX = 16 };

/* Handle: its address. */
struct signal {
  amd_signal_t abi; /* kind says that the handle is one; the value is atomic: programs may have a pointer to it */
  int64_t rung;     /* a doorbell's highest value so far */
  bool exposed;     /* the program has a pointer to the value */
};

struct queue {
  struct queue *next;
  amd_queue_t *abi; /* in device memory; its first member is what the program holds */
  uint64_t ring;    /* device memory: the packets */
  bool soft;        /* no agent processes it: it has no thread, and the doorbell is the program's */
  uint32_t agent;   /* the GPU's index */
  struct signal *doorbell;
  void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
  void *data;
  uint32_t allowed[CU_MASK_WORDS]; /* by HSA_CU_MASK */
  uint32_t cu_mask[CU_MASK_WORDS]; /* bit i: unit i / XCDs of XCD i mod XCDs. Atomic, word by word */
  bool timed;                      /* completion signals get the times of their packets. Atomic */
  pthread_t thread;                /* the packet processor */
  bool busy;                       /* it waits within a packet, runs one, or has ended. Atomic */
  bool stop;                       /* atomic: ends the thread, and the dispatch that it runs */
};

/* A code object on an agent: HSA's loaded code object. */
struct executable_code {
  struct executable_code *next;
  struct executable *executable;
  struct loaded_code *loaded;
  uint32_t agent;
  int file;          /* that the program gave, or -1, ... */
  const void *image; /* ... and where it gave the code object */
  size_t image_bytes;
};

/* A variable of the program's, under a name of the executable's. */
struct defined_variable {
  struct defined_variable *next;
  char *name;
  void *address;
  bool program, constant;
  uint32_t agent; /* unless it is the whole program's */
};

struct executable_symbol {
  struct executable_symbol *next;
  const struct executable_code *code;
  const struct loaded_kernel *kernel; /* a kernel, ... */
  const struct code_symbol *variable; /* ... a variable, ... */
  const struct defined_variable *defined;
};

struct executable {
  struct executable *next;
  bool frozen;
  hsa_profile_t profile;
  hsa_default_float_rounding_mode_t rounding;
  struct executable_code *code;      /* in the order of loading */
  struct executable_symbol *symbols; /* those that were asked for */
  struct defined_variable *defined;
};

/* A code object that executables are loaded from: HSA's reader, and its older code object. Handle: its address. */
struct reader {
  struct reader *next;
  bool old; /* an hsa_code_object_t */
  const void *image;
  size_t bytes;
  int file;                  /* -1: none */
  void *owned;               /* a copy of the image */
  struct code_object object; /* old ones only */
};

struct emu {
  pthread_mutex_t lock;               /* of everything but the device */
  uint32_t references;                /* hsa_init calls; 0: not initialised */
  struct model model;                 /* of every agent */
  uint32_t gpus;                      /* agents that ROCR_VISIBLE_DEVICES leaves of the model's, ... */
  uint32_t partition[MODEL_XCDS_MAX]; /* ... and which of the device's partitions each is */
  struct device device;
  struct queue *queues;
  uint32_t orphans; /* queues that their own threads destroyed and have not freed yet */
  pthread_cond_t orphan_gone;
  struct executable *executables;
  struct reader *readers;
  struct {
    hsa_amd_system_event_callback_t call;
    void *data;
  } event[EVENT_HANDLERS_MAX];
  uint32_t events;
};

extern struct emu emu;

/* Whether hsa_init has been called: every exported function asks this first. */
bool emu_running(void);

/* Why hsa_init failed with HSA_EMU_STATUS_UNKNOWN_DEVICE the last time. */
extern char emu_device_error[MODEL_ERROR_MAX];

/* Nanoseconds of the system clock. */
uint64_t emu_timestamp(void);

/* Whether HSA or AMD gave this number to an extension. */
bool emu_is_extension(uint16_t extension);

/* hsa_agent.c */
extern const hsa_agent_t emu_cpu_agent;
hsa_agent_t emu_gpu_agent(uint32_t index);
bool emu_gpu_index(hsa_agent_t agent, uint32_t *index); /* false: not a GPU */
bool emu_is_gpu(hsa_agent_t agent);
enum { EMU_UUID_BYTES = 21 };
void emu_uuid(uint32_t partition, char uuid[EMU_UUID_BYTES]); /* of the device's partition */
bool emu_is_agent(hsa_agent_t agent);

/* hsa_isa.c */
hsa_isa_t emu_gpu_isa(void);

/* hsa_signal.c */
struct signal *signal_of(hsa_signal_t handle); /* NULL: not a signal */
struct signal *signal_new(int64_t value, amd_signal_kind64_t kind);
void signal_delete(struct signal *s);
int64_t signal_load(const struct signal *s);
void signal_add(struct signal *s, int64_t value);
void signal_put(struct signal *s, int64_t value);
bool signal_holds(hsa_signal_condition_t condition, int64_t value, int64_t compare);
/* Until the condition holds or `ns` have passed; the value seen last. */
int64_t signal_wait(struct signal *s, hsa_signal_condition_t condition, int64_t compare, uint64_t ns);
/* Until ready(context), which is asked again whenever a signal changes; false: `ns` have passed. signal_wake_any: ask again now. */
bool signal_wait_many(bool (*ready)(void *context), void *context, uint64_t ns);
void signal_wake_any(void);

/* Until the doorbell has been rung with `value` or more: true; or until *stop, which doorbell_stop sets. */
bool doorbell_wait(struct signal *s, int64_t value, const bool *stop);
void doorbell_stop(struct signal *s, bool *stop);
int64_t doorbell_rung(struct signal *s); /* the highest value so far */

/* hsa_signal_any.c */
void signal_groups_delete(void);

/* hsa_async.c */
void async_forget(const struct signal *s); /* no handler waits for it any more */
void async_end(void);                      /* ends the threads; what still waits is dropped */

/* packets.c: runs the queue's packets until it is stopped; a pthread's main function, the argument is the queue. */
void *packets_process(void *queue);

/* hsa_queue.c */
void queue_delete(struct queue *q); /* stops it first; not from its own thread */
/* The calling thread is a queue's, which was destroyed from it: it frees the queue, and counts in emu.orphans. */
bool queue_orphaned_here(void);
void queue_end_orphan(struct queue *q);
bool queues_pending(void); /* whether a queue is about to take a packet that it has been told of */
void queue_cus(const struct queue *q, uint32_t cus[MODEL_XCDS_MAX]); /* by XCD: compute units that its launches may use */
void queue_free(struct queue *q);                                    /* its thread has ended, or is the caller and ends now */

/* hsa_memory.c */
void memory_notes_delete(void);
bool emu_is_region(hsa_region_t region); /* one of global memory */

/* hsa_reader.c. The caller holds emu.lock. NULL: not a reader (`old`: an older code object). */
struct reader *reader_of(uint64_t handle, bool old);
void reader_delete(struct reader *r);
/* A reader of a part of a file: the loader extension's function. */
hsa_status_t loader_read_part(hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *reader);

/* hsa_code.c */
struct executable *executable_of(hsa_executable_t handle); /* the caller holds emu.lock */
void executable_delete(struct executable *e);
const struct loaded_kernel *executable_kernel(uint64_t object);                    /* takes emu.lock */
const struct loaded_kernel *executable_kernel_on(uint32_t agent, uint64_t object); /* ... on this GPU only */
const struct loaded_kernel *executable_kernel_named(const char *name);             /* ... too */

/* hsa_loader.c: the table of HSA_EXTENSION_AMD_LOADER, as many bytes of it as there are. */
void loader_table(size_t bytes, void *table);
enum { LOADER_MAJOR = 1, LOADER_MINOR = 3 };

#endif
