/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing HSA: again and again, beside another user of it, over forks, and which devices then show. The last test spoils HSA
   for the process. */
#include "stub_setup.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct front_options options(void) {
  return (struct front_options){sizeof(struct front_options), built_path("tests/runtime/libstub_hsa.so")};
}

/* What a child's function returned; 0 is good. */
static int in_child(int (*function)(const struct setup *), const struct setup *s) {
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) _exit(function(s));
  assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

static int opens(const struct setup *s) {
  front_runtime runtime;
  front_device device;
  const struct front_options o = options();
  (void)s;
  return front_open(&o, &runtime) != FRONT_OK || front_device_open(runtime, NULL, &device) != FRONT_OK ||
         front_device_close(device) != FRONT_OK || front_close(runtime) != FRONT_OK;
}

static void a_fork_before_the_first_open_is_fine(void **context) {
  (void)context;
  assert_int_equal(in_child(opens, NULL), 0);
}

/* The number of the first call that is not refused. */
static int uses_the_parents(const struct setup *s) {
  const struct front_options o = options();
  front_runtime runtime;
  front_device device;
  front_queue queue;
  front_kernel kernel;
  front_instance instance;
  front_binding binding;
  void *memory;
  uint32_t count;
  const enum front_status status[] = {front_open(&o, &runtime), front_device_count(s->runtime, &count),
      front_device_open(s->runtime, NULL, &device), front_memory_allocate(s->device, 64, &memory),
      front_memory_copy(s->device, s->memory, s->memory, 1), front_memory_fill(s->device, s->memory, 0, 1),
      front_memory_free(s->device, s->memory), front_kernel_load(s->device, "", 1, NULL, &kernel),
      front_instance_create(s->kernel, NULL, &instance), front_binding_create(s->instance, &s->args, &binding),
      front_binding_update(s->binding, &s->args), front_instance_reset(s->instance), front_queue_create(s->device, NULL, &queue),
      front_launch(s->queue, s->binding, NULL), front_launch_with(s->queue, s->binding, NULL, NULL),
      front_wait((front_ticket){s->queue.impl, 0}, 0), front_queue_stop(s->queue), front_queue_destroy(s->queue),
      front_binding_destroy(s->binding), front_instance_destroy(s->instance), front_kernel_destroy(s->kernel),
      front_device_close(s->device), front_close(s->runtime)};
  for (int i = 0; i < (int)(sizeof status / sizeof *status); i++)
    if (status[i] != FRONT_ERR_FORKED) return 1 + i;
  return strstr(front_error(), "forked") ? 0 : 100;
}

static void every_call_in_a_child_of_a_process_with_hsa_is_a_clear_error(void **context) {
  (void)context;
  struct setup s = set_up(2);
  front_ticket ticket;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(in_child(uses_the_parents, &s), 0);
  assert_int_equal(front_wait(ticket, 0), FRONT_OK); /* the parent goes on */
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  take_down(&s);
  assert_int_equal(in_child(opens, NULL), 1); /* also when the parent has closed it */
}

/* A child that ends while the parent's thread runs leaks none: ThreadSanitizer takes the threads from before the fork for its own. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "report_thread_leaks=0"; }

static void *open_slowly(void *data) {
  front_runtime runtime;
  return front_open(data, &runtime) == FRONT_OK && front_close(runtime) == FRONT_OK ? NULL : data;
}

static int is_refused_at_once(const struct setup *s) {
  const struct front_options o = options();
  front_runtime runtime;
  (void)s;
  alarm(5); /* or it waits for a lock that nobody gives back */
  return front_open(&o, &runtime) != FRONT_ERR_FORKED;
}

static void a_child_does_not_wait_for_a_lock_of_the_parents_threads(void **context) {
  (void)context;
  struct front_options o = options();
  pthread_t thread;
  void *failed;
  front_runtime keeps;
  assert_int_equal(front_open(&o, &keeps), FRONT_OK);
  stub->slow_init = true;
  assert_int_equal(pthread_create(&thread, NULL, open_slowly, &o), 0);
  while (!stub->initialising) sched_yield();
  assert_int_equal(in_child(is_refused_at_once, NULL), 0);
  assert_int_equal(pthread_join(thread, &failed), 0);
  assert_null(failed);
  assert_int_equal(front_close(keeps), FRONT_OK);
}

static void hsa_is_opened_and_closed_any_number_of_times(void **context) {
  (void)context;
  for (int i = 0; i < 200; i++) {
    const struct front_options o = options();
    front_runtime one, two;
    const char *path;
    assert_int_equal(front_open(&o, &one), FRONT_OK);
    assert_int_equal(front_open(&o, &two), FRONT_OK);
    assert_int_equal(stub->inits, 2);
    assert_int_equal(front_close(one), FRONT_OK);
    assert_int_equal(front_library_path(two, &path), FRONT_OK);
    assert_non_null(strstr(path, "libstub_hsa.so"));
    assert_int_equal(front_close(two), FRONT_OK);
    assert_int_equal(stub->inits, 0);
  }
}

static int others_faults;

static hsa_status_t others_handler(const hsa_amd_event_t *event, void *data) {
  (void)event, (void)data;
  others_faults++;
  return HSA_STATUS_ERROR;
}

static void another_user_of_hsa_is_undisturbed(void **context) {
  (void)context;
  __typeof__(hsa_init) *init;
  __typeof__(hsa_shut_down) *shut_down;
  __typeof__(hsa_amd_register_system_event_handler) *listen;
  stub_function("hsa_init", &init);
  stub_function("hsa_shut_down", &shut_down);
  stub_function("hsa_amd_register_system_event_handler", &listen);
  assert_int_equal(init(), HSA_STATUS_SUCCESS);
  assert_int_equal(listen(others_handler, NULL), HSA_STATUS_SUCCESS);
  struct setup s = set_up(2);
  front_ticket ticket;
  raise_memory_fault(); /* with nothing of ours in flight: the other's, who would be ended by HSA as without us */
  assert_int_equal(others_faults, 1);
  assert_int_equal(stub->faults_not_taken, 1);
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  stub->behaviour = STUB_HANGS;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  raise_memory_fault();
  assert_int_equal(stub->faults_not_taken, 1);
  assert_int_equal(front_wait(ticket, 0), FRONT_ERR_FAULT);
  assert_int_equal(front_queue_destroy(s.queue), FRONT_OK);
  assert_int_equal(front_binding_destroy(s.binding), FRONT_OK);
  assert_int_equal(front_instance_destroy(s.instance), FRONT_OK);
  assert_int_equal(front_memory_free(s.device, s.memory), FRONT_OK);
  assert_int_equal(front_kernel_destroy(s.kernel), FRONT_OK);
  assert_int_equal(front_device_close(s.device), FRONT_OK);
  assert_int_equal(front_close(s.runtime), FRONT_OK);
  assert_int_equal(stub->inits, 1);
  assert_int_equal(shut_down(), HSA_STATUS_SUCCESS);
}

/* The indices that are left, by the digit that the stub's UUIDs end in. */
static const char *shown(void) {
  static char digits[16];
  const struct front_options o = options();
  front_runtime runtime;
  struct front_device_info info;
  uint32_t count;
  assert_int_equal(front_open(&o, &runtime), FRONT_OK);
  assert_int_equal(front_device_count(runtime, &count), FRONT_OK);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(front_device_describe(runtime, i, &info), FRONT_OK);
    digits[i] = info.uuid[strlen(info.uuid) - 1];
  }
  digits[count] = 0;
  assert_int_equal(front_close(runtime), FRONT_OK);
  return digits;
}

static void visible_device_lists_hide_and_renumber_as_hips_do(void **context) {
  (void)context;
  static const struct {
    const char *rocr, *hip, *cuda, *shown;
  } cases[] = {
      {NULL, NULL, NULL, "0123"},
      {NULL, "2", NULL, "2"},
      {NULL, "3,0", NULL, "30"},
      {NULL, "1,1,2", NULL, "12"},
      {NULL, "1,9,2", NULL, "1"}, /* the list ends where it is wrong */
      {NULL, "-1", NULL, ""},
      {NULL, "0,-1,2", NULL, "0"},
      {NULL, "GPU-000000000000abc3,0", NULL, "30"},
      {NULL, "GPU-000000000000abc", NULL, ""},
      {NULL, "1x", NULL, ""},
      {NULL, NULL, "2,1", "21"},
      {NULL, "0", "2,1", "0"},
      {NULL, "", "2", "2"},
      {"1,3", NULL, NULL, "13"}, /* HSA's own: what it hides has no number */
      {"1,3", "1", NULL, "3"},
      {"1,3", "3", NULL, ""},
  };
  stub->gpus = 4;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const names[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"};
    const char *const values[] = {cases[i].rocr, cases[i].hip, cases[i].cuda};
    for (int k = 0; k < 3; k++) (void)(values[k] ? setenv(names[k], values[k], 1) : unsetenv(names[k]));
    if (strcmp(shown(), cases[i].shown) != 0) fail_msg("case %zu: %s", i, shown());
  }
  const struct front_options o = options();
  front_runtime runtime;
  front_device device;
  unsetenv("ROCR_VISIBLE_DEVICES");
  setenv("HIP_VISIBLE_DEVICES", "7", 1);
  assert_int_equal(front_open(&o, &runtime), FRONT_OK);
  assert_int_equal(front_device_open(runtime, NULL, &device), FRONT_ERR_NO_DEVICE);
  assert_non_null(strstr(front_error(), "\"7\" of HIP_VISIBLE_DEVICES"));
  setenv("HIP_VISIBLE_DEVICES", "2,0", 1);
  assert_int_equal(front_device_open(runtime, "GPU-000000000000abc1", &device), FRONT_ERR_NO_DEVICE); /* hidden */
  assert_int_equal(front_device_open(runtime, "1", &device), FRONT_OK);
  assert_int_equal(front_device_close(device), FRONT_OK);
  unsetenv("HIP_VISIBLE_DEVICES");
  assert_int_equal(front_close(runtime), FRONT_OK);
}

static void the_grid_is_accepted_only_where_it_is_resident(void **context) {
  (void)context;
  static const uint32_t units[] = {304, 256, 228, 80, 38, 20};
  size_t bytes;
  const void *image = make_object("gfx950", 216, 0, 512, &bytes);
  for (int i = 0; i < 6; i++) {
    front_runtime runtime;
    front_kernel kernel;
    stub->compute_units = units[i];
    front_device device = open_stub(&runtime);
    enum front_status status = front_kernel_load(device, image, bytes, stub_key, &kernel);
    assert_int_equal(status, i < 2 ? FRONT_OK : FRONT_ERR_RESIDENCY);
    if (status == FRONT_OK) {
      assert_int_equal(front_kernel_destroy(kernel), FRONT_OK);
    } else {
      char number[32];
      snprintf(number, sizeof number, "%u compute units", units[i]);
      assert_non_null(strstr(front_error(), number));
      assert_non_null(strstr(front_error(), "256 workgroups"));
    }
    close_stub(runtime, device);
  }
}

static void hsa_that_failed_to_initialise_is_not_tried_again(void **context) {
  (void)context;
  const struct front_options o = options();
  front_runtime runtime;
  stub->no_driver = true;
  assert_int_equal(front_open(&o, &runtime), FRONT_ERR_NO_DEVICE);
  assert_non_null(strstr(front_error(), "/dev/kfd"));
  stub->no_driver = false;
  assert_int_equal(front_open(&o, &runtime), FRONT_ERR_NO_DEVICE);
  assert_non_null(strstr(front_error(), "failed before"));
  assert_int_equal(stub->inits, 0);
}

int main(void) {
  if (!stub_load()) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_fork_before_the_first_open_is_fine, stub_before_each),
      cmocka_unit_test_setup(every_call_in_a_child_of_a_process_with_hsa_is_a_clear_error, stub_before_each),
      cmocka_unit_test_setup(a_child_does_not_wait_for_a_lock_of_the_parents_threads, stub_before_each),
      cmocka_unit_test_setup(hsa_is_opened_and_closed_any_number_of_times, stub_before_each),
      cmocka_unit_test_setup(another_user_of_hsa_is_undisturbed, stub_before_each),
      cmocka_unit_test_setup(visible_device_lists_hide_and_renumber_as_hips_do, stub_before_each),
      cmocka_unit_test_setup(the_grid_is_accepted_only_where_it_is_resident, stub_before_each),
      cmocka_unit_test_setup(hsa_that_failed_to_initialise_is_not_tried_again, stub_before_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
