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

#include "dispatch.h"
#include "loader.h"

/* Handle: its address. */
struct signal {
  amd_signal_t abi; /* kind says that the handle is one */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t rung; /* a doorbell's highest value so far */
};

struct queue {
  struct queue *next;
  amd_queue_t *abi; /* in device memory; its first member is what the program holds */
  uint64_t ring;    /* device memory: the packets */
  struct signal *doorbell;
  void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
  void *data;
  pthread_t thread; /* the packet processor */
  bool stop;        /* atomic: ends the thread, and the dispatch that it runs */
  bool orphan;      /* destroyed from its own thread: the thread frees it. Atomic */
};

struct executable_symbol {
  struct executable_symbol *next;
  const struct loaded_code *code;
  const struct loaded_kernel *kernel; /* a kernel, ... */
  const struct code_symbol *variable; /* ... or a variable */
};

struct executable {
  struct executable *next;
  bool frozen;
  struct loaded_code **code;
  uint32_t codes;
  struct executable_symbol *symbols; /* those that were asked for */
};

struct emu {
  pthread_mutex_t lock; /* of everything but the device */
  uint32_t references;  /* hsa_init calls; 0: not initialised */
  struct device device;
  struct queue *queues;
  struct executable *executables;
  hsa_amd_system_event_callback_t on_event;
  void *on_event_data;
};

extern struct emu emu;

/* Whether hsa_init has been called: every exported function asks this first. */
bool emu_running(void);

/* hsa_agent.c */
extern const hsa_agent_t emu_cpu_agent, emu_gpu_agent;
bool emu_is_agent(hsa_agent_t agent);

/* hsa_signal.c */
struct signal *signal_of(hsa_signal_t handle); /* NULL: not a signal */
struct signal *signal_new(int64_t value, amd_signal_kind64_t kind);
void signal_delete(struct signal *s);
void signal_add(struct signal *s, int64_t value);
void signal_put(struct signal *s, int64_t value);
/* Until the condition holds or `ns` have passed; the value seen last. */
int64_t signal_wait(struct signal *s, hsa_signal_condition_t condition, int64_t compare, uint64_t ns);

/* packets.c: runs the queue's packets until it is stopped; a pthread's main function, the argument is the queue. */
void *packets_process(void *queue);

/* hsa_queue.c */
void queue_delete(struct queue *q); /* stops it first; not from its own thread */
void queue_free(struct queue *q);   /* its thread has ended, or is the caller and ends now */

/* hsa_code.c */
void executable_delete(struct executable *e);
const struct loaded_kernel *executable_kernel(uint64_t object);        /* takes emu.lock */
const struct loaded_kernel *executable_kernel_named(const char *name); /* ... too */

#endif
