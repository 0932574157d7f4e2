/* SPDX-License-Identifier: Apache-2.0 */
/* Counts forks. */
#include "process.h"

#include <pthread.h>

#include "status.h"

_Atomic uint32_t process_forks;

static void in_child(void) { process_forks++; }

static void watch(void) { (void)pthread_atfork(NULL, NULL, in_child); }

void process_watch(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, watch);
}

enum front_status process_forked(const char *call) {
  return status_fail(FRONT_ERR_FORKED,
      "%s: this process was forked from one that had opened HSA, which does not work in a child: fork before front_open, or exec", call);
}
