/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a code object: see measure.h. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codeobject.h"
#include "tool.h"

static bool read_kernel(const void *image, size_t bytes, struct measured *m, uint64_t *entry, char error[FRONTGEN_ERROR_MAX]) {
  struct code_object co;
  char why[CODE_ERROR_MAX];
  *m = (struct measured){0};
  if (!code_object_open(image, bytes, &co, why)) {
    snprintf(error, FRONTGEN_ERROR_MAX, "%s", why);
    return false;
  }
  const struct code_kernel *k = code_object_kernel(&co, NULL);
  if (k) {
    *m = (struct measured){k->vgpr_count, k->sgpr_count, k->agpr_count, k->vgpr_spill_count, k->sgpr_spill_count,
        k->private_segment_fixed_size, k->group_segment_fixed_size, (uint32_t)k->code_bytes, 0, 0, 0};
    *entry = k->entry;
  } else {
    snprintf(error, FRONTGEN_ERROR_MAX, "%u kernels, not one", co.kernels);
  }
  code_object_close(&co);
  return k != NULL;
}

/* Counts the lines of the disassembly whose address, behind "//", is in the kernel. */
static void count_lines(const char *text, uint64_t entry, struct measured *m) {
  for (const char *line = text; *line;) {
    const char *end = strchr(line, '\n');
    size_t length = end ? (size_t)(end - line) : strlen(line);
    const char *comment = memmem(line, length, "// ", 3);
    if (comment && line[0] == '\t') {
      uint64_t address = strtoull(comment + 3, NULL, 16);
      if (address >= entry && address < entry + m->code_bytes) {
        m->instructions++;
        m->waits += strncmp(line + 1, "s_waitcnt", 9) == 0;
        m->readfirstlanes += strncmp(line + 1, "v_readfirstlane", 15) == 0;
      }
    }
    line += length + (end != NULL);
  }
}

bool measure_metadata(const void *image, size_t bytes, struct measured *m, char error[FRONTGEN_ERROR_MAX]) {
  uint64_t entry;
  return read_kernel(image, bytes, m, &entry, error);
}

bool measure_object(const void *image, size_t bytes, struct measured *m, char error[FRONTGEN_ERROR_MAX]) {
  uint64_t entry;
  if (!read_kernel(image, bytes, m, &entry, error)) return false;
  int object = tool_file(image, bytes), listing = tool_file(NULL, 0);
  char path[TOOL_PATH_MAX], *text = NULL;
  size_t size;
  enum frontgen_status status = FRONTGEN_ENVIRONMENT;
  if (object >= 0 && listing >= 0) {
    tool_file_path(object, path);
    status = tool_run(TOOL_OBJDUMP, (const char *const[]){"-d", "--no-show-raw-insn", path, NULL}, -1, listing, &object, 1, NULL, error);
  }
  if (status == FRONTGEN_GOOD) text = tool_file_read(listing, &size);
  if (text)
    count_lines(text, entry, m);
  else if (status == FRONTGEN_GOOD || object < 0 || listing < 0)
    snprintf(error, FRONTGEN_ERROR_MAX, "no memory for the disassembly");
  free(text);
  if (object >= 0) close(object);
  if (listing >= 0) close(listing);
  if (text && !m->instructions) snprintf(error, FRONTGEN_ERROR_MAX, "the disassembly has no instruction of the kernel");
  return text && m->instructions > 0;
}
