/* SPDX-License-Identifier: Apache-2.0 */
/* bench_runtime LAUNCHES: what a launch costs the host, with an HSA library that does nothing; and opening a bundle of 144 code objects.
   Fails if the path of a launch allocates or locks. */
#include "stub_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "wrapped.h"

enum { WAIT_EVERY = 32, OBJECTS = 144 };

static unsigned long launches;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void a_launch_neither_allocates_nor_locks(void **context) {
  (void)context;
  struct setup s = set_up(64);
  front_ticket ticket = {0};
  stub->unnoted = true;
  for (int i = 0; i < 100; i++) assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  uint64_t allocations = wrapped_allocations, locks = wrapped_locks;
  unsigned failures = 0;
  double start = now(), waiting = 0;
  for (unsigned long i = 0; i < launches; i++) {
    failures += front_launch(s.queue, s.binding, &ticket) != FRONT_OK;
    if (i % WAIT_EVERY) continue;
    double before = now();
    failures += front_wait(ticket, UINT64_MAX) != FRONT_OK;
    waiting += now() - before;
  }
  double all = now() - start;
  assert_int_equal(failures, 0);
  assert_int_equal(wrapped_allocations, allocations);
  assert_int_equal(wrapped_locks, locks);
  printf("%lu launches: %.0f ns a launch, the pretended HSA included; a wait for 32 of them %.0f ns\n", launches,
      (all - waiting) / (double)launches, waiting * (double)WAIT_EVERY / (double)launches);
  take_down(&s);
}

static void a_bundle_of_144_opens(void **context) {
  (void)context;
  const char *dir = temp_dir();
  char index[OBJECTS * 128];
  size_t used = 0;
  for (int i = 0; i < OBJECTS; i++) {
    char file[100];
    snprintf(file, sizeof file, "front_s%d_tp4_r%d_w128_t%d.gfx950.hsaco", 1 + i % 48, 1 + i / 96, i / 48 % 2);
    write_file(path_in(dir, file), "", 0);
    used += (size_t)snprintf(index + used, sizeof index - used, "%064d  %s\n", i, file);
  }
  write_file(path_in(dir, "SHA256SUMS"), index, used);
  front_bundle bundle;
  size_t count;
  double start = now();
  assert_int_equal(front_bundle_open(dir, &bundle), FRONT_OK);
  double opened = now();
  assert_int_equal(front_bundle_count(bundle, &count), FRONT_OK);
  assert_int_equal(count, OBJECTS);
  printf("opening a bundle of %d code objects: %.2f ms\n", OBJECTS, (opened - start) / 1e6);
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
}

int main(int argc, char **argv) {
  launches = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
  if (!stub_load()) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_launch_neither_allocates_nor_locks, stub_before_each),
      cmocka_unit_test(a_bundle_of_144_opens),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
