/* SPDX-License-Identifier: Apache-2.0 */
/* Buffer resources, findings and faults of memory instructions. */
#include "access.h"

#include <stdio.h>

#include "strict_access.h"

enum { STRIDE_SHIFT = 16, STRIDE_MASK = 0x3FFF, SWIZZLE_ENABLE = 1u << 31, ADD_TID_ENABLE = 1 << 23 };

bool buffer_of(struct wave *w, const struct inst *in, uint32_t reg, struct buffer *b) {
  const uint32_t *words = &w->sreg[reg];
  b->stride = words[1] >> STRIDE_SHIFT & STRIDE_MASK;
  if ((b->stride && !in->idxen) || (words[1] & SWIZZLE_ENABLE) || (words[3] & ADD_TID_ENABLE)) {
    wave_fault(w, in,
        "a buffer resource with a stride and no index, with swizzle or thread id is not modelled (words 0x%08x 0x%08x 0x%08x 0x%08x)",
        words[0], words[1], words[2], words[3]);
    return false;
  }
  b->base = words[0] | (uint64_t)(words[1] & 0xFFFF) << 32;
  b->size = words[2];
  return true;
}

void note_out_of_range(struct wave *w, const struct inst *in, int lane, uint64_t address, uint64_t offset, uint64_t size) {
  struct workgroup *g = w->group;
  if (w->strict) strict_out_of_range(w, in, (uint32_t)lane, address, offset, size);
  if (g->out_of_range++) return;
  snprintf(g->out_of_range_text, sizeof g->out_of_range_text, "%s at 0x%llx: workgroup %u wave %u lane %d is at byte %llu of %llu",
      in->text, (unsigned long long)in->address, g->index, w->index, lane, (unsigned long long)offset, (unsigned long long)size);
}

uint8_t *scratch_at(struct wave *w, const struct inst *in, int lane, uint32_t offset, uint32_t bytes) {
  struct workgroup *g = w->group;
  if ((uint64_t)offset + bytes <= g->scratch_bytes)
    return g->scratch + (uint64_t)(w->index * LANES_A_WAVE + (uint32_t)lane) * g->scratch_bytes + offset;
  note_out_of_range(w, in, lane, 0, offset, g->scratch_bytes);
  return NULL;
}

ALWAYS_INLINE void spread_dwords(struct wave *w, uint32_t reg, int words, uint32_t got[LANES_A_WAVE][4]) {
  vgpr *d = &w->v[reg];
  FOR_OWN_LANES for (int k = 0; k < words; k++) d[k].w[l] = got[l][k];
}

LANES static void put_all(struct wave *w, uint32_t reg, uint32_t words, uint32_t got[LANES_A_WAVE][4]) {
  switch (words) {
  case 1:
    spread_dwords(w, reg, 1, got);
    break;
  case 2:
    spread_dwords(w, reg, 2, got);
    break;
  case 3:
    spread_dwords(w, reg, 3, got);
    break;
  default:
    spread_dwords(w, reg, 4, got);
    break;
  }
}

void put_dwords(struct wave *w, uint32_t reg, uint32_t words, uint32_t got[LANES_A_WAVE][4]) {
  if (w->exec_full) {
    put_all(w, reg, words, got);
    return;
  }
  for (uint32_t k = 0; k < words; k++) FOR_LANES if (w->exec_mask.w[l]) w->v[reg + k].w[l] = got[l][k];
}

void memory_fault(struct wave *w, const struct inst *in) {
  char text[WAVE_TEXT_MAX];
  view_fault_text(w->group->view, text, sizeof text);
  wave_fault(w, in, "%s", text);
}

void take_cache_mods(struct reading *r) {
  r->in->sc0 = take_mod(r, TEXT_MOD_SC0);
  r->in->sc1 = take_mod(r, TEXT_MOD_SC1);
  r->in->nt = take_mod(r, TEXT_MOD_NT);
}
