/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on what the object says of itself: ELF, our note, kernel descriptor, metadata. */
#include "check_gates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VGPRS_SHARED = 128, FLOAT_KEEP_DENORMALS = 3, LLVM_OLDEST = 22 };

/* A number that must be exactly this. */
static void number(struct check *c, const char *name, const char *unit, uint32_t found, uint32_t wanted, const char *what) {
  char wrong[CHECK_MESSAGE_MAX] = "";
  if (found == CODE_UNKNOWN)
    snprintf(wrong, sizeof wrong, "the metadata does not say");
  else if (found != wanted)
    snprintf(wrong, sizeof wrong, "%u %s, %u wanted%s", found, unit, wanted, what);
  check_gate(c, name, "kernels", 1, 1, wrong);
  if (found != CODE_UNKNOWN) check_figure(c, "%u %s", found, unit);
}

static void target_gates(struct check *c) {
  char wrong[CHECK_MESSAGE_MAX] = "", target[CODE_TARGET_MAX], wanted[CODE_TARGET_MAX];
  number(c, "code object version", "as version", c->co.version, 5, ": older and newer ROCm take it");
  code_object_target(&c->co, target);
  snprintf(wanted, sizeof wanted, "amdgcn-amd-amdhsa--%s", c->plan.target->name);
  if (strcmp(target, c->plan.target->name) != 0)
    snprintf(wrong, sizeof wrong, "%s, %s wanted: a feature that is on or off ties it to some machines", target, c->plan.target->name);
  else if (strcmp(c->co.target, wanted) != 0)
    snprintf(wrong, sizeof wrong, "the metadata says \"%.60s\", \"%s\" wanted", c->co.target, wanted);
  check_gate(c, "feature-neutral target", "objects", 1, 1, wrong);
  check_figure(c, "%s", target);
}

static void note_gate(struct check *c) {
  char wrong[CHECK_MESSAGE_MAX] = "";
  const struct front_note *n = &c->note;
  if (!c->has_note)
    snprintf(wrong, sizeof wrong, "%.200s", c->note_error);
  else if (n->kernarg_abi != FRONT_NOTE_KERNARG_ABI)
    snprintf(wrong, sizeof wrong, "kernarg ABI %u, %d wanted", n->kernarg_abi, FRONT_NOTE_KERNARG_ABI);
  else if (strcmp(n->key, c->plan.name) != 0 || strcmp(n->arch, c->plan.target->name) != 0)
    snprintf(wrong, sizeof wrong, "it is for %.90s on %.20s, the kernel is %s on %s", n->key, n->arch, c->plan.name, c->plan.target->name);
  else if (atoi(n->llvm_version) < LLVM_OLDEST)
    snprintf(wrong, sizeof wrong, "made by LLVM \"%.20s\", %d or newer wanted", n->llvm_version, LLVM_OLDEST);
  check_gate(c, "note", "notes", c->has_note, 1, wrong);
  if (c->has_note) check_figure(c, "kernarg ABI %u, LLVM %.20s", n->kernarg_abi, n->llvm_version);
}

static void argument_gates(struct check *c) {
  const struct code_kernel *k = c->kernel;
  char wrong[CHECK_MESSAGE_MAX] = "";
  number(c, "kernarg segment", "bytes", k->kernarg_segment_size, KERNARG_BYTES, "");
  for (uint32_t i = 0; i < k->args && i < FRONT_ARGS && !wrong[0]; i++)
    if (k->arg[i].offset != c->plan.arg[i].offset || k->arg[i].size != c->plan.arg[i].bytes)
      snprintf(wrong, sizeof wrong, "argument %u (%s) has %u bytes at %u, %u bytes at %u wanted", i, c->plan.arg[i].name, k->arg[i].size,
          k->arg[i].offset, c->plan.arg[i].bytes, c->plan.arg[i].offset);
  check_gate(c, "arguments", "arguments", k->args - k->hidden_args, FRONT_ARGS, wrong);
  number(c, "no hidden arguments", "hidden arguments", k->hidden_args, 0, ": the amdgpu-no-... attributes");
  number(c, "no kernarg preload", "dwords preloaded", k->descriptor.preload_dwords, 0, ": firmware hands out stale ones");
}

static void register_gates(struct check *c) {
  const struct code_kernel *k = c->kernel;
  const struct code_descriptor *d = &k->descriptor;
  char wrong[CHECK_MESSAGE_MAX] = "";
  number(c, "no scratch", "bytes of private segment", k->private_segment_fixed_size, 0, "");
  number(c, "no vector spills", "spilled VGPRs", k->vgpr_spill_count, 0, "");
  number(c, "no scalar spills", "spilled SGPRs", k->sgpr_spill_count, 0, "");
  if (k->vgpr_count == 0 || k->vgpr_count > c->plan.target->vgpr_budget)
    snprintf(wrong, sizeof wrong, "%u, at most %u wanted", k->vgpr_count, c->plan.target->vgpr_budget);
  check_gate(c, "VGPR count", "kernels", k->has_metadata, 1, wrong);
  check_figure(c, "%u, at most %u", k->vgpr_count, c->plan.target->vgpr_budget);
  number(c, "no AGPRs", "AGPRs", k->agpr_count, 0, "");
  wrong[0] = 0;
  if (d->vgprs <= VGPRS_SHARED && 2 * k->group_segment_fixed_size <= c->plan.target->lds_bytes)
    snprintf(wrong, sizeof wrong, "%u VGPRs allocated and %u B of LDS: more than %d, or more than half of %u B, wanted", d->vgprs,
        k->group_segment_fixed_size, VGPRS_SHARED, c->plan.target->lds_bytes);
  check_gate(c, "one workgroup a CU", "kernels", 1, 1, wrong);
  check_figure(c, "%u VGPRs allocated, %u B of LDS", d->vgprs, k->group_segment_fixed_size);
}

static void lds_gate(struct check *c) {
  uint32_t found = c->kernel->group_segment_fixed_size, most = c->plan.target->lds_bytes;
  char wrong[CHECK_MESSAGE_MAX] = "";
  if (found != c->plan.lds.bytes || found > most)
    snprintf(wrong, sizeof wrong, "%u B, %u B planned, a CU has %u B", found, c->plan.lds.bytes, most);
  check_gate(c, "LDS as planned", "kernels", 1, 1, wrong);
  check_figure(c, "%u B, a CU has %u B", found, most);
}

static void mode_gates(struct check *c) {
  const struct code_kernel *k = c->kernel;
  const struct code_descriptor *d = &k->descriptor;
  char wrong[CHECK_MESSAGE_MAX] = "";
  const uint32_t *size = k->reqd_workgroup_size;
  if (size[0] != THREADS || size[1] != 1 || size[2] != 1 || k->max_flat_workgroup_size != THREADS)
    snprintf(wrong, sizeof wrong, "%u x %u x %u required, at most %u threads; %d x 1 x 1 wanted", size[0], size[1], size[2],
        k->max_flat_workgroup_size, THREADS);
  check_gate(c, "required workgroup size", "kernels", k->has_metadata, 1, wrong);
  check_figure(c, "%u x %u x %u", size[0], size[1], size[2]);
  wrong[0] = 0;
  if (d->denorm_f32 != FLOAT_KEEP_DENORMALS || d->round_f32 != 0)
    snprintf(wrong, sizeof wrong, "denormal mode %u, rounding mode %u; %d (kept), 0 (to nearest even) wanted", d->denorm_f32, d->round_f32,
        FLOAT_KEEP_DENORMALS);
  check_gate(c, "float mode", "kernels", 1, 1, wrong);
  check_figure(c, "denormal mode %u, rounding mode %u", d->denorm_f32, d->round_f32);
  wrong[0] = 0;
  if (k->uses_dynamic_stack || d->uses_dynamic_stack) snprintf(wrong, sizeof wrong, "the stack is dynamic");
  check_gate(c, "no dynamic stack", "kernels", 1, 1, wrong);
}

void check_object_gates(struct check *c) {
  char wrong[CHECK_MESSAGE_MAX] = "";
  if (c->co.relocs) snprintf(wrong, sizeof wrong, "%u relocations: the code depends on where it is loaded", c->co.relocs);
  check_gate(c, "bare ELF", "objects", 1, 1, wrong);
  target_gates(c);
  note_gate(c);
  mode_gates(c);
  argument_gates(c);
  register_gates(c);
  lds_gate(c);
}
