/* SPDX-License-Identifier: Apache-2.0 */
/* Inside bundle: the work folder, the text of build.ninja, the manifest, publishing. Paths are relative to the work folder, which is the
   working directory of every step, unless they are called absolute. */
#ifndef FRONT_BUNDLE_PARTS_H
#define FRONT_BUNDLE_PARTS_H

#include "bundle.h"
#include "check.h"

#include <limits.h>

#define BUNDLE_LIMITS   "FRONTGEN_STEP_LIMITS"  /* "60,4096": seconds and MiB a tool */
#define BUNDLE_PROGRAM  "FRONTGEN_STEP_PROGRAM" /* frontgen */
#define BUNDLE_SUMS     "SHA256SUMS"
#define BUNDLE_MANIFEST "manifest.json"

enum { BUNDLE_PATH_MAX = 2 * KEY_NAME_MAX + 96 };

/* The work folder of a bundle; absolute paths. */
struct bundle_work {
  char folder[PATH_MAX]; /* the bundle */
  char work[PATH_MAX];
  int lock;
};

/* Finds, makes and locks it; says on standard error that it waits, if it does. On failure nothing is left open. */
enum frontgen_status bundle_work_open(const char *folder, struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]);
void bundle_work_close(struct bundle_work *w);

/* work/part, or false with a sentence if that is too long. */
bool bundle_path(const struct bundle_work *w, const char *part, char path[PATH_MAX], char error[FRONTGEN_ERROR_MAX]);

/* The file's bytes, malloc'd; null if it is not there, is no regular file, or without memory. */
char *bundle_read(const char *path, size_t *bytes);

/* output_write(), but a file that has these bytes already stays as it is, time included. `wrote` may be null. */
enum frontgen_status bundle_write(const char *path, const void *data, size_t bytes, bool *wrote, char error[FRONTGEN_ERROR_MAX]);

/* Deletes a folder of files and folders. What cannot be deleted stays. */
void bundle_delete(const char *path);

/* Writes groups/, recipe and build.ninja, runs ninja, and tells of what failed. */
enum frontgen_status bundle_run_ninja(const struct bundle_options *o, const struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]);

/* One key's part of manifest.json: resources, hash, gates. */
enum frontgen_status bundle_manifest_entry(
    const char *file, const void *object, size_t bytes, const struct check_report *gates, struct text *out, char error[FRONTGEN_ERROR_MAX]);

/* Refuses, before any work, what bundle_publish() could not do: a folder that is no bundle, a C file inside it. */
enum frontgen_status bundle_may_publish(const struct bundle_options *o, const struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]);

/* Puts the bundle together and lets it take the folder's place, unless it stands there already; writes the C file. */
enum frontgen_status bundle_publish(
    const struct bundle_options *o, const struct bundle_work *w, struct bundle_result *result, char error[FRONTGEN_ERROR_MAX]);

/* Appends a C file with a table of struct front_embedded, by the name of its file. */
struct bundle_file {
  const char *file; /* NAME.ARCH.hsaco */
  const uint8_t *bytes;
  size_t size;
  char sha256[65];
};
void bundle_embed(const char *path, const struct bundle_file *files, size_t count, struct text *out);

#endif
