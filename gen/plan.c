/* SPDX-License-Identifier: Apache-2.0 */
/* Key + target -> plan. The design's worked figures are asserted here, so that a slip in a table stops the build. */
#include "plan.h"

#include <stdio.h>
#include <string.h>

/* The kernarg block as a C compiler lays it out: natural offsets. */
#define PTR uint64_t
#define I32 int32_t
#define I64 int64_t
struct kernarg {
#define ARG(name, type, align, dtype, use, bytes) type name;
#include "front_args.def"
#undef ARG
};
_Static_assert(sizeof(struct kernarg) == KERNARG_BYTES, "kernarg ABI 1 is 216 bytes");
_Static_assert(offsetof(struct kernarg, x_stride) == 56 && offsetof(struct kernarg, pos) == 64, "arguments lie at natural offsets");
_Static_assert(offsetof(struct kernarg, guard) == 208 && FRONT_ARGS == 29, "the guard is argument 28, the last");

_Static_assert(WQKV_PARTS == 224 && FREE_WORKGROUPS == 32, "workgroups 224..255 are free");
_Static_assert(WQKV_STEPS == 20 && WQB_STEPS == 10 && KV_RECORD_BYTES == 584, "steps and record of the model");

/* LDS of section 2, as a constant expression: what the layout below must come to. */
#define LDS_BYTES(round_tasks, rows)                                                                                                       \
  ((round_tasks)*WAVES * WAVE * 16 + 64 +                                                                                                  \
      (rows) * (Q_RANK + Q_RANK / MX_GROUP * 4 + K_HALF + K_HALF / MX_GROUP * 4 + 4 * 4 * LDS_PAD_WORDS))
_Static_assert(LDS_BYTES(4, 16) == 102976 && LDS_BYTES(2, 16) == 86592 && LDS_BYTES(1, 16) == 78400, "LDS of gfx950, tp 1 and 2, 4, 8");
_Static_assert(LDS_BYTES(4, 6) == 59136 && LDS_BYTES(2, 6) == 42752 && LDS_BYTES(1, 6) == 34560, "LDS of gfx942, tp 1 and 2, 4, 8");

static struct lds_layout lds_layout(uint32_t round_tasks, uint32_t rows) {
  const uint32_t pad = LDS_PAD_WORDS * 4;
  struct lds_layout l = {.rows = rows, .red_task_bytes = WAVES * WAVE * 16};
  l.qx_row_bytes = Q_RANK + pad;
  l.qx_code_row_bytes = Q_RANK / MX_GROUP * 4 + pad;
  l.x_row_bytes = K_HALF + pad;
  l.x_code_row_bytes = K_HALF / MX_GROUP * 4 + pad;
  l.red_words = round_tasks * l.red_task_bytes;
  l.qx_rows = l.red_words + 16 * 4;
  l.stop = l.qx_rows + Q_RANK;
  l.qx_codes = l.qx_rows + rows * l.qx_row_bytes;
  l.x_rows = l.qx_codes + rows * l.qx_code_row_bytes;
  l.x_codes = l.x_rows + rows * l.x_row_bytes;
  l.bytes = l.x_codes + rows * l.x_code_row_bytes;
  return l;
}

static void plan_args(struct plan *p) {
#define S       p->tokens
#define WINDOW  (uint32_t) p->key.window
#define Q_ROWS  p->q_rows
#define KEYS    p->keys
#define SCRATCH p->scratch.bytes
#define ARG(name_, type, align, dtype, use, bytes_)                                                                                        \
  p->arg[ARG_##name_].name = #name_;                                                                                                       \
  p->arg[ARG_##name_].offset = offsetof(struct kernarg, name_);                                                                            \
  p->arg[ARG_##name_].bytes = sizeof(type);                                                                                                \
  p->arg[ARG_##name_].size = (bytes_);
#include "front_args.def"
#undef ARG
#undef S
#undef WINDOW
#undef Q_ROWS
#undef KEYS
#undef SCRATCH
}

static void plan_tiles(struct plan *p) {
  for (uint32_t first = 0; first < p->tokens; first += p->target->tile)
    p->tile[p->tiles++] = (struct token_tile){first, min_u32(p->target->tile, p->tokens - first)};
}

static void plan_schedule(struct plan *p) {
  bool fits = p->tokens <= p->target->tile, given = p->key.x8_given != 0;
  p->tuned = p->key.tuned != 0;
  p->guard = p->key.guard != 0;
  p->quantise_in_workgroup = fits && !given;
  p->xq = !fits && !given;
  p->xq_units = p->xq ? K_HALVES * p->tokens : 0;
  p->xq_rounds = (p->xq_units + FREE_WORKGROUPS - 1) / FREE_WORKGROUPS;
  p->copies = p->tuned ? COPIES : 1;
  p->xrdy_stride = p->tuned ? flag_copy_stride(K_HALVES * p->tokens) : 0;
  p->qrdy_stride = p->tuned ? flag_copy_stride(p->tokens) : 0;
  p->first_qkv_workgroup = p->tuned ? WQKV_PARTS : 0;
  p->kt_rounds = p->key.index ? 0 : (p->tokens + FREE_WORKGROUPS - 1) / FREE_WORKGROUPS;
}

bool plan_make(const struct front_key *key, const struct target *target, struct plan *plan, char error[KEY_ERROR_MAX]) {
  memset(plan, 0, sizeof *plan);
  if (!key_validate(key, error)) return false;
  plan->key = *key;
  plan->target = target;
  key_name(key, plan->name);
  plan->tokens = (uint32_t)key->tokens;
  plan->q_rows = geometry_q_rows((uint32_t)key->tp);
  plan->keys = geometry_keys((uint32_t)key->ratio, (uint32_t)key->window);
  plan->tasks = geometry_wqb_tasks((uint32_t)key->tp);
  plan->round_tasks = min_u32(plan->tasks, ROUND_TASKS);
  plan->rounds = plan->tasks / plan->round_tasks;
  plan_tiles(plan);
  plan_schedule(plan);
  plan->scratch = scratch_layout(plan->tokens, plan->tuned);
  plan->lds = lds_layout(plan->round_tasks, min_u32(plan->tokens, target->tile));
  plan_args(plan);
  if (plan->lds.bytes <= target->lds_bytes) return true;
  snprintf(error, KEY_ERROR_MAX, "%s needs %u bytes of LDS and %s has %u: take fewer tokens or a larger tp", plan->name, plan->lds.bytes,
      target->name, target->lds_bytes);
  return false;
}
