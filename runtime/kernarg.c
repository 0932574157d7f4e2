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

enum argument_type { TYPE_PTR, TYPE_I32, TYPE_I64 };
enum argument_use { USE_IN, USE_OUT, USE_INOUT, USE_DEVICE, USE_SCALAR };

static const struct {
  const char *name;
  size_t offset;
  uint32_t align;
  enum argument_type type;
  enum argument_use use;
} arguments[] = {
#define ARG(name, type, align, dtype, use, bytes) {#name, offsetof(struct front_args, name), align, TYPE_##type, USE_##use},
#include "front_args.def"
#undef ARG
};

static bool is_one_of(const char *name, const char *const *list) {
  while (*list && strcmp(name, *list) != 0) list++;
  return *list != NULL;
}

/* Does a kernel of this layer touch what the pointer points to? */
static bool is_used(const struct layer *layer, const char *name) {
  static const char *const keys[] = {"kt", "klen", "swa_idx", "swa_lens", NULL};
  static const char *const compressed[] = {"topk", "t2r", "comp_bt", NULL};
  if (is_one_of(name, keys)) return !layer->index;
  if (is_one_of(name, compressed)) return !layer->index && layer->ratio > 0;
  if (!strcmp(name, "qr_out")) return layer->index;
  if (!strcmp(name, "tl")) return layer->timeline;
  if (!strcmp(name, "x")) return !layer->x8_given;
  return true;
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
  for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
    if (arguments[i].type != TYPE_PTR) continue;
    const void *address;
    memcpy(&address, (const char *)args + arguments[i].offset, sizeof address);
    const char *name = arguments[i].name;
    if (arguments[i].use == USE_DEVICE) {
      if (address) return status_fail(FRONT_ERR_ARGUMENT, "%s is the instance's: leave it null", name);
      continue;
    }
    if (!address && is_used(layer, name)) return status_fail(FRONT_ERR_ARGUMENT, "%s is null: this kernel uses it", name);
    if ((uintptr_t)address % arguments[i].align)
      return status_fail(FRONT_ERR_ARGUMENT, "%s is at %p: it must be aligned to %u bytes", name, address, arguments[i].align);
  }
  return check_scalars(layer, args);
}
