/* SPDX-License-Identifier: Apache-2.0 */
/* struct front_args is the kernarg block: every offset is held against front_args.def here. */
#include "kernarg.h"

#include <string.h>

#include "geometry.h"
#include "status.h"

/* The same fields in the table's order and types: natural alignment gives the ABI's offsets. */
#define C_PTR void *
#define C_I32 int32_t
#define C_I64 int64_t
struct by_table {
#define ARG(name, type, align, dtype, use, bytes) C_##type name;
#include "front_args.def"
#undef ARG
};

#define ARG(name, type, align, dtype, use, bytes)                                                                                          \
  _Static_assert(offsetof(struct by_table, name) == offsetof(struct front_args, name), "front_args: offset of " #name);                    \
  _Static_assert(sizeof(((struct by_table *)0)->name) == sizeof(((struct front_args *)0)->name), "front_args: size of " #name);
#include "front_args.def"
#undef ARG
_Static_assert(sizeof(struct front_args) == KERNARG_BYTES, "front_args: size of the block");
_Static_assert(offsetof(struct front_args, x_stride) == 56 && offsetof(struct front_args, swa_stride) == 152 &&
                   offsetof(struct front_args, guard) == 208,
    "front_args: hand-counted offsets");

#define USE_IN     FRONT_ARGUMENT_IN
#define USE_OUT    FRONT_ARGUMENT_OUT
#define USE_INOUT  FRONT_ARGUMENT_INOUT
#define USE_DEVICE FRONT_ARGUMENT_INSTANCE
#define USE_SCALAR FRONT_ARGUMENT_SCALAR
const struct kernarg_argument kernarg_arguments[KERNARG_ARGUMENTS] = {
#define ARG(name, type, align, dtype, use, bytes) {#name, offsetof(struct front_args, name), align, USE_##use},
#include "front_args.def"
#undef ARG
};

/* Does a kernel of this layer touch what the pointer points to, or use the number? */
bool kernarg_needed(const struct layer *layer, uint32_t argument) {
  switch (argument) {
  case KERNARG_kt:
  case KERNARG_klen:
  case KERNARG_swa_idx:
  case KERNARG_swa_lens:
    return !layer->index;
  case KERNARG_topk:
  case KERNARG_t2r:
  case KERNARG_comp_bt:
  case KERNARG_bt_stride:
  case KERNARG_comp_block:
    return !layer->index && layer->ratio > 0;
  case KERNARG_qr_out:
    return layer->index;
  case KERNARG_tl:
    return layer->timeline;
  case KERNARG_x:
  case KERNARG_x_stride:
    return !layer->x8_given;
  case KERNARG_guard:
    return layer->guard;
  default:
    return true;
  }
}

uint64_t kernarg_bytes(const struct layer *layer, uint32_t argument) {
  const uint64_t S = (uint64_t)layer->tokens, WINDOW = (uint64_t)layer->window, SCRATCH = layer_scratch_bytes(layer);
  const uint64_t Q_ROWS = geometry_q_rows((uint32_t)layer->tp), KEYS = geometry_keys((uint32_t)layer->ratio, (uint32_t)layer->window);
  const uint64_t all[KERNARG_ARGUMENTS] = {
#define ARG(name, type, align, dtype, use, bytes) bytes,
#include "front_args.def"
#undef ARG
  };
  return all[argument];
}

uint64_t kernarg_span(const struct layer *layer, const struct front_args *args, uint32_t argument) {
  switch (argument) {
  case KERNARG_x:
    return ((uint64_t)(layer->tokens - 1) * (uint64_t)args->x_stride + HIDDEN) * 2;
  case KERNARG_comp_bt:
    return 4;
  case KERNARG_cos_sin:
    return ROPE * 4;
  case KERNARG_swa:
    return (uint64_t)KV_RECORD_BYTES * (uint64_t)args->swa_block;
  default:
    return kernarg_bytes(layer, argument);
  }
}

static enum front_status check_scalars(const struct layer *layer, const struct front_args *args) {
  if (!layer->x8_given && (args->x_stride < HIDDEN || args->x_stride % 8))
    return status_fail(FRONT_ERR_ARGUMENT, "x_stride is %d: it must be a multiple of 8 and at least %d", args->x_stride, HIDDEN);
  if (args->swa_block < 1) return status_fail(FRONT_ERR_ARGUMENT, "swa_block is %d: it must be at least 1", args->swa_block);
  if (args->swa_stride % 8 || args->swa_stride < (int64_t)KV_RECORD_BYTES * args->swa_block)
    return status_fail(FRONT_ERR_ARGUMENT, "swa_stride is %lld: it must be a multiple of 8 and at least %d * swa_block = %lld",
        (long long)args->swa_stride, KV_RECORD_BYTES, (long long)KV_RECORD_BYTES * args->swa_block);
  if (layer->index || !layer->ratio) return FRONT_OK;
  if (args->comp_block < 1) return status_fail(FRONT_ERR_ARGUMENT, "comp_block is %d: it must be at least 1", args->comp_block);
  if (args->bt_stride < 0) return status_fail(FRONT_ERR_ARGUMENT, "bt_stride is %d: it must not be negative", args->bt_stride);
  return FRONT_OK;
}

enum front_status kernarg_check(const struct layer *layer, const struct front_args *args) {
  for (uint32_t i = 0; i < KERNARG_ARGUMENTS; i++) {
    const struct kernarg_argument *argument = &kernarg_arguments[i];
    if (argument->use == FRONT_ARGUMENT_SCALAR) continue;
    const void *address;
    memcpy(&address, (const char *)args + argument->offset, sizeof address);
    const char *name = argument->name;
    if (argument->use == FRONT_ARGUMENT_INSTANCE) {
      if (address) return status_fail(FRONT_ERR_ARGUMENT, "%s is the instance's: leave it null", name);
      continue;
    }
    if (!address && kernarg_needed(layer, i)) return status_fail(FRONT_ERR_ARGUMENT, "%s is null: this kernel uses it", name);
    if ((uintptr_t)address % argument->align)
      return status_fail(FRONT_ERR_ARGUMENT, "%s is at %p: it must be aligned to %u bytes", name, address, argument->align);
  }
  return check_scalars(layer, args);
}

enum front_status kernarg_check_sizes(
    const struct layer *layer, const struct front_args *args, kernarg_memory *behind, const void *context) {
  for (uint32_t i = 0; i < KERNARG_ARGUMENTS; i++) {
    const struct kernarg_argument *argument = &kernarg_arguments[i];
    const void *address;
    if (argument->use == FRONT_ARGUMENT_SCALAR || !kernarg_needed(layer, i)) continue;
    memcpy(&address, (const char *)args + argument->offset, sizeof address);
    if (!address) continue;
    uint64_t needed = kernarg_span(layer, args, i), there = behind(context, address);
    if (needed > there)
      return status_fail(FRONT_ERR_ARGUMENT, "%s has %llu bytes behind %p: this kernel needs %llu", argument->name,
          (unsigned long long)there, address, (unsigned long long)needed);
  }
  return FRONT_OK;
}
