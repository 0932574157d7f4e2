/* SPDX-License-Identifier: Apache-2.0 */
/* The list of findings. */
#include "finding.h"

#include <stdlib.h>
#include <string.h>

const char *finding_name(enum hsa_emu_finding_kind kind) {
  static const char *const names[HSA_EMU_FINDING_KINDS] = {
      [HSA_EMU_UNWAITED] = "register used before its wait",
      [HSA_EMU_STALE_LOAD] = "stale load",
      [HSA_EMU_UNORDERED] = "unordered load",
      [HSA_EMU_EARLY_LOAD] = "store after an early load",
      [HSA_EMU_LDS_RACE] = "LDS race",
      [HSA_EMU_UNINITIALISED] = "use of what was never written",
      [HSA_EMU_OUT_OF_RANGE] = "out of range",
      [HSA_EMU_BARRIER] = "barrier misused",
      [HSA_EMU_ATOMIC_SCOPE] = "atomic in the wrong scope",
  };
  return names[kind];
}

static bool same(const struct found *a, const struct hsa_emu_finding *b, const void *kernel) {
  const struct hsa_emu_finding *f = &a->finding;
  return f->kind == b->kind && a->kernel == kernel && f->at.offset == b->at.offset && f->has_other == b->has_other &&
         (!f->has_other || f->other.offset == b->other.offset);
}

bool findings_add(struct findings *f, const struct hsa_emu_finding *finding, const void *kernel) {
  for (uint32_t i = 0; i < f->count; i++)
    if (same(&f->list[i], finding, kernel)) {
      f->list[i].finding.times += finding->times;
      return false;
    }
  if (!f->list) f->list = calloc(FINDINGS_MAX, sizeof *f->list);
  if (!f->list || f->count == FINDINGS_MAX) return false;
  f->list[f->count++] = (struct found){.finding = *finding, .kernel = kernel};
  return true;
}

void findings_set_text(struct findings *f, const char *text) { f->list[f->count - 1].text = strdup(text); }

void findings_merge(struct findings *to, struct findings *from) {
  for (uint32_t i = 0; i < from->count; i++) {
    if (!findings_add(to, &from->list[i].finding, from->list[i].kernel)) continue;
    to->list[to->count - 1].text = from->list[i].text;
    from->list[i].text = NULL;
  }
  findings_clear(from);
}

void findings_clear(struct findings *f) {
  for (uint32_t i = 0; i < f->count; i++) free(f->list[i].text);
  free(f->list);
  *f = (struct findings){0};
}
