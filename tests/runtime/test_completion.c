/* SPDX-License-Identifier: Apache-2.0 */
/* How a launch begins and ends: signals of the caller's, callbacks, queue options, a queue that is given up. */
#include "stub_setup.h"

#include <stdatomic.h>
#include <string.h>

struct hsa_calls {
  __typeof__(hsa_signal_create) *create;
  __typeof__(hsa_signal_destroy) *destroy;
  __typeof__(hsa_signal_load_scacquire) *load;
  __typeof__(hsa_signal_store_screlease) *store;
};

/* As another user of HSA in the process would get them. */
static struct hsa_calls hsa_calls(void) {
  struct hsa_calls hsa;
  stub_function("hsa_signal_create", &hsa.create);
  stub_function("hsa_signal_destroy", &hsa.destroy);
  stub_function("hsa_signal_load_scacquire", &hsa.load);
  stub_function("hsa_signal_store_screlease", &hsa.store);
  return hsa;
}

static void a_launch_waits_for_the_callers_signal_and_counts_down_another(void **context) {
  (void)context;
  struct hsa_calls hsa = hsa_calls();
  struct setup s = set_up(4);
  hsa_signal_t after, completion;
  front_ticket ticket, behind;
  assert_int_equal(hsa.create(1, 0, NULL, &after), HSA_STATUS_SUCCESS);
  assert_int_equal(hsa.create(5, 0, NULL, &completion), HSA_STATUS_SUCCESS);
  const struct front_launch_options options = {.size = sizeof options, .after = after.handle, .completion = completion.handle};
  assert_int_equal(front_launch_with(s.queue, s.binding, &options, &ticket), FRONT_OK);
  assert_int_equal(front_launch(s.queue, s.binding, &behind), FRONT_OK);
  assert_int_equal(stub->packets, 0); /* both wait */
  assert_int_equal(front_wait(ticket, 1000), FRONT_ERR_TIMEOUT);
  assert_int_equal(hsa.load(completion), 5);
  hsa.store(after, 0);
  assert_int_equal(front_wait(behind, 0), FRONT_OK);
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  assert_int_equal(hsa.load(completion), 4);
  assert_int_equal(stub->packets, 2);
  for (int i = 0; i < 2; i++) assert_int_equal(stub->packet[i].header, 2 | 1 << 8 | 2 << 9 | 2 << 11);
  hsa.destroy(after);
  hsa.destroy(completion);
  take_down(&s);
}

static void signals_take_packets_and_a_ring_without_room_is_busy(void **context) {
  (void)context;
  struct hsa_calls hsa = hsa_calls();
  struct setup s = set_up(1024); /* the stub's largest ring: three packets a launch do not fit */
  hsa_signal_t completion;
  uint32_t launches = 0;
  assert_int_equal(hsa.create(1000000, 0, NULL, &completion), HSA_STATUS_SUCCESS);
  const struct front_launch_options options = {.size = sizeof options, .completion = completion.handle};
  stub->behaviour = STUB_HANGS;
  front_ticket ticket;
  while (front_launch_with(s.queue, s.binding, &options, &ticket) == FRONT_OK) launches++;
  assert_int_equal(launches, 512);
  assert_non_null(strstr(front_error(), "no room"));
  finish_stub();
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  assert_int_equal(hsa.load(completion), 1000000 - 512);
  hsa.destroy(completion);
  take_down(&s);
}

struct call {
  _Atomic int calls;
  enum front_status status;
};

static void count_call(void *user, enum front_status status) {
  struct call *call = user;
  call->status = status;
  call->calls++;
}

static struct front_launch_options calling(struct call *call) {
  return (struct front_launch_options){.size = sizeof(struct front_launch_options), .ended = count_call, .user = call};
}

static void a_callback_is_called_once_when_the_launch_has_ended(void **context) {
  (void)context;
  struct setup s = set_up(2);
  struct call call[6] = {{0}};
  front_ticket ticket;
  for (int i = 0; i < 6; i++) {
    struct front_launch_options options = calling(&call[i]);
    stub->behaviour = STUB_HANGS;
    assert_int_equal(front_launch_with(s.queue, s.binding, &options, &ticket), FRONT_OK);
    assert_int_equal(call[i].calls, 0);
    finish_stub();
    assert_int_equal(call[i].calls, 1);
    assert_int_equal(call[i].status, FRONT_OK);
  }
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  for (int i = 0; i < 6; i++) assert_int_equal(call[i].calls, 1);
  take_down(&s);
}

static void a_callback_never_calls_a_launch_good_that_gave_up(void **context) {
  (void)context;
  struct setup s = set_up(2);
  struct call call = {0};
  struct front_launch_options options = calling(&call);
  front_ticket ticket;
  stub->gives_up = 1;
  assert_int_equal(front_launch_with(s.queue, s.binding, &options, &ticket), FRONT_OK);
  assert_int_equal(call.calls, 1);
  assert_int_equal(call.status, FRONT_ERR_TIMEOUT);
  assert_int_equal(front_wait(ticket, 0), FRONT_ERR_TIMEOUT);
  assert_non_null(strstr(front_error(), "workgroup 3"));
  take_down(&s);
}

static void a_fault_calls_back_every_launch_in_flight_once(void **context) {
  static const enum stub_behaviour faults[] = {STUB_QUEUE_ERROR, STUB_MEMORY_FAULT};
  for (int f = 0; f < 2; f++) {
    stub_before_each(context);
    struct setup s = set_up(4);
    struct call call[3] = {{0}};
    front_ticket ticket;
    for (int i = 0; i < 3; i++) {
      struct front_launch_options options = calling(&call[i]);
      stub->behaviour = i < 2 ? STUB_HANGS : faults[f];
      assert_int_equal(front_launch_with(s.queue, s.binding, &options, &ticket), FRONT_OK);
    }
    for (int i = 0; i < 3; i++) {
      assert_int_equal(call[i].calls, 1);
      assert_int_equal(call[i].status, FRONT_ERR_FAULT);
    }
    assert_int_equal(front_wait(ticket, 0), FRONT_ERR_FAULT);
    take_down(&s);
  }
}

static void a_launch_whose_callback_cannot_be_had_is_not_put_in(void **context) {
  (void)context;
  struct setup s = set_up(2);
  struct call call = {0};
  struct front_launch_options options = calling(&call);
  stub->fail_call = 1;
  assert_int_equal(front_launch_with(s.queue, s.binding, &options, NULL), FRONT_ERR_MEMORY);
  assert_int_equal(stub->packets, 0);
  assert_int_equal(call.calls, 0);
  take_down(&s);
}

static void a_lost_signal_is_a_timeout_and_the_queue_can_be_given_up(void **context) {
  (void)context;
  struct setup s = set_up(2);
  struct call call = {0};
  struct front_launch_options options = calling(&call);
  struct front_instance_info info;
  front_ticket ticket;
  stub->behaviour = STUB_LOST;
  assert_int_equal(front_launch_with(s.queue, s.binding, &options, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, 1000000), FRONT_ERR_TIMEOUT);
  assert_int_equal(front_queue_destroy(s.queue), FRONT_ERR_BUSY);
  assert_non_null(strstr(front_error(), "front_queue_stop"));
  assert_int_equal(call.calls, 0);
  assert_int_equal(front_queue_stop(s.queue), FRONT_OK);
  assert_int_equal(call.calls, 1);
  assert_int_equal(call.status, FRONT_ERR_FAULT);
  assert_int_equal(front_wait(ticket, 1000000), FRONT_ERR_FAULT);
  assert_non_null(strstr(front_error(), "was stopped"));
  assert_int_equal(front_launch(s.queue, s.binding, NULL), FRONT_ERR_FAULT);
  assert_int_equal(front_queue_destroy(s.queue), FRONT_OK);
  assert_int_equal(call.calls, 1);
  stub->behaviour = STUB_COMPLETES;
  assert_int_equal(front_instance_describe(s.instance, &info), FRONT_OK);
  ((uint32_t *)info.scratch)[100] = 155;
  assert_int_equal(front_queue_create(s.device, NULL, &s.queue), FRONT_OK);
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(((uint32_t *)info.scratch)[100], 0);
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  take_down(&s);
}

static void a_queue_is_made_as_its_options_say(void **context) {
  (void)context;
  struct setup s = set_up(2);
  front_queue queue;
  front_ticket ticket;
  struct front_queue_options options = {.size = sizeof options, .launches = 4097};
  assert_int_equal(front_queue_create(s.device, &options, &queue), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "at most 4096"));
  options = (struct front_queue_options){.size = sizeof options, .acquire = 2};
  assert_int_equal(front_queue_create(s.device, &options, &queue), FRONT_ERR_ARGUMENT);
  options = (struct front_queue_options){
      .size = sizeof options, .cooperative = 1, .spin = 1, .acquire = FRONT_FENCE_AGENT, .release = FRONT_FENCE_AGENT};
  assert_int_equal(front_queue_create(s.device, &options, &queue), FRONT_OK);
  assert_int_equal(front_launch(queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, UINT64_MAX), FRONT_OK);
  assert_int_equal(stub->packet[0].header, 2 | 1 << 8 | 1 << 9 | 1 << 11);
  assert_int_equal(stub->last_queue_type, HSA_QUEUE_TYPE_COOPERATIVE);
  assert_int_equal(front_queue_destroy(queue), FRONT_OK);
  take_down(&s);
}

static void a_mask_that_leaves_too_few_compute_units_is_refused_with_both_numbers(void **context) {
  (void)context;
  front_runtime runtime;
  front_queue queue;
  front_device device = open_stub(&runtime);
  stub->masked_units = 255;
  assert_int_equal(front_queue_create(device, NULL, &queue), FRONT_ERR_RESIDENCY);
  assert_non_null(strstr(front_error(), "255 of its 256 compute units"));
  stub->masked_units = 256;
  assert_int_equal(front_queue_create(device, NULL, &queue), FRONT_OK);
  assert_int_equal(front_queue_destroy(queue), FRONT_OK);
  close_stub(runtime, device);
}

static void options_of_older_and_newer_programs_are_understood(void **context) {
  (void)context;
  struct setup s = set_up(2);
  front_queue queue;
  struct {
    struct front_queue_options known;
    uint64_t later;
  } newer = {.known = {.size = sizeof newer}};
  const struct front_queue_options older = {.size = offsetof(struct front_queue_options, spin), .spin = 7, .acquire = 99};
  assert_int_equal(front_queue_create(s.device, &newer.known, &queue), FRONT_OK); /* the new field is at its default */
  assert_int_equal(front_queue_destroy(queue), FRONT_OK);
  newer.later = 1;
  assert_int_equal(front_queue_create(s.device, &newer.known, &queue), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "older than the program"));
  assert_int_equal(front_queue_create(s.device, &older, &queue), FRONT_OK); /* what is behind its size is not read */
  assert_int_equal(front_queue_destroy(queue), FRONT_OK);
  newer.known.size = offsetof(struct front_queue_options, spin) + 4; /* no program's sizeof: it would cut a pointer in half */
  assert_int_equal(front_queue_create(s.device, &newer.known, &queue), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "sizeof"));
  newer.known.size = 0;
  assert_int_equal(front_queue_create(s.device, &newer.known, &queue), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "sizeof"));
  take_down(&s);
}

int main(void) {
  if (!stub_load()) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_launch_waits_for_the_callers_signal_and_counts_down_another, stub_before_each),
      cmocka_unit_test_setup(signals_take_packets_and_a_ring_without_room_is_busy, stub_before_each),
      cmocka_unit_test_setup(a_callback_is_called_once_when_the_launch_has_ended, stub_before_each),
      cmocka_unit_test_setup(a_callback_never_calls_a_launch_good_that_gave_up, stub_before_each),
      cmocka_unit_test_setup(a_fault_calls_back_every_launch_in_flight_once, stub_before_each),
      cmocka_unit_test_setup(a_launch_whose_callback_cannot_be_had_is_not_put_in, stub_before_each),
      cmocka_unit_test_setup(a_lost_signal_is_a_timeout_and_the_queue_can_be_given_up, stub_before_each),
      cmocka_unit_test_setup(a_queue_is_made_as_its_options_say, stub_before_each),
      cmocka_unit_test_setup(a_mask_that_leaves_too_few_compute_units_is_refused_with_both_numbers, stub_before_each),
      cmocka_unit_test_setup(options_of_older_and_newer_programs_are_understood, stub_before_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
