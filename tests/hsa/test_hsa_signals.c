/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: every operation in every order, groups, handlers, pointers to the value, asynchronous copies; what the end waits for. */
#include "emu_support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static hsa_signal_t new_signal(int64_t value) {
  hsa_signal_t s;
  assert_int_equal(hsa_signal_create(value, 0, NULL, &s), 0);
  return s;
}

#define BITS 0x1234567890LL

/* Each changes the value from BITS and is compared with C's arithmetic. */
#define CHECK(call, wanted)                                                                                                                \
  hsa_signal_store_relaxed(s, BITS);                                                                                                       \
  call;                                                                                                                                    \
  assert_int_equal(hsa_signal_load_relaxed(s), wanted)
#define CHECK_ORDER(order)                                                                                                                 \
  CHECK(hsa_signal_add_##order(s, -5), BITS - 5);                                                                                          \
  CHECK(hsa_signal_subtract_##order(s, 7), BITS - 7);                                                                                      \
  CHECK(hsa_signal_and_##order(s, 0xFF00FF), BITS & 0xFF00FF);                                                                             \
  CHECK(hsa_signal_or_##order(s, 0xFF00FF), BITS | 0xFF00FF);                                                                              \
  CHECK(hsa_signal_xor_##order(s, 0xFF00FF), BITS ^ 0xFF00FF);                                                                             \
  CHECK(assert_int_equal(hsa_signal_exchange_##order(s, -9), BITS), -9);                                                                   \
  CHECK(assert_int_equal(hsa_signal_cas_##order(s, BITS, 3), BITS), 3);                                                                    \
  CHECK(assert_int_equal(hsa_signal_cas_##order(s, BITS + 1, 3), BITS), BITS)

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void operations_change_the_value_as_their_names_say(void **state) {
  (void)state;
  hsa_signal_t s = new_signal(0);
  CHECK_ORDER(relaxed);
  CHECK_ORDER(scacquire);
  CHECK_ORDER(screlease);
  CHECK_ORDER(scacq_screl);
  CHECK_ORDER(acquire);
  CHECK_ORDER(release);
  CHECK_ORDER(acq_rel);
  CHECK(hsa_signal_store_screlease(s, 1), 1);
  CHECK(hsa_signal_store_release(s, 2), 2);
  CHECK(hsa_signal_silent_store_relaxed(s, 3), 3);
  CHECK(hsa_signal_silent_store_screlease(s, 4), 4);
  assert_int_equal(hsa_signal_load_scacquire(s), 4);
  assert_int_equal(hsa_signal_load_acquire(s), 4);
  assert_int_equal(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_EQ, 4, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 4);
  assert_int_equal(hsa_signal_wait_acquire(s, HSA_SIGNAL_CONDITION_NE, 5, UINT64_MAX, HSA_WAIT_STATE_ACTIVE), 4);
  assert_int_equal(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 5, UINT64_MAX, HSA_WAIT_STATE_ACTIVE), 4);
  assert_int_equal(hsa_signal_destroy(s), 0);
}

static void a_signals_consumers_are_checked(void **state) {
  (void)state;
  hsa_signal_t s;
  const hsa_agent_t twice[2] = {gpu.agent, gpu.agent};
  assert_int_equal(hsa_signal_create(0, 1, NULL, &s), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_signal_create(0, 2, twice, &s), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_signal_create(0, 1, twice, HSA_AMD_SIGNAL_IPC, &s), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_signal_create(5, 1, twice, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &s), 0);
  assert_int_equal(hsa_signal_load_relaxed(s), 5);
  assert_int_equal(hsa_signal_destroy(s), 0);
  assert_int_equal(hsa_signal_destroy(gpu.queue->doorbell_signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
}

struct put {
  hsa_signal_t signal;
  int64_t value;
};

static void put_later(void *data) {
  const struct put *p = data;
  usleep(3000);
  hsa_signal_store_screlease(p->signal, p->value);
}

static void a_wait_for_several_ends_with_the_first_that_is_met(void **state) {
  (void)state;
  hsa_signal_t s[3] = {new_signal(1), {0}, new_signal(1)};
  hsa_signal_condition_t eq[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ};
  hsa_signal_value_t zero[3] = {0, 0, 0}, seen = 9;
  assert_int_equal(hsa_amd_signal_wait_any(3, s, eq, zero, 1000000, HSA_WAIT_STATE_BLOCKED, &seen), UINT32_MAX);
  assert_int_equal(seen, 9);
  struct put put = {s[2], 0};
  assert_int_equal(hsa_amd_async_function(put_later, &put), 0);
  assert_int_equal(hsa_amd_signal_wait_any(3, s, eq, zero, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, &seen), 2);
  assert_int_equal(seen, 0);
  assert_int_equal(hsa_amd_signal_wait_any(3, s, eq, zero, 0, HSA_WAIT_STATE_BLOCKED, NULL), 2);
  assert_int_equal(hsa_amd_signal_wait_any(1, s + 1, eq, zero, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, NULL), UINT32_MAX);
  assert_int_equal(hsa_signal_destroy(s[0]), 0);
  assert_int_equal(hsa_signal_destroy(s[2]), 0);
}

static void a_group_is_waited_for_as_one(void **state) {
  (void)state;
  hsa_signal_t s[2] = {new_signal(1), new_signal(1)}, met = {0};
  const hsa_signal_t none[2] = {s[0], {0}};
  const hsa_signal_condition_t conditions[2] = {HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_GTE};
  const hsa_signal_value_t compare[2] = {0, 40};
  hsa_signal_value_t value = 0;
  hsa_signal_group_t group;
  assert_int_equal(hsa_signal_group_create(2, none, 0, NULL, &group), HSA_STATUS_ERROR_INVALID_SIGNAL);
  assert_int_equal(hsa_signal_group_create(2, s, 1, NULL, &group), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_signal_group_create(2, s, 0, NULL, &group), 0);
  struct put put = {s[1], 41};
  assert_int_equal(hsa_amd_async_function(put_later, &put), 0);
  assert_int_equal(hsa_signal_group_wait_any_scacquire(group, conditions, compare, HSA_WAIT_STATE_BLOCKED, &met, &value), 0);
  assert_int_equal(met.handle, s[1].handle);
  assert_int_equal(value, 41);
  hsa_signal_store_relaxed(s[0], -1);
  assert_int_equal(hsa_signal_group_wait_any_relaxed(group, conditions, compare, HSA_WAIT_STATE_BLOCKED, &met, &value), 0);
  assert_int_equal(met.handle, s[0].handle);
  assert_int_equal(
      hsa_signal_group_wait_any_relaxed(group, NULL, compare, HSA_WAIT_STATE_BLOCKED, &met, &value), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_signal_group_destroy(group), 0);
  assert_int_equal(hsa_signal_group_destroy(group), HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP);
  for (int i = 0; i < 2; i++) assert_int_equal(hsa_signal_destroy(s[i]), 0);
}

static void a_store_through_the_values_pointer_ends_a_wait(void **state) {
  (void)state;
  hsa_signal_t s = new_signal(1), done = new_signal(1);
  volatile hsa_signal_value_t *value = NULL;
  assert_int_equal(hsa_amd_signal_value_pointer(gpu.queue->doorbell_signal, &value), HSA_STATUS_ERROR_INVALID_SIGNAL);
  assert_int_equal(hsa_amd_signal_value_pointer(s, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_signal_value_pointer(s, &value), 0);
  assert_int_equal(*value, 1);
  uint32_t word = 0;
  assert_int_equal(hsa_amd_memory_async_copy(&word, gpu.agent, &word, gpu.agent, 4, 1, &s, done), 0);
  __atomic_store_n(value, 0, __ATOMIC_RELEASE);
  assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
  assert_int_equal(hsa_signal_destroy(s), 0);
  assert_int_equal(hsa_signal_destroy(done), 0);
}

struct heard {
  int calls; /* atomic */
  hsa_signal_t next;
  int64_t last;
};

static bool hear_twice(hsa_signal_value_t value, void *data) {
  struct heard *h = data;
  h->last = value;
  int calls = __atomic_add_fetch(&h->calls, 1, __ATOMIC_ACQ_REL);
  hsa_signal_subtract_screlease(h->next, 1);
  return calls < 2;
}

static void a_handler_is_called_until_it_has_heard_enough(void **state) {
  (void)state;
  struct heard heard = {.next = new_signal(2)};
  hsa_signal_t s = new_signal(0), forgotten = new_signal(0);
  assert_int_equal(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_GTE, 3, NULL, &heard), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_signal_async_handler(forgotten, HSA_SIGNAL_CONDITION_NE, 0, hear_twice, &heard), 0);
  assert_int_equal(hsa_signal_destroy(forgotten), 0); /* its handler with it */
  assert_int_equal(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_GTE, 3, hear_twice, &heard), 0);
  hsa_signal_store_relaxed(s, 2);
  usleep(2000);
  assert_int_equal(__atomic_load_n(&heard.calls, __ATOMIC_ACQUIRE), 0);
  hsa_signal_store_relaxed(s, 3);
  assert_int_equal(hsa_signal_wait_scacquire(heard.next, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
  assert_int_equal(heard.last, 3);
  hsa_signal_store_relaxed(s, 4);
  usleep(2000);
  assert_int_equal(__atomic_load_n(&heard.calls, __ATOMIC_ACQUIRE), 2);
  assert_int_equal(hsa_signal_destroy(s), 0);
  assert_int_equal(hsa_signal_destroy(heard.next), 0);
}

static void copies_begin_when_their_signals_are_zero(void **state) {
  (void)state;
  hsa_signal_t late = new_signal(1), first = new_signal(1), second = new_signal(1);
  const hsa_signal_t none = {0};
  uint32_t *from = gpu_memory(&gpu, 4096), *to = gpu_memory(&gpu, 4096), host[4] = {1, 2, 3, 4};
  hsa_amd_profiling_async_copy_time_t time;
  assert_int_equal(hsa_amd_memory_async_copy(to, (hsa_agent_t){9}, host, gpu.agent, 16, 0, NULL, first), HSA_STATUS_ERROR_INVALID_AGENT);
  assert_int_equal(hsa_amd_memory_async_copy(to, gpu.agent, host, gpu.agent, 16, 1, NULL, first), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_async_copy(to, gpu.agent, host, gpu.agent, 16, 0, NULL, none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_memory_async_copy(to, gpu.agent, host, gpu.agent, 16, 1, &none, first), HSA_STATUS_ERROR_INVALID_SIGNAL);
  assert_int_equal(hsa_amd_memory_async_copy(to, gpu.agent, host, gpu.agent, 0, 0, NULL, first), 0);
  assert_int_equal(hsa_signal_load_relaxed(first), 1);
  assert_int_equal(hsa_amd_profiling_async_copy_enable(true), 0);
  assert_int_equal(hsa_amd_memory_async_copy(to, gpu.agent, from, gpu.agent, 16, 1, &late, second), 0);
  assert_int_equal(hsa_amd_memory_async_copy(from, gpu.agent, host, gpu.agent, 16, 0, NULL, first), 0); /* is not held up */
  assert_int_equal(hsa_signal_wait_scacquire(first, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
  assert_int_equal(hsa_signal_load_relaxed(second), 1);
  assert_int_equal(to[0], 0);
  hsa_signal_store_screlease(late, 0);
  assert_int_equal(hsa_signal_wait_scacquire(second, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
  assert_memory_equal(to, host, 16);
  assert_int_equal(hsa_amd_profiling_get_async_copy_time(second, &time), 0);
  assert_true(time.start && time.start <= time.end);
  assert_int_equal(hsa_amd_profiling_async_copy_enable(false), 0);
  assert_int_equal(hsa_signal_destroy(late), 0);
  assert_int_equal(hsa_signal_destroy(first), 0);
  assert_int_equal(hsa_signal_destroy(second), 0);
}

static void a_block_is_copied_row_by_row(void **state) {
  (void)state;
  enum { PITCH = 16, SLICE = 64 };
  uint8_t *from = gpu_memory(&gpu, 2 * SLICE), *to = gpu_memory(&gpu, 4 * SLICE);
  hsa_signal_t done = new_signal(1);
  for (int i = 0; i < 2 * SLICE; i++) from[i] = (uint8_t)i;
  const hsa_pitched_ptr_t src = {from, PITCH, SLICE}, dst = {to, 2 * PITCH, 2 * SLICE};
  const hsa_dim3_t src_at = {4, 1, 0}, dst_at = {8, 0, 0}, range = {8, 2, 2}, odd = {6, 2, 2}, wide = {16, 2, 2};
#define RECT(where, size, direction, signal)                                                                                               \
  hsa_amd_memory_async_copy_rect(&dst, &dst_at, &src, where, size, gpu.agent, direction, 0, NULL, signal)
  assert_int_equal(RECT(&src_at, &odd, hsaDeviceToDevice, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(RECT(&src_at, &wide, hsaDeviceToDevice, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(RECT(&src_at, &range, hsaHostToHost, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(RECT(NULL, &range, hsaDeviceToDevice, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(RECT(&src_at, &range, hsaDeviceToDevice, (hsa_signal_t){0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(RECT(&src_at, &range, hsaDeviceToDevice, done), 0);
  assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
  for (int i = 0; i < 4 * SLICE; i++) {
    int z = i / (2 * SLICE), y = i % (2 * SLICE) / (2 * PITCH), x = i % (2 * PITCH);
    bool inside = y < 2 && x >= 8 && x < 16;
    assert_int_equal(to[i], inside ? from[z * SLICE + (y + 1) * PITCH + (x - 8 + 4)] : 0);
  }
  assert_int_equal(hsa_signal_destroy(done), 0);
}

/* A program that polls has no other sign than the value; what still wakes sleepers then must not need the signal. */
static void a_signal_may_be_destroyed_once_its_value_is_seen(void **state) {
  (void)state;
  uint32_t *to = gpu_memory(&gpu, 4096), word = 5;
  for (int i = 0; i < 300; i++) {
    hsa_signal_t copied = new_signal(1);
    assert_int_equal(hsa_amd_memory_async_copy(to, gpu.agent, &word, gpu.agent, 4, 0, NULL, copied), 0);
    while (hsa_signal_load_scacquire(copied)) {
    }
    assert_int_equal(hsa_signal_destroy(copied), 0);
  }
}

struct last_words {
  hsa_signal_t own, heard;
};

static bool destroy_own_signal(hsa_signal_value_t value, void *argument) {
  const struct last_words *w = argument;
  assert_int_equal(value, 1);
  assert_int_equal(hsa_signal_destroy(w->own), 0);
  hsa_signal_subtract_screlease(w->heard, 1);
  return true; /* though there is nothing left to wait for */
}

static void a_handler_may_destroy_its_signal(void **state) {
  (void)state;
  struct last_words w = {new_signal(0), new_signal(1)};
  assert_int_equal(hsa_amd_signal_async_handler(w.own, HSA_SIGNAL_CONDITION_EQ, 1, destroy_own_signal, &w), 0);
  hsa_signal_store_screlease(w.own, 1);
  assert_int_equal(hsa_signal_wait_scacquire(w.heard, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
  struct heard again = {.next = new_signal(2)}; /* the thread of handlers goes on */
  assert_int_equal(hsa_amd_signal_async_handler(w.heard, HSA_SIGNAL_CONDITION_EQ, 0, hear_twice, &again), 0);
  assert_int_equal(hsa_signal_wait_scacquire(again.next, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
  assert_int_equal(hsa_signal_destroy(w.heard), 0);
  assert_int_equal(hsa_signal_destroy(again.next), 0);
}

static hsa_status_t take_agent(hsa_agent_t agent, void *data) {
  *(hsa_agent_t *)data = agent;
  return HSA_STATUS_INFO_BREAK;
}

static void what_still_waits_at_the_end_is_dropped(void **state) {
  (void)state;
  assert_int_equal(hsa_init(), 0);
  hsa_signal_t never = new_signal(1), done = new_signal(1);
  hsa_agent_t cpu = {0};
  uint32_t word = 0;
  assert_int_equal(hsa_iterate_agents(take_agent, &cpu), HSA_STATUS_INFO_BREAK);
  assert_int_equal(hsa_amd_memory_async_copy(&word, cpu, &word, cpu, 4, 1, &never, done), 0);
  assert_int_equal(hsa_amd_signal_async_handler(never, HSA_SIGNAL_CONDITION_EQ, 7, hear_twice, NULL), 0);
  assert_int_equal(hsa_shut_down(), 0);
  assert_int_equal(hsa_init(), 0);
  assert_int_equal(hsa_signal_load_relaxed(done), 1);
  assert_int_equal(hsa_signal_destroy(never), 0);
  assert_int_equal(hsa_signal_destroy(done), 0);
  assert_int_equal(hsa_shut_down(), 0);
}

static hsa_signal_t *always; /* what the handlers below are registered for, and how often they were called */
static int calls;

/* Wants to hear again, and has another one hear too. */
static bool hear_for_ever(hsa_signal_value_t value, void *data) {
  (void)value;
  if (__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST) < 1000)
    (void)hsa_amd_signal_async_handler(*always, HSA_SIGNAL_CONDITION_GTE, 0, hear_for_ever, data);
  return true;
}

static void a_handler_that_always_has_work_does_not_keep_the_program_from_ending(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    assert_int_equal(hsa_init(), 0);
    hsa_signal_t s = new_signal(1);
    always = &s;
    __atomic_store_n(&calls, 0, __ATOMIC_SEQ_CST);
    assert_int_equal(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_GTE, 0, hear_for_ever, NULL), 0);
    while (__atomic_load_n(&calls, __ATOMIC_SEQ_CST) < 10) usleep(100);
    assert_int_equal(hsa_shut_down(), 0);
    int after = __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
    assert_int_equal(hsa_init(), 0);
    assert_int_equal(hsa_signal_destroy(s), 0);
    assert_int_equal(__atomic_load_n(&calls, __ATOMIC_SEQ_CST), after);
    assert_int_equal(hsa_shut_down(), 0);
  }
}

struct leaving {
  int destroyed, left; /* atomic */
};

static void destroy_and_linger(hsa_status_t status, hsa_queue_t *source, void *data) {
  struct leaving *l = data;
  (void)status;
  __atomic_store_n(&l->destroyed, hsa_queue_destroy(source) == HSA_STATUS_SUCCESS ? 1 : -1, __ATOMIC_RELEASE);
  usleep(20000);
  __atomic_store_n(&l->left, 1, __ATOMIC_RELEASE);
}

static void the_end_waits_for_a_queue_that_its_callback_destroys(void **state) {
  (void)state;
  struct leaving l = {0, 0};
  hsa_queue_t *queue;
  gpu_open(&gpu);
  assert_int_equal(hsa_queue_create(gpu.agent, 4, HSA_QUEUE_TYPE_MULTI, destroy_and_linger, &l, 0, 0, &queue), 0);
  __atomic_store_n((uint16_t *)queue->base_address, (uint16_t)(77 << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  hsa_queue_add_write_index_screlease(queue, 1);
  hsa_signal_store_screlease(queue->doorbell_signal, 0);
  while (!__atomic_load_n(&l.destroyed, __ATOMIC_ACQUIRE)) usleep(200);
  gpu_close(&gpu);
  assert_int_equal(l.destroyed, 1);
  assert_int_equal(__atomic_load_n(&l.left, __ATOMIC_ACQUIRE), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      GPU_TEST(operations_change_the_value_as_their_names_say),
      GPU_TEST(a_signals_consumers_are_checked),
      GPU_TEST(a_wait_for_several_ends_with_the_first_that_is_met),
      GPU_TEST(a_group_is_waited_for_as_one),
      GPU_TEST(a_store_through_the_values_pointer_ends_a_wait),
      GPU_TEST(a_handler_is_called_until_it_has_heard_enough),
      GPU_TEST(copies_begin_when_their_signals_are_zero),
      GPU_TEST(a_block_is_copied_row_by_row),
      GPU_TEST(a_signal_may_be_destroyed_once_its_value_is_seen),
      GPU_TEST(a_handler_may_destroy_its_signal),
      cmocka_unit_test(what_still_waits_at_the_end_is_dropped),
      cmocka_unit_test(the_end_waits_for_a_queue_that_its_callback_destroys),
      cmocka_unit_test(a_handler_that_always_has_work_does_not_keep_the_program_from_ending),
  };
  return cmocka_run_group_tests_name("hsa_signals", tests, NULL, NULL);
}
