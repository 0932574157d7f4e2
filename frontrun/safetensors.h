/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors files: 8 bytes of header length, a JSON header, the tensors' bytes. The reader trusts nothing that the file says; the
   writer's files are those that Python's `safetensors` reads. Thread safe: no state. */
#ifndef FRONT_SAFETENSORS_H
#define FRONT_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontgen.h"
#include "refuse.h"

enum tensor_dtype {
  DTYPE_BOOL,
  DTYPE_U8,
  DTYPE_I8,
  DTYPE_F8_E4M3,
  DTYPE_F8_E5M2,
  DTYPE_F8_E8M0,
  DTYPE_I16,
  DTYPE_U16,
  DTYPE_F16,
  DTYPE_BF16,
  DTYPE_I32,
  DTYPE_U32,
  DTYPE_F32,
  DTYPE_I64,
  DTYPE_U64,
  DTYPE_F64,
  DTYPES
};

enum { TENSOR_RANK_MAX = 8, TENSOR_HEADER_MAX = 16 << 20, TENSOR_ERROR_MAX = REFUSE_ERROR_MAX };

struct tensor {
  const char *name;
  enum tensor_dtype dtype;
  uint32_t rank;
  uint64_t shape[TENSOR_RANK_MAX];
  const void *data; /* not necessarily aligned */
  uint64_t bytes;
};

struct tensor_metadata {
  const char *name, *value;
};

struct tensor_file {
  struct tensor *tensor; /* in the file's order of bytes */
  size_t count;
  struct tensor_metadata *metadata;
  size_t metadata_count;
  void *owned, *header; /* what tensor_file_free() releases besides: the file's bytes, the parsed header */
};

/* Parses `bytes`, which must outlive *file. False with a sentence in `error` if the header is too large, not JSON, has a name twice,
   an unknown dtype, a shape that does not fit its bytes, or if the tensors overlap, leave a gap, or do not end where the file does. */
bool tensor_file_parse(const void *bytes, size_t size, struct tensor_file *file, char error[TENSOR_ERROR_MAX]);

/* Reads and parses a file. */
bool tensor_file_read(const char *path, struct tensor_file *file, char error[TENSOR_ERROR_MAX]);

/* The tensor of that name, or null. */
const struct tensor *tensor_file_find(const struct tensor_file *file, const char *name);

/* Releases what a successful parse or read made. A zeroed struct is allowed. */
void tensor_file_free(struct tensor_file *file);

/* Writes a file, by output_write_parts() and with its errors. FRONTGEN_USAGE also if a tensor's bytes do not fit its dtype and shape. */
enum frontgen_status tensor_file_write(const char *path, const struct tensor *tensors, size_t count, const struct tensor_metadata *metadata,
    size_t metadata_count, char error[FRONTGEN_ERROR_MAX]);

const char *tensor_dtype_name(enum tensor_dtype dtype);
uint32_t tensor_dtype_bytes(enum tensor_dtype dtype);

/* The dtype of that name, or DTYPES. */
enum tensor_dtype tensor_dtype_by_name(const char *name);

#endif
