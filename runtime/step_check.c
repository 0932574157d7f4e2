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
  struct step_values at;
  uint64_t cos_sin_bytes, swa_bytes, comp_bt_bytes; /* UINT64_MAX: not known */
};

static bool has_keys(const struct layer *layer) { return !layer->index; }
static bool has_compressed(const struct layer *layer) { return !layer->index && layer->ratio > 0; }

static enum front_status bad(const char *name, uint32_t row, int64_t value, const char *why) {
  return status_fail(FRONT_ERR_ARGUMENT, "%s[%u] is %lld: %s", name, row, (long long)value, why);
}

/* The kernel reads a slot's low 32 bits: what is below -2^31 may be a slot to it, and another row's. */
static enum front_status check_slot(const struct step *s, uint32_t row) {
  const int64_t slot = s->at.slot[row], block = slot / s->args->swa_block;
  if (slot < INT32_MIN) return bad("slot", row, slot, "it must not be below -2^31: a pad row has -1");
  if (slot < 0) return FRONT_OK;
  const uint64_t block_bytes = (uint64_t)KV_RECORD_BYTES * (uint64_t)s->args->swa_block;
  if (slot > INT32_MAX) return bad("slot", row, slot, "it must be below 2^31");
  if (s->swa_bytes < block_bytes || (uint64_t)block > (s->swa_bytes - block_bytes) / (uint64_t)s->args->swa_stride)
    return bad("slot", row, slot, "the cache ends before its block");
  for (uint32_t other = 0; other < row; other++)
    if (s->at.slot[other] == slot) return bad("slot", row, slot, "another row of the step has it too");
  return FRONT_OK;
}

static enum front_status check_row(const struct step *s, uint32_t row) {
  int64_t pos = s->at.pos[row];
  if (pos < 0 || pos >= POSITIONS_MAX) return bad("pos", row, pos, "it must be in 0 to 2^24 - 1, in pad rows too");
  if ((uint64_t)(pos + 1) * POSITION_BYTES > s->cos_sin_bytes) return bad("pos", row, pos, "cos_sin ends before it");
  enum front_status status = check_slot(s, row);
  if (status != FRONT_OK || s->at.slot[row] < 0) return status; /* a pad row uses no more */
  if (has_keys(s->layer) && (s->at.swa_lens[row] < 0 || s->at.swa_lens[row] > s->layer->window))
    return bad("swa_lens", row, s->at.swa_lens[row], "it must be in 0 to the key's window");
  if (!has_compressed(s->layer) || pos + 1 < s->layer->ratio) return FRONT_OK;
  if (s->at.t2r[row] < 0) return bad("t2r", row, s->at.t2r[row], "it must not be negative");
  if ((uint64_t)(s->at.t2r[row] + (int64_t)1) * (uint64_t)s->args->bt_stride * 4 > s->comp_bt_bytes)
    return bad("t2r", row, s->at.t2r[row], "comp_bt ends before its row");
  return FRONT_OK;
}

static enum front_status check_given(const struct layer *layer, const struct step_values *v) {
  const char *name = !v->pos                            ? "pos"
                     : !v->slot                         ? "slot"
                     : has_keys(layer) && !v->swa_lens  ? "swa_lens"
                     : has_compressed(layer) && !v->t2r ? "t2r"
                                                        : NULL;
  return name ? status_fail(FRONT_ERR_ARGUMENT, "%s is null: the key uses it", name) : FRONT_OK;
}

enum front_status step_check_values(const struct layer *layer, const struct front_args *args, const struct step_values *values,
    kernarg_memory *behind, const void *context) {
  enum front_status status = check_given(layer, values);
  if (status != FRONT_OK) return status;
  struct step s = {.layer = layer, .args = args, .at = *values};
  s.cos_sin_bytes = behind(context, args->cos_sin);
  s.swa_bytes = behind(context, args->swa);
  s.comp_bt_bytes = has_compressed(layer) ? behind(context, args->comp_bt) : UINT64_MAX;
  for (uint32_t row = 0; row < (uint32_t)layer->tokens && status == FRONT_OK; row++) status = check_row(&s, row);
  return status;
}

static enum front_status take(const struct device *device, void *to, const void *host, const void *from, size_t bytes) {
  hsa_status_t code = device->hsa->hsa_memory_copy(to, host ? host : from, bytes);
  return code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(device->hsa, FRONT_ERR_HSA, "hsa_memory_copy", code);
}

enum front_status step_check(const struct binding *binding, const struct front_launch_options *options) {
  const struct kernel *kernel = binding->instance->kernel;
  const struct device *device = kernel->device;
  const struct layer *layer = &kernel->layer;
  const struct front_args *a = binding->block;
  const struct front_launch_options none = {.size = sizeof none}, *o = options ? options : &none;
  const size_t rows = (size_t)layer->tokens;
  int64_t pos[TOKENS_MAX], slot[TOKENS_MAX];
  int32_t swa_lens[TOKENS_MAX], t2r[TOKENS_MAX];
  enum front_status status = take(device, pos, o->pos, a->pos, rows * sizeof *pos);
  if (status == FRONT_OK) status = take(device, slot, o->slot, a->slot, rows * sizeof *slot);
  if (status == FRONT_OK && has_keys(layer)) status = take(device, swa_lens, o->swa_lens, a->swa_lens, rows * sizeof *swa_lens);
  if (status == FRONT_OK && has_compressed(layer)) status = take(device, t2r, o->t2r, a->t2r, rows * sizeof *t2r);
  if (status != FRONT_OK) return status;
  return step_check_values(layer, a, &(struct step_values){pos, slot, swa_lens, t2r}, memory_behind, device);
}
