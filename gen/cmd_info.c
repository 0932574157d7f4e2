/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen info KEY|FILE: the plan, and of a file what its kernel takes. */
#include "cmd.h"
#include "info.h"
#include "note.h"

#include <stdlib.h>
#include <string.h>

/* The plan that a file's note names, and the resources of its kernel. */
static int read_object(const char *path, const struct code_object *co, const struct front_note *note, struct plan *plan,
    struct info_object *o, char hex[SHA256_HEX]) {
  char error[FRONTGEN_ERROR_MAX];
  const struct code_kernel *k = code_object_kernel(co, note->key);
  int status = (int)frontgen_plan(note->key, note->arch, plan, error);
  if (status) return cmd_fail(status, "%s: its note names another kernel: %s", path, error);
  if (!k) return cmd_fail(FRONTGEN_USAGE, "%s: it has no kernel %s, which its note names: build it anew", path, note->key);
  sha256_hex(note->sha256, hex);
  *o = (struct info_object){.llvm = note->llvm_version,
      .sha256 = hex,
      .vgprs = k->vgpr_count,
      .vgprs_allocated = k->descriptor.vgprs,
      .sgprs = k->sgpr_count,
      .agprs = k->agpr_count,
      .vgpr_spills = k->vgpr_spill_count,
      .sgpr_spills = k->sgpr_spill_count,
      .lds_bytes = k->group_segment_fixed_size,
      .private_bytes = k->private_segment_fixed_size,
      .kernarg_bytes = k->kernarg_segment_size,
      .file_bytes = (uint32_t)co->bytes,
      .code_bytes = (uint32_t)k->code_bytes};
  return FRONTGEN_GOOD;
}

static int info_file(const char *path, bool json, struct text *out) {
  char *data, error[FRONTGEN_ERROR_MAX], hex[SHA256_HEX];
  size_t bytes;
  struct code_object co;
  struct front_note note;
  struct info_object object;
  struct plan plan;
  int status = cmd_read_file(path, &data, &bytes);
  if (status) return status;
  if (!code_object_open(data, bytes, &co, error)) {
    free(data);
    return cmd_fail(FRONTGEN_USAGE, "%s: %s", path, error);
  }
  if (front_note_read(&co, &note, error)) {
    status = read_object(path, &co, &note, &plan, &object, hex);
    if (!status) info_print(&plan, &object, json, out);
    front_note_free(&note);
  } else {
    status = cmd_fail(FRONTGEN_USAGE, "%s: %s", path, error);
  }
  code_object_close(&co);
  free(data);
  return status;
}

static int info_key(const char *key, const char *arch, bool json, struct text *out) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX];
  int status = (int)frontgen_plan(key, arch, &plan, error);
  if (status) return cmd_fail(status, "%s", error);
  info_print(&plan, NULL, json, out);
  return FRONTGEN_GOOD;
}

/* tokens=8, or front_s8_tp4_r2_w128_t0 without the ending of a file. */
static bool is_key(const char *word) {
  return strchr(word, '=') || (strncmp(word, "front_s", 7) == 0 && !strchr(word, '.') && !strchr(word, '/'));
}

int cmd_info(int argc, char **argv) {
  static const char doc[] = "Prints geometry, LDS, scratch, arguments and bytes moved of a key, and a code object's registers too.";
  struct cmd_line line;
  struct text out = {0};
  int status = cmd_parse(argc, argv, CMD_ARCH | CMD_JSON, "KEY|FILE", doc, 1, &line);
  if (status >= 0) return status;
  const char *word = line.words[0];
  if (is_key(word))
    status = info_key(word, line.arch ? line.arch : target_gfx950.name, line.json, &out);
  else
    status = info_file(word, line.json, &out);
  if (!status) status = out.failed ? cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory") : cmd_print(out.data, out.bytes);
  text_free(&out);
  free(line.words);
  return status;
}
