/* SPDX-License-Identifier: Apache-2.0 */
/* MessagePack: the specification's formats, byte by byte, and bytes that lie. */
#include "msgpack.h"
#include "support.h"

#include <string.h>

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static struct msgpack_item item_of(const uint8_t *bytes, size_t size) {
  struct msgpack m = {bytes, bytes + size};
  struct msgpack_item item;
  if (!msgpack_next(&m, &item)) fail_msg("0x%02x is not read", bytes[0]);
  assert_ptr_equal(m.at, m.end);
  return item;
}

static void assert_item(const uint8_t *bytes, size_t size, enum msgpack_kind kind, uint64_t number) {
  struct msgpack_item item = item_of(bytes, size);
  assert_int_equal(item.kind, kind);
  assert_true(item.number == number);
}

static void test_numbers(void **state) {
  (void)state;
  assert_item(BYTES(0x00), MSGPACK_UINT, 0);
  assert_item(BYTES(0x7f), MSGPACK_UINT, 127);
  assert_item(BYTES(0xff), MSGPACK_INT, (uint64_t)-1);
  assert_item(BYTES(0xe0), MSGPACK_INT, (uint64_t)-32);
  assert_item(BYTES(0xcc, 0xff), MSGPACK_UINT, 255);
  assert_item(BYTES(0xcd, 0x01, 0x02), MSGPACK_UINT, 0x102);
  assert_item(BYTES(0xce, 0x01, 0x02, 0x03, 0x04), MSGPACK_UINT, 0x1020304);
  assert_item(BYTES(0xcf, 1, 2, 3, 4, 5, 6, 7, 8), MSGPACK_UINT, UINT64_C(0x102030405060708));
  assert_item(BYTES(0xd0, 0x80), MSGPACK_INT, (uint64_t)-128);
  assert_item(BYTES(0xd0, 0x7f), MSGPACK_INT, 127);
  assert_item(BYTES(0xd1, 0xff, 0xfe), MSGPACK_INT, (uint64_t)-2);
  assert_item(BYTES(0xd2, 0x80, 0, 0, 0), MSGPACK_INT, (uint64_t)INT32_MIN);
  assert_item(BYTES(0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0), MSGPACK_INT, UINT64_C(1) << 63);
  assert_item(BYTES(0xc0), MSGPACK_NIL, 0);
  assert_item(BYTES(0xc2), MSGPACK_BOOL, 0);
  assert_item(BYTES(0xc3), MSGPACK_BOOL, 1);
  assert_item(BYTES(0xca, 0x3f, 0x80, 0, 0), MSGPACK_FLOAT, 0x3f800000);
}

static void test_strings(void **state) {
  (void)state;
  struct msgpack_item item = item_of(BYTES(0xa3, 'a', 'b', 'c'));
  assert_true(msgpack_is(&item, "abc"));
  assert_false(msgpack_is(&item, "ab"));
  assert_false(msgpack_is(&item, "abcd"));
  item = item_of(BYTES(0xd9, 2, 'h', 'i'));
  assert_true(msgpack_is(&item, "hi"));
  item = item_of(BYTES(0xda, 0, 2, 'h', 'i'));
  assert_true(msgpack_is(&item, "hi"));
  item = item_of(BYTES(0xdb, 0, 0, 0, 2, 'h', 'i'));
  assert_true(msgpack_is(&item, "hi"));
  item = item_of(BYTES(0xc4, 2, 'h', 'i'));
  assert_int_equal(item.kind, MSGPACK_BINARY);
  assert_false(msgpack_is(&item, "hi"));
}

/* {"a": [1, {"b": nil}], "c": "d"}, then 7 */
static const uint8_t nested[] = {0x82, 0xa1, 'a', 0x92, 0x01, 0x81, 0xa1, 'b', 0xc0, 0xa1, 'c', 0xa1, 'd', 0x07};

static void test_skip(void **state) {
  (void)state;
  struct msgpack m = {nested, nested + sizeof nested};
  struct msgpack_item item;
  assert_true(msgpack_skip(&m));
  assert_true(msgpack_expect(&m, MSGPACK_UINT, &item) && item.number == 7);
  assert_false(msgpack_skip(&m));
}

static void test_cut_off(void **state) {
  (void)state;
  for (size_t size = 0; size < sizeof nested - 1; size++) {
    uint8_t copy[sizeof nested];
    memcpy(copy, nested, sizeof nested);
    struct msgpack m = {copy, copy + size};
    assert_false(msgpack_skip(&m));
  }
}

static void test_lies(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[9];
    size_t size;
  } lies[] = {
      {{0xdb, 0xff, 0xff, 0xff, 0xff, 'a'}, 6},  /* a string of 4 GiB */
      {{0xdd, 0xff, 0xff, 0xff, 0xff, 0}, 6},    /* an array */
      {{0xdf, 0x80, 0x00, 0x00, 0x01, 0, 0}, 7}, /* a map whose pairs overflow 32 bits when doubled */
      {{0xc1}, 1},                               /* never used */
      {{0xc7, 0, 0}, 3},                         /* an extension */
      {{0xd9}, 1},
      {{0xcf, 1, 2, 3}, 4},
  };
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    struct msgpack m = {lies[i].bytes, lies[i].bytes + lies[i].size};
    struct msgpack_item item;
    assert_false(msgpack_next(&m, &item));
  }
}

static void test_deep(void **state) {
  (void)state;
  static uint8_t deep[1 << 20]; /* arrays of one array, a million deep */
  memset(deep, 0x91, sizeof deep);
  deep[sizeof deep - 1] = 0xc0;
  struct msgpack m = {deep, deep + sizeof deep};
  assert_true(msgpack_skip(&m));
  assert_ptr_equal(m.at, m.end);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      {"numbers of every width are read", test_numbers, NULL, NULL, NULL},
      {"strings of every length form are read", test_strings, NULL, NULL, NULL},
      {"a nested item is stepped over as one", test_skip, NULL, NULL, NULL},
      {"metadata that is cut off anywhere is refused", test_cut_off, NULL, NULL, NULL},
      {"a size that lies reads nothing beyond the end", test_lies, NULL, NULL, NULL},
      {"nesting does not use up the stack", test_deep, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
