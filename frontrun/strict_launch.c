/* SPDX-License-Identifier: Apache-2.0 */
#include "strict_launch.h"

#include <stdlib.h>
#include <string.h>

bool strict_start(const struct emulator_link *emulator, enum hsa_emu_l2 l2, uint64_t schedule) {
  const struct hsa_emu_strict options = {.on = 1, .l2 = l2, .seed = schedule};
  if (!emulator->there || emulator->set_strict(&options) != HSA_STATUS_SUCCESS) return false;
  emulator->findings_clear();
  return true;
}

/* The text's lines in one. */
static char *text_of(const struct emulator_link *emulator, size_t i, struct hsa_emu_finding *found) {
  size_t length = emulator->finding(i, found, NULL, 0);
  char *text = malloc(length + 1);
  if (!text) return NULL;
  (void)emulator->finding(i, NULL, text, length + 1);
  while (length && text[length - 1] == '\n') text[--length] = 0;
  for (char *at = text; (at = strchr(at, '\n'));) *at = ' ';
  return text;
}

bool strict_is_mark_race(const struct strict_finding *finding, uint32_t marks) {
  const struct hsa_emu_finding *f = &finding->found;
  if (f->kind != HSA_EMU_LDS_RACE || !f->has_other || f->address - marks >= 8 || f->at.offset <= f->other.offset) return false;
  const char *write = strstr(finding->text, ", \"ds_write_b8 "), *read = strstr(finding->text, ", \"ds_read_b64 ");
  return write && read && write < read;
}

bool strict_take(const struct emulator_link *emulator, uint32_t marks, struct strict_findings *findings) {
  size_t count = emulator->findings();
  *findings = (struct strict_findings){.finding = calloc(count + 1, sizeof *findings->finding)};
  bool good = findings->finding != NULL;
  for (size_t i = 0; good && i < count; i++) {
    struct strict_finding *f = &findings->finding[findings->count];
    f->text = text_of(emulator, i, &f->found);
    good = f->text != NULL;
    bool known = good && strict_is_mark_race(f, marks);
    if (known) free(f->text);
    findings->count += good && !known;
  }
  if (!good) strict_free(findings);
  return good;
}

void strict_free(struct strict_findings *findings) {
  for (size_t i = 0; i < findings->count; i++) free(findings->finding[i].text);
  free(findings->finding);
  *findings = (struct strict_findings){0};
}

const char *strict_kind_name(enum hsa_emu_finding_kind kind) {
  static const char *const names[HSA_EMU_FINDING_KINDS] = {[HSA_EMU_UNWAITED] = "unwaited",
      [HSA_EMU_STALE_LOAD] = "stale_load",
      [HSA_EMU_UNORDERED] = "unordered",
      [HSA_EMU_EARLY_LOAD] = "early_load",
      [HSA_EMU_LDS_RACE] = "lds_race",
      [HSA_EMU_UNINITIALISED] = "uninitialised",
      [HSA_EMU_OUT_OF_RANGE] = "out_of_range",
      [HSA_EMU_BARRIER] = "barrier",
      [HSA_EMU_ATOMIC_SCOPE] = "atomic_scope"};
  return (unsigned)kind < HSA_EMU_FINDING_KINDS && names[kind] ? names[kind] : "other";
}
