/* SPDX-License-Identifier: Apache-2.0 */
/* What an HSA program learns of the emulated machine, and how wrong calls are answered. */
#include "emu_support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu_kernels.h"

static hsa_status_t take_isa(hsa_isa_t isa, void *data) {
  *(hsa_isa_t *)data = isa;
  return HSA_STATUS_SUCCESS;
}

static void the_gpu_is_a_gfx950_with_256_compute_units(void **state) {
  (void)state;
  char name[64], isa_name[64];
  uint32_t units = 0, length = 0, wave = 0;
  hsa_isa_t isa = {0};
  assert_int_equal(hsa_agent_get_info(gpu.agent, HSA_AGENT_INFO_NAME, name), 0);
  assert_string_equal(name, "gfx950");
  assert_int_equal(hsa_agent_get_info(gpu.agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &units), 0);
  assert_int_equal(units, 256);
  assert_int_equal(hsa_agent_get_info(gpu.agent, HSA_AGENT_INFO_WAVEFRONT_SIZE, &wave), 0);
  assert_int_equal(wave, 64);
  assert_int_equal(hsa_agent_get_info(gpu.agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, name), 0);
  assert_int_equal(strncmp(name, "GPU-", 4), 0);
  assert_int_equal(hsa_agent_iterate_isas(gpu.agent, take_isa, &isa), 0);
  assert_int_equal(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length), 0);
  assert_true(length < sizeof isa_name);
  assert_int_equal(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, isa_name), 0);
  assert_int_equal(strncmp(isa_name, "amdgcn-amd-amdhsa--gfx950:", 26), 0);
  assert_int_equal(strlen(isa_name) + 1, length);
}

static void a_call_before_init_says_so(void **state) {
  (void)state;
  uint64_t value;
  hsa_signal_t signal;
  const char *text = NULL;
  assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &value), HSA_STATUS_ERROR_NOT_INITIALIZED);
  assert_int_equal(hsa_signal_create(0, 0, NULL, &signal), HSA_STATUS_ERROR_NOT_INITIALIZED);
  assert_int_equal(hsa_emu_report(NULL, 0), 0);
  assert_int_equal(hsa_status_string(HSA_STATUS_ERROR_NOT_INITIALIZED, &text), 0);
  assert_non_null(text);
}

static void an_unknown_device_model_fails_to_start(void **state) {
  (void)state;
  setenv("FRONT_EMU_DEVICE", "gfx1", 1);
  const char *text = "";
  assert_int_equal(hsa_init(), HSA_EMU_STATUS_UNKNOWN_DEVICE);
  assert_int_equal(hsa_status_string((hsa_status_t)HSA_EMU_STATUS_UNKNOWN_DEVICE, &text), 0);
  assert_non_null(strstr(text, "FRONT_EMU_DEVICE=gfx1: no such device: there are mi355x"));
  unsetenv("FRONT_EMU_DEVICE");
  assert_int_equal(hsa_init(), 0);
  assert_int_equal(hsa_init(), 0);
  assert_int_equal(hsa_shut_down(), 0);
  assert_int_equal(hsa_shut_down(), 0);
  assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

static void handles_and_sizes_are_checked(void **state) {
  (void)state;
  void *p = NULL;
  hsa_queue_t *queue = NULL;
  assert_int_equal(hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){99}, 16, 0, &p), HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  assert_int_equal(hsa_amd_memory_pool_allocate(gpu.device, (size_t)1 << 50, 0, &p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_memory_pool_free(&p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_memory_pool_free(NULL), 0);
  assert_int_equal(hsa_queue_create(gpu.agent, 100, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_queue_create((hsa_agent_t){5}, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue), HSA_STATUS_ERROR_INVALID_AGENT);
  assert_int_equal(hsa_queue_destroy((hsa_queue_t *)&queue), HSA_STATUS_ERROR_INVALID_QUEUE);
  assert_int_equal(hsa_executable_freeze((hsa_executable_t){1}, NULL), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  assert_int_equal(hsa_emu_set_threads(257), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void fills_stay_within_their_allocation(void **state) {
  (void)state;
  uint32_t *p = gpu_memory(&gpu, 40), copy[10];
  assert_int_equal(hsa_amd_memory_fill(p, 0xABCD1234, 10), 0);
  assert_int_equal(hsa_memory_copy(copy, p, 40), 0);
  for (int i = 0; i < 10; i++) assert_int_equal(copy[i], 0xABCD1234);
  assert_int_equal(hsa_amd_memory_fill(p, 0, 11), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(hsa_amd_memory_fill(copy, 0, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void a_wait_ends_when_its_time_is_up(void **state) {
  (void)state;
  hsa_signal_store_screlease(gpu.signal, 5);
  assert_int_equal(hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_LT, 5, 1000000, HSA_WAIT_STATE_BLOCKED), 5);
  assert_int_equal(hsa_signal_wait_scacquire(gpu.signal, HSA_SIGNAL_CONDITION_GTE, 5, UINT64_MAX, HSA_WAIT_STATE_ACTIVE), 5);
  hsa_signal_add_screlease(gpu.signal, 3);
  hsa_signal_subtract_screlease(gpu.signal, 1);
  assert_int_equal(hsa_signal_load_relaxed(gpu.signal), 7);
}

static void garbage_is_no_code_object(void **state) {
  (void)state;
  static const char garbage[200] = "\177ELF and nothing behind it";
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  assert_int_equal(hsa_code_object_reader_create_from_memory(garbage, sizeof garbage, &reader), 0);
  assert_int_equal(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &executable), 0);
  assert_int_equal(hsa_executable_load_agent_code_object(executable, gpu.agent, reader, NULL, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  assert_non_null(strstr(gpu_report(), "code object not loaded: "));
  assert_int_equal(hsa_executable_destroy(executable), 0);
  assert_int_equal(hsa_executable_destroy(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  assert_int_equal(hsa_code_object_reader_destroy(reader), 0);
}

static void a_code_object_is_loaded_from_a_file_too(void **state) {
  (void)state;
  static const char ir[] = KERNEL_IR("", "", "64", "  ret void\n");
  size_t bytes;
  void *image = ir_to_code_object(ir, "gfx950", true, NULL, &bytes);
  const char *path = path_in(temp_dir(), "k.hsaco");
  write_file(path, image, bytes);
  free(image);
  int file = open(path, O_RDONLY);
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  hsa_executable_symbol_t symbol;
  uint32_t length = 0;
  assert_int_equal(hsa_code_object_reader_create_from_file(file, &reader), 0);
  close(file);
  assert_int_equal(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &executable), 0);
  assert_int_equal(hsa_executable_load_agent_code_object(executable, gpu.agent, reader, NULL, NULL), 0);
  assert_int_equal(hsa_executable_get_symbol_by_name(executable, "nothing", &gpu.agent, &symbol), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  assert_int_equal(hsa_executable_get_symbol_by_name(executable, "k.kd", &gpu.agent, &symbol), 0);
  assert_int_equal(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length), 0);
  assert_int_equal(length, 4);
  assert_int_equal(hsa_executable_freeze(executable, NULL), 0);
  assert_int_equal(hsa_executable_load_agent_code_object(executable, gpu.agent, reader, NULL, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  assert_int_equal(hsa_executable_destroy(executable), 0);
  assert_int_equal(hsa_code_object_reader_destroy(reader), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_before_init_says_so),
      cmocka_unit_test(an_unknown_device_model_fails_to_start),
      GPU_TEST(the_gpu_is_a_gfx950_with_256_compute_units),
      GPU_TEST(handles_and_sizes_are_checked),
      GPU_TEST(fills_stay_within_their_allocation),
      GPU_TEST(a_wait_ends_when_its_time_is_up),
      GPU_TEST(garbage_is_no_code_object),
      GPU_TEST(a_code_object_is_loaded_from_a_file_too),
  };
  return cmocka_run_group_tests_name("hsa_api", tests, NULL, NULL);
}
