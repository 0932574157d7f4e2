/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of the arguments. */
#include "tensor_shapes.h"

#include <string.h>

enum argument_use { USE_IN, USE_OUT, USE_INOUT, USE_DEVICE, USE_SCALAR };

#define ARG(name, type, align, dtype, use, bytes)                                                                                          \
  [ARG_##name] = {#name, DTYPE_##dtype, USE_##use == USE_SCALAR || ARG_##name == ARG_epoch, USE_##use == USE_OUT},
const struct argument_shape argument_shapes[FRONT_ARGS] = {
#include "front_args.def"
};
#undef ARG

int argument_by_name(const char *name) {
  int arg = 0;
  while (arg < FRONT_ARGS && strcmp(argument_shapes[arg].name, name) != 0) arg++;
  return arg;
}

static uint32_t two(uint64_t shape[2], uint64_t rows, uint64_t columns) {
  shape[0] = rows;
  shape[1] = columns;
  return 2;
}

static uint32_t one(uint64_t shape[2], uint64_t length) {
  shape[0] = length;
  return 1;
}

static uint64_t known(int64_t stride) { return stride > 0 ? (uint64_t)stride : ANY_LENGTH; }

uint32_t argument_shape(const struct inputs *in, enum front_arg arg, uint64_t shape[2]) {
  uint64_t tokens = (uint64_t)in->key.tokens, q_rows = geometry_q_rows((uint32_t)in->key.tp);
  uint64_t keys = geometry_keys((uint32_t)in->key.ratio, (uint32_t)in->key.window);
  switch (arg) {
  case ARG_x:
    return two(shape, tokens, known(in->x_stride));
  case ARG_wqkv:
    return two(shape, QKV_ROWS, HIDDEN);
  case ARG_wqkv_s:
    return two(shape, QKV_ROWS / 32, HIDDEN / 32);
  case ARG_wqb:
    return two(shape, q_rows, Q_RANK);
  case ARG_wqb_s:
    return two(shape, q_rows / 32, Q_RANK / 32);
  case ARG_swa_idx:
    return two(shape, tokens, (uint64_t)in->key.window);
  case ARG_topk:
    return two(shape, tokens, TOPK);
  case ARG_comp_bt:
    return two(shape, in->requests ? in->requests : ANY_LENGTH, known(in->bt_stride));
  case ARG_cos_sin:
    return two(shape, in->positions ? in->positions : ANY_LENGTH, ROPE);
  case ARG_qn_w:
    return one(shape, Q_RANK);
  case ARG_kvn_w:
    return one(shape, KV_DIM);
  case ARG_swa:
    return two(shape, in->blocks ? in->blocks : ANY_LENGTH, known(in->swa_stride));
  case ARG_q:
    return two(shape, tokens, q_rows);
  case ARG_kt:
    return two(shape, tokens, keys);
  case ARG_klen:
    return one(shape, 2 * tokens);
  case ARG_qr_out:
    return two(shape, tokens, Q_RANK);
  case ARG_tl:
    return two(shape, GRID, 6);
  case ARG_pos:
  case ARG_slot:
  case ARG_swa_lens:
  case ARG_t2r:
    return one(shape, tokens);
  default:
    return one(shape, 1);
  }
}
