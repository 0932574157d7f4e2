/* SPDX-License-Identifier: Apache-2.0 */
/* The process's log callback. */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "front.h"

static struct {
  pthread_mutex_t lock; /* held while the callback runs: who replaces it knows that it has returned */
  _Atomic(front_log_callback) callback;
  void *user;
} sink = {.lock = PTHREAD_MUTEX_INITIALIZER};

void front_log(front_log_callback callback, void *user) {
  pthread_mutex_lock(&sink.lock);
  sink.callback = callback;
  sink.user = user;
  pthread_mutex_unlock(&sink.lock);
}

void log_line(const char *format, ...) {
  if (!sink.callback) return;
  char line[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  pthread_mutex_lock(&sink.lock);
  front_log_callback callback = sink.callback;
  if (callback) callback(sink.user, line);
  pthread_mutex_unlock(&sink.lock);
}
