/* SPDX-License-Identifier: Apache-2.0 */
/* Writes safetensors. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool write_bytes(FILE *out, const void *bytes, uint64_t size) { return !size || fwrite(bytes, 1, size, out) == size; }

static bool write_file(FILE *out, const char *header, const struct tensor *tensors, size_t count) {
  unsigned char prefix[8];
  uint64_t length = strlen(header);
  for (unsigned i = 0; i < 8; i++) prefix[i] = (unsigned char)(length >> (8 * i));
  bool good = write_bytes(out, prefix, sizeof prefix) && write_bytes(out, header, length);
  for (uint32_t width = 8; width > 0; width /= 2)
    for (size_t i = 0; i < count && good; i++)
      if (tensor_dtype_bytes(tensors[i].dtype) == width) good = write_bytes(out, tensors[i].data, tensors[i].bytes);
  return good;
}

static bool check_tensors(const struct tensor *tensors, size_t count, char *error) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bytes = tensor_dtype_bytes(tensors[i].dtype);
    for (uint32_t d = 0; d < tensors[i].rank; d++) bytes *= tensors[i].shape[d];
    if (bytes == tensors[i].bytes) continue;
    snprintf(error, TENSOR_ERROR_MAX, "tensor %.60s: %llu bytes, its shape needs %llu", tensors[i].name,
        (unsigned long long)tensors[i].bytes, (unsigned long long)bytes);
    return false;
  }
  return true;
}

/* A file that is only ever whole: `name` is a temporary one until the end. */
static bool write_and_rename(char *name, const char *path, const char *header, const struct tensor *tensors, size_t count) {
  int fd = mkstemp(name);
  if (fd < 0) return false;
  mode_t mask = umask(0);
  umask(mask);
  bool good = fchmod(fd, 0666 & ~mask) == 0;
  FILE *out = good ? fdopen(fd, "wb") : NULL;
  if (!out) close(fd);
  good = out && write_file(out, header, tensors, count);
  int why = errno;
  if (out && fclose(out) != 0 && good) {
    why = errno;
    good = false;
  }
  if (good && rename(name, path) == 0) return true;
  if (good) why = errno;
  unlink(name);
  errno = why;
  return false;
}

bool tensor_file_write(const char *path, const struct tensor *tensors, size_t count, const struct tensor_metadata *metadata,
    size_t metadata_count, char error[TENSOR_ERROR_MAX]) {
  if (!check_tensors(tensors, count, error)) return false;
  char *header = make_header(tensors, count, metadata, metadata_count);
  char *name = header ? malloc(strlen(path) + 16) : NULL;
  bool good = name != NULL;
  if (!good) snprintf(error, TENSOR_ERROR_MAX, "%.80s: no memory for its header", path);
  if (good) {
    sprintf(name, "%s.tmp.XXXXXX", path);
    good = write_and_rename(name, path, header, tensors, count);
    if (!good) snprintf(error, TENSOR_ERROR_MAX, "%.120s cannot be written: %s", path, strerror(errno));
  }
  free(name);
  free(header);
  return good;
}
