/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at pos, slot, swa_lens and t2r before a launch. */
#include "step_check.h"

#include "device_memory.h"
#include "geometry.h"
#include "status.h"

enum { POSITIONS_MAX = 1 << 24, POSITION_BYTES = ROPE * 4 };

struct step {
  const struct layer *layer;
  const struct front_args *args;
  uint32_t rows;
  int64_t pos[TOKENS_MAX], slot[TOKENS_MAX];
  int32_t swa_lens[TOKENS_MAX], t2r[TOKENS_MAX];
  uint64_t cos_sin_bytes, swa_bytes, comp_bt_bytes; /* UINT64_MAX: not known */
};

static enum front_status take(const struct device *device, void *to, const void *host, const void *from, size_t bytes) {
  hsa_status_t code = device->hsa->hsa_memory_copy(to, host ? host : from, bytes);
  return code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(device->hsa, FRONT_ERR_HSA, "hsa_memory_copy", code);
}

static bool has_keys(const struct step *s) { return !s->layer->index; }
static bool has_compressed(const struct step *s) { return !s->layer->index && s->layer->ratio > 0; }

static enum front_status take_step(const struct device *device, const struct front_launch_options *o, struct step *s) {
  const struct front_args *a = s->args;
  enum front_status status = take(device, s->pos, o ? o->pos : NULL, a->pos, s->rows * sizeof *s->pos);
  if (status == FRONT_OK) status = take(device, s->slot, o ? o->slot : NULL, a->slot, s->rows * sizeof *s->slot);
  if (status == FRONT_OK && has_keys(s))
    status = take(device, s->swa_lens, o ? o->swa_lens : NULL, a->swa_lens, s->rows * sizeof *s->swa_lens);
  if (status == FRONT_OK && has_compressed(s)) status = take(device, s->t2r, o ? o->t2r : NULL, a->t2r, s->rows * sizeof *s->t2r);
  s->cos_sin_bytes = memory_behind(device, a->cos_sin);
  s->swa_bytes = memory_behind(device, a->swa);
  s->comp_bt_bytes = has_compressed(s) ? memory_behind(device, a->comp_bt) : UINT64_MAX;
  return status;
}

static enum front_status bad(const char *name, uint32_t row, int64_t value, const char *why) {
  return status_fail(FRONT_ERR_ARGUMENT, "%s[%u] is %lld: %s", name, row, (long long)value, why);
}

static enum front_status check_slot(const struct step *s, uint32_t row) {
  const int64_t slot = s->slot[row], block = slot / s->args->swa_block;
  const uint64_t block_bytes = (uint64_t)KV_RECORD_BYTES * (uint64_t)s->args->swa_block;
  if (slot > INT32_MAX) return bad("slot", row, slot, "it must be below 2^31");
  if (s->swa_bytes < block_bytes || (uint64_t)block > (s->swa_bytes - block_bytes) / (uint64_t)s->args->swa_stride)
    return bad("slot", row, slot, "the cache ends before its block");
  for (uint32_t other = 0; other < row; other++)
    if (s->slot[other] == slot) return bad("slot", row, slot, "another row of the step has it too");
  return FRONT_OK;
}

static enum front_status check_row(const struct step *s, uint32_t row) {
  int64_t pos = s->pos[row];
  if (pos < 0 || pos >= POSITIONS_MAX) return bad("pos", row, pos, "it must be in 0 to 2^24 - 1, in pad rows too");
  if ((uint64_t)(pos + 1) * POSITION_BYTES > s->cos_sin_bytes) return bad("pos", row, pos, "cos_sin ends before it");
  if (s->slot[row] < 0) return FRONT_OK; /* a pad row uses no more */
  enum front_status status = check_slot(s, row);
  if (status != FRONT_OK) return status;
  if (has_keys(s) && (s->swa_lens[row] < 0 || s->swa_lens[row] > s->layer->window))
    return bad("swa_lens", row, s->swa_lens[row], "it must be in 0 to the key's window");
  if (!has_compressed(s) || pos + 1 < s->layer->ratio) return FRONT_OK;
  if (s->t2r[row] < 0) return bad("t2r", row, s->t2r[row], "it must not be negative");
  if ((uint64_t)(s->t2r[row] + (int64_t)1) * (uint64_t)s->args->bt_stride * 4 > s->comp_bt_bytes)
    return bad("t2r", row, s->t2r[row], "comp_bt ends before its row");
  return FRONT_OK;
}

enum front_status step_check(const struct binding *binding, const struct front_launch_options *options) {
  const struct kernel *kernel = binding->instance->kernel;
  struct step s = {.layer = &kernel->layer, .args = binding->block, .rows = (uint32_t)kernel->layer.tokens};
  enum front_status status = take_step(kernel->device, options, &s);
  for (uint32_t row = 0; row < s.rows && status == FRONT_OK; row++) status = check_row(&s, row);
  return status;
}
