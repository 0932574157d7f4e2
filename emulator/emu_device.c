/* SPDX-License-Identifier: Apache-2.0 */
/* The device that launches share: its beginning and end, and what the program or the environment says of it. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "dispatch.h"

bool device_init(struct device *d, const struct model *model) {
  *d = (struct device){.model = model, .memory = memory_create()};
  turns_init(&d->turns);
  pthread_mutex_init(&d->report_lock, NULL);
  return d->memory != NULL;
}

void device_free(struct device *d) {
  workers_destroy(d->workers);
  traffic_clear(&d->traffic, d->memory);
  profile_clear(&d->profile);
  memory_destroy(d->memory);
  if (d->arena) munmap(d->arena, d->arena_bytes);
  report_clear(&d->report);
  report_clear(&d->remarks);
  findings_clear(&d->findings);
  turns_free(&d->turns);
  pthread_mutex_destroy(&d->report_lock);
}

enum { THREADS_MAX = 256 };

/* 0: it does not say, or not what it must, which is told once. */
static uint32_t threads_of_environment(void) {
  static bool told;
  const char *text = getenv("FRONT_EMU_THREADS");
  if (!text || !*text) return 0;
  char *end;
  unsigned long n = strtoul(text, &end, 10);
  if (!*end && *text != '-' && n >= 1 && n <= THREADS_MAX) return (uint32_t)n;
  if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
    fprintf(stderr, "libhsa-emu: FRONT_EMU_THREADS is \"%.40s\": 1 to %d are possible; there is one a CPU now\n", text, THREADS_MAX);
  return 0;
}

uint32_t device_threads(const struct device *d) {
  uint32_t wanted = __atomic_load_n(&d->threads, __ATOMIC_RELAXED);
  if (!wanted) wanted = threads_of_environment();
  if (wanted) return wanted;
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus)) return 1;
  int n = CPU_COUNT(&cpus);
  return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (uint32_t)n;
}

bool device_strict(struct device *d, struct hsa_emu_strict *options, char error[STRICT_ERROR_MAX]) {
  pthread_mutex_lock(&d->report_lock);
  bool set = d->strict_set;
  *options = d->strict;
  pthread_mutex_unlock(&d->report_lock);
  return set || strict_from_environment(options, error);
}
