/* SPDX-License-Identifier: Apache-2.0 */
/* Files that claim to be code objects: no fault, an error is a sentence, and what is accepted can be walked. */
#include <stdlib.h>
#include <string.h>

#include "debug_line.h"
#include "note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void walk(const struct code_object *co) {
  char target[CODE_TARGET_MAX];
  code_object_target(co, target);
  for (uint32_t i = 0; i < co->segments; i++) {
    const struct code_segment *s = &co->segment[i];
    require(s->offset + s->filesz <= co->bytes && s->vaddr + s->memsz <= co->span);
    const uint8_t *at = code_object_at(co, s->vaddr, s->filesz);
    require(s->filesz == 0 || (at && at >= co->image && at + s->filesz <= co->image + co->bytes));
  }
  for (uint32_t i = 0; i < co->symbols; i++) require(strlen(co->symbol[i].name) < co->bytes);
  for (uint32_t i = 0; i < co->kernels; i++) {
    const struct code_kernel *k = &co->kernel[i];
    require(k->name && k->symbol);
    for (uint32_t j = 0; j < k->args; j++) require(k->arg[j].value_kind && k->arg[j].name);
  }
  struct front_note note;
  char error[CODE_ERROR_MAX] = "";
  if (!front_note_read(co, &note, error)) {
    require(error[0]);
    return;
  }
  front_note_row(&note, 0);
  front_note_row(&note, UINT32_MAX);
  require(strlen(note.key) < co->bytes);
  front_note_free(&note);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct code_object co;
  char error[CODE_ERROR_MAX] = "";
  struct front_event *event = NULL;
  uint32_t events = 0;
  /* A copy of just this size, so that a read past its end is seen. */
  uint8_t *image = malloc(size ? size : 1);
  if (!image) return 0;
  if (size) memcpy(image, data, size);
  if (code_object_open(image, size, &co, error)) {
    walk(&co);
    code_object_close(&co);
  } else {
    require(error[0] && memchr(error, 0, sizeof error));
  }
  if (!debug_line_events(image, size, &event, &events, error)) require(!event && error[0]);
  free(event);
  free(image);
  return 0;
}
