/* SPDX-License-Identifier: Apache-2.0 */
/* Key or file -> code object and plan. */
#include "object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codeobject.h"
#include "frontgen.h"
#include "note.h"

enum { OBJECT_BYTES_MAX = 256 << 20 };

static enum run_code generate(const struct run_options *options, const char *arch, struct run_object *object, char *error) {
  char why[FRONTGEN_ERROR_MAX];
  object->generated = true;
  enum frontgen_status status = frontgen_plan(options->what, arch, &object->plan, why);
  if (status == FRONTGEN_GOOD) status = frontgen_build(&object->plan, NULL, &object->bytes, &object->size, why);
  if (status != FRONTGEN_GOOD) snprintf(error, RUN_ERROR_MAX, "%s", why);
  return (enum run_code)status;
}

static enum run_code read_object(const char *path, const struct stat *file, struct run_object *object, char *error) {
  if (!S_ISREG(file->st_mode)) {
    snprintf(error, RUN_ERROR_MAX, "%.400s is a device or a pipe: name a plain file", path);
    return RUN_USAGE;
  }
  if (file->st_size > OBJECT_BYTES_MAX) {
    snprintf(error, RUN_ERROR_MAX, "%s: %lld bytes are no code object of a kernel", path, (long long)file->st_size);
    return RUN_USAGE;
  }
  object->size = (size_t)file->st_size;
  object->bytes = malloc(object->size + 1);
  if (!object->bytes) {
    snprintf(error, RUN_ERROR_MAX, "%s: no memory for its %zu bytes", path, object->size);
    return RUN_ENVIRONMENT;
  }
  FILE *in = fopen(path, "rb");
  bool good = in && fread(object->bytes, 1, object->size, in) == object->size;
  if (!good) snprintf(error, RUN_ERROR_MAX, "%s: %s", path, errno ? strerror(errno) : "it became shorter while it was read");
  if (in) fclose(in);
  return good ? RUN_GOOD : RUN_USAGE;
}

/* What the file says it is; --key must agree, or say it. Two spellings of one key are the same kernel. */
static enum run_code identify(const struct run_options *options, struct run_object *object, char *error) {
  struct code_object co;
  char why[CODE_ERROR_MAX], name[KEY_NAME_MAX] = "", arch[CODE_ARCH_MAX] = "";
  if (!code_object_open(object->bytes, object->size, &co, why)) {
    snprintf(error, RUN_ERROR_MAX, "%s: %s", options->what, why);
    return RUN_USAGE;
  }
  struct front_note note;
  bool noted = co.front_note != NULL, readable = noted && front_note_read(&co, &note, why);
  if (readable) {
    snprintf(name, sizeof name, "%s", note.key);
    front_note_free(&note);
  }
  snprintf(arch, sizeof arch, "%s", co.arch);
  code_object_close(&co);
  if (noted && !readable) {
    snprintf(error, RUN_ERROR_MAX, "%s: %s", options->what, why);
    return RUN_USAGE;
  }
  if (!noted && !options->key) {
    snprintf(error, RUN_ERROR_MAX, "%s has no note of frontgen: say with --key what kernel it is", options->what);
    return RUN_USAGE;
  }
  if (options->arch && strcmp(options->arch, arch) != 0) {
    snprintf(error, RUN_ERROR_MAX, "%s is for %s, not for %s: leave --arch out", options->what, arch, options->arch);
    return RUN_USAGE;
  }
  char plan_error[FRONTGEN_ERROR_MAX];
  enum frontgen_status status = frontgen_plan(options->key ? options->key : name, arch, &object->plan, plan_error);
  if (status != FRONTGEN_GOOD) snprintf(error, RUN_ERROR_MAX, "%s: %s", options->what, plan_error);
  if (status == FRONTGEN_GOOD && noted && strcmp(object->plan.name, name) != 0) {
    snprintf(error, RUN_ERROR_MAX, "%s is %s, not %s: leave --key out", options->what, name, object->plan.name);
    return RUN_USAGE;
  }
  return (enum run_code)status;
}

/* The GPU of the bundle's only, or first, code object: what --arch is when it was not given. */
static enum front_status bundle_arch_of(front_bundle bundle, const struct run_options *options, char arch[32]) {
  struct front_bundle_entry entry;
  enum front_status status = front_bundle_describe(bundle, 0, &entry);
  if (status == FRONT_OK) snprintf(arch, 32, "%s", options->arch ? options->arch : entry.arch);
  return status;
}

/* libfront reads the bundle, and checks the object's hash before anything else looks at it. */
static enum run_code read_bundle(const struct run_options *options, struct run_object *object, char *error) {
  front_bundle bundle;
  char arch[32];
  size_t count = 0;
  enum front_status status = front_bundle_open(options->what, &bundle);
  if (status != FRONT_OK) {
    snprintf(error, RUN_ERROR_MAX, "%.2000s", front_error());
    return session_code(status);
  }
  status = bundle_arch_of(bundle, options, arch);
  if (status == FRONT_OK) status = front_bundle_count(bundle, &count);
  if (status == FRONT_OK && !options->key)
    snprintf(error, RUN_ERROR_MAX, "%s is a bundle of %zu code objects: pick one with --key", options->what, count);
  else if (status == FRONT_OK)
    status = front_bundle_read(bundle, options->key, arch, &object->bytes, &object->size);
  if (status != FRONT_OK) snprintf(error, RUN_ERROR_MAX, "%.2000s", front_error());
  (void)front_bundle_close(bundle);
  return status != FRONT_OK ? session_code(status) : options->key ? RUN_GOOD : RUN_USAGE;
}

enum run_code object_get(const struct run_options *options, struct run_object *object, char error[RUN_ERROR_MAX]) {
  *object = (struct run_object){.key = options->key};
  struct stat file;
  errno = 0;
  bool there = stat(options->what, &file) == 0;
  if (there && S_ISDIR(file.st_mode)) {
    enum run_code code = read_bundle(options, object, error);
    return code == RUN_GOOD ? identify(options, object, error) : code;
  }
  if (!there && (strchr(options->what, '/') || strstr(options->what, ".hsaco"))) {
    snprintf(error, RUN_ERROR_MAX, "%s: %s", options->what, strerror(errno));
    return RUN_USAGE;
  }
  if (there) {
    enum run_code code = read_object(options->what, &file, object, error);
    return code == RUN_GOOD ? identify(options, object, error) : code;
  }
  if (options->key) {
    snprintf(error, RUN_ERROR_MAX, "--key says what a FILE is, and %s is no file: give the key once", options->what);
    return RUN_USAGE;
  }
  return generate(options, options->arch ? options->arch : "gfx950", object, error);
}
