/* SPDX-License-Identifier: Apache-2.0 */
/* Holds a code object against the ABI and a GPU's instruction set. The HSA and the HIP route share it. */
#include "inspect.h"

#include <stdio.h>
#include <string.h>

#include "codeobject.h"
#include "geometry.h"
#include "note.h"
#include "status.h"

/* The kernel's key, from the note, the caller, or both. */
static enum front_status find_layer(const struct code_object *co, const char *key, struct layer *layer) {
  char error[CODE_ERROR_MAX];
  struct front_note note;
  struct layer noted;
  if (!co->front_note) {
    if (key) return layer_parse(key, layer);
    return status_fail(FRONT_ERR_CODE_OBJECT, "the code object has no note of frontgen that names its key: give the key");
  }
  if (!front_note_read(co, &note, error)) return status_fail(FRONT_ERR_CODE_OBJECT, "%s", error);
  enum front_status status = FRONT_OK;
  if (note.kernarg_abi != FRONT_NOTE_KERNARG_ABI)
    status = status_fail(FRONT_ERR_CODE_OBJECT, "the code object has kernarg ABI %u, this library has %d: build one for the other",
        note.kernarg_abi, FRONT_NOTE_KERNARG_ABI);
  if (status == FRONT_OK) status = layer_parse(note.key, &noted);
  front_note_free(&note);
  if (status != FRONT_OK) return status;
  *layer = noted;
  if (!key) return FRONT_OK;
  status = layer_parse(key, layer);
  if (status != FRONT_OK || !memcmp(layer, &noted, sizeof noted)) return status;
  char found[LAYER_NAME_MAX], wanted[LAYER_NAME_MAX];
  layer_name(&noted, found);
  layer_name(layer, wanted);
  return status_fail(FRONT_ERR_NOT_FOUND, "the code object is %s: %s was asked for", found, wanted);
}

/* The kernel of that canonical name, or the only one there is. */
static const struct code_kernel *find_kernel(const struct code_object *co, const char *name) {
  const struct code_kernel *found = code_object_kernel(co, name);
  return found ? found : code_object_kernel(co, NULL);
}

static enum front_status check_kernel(const struct code_kernel *kernel) {
  if (kernel->kernarg_segment_size != KERNARG_BYTES || kernel->hidden_args)
    return status_fail(FRONT_ERR_CODE_OBJECT, "kernel %s has a kernarg segment of %u bytes with %u hidden arguments: %d and 0 are needed",
        kernel->name, kernel->kernarg_segment_size, kernel->hidden_args, KERNARG_BYTES);
  if (kernel->private_segment_fixed_size || kernel->uses_dynamic_stack)
    return status_fail(FRONT_ERR_CODE_OBJECT, "kernel %s needs %u bytes of private memory a thread%s: 0 is needed, it spills", kernel->name,
        kernel->private_segment_fixed_size, kernel->uses_dynamic_stack ? " and a dynamic stack" : "");
  if (kernel->max_flat_workgroup_size < THREADS)
    return status_fail(FRONT_ERR_CODE_OBJECT, "kernel %s is for workgroups of at most %u threads: %d are needed", kernel->name,
        kernel->max_flat_workgroup_size, THREADS);
  if (kernel->wavefront_size != WAVE)
    return status_fail(FRONT_ERR_CODE_OBJECT, "kernel %s has waves of %u lanes: %d are needed", kernel->name, kernel->wavefront_size, WAVE);
  return FRONT_OK;
}

/* Does an ISA name with ":sramecc+:xnack-" allow code with this feature on, off or either way? */
static bool feature_fits(const char *isa, const char *feature, enum code_feature code) {
  char on[24], off[24];
  snprintf(on, sizeof on, ":%s+", feature);
  snprintf(off, sizeof off, ":%s-", feature);
  if (code == CODE_ON) return !strstr(isa, off);
  if (code == CODE_OFF) return !strstr(isa, on);
  return true;
}

static enum front_status check_target(const struct code_object *co, const char *isa) {
  char target[CODE_TARGET_MAX];
  code_object_target(co, target);
  const char *bare = strstr(isa, "--");
  if (bare) isa = bare + 2;
  size_t length = strcspn(isa, ":");
  bool same = strlen(co->arch) == length && !strncmp(co->arch, isa, length);
  if (same && feature_fits(isa, "xnack", co->xnack) && feature_fits(isa, "sramecc", co->sramecc)) return FRONT_OK;
  return status_fail(FRONT_ERR_ISA, "the code object is for %s, the device is %s: build for that (--arch)", target, isa);
}

static enum front_status inspect(
    const struct code_object *co, const char *key, const char *isa, struct layer *layer, struct front_kernel_info *info) {
  enum front_status status = check_target(co, isa);
  if (status == FRONT_OK) status = find_layer(co, key, layer);
  if (status != FRONT_OK) return status;
  layer_name(layer, info->name);
  const struct code_kernel *found = find_kernel(co, info->name);
  if (!found) return status_fail(FRONT_ERR_NOT_FOUND, "the code object has %u kernels, and none with the name %s", co->kernels, info->name);
  if (strlen(found->symbol) >= sizeof info->symbol)
    return status_fail(FRONT_ERR_CODE_OBJECT, "the kernel's name is longer than %zu bytes", sizeof info->symbol - 1);
  status = check_kernel(found);
  if (status != FRONT_OK) return status;
  snprintf(info->symbol, sizeof info->symbol, "%s", found->symbol);
  snprintf(info->arch, sizeof info->arch, "%s", co->arch);
#define FIELD(name, lowest, highest, fallback, suffix, ready) info->name = (uint32_t)layer->name;
#include "key_fields.def"
#undef FIELD
  info->scratch_bytes = layer_scratch_bytes(layer);
  info->lds_bytes = found->group_segment_fixed_size;
  info->vgprs = found->vgpr_count;
  info->sgprs = found->sgpr_count;
  return FRONT_OK;
}

enum front_status inspect_object(
    const void *image, size_t bytes, const char *key, const char *isa, struct layer *layer, struct front_kernel_info *info) {
  char error[CODE_ERROR_MAX];
  struct code_object co;
  if (!code_object_open(image, bytes, &co, error)) return status_fail(FRONT_ERR_CODE_OBJECT, "%s", error);
  *info = (struct front_kernel_info){0};
  enum front_status status = inspect(&co, key, isa, layer, info);
  code_object_close(&co);
  return status;
}

enum front_status inspect_name(const void *image, size_t bytes, char name[LAYER_NAME_MAX], char arch[32]) {
  char error[CODE_ERROR_MAX];
  struct code_object co;
  struct layer layer;
  if (!code_object_open(image, bytes, &co, error)) return status_fail(FRONT_ERR_CODE_OBJECT, "%s", error);
  enum front_status status = find_layer(&co, NULL, &layer);
  if (status == FRONT_OK) layer_name(&layer, name);
  if (status == FRONT_OK) snprintf(arch, 32, "%s", co.arch);
  code_object_close(&co);
  return status;
}
