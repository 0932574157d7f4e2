/* SPDX-License-Identifier: Apache-2.0 */
/* Takes arguments from a file's tensors. */
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refuse.h"
#include "tensor_shapes.h"

static bool no_memory(char *error) { return refuse(error, "no memory for the inputs"); }

/* "[8, 5120]"; a length that the file may choose is "n". */
static void print_shape(const uint64_t *shape, uint32_t rank, char *text, size_t bytes) {
  size_t used = (size_t)snprintf(text, bytes, "[");
  for (uint32_t i = 0; i < rank && used < bytes; i++) {
    char length[24] = "n";
    if (shape[i] != ANY_LENGTH) snprintf(length, sizeof length, "%llu", (unsigned long long)shape[i]);
    used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "", length);
  }
  if (used < bytes) snprintf(text + used, bytes - used, "]");
}

static bool check_tensor(const struct tensor *tensor, enum tensor_dtype dtype, const uint64_t *shape, uint32_t rank, char *error) {
  bool good = tensor->dtype == dtype && tensor->rank == rank;
  for (uint32_t i = 0; good && i < rank; i++) good = shape[i] == ANY_LENGTH ? tensor->shape[i] > 0 : tensor->shape[i] == shape[i];
  if (good) return true;
  char wanted[64], found[64];
  print_shape(shape, rank, wanted, sizeof wanted);
  print_shape(tensor->shape, tensor->rank, found, sizeof found);
  return refuse(error, "tensor %.40s is %s %s: this key needs %s %s", tensor->name, tensor_dtype_name(tensor->dtype), found,
      tensor_dtype_name(dtype), wanted);
}

static bool take_scalar(const struct tensor *tensor, struct inputs *in, enum front_arg arg, char *error) {
  const uint64_t one = 1;
  if (!check_tensor(tensor, argument_shapes[arg].dtype, &one, 1, error)) return false;
  int32_t word;
  memcpy(&word, tensor->data, 4);
  switch (arg) {
  case ARG_epoch:
    memcpy(&in->epoch, tensor->data, 4);
    in->has_epoch = true;
    break;
  case ARG_x_stride:
    in->x_stride = word;
    break;
  case ARG_bt_stride:
    in->bt_stride = word;
    break;
  case ARG_swa_block:
    in->swa_block = word;
    break;
  case ARG_comp_block:
    in->comp_block = word;
    break;
  default:
    memcpy(&in->swa_stride, tensor->data, 8);
    break;
  }
  in->given[arg] = true;
  return true;
}

/* The stride that a two-dimensional tensor's second length is. */
static bool take_stride(const struct tensor *tensor, struct inputs *in, enum front_arg stride_arg, char *error) {
  uint64_t length = tensor->shape[1];
  if (length > INT32_MAX)
    return refuse(error, "tensor %.40s: rows of %llu elements are too long", tensor->name, (unsigned long long)length);
  int64_t stride = stride_arg == ARG_x_stride ? in->x_stride : stride_arg == ARG_bt_stride ? in->bt_stride : in->swa_stride;
  if (in->given[stride_arg] && stride != (int64_t)length)
    return refuse(error, "tensor %.40s has rows of %llu, but %s is %lld", tensor->name, (unsigned long long)length,
        argument_shapes[stride_arg].name, (long long)stride);
  in->given[stride_arg] = true;
  if (stride_arg == ARG_x_stride) in->x_stride = (int32_t)length;
  if (stride_arg == ARG_bt_stride) in->bt_stride = (int32_t)length;
  if (stride_arg == ARG_swa_stride) in->swa_stride = (int64_t)length;
  return true;
}

static bool take_array(const struct tensor *tensor, struct inputs *in, enum front_arg arg, char *error) {
  uint64_t shape[2];
  uint32_t rank = argument_shape(in, arg, shape);
  if (!check_tensor(tensor, argument_shapes[arg].dtype, shape, rank, error)) return false;
  if (arg == ARG_x && !take_stride(tensor, in, ARG_x_stride, error)) return false;
  if (arg == ARG_comp_bt && !take_stride(tensor, in, ARG_bt_stride, error)) return false;
  if (arg == ARG_x && in->x_stride < HIDDEN) return refuse(error, "tensor x has rows of %d elements: %d are needed", in->x_stride, HIDDEN);
  if (!inputs_allocate(in, arg, tensor->bytes)) return no_memory(error);
  memcpy(in->data[arg], tensor->data, tensor->bytes);
  if (arg == ARG_x) in->bytes[arg] = inputs_x_bytes(in);
  if (arg == ARG_cos_sin) in->positions = tensor->shape[0];
  if (arg == ARG_comp_bt) in->requests = tensor->shape[0];
  in->given[arg] = true;
  return true;
}

static bool take_block_numbers(const struct tensor_file *file, struct inputs *in, char *error) {
  const struct tensor *numbers = tensor_file_find(file, "swa.blocks");
  const uint64_t count = in->blocks;
  if (numbers && !check_tensor(numbers, DTYPE_I64, &count, 1, error)) return false;
  for (size_t i = 0; i < in->blocks; i++) {
    int64_t number = (int64_t)i;
    if (numbers) memcpy(&number, (const char *)numbers->data + 8 * i, 8);
    if (number < 0 || (i && number <= in->block[i - 1].number))
      return refuse(error, "tensor swa.blocks: entry %zu is %lld: block numbers rise", i, (long long)number);
    int64_t bytes; /* a block is never empty: so many blocks are more than a TiB, and number + 1 is a number */
    if (number >= 1ll << 40 || __builtin_mul_overflow(number + 1, in->swa_stride, &bytes) || bytes > 1ll << 40)
      return refuse(error, "tensor swa.blocks: block %lld would make a cache of more than a TiB", (long long)number);
    in->block[i].number = number;
    in->window_blocks = number + 1;
  }
  in->bytes[ARG_swa] = (uint64_t)in->window_blocks * (uint64_t)in->swa_stride;
  return true;
}

static bool take_window_cache(const struct tensor_file *file, const struct tensor *tensor, struct inputs *in, char *error) {
  uint64_t shape[2];
  uint32_t rank = argument_shape(in, ARG_swa, shape);
  if (!check_tensor(tensor, DTYPE_U8, shape, rank, error) || !take_stride(tensor, in, ARG_swa_stride, error)) return false;
  size_t stride = (size_t)in->swa_stride;
  in->block = calloc((size_t)tensor->shape[0], sizeof *in->block);
  if (!in->block) return no_memory(error);
  for (; in->blocks < tensor->shape[0]; in->blocks++) {
    struct window_block *block = &in->block[in->blocks];
    block->before = malloc(stride);
    block->after = calloc(1, stride);
    if (!block->before || !block->after) {
      free(block->before);
      free(block->after);
      return no_memory(error);
    }
    memcpy(block->before, (const char *)tensor->data + in->blocks * stride, stride);
  }
  in->given[ARG_swa] = true;
  return take_block_numbers(file, in, error);
}

static bool is_result(const char *name) {
  static const char *const names[] = {"q", "kt", "klen", "qr_out", "tl", "swa.after", "swa.blocks"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!strcmp(name, names[i])) return true;
  return !strncmp(name, "scratch.", 8);
}

static bool take_tensor(const struct tensor_file *file, const struct tensor *tensor, bool scalars, struct inputs *in, char *error) {
  int arg = argument_by_name(tensor->name);
  if (is_result(tensor->name)) return true;
  if (arg == FRONT_ARGS || arg == ARG_scratch || arg == ARG_guard)
    return refuse(error, "tensor %.60s is no argument that a file may give", tensor->name);
  bool scalar = argument_shapes[arg].scalar;
  if (scalar != scalars) return true;
  if (scalar) return take_scalar(tensor, in, (enum front_arg)arg, error);
  if (arg == ARG_swa) return take_window_cache(file, tensor, in, error);
  return take_array(tensor, in, (enum front_arg)arg, error);
}

bool tensors_take(const struct tensor_file *file, struct inputs *in, char error[INPUT_ERROR_MAX]) {
  if (tensor_file_find(file, "swa.blocks") && !tensor_file_find(file, "swa"))
    return refuse(error, "tensor swa.blocks numbers the blocks of swa, which the file does not have: give both");
  for (int scalars = 1; scalars >= 0; scalars--)
    for (size_t i = 0; i < file->count; i++)
      if (!take_tensor(file, &file->tensor[i], scalars, in, error)) return false;
  return true;
}
