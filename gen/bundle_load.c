/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle_load.h"
#include "front.h"
#include "note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum frontgen_status refused(enum front_status status, char error[FRONTGEN_ERROR_MAX]) {
  snprintf(error, FRONTGEN_ERROR_MAX, "%.620s", front_error());
  return status == FRONT_ERR_MEMORY ? FRONTGEN_ENVIRONMENT : FRONTGEN_USAGE;
}

static enum frontgen_status find_maker(struct loaded_object *o, char error[FRONTGEN_ERROR_MAX]) {
  char why[CODE_ERROR_MAX];
  struct code_object co;
  struct front_note note;
  bool opened = code_object_open(o->bytes, o->size, &co, why), read = opened && front_note_read(&co, &note, why);
  if (read) {
    snprintf(o->maker, sizeof o->maker, "frontgen %.25s, LLVM %.25s", note.generator_version, note.llvm_version);
    front_note_free(&note);
  } else {
    snprintf(error, FRONTGEN_ERROR_MAX, "%s: %s", o->file, why);
  }
  if (opened) code_object_close(&co);
  return read ? FRONTGEN_GOOD : FRONTGEN_USAGE;
}

static enum frontgen_status load_entry(front_bundle bundle, size_t index, struct loaded_object *o, char error[FRONTGEN_ERROR_MAX]) {
  struct front_bundle_entry entry;
  enum front_status status = front_bundle_describe(bundle, index, &entry);
  if (status == FRONT_OK) status = front_bundle_read(bundle, entry.name, entry.arch, &o->bytes, &o->size);
  if (status != FRONT_OK) return refused(status, error);
  snprintf(o->name, sizeof o->name, "%s", entry.name);
  snprintf(o->arch, sizeof o->arch, "%s", entry.arch);
  snprintf(o->file, sizeof o->file, "%.90s.%.25s.hsaco", entry.name, entry.arch);
  enum frontgen_status found = find_maker(o, error);
  if (found) free(o->bytes);
  return found;
}

enum frontgen_status bundle_load(const char *path, struct loaded_bundle *bundle, char error[FRONTGEN_ERROR_MAX]) {
  front_bundle opened;
  size_t count = 0;
  *bundle = (struct loaded_bundle){0};
  enum front_status status = front_bundle_open(path, &opened);
  if (status != FRONT_OK) return refused(status, error);
  enum frontgen_status result = FRONTGEN_GOOD;
  if (front_bundle_count(opened, &count) != FRONT_OK || !(bundle->object = calloc(count + 1, sizeof *bundle->object))) {
    snprintf(error, FRONTGEN_ERROR_MAX, "out of memory for the bundle %.300s", path);
    result = FRONTGEN_ENVIRONMENT;
  }
  for (size_t i = 0; i < count && !result; i++) {
    result = load_entry(opened, i, &bundle->object[i], error);
    bundle->objects += !result;
  }
  (void)front_bundle_close(opened);
  if (result) bundle_unload(bundle);
  return result;
}

void bundle_unload(struct loaded_bundle *bundle) {
  for (size_t i = 0; i < bundle->objects; i++) free(bundle->object[i].bytes);
  free(bundle->object);
  *bundle = (struct loaded_bundle){0};
}
