/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as sentences. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "strict.h"

enum { FINDING_TEXT_MAX = 1024 };

struct hsa_emu_party strict_party_of(const struct strict *st, uint32_t group, uint32_t wave, uint32_t lane, uint32_t inst) {
  const struct loaded_kernel *k = st->start->kernel;
  return (struct hsa_emu_party){.offset = (int64_t)(k->program->inst[inst].address - k->entry), .group = group, .wave = wave, .lane = lane};
}

struct hsa_emu_party strict_party(const struct strict *st, const struct wave *w, const struct inst *in, uint32_t lane) {
  bool of_lanes = in->class != CLASS_SALU && in->class != CLASS_SMEM && in->class != CLASS_CONTROL;
  if (lane == LANE_NONE && of_lanes && wave_exec(w)) lane = (uint32_t)__builtin_ctzll(wave_exec(w));
  return strict_party_of(st, w->group->index, w->index, lane, (uint32_t)(in - w->program->inst));
}

/* workgroup 3 wave 1 lane 5, "s_nop 0" at k+0x40 (0x7f...) */
static int put_party(char *out, size_t room, const struct strict *st, const struct hsa_emu_party *p) {
  const struct loaded_kernel *k = st->start->kernel;
  uint64_t address = k->entry + (uint64_t)p->offset;
  uint32_t at = program_at(k->program, address);
  char lane[24] = "";
  if (p->lane != LANE_NONE) snprintf(lane, sizeof lane, " lane %u", p->lane);
  return snprintf(out, room, "workgroup %u wave %u%s, \"%s\" at %s+0x%" PRIx64 " (0x%" PRIx64 ")", p->group, p->wave, lane,
      at == NO_INST ? "?" : k->program->inst[at].text, k->code->name, (uint64_t)p->offset, address);
}

static size_t shorten(int n, size_t used) {
  used += n > 0 ? (size_t)n : 0;
  return used < FINDING_TEXT_MAX - 1 ? used : FINDING_TEXT_MAX - 1;
}

void strict_found(struct strict *st, enum hsa_emu_finding_kind kind, struct hsa_emu_party at, uint64_t address,
    const struct hsa_emu_party *other, const char *what, ...) {
  struct hsa_emu_finding f = {.kind = kind, .address = address, .times = 1, .at = at, .has_other = other != NULL};
  char text[FINDING_TEXT_MAX];
  va_list args;
  if (other) f.other = *other;
  if (!findings_add(&st->findings, &f, st->start->kernel)) return;
  size_t used = shorten(snprintf(text, sizeof text, "%s: %s: ", finding_name(kind), st->start->kernel->code->name), 0);
  used = shorten(put_party(text + used, sizeof text - used, st, &at), used);
  used = shorten(snprintf(text + used, sizeof text - used, ": "), used);
  va_start(args, what);
  used = shorten(vsnprintf(text + used, sizeof text - used, what, args), used);
  va_end(args);
  if (other) {
    used = shorten(snprintf(text + used, sizeof text - used, " "), used);
    put_party(text + used, sizeof text - used, st, other);
  }
  findings_set_text(&st->findings, text);
}
