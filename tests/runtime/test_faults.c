/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever fails, and whenever: it is reported, nothing hangs, nothing is left behind (the sanitizer's run counts the bytes). */
#include "stub_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wrapped.h"

/* Everything from open to close with one launch, as far as it goes; the first failure, and its text, which must be there. */
static enum front_status whole(const void *image, size_t bytes, char *text) {
  const struct front_options options = {sizeof options, built_path("tests/runtime/libstub_hsa.so")};
  struct setup s = {0};
  front_ticket ticket;
  enum front_status status = front_open(&options, &s.runtime);
  if (status == FRONT_OK) status = front_device_open(s.runtime, NULL, &s.device);
  if (status == FRONT_OK) status = front_kernel_load(s.device, image, bytes, stub_key, &s.kernel);
  if (status == FRONT_OK) status = front_instance_create(s.kernel, NULL, &s.instance);
  if (status == FRONT_OK) status = front_memory_allocate(s.device, 4096, &s.memory);
  if (status == FRONT_OK) s.args = good_args((void *)(uintptr_t)4096); /* never followed */
  if (status == FRONT_OK) status = front_memory_fill(s.device, s.memory, 0, 64);
  if (status == FRONT_OK) status = front_memory_copy(s.device, s.memory, &s.args, sizeof s.args);
  if (status == FRONT_OK) status = front_binding_create(s.instance, &s.args, &s.binding);
  if (status == FRONT_OK) status = front_queue_create(s.device, NULL, &s.queue);
  if (status == FRONT_OK) status = front_launch(s.queue, s.binding, &ticket);
  if (status == FRONT_OK) status = front_wait(ticket, 0);
  snprintf(text, 512, "%.511s", status == FRONT_OK ? "" : front_error());
  if (s.queue.impl) assert_int_equal(front_queue_destroy(s.queue), FRONT_OK);
  if (s.binding.impl) assert_int_equal(front_binding_destroy(s.binding), FRONT_OK);
  if (s.instance.impl) assert_int_equal(front_instance_destroy(s.instance), FRONT_OK);
  if (s.memory) assert_int_equal(front_memory_free(s.device, s.memory), FRONT_OK);
  if (s.kernel.impl) assert_int_equal(front_kernel_destroy(s.kernel), FRONT_OK);
  if (s.device.impl) assert_int_equal(front_device_close(s.device), FRONT_OK);
  if (s.runtime.impl) assert_int_equal(front_close(s.runtime), FRONT_OK);
  assert_int_equal(stub->inits + stub->allocations + stub->queues + stub->signals + stub->executables + stub->readers, 0);
  return status;
}

/* Without these libfront knows less, and goes on. */
static bool is_dispensable(const char *function) {
  static const char *const names[] = {"hsa_amd_pointer_info", "hsa_amd_queue_cu_get_mask", "hsa_amd_agent_memory_pool_get_info",
      "hsa_amd_agents_allow_access", "hsa_agent_get_info"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(function, names[i])) return true;
  return false;
}

static void each_hsa_call_may_fail(void **context) {
  (void)context;
  size_t bytes;
  unsigned reported = 0, done_without = 0;
  char text[512];
  const void *image = make_object("gfx950", 216, 0, 512, &bytes);
  for (uint32_t n = 1; n < 1000; n++) {
    stub->fail_call = n;
    stub->failed = NULL;
    enum front_status status = whole(image, bytes, text);
    bool reached = stub->failed != NULL;
    stub->fail_call = 0;
    if (!reached) {
      assert_int_equal(status, FRONT_OK);
      break;
    }
    if (status == FRONT_OK && !is_dispensable(stub->failed)) fail_msg("%s failed, and nobody said so", stub->failed);
    if (status != FRONT_OK && !*text) fail_msg("%s failed without a word", stub->failed);
    (void)(status == FRONT_OK ? done_without++ : reported++);
    assert_true(n < 999);
  }
  assert_true(reported > 80); /* 64 signals among them */
  assert_true(done_without > 10);
}

static void each_host_allocation_may_fail(void **context) {
  (void)context;
  size_t bytes;
  unsigned reported = 0;
  char text[512];
  const void *image = make_object("gfx950", 216, 0, 512, &bytes);
  for (uint64_t n = 1; n < 1000; n++) {
    wrapped_fail = n;
    enum front_status status = whole(image, bytes, text);
    bool reached = wrapped_fail == 0;
    wrapped_fail = 0;
    if (!reached) break;
    if (status != FRONT_ERR_MEMORY && status != FRONT_ERR_CODE_OBJECT)
      fail_msg("allocation %u: %s: %s", (unsigned)n, front_status_name(status), text);
    reported++;
  }
  assert_true(reported >= 8);
}

enum fault { GOOD, SLOW, LOST, QUEUE_ERROR, MEMORY_FAULT, GAVE_UP, WRONG_ISA, TRUNCATED, NO_MEMORY, FULL, FAULTS };

static void new_queue(struct setup *s) {
  assert_int_equal(front_queue_destroy(s->queue), FRONT_OK);
  const struct front_queue_options options = {.size = sizeof options, .launches = 4};
  assert_int_equal(front_queue_create(s->device, &options, &s->queue), FRONT_OK);
}

/* A launch that ends as `expected` says; the queue afterwards is a good one. */
static void launch_into(struct setup *s, enum stub_behaviour behaviour, enum front_status expected) {
  front_ticket ticket;
  stub->behaviour = behaviour;
  assert_int_equal(front_launch(s->queue, s->binding, &ticket), FRONT_OK);
  enum front_status status = front_wait(ticket, behaviour == STUB_LOST ? 1000 : UINT64_MAX);
  if (status != expected) fail_msg("behaviour %d: %s: %s", behaviour, front_status_name(status), front_error());
  if (behaviour == STUB_LOST) assert_int_equal(front_queue_stop(s->queue), FRONT_OK);
  stub->behaviour = STUB_COMPLETES;
  if (behaviour == STUB_LOST || expected == FRONT_ERR_FAULT) new_queue(s);
}

static void fill_the_queue(struct setup *s) {
  front_ticket ticket[4];
  stub->behaviour = STUB_HANGS;
  for (int i = 0; i < 4; i++) assert_int_equal(front_launch(s->queue, s->binding, &ticket[i]), FRONT_OK);
  assert_int_equal(front_launch(s->queue, s->binding, NULL), FRONT_ERR_BUSY);
  finish_stub();
  for (int i = 0; i < 4; i++) assert_int_equal(front_wait(ticket[i], 0), FRONT_OK);
}

static void one_fault(struct setup *s, enum fault fault, uint32_t draw) {
  size_t bytes;
  front_kernel kernel;
  front_instance instance;
  const void *image = make_object(fault == WRONG_ISA ? "gfx942" : "gfx950", 216, 0, 512, &bytes);
  switch (fault) {
  case LOST:
    return launch_into(s, STUB_LOST, FRONT_ERR_TIMEOUT);
  case QUEUE_ERROR:
    return launch_into(s, STUB_QUEUE_ERROR, FRONT_ERR_FAULT);
  case MEMORY_FAULT:
    return launch_into(s, STUB_MEMORY_FAULT, FRONT_ERR_FAULT);
  case GAVE_UP:
    stub->gives_up = 1;
    return launch_into(s, STUB_COMPLETES, FRONT_ERR_TIMEOUT);
  case WRONG_ISA:
    assert_int_equal(front_kernel_load(s->device, image, bytes, stub_key, &kernel), FRONT_ERR_ISA);
    return;
  case TRUNCATED:
    assert_int_equal(front_kernel_load(s->device, image, draw % bytes, stub_key, &kernel), FRONT_ERR_CODE_OBJECT);
    return;
  case NO_MEMORY:
    stub->fail_allocation = 1 + draw % 3;
    assert_int_equal(front_instance_create(s->kernel, NULL, &instance), FRONT_ERR_MEMORY);
    return;
  case FULL:
    return fill_the_queue(s);
  default: /* a wait is early each time it is called */
    return launch_into(s, fault == SLOW ? STUB_SLOW : STUB_COMPLETES, FRONT_OK);
  }
}

static void ten_thousand_launches_with_faults_among_them_are_each_reported(void **context) {
  (void)context;
  struct setup s = set_up(4);
  uint32_t state = 1, seen[FAULTS] = {0};
  stub->unnoted = true;
  for (int i = 0; i < 10000; i++) {
    state = state * 1664525 + 1013904223;
    enum fault fault = state >> 30 ? GOOD : (enum fault)(state >> 16) % FAULTS;
    seen[fault]++;
    one_fault(&s, fault, state >> 8);
    if (fault > SLOW) launch_into(&s, STUB_COMPLETES, FRONT_OK); /* what comes behind is good */
  }
  for (int i = 0; i < FAULTS; i++) assert_true(seen[i] > 50);
  take_down(&s);
}

int main(void) {
  if (!stub_load()) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(each_hsa_call_may_fail, stub_before_each),
      cmocka_unit_test_setup(each_host_allocation_may_fail, stub_before_each),
      cmocka_unit_test_setup(ten_thousand_launches_with_faults_among_them_are_each_reported, stub_before_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
