/* SPDX-License-Identifier: Apache-2.0 */
/* The device that launches share: its beginning and end, and what the program or the environment says of it. */
#include <sched.h>
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

uint32_t device_threads(const struct device *d) {
  uint32_t wanted = __atomic_load_n(&d->threads, __ATOMIC_RELAXED);
  if (wanted) return wanted;
  const char *text = getenv("FRONT_EMU_THREADS");
  if (text && *text) {
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (!*end && n >= 1 && n <= 256) return (uint32_t)n;
  }
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus)) return 1;
  int n = CPU_COUNT(&cpus);
  return n < 1 ? 1 : n > 256 ? 256 : (uint32_t)n;
}

bool device_strict(struct device *d, struct hsa_emu_strict *options, char error[STRICT_ERROR_MAX]) {
  pthread_mutex_lock(&d->report_lock);
  bool set = d->strict_set;
  *options = d->strict;
  pthread_mutex_unlock(&d->report_lock);
  return set || strict_from_environment(options, error);
}
