/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction text: no fault on any line, and what is understood prints as text that means the same. */
#include <stdlib.h>
#include <string.h>

#include "inst_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct inst_text inst, again;
  char error[TEXT_ERROR_MAX] = "", printed[TEXT_LINE_MAX], twice[TEXT_LINE_MAX];
  char *line = malloc(size + 1);
  if (!line) return 0;
  if (size) memcpy(line, data, size);
  line[size] = 0;
  if (!inst_text_parse(line, &inst, error)) {
    require(error[0] && memchr(error, 0, sizeof error));
  } else if (inst_text_print(&inst, printed, sizeof printed)) {
    require(inst_text_parse(printed, &again, error));
    require(inst_text_print(&again, twice, sizeof twice) && strcmp(printed, twice) == 0);
  }
  free(line);
  return 0;
}
