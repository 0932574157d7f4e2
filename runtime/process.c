/* SPDX-License-Identifier: Apache-2.0 */
/* Counts forks, and keeps locks out of them. */
#include "process.h"

#include "status.h"

_Atomic uint32_t process_forks;

pthread_mutex_t process_lock[PROCESS_LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void) {
  for (int i = 0; i < PROCESS_LOCKS; i++) pthread_mutex_lock(&process_lock[i]);
}

static void in_parent(void) {
  for (int i = 0; i < PROCESS_LOCKS; i++) pthread_mutex_unlock(&process_lock[i]);
}

static void in_child(void) {
  process_forks++;
  in_parent();
}

static void watch(void) { (void)pthread_atfork(before_fork, in_parent, in_child); }

void process_watch(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, watch);
}

enum front_status process_forked(const char *call) {
  return status_fail(FRONT_ERR_FORKED,
      "%s: this process was forked from one that had opened HSA, which does not work in a child: fork before front_open, or exec", call);
}
