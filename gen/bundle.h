/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles: many keys' code objects in one folder, made by ninja from a build.ninja that is written here.

   Beside the bundle NAME stands the work folder .NAME.frontgen: IR, objects, ninja's log. It is the cache of the next build, may be
   deleted at any time, and is never part of what ships. The bundle itself is put together there and takes its place by one rename, so
   that no reader ever sees half of it. One build at a time works there; another waits for its lock, which dies with its holder. */
#ifndef FRONT_BUNDLE_H
#define FRONT_BUNDLE_H

#include "frontgen.h"
#include "text.h"

/* An object that is there already, for a merge: borrowed. */
struct bundle_import {
  const char *file; /* NAME.ARCH.hsaco */
  const void *bytes;
  size_t size;
};

struct bundle_key {
  struct front_key key;
  const struct target *target;
  char name[KEY_NAME_MAX], file[KEY_NAME_MAX + 32], group[KEY_NAME_MAX + 32];
};

struct bundle_options {
  const char *folder;           /* where the bundle is to be */
  const char *embed;            /* a C file to write too; null: none */
  const char *program;          /* frontgen itself: ninja runs its steps */
  uint32_t jobs;                /* at once; 0: one a CPU */
  const struct bundle_key *key; /* sorted, none twice: bundle_sort() */
  size_t keys;
  const struct bundle_import *import;   /* as many as keys and in their order: nothing is compiled; null: compile */
  const struct frontgen_options *tools; /* limits */
};

struct bundle_result {
  char folder[4096]; /* as published, absolute */
  size_t files;
  uint64_t bytes;
  bool changed; /* false: what stood there was this already */
};

/* Fills name, file and group. False with a sentence in `error` for a key that the target cannot have. */
bool bundle_key_make(const struct front_key *key, const struct target *target, struct bundle_key *out, char error[FRONTGEN_ERROR_MAX]);

/* Sorts by target and key, and drops what is there twice. Returns how many are left. */
size_t bundle_sort(struct bundle_key *key, size_t keys);

/* Makes or brings up to date the bundle. FRONTGEN_GATE: a gate fails, `error` names the key. FRONTGEN_USAGE: the folder cannot be
   written, or holds something else. FRONTGEN_ENVIRONMENT: ninja or a tool is missing, fails, or passes its limit. One thread a process. */
enum frontgen_status bundle_make(const struct bundle_options *options, struct bundle_result *result, char error[FRONTGEN_ERROR_MAX]);

/* What ninja runs, in the work folder: "emit GROUP", "object NAME", "check GROUP"; the groups' names are files in groups/. The limits of
   the tools come from the environment. A failure is also left in failed/, for bundle_make(). */
enum frontgen_status bundle_step(const char *step, const char *what, char error[FRONTGEN_ERROR_MAX]);

#endif
