/* SPDX-License-Identifier: Apache-2.0 */
/* The module around the kernel: LDS, attributes, debug locations that name the accesses, templates. */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>

#include "templates.h"

static void put_head(struct text *out, const struct plan *p) {
  text_print(out, "target triple = \"amdgcn-amd-amdhsa\"\n\n");
  text_print(out, "@lds = internal addrspace(3) global [%" PRIu32 " x i8] poison, align 16\n\n", p->lds.bytes);
  text_print(out, "define amdgpu_kernel void @%s(", p->name);
  for (uint32_t i = 0; i < FRONT_ARGS; i++) {
    const char *type = p->arg[i].bytes == 4 ? "i32" : i == ARG_swa_stride ? "i64" : "ptr addrspace(1)";
    text_print(out, "%s%s %%arg.%s", i ? ", " : "", type, p->arg[i].name);
  }
  text_print(out, ") #0 !reqd_work_group_size !2 !dbg !5 {\n");
}

/* Attributes: what the kernel does not use costs no hidden argument; two waves a SIMD, so that VGPRs are not rationed and a second
   workgroup cannot share the CU. */
static void put_tail(struct text *out, const struct emit *e) {
  static const char *const absent[] = {"dispatch-ptr", "queue-ptr", "implicitarg-ptr", "dispatch-id", "workgroup-id-y", "workgroup-id-z",
      "workitem-id-y", "workitem-id-z", "hostcall-ptr", "heap-ptr", "multigrid-sync-arg", "default-queue", "completion-action",
      "flat-scratch-init", "lds-kernel-id"};
  text_print(out, "  ret void\n}\n\nattributes #0 = { nounwind norecurse \"uniform-work-group-size\"=\"true\"");
  text_print(
      out, " \"amdgpu-flat-work-group-size\"=\"%d,%d\" \"amdgpu-waves-per-eu\"=\"2,2\" \"amdgpu-agpr-alloc\"=\"0\"", THREADS, THREADS);
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) text_print(out, " \"amdgpu-no-%s\"", absent[i]);
  text_print(out, " }\n\n");
  text_put(out, template_text, template_bytes);
  text_print(out, "\n!llvm.module.flags = !{!0, !1}\n!llvm.dbg.cu = !{!7}\n");
  text_print(out, "!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n!1 = !{i32 2, !\"Debug Info Version\", i32 3}\n");
  text_print(out, "!2 = !{i32 %d, i32 1, i32 1}\n!3 = !{!\"amdgpu-synchronize-as\", !\"local\"}\n", THREADS);
  text_print(out,
      "!5 = distinct !DISubprogram(name: \"%s\", scope: !8, file: !8, line: 0, type: !9, unit: !7, spFlags: "
      "DISPFlagDefinition)\n",
      e->plan->name);
  text_print(out, "!7 = distinct !DICompileUnit(language: DW_LANG_C11, file: !8, emissionKind: LineTablesOnly)\n");
  text_print(out, "!8 = !DIFile(filename: \"issue_order\", directory: \"\")\n!9 = !DISubroutineType(types: !10)\n!10 = !{null}\n");
  for (uint32_t i = 0; i < e->rows; i++)
    text_print(out, "!%" PRIu32 " = !DILocation(line: %" PRIu32 ", scope: !5) ; %s %u\n", i + 100, i + 1, issue_event_name(e->row[i].event),
        (unsigned)e->row[i].instance);
}

bool emit_module(const struct plan *plan, char **text, size_t *bytes, char error[KEY_ERROR_MAX]) {
  struct ir b;
  struct emit e = {.b = &b, .plan = plan};
  *text = NULL;
  ir_begin(&b);
  e.rows = issue_rows(plan, e.row);
  put_head(&b.body, plan);
  emit_kernel(&e);
  put_tail(&b.body, &e);
  if (ir_error(&b))
    snprintf(error, KEY_ERROR_MAX, "%s: the emitter failed: %.120s", plan->name, ir_error(&b));
  else if (!(*text = text_take(&b.body, bytes)))
    snprintf(error, KEY_ERROR_MAX, "%s: out of memory while emitting IR", plan->name);
  ir_free(&b);
  return *text != NULL;
}
