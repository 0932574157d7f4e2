/* SPDX-License-Identifier: Apache-2.0 */
/* The note's contents: a fixed head, four zero-terminated strings (padded to 4 bytes), the events' offsets (u32), their rows (u16,
   padded to 4 bytes). Little-endian. */
#include "note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_FORMAT = 1, NOTE_STRINGS = 4, EVENTS_MAX = 1 << 20 };

struct head {
  uint32_t format, kernarg_abi;
  uint8_t sha256[SHA256_BYTES];
  uint32_t text_bytes, events;
};

static size_t padded(size_t bytes) { return (bytes + 3) & ~(size_t)3; }

static size_t contents_bytes(uint32_t text_bytes, uint32_t events) {
  return sizeof(struct head) + text_bytes + (size_t)events * 4 + padded((size_t)events * 2);
}

void *front_note_write(const struct front_note *note, size_t *bytes) {
  const char *const text[NOTE_STRINGS] = {note->key, note->arch, note->llvm_version, note->generator_version};
  struct head h = {.format = NOTE_FORMAT, .kernarg_abi = note->kernarg_abi, .events = note->events};
  size_t text_bytes = 0;
  memcpy(h.sha256, note->sha256, sizeof h.sha256);
  for (int i = 0; i < NOTE_STRINGS; i++) text_bytes += strlen(text[i]) + 1;
  h.text_bytes = (uint32_t)padded(text_bytes);
  size_t contents = contents_bytes(h.text_bytes, h.events), owner = padded(sizeof FRONT_NOTE_OWNER);
  const uint32_t elf[3] = {sizeof FRONT_NOTE_OWNER, (uint32_t)contents, FRONT_NOTE_TYPE};
  *bytes = sizeof elf + owner + contents;
  uint8_t *record = calloc(1, *bytes), *at = record;
  if (!record) return NULL;
  memcpy(at, elf, sizeof elf);
  memcpy(at += sizeof elf, FRONT_NOTE_OWNER, sizeof FRONT_NOTE_OWNER);
  memcpy(at += owner, &h, sizeof h);
  at += sizeof h;
  uint8_t *string = at;
  for (int i = 0; i < NOTE_STRINGS; i++) {
    memcpy(string, text[i], strlen(text[i]) + 1);
    string += strlen(text[i]) + 1;
  }
  at += h.text_bytes;
  for (uint32_t i = 0; i < h.events; i++) {
    memcpy(at + 4 * (size_t)i, &note->event[i].offset, 4);
    memcpy(at + 4 * (size_t)h.events + 2 * (size_t)i, &note->event[i].row, 2);
  }
  return record;
}

static bool malformed(char error[CODE_ERROR_MAX], const char *what) {
  snprintf(error, CODE_ERROR_MAX, "the frontgen note is malformed (%s): build the object anew", what);
  return false;
}

static bool read_strings(const char *text, size_t bytes, struct front_note *note) {
  const char **const out[NOTE_STRINGS] = {&note->key, &note->arch, &note->llvm_version, &note->generator_version};
  for (int i = 0; i < NOTE_STRINGS; i++) {
    const char *end = memchr(text, 0, bytes);
    if (!end) return false;
    *out[i] = text;
    bytes -= (size_t)(end + 1 - text);
    text = end + 1;
  }
  return true;
}

static bool read_events(const uint8_t *at, struct front_note *note, char error[CODE_ERROR_MAX]) {
  note->event = malloc(note->events ? note->events * sizeof *note->event : 1);
  if (!note->event) {
    snprintf(error, CODE_ERROR_MAX, "out of memory for the frontgen note");
    return false;
  }
  for (uint32_t i = 0; i < note->events; i++) {
    struct front_event *e = &note->event[i];
    memcpy(&e->offset, at + 4 * (size_t)i, 4);
    memcpy(&e->row, at + 4 * (size_t)note->events + 2 * (size_t)i, 2);
    if (i && e->offset <= e[-1].offset) {
      front_note_free(note);
      return malformed(error, "its events are not in order");
    }
  }
  return true;
}

bool front_note_read(const struct code_object *co, struct front_note *note, char error[CODE_ERROR_MAX]) {
  struct head h;
  memset(note, 0, sizeof *note);
  if (!co->front_note) {
    snprintf(error, CODE_ERROR_MAX, "no frontgen note: not made by frontgen build, or stripped");
    return false;
  }
  if (co->front_note_bytes < sizeof h) return malformed(error, "its head is cut off");
  memcpy(&h, co->front_note, sizeof h);
  if (h.format != NOTE_FORMAT) {
    snprintf(error, CODE_ERROR_MAX, "the frontgen note has format %u, this program reads %d: build the object with this version", h.format,
        NOTE_FORMAT);
    return false;
  }
  if (h.events > EVENTS_MAX || h.text_bytes % 4 || contents_bytes(h.text_bytes, h.events) != co->front_note_bytes)
    return malformed(error, "its sizes do not fit");
  note->kernarg_abi = h.kernarg_abi;
  note->events = h.events;
  memcpy(note->sha256, h.sha256, sizeof note->sha256);
  const uint8_t *text = co->front_note + sizeof h;
  if (!read_strings((const char *)text, h.text_bytes, note)) return malformed(error, "a string is cut off");
  return read_events(text + h.text_bytes, note, error);
}

void front_note_free(struct front_note *note) {
  free(note->event);
  note->event = NULL;
  note->events = 0;
}

uint16_t front_note_row(const struct front_note *note, uint32_t offset) {
  uint32_t low = 0, high = note->events; /* events below low start at or before offset, those from high on behind it */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (note->event[middle].offset <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? note->event[low - 1].row : (uint16_t)FRONT_EVENT_NONE;
}
