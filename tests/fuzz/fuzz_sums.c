/* SPDX-License-Identifier: Apache-2.0 */
/* A bundle's index from anybody: no fault, an error is a sentence, and what is read names files of the folder only, each once. */
#include <stdlib.h>
#include <string.h>

#include "sums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void check_entry(const struct sums *sums, size_t i) {
  const char *file = sums->entry[i].file;
  char name[64], arch[SUMS_ARCH_MAX];
  require(sums_is_name(file, strlen(file)) && !strchr(file, '/') && file[0] != '.');
  for (size_t k = 0; k < i && i < 64; k++) require(strcmp(sums->entry[k].file, file) != 0);
  if (sums_split(file, name, sizeof name, arch)) require(strlen(name) + strlen(arch) + strlen("..hsaco") == strlen(file));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct sums sums;
  char error[CODE_ERROR_MAX] = "";
  if (!sums_read((const char *)data, size, &sums, error)) {
    require(error[0] && memchr(error, 0, sizeof error) && !strchr(error, '\n') && !sums.entry && !sums.text);
    return 0;
  }
  require(sums.entries > 0);
  for (size_t i = 0; i < sums.entries; i++) check_entry(&sums, i);
  sums_free(&sums);
  return 0;
}
