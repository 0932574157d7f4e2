/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the HSA library. It can be opened once a process and must stay: HSA's threads and exit handlers live in it. */
#include "hsa_table.h"

#include <dlfcn.h>
#include <string.h>

#include "status.h"
#include "tries.h"

static const char *const system_names[] = {"libhsa-runtime64.so.1", "/opt/rocm/lib/libhsa-runtime64.so.1"};

/* The first function that the library lacks, or null. */
static const char *bind_functions(void *library, struct hsa_table *table) {
#define Y(function)                                                                                                                        \
  {                                                                                                                                        \
    void *address = dlsym(library, #function);                                                                                             \
    memcpy(&table->function, &address, sizeof address); /* C has no cast for this */                                                       \
  }
#define X(function)                                                                                                                        \
  Y(function)                                                                                                                              \
  if (!table->function) return #function;
#include "hsa_api.def"
#undef X
#undef Y
  return NULL;
}

/* A loaded copy comes first: HSA can be opened once a process. */
static bool try_library(const char *name, struct hsa_table *table, struct tries *tries) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_NOLOAD);
  if (!library) library = tries_open(tries, name, 0);
  if (!library) return false;
  const char *missing = bind_functions(library, table);
  return !missing || tries_lacks(tries, name, missing, "");
}

enum front_status hsa_table_load(const char *library, struct hsa_table *table, char *path, size_t path_bytes) {
  struct tries tries = {{0}, 0};
  const char *named = tries_named(library, "FRONT_HSA_LIBRARY");
  size_t count = named ? 1 : sizeof system_names / sizeof system_names[0];
  for (size_t i = 0; i < count; i++) {
    const char *name = named ? named : system_names[i];
    if (!try_library(name, table, &tries)) continue;
    tries_path(&table->hsa_init, name, path, path_bytes);
    return FRONT_OK;
  }
  return status_fail(
      FRONT_ERR_LIBRARY, "no HSA library: %s: install ROCm's HSA runtime, or name a library in FRONT_HSA_LIBRARY", tries.text);
}

enum front_status hsa_fail(const struct hsa_table *hsa, enum front_status status, const char *call, hsa_status_t code) {
  const char *words = NULL;
  if (hsa->hsa_status_string(code, &words) != HSA_STATUS_SUCCESS || !words) words = "a status that HSA has no words for";
  if (code == HSA_STATUS_ERROR_OUT_OF_RESOURCES) status = FRONT_ERR_MEMORY;
  return status_fail(status, "%s failed with 0x%x: %s", call, (unsigned)code, words);
}
