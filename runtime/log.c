/* SPDX-License-Identifier: Apache-2.0 */
/* The process's log callback. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

#include "process.h"
#include "status.h"

/* PROCESS_LOCK_LOG is held while the callback runs: who replaces it knows that it has returned. */
static struct {
  _Atomic(front_log_callback) callback;
  void *user;
} sink;

void front_log(front_log_callback callback, void *user) {
  process_watch();
  pthread_mutex_lock(&process_lock[PROCESS_LOCK_LOG]);
  sink.callback = callback;
  sink.user = user;
  pthread_mutex_unlock(&process_lock[PROCESS_LOCK_LOG]);
}

void log_line(const char *format, ...) {
  if (!sink.callback) return;
  char line[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  status_line(line);
  pthread_mutex_lock(&process_lock[PROCESS_LOCK_LOG]);
  front_log_callback callback = sink.callback;
  if (callback) callback(sink.user, line);
  pthread_mutex_unlock(&process_lock[PROCESS_LOCK_LOG]);
}
