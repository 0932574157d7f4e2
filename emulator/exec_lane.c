/* SPDX-License-Identifier: Apache-2.0 */
/* Moves between lanes: the rows of isa_lane.def. (DPP is operand()'s; ds_bpermute and its like are exec_lds.c's.) */
#include "operand.h"

static void read_lane(struct reading *r) {
  take_scalar_dest(r, &r->in->dst, T_u32);
  take_vector_source(r, T_u32);
  if (r->text->operands == 3) take_scalar_source(r, T_u32);
}

/* The named lane, or the first active one (lane 0 if there is none). */
static void run_readlane(struct wave *w, const struct inst *in) {
  uint64_t exec = wave_exec(w);
  uint32_t lane = exec ? (uint32_t)__builtin_ctzll(exec) : 0;
  if (in->sources == 2) lane = (uint32_t)scalar_bits(w, in, 1) & 63;
  put_scalar_bits(w, in->dst.reg, 1, w->v[in->src[0].reg].w[lane]);
}

static void read_writelane(struct reading *r) {
  take_vector_dest(r, T_u32);
  take_scalar_source(r, T_u32);
  take_scalar_source(r, T_u32);
}

/* EXEC does not matter. */
static void run_writelane(struct wave *w, const struct inst *in) {
  w->v[in->dst.reg].w[scalar_bits(w, in, 1) & 63] = (uint32_t)scalar_bits(w, in, 0);
}

static void read_mbcnt(struct reading *r) {
  take_vector_dest(r, T_u32);
  take_source(r, T_u32);
  take_source(r, T_u32);
}

/* Bits of the mask below the lane, plus b: of the low or the high 32 lanes. */
static void run_mbcnt(struct wave *w, const struct inst *in, int first) {
  vgpr ra, rb, r;
  const vgpr *A = operand(&ra, w, in, 0), *B = operand(&rb, w, in, 1);
  FOR_LANES {
    int below = l - first;
    uint32_t mask = below <= 0 ? 0 : below >= 32 ? UINT32_MAX : (1u << below) - 1;
    r.w[l] = (uint32_t)__builtin_popcount(A->w[l] & mask) + B->w[l];
  }
  commit(w, in, &r, 1);
}

static void run_mbcnt_lo(struct wave *w, const struct inst *in) { run_mbcnt(w, in, 0); }
static void run_mbcnt_hi(struct wave *w, const struct inst *in) { run_mbcnt(w, in, 32); }

static void read_swap(struct reading *r) {
  take_vector_dest(r, T_u32);
  take_vector_source(r, T_u32);
}

static void run_swap(struct wave *w, const struct inst *in) {
  vgpr *a = &w->v[in->dst.reg], *b = &w->v[in->src[0].reg];
  FOR_LANES {
    uint32_t x = a->w[l], m = w->exec_mask.w[l];
    a->w[l] = (b->w[l] & m) | (x & ~m);
    b->w[l] = (x & m) | (b->w[l] & ~m);
  }
}

/* Odd groups of `width` lanes of the destination change places with the even groups of the source. */
static void swap_groups(struct wave *w, const struct inst *in, int width) {
  vgpr *a = &w->v[in->dst.reg], *b = &w->v[in->src[0].reg];
  if (!w->exec_full) {
    wave_fault(w, in, "with inactive lanes it is not modelled (EXEC is 0x%llx)", (unsigned long long)wave_exec(w));
    return;
  }
  for (int l = 0; l < LANES_A_WAVE; l++) {
    if (l & width) continue;
    uint32_t x = a->w[l + width];
    a->w[l + width] = b->w[l];
    b->w[l] = x;
  }
}

static void run_permlane16_swap(struct wave *w, const struct inst *in) { swap_groups(w, in, 16); }
static void run_permlane32_swap(struct wave *w, const struct inst *in) { swap_groups(w, in, 32); }
static void run_nothing(struct wave *w, const struct inst *in) { (void)w, (void)in; }

#define LANE_ROW(name, shape, run) {#name, shape, run, CLASS_VALU, EXACT, {T_NONE}, 0},
static const struct isa_row rows[] = {
#include "isa_lane.def"
};

const struct isa_table isa_lane = {"lane", rows, sizeof rows / sizeof rows[0]};
