/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen, and what went wrong with it. */
#include "tries.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(struct tries *tries, const char *name, const char *why) {
  size_t room = sizeof tries->text - tries->used;
  int n = snprintf(tries->text + tries->used, room, "%s%s: %s", tries->used ? "; " : "", name, why ? why : "unknown reason");
  if (n > 0) tries->used += (size_t)n < room ? (size_t)n : room - 1;
}

void *tries_open(struct tries *tries, const char *name, int more) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | more);
  if (!library) note(tries, name, dlerror());
  return library;
}

bool tries_lacks(struct tries *tries, const char *name, const char *function, const char *what) {
  char why[160];
  snprintf(why, sizeof why, "has no function %s%s", function, what);
  note(tries, name, why);
  return false;
}

const char *tries_named(const char *library, const char *variable) {
  const char *named = library ? library : getenv(variable);
  return named && *named ? named : NULL;
}

void tries_path(const void *function, const char *otherwise, char *path, size_t bytes) {
  Dl_info info;
  void *address;
  memcpy(&address, function, sizeof address);
  bool known = dladdr(address, &info) && info.dli_fname;
  snprintf(path, bytes, "%s", known ? info.dli_fname : otherwise);
}
