/* SPDX-License-Identifier: Apache-2.0 */
/* Turns are numbers: everybody takes one and waits for it. */
#include "turns.h"

void turns_init(struct turns *t) {
  *t = (struct turns){.launches = 0};
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->changed, NULL);
}

void turns_free(struct turns *t) {
  pthread_cond_destroy(&t->changed);
  pthread_mutex_destroy(&t->lock);
}

void turns_take(struct turns *t) {
  pthread_mutex_lock(&t->lock);
  uint64_t mine = t->asked++;
  while (t->given != mine) pthread_cond_wait(&t->changed, &t->lock);
  pthread_mutex_unlock(&t->lock);
}

void turns_give(struct turns *t) {
  pthread_mutex_lock(&t->lock);
  t->given++;
  pthread_cond_broadcast(&t->changed);
  pthread_mutex_unlock(&t->lock);
}

bool turns_wanted(struct turns *t) {
  pthread_mutex_lock(&t->lock);
  bool wanted = t->asked - t->given > 1;
  pthread_mutex_unlock(&t->lock);
  return wanted;
}

void turns_take_alone(struct turns *t) {
  for (;;) {
    turns_take(t);
    if (!t->launches) return;
    turns_give(t);
    pthread_mutex_lock(&t->lock);
    while (t->launches) pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
  }
}

static void count(struct turns *t, uint32_t change) {
  pthread_mutex_lock(&t->lock);
  t->launches += change;
  pthread_cond_broadcast(&t->changed);
  pthread_mutex_unlock(&t->lock);
}

void turns_begin_launch(struct turns *t) { count(t, 1); }
void turns_end_launch(struct turns *t) { count(t, UINT32_MAX); }
