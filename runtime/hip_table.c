/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the HIP library. The caller's streams belong to a copy of it, and a process may hold several: the loaded one comes first. */
#include "hip_table.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "status.h"
#include "tries.h"

static const char soname[] = "libamdhip64.so";
static const char *const system_names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so"};

/* The first function that the library lacks, or null. */
static const char *bind_functions(void *library, struct hip_table *table) {
#define X(result, name, parameters)                                                                                                        \
  {                                                                                                                                        \
    void *address = dlsym(library, #name);                                                                                                 \
    if (!address) return #name;                                                                                                            \
    memcpy(&table->name, &address, sizeof address); /* C has no cast for this */                                                           \
  }
#include "hip_api.def"
#undef X
  return NULL;
}

/* `more`: RTLD_NOLOAD or 0. */
static bool try_library(const char *name, int more, struct hip_table *table, struct tries *tries) {
  void *library = tries_open(tries, name, more);
  if (!library) return false;
  const char *missing = bind_functions(library, table);
  if (!missing) return true;
  dlclose(library); /* RTLD_NODELETE: this gives only the count back */
  return tries_lacks(tries, name, missing, " (HIP 6.0 or newer is needed)");
}

struct loaded {
  char path[512];
};

static int find_loaded(struct dl_phdr_info *info, size_t bytes, void *data) {
  struct loaded *loaded = data;
  (void)bytes;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *file = slash ? slash + 1 : info->dlpi_name;
  size_t length = sizeof soname - 1;
  if (strncmp(file, soname, length) != 0 || (file[length] && file[length] != '.')) return 0;
  snprintf(loaded->path, sizeof loaded->path, "%s", info->dlpi_name);
  return 1;
}

static bool find_library(const char *named, struct hip_table *table, struct tries *tries) {
  if (named) return try_library(named, 0, table, tries);
  struct loaded loaded = {{0}};
  /* Streams of the loaded copy mean nothing to another one: if it does not do, none does. */
  if (dl_iterate_phdr(find_loaded, &loaded)) return try_library(loaded.path, RTLD_NOLOAD, table, tries);
  for (size_t i = 0; i < sizeof system_names / sizeof system_names[0]; i++)
    if (try_library(system_names[i], 0, table, tries)) return true;
  return false;
}

enum front_status hip_table_load(const char *library, struct hip_table *table, char *path, size_t path_bytes) {
  struct tries tries = {{0}, 0};
  const char *named = tries_named(library, "FRONT_HIP_LIBRARY");
  if (!find_library(named, table, &tries))
    return status_fail(
        FRONT_ERR_LIBRARY, "no HIP library: %s: install ROCm 6.0 or newer, or name its libamdhip64 in FRONT_HIP_LIBRARY", tries.text);
  tries_path(&table->hipModuleLaunchKernel, "unknown", path, path_bytes);
  return FRONT_OK;
}

enum front_status hip_fail(const struct hip_table *hip, const char *what, const char *call, unsigned error) {
  const char *name = hip->hipGetErrorName(error), *words = hip->hipGetErrorString(error);
  (void)hip->hipGetLastError();
  return status_fail(error == HIP_OUT_OF_MEMORY ? FRONT_ERR_MEMORY : FRONT_ERR_HIP, "%s: %s failed with %s (%u): %s", what, call,
      name ? name : "an error without a name", error, words ? words : "no words for it");
}
