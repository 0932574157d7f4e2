/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads use one device, kernel and bundle, each with its own queue, instance and binding. The thread sanitizer's run looks on. */
#include "stub_setup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, LAUNCHES = 500 };

struct shared {
  struct setup s;
  front_bundle bundle;
};

struct worker {
  const struct shared *shared;
  unsigned number, wrong;
  _Atomic unsigned calls;
};

static void on_ended(void *user, enum front_status status) {
  struct worker *w = user;
  if (status == FRONT_OK) w->calls++;
}

/* cmocka's assertions are for its own thread. */
static void check(struct worker *w, bool good) { w->wrong += !good; }

static void make_errors(struct worker *w) {
  struct front_pick pick;
  void *image;
  size_t bytes;
  char wanted[40];
  snprintf(wanted, sizeof wanted, "for %u tokens", 40 + w->number);
  check(w, front_pick(w->shared->bundle, "gfx950", "tp=8,ratio=0,window=1", 40 + w->number, &pick) == FRONT_ERR_NOT_FOUND);
  check(w, strstr(front_error(), wanted) != NULL); /* not another thread's */
  check(w, front_bundle_read(w->shared->bundle, "front_s1_tp8_r0_w1_t0", "gfx950", &image, &bytes) == FRONT_OK);
  free(image);
}

static void *work(void *data) {
  struct worker *w = data;
  const struct setup *s = &w->shared->s;
  front_instance instance;
  front_binding binding;
  front_queue queue;
  front_ticket ticket;
  const struct front_queue_options options = {.size = sizeof options, .launches = 8};
  const struct front_launch_options with = {.size = sizeof with, .ended = on_ended, .user = w};
  check(w, front_instance_create(s->kernel, NULL, &instance) == FRONT_OK);
  check(w, front_binding_create(instance, &s->args, &binding) == FRONT_OK);
  check(w, front_queue_create(s->device, &options, &queue) == FRONT_OK);
  for (unsigned i = 0; i < LAUNCHES && !w->wrong; i++) {
    enum front_status status = i % 4 ? front_launch(queue, binding, &ticket) : front_launch_with(queue, binding, &with, &ticket);
    check(w, status == FRONT_OK);
    if (i % 3 == 0) check(w, front_wait(ticket, UINT64_MAX) == FRONT_OK);
    if (i % 50 == 0) make_errors(w);
  }
  check(w, front_wait(ticket, UINT64_MAX) == FRONT_OK);
  check(w, w->calls == LAUNCHES / 4);
  check(w, front_queue_destroy(queue) == FRONT_OK);
  check(w, front_binding_destroy(binding) == FRONT_OK);
  check(w, front_instance_destroy(instance) == FRONT_OK);
  return NULL;
}

static void count_line(void *user, const char *line) {
  (void)line;
  ++*(_Atomic unsigned *)user;
}

static const char *object_path;

static void four_threads_share_a_device_and_do_not_disturb_each_other(void **context) {
  (void)context;
  struct shared shared = {.s = set_up(4)};
  struct worker worker[THREADS];
  pthread_t thread[THREADS];
  _Atomic unsigned lines = 0;
  stub->unnoted = true;
  front_log(count_line, &lines);
  assert_int_equal(front_bundle_open(object_path, &shared.bundle), FRONT_OK);
  for (unsigned i = 0; i < THREADS; i++) {
    worker[i] = (struct worker){.shared = &shared, .number = i};
    assert_int_equal(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
  }
  front_log(NULL, NULL); /* while they work */
  for (unsigned i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(worker[i].wrong, 0);
  }
  assert_true(lines > 0);
  assert_int_equal(front_bundle_close(shared.bundle), FRONT_OK);
  take_down(&shared.s);
}

struct opener {
  struct front_options options;
  unsigned wrong;
};

static void *open_and_close(void *data) {
  struct opener *o = data;
  for (int i = 0; i < 50; i++) {
    front_runtime runtime;
    front_device device;
    o->wrong += front_open(&o->options, &runtime) != FRONT_OK;
    o->wrong += front_device_open(runtime, NULL, &device) != FRONT_OK;
    o->wrong += front_device_close(device) != FRONT_OK;
    o->wrong += front_close(runtime) != FRONT_OK;
  }
  return NULL;
}

static void four_threads_open_and_close(void **context) {
  (void)context;
  pthread_t thread[THREADS];
  struct opener opener[THREADS];
  for (int i = 0; i < THREADS; i++) {
    opener[i] = (struct opener){.options = {sizeof(struct front_options), built_path("tests/runtime/libstub_hsa.so")}};
    assert_int_equal(pthread_create(&thread[i], NULL, open_and_close, &opener[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(opener[i].wrong, 0);
  }
  assert_int_equal(stub->inits, 0);
}

int main(int argc, char **argv) {
  if (argc != 2 || !stub_load()) return 1;
  object_path = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(four_threads_share_a_device_and_do_not_disturb_each_other, stub_before_each),
      cmocka_unit_test_setup(four_threads_open_and_close, stub_before_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
