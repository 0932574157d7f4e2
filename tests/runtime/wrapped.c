/* SPDX-License-Identifier: Apache-2.0 */
#include "wrapped.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

_Atomic uint64_t wrapped_allocations, wrapped_locks, wrapped_fail;

static bool fails(void) {
  wrapped_allocations++;
  if (!wrapped_fail || --wrapped_fail) return false;
  errno = ENOMEM;
  return true;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *p, size_t size) { return fails() ? NULL : __real_realloc(p, size); }

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
  wrapped_locks++;
  return __real_pthread_mutex_lock(mutex);
}
