/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against FIPS 180-4's published examples, and against another implementation at every length around a block's end. */
#include "sha256.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static void assert_digest(const void *data, size_t bytes, const char *wanted) {
  uint8_t digest[SHA256_BYTES];
  char hex[SHA256_HEX];
  sha256(data, bytes, digest);
  sha256_hex(digest, hex);
  assert_string_equal(hex, wanted);
}

static void test_published(void **state) {
  (void)state;
  static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  assert_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_digest(two_blocks, sizeof two_blocks - 1, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  char *million = malloc(1000000);
  assert_non_null(million);
  memset(million, 'a', 1000000);
  assert_digest(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(million);
}

/* The bytes are 7 i + 3; the digests are Python's hashlib's. */
static void test_lengths(void **state) {
  (void)state;
  static const struct {
    size_t bytes;
    const char *digest;
  } known[] = {
      {1, "084fed08b978af4d7d196a7446a86b58009e636b611db16211b65a9aadff29c5"},
      {55, "e7313d333c272e639f790978283f9eb392e843d0f29b7016828bb1daa4aac70b"},
      {56, "4324d65f3c103567f5589c710bc08f8523f929a9272e3af36fc968e52abc6c27"},
      {57, "35df609437dcfea3279283ab79fd554e2bf78f8f7ae2de532d8ee300b09e8f73"},
      {63, "81c80242132f230c3bd41b3e63bbcff16107339549214a99614ff26664625055"},
      {64, "39e3d7b6b5d075d37d053ad89b24b41bef4f3c29760c84447cab3f3be1882241"},
      {65, "aacca6ff74fdbb296d165a45cecfa04e5127bc008770fbbdd48006f2d2fae95e"},
      {119, "9ce7368e4daf32341631b492e80359dc9f594b48453cd0dd5bf0b19279cc177e"},
      {120, "7836b787757e95e58b3ca5aec90b1b004e8deba1e50e9675af9cabf1a13a04b5"},
      {128, "d2742f1f4ac6bb7ca2b239ee18402ba8b3f9f8e652d2a72973c2b9ba11c08cf6"},
      {1000, "1e9bc38cbf860b9ec31918b065f9b52476c549a782e0e7990bed8ce3868d2371"},
  };
  uint8_t data[1000];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(7 * i + 3);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_digest(data, known[i].bytes, known[i].digest);
}

static void test_pieces(void **state) {
  (void)state;
  uint8_t data[200], whole[SHA256_BYTES], pieces[SHA256_BYTES];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * i);
  sha256(data, sizeof data, whole);
  for (size_t cut = 0; cut <= sizeof data; cut++) {
    for (size_t second = cut; second <= sizeof data; second += 13) {
      struct sha256 h;
      sha256_begin(&h);
      sha256_add(&h, data, cut);
      sha256_add(&h, data + cut, second - cut);
      sha256_add(&h, data + second, sizeof data - second);
      sha256_end(&h, pieces);
      assert_memory_equal(whole, pieces, sizeof whole);
    }
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      {"digests are those of the standard's examples", test_published, NULL, NULL, NULL},
      {"digests are another implementation's at every end of a block", test_lengths, NULL, NULL, NULL},
      {"a text hashed in pieces has the hash of the whole", test_pieces, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
