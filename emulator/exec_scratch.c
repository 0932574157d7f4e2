/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch loads and stores: the rows of isa_scratch.def. No other lane can reach a lane's scratch memory, so that it lies beside the
   workgroup's LDS and not in a view. */
#include "shape_mem.h"

#define ACTIVE_LANES FOR_LANES if (w->exec_mask.w[l])

/* The address is 32 bits: of the lane's own bytes. */
static uint32_t offset_of(const struct wave *w, const struct inst *in, int l) {
  uint32_t offset = (uint32_t)in->offset;
  if (in->src[0].words) offset += w->v[in->src[0].reg].w[l];
  if (in->src[1].words) offset += w->sreg[in->src[1].reg];
  return offset;
}

/* All lanes are read before a register is written: the address may be one of them. */
static void run_scratch_load(struct wave *w, const struct inst *in) {
  uint32_t bytes = in->row->extra & MEM_BYTES;
  enum part part = (enum part)(in->row->extra >> MEM_PART_SHIFT & MEM_PART);
  uint32_t got[LANES_A_WAVE][4];
  ACTIVE_LANES {
    const uint8_t *from = scratch_at(w, in, l, offset_of(w, in, l), bytes);
    memset(got[l], 0, sizeof got[l]);
    if (from) memcpy(got[l], from, bytes);
  }
  for (uint32_t k = 0; k < in->dst.words; k++) {
    vgpr *d = &w->v[in->dst.reg + k];
    ACTIVE_LANES d->w[l] = bytes < 4 ? part_in(d->w[l], got[l][0], bytes, part) : got[l][k];
  }
}

static void run_scratch_store(struct wave *w, const struct inst *in) {
  uint32_t bytes = in->row->extra & MEM_BYTES;
  uint32_t shift = (in->row->extra >> MEM_PART_SHIFT & MEM_PART) == PART_HIGH ? 16 : 0;
  const vgpr *data = &w->v[in->src[3].reg];
  ACTIVE_LANES {
    uint32_t words[4] = {data[0].w[l] >> shift};
    for (uint32_t k = 1; k < in->src[3].words; k++) words[k] = data[k].w[l];
    uint8_t *to = scratch_at(w, in, l, offset_of(w, in, l), bytes);
    if (to) memcpy(to, words, bytes);
  }
}

#define ROW(text, shape, run, extra)    {text, shape, run, CLASS_VMEM, EXACT, {T_NONE}, (uint16_t)(extra)},
#define SCRATCH_LOAD(name, bytes, part) ROW("scratch_load_" #name, read_scratch_load, run_scratch_load, (bytes) | (part) << MEM_PART_SHIFT)
#define SCRATCH_STORE(name, bytes, part)                                                                                                   \
  ROW("scratch_store_" #name, read_scratch_store, run_scratch_store, (bytes) | (part) << MEM_PART_SHIFT)
static const struct isa_row rows[] = {
#include "isa_scratch.def"
};

const struct isa_table isa_scratch = {"scratch", rows, sizeof rows / sizeof rows[0]};
