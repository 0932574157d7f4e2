/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the emulator and its functions. */
#include "emulator_link.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool look_up(void *library, const char *name, void *function) {
  void *address = dlsym(library, name);
  memcpy(function, &address, sizeof address); /* C has no cast for this */
  return address != NULL;
}

struct emulator_link emulator_link(const char *path) {
  struct emulator_link link = {0};
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (!library) return link;
  link.there = look_up(library, "hsa_emu_last_dispatch", &link.last_dispatch) && look_up(library, "hsa_emu_range_add", &link.range_add) &&
               look_up(library, "hsa_emu_ranges_clear", &link.ranges_clear) &&
               look_up(library, "hsa_emu_range_traffic", &link.range_traffic) && look_up(library, "hsa_emu_report", &link.report) &&
               look_up(library, "hsa_emu_remarks", &link.remarks) && look_up(library, "hsa_emu_code", &link.code) &&
               look_up(library, "hsa_emu_set_strict", &link.set_strict) && look_up(library, "hsa_emu_findings", &link.findings) &&
               look_up(library, "hsa_emu_finding", &link.finding) && look_up(library, "hsa_emu_findings_clear", &link.findings_clear) &&
               look_up(library, "hsa_emu_profile", &link.profile) && look_up(library, "hsa_emu_profile_workgroup", &link.profile_workgroup);
  dlclose(library); /* libfront keeps it mapped */
  return link;
}

bool emulator_loads(const char *path, char *error, size_t room) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library) return dlclose(library) == 0;
  const char *why = dlerror();
  snprintf(error, room, "the emulator: %.1900s: name libhsa-emu.so in FRONT_EMU_LIBRARY", why ? why : path);
  return false;
}

bool emulator_find(char path[PATH_MAX]) {
  static const char *const places[] = {"../emulator/libhsa-emu.so", "../" LIBDIR "/libhsa-emu.so", "../lib/libhsa-emu.so"};
  const char *named = getenv("FRONT_EMU_LIBRARY");
  if (named && *named) {
    snprintf(path, PATH_MAX, "%s", named);
    return true; /* if it is no good, loading it says so */
  }
  char self[PATH_MAX], tries[PATH_MAX] = "";
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) length = 0;
  self[length] = 0;
  char *slash = strrchr(self, '/');
  if (slash) *slash = 0;
  size_t used = 0;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    if (snprintf(path, PATH_MAX, "%s/%s", self, places[i]) >= PATH_MAX) continue;
    if (access(path, R_OK) == 0) return true;
    if (used < sizeof tries) used += (size_t)snprintf(tries + used, sizeof tries - used, "%s%s", used ? ", " : "", places[i]);
  }
  memcpy(path, tries, sizeof tries);
  return false;
}
