/* SPDX-License-Identifier: Apache-2.0 */
/* kt: which rows of the caches the attention kernel reads for a token. First the compressed rows that topk chose, as rows of the
   compressed cache with bit 31 set; then the sliding window's slots; then -1. */
#include "reference.h"

#define COMPRESSED_KEY 0x80000000u

/* A slot's low dword is what the kernel reads; negative: a pad row. */
static bool live(const struct ref_kt_in *in, uint32_t t) { return (int32_t)(uint32_t)in->slot[t] >= 0; }

static int32_t clamp_i32(int32_t v, int32_t low, int32_t high) { return v < low ? low : v > high ? high : v; }

int32_t ref_kt_ntopk(const struct ref_kt_in *in, uint32_t t) {
  if (!live(in, t) || in->ratio == 0) return 0;
  int64_t rows = (in->pos[t] + 1) / (int64_t)in->ratio;
  return rows < TOPK ? (int32_t)rows : TOPK;
}

/* topk's row r of token t's request, through the request's block table. */
static int32_t compressed_key(const struct ref_kt_in *in, uint32_t t, int32_t r) {
  if (r < 0) return -1;
  const int32_t *table = in->comp_bt + (int64_t)in->t2r[t] * in->bt_stride;
  uint32_t block = (uint32_t)table[r / in->comp_block];
  return (int32_t)((block * (uint32_t)in->comp_block + (uint32_t)(r % in->comp_block)) | COMPRESSED_KEY);
}

void ref_kt(const struct ref_kt_in *in, int32_t *kt, int32_t *klen) {
  int32_t keys = (int32_t)geometry_keys(in->ratio, in->window), window = (int32_t)in->window;
  for (uint32_t t = 0; t < in->tokens; t++) {
    int32_t ntopk = ref_kt_ntopk(in, t);
    int32_t nswa = live(in, t) ? clamp_i32(in->swa_lens[t], 0, window) : 0;
    int32_t *row = kt + (size_t)t * (size_t)keys;
    for (int32_t k = 0; k < keys; k++) {
      if (k < ntopk)
        row[k] = compressed_key(in, t, in->topk[(size_t)t * TOPK + (size_t)k]);
      else if (k < ntopk + nswa)
        row[k] = in->swa_idx[(size_t)t * in->window + (size_t)(k - ntopk)];
      else
        row[k] = -1;
    }
    klen[t] = ntopk + nswa;
    klen[in->tokens + t] = ntopk;
  }
}
