/* SPDX-License-Identifier: Apache-2.0 */
/* Reads safetensors, strictly. */
#include "safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  const char *name;
  uint32_t bytes;
} dtypes[DTYPES] = {
    [DTYPE_BOOL] = {"BOOL", 1},
    [DTYPE_U8] = {"U8", 1},
    [DTYPE_I8] = {"I8", 1},
    [DTYPE_F8_E4M3] = {"F8_E4M3", 1},
    [DTYPE_F8_E5M2] = {"F8_E5M2", 1},
    [DTYPE_F8_E8M0] = {"F8_E8M0", 1},
    [DTYPE_I16] = {"I16", 2},
    [DTYPE_U16] = {"U16", 2},
    [DTYPE_F16] = {"F16", 2},
    [DTYPE_BF16] = {"BF16", 2},
    [DTYPE_I32] = {"I32", 4},
    [DTYPE_U32] = {"U32", 4},
    [DTYPE_F32] = {"F32", 4},
    [DTYPE_I64] = {"I64", 8},
    [DTYPE_U64] = {"U64", 8},
    [DTYPE_F64] = {"F64", 8},
};

const char *tensor_dtype_name(enum tensor_dtype dtype) { return dtypes[dtype].name; }

uint32_t tensor_dtype_bytes(enum tensor_dtype dtype) { return dtypes[dtype].bytes; }

enum tensor_dtype tensor_dtype_by_name(const char *name) {
  unsigned i = 0;
  while (i < DTYPES && strcmp(dtypes[i].name, name) != 0) i++;
  return (enum tensor_dtype)i;
}

static bool parse_dtype(const json_t *entry, struct tensor *tensor, char *error) {
  const char *name = json_string_value(json_object_get(entry, "dtype"));
  if (!name) return refuse(error, "tensor \"%.60s\" has no dtype", tensor->name);
  tensor->dtype = tensor_dtype_by_name(name);
  if (tensor->dtype == DTYPES) return refuse(error, "tensor \"%.60s\" has the unknown dtype \"%.30s\"", tensor->name, name);
  return true;
}

/* Also the bytes that the shape asks for, in tensor->bytes. */
static bool parse_shape(const json_t *entry, struct tensor *tensor, char *error) {
  const json_t *shape = json_object_get(entry, "shape");
  if (!json_is_array(shape)) return refuse(error, "tensor \"%.60s\" has no shape", tensor->name);
  if (json_array_size(shape) > TENSOR_RANK_MAX)
    return refuse(error, "tensor \"%.60s\" has %zu dimensions: at most %d are read", tensor->name, json_array_size(shape), TENSOR_RANK_MAX);
  tensor->rank = (uint32_t)json_array_size(shape);
  tensor->bytes = dtypes[tensor->dtype].bytes;
  for (uint32_t i = 0; i < tensor->rank; i++) {
    const json_t *length = json_array_get(shape, i);
    if (!json_is_integer(length) || json_integer_value(length) < 0)
      return refuse(error, "tensor \"%.60s\": dimension %u is not a count", tensor->name, i);
    tensor->shape[i] = (uint64_t)json_integer_value(length);
    if (__builtin_mul_overflow(tensor->bytes, tensor->shape[i], &tensor->bytes))
      return refuse(error, "tensor \"%.60s\": its shape is larger than any memory", tensor->name);
  }
  return true;
}

static bool parse_place(const json_t *entry, const char *data, uint64_t data_bytes, struct tensor *tensor, char *error) {
  const json_t *place = json_object_get(entry, "data_offsets");
  const json_t *first = json_array_get(place, 0), *last = json_array_get(place, 1);
  if (json_array_size(place) != 2 || !json_is_integer(first) || !json_is_integer(last))
    return refuse(error, "tensor \"%.60s\" has no two data_offsets", tensor->name);
  long long begin = json_integer_value(first), end = json_integer_value(last);
  if (begin < 0 || end < begin || (uint64_t)end > data_bytes)
    return refuse(error, "tensor \"%.60s\" lies at bytes %lld to %lld of %llu", tensor->name, begin, end, (unsigned long long)data_bytes);
  if ((uint64_t)(end - begin) != tensor->bytes)
    return refuse(error, "tensor \"%.60s\" has %lld bytes: its shape and dtype need %llu", tensor->name, end - begin,
        (unsigned long long)tensor->bytes);
  tensor->data = data + begin;
  return true;
}

static bool parse_tensor(const char *name, const json_t *entry, const char *data, uint64_t data_bytes, struct tensor *tensor, char *error) {
  *tensor = (struct tensor){.name = name};
  if (!json_is_object(entry)) return refuse(error, "tensor \"%.60s\" is not described by an object", name);
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)entry, key, value) {
    if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0 && strcmp(key, "data_offsets") != 0)
      return refuse(error, "tensor \"%.60s\" has the unknown property \"%.30s\"", name, key);
  }
  return parse_dtype(entry, tensor, error) && parse_shape(entry, tensor, error) && parse_place(entry, data, data_bytes, tensor, error);
}

static bool parse_metadata(json_t *entry, struct tensor_file *file, char *error) {
  if (!json_is_object(entry)) return refuse(error, "__metadata__ is not an object");
  file->metadata = calloc(json_object_size(entry) + 1, sizeof *file->metadata);
  if (!file->metadata) return refuse(error, "no memory for its metadata");
  const char *key;
  json_t *value;
  json_object_foreach(entry, key, value) {
    if (!json_is_string(value)) return refuse(error, "metadata \"%.60s\" is not a string", key);
    file->metadata[file->metadata_count++] = (struct tensor_metadata){key, json_string_value(value)};
  }
  return true;
}

static int by_place(const void *a, const void *b) {
  const struct tensor *x = a, *y = b;
  if (x->data != y->data) return (const char *)x->data < (const char *)y->data ? -1 : 1;
  return x->bytes == y->bytes ? 0 : x->bytes < y->bytes ? -1 : 1; /* empty ones first */
}

/* Every byte behind the header belongs to exactly one tensor. */
static bool check_cover(const struct tensor_file *file, const char *data, uint64_t data_bytes, char *error) {
  uint64_t at = 0;
  for (size_t i = 0; i < file->count; i++) {
    const struct tensor *t = &file->tensor[i];
    uint64_t begin = (uint64_t)((const char *)t->data - data);
    if (begin < at) return refuse(error, "tensor \"%.60s\" overlaps \"%.60s\"", t->name, file->tensor[i - 1].name);
    if (begin > at) return refuse(error, "bytes %llu to %llu belong to no tensor", (unsigned long long)at, (unsigned long long)begin);
    at = begin + t->bytes;
  }
  if (at != data_bytes)
    return refuse(error, "its tensors end at byte %llu of %llu", (unsigned long long)at, (unsigned long long)data_bytes);
  return true;
}

static bool parse_entries(json_t *header, const char *data, uint64_t data_bytes, struct tensor_file *file, char *error) {
  file->tensor = calloc(json_object_size(header) + 1, sizeof *file->tensor);
  if (!file->tensor) return refuse(error, "no memory for %zu tensors", json_object_size(header));
  const char *name;
  json_t *entry;
  json_object_foreach(header, name, entry) {
    bool good = !strcmp(name, "__metadata__") ? parse_metadata(entry, file, error)
                                              : parse_tensor(name, entry, data, data_bytes, &file->tensor[file->count++], error);
    if (!good) return false;
  }
  qsort(file->tensor, file->count, sizeof *file->tensor, by_place);
  return check_cover(file, data, data_bytes, error);
}

bool tensor_file_parse(const void *bytes, size_t size, struct tensor_file *file, char error[TENSOR_ERROR_MAX]) {
  *file = (struct tensor_file){0};
  const unsigned char *at = bytes;
  if (size < 8) return refuse(error, "%zu bytes are no safetensors file", size);
  uint64_t length = 0;
  for (unsigned i = 0; i < 8; i++) length |= (uint64_t)at[i] << (8 * i);
  if (length > TENSOR_HEADER_MAX)
    return refuse(error, "it claims a header of %llu bytes: at most %d are read", (unsigned long long)length, TENSOR_HEADER_MAX);
  if (length > size - 8) return refuse(error, "it claims a header of %llu bytes, and has %zu", (unsigned long long)length, size - 8);
  if (!length || at[8] != '{') return refuse(error, "its header does not begin with {");
  json_error_t where;
  json_t *header = json_loadb((const char *)at + 8, (size_t)length, JSON_REJECT_DUPLICATES, &where);
  if (!header) return refuse(error, "its header is not JSON, at byte %d: %.100s", where.position, where.text);
  file->header = header;
  if (parse_entries(header, (const char *)at + 8 + length, size - 8 - length, file, error)) return true;
  tensor_file_free(file);
  return false;
}

static bool read_all(FILE *in, const char *path, void **bytes, size_t *size, char *error) {
  struct stat st;
  if (fstat(fileno(in), &st) != 0) return refuse(error, "%.100s: %s", path, strerror(errno));
  if (!S_ISREG(st.st_mode)) return refuse(error, "%.100s is no plain file: name a safetensors file", path);
  *size = (size_t)st.st_size;
  *bytes = malloc(*size + 1);
  if (!*bytes) return refuse(error, "%.100s: no memory for its %zu bytes", path, *size);
  if (fread(*bytes, 1, *size, in) == *size) return true;
  refuse(error, "%.100s: %s", path, ferror(in) ? strerror(errno) : "it became shorter while it was read");
  free(*bytes);
  return false;
}

bool tensor_file_read(const char *path, struct tensor_file *file, char error[TENSOR_ERROR_MAX]) {
  *file = (struct tensor_file){0};
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe without a writer would hold it for ever */
  FILE *in = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
  if (!in && descriptor >= 0) close(descriptor);
  if (!in) return refuse(error, "%.100s: %s: name a safetensors file", path, strerror(errno));
  void *bytes = NULL;
  size_t size = 0;
  bool good = read_all(in, path, &bytes, &size, error);
  fclose(in);
  if (!good) return false;
  char why[TENSOR_ERROR_MAX];
  if (tensor_file_parse(bytes, size, file, why)) {
    file->owned = bytes;
    return true;
  }
  free(bytes);
  return refuse(error, "%.80s is not a good safetensors file: %.140s", path, why);
}

const struct tensor *tensor_file_find(const struct tensor_file *file, const char *name) {
  for (size_t i = 0; i < file->count; i++)
    if (!strcmp(file->tensor[i].name, name)) return &file->tensor[i];
  return NULL;
}

void tensor_file_free(struct tensor_file *file) {
  json_decref(file->header);
  free(file->tensor);
  free(file->metadata);
  free(file->owned);
  *file = (struct tensor_file){0};
}
