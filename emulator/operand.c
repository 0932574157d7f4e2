/* SPDX-License-Identifier: Apache-2.0 */
/* The slow ways of operand() and commit(): scalars and constants spread over the lanes, DPP, SDWA, op_sel, neg and abs, clamp, omod,
   denormals. */
#include "operand.h"

#include <math.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static uint32_t select_bits(uint32_t x, uint32_t select, bool sign_extend) {
  uint32_t bits = select < 4 ? 8 : select < SELECT_ALL ? 16 : 32;
  uint32_t shift = select < 4 ? 8 * select : select == 5 ? 16 : 0;
  x = x >> shift & (bits == 32 ? UINT32_MAX : (1u << bits) - 1);
  if (sign_extend && bits < 32 && x >> (bits - 1)) x |= UINT32_MAX << bits;
  return x;
}

static uint32_t flush_word32(uint32_t x) { return (x & 0x7F800000u) ? x : x & 0x80000000u; }
static uint32_t flush_word16(uint32_t x) { return (x & 0x7C00u) ? x & 0xFFFF : x & 0x8000u; }

/* Denormals of a register group become zeros of the same sign, where the mode says so. */
static void flush(const struct wave *w, vgpr *r, enum isa_type type) {
  bool f32 = type == T_f32 || type == T_pkf;
  if (f32 && w->flush32)
    for (uint32_t k = 0; k < type_words(type); k++) FOR_LANES r[k].w[l] = flush_word32(r[k].w[l]);
  if (type == T_f16 && w->flush64) FOR_LANES r->w[l] = flush_word16(r->w[l]);
  if (type == T_pkh && w->flush64) FOR_LANES r->w[l] = flush_word16(r->w[l] & 0xFFFF) | flush_word16(r->w[l] >> 16) << 16;
  if (type == T_f64 && w->flush64) FOR_LANES {
      bool small = !(r[1].w[l] & 0x7FF00000u);
      if (small) r[0].w[l] = 0, r[1].w[l] &= 0x80000000u;
    }
}

static void fetch(vgpr *room, const struct wave *w, const struct inst *in, const struct source *s, int i) {
  if (s->kind != OPERAND_VGPR) {
    uint64_t bits = scalar_bits(w, in, i);
    uint32_t lo = (uint32_t)bits, hi = (uint32_t)(bits >> 32);
    FOR_LANES room[0].w[l] = lo;
    if (s->words == 2) FOR_LANES room[1].w[l] = hi;
    return;
  }
  for (uint32_t k = 0; k < s->words; k++) {
    const vgpr *v = &w->v[s->reg + k];
    if (i == 0 && in->dpp) FOR_LANES {
        int from = in->dpp_lane[l];
        room[k].w[l] = from >= 0 ? v->w[from] & w->exec_mask.w[from] : 0;
      }
    else
      FOR_LANES room[k].w[l] = v->w[l];
  }
}

/* op_sel of packed sources and of 16-bit ones. */
static void pick_halves(vgpr *room, const struct source *s) {
  if ((s->type == T_pk || s->type == T_pkh) && (s->lo || !s->hi)) {
    uint32_t lo = s->lo ? 16 : 0, hi = s->hi ? 16 : 0;
    FOR_LANES room->w[l] = (room->w[l] >> lo & 0xFFFF) | room->w[l] >> hi << 16;
  } else if (s->type == T_pkf && (s->lo || !s->hi)) {
    FOR_LANES {
      uint32_t pair[2] = {room[0].w[l], room[1].w[l]};
      room[0].w[l] = pair[s->lo];
      room[1].w[l] = pair[s->hi];
    }
  } else if ((s->type == T_u16 || s->type == T_i16 || s->type == T_f16) && s->lo) {
    FOR_LANES room->w[l] >>= 16;
  }
}

LANES static void fetch_modified(vgpr *room, const struct wave *w, const struct inst *in, int i) {
  const struct source *s = &in->src[i];
  fetch(room, w, in, s, i);
  pick_halves(room, s);
  if (s->select != SELECT_ALL || s->sign_extend) FOR_LANES room->w[l] = select_bits(room->w[l], s->select, s->sign_extend);
  for (uint32_t k = 0; k < s->words && k < 2; k++)
    if (s->keep[k] != UINT32_MAX || s->flip[k]) FOR_LANES room[k].w[l] = (room[k].w[l] & s->keep[k]) ^ s->flip[k];
  if (w->modal) flush(w, room, (enum isa_type)s->type);
}

void operand_slow(vgpr *room, const struct wave *w, const struct inst *in, int i) {
  if (!in->src[i].uniform || w->modal) {
    fetch_modified(room, w, in, i);
    return;
  }
  uint32_t word = (uint32_t)scalar_bits(w, in, i);
  FOR_LANES room->w[l] = word;
}

/* --- results -------------------------------------------------------------------------------------------------------------- */

static double scale_and_clamp(double v, const struct inst *in, bool dx10_clamp) {
  static const double factors[] = {1, 2, 4, 0.5};
  v *= factors[in->omod];
  if (!in->clamp) return v;
  if (isnan(v)) return dx10_clamp ? 0 : v;
  return v <= 0 ? 0 : v > 1 ? 1 : v;
}

static uint32_t finish_f16(uint32_t x, const struct inst *in, bool dx10) {
  return small_from_f64(&float_f16, scale_and_clamp((double)f16_to_f32(x & 0xFFFF), in, dx10), false);
}

static void finish_floats(const struct wave *w, const struct inst *in, vgpr *r, int words) {
  bool dx10 = w->mode & MODE_DX10_CLAMP;
  switch (in->dst.type) {
  case T_f32:
  case T_pkf:
    for (int k = 0; k < words; k++) FOR_LANES r[k].w[l] = f32_bits((float)scale_and_clamp((double)f32_of(r[k].w[l]), in, dx10));
    break;
  case T_f64:
    FOR_LANES put_lane_bits(r, words, l, f64_bits(scale_and_clamp(f64_of(lane_bits(r, words, l)), in, dx10)));
    break;
  case T_f16:
    FOR_LANES r->w[l] = finish_f16(r->w[l], in, dx10);
    break;
  case T_pkh:
    FOR_LANES r->w[l] = finish_f16(r->w[l], in, dx10) | finish_f16(r->w[l] >> 16, in, dx10) << 16;
    break;
  default:
    break;
  }
}

/* SDWA: a result that fills a byte or word of its register. */
static uint32_t merge_sdwa(uint32_t old, uint32_t x, const struct dest *d) {
  uint32_t bits = d->select < 4 ? 8 : 16, shift = d->select < 4 ? 8u * d->select : d->select == 5 ? 16 : 0;
  uint32_t mask = ((1u << bits) - 1) << shift, placed = x << shift & mask;
  if (d->unused == TEXT_UNUSED_PRESERVE) return (old & ~mask) | placed;
  if (d->unused == TEXT_UNUSED_SEXT && placed >> (shift + bits - 1)) return placed | (uint32_t)((uint64_t)UINT32_MAX << (shift + bits));
  return placed;
}

/* EXEC, less what DPP leaves alone, as words: decided before the first store, since a destination may be a source. */
static void written_lanes(vgpr *written, const struct wave *w, const struct inst *in) {
  if (!in->dpp || (w->exec_full && in->dpp_written == UINT64_MAX)) {
    *written = w->exec_mask;
    return;
  }
  bits_to_lanes(written, in->dpp_written);
  if (w->exec_full) return;
  FOR_LANES {
    int from = in->dpp_lane[l];
    bool on = in->bound_ctrl || (from >= 0 && w->exec_mask.w[from]);
    written->w[l] &= on ? w->exec_mask.w[l] : 0;
  }
}

LANES static void write_merged(struct wave *w, const struct inst *in, const vgpr *r, int words) {
  vgpr written;
  written_lanes(&written, w, in);
  for (int k = 0; k < words; k++) {
    vgpr *d = &w->v[in->dst.reg + k];
    vgpr x;
    if (in->dst.select != SELECT_ALL)
      FOR_LANES x.w[l] = merge_sdwa(d->w[l], r[k].w[l], &in->dst);
    else if (in->dst.half)
      FOR_LANES x.w[l] = (d->w[l] & 0xFFFF) | r[k].w[l] << 16;
    else if (in->dst.keep_other)
      FOR_LANES x.w[l] = (d->w[l] & 0xFFFF0000u) | (r[k].w[l] & 0xFFFF);
    else
      x = r[k];
    FOR_LANES d->w[l] ^= (d->w[l] ^ x.w[l]) & written.w[l];
  }
}

void commit_slow(struct wave *w, const struct inst *in, const vgpr *result, int words) {
  vgpr r[2];
  if (!in->omod && !in->clamp && !w->modal) {
    write_merged(w, in, result, words);
    return;
  }
  memcpy(r, result, (size_t)words * sizeof *result);
  if (in->omod || in->clamp) finish_floats(w, in, r, words);
  if (w->modal) flush(w, r, (enum isa_type)in->dst.type);
  write_merged(w, in, r, words);
}

/* --- lanes and bits ------------------------------------------------------------------------------------------------------- */

uint64_t lanes_to_bits(const vgpr *r) {
  uint64_t bits = 0;
#ifdef __SSE2__
  const __m128i zero = _mm_setzero_si128();
  for (int q = 0; q < 4; q++) {
    __m128i v[4];
    for (int k = 0; k < 4; k++) v[k] = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)(const void *)&r->w[16 * q + 4 * k]), zero);
    __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(v[0], v[1]), _mm_packs_epi32(v[2], v[3]));
    bits |= (uint64_t)(~(uint32_t)_mm_movemask_epi8(bytes) & 0xFFFF) << (16 * q);
  }
#else
  FOR_LANES bits |= (uint64_t)(r->w[l] != 0) << l;
#endif
  return bits;
}

LANES static void spread_bits(vgpr *r, uint64_t bits) {
  uint32_t lo = (uint32_t)bits, hi = (uint32_t)(bits >> 32);
  for (uint32_t l = 0; l < 32; l++) r->w[l] = 0u - (lo >> l & 1);
  for (uint32_t l = 0; l < 32; l++) r->w[l + 32] = 0u - (hi >> l & 1);
}

void bits_to_lanes(vgpr *r, uint64_t bits) { spread_bits(r, bits); }
