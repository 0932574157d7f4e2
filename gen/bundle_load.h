/* SPDX-License-Identifier: Apache-2.0 */
/* All code objects of a bundle or of one file, in memory, through libfront's own opening of untrusted bundles. */
#ifndef FRONT_BUNDLE_LOAD_H
#define FRONT_BUNDLE_LOAD_H

#include "bundle.h"

struct loaded_object {
  char name[KEY_NAME_MAX], arch[32], file[KEY_NAME_MAX + 32];
  char maker[80]; /* "frontgen 0.1.0, LLVM 22.1.8" */
  void *bytes;
  size_t size;
};

struct loaded_bundle {
  struct loaded_object *object;
  size_t objects;
};

/* Reads and checks every object (hash, note, name). free with bundle_unload(). FRONTGEN_USAGE with libfront's sentence. */
enum frontgen_status bundle_load(const char *path, struct loaded_bundle *bundle, char error[FRONTGEN_ERROR_MAX]);
void bundle_unload(struct loaded_bundle *bundle);

#endif
