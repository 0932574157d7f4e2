/* SPDX-License-Identifier: Apache-2.0 */
/* Writes safetensors. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "safetensors.h"

static json_t *describe(const struct tensor *tensor, uint64_t begin) {
  json_t *shape = json_array();
  for (uint32_t i = 0; i < tensor->rank; i++) json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i]));
  return json_pack("{s:s, s:o, s:[I, I]}", "dtype", tensor_dtype_name(tensor->dtype), "shape", shape, "data_offsets", (json_int_t)begin,
      (json_int_t)(begin + tensor->bytes));
}

/* Wide types first, so that every tensor is aligned for its type. Padded to 8 bytes, for the same reason. */
static char *make_header(const struct tensor *tensors, size_t count, const struct tensor_metadata *metadata, size_t metadata_count) {
  json_t *header = json_object();
  json_t *words = json_object();
  for (size_t i = 0; i < metadata_count; i++) json_object_set_new(words, metadata[i].name, json_string(metadata[i].value));
  if (metadata_count) json_object_set(header, "__metadata__", words);
  json_decref(words);
  uint64_t at = 0;
  bool good = true;
  for (uint32_t width = 8; width > 0; width /= 2) {
    for (size_t i = 0; i < count; i++) {
      if (tensor_dtype_bytes(tensors[i].dtype) != width) continue;
      good &= json_object_set_new(header, tensors[i].name, describe(&tensors[i], at)) == 0;
      at += tensors[i].bytes;
    }
  }
  char *text = good ? json_dumps(header, JSON_COMPACT) : NULL;
  json_decref(header);
  size_t length = text ? strlen(text) : 0, padded = (length + 7) / 8 * 8;
  char *wide = text ? realloc(text, padded + 1) : NULL;
  if (!wide) {
    free(text);
    return NULL;
  }
  memset(wide + length, ' ', padded - length);
  wide[padded] = 0;
  return wide;
}

static bool check_tensors(const struct tensor *tensors, size_t count, char *error) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bytes = tensor_dtype_bytes(tensors[i].dtype);
    for (uint32_t d = 0; d < tensors[i].rank; d++) bytes *= tensors[i].shape[d];
    if (bytes == tensors[i].bytes) continue;
    snprintf(error, FRONTGEN_ERROR_MAX, "tensor %.60s: %llu bytes, its shape needs %llu", tensors[i].name,
        (unsigned long long)tensors[i].bytes, (unsigned long long)bytes);
    return false;
  }
  return true;
}

/* The file's parts in make_header()'s order. */
static size_t list_parts(
    const unsigned char prefix[8], const char *header, const struct tensor *tensors, size_t count, struct output_part *part) {
  size_t parts = 0;
  part[parts++] = (struct output_part){prefix, 8};
  part[parts++] = (struct output_part){header, strlen(header)};
  for (uint32_t width = 8; width > 0; width /= 2)
    for (size_t i = 0; i < count; i++)
      if (tensor_dtype_bytes(tensors[i].dtype) == width) part[parts++] = (struct output_part){tensors[i].data, tensors[i].bytes};
  return parts;
}

enum frontgen_status tensor_file_write(const char *path, const struct tensor *tensors, size_t count, const struct tensor_metadata *metadata,
    size_t metadata_count, char error[FRONTGEN_ERROR_MAX]) {
  if (!check_tensors(tensors, count, error)) return FRONTGEN_USAGE;
  char *header = make_header(tensors, count, metadata, metadata_count);
  struct output_part *part = header ? calloc(count + 2, sizeof *part) : NULL;
  enum frontgen_status status = FRONTGEN_ENVIRONMENT;
  if (part) {
    unsigned char prefix[8];
    uint64_t length = strlen(header);
    for (unsigned i = 0; i < 8; i++) prefix[i] = (unsigned char)(length >> (8 * i));
    status = output_write_parts(path, part, list_parts(prefix, header, tensors, count, part), error);
  } else {
    snprintf(error, FRONTGEN_ERROR_MAX, "cannot write %.80s: no memory for its header", path);
  }
  free(part);
  free(header);
  return status;
}
