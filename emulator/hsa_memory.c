/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, copies, fills, and host memory that kernels may reach. A device address is the host's, so that a copy is a memmove. */
#include <stdlib.h>
#include <string.h>

#include "hsa_pool.h"

enum { LOCKED_OWNER = UINT16_MAX - 2 };

/* What the program has left with an allocation: a pointer of its own, functions to call when it goes. */
struct note {
  struct note *next;
  uint64_t base;
  hsa_amd_deallocation_callback_t callback; /* NULL: this is the program's pointer */
  void *data;
};

/* Host memory that is locked: as often as it was asked for. */
struct locked {
  struct locked *next;
  uint64_t base, bytes;
  uint32_t times, flags;
};

static struct note *notes;    /* under emu.lock */
static struct locked *locked; /* ... too */

void memory_notes_delete(void) {
  while (notes) {
    struct note *next = notes->next;
    free(notes);
    notes = next;
  }
  while (locked) {
    struct locked *next = locked->next;
    free(locked);
    locked = next;
  }
}

static bool find(const void *ptr, struct allocation *a) { return memory_find(emu.device.memory, (uint64_t)(uintptr_t)ptr, a); }

/* The allocation as large as was asked for, not rounded up: an access behind its end is found. */
hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **ptr) {
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!pool_of(pool.handle, &p)) return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!ptr || !size || flags) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (p.segment != HSA_AMD_SEGMENT_GLOBAL || size > p.bytes) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  uint64_t base = memory_allocate(emu.device.memory, size, 0, p.number);
  if (!base) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  struct hsa_emu_strict strict;
  char error[STRICT_ERROR_MAX];
  bool poison = device_strict(&emu.device, &strict, error) && strict.on;
  memory_describe(emu.device.memory, base, p.gpu && p.flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, poison);
  *ptr = (void *)(uintptr_t)base;
  return HSA_STATUS_SUCCESS;
}

/* Takes the allocation's notes out of the list. */
static struct note *take_notes(uint64_t base) {
  struct note *taken = NULL;
  pthread_mutex_lock(&emu.lock);
  for (struct note **at = &notes; *at;) {
    struct note *n = *at;
    if (n->base != base) {
      at = &n->next;
      continue;
    }
    *at = n->next;
    n->next = taken;
    taken = n;
  }
  pthread_mutex_unlock(&emu.lock);
  return taken;
}

hsa_status_t hsa_amd_memory_pool_free(void *ptr) {
  struct allocation a;
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr) return HSA_STATUS_SUCCESS;
  uint64_t base = (uint64_t)(uintptr_t)ptr;
  if (!find(ptr, &a) || a.base != base || !pool_of(a.owner, &p)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  for (struct note *n = take_notes(base), *next; n; n = next) {
    next = n->next;
    if (n->callback) n->callback(ptr, n->data);
    free(n);
  }
  if (a.ranges) { /* a running launch counts in them: it ends first */
    turns_take_alone(&emu.device.turns);
    traffic_forget(&emu.device.traffic, emu.device.memory, base);
    turns_give(&emu.device.turns);
  }
  return memory_free(emu.device.memory, base) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_memory_free(void *ptr) { return hsa_amd_memory_pool_free(ptr); }

/* Every agent reaches all memory. */
hsa_status_t hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t *agents, const uint32_t *flags, const void *ptr) {
  struct allocation a;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!num_agents || !agents || flags || !ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < num_agents; i++)
    if (!emu_is_agent(agents[i])) return HSA_STATUS_ERROR_INVALID_AGENT;
  return find(ptr, &a) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_memory_assign_agent(void *ptr, hsa_agent_t agent, hsa_access_permission_t access) {
  struct allocation a;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  bool known = access == HSA_ACCESS_PERMISSION_RO || access == HSA_ACCESS_PERMISSION_WO || access == HSA_ACCESS_PERMISSION_RW;
  if (!ptr || !known) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  return find(ptr, &a) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_memory_copy(void *dst, const void *src, size_t size) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!size) return HSA_STATUS_SUCCESS;
  if (!dst || !src) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  memmove(dst, src, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count) {
  struct allocation a;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr || (uintptr_t)ptr % 4) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!count) return HSA_STATUS_SUCCESS;
  if (!find(ptr, &a) || count > (a.bytes - ((uint64_t)(uintptr_t)ptr - a.base)) / 4) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  uint32_t *words = ptr;
  for (size_t i = 0; i < count; i++) words[i] = value;
  return HSA_STATUS_SUCCESS;
}

/* --- pools that memory moves between: none ----------------------------------------------------------------------------------------- */

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t src_memory_pool, hsa_amd_memory_pool_t dst_memory_pool, bool *result) {
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!pool_of(src_memory_pool.handle, &p) || !pool_of(dst_memory_pool.handle, &p))
    return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = false;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_migrate(const void *ptr, hsa_amd_memory_pool_t memory_pool, uint32_t flags) {
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr || flags) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!pool_of(memory_pool.handle, &p)) return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* --- host memory -------------------------------------------------------------------------------------------------------------------- */

/* The lock that begins at base, or holds it. The caller holds emu.lock. */
static struct locked **locked_at(uint64_t base, bool inside) {
  struct locked **at = &locked;
  while (*at && (inside ? base - (*at)->base >= (*at)->bytes : (*at)->base != base)) at = &(*at)->next;
  return at;
}

static hsa_status_t lock_host(void *ptr, size_t size, uint32_t flags) {
  uint64_t base = (uint64_t)(uintptr_t)ptr;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  pthread_mutex_lock(&emu.lock);
  struct locked *l = *locked_at(base, false);
  if (l && l->bytes == size) {
    l->times++;
  } else {
    l = malloc(sizeof *l);
    if (l && memory_adopt(emu.device.memory, base, size, LOCKED_OWNER)) {
      *l = (struct locked){.next = locked, .base = base, .bytes = size, .times = 1, .flags = flags};
      locked = l;
    } else {
      status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
      free(l);
    }
  }
  pthread_mutex_unlock(&emu.lock);
  return status;
}

/* False: it is not locked. */
static bool unlock_host(const void *ptr) {
  pthread_mutex_lock(&emu.lock);
  struct locked **at = locked_at((uint64_t)(uintptr_t)ptr, false), *l = *at;
  if (l && !--l->times) {
    memory_free(emu.device.memory, l->base);
    *at = l->next;
    free(l);
  }
  pthread_mutex_unlock(&emu.lock);
  return l != NULL;
}

hsa_status_t hsa_amd_memory_lock_to_pool(
    void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent, hsa_amd_memory_pool_t pool, uint32_t flags, void **agent_ptr) {
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!size || !host_ptr || !agent_ptr || flags || (agents == NULL) != (num_agent == 0)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (int i = 0; i < num_agent; i++)
    if (!emu_is_agent(agents[i])) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!pool_of(pool.handle, &p) || p.gpu) return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  hsa_status_t status = lock_host(host_ptr, size, p.flags);
  if (status == HSA_STATUS_SUCCESS) *agent_ptr = host_ptr;
  return status;
}

static hsa_status_t take_first(hsa_amd_memory_pool_t pool, void *data) {
  *(hsa_amd_memory_pool_t *)data = pool;
  return HSA_STATUS_INFO_BREAK;
}

hsa_status_t hsa_amd_memory_lock(void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent, void **agent_ptr) {
  hsa_amd_memory_pool_t pool;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_amd_agent_iterate_memory_pools(emu_cpu_agent, take_first, &pool);
  return hsa_amd_memory_lock_to_pool(host_ptr, size, agents, num_agent, pool, 0, agent_ptr);
}

hsa_status_t hsa_amd_memory_unlock(void *host_ptr) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return host_ptr && unlock_host(host_ptr) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* Memory that HSA gave out is registered already. */
hsa_status_t hsa_memory_register(void *ptr, size_t size) {
  struct allocation a;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr && !size) return HSA_STATUS_SUCCESS;
  if (!ptr || !size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (find(ptr, &a) && a.owner != LOCKED_OWNER) return HSA_STATUS_SUCCESS;
  return lock_host(ptr, size, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
}

hsa_status_t hsa_memory_deregister(void *ptr, size_t size) {
  (void)size;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr) unlock_host(ptr);
  return HSA_STATUS_SUCCESS;
}

/* --- what is known of a pointer ------------------------------------------------------------------------------------------------------ */

static void *data_of(uint64_t base) {
  pthread_mutex_lock(&emu.lock);
  const struct note *n = notes;
  while (n && (n->base != base || n->callback)) n = n->next;
  void *data = n ? n->data : NULL;
  pthread_mutex_unlock(&emu.lock);
  return data;
}

static uint32_t locked_flags(uint64_t base) {
  pthread_mutex_lock(&emu.lock);
  const struct locked *l = *locked_at(base, true);
  uint32_t flags = l ? l->flags : 0;
  pthread_mutex_unlock(&emu.lock);
  return flags;
}

/* Whoever can reach an allocation: all agents. */
static hsa_status_t list_agents(void *(*alloc)(size_t), uint32_t *count, hsa_agent_t **agents) {
  uint32_t n = emu.gpus + 1;
  hsa_agent_t *list = alloc(n * sizeof *list);
  if (!list) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  list[0] = emu_cpu_agent;
  for (uint32_t i = 1; i < n; i++) list[i] = emu_gpu_agent(i - 1);
  *agents = list;
  *count = n;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info(
    const void *ptr, hsa_amd_pointer_info_t *info, void *(*alloc)(size_t), uint32_t *num_agents_accessible, hsa_agent_t **accessible) {
  struct allocation a;
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr || !info || !info->size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_amd_pointer_info_t found = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
  bool list = alloc && num_agents_accessible && accessible;
  if (list) *num_agents_accessible = 0;
  if (find(ptr, &a) && (pool_of(a.owner, &p) || a.owner == LOCKED_OWNER)) {
    bool host = a.owner == LOCKED_OWNER;
    found = (hsa_amd_pointer_info_t){.type = host ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_HSA,
        .agentBaseAddress = (void *)(uintptr_t)a.base,
        .hostBaseAddress = (void *)(uintptr_t)a.base,
        .sizeInBytes = a.bytes,
        .userData = data_of(a.base),
        .agentOwner = host ? emu_cpu_agent : p.owner,
        .global_flags = host ? locked_flags(a.base) : p.flags};
    hsa_status_t status = list ? list_agents(alloc, num_agents_accessible, accessible) : HSA_STATUS_SUCCESS;
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  found.size = info->size < sizeof found ? info->size : (uint32_t)sizeof found;
  memcpy(info, &found, found.size);
  return HSA_STATUS_SUCCESS;
}

/* A note on the allocation that begins at ptr. */
static hsa_status_t add_note(const void *ptr, hsa_amd_deallocation_callback_t callback, void *data) {
  struct note *n = malloc(sizeof *n);
  if (!n) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *n = (struct note){.base = (uint64_t)(uintptr_t)ptr, .callback = callback, .data = data};
  pthread_mutex_lock(&emu.lock);
  n->next = notes;
  notes = n;
  pthread_mutex_unlock(&emu.lock);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata) {
  struct allocation a;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr || !find(ptr, &a) || a.base != (uint64_t)(uintptr_t)ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return add_note(ptr, NULL, userdata); /* the newest is found first */
}

hsa_status_t hsa_amd_register_deallocation_callback(void *ptr, hsa_amd_deallocation_callback_t callback, void *user_data) {
  struct allocation a;
  struct pool p;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr || !callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool known = find(ptr, &a) && pool_of(a.owner, &p) && a.base == (uint64_t)(uintptr_t)ptr;
  return known ? add_note(ptr, callback, user_data) : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_deregister_deallocation_callback(void *ptr, hsa_amd_deallocation_callback_t callback) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!ptr || !callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&emu.lock);
  struct note **at = &notes;
  while (*at && ((*at)->base != (uint64_t)(uintptr_t)ptr || (*at)->callback != callback)) at = &(*at)->next;
  struct note *n = *at;
  if (n) *at = n->next;
  pthread_mutex_unlock(&emu.lock);
  free(n);
  return n ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
