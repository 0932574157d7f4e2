/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the inputs keep section 3's promises: the reference indexes with them, and a kernel that got others proves nothing. */
#include <stdarg.h>
#include <stdio.h>

#include "compare_parts.h"

#define POSITIONS_MAX (1 << 24) /* the kernel has 32-bit offsets into cos_sin */

__attribute__((format(printf, 2, 3))) static bool bad(struct comparison *c, const char *text, ...) {
  va_list args;
  va_start(args, text);
  vsnprintf(c->result->message, sizeof c->result->message, text, args);
  va_end(args);
  return false;
}

static bool live(int64_t slot) { return (int32_t)(uint32_t)slot >= 0; }

static bool pointers_good(struct comparison *c) {
  const struct compare_inputs *in = c->in;
  const struct compare_outputs *out = c->out;
  const bool kt = !c->key->index, compressed = kt && c->key->ratio > 0;
  const struct {
    const char *name;
    bool needed;
    const void *pointer;
  } all[] = {
      {"x", !c->key->x8_given, in->x},
      {"wqkv", true, in->wqkv},
      {"wqkv_s", true, in->wqkv_s},
      {"wqb", true, in->wqb},
      {"wqb_s", true, in->wqb_s},
      {"pos", true, in->pos},
      {"slot", true, in->slot},
      {"swa_idx", kt, in->swa_idx},
      {"swa_lens", kt, in->swa_lens},
      {"topk", compressed, in->topk},
      {"t2r", compressed, in->t2r},
      {"comp_bt", compressed, in->comp_bt},
      {"cos_sin", true, in->cos_sin},
      {"qn_w", true, in->qn_w},
      {"kvn_w", true, in->kvn_w},
      {"scratch_before", true, out->scratch_before},
      {"scratch", true, out->scratch},
      {"q", true, out->q},
      {"kt", kt, out->kt},
      {"klen", kt, out->klen},
      {"qr_out", c->key->index, out->qr_out},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].needed && !all[i].pointer) return bad(c, "comparison: no %s was given, which this key needs", all[i].name);
  return true;
}

static bool scalars_good(struct comparison *c) {
  const struct compare_inputs *in = c->in;
  if (!c->key->x8_given && in->x_stride < HIDDEN) return bad(c, "x_stride: %d is below the row width %d", in->x_stride, HIDDEN);
  if (in->swa_block < 1) return bad(c, "swa_block: %d, must be 1 or more", in->swa_block);
  if (in->swa_stride < (int64_t)KV_RECORD_BYTES * in->swa_block || in->swa_stride % 8)
    return bad(c, "swa_stride: %lld bytes, must be a multiple of 8 and at least %lld for %d tokens a block", (long long)in->swa_stride,
        (long long)KV_RECORD_BYTES * in->swa_block, in->swa_block);
  if (!c->key->index && c->key->ratio > 0 && in->comp_block < 1) return bad(c, "comp_block: %d, must be 1 or more", in->comp_block);
  return true;
}

/* The blocks that a live slot names, and no slot twice. */
static bool slots_good(struct comparison *c) {
  const struct compare_inputs *in = c->in;
  for (size_t i = 0; i < c->out->block_count; i++) {
    const struct compare_block *block = &c->out->blocks[i];
    if (block->bytes && block->bytes < (uint64_t)KV_RECORD_BYTES * (uint64_t)in->swa_block)
      return bad(c, "comparison: cache block %lld was given with %llu bytes, its records need %llu", (long long)block->block,
          (unsigned long long)block->bytes, (unsigned long long)KV_RECORD_BYTES * (unsigned long long)in->swa_block);
  }
  for (uint32_t t = 0; t < c->tokens; t++) {
    if (!live(in->slot[t])) continue;
    int64_t block = (int32_t)in->slot[t] / in->swa_block;
    size_t given = 0;
    for (size_t i = 0; i < c->out->block_count; i++) given += c->out->blocks[i].block == block;
    if (given != 1) return bad(c, "comparison: cache block %lld of token %u was given %zu times, must be once", (long long)block, t, given);
    for (uint32_t other = 0; other < t; other++)
      if (live(in->slot[other]) && (int32_t)in->slot[other] == (int32_t)in->slot[t])
        return bad(
            c, "slot: tokens %u and %u both have %d, so that their records race; give each token its own", other, t, (int32_t)in->slot[t]);
  }
  return true;
}

/* Every block table entry that token t's used topk rows need. */
static bool topk_good(struct comparison *c, uint32_t t) {
  const struct compare_inputs *in = c->in;
  const struct ref_kt_in kt = {.ratio = (uint32_t)c->key->ratio, .pos = in->pos, .slot = in->slot};
  const int32_t ntopk = ref_kt_ntopk(&kt, t);
  for (int32_t k = 0; k < ntopk; k++) {
    int32_t r = in->topk[(size_t)t * TOPK + (size_t)k];
    if (r < 0) continue;
    int64_t entry = (int64_t)in->t2r[t] * in->bt_stride + r / in->comp_block;
    if (entry < 0 || (uint64_t)entry >= in->comp_bt_entries)
      return bad(c, "topk: row %d of token %u (request %d) is entry %lld of comp_bt, which has %llu", r, t, in->t2r[t], (long long)entry,
          (unsigned long long)in->comp_bt_entries);
  }
  return true;
}

bool compare_inputs_good(struct comparison *c) {
  if (!pointers_good(c) || !scalars_good(c)) return false;
  for (uint32_t t = 0; t < c->tokens; t++) {
    int64_t pos = c->in->pos[t];
    if (pos < 0 || pos >= POSITIONS_MAX || (uint64_t)pos >= c->in->cos_sin_rows)
      return bad(c, "pos: token %u is at %lld, but cos_sin has %llu rows (and 2^24 is the limit)", t, (long long)pos,
          (unsigned long long)c->in->cos_sin_rows);
  }
  for (uint32_t t = 0; t < c->tokens; t++)
    if (!c->key->index && c->key->ratio > 0 && !topk_good(c, t)) return false;
  return slots_good(c);
}
