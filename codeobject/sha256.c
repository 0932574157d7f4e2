/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 as FIPS 180-4 states it. */
#include "sha256.h"

#include <string.h>

static const uint32_t round_constant[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5,                                                                                     //
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, //
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, //
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, //
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, //
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, //
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, //
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t v, unsigned n) { return v >> n | v << (32 - n); }

static uint32_t big_endian(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

static void compress(uint32_t state[8], const uint8_t block[64]) {
  uint32_t w[64], v[8];
  for (int i = 0; i < 16; i++) w[i] = big_endian(block + 4 * i);
  for (int i = 16; i < 64; i++) {
    uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  memcpy(v, state, sizeof v);
  for (int i = 0; i < 64; i++) {
    uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25), choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint32_t t1 = v[7] + s1 + choice + round_constant[i] + w[i];
    uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22), most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + s0 + most;
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

void sha256_begin(struct sha256 *h) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(h->state, start, sizeof start);
  h->bytes = 0;
}

void sha256_add(struct sha256 *h, const void *data, size_t bytes) {
  const uint8_t *p = data;
  size_t held = h->bytes % 64;
  h->bytes += bytes;
  if (held) {
    size_t take = bytes < 64 - held ? bytes : 64 - held;
    if (take) memcpy(h->block + held, p, take);
    if (held + take < 64) return;
    compress(h->state, h->block);
    p += take;
    bytes -= take;
  }
  for (; bytes >= 64; bytes -= 64, p += 64) compress(h->state, p);
  if (bytes) memcpy(h->block, p, bytes);
}

void sha256_end(struct sha256 *h, uint8_t digest[SHA256_BYTES]) {
  uint64_t bits = h->bytes * 8;
  uint8_t tail[72] = {0x80};
  size_t zeros = (119 - h->bytes % 64) % 64; /* up to 8 bytes before a block's end */
  for (size_t i = 0; i < 8; i++) tail[1 + zeros + i] = (uint8_t)(bits >> (56 - 8 * i));
  sha256_add(h, tail, 9 + zeros);
  for (size_t i = 0; i < SHA256_BYTES; i++) digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES]) {
  struct sha256 h;
  sha256_begin(&h);
  sha256_add(&h, data, bytes);
  sha256_end(&h, digest);
}

void sha256_hex(const uint8_t digest[SHA256_BYTES], char hex[SHA256_HEX]) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < SHA256_BYTES; i++) {
    hex[2 * i] = digits[digest[i] >> 4];
    hex[2 * i + 1] = digits[digest[i] & 15];
  }
  hex[2 * SHA256_BYTES] = 0;
}
