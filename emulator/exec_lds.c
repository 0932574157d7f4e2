/* SPDX-License-Identifier: Apache-2.0 */
/* LDS loads, stores, atomics, and the lane moves that go through its crossbar: the rows of isa_lds.def. */
#include "access.h"
#include "parts.h"
#include "valu_math.h"

enum {
  EXTRA_BYTES = 0x1F,
  EXTRA_PART_SHIFT = 5,
  EXTRA_RETURNS = 0x100,
  EXTRA_COMPARES = 0x200,
  EXTRA_STRIDE_SHIFT = 4,
  EXTRA_BITS_SHIFT = 5
};

/* --- shapes --------------------------------------------------------------------------------------------------------------- */

static uint32_t words_of(uint32_t bytes) { return bytes < 4 ? 1 : bytes / 4; }

static void read_ds_read(struct reading *r) {
  take_vgpr_result(r, words_of(r->row->extra & EXTRA_BYTES));
  r->in->src[0] = take_vgprs(r, 1);
  r->in->offset = take_mod(r, TEXT_MOD_OFFSET);
}

static void read_transpose(struct reading *r) {
  take_vgpr_result(r, words_of(r->row->extra & EXTRA_BYTES));
  r->in->src[0] = take_vgprs(r, 1);
  r->in->offset = take_mod(r, TEXT_MOD_OFFSET);
}

static void read_ds_write(struct reading *r) {
  r->in->src[0] = take_vgprs(r, 1);
  r->in->src[1] = take_vgprs(r, words_of(r->row->extra & EXTRA_BYTES));
  r->in->offset = take_mod(r, TEXT_MOD_OFFSET);
}

static void take_offsets2(struct reading *r) {
  int32_t stride = r->row->extra >> EXTRA_STRIDE_SHIFT;
  r->in->offset = take_mod(r, TEXT_MOD_OFFSET0) * stride;
  r->in->offset1 = take_mod(r, TEXT_MOD_OFFSET1) * stride;
}

static void read_ds_read2(struct reading *r) {
  take_vgpr_result(r, (r->row->extra & 15u) / 2);
  r->in->src[0] = take_vgprs(r, 1);
  take_offsets2(r);
}

static void read_ds_write2(struct reading *r) {
  r->in->src[0] = take_vgprs(r, 1);
  r->in->src[1] = take_vgprs(r, (r->row->extra & 15u) / 4);
  r->in->src[2] = take_vgprs(r, (r->row->extra & 15u) / 4);
  take_offsets2(r);
}

/* [result,] address, [compare,] data */
static void read_ds_atomic(struct reading *r) {
  uint32_t words = words_of(r->row->extra & EXTRA_BYTES);
  if (r->row->extra & EXTRA_RETURNS) take_vgpr_result(r, words);
  r->in->src[0] = take_vgprs(r, 1);
  if (r->row->extra & EXTRA_COMPARES) r->in->src[2] = take_vgprs(r, words);
  r->in->src[1] = take_vgprs(r, words);
  r->in->offset = take_mod(r, TEXT_MOD_OFFSET);
}

static void read_permute(struct reading *r) {
  take_vgpr_result(r, 1);
  r->in->src[0] = take_vgprs(r, 1);
  r->in->src[1] = take_vgprs(r, 1);
  r->in->offset = take_mod(r, TEXT_MOD_OFFSET);
}

static void read_swizzle(struct reading *r) {
  take_vgpr_result(r, 1);
  r->in->src[0] = take_vgprs(r, 1);
  take_mod(r, TEXT_MOD_OFFSET); /* its text drops the mask of a rotation */
  r->in->imm = r->code[0] | (uint32_t)r->code[1] << 8;
}

/* --- loads and stores ------------------------------------------------------------------------------------------------------ */

/* The bytes of one lane's access, or null, and a finding, if they lie outside. The sum is 32 bits: compilers make 1020 - 4 i of the offset
   1020 and the address -4 i (LLVM: hasUsableDSOffset). */
static uint8_t *lds_at(struct wave *w, const struct inst *in, int lane, int32_t offset, uint32_t bytes) {
  struct workgroup *g = w->group;
  uint32_t at = w->v[in->src[0].reg].w[lane] + (uint32_t)offset;
  if ((uint64_t)at + bytes <= g->lds_bytes) return g->lds + at;
  note_out_of_range(w, in, lane, 0, at, g->lds_bytes);
  return NULL;
}

#define ACTIVE_LANES FOR_LANES if (w->exec_mask.w[l])

/* All lanes are active and inside. */
LANES static bool lds_all(const struct wave *w, const struct inst *in, uint32_t bytes) {
  uint32_t last = 0;
  FOR_LANES last = w->v[in->src[0].reg].w[l] > last ? w->v[in->src[0].reg].w[l] : last;
  return w->exec_full && (uint64_t)last + (uint32_t)in->offset + bytes <= w->group->lds_bytes;
}

/* All bytes of all lanes are read before a register is written: the address may be one of them. */
static void run_read(struct wave *w, const struct inst *in) {
  uint32_t bytes = in->row->extra & EXTRA_BYTES, words = in->dst.words;
  enum part part = (enum part)(in->row->extra >> EXTRA_PART_SHIFT & 7);
  uint32_t got[LANES_A_WAVE][4];
  static const uint8_t nothing[16];
  if (bytes >= 4 && lds_all(w, in, bytes)) {
    const uint8_t *from = w->group->lds + in->offset;
    FOR_LANES memcpy(got[l], from + w->v[in->src[0].reg].w[l], 16);
    put_dwords(w, in->dst.reg, words, got);
    return;
  }
  FOR_LANES {
    const uint8_t *p = w->exec_mask.w[l] ? lds_at(w, in, l, in->offset, bytes) : NULL;
    memcpy(got[l], p ? p : nothing, 16); /* there are 16 bytes more than LDS has */
    if (bytes < 4) got[l][0] &= (1u << (8 * bytes)) - 1;
  }
  for (uint32_t k = 0; k < words; k++) {
    vgpr *d = &w->v[in->dst.reg + k];
    if (bytes >= 4) FOR_LANES d->w[l] ^= (d->w[l] ^ got[l][k]) & w->exec_mask.w[l];
    if (bytes < 4) ACTIVE_LANES d->w[l] = part_in(d->w[l], got[l][0], bytes, part);
  }
}

/* Lanes 16 by 16: their elements are a matrix, row after row over the lanes, and lane l gets its column l. */
static void run_transpose(struct wave *w, const struct inst *in) {
  uint32_t words = in->dst.words, bits = in->row->extra >> EXTRA_BITS_SHIFT, count = words * 32 / bits, lanes_a_row = 16 / count,
           got[LANES_A_WAVE][4];
  if (!w->exec_full) {
    wave_fault(w, in, "the transposing read wants all lanes active");
    return;
  }
  FOR_LANES {
    const uint8_t *p = lds_at(w, in, l, in->offset, 4 * words);
    memset(got[l], 0, sizeof got[l]);
    if (p) memcpy(got[l], p, 4 * words);
  }
  FOR_LANES {
    uint32_t column = (uint32_t)l % 16, first = (uint32_t)l - column, out[4] = {0};
    for (uint32_t k = 0; k < count; k++) {
      uint32_t from = column % count * bits, to = k * bits;
      const uint32_t *row = got[first + k * lanes_a_row + column / count];
      uint64_t both = row[from / 32] | (uint64_t)row[from / 32 + 1] << 32;
      uint64_t element = (both >> (from % 32) & ((1u << bits) - 1)) << (to % 32);
      out[to / 32] |= (uint32_t)element;
      if (element >> 32) out[to / 32 + 1] |= (uint32_t)(element >> 32);
    }
    for (uint32_t k = 0; k < words; k++) w->v[in->dst.reg + k].w[l] = out[k];
  }
}

static void run_write(struct wave *w, const struct inst *in) {
  uint32_t bytes = in->row->extra & EXTRA_BYTES, shift = (in->row->extra >> EXTRA_PART_SHIFT & 7) == PART_HIGH ? 16 : 0;
  const vgpr *data = &w->v[in->src[1].reg];
  if (bytes == 16 && lds_all(w, in, bytes)) {
    uint8_t *to = w->group->lds + in->offset;
    FOR_LANES {
      const uint32_t words[4] = {data[0].w[l], data[1].w[l], data[2].w[l], data[3].w[l]};
      memcpy(to + w->v[in->src[0].reg].w[l], words, 16);
    }
    return;
  }
  ACTIVE_LANES {
    uint32_t words[4] = {data[0].w[l] >> shift};
    for (uint32_t k = 1; k < in->src[1].words; k++) words[k] = data[k].w[l];
    uint8_t *p = lds_at(w, in, l, in->offset, bytes);
    if (p) memcpy(p, words, bytes);
  }
}

static void run_read2(struct wave *w, const struct inst *in) {
  uint32_t bytes = in->row->extra & 15u;
  uint32_t got[LANES_A_WAVE][4];
  ACTIVE_LANES {
    memset(got[l], 0, sizeof got[l]);
    const uint8_t *p = lds_at(w, in, l, in->offset, bytes), *q = lds_at(w, in, l, in->offset1, bytes);
    if (p) memcpy(&got[l][0], p, bytes);
    if (q) memcpy(&got[l][bytes / 4], q, bytes);
  }
  for (uint32_t k = 0; k < in->dst.words; k++) ACTIVE_LANES w->v[in->dst.reg + k].w[l] = got[l][k];
}

static void run_write2(struct wave *w, const struct inst *in) {
  uint32_t bytes = in->row->extra & 15u;
  ACTIVE_LANES {
    for (int i = 0; i < 2; i++) {
      uint32_t words[2] = {0};
      for (uint32_t k = 0; k < bytes / 4; k++) words[k] = w->v[in->src[1 + i].reg + k].w[l];
      uint8_t *p = lds_at(w, in, l, i ? in->offset1 : in->offset, bytes);
      if (p) memcpy(p, words, bytes);
    }
  }
}

/* --- atomics -------------------------------------------------------------------------------------------------------------- */

static uint64_t data_of(const struct wave *w, const struct source *s, int l) {
  uint64_t v = w->v[s->reg].w[l];
  return s->words == 2 ? v | (uint64_t)w->v[s->reg + 1].w[l] << 32 : v;
}

/* Lanes in order, each seeing what those before it did. */
static void run_atomic(struct wave *w, const struct inst *in, atomic_fn *fn) {
  uint32_t bytes = in->row->extra & EXTRA_BYTES;
  bool returns = in->row->extra & EXTRA_RETURNS;
  uint64_t results[LANES_A_WAVE];
  ACTIVE_LANES {
    uint64_t old = 0;
    uint8_t *p = lds_at(w, in, l, in->offset, bytes);
    if (p) {
      memcpy(&old, p, bytes);
      uint64_t value = fn(old, data_of(w, &in->src[1], l), in->src[2].words ? data_of(w, &in->src[2], l) : 0);
      memcpy(p, &value, bytes);
    }
    results[l] = old;
  }
  for (uint32_t k = 0; returns && k < in->dst.words; k++) ACTIVE_LANES w->v[in->dst.reg + k].w[l] = (uint32_t)(results[l] >> (32 * k));
}

#define DS_FN(name, expr)                                                                                                                  \
  ATOMIC_FN(name, expr)                                                                                                                    \
  static void run_##name(struct wave *w, const struct inst *in) { run_atomic(w, in, atomic_##name); }
#define DS_READ(name, bytes, part)
#define DS_WRITE(name, bytes, part)
#define DS_READ2(name, bytes, stride)
#define DS_WRITE2(name, bytes, stride)
#define DS_ROW(name, shape, run)
#define DS_TRANSPOSE(name, bits)
#define DS_ATOMIC(name, type, bytes, expr)  DS_FN(name##_##type, expr)
#define DS_EXCHANGE(name, bytes, expr)      DS_FN(name, expr)
#define DS_COMPARE(name, type, bytes, expr) DS_FN(name##_##type, expr)
#include "isa_lds.def"
#undef DS_READ
#undef DS_WRITE
#undef DS_READ2
#undef DS_WRITE2
#undef DS_ROW
#undef DS_TRANSPOSE
#undef DS_ATOMIC
#undef DS_EXCHANGE
#undef DS_COMPARE

/* --- lane moves ------------------------------------------------------------------------------------------------------------ */

/* Each active lane reads the lane its address names; an inactive one gives 0. */
static void run_bpermute(struct wave *w, const struct inst *in) {
  vgpr from = w->v[in->src[1].reg], at = w->v[in->src[0].reg];
  vgpr *d = &w->v[in->dst.reg];
  ACTIVE_LANES {
    uint32_t lane = (at.w[l] + (uint32_t)in->offset) / 4 & 63;
    d->w[l] = from.w[lane] & w->exec_mask.w[lane];
  }
}

/* Each active lane sends to the lane its address names; the last sender wins, a lane without one gets 0. */
static void run_permute(struct wave *w, const struct inst *in) {
  vgpr r = {{0}};
  const vgpr *at = &w->v[in->src[0].reg], *from = &w->v[in->src[1].reg];
  ACTIVE_LANES r.w[(at->w[l] + (uint32_t)in->offset) / 4 & 63] = from->w[l];
  ACTIVE_LANES w->v[in->dst.reg].w[l] = r.w[l];
}

/* Where lane u reads: within 4 lanes by a list, within 32 turned by a distance but for the bits of a mask, in the order of an FFT's stage,
   or with masks on its number. */
static uint32_t swizzle_lane(uint32_t pattern, uint32_t u) {
  uint32_t low = pattern & 31, middle = pattern >> 5 & 31, high = pattern >> 10 & 31;
  if (pattern >= 0xE000) {
    uint32_t reversed = (u & 1) << 4 | (u & 2) << 2 | (u & 4) | (u & 8) >> 2 | (u & 16) >> 4;
    return (u & 32) | (u & low) | reversed >> __builtin_popcount(low);
  }
  if (pattern >= 0xC000) {
    uint32_t turned = high & 1 ? u - middle : u + middle;
    return (u & 32) | (u & low) | (turned & 31 & ~low);
  }
  if (pattern >= 0x8000) return (u & ~3u) | (pattern >> (2 * (u & 3)) & 3);
  return (u & 32) | (((u & low) | middle) ^ high);
}

static void run_swizzle(struct wave *w, const struct inst *in) {
  vgpr from = w->v[in->src[0].reg];
  vgpr *d = &w->v[in->dst.reg];
  ACTIVE_LANES {
    uint32_t lane = swizzle_lane(in->imm, (uint32_t)l);
    d->w[l] = from.w[lane] & w->exec_mask.w[lane];
  }
}

static void run_nothing(struct wave *w, const struct inst *in) { (void)w, (void)in; }

#define ROW(text, shape, run, extra)   {text, shape, run, CLASS_LDS, EXACT, {T_NONE}, (uint16_t)(extra)},
#define DS_READ(name, bytes, part)     ROW(#name, read_ds_read, run_read, (bytes) | (part) << EXTRA_PART_SHIFT)
#define DS_WRITE(name, bytes, part)    ROW(#name, read_ds_write, run_write, (bytes) | (part) << EXTRA_PART_SHIFT)
#define DS_READ2(name, bytes, stride)  ROW(#name, read_ds_read2, run_read2, (bytes) | (stride) << EXTRA_STRIDE_SHIFT)
#define DS_WRITE2(name, bytes, stride) ROW(#name, read_ds_write2, run_write2, (bytes) | (stride) << EXTRA_STRIDE_SHIFT)
#define DS_ATOMIC(name, type, bytes, expr)                                                                                                 \
  ROW(#name "_" #type, read_ds_atomic, run_##name##_##type, bytes)                                                                         \
  ROW(#name "_rtn_" #type, read_ds_atomic, run_##name##_##type, (bytes) | EXTRA_RETURNS)
#define DS_EXCHANGE(name, bytes, expr) ROW(#name, read_ds_atomic, run_##name, (bytes) | EXTRA_RETURNS)
#define DS_COMPARE(name, type, bytes, expr)                                                                                                \
  ROW(#name "_" #type, read_ds_atomic, run_##name##_##type, (bytes) | EXTRA_COMPARES)                                                      \
  ROW(#name "_rtn_" #type, read_ds_atomic, run_##name##_##type, (bytes) | EXTRA_RETURNS | EXTRA_COMPARES)
#define DS_TRANSPOSE(name, bits) ROW(#name, read_transpose, run_transpose, ((bits) == 6 ? 12 : 8) | (bits) << EXTRA_BITS_SHIFT)
#define DS_ROW(name, shape, run) ROW(#name, shape, run, 0)
static const struct isa_row rows[] = {
#include "isa_lds.def"
};

const struct isa_table isa_lds = {"lds", rows, sizeof rows / sizeof rows[0]};
