/* SPDX-License-Identifier: Apache-2.0 */
/* libfront on the pretended HSA library, ready to launch: what tests of the runtime begin with. */
#ifndef FRONT_TESTS_STUB_SETUP_H
#define FRONT_TESTS_STUB_SETUP_H

#include "support.h"

#include "front.h"
#include "stub_hsa.h"

/* The loaded library's, from stub_load() on. */
extern struct stub_state *stub;
extern void (*finish_stub)(void), (*raise_memory_fault)(void);

/* A function of the library's, as another user of HSA in the process would get it. */
void stub_function(const char *name, void *function);

/* The key of make_object()'s kernel. */
extern const char stub_key[];

/* Loads the library; false, with a line on stderr, if it cannot. */
bool stub_load(void);

/* A cmocka setup function: the library pretends as at its start. */
int stub_before_each(void **context);

/* A kernel that only ends, without a note. Kept for the program's life. */
const void *make_object(const char *cpu, unsigned kernarg, unsigned private_bytes, unsigned threads, size_t *bytes);

front_device open_stub(front_runtime *runtime);

/* Also holds that nothing of the library is left. */
void close_stub(front_runtime runtime, front_device device);

enum { STUB_MEMORY_BYTES = 20 << 20 }; /* of struct setup: as much as the largest argument */

/* Everything up to a queue, with every pointer of the binding good. */
struct setup {
  front_runtime runtime;
  front_device device;
  front_kernel kernel;
  front_instance instance;
  front_binding binding;
  front_queue queue;
  void *memory;
  struct front_args args;
};

/* Every pointer is `m`. */
struct front_args good_args(void *m);

/* `launches`: of the queue; 0: the default. */
struct setup set_up(uint32_t launches);
void take_down(struct setup *s);

#endif
