/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors files from anybody: no fault, and what is accepted lies inside the file. Odd inputs are used as a header with an honest
   length in front, so that the fuzzer gets past it. */
#include <stdlib.h>
#include <string.h>

#include "safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition) {
  if (!condition) abort();
}

static void one_file(const uint8_t *bytes, size_t size) {
  struct tensor_file file;
  char error[TENSOR_ERROR_MAX] = "";
  if (!tensor_file_parse(bytes, size, &file, error)) {
    require(error[0] && memchr(error, 0, sizeof error) != NULL);
    return;
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < file.count; i++) {
    const uint8_t *at = file.tensor[i].data;
    require(at >= bytes && at <= bytes + size && file.tensor[i].bytes <= (uint64_t)(bytes + size - at));
    for (uint64_t k = 0; k < file.tensor[i].bytes; k++) sum += at[k];
    require(tensor_file_find(&file, file.tensor[i].name) == &file.tensor[i]);
  }
  require(sum <= 255 * (uint64_t)size);
  tensor_file_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  one_file(data, size);
  uint8_t *wrapped = malloc(size + 8 + 16);
  if (!wrapped) return 0;
  for (unsigned i = 0; i < 8; i++) wrapped[i] = (uint8_t)((uint64_t)size >> (8 * i));
  if (size) memcpy(wrapped + 8, data, size);
  memset(wrapped + 8 + size, 0x3c, 16);
  for (size_t tail = 0; tail <= 16; tail += 4) one_file(wrapped, size + 8 + tail);
  free(wrapped);
  return 0;
}
