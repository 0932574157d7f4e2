/* SPDX-License-Identifier: Apache-2.0 */
/* Writes inputs and results as a safetensors file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor_shapes.h"
#include "tensors.h"

enum { DUMP_TENSORS_MAX = (int)FRONT_ARGS + (int)SCRATCH_REGIONS + 4 };

struct dump {
  struct tensor tensor[DUMP_TENSORS_MAX];
  size_t count;
  char region[SCRATCH_REGIONS][24]; /* names */
  int32_t scalar[FRONT_ARGS];
  int64_t swa_stride;
  uint8_t *before, *after; /* blocks, one behind the other */
  int64_t *numbers;
};

void tensors_key_text(const struct front_key *key, char text[KEY_ERROR_MAX]) {
  const struct {
    const char *name, *suffix;
    int value, fallback;
  } fields[] = {
#define FIELD(name, lowest, highest, fallback, suffix, ready) {#name, suffix, key->name, fallback},
#include "key_fields.def"
#undef FIELD
  };
  int used = 0;
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    bool is_switch = fields[i].suffix || !strcmp(fields[i].name, "guard");
    if (is_switch && fields[i].value == fields[i].fallback) continue;
    used += snprintf(text + used, (size_t)(KEY_ERROR_MAX - used), "%s%s=%d", used ? "," : "", fields[i].name, fields[i].value);
  }
}

static void add(struct dump *dump, const char *name, enum tensor_dtype dtype, uint32_t rank, const uint64_t *shape, const void *data) {
  struct tensor *tensor = &dump->tensor[dump->count++];
  *tensor = (struct tensor){.name = name, .dtype = dtype, .rank = rank, .data = data, .bytes = tensor_dtype_bytes(dtype)};
  for (uint32_t i = 0; i < rank; i++) {
    tensor->shape[i] = shape[i];
    tensor->bytes *= shape[i];
  }
}

static void add_scalars(struct dump *dump, const struct inputs *in, uint32_t epoch) {
  const uint64_t one = 1;
  dump->scalar[ARG_epoch] = (int32_t)epoch;
  dump->scalar[ARG_x_stride] = in->x_stride;
  dump->scalar[ARG_bt_stride] = in->bt_stride;
  dump->scalar[ARG_swa_block] = in->swa_block;
  dump->scalar[ARG_comp_block] = in->comp_block;
  dump->swa_stride = in->swa_stride;
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    if (!argument_shapes[arg].scalar) continue;
    const void *data = arg == ARG_swa_stride ? (const void *)&dump->swa_stride : &dump->scalar[arg];
    if (arg != ARG_bt_stride || in->bt_stride) add(dump, argument_shapes[arg].name, argument_shapes[arg].dtype, 1, &one, data);
  }
}

static void add_arrays(struct dump *dump, const struct inputs *in) {
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    const void *data = argument_shapes[arg].output ? in->left[arg] : in->data[arg];
    if (argument_shapes[arg].scalar || !data) continue;
    uint64_t shape[2];
    uint32_t rank = argument_shape(in, (enum front_arg)arg, shape);
    add(dump, argument_shapes[arg].name, argument_shapes[arg].dtype, rank, shape, data);
  }
}

static bool add_window_cache(struct dump *dump, const struct inputs *in) {
  if (!in->blocks) return true;
  size_t stride = (size_t)in->swa_stride;
  dump->before = malloc(in->blocks * stride);
  dump->after = malloc(in->blocks * stride);
  dump->numbers = malloc(in->blocks * sizeof *dump->numbers);
  if (!dump->before || !dump->after || !dump->numbers) return false;
  for (size_t i = 0; i < in->blocks; i++) {
    memcpy(dump->before + i * stride, in->block[i].before, stride);
    memcpy(dump->after + i * stride, in->block[i].after, stride);
    dump->numbers[i] = in->block[i].number;
  }
  const uint64_t shape[2] = {in->blocks, stride};
  add(dump, "swa", DTYPE_U8, 2, shape, dump->before);
  add(dump, "swa.after", DTYPE_U8, 2, shape, dump->after);
  add(dump, "swa.blocks", DTYPE_I64, 1, shape, dump->numbers);
  return true;
}

static void add_scratch(struct dump *dump, const struct plan *plan, const uint8_t *scratch) {
  for (int i = 0; i < SCRATCH_REGIONS; i++) {
    const uint64_t bytes = plan->scratch.region[i].bytes;
    snprintf(dump->region[i], sizeof dump->region[i], "scratch.%s", plan->scratch.region[i].name);
    add(dump, dump->region[i], DTYPE_U8, 1, &bytes, scratch + plan->scratch.region[i].offset);
  }
}

enum frontgen_status tensors_dump(const char *path, const struct plan *plan, const struct inputs *in, const struct tensors_results *results,
    char error[FRONTGEN_ERROR_MAX]) {
  enum frontgen_status status = FRONTGEN_ENVIRONMENT;
  struct dump *dump = calloc(1, sizeof *dump);
  bool good = dump != NULL;
  if (good) {
    add_scalars(dump, in, results->epoch_before);
    add_arrays(dump, in);
    good = add_window_cache(dump, in);
  }
  if (!good) snprintf(error, FRONTGEN_ERROR_MAX, "cannot write %.80s: no memory for the dump", path);
  if (good) {
    add_scratch(dump, plan, results->scratch);
    char key[KEY_ERROR_MAX], seed[24];
    tensors_key_text(&plan->key, key);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)in->seed);
    const struct tensor_metadata metadata[] = {
        {"key", key}, {"arch", plan->target->name}, {"seed", seed}, {"case", input_case_name(in->which)}};
    status = tensor_file_write(path, dump->tensor, dump->count, metadata, sizeof metadata / sizeof metadata[0], error);
  }
  if (dump) {
    free(dump->before);
    free(dump->after);
    free(dump->numbers);
  }
  free(dump);
  return status;
}
