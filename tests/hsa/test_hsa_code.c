/* SPDX-License-Identifier: Apache-2.0 */
/* Executables, their symbols and variables, the older code objects, the loader extension; partitions each with their own code. */
#include "emu_support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "emu_kernels.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Two variables and a kernel: counter = value + 7. */
static const char variables_ir[] = KERNEL_IR("@counter = addrspace(1) global i32 5, align 4\n"
                                             "@limit = protected addrspace(4) constant [3 x i32] [i32 7, i32 8, i32 9], align 16\n",
    "ptr addrspace(1) %a", "64",
    "  %v = load i32, ptr addrspace(1) %a\n  %l = load volatile i32, ptr addrspace(4) @limit\n  %s = add i32 %v, %l\n"
    "  store i32 %s, ptr addrspace(1) @counter\n  ret void\n");

static void *image;
static size_t image_bytes;

static int make_image(void **state) {
  (void)state;
  image = ir_to_code_object(variables_ir, "gfx950", true, NULL, &image_bytes);
  return 0;
}

static int free_image(void **state) {
  (void)state;
  free(image);
  return 0;
}

static hsa_executable_t load_on(hsa_agent_t agent, hsa_loaded_code_object_t *loaded) {
  hsa_code_object_reader_t reader;
  hsa_executable_t e;
  assert_int_equal(hsa_code_object_reader_create_from_memory(image, image_bytes, &reader), 0);
  assert_int_equal(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &e), 0);
  hsa_status_t status = hsa_executable_load_agent_code_object(e, agent, reader, NULL, loaded);
  if (status != HSA_STATUS_SUCCESS) fail_msg("%s", gpu_report());
  assert_int_equal(hsa_code_object_reader_destroy(reader), 0);
  return e;
}

static void an_executable_has_states_and_refuses_by_them(void **state) {
  (void)state;
  hsa_executable_t e;
  hsa_executable_state_t is;
  hsa_profile_t profile;
  hsa_default_float_rounding_mode_t mode;
  uint32_t result = 9;
  const hsa_executable_t none = {42};
  hsa_code_object_reader_t reader;
  assert_int_equal(hsa_executable_create((hsa_profile_t)5, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &e), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_executable_create(HSA_PROFILE_FULL, (hsa_executable_state_t)5, NULL, &e), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(
      hsa_executable_create_alt(HSA_PROFILE_FULL, (hsa_default_float_rounding_mode_t)5, NULL, &e), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_FROZEN, NULL, &e), 0);
  assert_int_equal(hsa_executable_get_info(e, HSA_EXECUTABLE_INFO_STATE, &is), 0);
  assert_int_equal(is, HSA_EXECUTABLE_STATE_FROZEN);
  assert_int_equal(hsa_executable_freeze(e, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  assert_int_equal(hsa_executable_global_variable_define(e, "x", &is), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  assert_int_equal(hsa_executable_destroy(e), 0);
  assert_int_equal(hsa_executable_create(HSA_PROFILE_BASE, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &e), 0);
  assert_int_equal(hsa_executable_get_info(e, HSA_EXECUTABLE_INFO_PROFILE, &profile), 0);
  assert_int_equal(profile, HSA_PROFILE_BASE);
  assert_int_equal(hsa_executable_get_info(e, HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE, &mode), 0);
  assert_int_equal(mode, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT);
  assert_int_equal(hsa_executable_get_info(e, (hsa_executable_info_t)9, &mode), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_executable_get_info(none, HSA_EXECUTABLE_INFO_STATE, &is), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  assert_int_equal(hsa_executable_validate(e, &result), 0);
  assert_int_equal(result, 0);
  assert_int_equal(hsa_executable_validate_alt(e, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_code_object_reader_create_from_memory(image, image_bytes, &reader), 0);
  assert_int_equal(hsa_executable_load_program_code_object(e, reader, NULL, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  assert_int_equal(hsa_executable_load_agent_code_object(none, gpu.agent, reader, NULL, NULL), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  assert_int_equal(hsa_code_object_reader_destroy(reader), 0);
  assert_int_equal(hsa_executable_load_agent_code_object(e, gpu.agent, reader, NULL, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
  assert_int_equal(hsa_code_object_reader_destroy(reader), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
  assert_int_equal(hsa_executable_destroy(e), 0);
}

static hsa_executable_symbol_t symbol_of(hsa_executable_t e, const char *name) {
  hsa_executable_symbol_t s;
  assert_int_equal(hsa_executable_get_symbol_by_name(e, name, &gpu.agent, &s), 0);
  return s;
}

static uint32_t word_of(hsa_executable_symbol_t s, hsa_executable_symbol_info_t attribute) {
  uint32_t value = 0xABABABAB;
  assert_int_equal(hsa_executable_symbol_get_info(s, attribute, &value), 0);
  return value;
}

static void symbols_say_what_they_are(void **state) {
  (void)state;
  hsa_executable_t e = load_on(gpu.agent, NULL);
  hsa_executable_symbol_t kernel = symbol_of(e, "k.kd"), counter = symbol_of(e, "counter"), limit = symbol_of(e, "limit"), s;
  hsa_agent_t agent = {0};
  bool flag = true;
  uint64_t address = 0;
  char name[16] = "";
  assert_int_equal(word_of(kernel, HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_KERNEL);
  assert_int_equal(word_of(counter, HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_VARIABLE);
  assert_int_equal(word_of(counter, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH), 7);
  assert_int_equal(hsa_executable_symbol_get_info(counter, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name), 0);
  assert_string_equal(name, "counter");
  assert_int_equal(word_of(counter, HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH), 0);
  assert_int_equal(hsa_executable_symbol_get_info(counter, HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME, name), 0);
  assert_int_equal(word_of(counter, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 4);
  assert_int_equal(word_of(limit, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 12);
  assert_int_equal(word_of(limit, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT) % 16, 0);
  assert_int_equal(word_of(limit, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT), HSA_VARIABLE_SEGMENT_READONLY);
  assert_int_equal(word_of(counter, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT), HSA_VARIABLE_SEGMENT_GLOBAL);
  assert_int_equal(word_of(counter, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION), HSA_VARIABLE_ALLOCATION_AGENT);
  assert_int_equal(word_of(counter, HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE), HSA_SYMBOL_LINKAGE_PROGRAM);
  assert_int_equal(hsa_executable_symbol_get_info(counter, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST, &flag), 0);
  assert_false(flag);
  assert_int_equal(hsa_executable_symbol_get_info(counter, HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION, &flag), 0);
  assert_true(flag);
  assert_int_equal(hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_AGENT, &agent), 0);
  assert_int_equal(agent.handle, gpu.agent.handle);
  assert_int_equal(word_of(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE), 8);
  assert_int_equal(word_of(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT), 8);
  assert_int_equal(word_of(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE), 0);
  assert_int_equal(word_of(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE), 0);
  assert_int_equal(hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK, &flag), 0);
  assert_int_equal(word_of(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION), 0);
  assert_int_equal(
      hsa_executable_symbol_get_info(counter, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &address), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(
      hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &address), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(
      hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_executable_get_symbol(e, NULL, "k.kd", gpu.agent, 0, &s), 0);
  assert_int_equal(s.handle, kernel.handle);
  assert_int_equal(hsa_executable_get_symbol(e, "module", "k.kd", gpu.agent, 0, &s), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  assert_int_equal(hsa_executable_get_symbol_by_name(e, "k.kd", NULL, &s), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME); /* not the program's */
  assert_int_equal(hsa_executable_destroy(e), 0);
  assert_int_equal(
      hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &address), HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
}

static void a_kernel_writes_the_variable_that_the_program_reads(void **state) {
  (void)state;
  struct emu_kernel k = {.executable = load_on(gpu.agent, NULL)};
  uint32_t *counter = NULL, *a = gpu_memory(&gpu, 4);
  assert_int_equal(hsa_executable_freeze(k.executable, NULL), 0);
  assert_int_equal(hsa_executable_symbol_get_info(symbol_of(k.executable, "k.kd"), HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object), 0);
  assert_int_equal(
      hsa_executable_symbol_get_info(symbol_of(k.executable, "counter"), HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &counter), 0);
  assert_int_equal(*counter, 5);
  *a = 100;
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &a, sizeof a), 0);
  assert_int_equal(*counter, 107);
  kernel_free(&k);
}

struct names {
  char text[256];
  uint32_t stop_at, count;
};

static hsa_status_t add_name(hsa_executable_t e, hsa_executable_symbol_t s, void *data) {
  struct names *names = data;
  char name[32] = "";
  (void)e;
  assert_int_equal(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name), 0);
  snprintf(names->text + strlen(names->text), sizeof names->text - strlen(names->text), "%s ", name);
  return ++names->count == names->stop_at ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static hsa_status_t add_agents_name(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s, void *data) {
  assert_int_equal(agent.handle, gpu.agent.handle);
  return add_name(e, s, data);
}

static void the_programs_variables_are_symbols_beside_the_code_objects(void **state) {
  (void)state;
  hsa_executable_t e = load_on(gpu.agent, NULL);
  hsa_executable_symbol_t s;
  uint64_t address = 0;
  bool constant = false;
  uint32_t one = 1, two = 2, three = 3;
  assert_int_equal(hsa_executable_global_variable_define(e, NULL, &one), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_executable_global_variable_define(e, "one", &one), 0);
  assert_int_equal(hsa_executable_global_variable_define(e, "one", &two), HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  assert_int_equal(hsa_executable_global_variable_define(e, "counter", &two), HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  assert_int_equal(hsa_executable_agent_global_variable_define(e, gpu.agent, "two", &two), 0);
  assert_int_equal(hsa_executable_agent_global_variable_define(e, gpu.agent, "one", &two), HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  assert_int_equal(hsa_executable_readonly_variable_define(e, gpu.agent, "three", &three), 0);
  assert_int_equal(hsa_executable_get_symbol_by_name(e, "one", NULL, &s), 0);
  assert_int_equal(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &address), 0);
  assert_int_equal(address, (uint64_t)(uintptr_t)&one);
  assert_int_equal(word_of(s, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION), HSA_VARIABLE_ALLOCATION_PROGRAM);
  assert_int_equal(hsa_executable_symbol_get_info(symbol_of(e, "three"), HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST, &constant), 0);
  assert_true(constant);
  struct names all = {.count = 0}, program = {.count = 0}, agents = {.count = 0}, first = {.stop_at = 1};
  assert_int_equal(hsa_executable_iterate_symbols(e, add_name, &all), 0);
  assert_int_equal(all.count, 6);
  assert_int_equal(hsa_executable_iterate_program_symbols(e, add_name, &program), 0);
  assert_string_equal(program.text, "one ");
  assert_int_equal(hsa_executable_iterate_agent_symbols(e, gpu.agent, add_agents_name, &agents), 0);
  assert_int_equal(agents.count, 5);
  assert_non_null(strstr(agents.text, "k.kd "));
  assert_null(strstr(agents.text, "one"));
  assert_int_equal(hsa_executable_iterate_symbols(e, add_name, &first), HSA_STATUS_INFO_BREAK);
  assert_string_equal(first.text, "k.kd ");
  assert_int_equal(hsa_executable_iterate_symbols(e, NULL, &all), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_executable_destroy(e), 0);
}

static hsa_status_t count_symbol(hsa_code_object_t code, hsa_code_symbol_t symbol, void *data) {
  hsa_symbol_kind_t kind;
  (void)code;
  assert_int_equal(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_TYPE, &kind), 0);
  ++*(uint32_t *)data;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t allocate(size_t size, hsa_callback_data_t data, void **address) {
  (void)data;
  *address = malloc(size);
  return HSA_STATUS_SUCCESS;
}

static void the_older_code_objects_work_as_they_did(void **state) {
  (void)state;
  hsa_code_object_t code;
  hsa_code_symbol_t kernel, variable;
  hsa_isa_t isa;
  hsa_executable_t e;
  uint32_t word = 0, count = 0;
  char version[64];
  void *copy = NULL;
  size_t bytes = 0;
  assert_int_equal(hsa_code_object_deserialize((void *)(uintptr_t) "no ELF", 6, NULL, &code), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  assert_int_equal(hsa_code_object_deserialize(image, image_bytes, NULL, &code), 0);
  assert_int_equal(hsa_code_object_get_info(code, HSA_CODE_OBJECT_INFO_VERSION, version), 0);
  assert_string_equal(version, "5.0");
  assert_int_equal(hsa_code_object_get_info(code, HSA_CODE_OBJECT_INFO_ISA, &isa), 0);
  assert_int_equal(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, version), 0);
  assert_string_equal(version, "amdgcn-amd-amdhsa--gfx950");
  for (int i = HSA_CODE_OBJECT_INFO_TYPE; i <= HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE; i++)
    assert_int_equal(hsa_code_object_get_info(code, (hsa_code_object_info_t)i, version), 0);
  assert_int_equal(hsa_code_object_get_info(code, (hsa_code_object_info_t)9, version), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_code_object_get_symbol(code, "k.kd", &kernel), 0);
  assert_int_equal(hsa_code_object_get_symbol(code, "none", &variable), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  assert_int_equal(hsa_code_object_get_symbol_from_name(code, NULL, "limit", &variable), 0);
  assert_int_equal(hsa_code_object_get_symbol_from_name(code, "m", "limit", &variable), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  assert_int_equal(hsa_code_symbol_get_info(kernel, HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &word), 0);
  assert_int_equal(word, 8);
  assert_int_equal(hsa_code_symbol_get_info(variable, HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE, &word), 0);
  assert_int_equal(word, 12);
  assert_int_equal(
      hsa_code_symbol_get_info((hsa_code_symbol_t){8}, HSA_CODE_SYMBOL_INFO_TYPE, &word), HSA_STATUS_ERROR_INVALID_CODE_SYMBOL);
  assert_int_equal(hsa_code_symbol_get_info(kernel, HSA_CODE_SYMBOL_INFO_TYPE, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_code_object_iterate_symbols(code, count_symbol, &count), 0);
  assert_int_equal(count, 3);
  assert_int_equal(hsa_code_object_serialize(code, allocate, (hsa_callback_data_t){0}, NULL, &copy, &bytes), 0);
  assert_int_equal(bytes, image_bytes);
  assert_memory_equal(copy, image, bytes);
  free(copy);
  assert_int_equal(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &e), 0);
  assert_int_equal(hsa_executable_load_code_object(e, gpu.agent, (hsa_code_object_t){8}, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  assert_int_equal(hsa_executable_load_code_object(e, gpu.agent, code, NULL), 0);
  assert_int_equal(hsa_executable_freeze(e, NULL), 0);
  assert_int_equal(hsa_executable_load_code_object(e, gpu.agent, code, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  assert_int_equal(hsa_code_object_destroy(code), 0);
  assert_int_equal(hsa_code_object_destroy(code), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  (void)symbol_of(e, "k.kd");
  assert_int_equal(hsa_executable_destroy(e), 0);
}

static hsa_status_t keep_code(hsa_executable_t e, hsa_loaded_code_object_t code, void *data) {
  (void)e;
  *(hsa_loaded_code_object_t *)data = code;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t keep_executable(hsa_executable_t e, void *data) {
  *(hsa_executable_t *)data = e;
  return HSA_STATUS_SUCCESS;
}

static void the_loader_extension_finds_what_is_loaded_where(void **state) {
  (void)state;
  hsa_ven_amd_loader_1_03_pfn_t loader;
  hsa_loaded_code_object_t loaded, found = {0};
  hsa_executable_t e = load_on(gpu.agent, &loaded), back = {0};
  uint64_t base = 0, size = 0, delta = 0, object = 0;
  uint32_t length = 0, kind = 0;
  hsa_agent_t agent = {0};
  const void *host = NULL;
  size_t segments = 0;
  char uri[128] = "";
  assert_int_equal(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader), 0);
  assert_int_equal(hsa_executable_symbol_get_info(symbol_of(e, "k.kd"), HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object), 0);
  const void *inside = (const void *)(uintptr_t)object;
  assert_int_equal(loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(e, keep_code, &found), 0);
  assert_int_equal(found.handle, loaded.handle);
#define INFO(attribute, out)                                                                                                               \
  loader.hsa_ven_amd_loader_loaded_code_object_get_info(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_##attribute, out)
  assert_int_equal(INFO(EXECUTABLE, &back), 0);
  assert_int_equal(back.handle, e.handle);
  assert_int_equal(INFO(KIND, &kind), 0);
  assert_int_equal(INFO(AGENT, &agent), 0);
  assert_int_equal(agent.handle, gpu.agent.handle);
  assert_int_equal(INFO(CODE_OBJECT_STORAGE_TYPE, &kind), 0);
  assert_int_equal(kind, HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY);
  assert_int_equal(INFO(CODE_OBJECT_STORAGE_MEMORY_BASE, &base), 0);
  assert_int_equal(base, (uint64_t)(uintptr_t)image);
  assert_int_equal(INFO(CODE_OBJECT_STORAGE_MEMORY_SIZE, &size), 0);
  assert_int_equal(size, image_bytes);
  assert_int_equal(INFO(CODE_OBJECT_STORAGE_FILE, &kind), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(INFO(LOAD_BASE, &base), 0);
  assert_int_equal(INFO(LOAD_SIZE, &size), 0);
  assert_int_equal(INFO(LOAD_DELTA, &delta), 0);
  assert_true(object - base < size && delta == base);
  assert_int_equal(INFO(URI_LENGTH, &length), 0);
  assert_int_equal(INFO(URI, uri), 0);
  assert_int_equal(strlen(uri), length);
  assert_int_equal(strncmp(uri, "memory://", 9), 0);
  assert_int_equal(loader.hsa_ven_amd_loader_query_executable(inside, &back), 0);
  assert_int_equal(back.handle, e.handle);
  assert_int_equal(loader.hsa_ven_amd_loader_query_executable(&back, &back), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(loader.hsa_ven_amd_loader_query_host_address(inside, &host), 0);
  assert_ptr_equal(host, inside);
  assert_int_equal(loader.hsa_ven_amd_loader_query_host_address(uri, &host), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(loader.hsa_ven_amd_loader_query_segment_descriptors(NULL, &segments), 0);
  assert_true(segments >= 2 && segments <= 8);
  hsa_ven_amd_loader_segment_descriptor_t descriptor[9];
  size_t more = segments + 1;
  assert_int_equal(loader.hsa_ven_amd_loader_query_segment_descriptors(descriptor, &more), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  assert_int_equal(loader.hsa_ven_amd_loader_query_segment_descriptors(descriptor, &segments), 0);
  assert_int_equal(descriptor[0].executable.handle, e.handle);
  assert_int_equal(loader.hsa_ven_amd_loader_iterate_executables(keep_executable, &back), 0);
  assert_int_equal(back.handle, e.handle);
  assert_int_equal(hsa_executable_destroy(e), 0);
  assert_int_equal(INFO(KIND, &kind), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

static void a_code_object_inside_a_file_is_loaded(void **state) {
  (void)state;
  hsa_ven_amd_loader_1_03_pfn_t loader;
  hsa_code_object_reader_t reader;
  hsa_executable_t e;
  const char *path = path_in(temp_dir(), "wrapped");
  char *wrapped = calloc(1, image_bytes + 300);
  memcpy(wrapped + 256, image, image_bytes);
  write_file(path, wrapped, image_bytes + 300);
  free(wrapped);
  int file = open(path, O_RDONLY);
  assert_int_equal(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader), 0);
#define PART(f, offset, size) loader.hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(f, offset, size, &reader)
  assert_int_equal(PART(-1, 256, image_bytes), HSA_STATUS_ERROR_INVALID_FILE);
  assert_int_equal(PART(file, 256, image_bytes + 45), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(PART(file, 256, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(PART(file, 256, image_bytes), 0);
  assert_int_equal(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &e), 0);
  assert_int_equal(hsa_executable_load_agent_code_object(e, gpu.agent, reader, NULL, NULL), 0);
  (void)symbol_of(e, "limit");
  assert_int_equal(hsa_executable_destroy(e), 0);
  assert_int_equal(hsa_code_object_reader_destroy(reader), 0);
  close(file);
  assert_int_equal(hsa_code_object_reader_create_from_file(-1, &reader), HSA_STATUS_ERROR_INVALID_FILE);
}

struct two_agents {
  hsa_agent_t agent[2];
  uint32_t count;
};

static hsa_status_t take_gpus(hsa_agent_t agent, void *data) {
  struct two_agents *two = data;
  hsa_device_type_t type;
  assert_int_equal(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), 0);
  if (type == HSA_DEVICE_TYPE_GPU && two->count < 2) two->agent[two->count++] = agent;
  return HSA_STATUS_SUCCESS;
}

static void partitions_run_their_own_code_only(void **state) {
  (void)state;
  struct two_agents two = {.count = 0};
  setenv("FRONT_EMU_DEVICE", "mi355x-cpx", 1);
  gpu_open(&gpu);
  unsetenv("FRONT_EMU_DEVICE");
  assert_int_equal(hsa_iterate_agents(take_gpus, &two), 0);
  assert_int_equal(two.count, 2);
  assert_int_equal(gpu.agent.handle, two.agent[0].handle);
  struct emu_kernel k = {.executable = load_on(two.agent[1], NULL)};
  hsa_executable_symbol_t s;
  uint32_t *counter = NULL, *a = gpu_memory(&gpu, 4);
  assert_int_equal(hsa_executable_freeze(k.executable, NULL), 0);
  assert_int_equal(hsa_executable_get_symbol_by_name(k.executable, "k.kd", &two.agent[0], &s), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  assert_int_equal(hsa_executable_get_symbol_by_name(k.executable, "k.kd", &two.agent[1], &s), 0);
  assert_int_equal(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object), 0);
  assert_int_equal(hsa_executable_get_symbol_by_name(k.executable, "counter", &two.agent[1], &s), 0);
  assert_int_equal(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &counter), 0);
  struct emu_gpu second = gpu;
  assert_int_equal(hsa_queue_create(two.agent[1], 8, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &second.queue), 0);
  *a = 1;
  assert_int_equal(gpu_launch(&second, &k, 40, 64, &a, sizeof a), 0); /* more workgroups than one XCD has units */
  assert_int_equal(*counter, 8);
  assert_int_equal(gpu_launch(&gpu, &k, 1, 64, &a, sizeof a), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  assert_int_equal(hsa_queue_destroy(second.queue), 0);
  kernel_free(&k);
  gpu_close(&gpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      GPU_TEST(an_executable_has_states_and_refuses_by_them),
      GPU_TEST(symbols_say_what_they_are),
      GPU_TEST(a_kernel_writes_the_variable_that_the_program_reads),
      GPU_TEST(the_programs_variables_are_symbols_beside_the_code_objects),
      GPU_TEST(the_older_code_objects_work_as_they_did),
      GPU_TEST(the_loader_extension_finds_what_is_loaded_where),
      GPU_TEST(a_code_object_inside_a_file_is_loaded),
      cmocka_unit_test(partitions_run_their_own_code_only),
  };
  return cmocka_run_group_tests_name("hsa_code", tests, make_image, free_image);
}
