/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of host threads. A round is started and ended under the lock, which also orders what the threads wrote. */
#include "workers.h"

#include <pthread.h>
#include <stdlib.h>

struct workers {
  uint32_t threads; /* the caller included */
  pthread_t *thread;
  uint32_t started;
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  uint64_t round;
  uint32_t busy;
  bool stop;
  void (*fn)(void *context, uint32_t i);
  void *context;
  uint32_t count, next;
};

static void share(struct workers *w) {
  for (;;) {
    uint32_t i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
    if (i >= w->count) return;
    w->fn(w->context, i);
  }
}

static void *worker(void *argument) {
  struct workers *w = argument;
  uint64_t seen = 0;
  pthread_mutex_lock(&w->lock);
  for (;;) {
    while (w->round == seen && !w->stop) pthread_cond_wait(&w->begin, &w->lock);
    if (w->stop) break;
    seen = w->round;
    pthread_mutex_unlock(&w->lock);
    share(w);
    pthread_mutex_lock(&w->lock);
    if (!--w->busy) pthread_cond_signal(&w->end);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

struct workers *workers_create(uint32_t threads) {
  struct workers *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->threads = threads ? threads : 1;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->begin, NULL);
  pthread_cond_init(&w->end, NULL);
  w->thread = calloc(w->threads, sizeof *w->thread);
  while (w->thread && w->started + 1 < w->threads && !pthread_create(&w->thread[w->started], NULL, worker, w)) w->started++;
  if (w->started + 1 == w->threads) return w;
  workers_destroy(w);
  return NULL;
}

void workers_destroy(struct workers *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->stop = true;
  pthread_cond_broadcast(&w->begin);
  pthread_mutex_unlock(&w->lock);
  for (uint32_t i = 0; i < w->started; i++) pthread_join(w->thread[i], NULL);
  pthread_cond_destroy(&w->begin);
  pthread_cond_destroy(&w->end);
  pthread_mutex_destroy(&w->lock);
  free(w->thread);
  free(w);
}

uint32_t workers_threads(const struct workers *w) { return w->threads; }

void workers_run(struct workers *w, void (*fn)(void *context, uint32_t i), void *context, uint32_t count) {
  w->fn = fn;
  w->context = context;
  w->count = count;
  w->next = 0;
  if (count < 2 || !w->started) {
    share(w);
    return;
  }
  pthread_mutex_lock(&w->lock);
  w->busy = w->started;
  w->round++;
  pthread_cond_broadcast(&w->begin);
  pthread_mutex_unlock(&w->lock);
  share(w);
  pthread_mutex_lock(&w->lock);
  while (w->busy) pthread_cond_wait(&w->end, &w->lock);
  pthread_mutex_unlock(&w->lock);
}
