/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that HSA reports out of band: a GPU memory fault names an agent, not a queue. */
#ifndef FRONT_FAULT_H
#define FRONT_FAULT_H

#include "hsa_table.h"

struct fault {
  uint64_t address;
  uint32_t reasons; /* HSA_AMD_MEMORY_FAULT_... bits */
};

/* Who wants to know of an agent's faults. Owned by its queue. */
struct fault_watch {
  hsa_agent_t agent;
  /* Called from HSA's thread. True if the fault may be this watcher's: it has launches in flight. */
  bool (*tell)(struct fault_watch *watch, const struct fault *fault);
  struct fault_watch *next;
};

/* Listens for the library's memory faults until HSA is shut down. A library that refuses is no error: the queue's own error callback
   remains. A fault that no watcher takes is left to the process's other users of HSA. */
void fault_listen(const struct hsa_table *hsa);

/* Thread safe. Once fault_forget() has returned, tell() runs no more. */
void fault_watch(struct fault_watch *watch);
void fault_forget(struct fault_watch *watch);

/* "page not present, write to a read-only page". Truncated to `bytes`. */
void fault_reasons(uint32_t reasons, char *text, size_t bytes);

#endif
