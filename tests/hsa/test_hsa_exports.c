/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator's library as a linker and a careless caller see it: its names, and every function without initialisation and with nothing
   but zeros. */
#include "support.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

static void *library;

/* Handles, pointers and numbers alike travel in registers, or as words on the stack, so that any function can be called with zeros. */
typedef hsa_status_t any_function(
    uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static const struct {
  const char *name;
  int wanted; /* with zeros; -1: not a status */
} functions[] = {
#define STATUS(f, status)          {#f, status},
#define VALUE(f)                   {#f, -1},
#define OTHER(f)                   {#f, -1},
#define SUCCESS                    (int)HSA_STATUS_SUCCESS
#define INVALID_ARGUMENT           (int)HSA_STATUS_ERROR_INVALID_ARGUMENT
#define INVALID_AGENT              (int)HSA_STATUS_ERROR_INVALID_AGENT
#define INVALID_REGION             (int)HSA_STATUS_ERROR_INVALID_REGION
#define INVALID_SIGNAL             (int)HSA_STATUS_ERROR_INVALID_SIGNAL
#define INVALID_QUEUE              (int)HSA_STATUS_ERROR_INVALID_QUEUE
#define INVALID_ISA                (int)HSA_STATUS_ERROR_INVALID_ISA
#define INVALID_CODE_OBJECT        (int)HSA_STATUS_ERROR_INVALID_CODE_OBJECT
#define INVALID_EXECUTABLE         (int)HSA_STATUS_ERROR_INVALID_EXECUTABLE
#define INVALID_CODE_SYMBOL        (int)HSA_STATUS_ERROR_INVALID_CODE_SYMBOL
#define INVALID_EXECUTABLE_SYMBOL  (int)HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL
#define INVALID_CODE_OBJECT_READER (int)HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER
#define INVALID_CACHE              (int)HSA_STATUS_ERROR_INVALID_CACHE
#define INVALID_WAVEFRONT          (int)HSA_STATUS_ERROR_INVALID_WAVEFRONT
#define INVALID_SIGNAL_GROUP       (int)HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP
#define INVALID_MEMORY_POOL        (int)HSA_STATUS_ERROR_INVALID_MEMORY_POOL
#include "hsa_names.def"
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

#ifdef __clang__
__attribute__((no_sanitize("function")))
#endif
static hsa_status_t
call_with_zeros(const char *name) {
  any_function *f;
  void *address = dlsym(library, name);
  if (!address) fail_msg("%s", dlerror());
  memcpy(&f, &address, sizeof f);
  return f(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void every_function_is_exported_as_rocr_does(void **state) {
  (void)state;
  for (int i = 0; i < FUNCTIONS; i++)
    if (!dlvsym(library, functions[i].name, "ROCR_1")) fail_msg("%s: %s", functions[i].name, dlerror());
}

static const Elf64_Shdr *section_of(const char *image, Elf64_Word type) {
  const Elf64_Ehdr *elf = (const void *)image;
  const Elf64_Shdr *section = (const void *)(image + elf->e_shoff);
  for (int i = 0; i < elf->e_shnum; i++)
    if (section[i].sh_type == type) return &section[i];
  fail_msg("the library has no section of type %u", type);
}

static bool is_listed(const char *name) {
  for (int i = 0; i < FUNCTIONS; i++)
    if (!strcmp(functions[i].name, name)) return true;
  return !strncmp(name, "hsa_emu_", 8) || !strcmp(name, "ROCR_1");
}

static void nothing_else_is_exported(void **state) {
  (void)state;
  char *image = read_file(built_path("emulator/libhsa-emu.so"), NULL);
  const Elf64_Shdr *symbols = section_of(image, SHT_DYNSYM),
                   *section = (const void *)(image + ((const Elf64_Ehdr *)(void *)image)->e_shoff);
  const char *strings = image + section[symbols->sh_link].sh_offset;
  size_t defined = 0;
  for (size_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
    const Elf64_Sym *s = (const Elf64_Sym *)(const void *)(image + symbols->sh_offset) + i;
    if (s->st_shndx == SHN_UNDEF) continue;
    defined++;
    if (!is_listed(strings + s->st_name)) fail_msg("%s is exported", strings + s->st_name);
    if (s->st_shndx != SHN_ABS && !dlvsym(library, strings + s->st_name, "ROCR_1")) fail_msg("%s", dlerror());
  }
  assert_true(defined > FUNCTIONS); /* the list, hsa_emu.h's and the version */
  free(image);
}

static void every_function_says_that_hsa_is_not_initialised(void **state) {
  (void)state;
  for (int i = 0; i < FUNCTIONS; i++) {
    if (functions[i].wanted == -1) continue;
    hsa_status_t status = call_with_zeros(functions[i].name);
    if (status != HSA_STATUS_ERROR_NOT_INITIALIZED) fail_msg("%s: 0x%x", functions[i].name, status);
  }
  assert_int_equal(call_with_zeros("hsa_shut_down"), HSA_STATUS_ERROR_NOT_INITIALIZED);
  assert_int_equal(call_with_zeros("hsa_status_string"), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(call_with_zeros("hsa_amd_signal_wait_any"), UINT32_MAX);
}

static void every_function_refuses_nothing_but_zeros_by_the_right_status(void **state) {
  (void)state;
  assert_int_equal(call_with_zeros("hsa_init"), HSA_STATUS_SUCCESS);
  for (int i = 0; i < FUNCTIONS; i++) {
    if (functions[i].wanted == -1) continue;
    int status = (int)call_with_zeros(functions[i].name);
    if (status != functions[i].wanted) fail_msg("%s: 0x%x, wanted 0x%x", functions[i].name, status, functions[i].wanted);
  }
  assert_int_equal(call_with_zeros("hsa_shut_down"), HSA_STATUS_SUCCESS);
}

/* A signal that is none is nobody's: the value functions do nothing with it. */
static void signal_functions_leave_a_null_signal_alone(void **state) {
  (void)state;
  assert_int_equal(call_with_zeros("hsa_init"), HSA_STATUS_SUCCESS);
  int calls = 0;
  for (int i = 0; i < FUNCTIONS; i++) {
    if (functions[i].wanted != -1 || strncmp(functions[i].name, "hsa_signal_", 11)) continue;
    (void)call_with_zeros(functions[i].name);
    calls++;
  }
  assert_int_equal(
      calls, 3 + 3 + 2 + 3 + 7 * 7); /* load, store, silent_store, wait; exchange, cas, add, subtract, and, or, xor in 7 orders */
  assert_int_equal(call_with_zeros("hsa_shut_down"), HSA_STATUS_SUCCESS);
}

static int open_library(void **state) {
  (void)state;
  library = dlopen(built_path("emulator/libhsa-emu.so"), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_function_is_exported_as_rocr_does),
      cmocka_unit_test(nothing_else_is_exported),
      cmocka_unit_test(every_function_says_that_hsa_is_not_initialised),
      cmocka_unit_test(every_function_refuses_nothing_but_zeros_by_the_right_status),
      cmocka_unit_test(signal_functions_leave_a_null_signal_alone),
  };
  return cmocka_run_group_tests_name("hsa_exports", tests, open_library, NULL);
}
