/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the HSA library. It can be opened once a process and must stay: HSA's threads and exit handlers live in it. */
#include "hsa_table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

static const char *const system_names[] = {"libhsa-runtime64.so.1", "/opt/rocm/lib/libhsa-runtime64.so.1"};

struct tries {
  char text[1500];
  size_t used;
};

static void note_try(struct tries *tries, const char *name, const char *why) {
  int n = snprintf(
      tries->text + tries->used, sizeof tries->text - tries->used, "%s%s: %s", tries->used ? "; " : "", name, why ? why : "unknown reason");
  if (n > 0) tries->used += (size_t)n;
  if (tries->used >= sizeof tries->text) tries->used = sizeof tries->text - 1;
}

/* The first function that the library lacks, or null. */
static const char *bind_functions(void *library, struct hsa_table *table) {
#define X(function)                                                                                                                        \
  {                                                                                                                                        \
    void *address = dlsym(library, #function);                                                                                             \
    if (!address) return #function;                                                                                                        \
    memcpy(&table->function, &address, sizeof address); /* C has no cast for this */                                                       \
  }
#include "hsa_api.def"
#undef X
  return NULL;
}

static void find_path(const struct hsa_table *table, const char *name, char *path, size_t bytes) {
  Dl_info info;
  void *address;
  memcpy(&address, &table->hsa_init, sizeof address);
  bool known = dladdr(address, &info) && info.dli_fname;
  snprintf(path, bytes, "%s", known ? info.dli_fname : name);
}

static bool try_library(const char *name, struct hsa_table *table, struct tries *tries) {
  int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  void *library = dlopen(name, flags | RTLD_NOLOAD);
  if (!library) library = dlopen(name, flags);
  if (!library) {
    note_try(tries, name, dlerror());
    return false;
  }
  const char *missing = bind_functions(library, table);
  if (missing) {
    char why[160];
    snprintf(why, sizeof why, "has no function %s", missing);
    note_try(tries, name, why);
  }
  return !missing;
}

enum front_status hsa_table_load(const char *library, struct hsa_table *table, char *path, size_t path_bytes) {
  struct tries tries = {{0}, 0};
  const char *named = library ? library : getenv("FRONT_HSA_LIBRARY");
  if (named && !*named) named = NULL;
  size_t count = named ? 1 : sizeof system_names / sizeof system_names[0];
  for (size_t i = 0; i < count; i++) {
    const char *name = named ? named : system_names[i];
    if (!try_library(name, table, &tries)) continue;
    find_path(table, name, path, path_bytes);
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
