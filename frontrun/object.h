/* SPDX-License-Identifier: Apache-2.0 */
/* The code object that frontrun runs: made from a key, or read from a file. */
#ifndef FRONT_RUN_OBJECT_H
#define FRONT_RUN_OBJECT_H

#include "options.h"
#include "plan.h"

struct run_object {
  void *bytes;
  size_t size;
  struct plan plan;
  const char *key; /* for libfront: --key, or null */
  bool generated;
};

/* Takes options->what: an existing regular file is a code object, anything else a key. Error: a sentence, and the exit code. */
enum run_code object_get(const struct run_options *options, struct run_object *object, char error[RUN_ERROR_MAX]);

#endif
