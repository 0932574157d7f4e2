/* SPDX-License-Identifier: Apache-2.0 */
/* Our note: written, linked into an object, read back; and damaged. */
#include "note.h"

#include "code_samples.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct front_event events[] = {{0, FRONT_EVENT_NONE}, {8, 0}, {24, 3}, {40, FRONT_EVENT_NONE}, {1 << 20, 159}};

static struct front_note sample(void) {
  struct front_note note = {.kernarg_abi = 1,
      .key = "front_s8_tp4_r2_w128_t0",
      .arch = "gfx950",
      .llvm_version = "22.1.8",
      .generator_version = "0.1.0",
      .event = events,
      .events = sizeof events / sizeof *events};
  for (size_t i = 0; i < sizeof note.sha256; i++) note.sha256[i] = (uint8_t)(i * 11);
  return note;
}

/* An object whose section .note.frontgen has these bytes. */
static void *object_with(const uint8_t *record, size_t record_bytes, size_t *bytes) {
  size_t room = strlen(SAMPLE) + 64 + 8 * record_bytes;
  char *text = malloc(room), *at = text + snprintf(text, room, "%s  .section .note.frontgen,\"a\",@note\n  .p2align 2\n", SAMPLE);
  for (size_t i = 0; i < record_bytes; i++) at += sprintf(at, "%s%u", i % 16 ? "," : "\n .byte ", record[i]);
  strcpy(at, "\n");
  void *object = assembly_to_code_object(text, "gfx950", bytes);
  free(text);
  return object;
}

static void assert_same(const struct front_note *got, const struct front_note *wanted) {
  assert_int_equal(got->kernarg_abi, wanted->kernarg_abi);
  assert_string_equal(got->key, wanted->key);
  assert_string_equal(got->arch, wanted->arch);
  assert_string_equal(got->llvm_version, wanted->llvm_version);
  assert_string_equal(got->generator_version, wanted->generator_version);
  assert_memory_equal(got->sha256, wanted->sha256, sizeof got->sha256);
  assert_int_equal(got->events, wanted->events);
  for (uint32_t i = 0; i < got->events; i++) {
    assert_int_equal(got->event[i].offset, wanted->event[i].offset);
    assert_int_equal(got->event[i].row, wanted->event[i].row);
  }
}

static void test_round_trip(void **state) {
  (void)state;
  struct front_note note = sample(), got;
  struct code_object co;
  size_t record_bytes, bytes;
  char error[CODE_ERROR_MAX];
  uint8_t *record = front_note_write(&note, &record_bytes);
  assert_int_equal(record_bytes % 4, 0);
  assert_memory_equal(record + 12, "frontgen", 9); /* an ELF note: sizes and type, owner, contents */
  void *object = object_with(record, record_bytes, &bytes);
  if (!code_object_open(object, bytes, &co, error) || !front_note_read(&co, &got, error)) fail_msg("%s", error);
  assert_same(&got, &note);
  assert_int_equal(code_object_kernel(&co, NULL)->vgpr_count, 97); /* the metadata's note is still found */
  front_note_free(&got);
  code_object_close(&co);
  free(object);
  free(record);
}

static void test_rows(void **state) {
  (void)state;
  static const struct {
    uint32_t offset;
    uint16_t row;
  } wanted[] = {{0, FRONT_EVENT_NONE}, {7, FRONT_EVENT_NONE}, {8, 0}, {23, 0}, {24, 3}, {39, 3}, {40, FRONT_EVENT_NONE},
      {(1 << 20) - 1, FRONT_EVENT_NONE}, {1 << 20, 159}, {UINT32_MAX, 159}};
  struct front_note note = sample(), none = {0};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) assert_int_equal(front_note_row(&note, wanted[i].offset), wanted[i].row);
  assert_int_equal(front_note_row(&none, 0), FRONT_EVENT_NONE);
}

static void test_no_note(void **state) {
  (void)state;
  struct front_note got;
  struct code_object co;
  char error[CODE_ERROR_MAX];
  size_t bytes;
  void *object = assembly_to_code_object(SAMPLE, "gfx950", &bytes);
  assert_true(code_object_open(object, bytes, &co, error));
  assert_false(front_note_read(&co, &got, error));
  assert_non_null(strstr(error, "no frontgen note"));
  code_object_close(&co);
  free(object);
}

/* Reads a note's contents that are not in an object. */
static bool read_contents(const uint8_t *contents, size_t bytes, char error[CODE_ERROR_MAX]) {
  uint8_t *copy = malloc(bytes ? bytes : 1);
  struct code_object co = {.front_note = copy, .front_note_bytes = bytes};
  struct front_note got;
  memcpy(copy, contents, bytes);
  bool good = front_note_read(&co, &got, error);
  if (good) front_note_free(&got);
  free(copy);
  return good;
}

static void test_damage(void **state) {
  (void)state;
  struct front_note note = sample();
  size_t record_bytes;
  char error[CODE_ERROR_MAX] = "";
  uint8_t *record = front_note_write(&note, &record_bytes), *contents = record + 24;
  size_t bytes = record_bytes - 24;
  assert_true(read_contents(contents, bytes, error));
  for (size_t size = 0; size < bytes; size++) assert_false(read_contents(contents, size, error));
  for (size_t bit = 0; bit < 8 * bytes; bit++) {
    contents[bit / 8] ^= (uint8_t)(1 << bit % 8);
    read_contents(contents, bytes, error);
    contents[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  contents[0] = 2;
  assert_false(read_contents(contents, bytes, error));
  assert_non_null(strstr(error, "format 2, this program reads 1"));
  free(record);
}

static void test_order(void **state) {
  (void)state;
  struct front_event twice[] = {{8, 1}, {8, 2}};
  struct front_note note = sample();
  size_t bytes;
  char error[CODE_ERROR_MAX] = "";
  note.event = twice;
  note.events = 2;
  uint8_t *record = front_note_write(&note, &bytes);
  assert_false(read_contents(record + 24, bytes - 24, error));
  assert_non_null(strstr(error, "not in order"));
  free(record);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      {"a note survives the linker, beside the metadata's", test_round_trip, NULL, NULL, NULL},
      {"an access's row is that of the last event at or before it", test_rows, NULL, NULL, NULL},
      {"an object without a note is told", test_no_note, NULL, NULL, NULL},
      {"a damaged note is an error, or at least no fault", test_damage, NULL, NULL, NULL},
      {"events out of order are refused", test_order, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
