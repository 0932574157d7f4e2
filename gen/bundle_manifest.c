/* SPDX-License-Identifier: Apache-2.0 */
/* A key's part of manifest.json: what the object says of itself, and what the gates counted in it. */
#include "bundle_parts.h"
#include "note.h"

#include <stdio.h>
#include <string.h>

/* Our own strings hold nothing that JSON escapes; a file's may hold anything. */
static void put_string(struct text *out, const char *name, const char *value) {
  text_print(out, "\"%s\": \"", name);
  for (; *value; value++) {
    char c = *value < ' ' || *value > '~' || *value == '"' || *value == '\\' ? '?' : *value;
    text_put(out, &c, 1);
  }
  text_put(out, "\"", 1);
}

static void put_gates(struct text *out, const struct check_report *report) {
  text_string(out, "      \"gates\": [");
  for (uint32_t i = 0; i < report->gates; i++) {
    const struct check_gate *g = &report->gate[i];
    text_print(out, "%s\n        {", i ? "," : "");
    put_string(out, "gate", g->name);
    text_print(out, ", \"good\": %s, \"examined\": %u, ", g->good ? "true" : "false", g->examined);
    if (g->expected == CHECK_SOME)
      text_string(out, "\"expected\": null, ");
    else
      text_print(out, "\"expected\": %u, ", g->expected);
    put_string(out, "unit", g->unit);
    if (g->figure[0]) text_string(out, ", ");
    if (g->figure[0]) put_string(out, "found", g->figure);
    text_string(out, "}");
  }
  text_string(out, "\n      ]\n    }");
}

static void put_entry(struct text *out, const char *file, const struct code_object *co, const struct code_kernel *k,
    const struct front_note *note, const struct plan *plan) {
  uint8_t digest[SHA256_BYTES];
  char hex[SHA256_HEX], ir[SHA256_HEX];
  sha256(co->image, co->bytes, digest);
  sha256_hex(digest, hex);
  sha256_hex(note->sha256, ir);
  text_string(out, "    {\n      ");
  put_string(out, "key", note->key);
  text_string(out, ", ");
  put_string(out, "arch", note->arch);
  text_string(out, ", ");
  put_string(out, "symbol", k->name);
  text_string(out, ",\n      ");
  put_string(out, "file", file);
  text_print(out, ", \"size\": %zu,\n      \"sha256\": \"%s\",\n", co->bytes, hex);
  text_print(out, "      \"vgprs\": %u, \"sgprs\": %u, \"agprs\": %u, \"lds_bytes\": %u, \"private_bytes\": %u,\n", k->vgpr_count,
      k->sgpr_count, k->agpr_count, k->group_segment_fixed_size, k->private_segment_fixed_size);
  text_print(out, "      \"scratch_bytes\": %u, \"code_bytes\": %llu,\n", plan->scratch.bytes, (unsigned long long)k->code_bytes);
  text_print(out, "      \"kernarg_abi\": %u, \"kernarg_bytes\": %u, ", note->kernarg_abi, k->kernarg_segment_size);
  put_string(out, "llvm", note->llvm_version);
  text_string(out, ", ");
  put_string(out, "generator", note->generator_version);
  text_print(out, ",\n      \"ir_sha256\": \"%s\",\n", ir);
}

enum frontgen_status bundle_manifest_entry(const char *file, const void *object, size_t bytes, const struct check_report *gates,
    struct text *out, char error[FRONTGEN_ERROR_MAX]) {
  struct code_object co;
  struct front_note note;
  struct plan plan;
  char why[FRONTGEN_ERROR_MAX], wanted[KEY_NAME_MAX + 32];
  enum frontgen_status status = FRONTGEN_USAGE;
  snprintf(error, FRONTGEN_ERROR_MAX, "%s: its file is damaged: build it anew", file);
  if (!code_object_open(object, bytes, &co, why)) return FRONTGEN_USAGE;
  if (front_note_read(&co, &note, why)) {
    const struct code_kernel *k = code_object_kernel(&co, note.key);
    if (k && !frontgen_plan(note.key, note.arch, &plan, why)) {
      frontgen_file_name(&plan, wanted);
      if (strcmp(wanted, file) == 0) {
        put_entry(out, file, &co, k, &note, &plan);
        put_gates(out, gates);
        status = out->failed ? FRONTGEN_ENVIRONMENT : FRONTGEN_GOOD;
      } else {
        snprintf(error, FRONTGEN_ERROR_MAX, "%s holds the kernel %s: a code object's file has its name", file, plan.name);
      }
    }
    front_note_free(&note);
  }
  code_object_close(&co);
  return status;
}
