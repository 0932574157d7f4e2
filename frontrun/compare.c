/* SPDX-License-Identifier: Apache-2.0 */
/* compare_run(), how rows are filled, and the stages that are exact look-ups: xq, kt. */
#include "compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare_parts.h"

struct compare_row *compare_row_begin(struct comparison *c, const char *stage) {
  struct compare_row *row = &c->result->row[c->result->rows++];
  *row = (struct compare_row){.stage = stage};
  return row;
}

bool compare_count(struct compare_row *row, bool exact, bool allowed) {
  row->values++;
  row->exact += exact;
  if (allowed) return false;
  return row->wrong++ == 0;
}

void compare_exact(struct compare_row *row, uint32_t wanted, uint32_t found, bool matches, const char *where, ...) {
  if (!compare_count(row, matches, matches)) return;
  char place[96];
  va_list args;
  va_start(args, where);
  vsnprintf(place, sizeof place, where, args);
  va_end(args);
  snprintf(row->first, sizeof row->first, "%s: wanted 0x%x, found 0x%x", place, wanted, found);
}

void compare_row_end(struct comparison *c, struct compare_row *row) {
  struct compare_result *result = c->result;
  row->good = row->wrong == 0 && row->values > 0;
  if (row->good || result->verdict != COMPARE_GOOD) return;
  result->verdict = COMPARE_DIFFERS;
  snprintf(result->message, sizeof result->message, "%s: %s", row->stage, row->values > 0 ? row->first : "nothing was there to compare");
}

const uint8_t *compare_region(const struct comparison *c, enum scratch_region region) {
  return c->out->scratch + c->layout.region[region].offset;
}

uint32_t compare_u32(const uint8_t *bytes, size_t index) {
  uint32_t v;
  memcpy(&v, bytes + 4 * index, sizeof v);
  return v;
}

size_t compare_x8s_index(uint32_t tokens, uint32_t half, uint32_t t, uint32_t group) {
  const uint32_t groups = HIDDEN_GROUPS / K_HALVES;
  return (size_t)half * round_up_u32(groups * tokens, 32) + (size_t)groups * t + group;
}

bool compare_same_e4m3(uint8_t a, uint8_t b, const struct ref_fp8 *fp8) {
  return a == b || (ref_e4m3_is_nan(a, fp8) && ref_e4m3_is_nan(b, fp8));
}

bool compare_same_bf16(uint16_t a, uint16_t b) { return a == b || (ref_bf16_is_nan(a) && ref_bf16_is_nan(b)); }

void compare_xq(struct comparison *c) {
  const uint8_t *x8 = compare_region(c, SCRATCH_x8), *x8s = compare_region(c, SCRATCH_x8s);
  const struct input_rows *wanted = &c->reference_rows;
  const uint32_t groups = HIDDEN_GROUPS / K_HALVES;
  struct compare_row *row = compare_row_begin(c, "xq");
  for (uint32_t t = 0; t < c->tokens; t++) {
    for (uint32_t i = 0; i < HIDDEN; i++) {
      uint8_t want = wanted->x8[(size_t)t * HIDDEN + i], found = x8[(size_t)t * HIDDEN + i];
      compare_exact(row, want, found, compare_same_e4m3(want, found, &c->fp8), "x8 token %u column %u", t, i);
    }
    for (uint32_t g = 0; g < HIDDEN_GROUPS; g++) {
      uint32_t want = wanted->codes[(size_t)t * HIDDEN_GROUPS + g];
      uint32_t found = compare_u32(x8s, compare_x8s_index(c->tokens, g / groups, t, g % groups));
      compare_exact(row, want, found, want == found, "x8s half %u token %u group %u", g / groups, t, g % groups);
    }
  }
  compare_row_end(c, row);
}

bool compare_kt(struct comparison *c) {
  const struct compare_inputs *in = c->in;
  const struct ref_kt_in kt_in = {.tokens = c->tokens,
      .ratio = (uint32_t)c->key->ratio,
      .window = (uint32_t)c->key->window,
      .pos = in->pos,
      .slot = in->slot,
      .swa_idx = in->swa_idx,
      .swa_lens = in->swa_lens,
      .topk = in->topk,
      .t2r = in->t2r,
      .comp_bt = in->comp_bt,
      .bt_stride = in->bt_stride,
      .comp_block = in->comp_block};
  const size_t count = (size_t)c->tokens * c->keys;
  int32_t *kt = malloc((count + 2 * c->tokens) * sizeof *kt);
  if (!kt) return false;
  int32_t *klen = kt + count;
  ref_kt(&kt_in, kt, klen);

  struct compare_row *row = compare_row_begin(c, "kt");
  for (size_t i = 0; i < count; i++)
    compare_exact(row, (uint32_t)kt[i], (uint32_t)c->out->kt[i], kt[i] == c->out->kt[i], "kt token %zu key %zu", i / c->keys, i % c->keys);
  for (uint32_t i = 0; i < 2 * c->tokens; i++)
    compare_exact(row, (uint32_t)klen[i], (uint32_t)c->out->klen[i], klen[i] == c->out->klen[i], "%s token %u",
        i < c->tokens ? "klen" : "klen's ntopk", i % c->tokens);
  compare_row_end(c, row);
  free(kt);
  return true;
}

/* What the kernel's wqkv read. */
static void gather_rows(struct comparison *c) {
  const uint32_t groups = HIDDEN_GROUPS / K_HALVES;
  if (c->reference_rows.x8) ref_xq(c->in->x, (size_t)c->in->x_stride, c->tokens, &c->fp8, c->reference_rows.x8, c->reference_rows.codes);
  if (!c->x8_published) {
    c->kernel_rows = c->reference_rows;
    return;
  }
  const uint8_t *x8s = compare_region(c, SCRATCH_x8s);
  memcpy(c->kernel_rows.x8, compare_region(c, SCRATCH_x8), (size_t)c->tokens * HIDDEN);
  for (uint32_t t = 0; t < c->tokens; t++)
    for (uint32_t g = 0; g < HIDDEN_GROUPS; g++)
      c->kernel_rows.codes[(size_t)t * HIDDEN_GROUPS + g] =
          (uint8_t)compare_u32(x8s, compare_x8s_index(c->tokens, g / groups, t, g % groups));
}

static bool run_stages(struct comparison *c) {
  gather_rows(c);
  if (c->xq) compare_xq(c);
  if (!c->key->index && !compare_kt(c)) return false;
  if (!compare_wqkv(c)) return false;
  compare_qkv(c);
  if (!compare_wqb(c)) return false;
  compare_flags(c);
  compare_untouched(c);
  return true;
}

static struct comparison comparison_of(const struct front_key *key, const struct target *target, const struct compare_options *options) {
  const bool fnuz = strcmp(target->name, "gfx942") == 0;
  const bool many = (uint32_t)key->tokens > target->tile;
  struct comparison c = {
      .key = key,
      .layout = scratch_layout((uint32_t)key->tokens, key->tuned),
      .fp8 = {.max = target->fp8_max, .fnuz = fnuz},
      .hardware = options->hardware,
      .xq = many && !key->x8_given,
      .x8_published = many || key->x8_given,
      .threads = options->threads,
      .tokens = (uint32_t)key->tokens,
      .q_rows = geometry_q_rows((uint32_t)key->tp),
      .keys = geometry_keys((uint32_t)key->ratio, (uint32_t)key->window),
      .copies = key->tuned ? COPIES : 1,
      .gemv_tolerance = options->hardware ? 0x1p-17
                        : fnuz            ? 0x1p-19
                                          : 0x1p-20,
  };
  if (c.threads == 0) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    c.threads = online > 0 ? (unsigned)online : 1;
  }
  return c;
}

enum compare_verdict compare_run(const struct front_key *key, const struct target *target, const struct compare_inputs *in,
    const struct compare_outputs *out, const struct compare_options *options, struct compare_result *result) {
  struct comparison c = comparison_of(key, target, options);
  c.in = in;
  c.out = out;
  c.result = result;
  c.tag = 2 * out->epoch_before + 1;
  *result = (struct compare_result){.verdict = COMPARE_GOOD};
  if (!compare_inputs_good(&c)) return result->verdict = COMPARE_BAD_INPUT;

  const size_t values = (size_t)c.tokens * HIDDEN, codes = (size_t)c.tokens * HIDDEN_GROUPS;
  uint8_t *memory = malloc(2 * (values + codes));
  if (memory) {
    c.kernel_rows = (struct input_rows){.x8 = memory, .codes = memory + values};
    if (!key->x8_given) c.reference_rows = (struct input_rows){.x8 = memory + values + codes, .codes = memory + 2 * values + codes};
  }
  if (!memory || !run_stages(&c)) {
    *result = (struct compare_result){.verdict = COMPARE_BAD_INPUT};
    snprintf(result->message, sizeof result->message, "out of memory while comparing: nothing was judged; free some and run again");
  }
  free(memory);
  return result->verdict;
}
