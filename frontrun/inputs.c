/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the inputs of a launch together. */
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tensors.h"

enum { SPARSE_BYTES = 32 << 20 };

static const char *const case_names[INPUT_CASES] = {
    "default",
    "zero",
    "largest",
    "denormal",
    "nan",
    "inf",
    "allpad",
    "nopad",
    "far",
};

enum input_case input_case_by_name(const char *name) {
  unsigned i = 0;
  while (i < INPUT_CASES && strcmp(case_names[i], name) != 0) i++;
  return (enum input_case)i;
}

const char *input_case_name(enum input_case which) { return case_names[which]; }

bool inputs_allocate(struct inputs *in, enum front_arg arg, uint64_t bytes) {
  in->bytes[arg] = bytes;
  if (bytes < SPARSE_BYTES) {
    in->data[arg] = calloc(bytes ? bytes : 1, 1);
    return in->data[arg] != NULL;
  }
  void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return false;
  in->data[arg] = map;
  in->mapped[arg] = bytes;
  return true;
}

static int by_number(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

bool inputs_choose_blocks(struct inputs *in) {
  const int64_t *slot = in->data[ARG_slot];
  int64_t number[3 * TOKENS_MAX];
  size_t count = 0;
  for (int t = 0; t < in->key.tokens; t++) {
    if (slot[t] < 0) continue;
    int64_t at = slot[t] / in->swa_block;
    if (at >= in->window_blocks) in->window_blocks = at + 1;
    for (int64_t n = at - 1; n <= at + 1; n++)
      if (n >= 0) number[count++] = n;
  }
  qsort(number, count, sizeof number[0], by_number);
  in->block = calloc(count ? count : 1, sizeof *in->block);
  if (!in->block) return false;
  for (size_t i = 0; i < count; i++) {
    if ((i && number[i] == number[i - 1]) || number[i] >= in->window_blocks) continue;
    struct window_block *block = &in->block[in->blocks++];
    block->number = number[i];
    block->before = calloc(1, (size_t)in->swa_stride);
    block->after = calloc(1, (size_t)in->swa_stride);
    if (!block->before || !block->after) return false;
  }
  in->bytes[ARG_swa] = (uint64_t)in->window_blocks * (uint64_t)in->swa_stride;
  return true;
}

/* What later parts compute with is checked before they do. */
static bool draw_all(struct inputs *in, char *error) {
  static const struct {
    bool (*draw)(struct inputs *);
    bool (*check)(const struct inputs *, char *);
  } parts[] = {
      {draw_scalars, inputs_check_scalars},
      {draw_positions, inputs_check_positions},
      {draw_slots, inputs_check_slots},
      {draw_windows, NULL},
      {draw_compressed, inputs_check_table},
      {draw_cos_sin, NULL},
      {draw_window_cache, NULL},
      {draw_rows, NULL},
      {draw_weights, NULL},
      {draw_outputs, NULL},
  };
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (!parts[i].draw(in)) {
      snprintf(error, INPUT_ERROR_MAX, "no memory for the inputs");
      return false;
    }
    if (parts[i].check && !parts[i].check(in, error)) return false;
  }
  return true;
}

bool inputs_make(const struct plan *plan, const struct input_options *options, struct inputs *in, char error[INPUT_ERROR_MAX]) {
  *in = (struct inputs){.key = plan->key, .seed = options->seed, .rank = options->rank, .which = options->which};
  for (int arg = 0; arg < FRONT_ARGS; arg++) in->bytes[arg] = plan->arg[arg].size;
  bool good = (!options->file || tensors_take(options->file, in, error)) && draw_all(in, error);
  if (!good) inputs_free(in);
  return good;
}

struct compare_inputs inputs_view(const struct inputs *in) {
  return (struct compare_inputs){
      .x = in->data[ARG_x],
      .wqkv = in->data[ARG_wqkv],
      .wqkv_s = in->data[ARG_wqkv_s],
      .wqb = in->data[ARG_wqb],
      .wqb_s = in->data[ARG_wqb_s],
      .x_stride = in->x_stride,
      .bt_stride = in->bt_stride,
      .pos = in->data[ARG_pos],
      .slot = in->data[ARG_slot],
      .swa_idx = in->data[ARG_swa_idx],
      .swa_lens = in->data[ARG_swa_lens],
      .topk = in->data[ARG_topk],
      .t2r = in->data[ARG_t2r],
      .comp_bt = in->data[ARG_comp_bt],
      .comp_bt_entries = in->bytes[ARG_comp_bt] / 4,
      .cos_sin = in->data[ARG_cos_sin],
      .cos_sin_rows = in->positions,
      .qn_w = in->data[ARG_qn_w],
      .kvn_w = in->data[ARG_kvn_w],
      .swa_stride = in->swa_stride,
      .swa_block = in->swa_block,
      .comp_block = in->comp_block,
  };
}

void inputs_free(struct inputs *in) {
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    if (in->mapped[arg])
      munmap(in->data[arg], in->mapped[arg]);
    else
      free(in->data[arg]);
    free(in->left[arg]);
  }
  for (size_t i = 0; i < in->blocks; i++) {
    free(in->block[i].before);
    free(in->block[i].after);
  }
  free(in->block);
  free(in->filled);
  *in = (struct inputs){0};
}
