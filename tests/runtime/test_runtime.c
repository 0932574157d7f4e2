/* SPDX-License-Identifier: Apache-2.0 */
/* libfront through its public header, on a pretended HSA library. */
#include "stub_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_library_that_is_not_there_is_named_with_the_reason(void **context) {
  (void)context;
  front_runtime runtime;
  const struct front_options options = {sizeof options, "libno-such-hsa.so.1"};
  assert_int_equal(front_open(&options, &runtime), FRONT_ERR_LIBRARY);
  assert_non_null(strstr(front_error(), "libno-such-hsa.so.1"));
  assert_non_null(strstr(front_error(), "No such file"));
  assert_null(strchr(front_error(), '\n'));
}

static void a_library_without_hsa_functions_is_refused_by_the_first_that_is_missing(void **context) {
  (void)context;
  front_runtime runtime;
  const struct front_options options = {sizeof options, "libm.so.6"};
  assert_int_equal(front_open(&options, &runtime), FRONT_ERR_LIBRARY);
  assert_non_null(strstr(front_error(), "has no function hsa_init"));
}

static void the_environment_names_the_library_and_nothing_else_is_tried(void **context) {
  (void)context;
  front_runtime runtime;
  setenv("FRONT_HSA_LIBRARY", "libno-such-hsa.so.9", 1);
  assert_int_equal(front_open(NULL, &runtime), FRONT_ERR_LIBRARY);
  unsetenv("FRONT_HSA_LIBRARY");
  assert_non_null(strstr(front_error(), "libno-such-hsa.so.9"));
  assert_null(strstr(front_error(), "libhsa-runtime64"));
}

static void no_gpu_is_an_error_and_never_the_emulator(void **context) {
  (void)context;
  front_runtime runtime;
  front_device device;
  const struct front_options options = {sizeof options, built_path("tests/runtime/libstub_hsa.so")};
  stub->gpus = 0;
  assert_int_equal(front_open(&options, &runtime), FRONT_OK);
  assert_int_equal(front_device_open(runtime, NULL, &device), FRONT_ERR_NO_DEVICE);
  assert_int_equal(front_close(runtime), FRONT_OK);
}

static void an_agent_is_found_by_index_uuid_and_pci_address(void **context) {
  (void)context;
  static const char *const names[] = {"2", "GPU-000000000000abc2", "0000:c1:02.0"};
  front_runtime runtime;
  stub->gpus = 3;
  front_device device = open_stub(&runtime);
  assert_int_equal(front_device_close(device), FRONT_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(front_device_open(runtime, names[i], &device), FRONT_OK);
    assert_int_equal(front_device_close(device), FRONT_OK);
  }
  assert_int_equal(front_device_open(runtime, "3", &device), FRONT_ERR_NO_DEVICE);
  assert_non_null(strstr(front_error(), "GPU-000000000000abc1"));
  struct front_device_info info;
  assert_int_equal(front_device_describe(runtime, 2, &info), FRONT_OK);
  assert_string_equal(info.pci, "0000:c1:02.0");
  assert_int_equal(info.compute_units, 256);
  assert_int_equal(info.memory_bytes, 1ull << 38);
  assert_int_equal(front_close(runtime), FRONT_OK);
}

static void a_kernel_that_would_wait_for_ever_or_read_wrong_arguments_is_not_loaded(void **context) {
  (void)context;
  static const struct {
    const char *cpu, *key, *says;
    unsigned kernarg, private_bytes, threads, compute_units;
    enum front_status status;
  } cases[] = {
      {"gfx950", stub_key, "228", 216, 0, 512, 228, FRONT_ERR_RESIDENCY},
      {"gfx950", stub_key, "256 workgroups", 216, 0, 512, 38, FRONT_ERR_RESIDENCY},
      {"gfx942", stub_key, "gfx942", 216, 0, 512, 256, FRONT_ERR_ISA},
      {"gfx950", stub_key, "208", 208, 0, 512, 256, FRONT_ERR_CODE_OBJECT},
      {"gfx950", stub_key, "64 bytes of private", 216, 64, 512, 256, FRONT_ERR_CODE_OBJECT},
      {"gfx950", stub_key, "at most 256 threads", 216, 0, 256, 256, FRONT_ERR_CODE_OBJECT},
      {"gfx950", NULL, "give the key", 216, 0, 512, 256, FRONT_ERR_CODE_OBJECT},
      {"gfx950", "tokens=8,tp=3", "tp is 3", 216, 0, 512, 256, FRONT_ERR_ARGUMENT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    front_runtime runtime;
    front_kernel kernel;
    size_t bytes;
    stub->compute_units = cases[i].compute_units;
    front_device device = open_stub(&runtime);
    const void *image = make_object(cases[i].cpu, cases[i].kernarg, cases[i].private_bytes, cases[i].threads, &bytes);
    assert_int_equal(front_kernel_load(device, image, bytes, cases[i].key, &kernel), cases[i].status);
    if (!strstr(front_error(), cases[i].says)) fail_msg("\"%s\" is not in \"%s\"", cases[i].says, front_error());
    close_stub(runtime, device);
  }
}

/* The ELF header's flags of an AMDGPU object: xnack in bits 8 and 9, sramecc in bits 10 and 11; 1 any, 2 off, 3 on. */
static void *with_features(const void *image, size_t bytes, uint32_t xnack, uint32_t sramecc) {
  enum { FLAGS_AT = 48 };
  uint32_t flags;
  char *copy = malloc(bytes);
  memcpy(copy, image, bytes);
  memcpy(&flags, copy + FLAGS_AT, sizeof flags);
  flags = (flags & ~0xf00u) | xnack << 8 | sramecc << 10;
  memcpy(copy + FLAGS_AT, &flags, sizeof flags);
  return copy;
}

static void features_of_the_code_object_are_held_against_the_agents(void **context) {
  (void)context;
  static const struct {
    const char *isa;
    uint32_t xnack, sramecc;
    bool fits;
    const char *says;
  } cases[] = {
      {"gfx950:sramecc+:xnack-", 1, 1, true, ""},
      {"gfx950:sramecc+:xnack-", 2, 3, true, ""},
      {"gfx950:sramecc+:xnack-", 3, 1, false, "gfx950:xnack+"},
      {"gfx950:sramecc+:xnack+", 2, 1, false, "gfx950:xnack-"},
      {"gfx950:sramecc+:xnack+", 3, 1, true, ""},
      {"gfx950:sramecc+:xnack-", 1, 2, false, "gfx950:sramecc-"},
      {"gfx950:sramecc-:xnack-", 1, 3, false, "gfx950:sramecc+"},
      {"gfx9-4-generic", 1, 1, false, "for gfx950,"},
      {"gfx942:sramecc+:xnack-", 1, 1, false, "for gfx950,"},
  };
  size_t bytes;
  const void *plain = make_object("gfx950", 216, 0, 512, &bytes);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    front_runtime runtime;
    front_kernel kernel;
    char isa[80];
    snprintf(isa, sizeof isa, "amdgcn-amd-amdhsa--%s", cases[i].isa);
    stub->isa = isa;
    void *image = with_features(plain, bytes, cases[i].xnack, cases[i].sramecc);
    front_device device = open_stub(&runtime);
    enum front_status status = front_kernel_load(device, image, bytes, stub_key, &kernel);
    if (status != (cases[i].fits ? FRONT_OK : FRONT_ERR_ISA)) fail_msg("case %zu: %s", i, front_error());
    if (status == FRONT_OK) assert_int_equal(front_kernel_destroy(kernel), FRONT_OK);
    if (status != FRONT_OK && (!strstr(front_error(), cases[i].says) || !strstr(front_error(), cases[i].isa)))
      fail_msg("case %zu: %s", i, front_error());
    free(image);
    close_stub(runtime, device);
  }
}

static void a_file_that_is_not_there_or_is_cut_short_is_an_error_with_its_name(void **context) {
  (void)context;
  front_runtime runtime;
  front_kernel kernel;
  front_device device = open_stub(&runtime);
  assert_int_equal(front_kernel_load_file(device, "no-such-file.hsaco", stub_key, &kernel), FRONT_ERR_NOT_FOUND);
  assert_non_null(strstr(front_error(), "no-such-file.hsaco"));
  size_t bytes;
  const char *image = make_object("gfx950", 216, 0, 512, &bytes);
  const char *path = path_in(temp_dir(), "short.hsaco");
  for (size_t keep = 0; keep < bytes; keep += bytes / 7) {
    write_file(path, image, keep);
    assert_int_equal(front_kernel_load_file(device, path, stub_key, &kernel), FRONT_ERR_CODE_OBJECT);
    assert_non_null(strstr(front_error(), "short.hsaco"));
  }
  close_stub(runtime, device);
}

static void a_launch_is_one_packet_with_the_whole_grid_the_barrier_bit_and_system_fences(void **context) {
  (void)context;
  struct setup s = set_up(0);
  front_ticket ticket;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, UINT64_MAX), FRONT_OK);
  assert_int_equal(stub->packets, 1);
  const hsa_kernel_dispatch_packet_t *p = &stub->packet[0];
  assert_int_equal(p->header, 2 | 1 << 8 | 2 << 9 | 2 << 11); /* dispatch, barrier, acquire and release at system scope */
  assert_int_equal(p->setup, 1);
  assert_int_equal(p->grid_size_x, 131072);
  assert_int_equal(p->workgroup_size_x, 512);
  assert_int_equal(p->grid_size_y * p->grid_size_z * p->workgroup_size_y * p->workgroup_size_z, 1);
  assert_int_equal(p->group_segment_size, 86592);
  assert_int_equal(p->private_segment_size, 0);
  assert_int_equal(p->kernel_object, 0x1234000);
  take_down(&s);
}

static void the_kernarg_block_has_the_callers_arguments_and_the_instances_own(void **context) {
  (void)context;
  struct setup s = set_up(0);
  front_ticket ticket;
  struct front_instance_info info;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_instance_describe(s.instance, &info), FRONT_OK);
  const char *block = stub->packet[0].kernarg_address;
  void *pointer;
  int32_t word;
  memcpy(&pointer, block + 40, 8);
  assert_ptr_equal(pointer, info.scratch);
  memcpy(&pointer, block + 48, 8);
  assert_ptr_equal(pointer, info.epoch);
  memcpy(&word, block + 56, 4);
  assert_int_equal(word, 5120);
  memcpy(&word, block + 160, 4);
  assert_int_equal(word, 64);
  memcpy(&pointer, block + 208, 8);
  assert_non_null(pointer);
  assert_int_equal((uintptr_t)pointer % 128, 0);
  assert_int_equal(*(uint32_t *)info.epoch, 77);
  for (int i = 0; i < 287744; i++) assert_int_equal(((const unsigned char *)info.scratch)[i], 0); /* S = 8, untuned */
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  take_down(&s);
}

static void a_wrong_argument_is_refused_by_name(void **context) {
  (void)context;
  struct setup s = set_up(0);
  struct front_args bad[] = {s.args, s.args, s.args, s.args, s.args, s.args, s.args, s.args};
  static const char *const names[] = {"wqb ", "x ", "x_stride", "swa_stride", "swa_block", "scratch", "comp_block", "pos "};
  bad[0].wqb = NULL;
  bad[1].x = (char *)s.memory + 8;
  bad[2].x_stride = 5124;
  bad[3].swa_stride = 584 * 64 - 8;
  bad[4].swa_block = 0;
  bad[5].scratch = s.memory;
  bad[6].comp_block = 0;
  bad[7].pos = (char *)s.memory + 4;
  for (int i = 0; i < 8; i++) {
    front_binding binding;
    assert_int_equal(front_binding_create(s.instance, &bad[i], &binding), FRONT_ERR_ARGUMENT);
    if (strncmp(front_error(), names[i], strlen(names[i])) != 0) fail_msg("wanted %s: %s", names[i], front_error());
  }
  take_down(&s);
}

static void a_launch_that_does_not_end_is_a_timeout_and_then_can_be_waited_for_again(void **context) {
  (void)context;
  struct setup s = set_up(0);
  front_ticket ticket;
  stub->behaviour = STUB_HANGS;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, 2000000), FRONT_ERR_TIMEOUT);
  assert_int_equal(front_queue_destroy(s.queue), FRONT_ERR_BUSY);
  assert_int_equal(front_binding_destroy(s.binding), FRONT_ERR_BUSY);
  assert_int_equal(front_binding_update(s.binding, &s.args), FRONT_ERR_BUSY);
  assert_int_equal(front_instance_reset(s.instance), FRONT_ERR_BUSY);
  finish_stub();
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  assert_int_equal(front_binding_update(s.binding, &s.args), FRONT_OK);
  take_down(&s);
}

static void a_full_queue_refuses_and_two_queues_cannot_share_an_instance(void **context) {
  (void)context;
  struct setup s = set_up(4);
  front_queue other;
  front_ticket ticket[4];
  assert_int_equal(
      front_queue_create(s.device, &(struct front_queue_options){sizeof(struct front_queue_options), .launches = 4}, &other), FRONT_OK);
  stub->behaviour = STUB_HANGS;
  for (int i = 0; i < 4; i++) assert_int_equal(front_launch(s.queue, s.binding, &ticket[i]), FRONT_OK);
  assert_int_equal(front_launch(s.queue, s.binding, NULL), FRONT_ERR_BUSY);
  assert_int_equal(front_launch(other, s.binding, NULL), FRONT_ERR_BUSY);
  assert_non_null(strstr(front_error(), "another queue"));
  finish_stub();
  assert_int_equal(front_wait(ticket[3], 0), FRONT_OK);
  assert_int_equal(front_wait(ticket[0], 0), FRONT_OK); /* ended before */
  assert_int_equal(front_launch(other, s.binding, &ticket[0]), FRONT_OK);
  assert_int_equal(front_wait(ticket[0], 0), FRONT_OK);
  assert_int_equal(front_queue_destroy(other), FRONT_OK);
  take_down(&s);
}

/* The guard's words, as the last packet's kernarg block has them. */
static const uint32_t *guard_words(void) { return ((const struct front_args *)stub->packet[stub->packets - 1].kernarg_address)->guard; }

static void assert_gave_up(front_ticket ticket) {
  assert_int_equal(front_wait(ticket, 0), FRONT_ERR_TIMEOUT);
  static const char *const words[] = {"workgroup 3", "wave 1", "qkvp", "token 3", "half 1", "row 77", "pair 19789", "tag 151", "tag 155"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strstr(front_error(), words[i])) fail_msg("no \"%s\" in: %s", words[i], front_error());
}

static void a_launch_that_gave_up_is_never_a_success_and_the_next_one_is_good(void **context) {
  for (int mapped = 0; mapped < 2; mapped++) {
    stub_before_each(context);
    stub->no_host_access = !mapped;
    struct setup s = set_up(0);
    front_ticket ticket;
    assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
    assert_int_equal(front_wait(ticket, 0), FRONT_OK);
    const uint32_t *words = guard_words();
    assert_int_equal((uintptr_t)words % 128, 0);
    assert_int_equal(words[8], 200000000); /* 2 s of 10 ns */
    stub->gives_up = 1;
    assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
    assert_gave_up(ticket);
    assert_gave_up(ticket); /* however often one asks */
    assert_int_equal(words[0], 1);
    front_ticket next;
    assert_int_equal(front_launch(s.queue, s.binding, &next), FRONT_OK);
    for (int i = 0; i < 8; i++) assert_int_equal(words[i], 0);
    assert_int_equal(words[8], 200000000);
    assert_int_equal(front_wait(next, 0), FRONT_OK);
    assert_gave_up(ticket);
    take_down(&s);
  }
}

static void launches_queued_behind_one_that_gave_up_are_not_trusted(void **context) {
  (void)context;
  struct setup s = set_up(8);
  front_ticket ticket[3];
  stub->behaviour = STUB_HANGS;
  stub->gives_up = 2;
  for (int i = 0; i < 3; i++) assert_int_equal(front_launch(s.queue, s.binding, &ticket[i]), FRONT_OK);
  assert_int_equal(front_wait(ticket[0], 0), FRONT_ERR_TIMEOUT);
  assert_non_null(strstr(front_error(), "has not ended"));
  finish_stub();
  assert_int_equal(front_wait(ticket[2], 0), FRONT_ERR_TIMEOUT);
  assert_gave_up(ticket[1]);
  assert_int_equal(front_launch(s.queue, s.binding, &ticket[0]), FRONT_OK);
  assert_int_equal(front_wait(ticket[0], 0), FRONT_OK);
  take_down(&s);
}

static void an_instance_goes_on_after_a_launch_that_did_not_end_only_with_a_clean_scratch(void **context) {
  (void)context;
  struct setup s = set_up(0);
  struct front_instance_info info;
  front_ticket ticket;
  assert_int_equal(front_instance_describe(s.instance, &info), FRONT_OK);
  stub->behaviour = STUB_QUEUE_ERROR;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, 0), FRONT_ERR_FAULT);
  ((uint32_t *)info.scratch)[100] = 155;
  assert_int_equal(front_queue_destroy(s.queue), FRONT_OK);
  assert_int_equal(front_queue_create(s.device, NULL, &s.queue), FRONT_OK);
  stub->behaviour = STUB_COMPLETES;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(((uint32_t *)info.scratch)[100], 0);
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  take_down(&s);
}

static void a_budget_is_the_callers_choice_within_what_the_word_holds(void **context) {
  (void)context;
  struct setup s = set_up(0);
  front_instance other;
  front_binding binding;
  front_ticket ticket;
  struct front_instance_options options = {.size = sizeof options, .guard_us = 42000001};
  assert_int_equal(front_instance_create(s.kernel, &options, &other), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "guard_us is 42000001"));
  options.guard_us = 1500;
  assert_int_equal(front_instance_create(s.kernel, &options, &other), FRONT_OK);
  assert_int_equal(front_binding_create(other, &s.args, &binding), FRONT_OK);
  assert_int_equal(front_launch(s.queue, binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  assert_int_equal(guard_words()[8], 150000);
  assert_int_equal(front_binding_destroy(binding), FRONT_OK);
  assert_int_equal(front_instance_destroy(other), FRONT_OK);
  take_down(&s);
}

static void many_launches_reuse_slots_and_each_ends(void **context) {
  (void)context;
  struct setup s = set_up(8);
  for (int i = 0; i < 10000; i++) {
    front_ticket ticket;
    assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
    if (i % 5 == 0) assert_int_equal(front_wait(ticket, 0), FRONT_OK);
  }
  take_down(&s);
}

static void a_stopped_queue_is_a_fault_in_hsas_words_and_stays_one(void **context) {
  (void)context;
  struct setup s = set_up(0);
  front_ticket ticket;
  stub->behaviour = STUB_QUEUE_ERROR;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, UINT64_MAX), FRONT_ERR_FAULT);
  assert_non_null(strstr(front_error(), "stub: illegal instruction"));
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_ERR_FAULT);
  take_down(&s);
}

static void a_memory_fault_is_an_error_with_address_and_reason(void **context) {
  (void)context;
  struct setup s = set_up(0);
  front_ticket ticket;
  stub->behaviour = STUB_MEMORY_FAULT;
  assert_int_equal(front_launch(s.queue, s.binding, &ticket), FRONT_OK);
  assert_int_equal(front_wait(ticket, UINT64_MAX), FRONT_ERR_FAULT);
  assert_non_null(strstr(front_error(), "0xdead0000"));
  assert_non_null(strstr(front_error(), "page not present"));
  take_down(&s);
}

static void running_out_of_memory_at_any_allocation_leaves_nothing_behind(void **context) {
  (void)context;
  for (uint32_t nth = 1; nth <= 4; nth++) {
    front_runtime runtime;
    front_kernel kernel;
    front_instance instance;
    front_binding binding;
    size_t bytes;
    front_device device = open_stub(&runtime);
    const void *image = make_object("gfx950", 216, 0, 512, &bytes);
    assert_int_equal(front_kernel_load(device, image, bytes, stub_key, &kernel), FRONT_OK);
    stub->fail_allocation = nth; /* scratch, epoch, guard, kernarg block */
    const struct front_args args = good_args((void *)(uintptr_t)4096);
    enum front_status status = front_instance_create(kernel, NULL, &instance);
    assert_int_equal(status, nth < 4 ? FRONT_ERR_MEMORY : FRONT_OK);
    if (status == FRONT_OK) {
      assert_int_equal(front_binding_create(instance, &args, &binding), FRONT_ERR_MEMORY);
      assert_int_equal(front_instance_destroy(instance), FRONT_OK);
    }
    assert_int_equal(front_kernel_destroy(kernel), FRONT_OK);
    close_stub(runtime, device);
  }
}

static void destroying_in_the_wrong_order_is_refused(void **context) {
  (void)context;
  struct setup s = set_up(0);
  assert_int_equal(front_instance_destroy(s.instance), FRONT_ERR_BUSY);
  assert_int_equal(front_kernel_destroy(s.kernel), FRONT_ERR_BUSY);
  assert_int_equal(front_device_close(s.device), FRONT_ERR_BUSY);
  assert_int_equal(front_close(s.runtime), FRONT_ERR_BUSY);
  take_down(&s);
}

int main(void) {
  if (!stub_load()) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_library_that_is_not_there_is_named_with_the_reason, stub_before_each),
      cmocka_unit_test_setup(a_library_without_hsa_functions_is_refused_by_the_first_that_is_missing, stub_before_each),
      cmocka_unit_test_setup(the_environment_names_the_library_and_nothing_else_is_tried, stub_before_each),
      cmocka_unit_test_setup(no_gpu_is_an_error_and_never_the_emulator, stub_before_each),
      cmocka_unit_test_setup(an_agent_is_found_by_index_uuid_and_pci_address, stub_before_each),
      cmocka_unit_test_setup(a_kernel_that_would_wait_for_ever_or_read_wrong_arguments_is_not_loaded, stub_before_each),
      cmocka_unit_test_setup(features_of_the_code_object_are_held_against_the_agents, stub_before_each),
      cmocka_unit_test_setup(a_file_that_is_not_there_or_is_cut_short_is_an_error_with_its_name, stub_before_each),
      cmocka_unit_test_setup(a_launch_is_one_packet_with_the_whole_grid_the_barrier_bit_and_system_fences, stub_before_each),
      cmocka_unit_test_setup(the_kernarg_block_has_the_callers_arguments_and_the_instances_own, stub_before_each),
      cmocka_unit_test_setup(a_wrong_argument_is_refused_by_name, stub_before_each),
      cmocka_unit_test_setup(a_launch_that_does_not_end_is_a_timeout_and_then_can_be_waited_for_again, stub_before_each),
      cmocka_unit_test_setup(a_full_queue_refuses_and_two_queues_cannot_share_an_instance, stub_before_each),
      cmocka_unit_test_setup(a_launch_that_gave_up_is_never_a_success_and_the_next_one_is_good, stub_before_each),
      cmocka_unit_test_setup(launches_queued_behind_one_that_gave_up_are_not_trusted, stub_before_each),
      cmocka_unit_test_setup(an_instance_goes_on_after_a_launch_that_did_not_end_only_with_a_clean_scratch, stub_before_each),
      cmocka_unit_test_setup(a_budget_is_the_callers_choice_within_what_the_word_holds, stub_before_each),
      cmocka_unit_test_setup(many_launches_reuse_slots_and_each_ends, stub_before_each),
      cmocka_unit_test_setup(a_stopped_queue_is_a_fault_in_hsas_words_and_stays_one, stub_before_each),
      cmocka_unit_test_setup(a_memory_fault_is_an_error_with_address_and_reason, stub_before_each),
      cmocka_unit_test_setup(running_out_of_memory_at_any_allocation_leaves_nothing_behind, stub_before_each),
      cmocka_unit_test_setup(destroying_in_the_wrong_order_is_refused, stub_before_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
