/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that HSA reports out of band: a GPU memory fault names an agent, not a queue. */
#ifndef FRONT_FAULT_H
#define FRONT_FAULT_H

#include "hsa_table.h"

struct fault {
  uint64_t count;   /* faults of this agent so far */
  uint64_t address; /* of the last one */
  uint32_t reasons; /* HSA_AMD_MEMORY_FAULT_... bits */
};

/* Listens for this library's memory faults from now on, once a process: HSA has no way to stop listening. A library that refuses is
   no error: the queue's own error callback remains. */
void fault_listen(const struct hsa_table *hsa);

/* Memory faults of an agent since the process began. Thread safe. */
struct fault fault_of(hsa_agent_t agent);

/* "page not present, write to a read-only page". Truncated to `bytes`. */
void fault_reasons(uint32_t reasons, char *text, size_t bytes);

#endif
