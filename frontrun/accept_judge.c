/* SPDX-License-Identifier: Apache-2.0 */
/* What must come out of the micro-kernels (accept_kernels.ll), from section 6 to 8 of the design and nothing else. */
#include "accept_judge.h"
#include "geometry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  LANES = 64,
  LANE_BYTES = 80, /* A, B, the scale dwords */
  THREADS_ALL = 256 * 512,
  RESULTS_AT = 8421376,
  ROUNDS = 16,
  WAS_THERE = 1 << 30,
  CLOCK_MHZ = 100,
  TICKS_EMULATOR = 2000,
  TICKS_SHORT = 1000000,
  TICKS_LONG = 6000000
};

static uint32_t mix(uint32_t v) {
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}

/* 1, 1.5, 2 and their negatives: sums are exact. */
static const uint8_t codes[] = {0x38, 0x3c, 0x40, 0xb8, 0xbc, 0xc0};
static double code_value(uint8_t code) {
  double v = (code & 0x7f) == 0x38 ? 1 : (code & 0x7f) == 0x3c ? 1.5 : 2;
  return code & 0x80 ? -v : v;
}

static void fill_mfma(uint32_t round, uint8_t *x) {
  for (uint32_t lane = 0; lane < 2 * LANES; lane++) {
    uint8_t *at = x + lane * LANE_BYTES;
    for (uint32_t i = 0; i < 64; i++) at[i] = codes[mix(round * 7919 + lane * 64 + i) % sizeof codes];
    for (uint32_t side = 0; side < 2; side++)
      for (uint32_t byte = 0; byte < 4; byte++) /* byte 0 counts; the others would give other sums */
        at[64 + 4 * side + byte] = (uint8_t)(126 + mix(round + lane * 8 + side) % 3 + byte * 4);
  }
}

void accept_fill(unsigned fact, uint32_t round, bool hardware, uint8_t x[ACCEPT_X_BYTES]) {
  uint32_t word = fact == 4 ? !hardware ? TICKS_EMULATOR : round == 0 ? TICKS_SHORT : TICKS_LONG : mix(round + 1) & 0xffffff;
  memset(x, 0, ACCEPT_X_BYTES);
  if (fact == 0)
    fill_mfma(round, x);
  else
    memcpy(x, &word, sizeof word);
}

static uint32_t word_at(const uint8_t *bytes, size_t index) {
  uint32_t v;
  memcpy(&v, bytes + 4 * index, 4);
  return v;
}

static float float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

static void count(struct accept_fact *f, bool right) {
  f->examined++;
  f->wrong += !right;
}

/* K index k of row (or token) r: lane 16 j + r, j = k / 16 mod 4, its low 16 bytes below 64, the high ones above. Side 0: A, 1: B. */
static double element(const uint8_t *x, unsigned side, unsigned r, unsigned k) {
  unsigned lane = k / 16 % 4 * 16 + r, byte = k % 16 + (k >= 64 ? 16 : 0);
  unsigned block = k / 32 * 16 + r; /* the lane whose scale is of K 32 j .. 32 j + 31 */
  int code = x[block * LANE_BYTES + 64 + 4 * side];
  return ldexp(code_value(x[lane * LANE_BYTES + 32 * side + byte]), code - 127);
}

static void judge_mfma(const struct accept_result *r, struct accept_fact *f) {
  for (unsigned wave = 0; wave < 2; wave++)
    for (unsigned lane = 0; lane < LANES; lane++)
      for (unsigned i = 0; i < 4; i++) {
        const uint8_t *x = r->x + wave * LANES * LANE_BYTES;
        double sum = 0;
        for (unsigned k = 0; k < 128; k++) sum += element(x, 0, lane / 16 * 4 + i, k) * element(x, 1, lane % 16, k);
        count(f, (double)float_of(word_at(r->out, (wave * LANES + lane) * 4 + i)) == sum);
      }
  snprintf(f->detail, sizeof f->detail, "sums of 128 scaled products, scale byte 0 of lane 16 j + row for K 32 j .. 32 j + 31");
}

/* e4m3 to nearest even, |v| <= 448. */
static uint8_t fp8_of(double v) {
  int exponent;
  frexp(v, &exponent);
  if (exponent < -5) exponent = -5; /* denormal below 2^-6 */
  double quantum = ldexp(1, exponent - 4), rounded = fabs(nearbyint(v / quantum) * quantum);
  uint8_t sign = signbit(v) ? 0x80 : 0;
  if (rounded < ldexp(1, -6)) return (uint8_t)(sign | (unsigned)(rounded * 512));
  frexp(rounded, &exponent);
  return (uint8_t)(sign | (unsigned)(exponent + 6) << 3 | ((unsigned)(ldexp(rounded, 4 - exponent)) & 7));
}

static void judge_fp8(const struct accept_result *r, struct accept_fact *f) {
  uint64_t nans = 0, saturated = 0;
  for (uint32_t i = 0; i < THREADS_ALL; i++)
    for (unsigned half = 0; half < 2; half++) {
      float v = float_of(i << 15 | half);
      uint8_t byte = (uint8_t)(word_at(r->out, i) >> 8 * half);
      if (isnan(v) || isinf(v)) continue;
      if (fabsf(v) <= 448) {
        count(f, byte == fp8_of((double)v));
        continue;
      }
      nans += (byte & 0x7f) == 0x7f;
      saturated += (byte & 0x7f) == 0x7e;
      count(f, (byte & 0x7f) >= 0x7e && (byte >> 7) == (signbit(v) != 0));
    }
  snprintf(f->detail, sizeof f->detail, "to nearest even up to 448; of larger ones %llu are NaN and %llu are 448", (unsigned long long)nans,
      (unsigned long long)saturated);
}

static void judge_rsq(const struct accept_result *r, struct accept_fact *f) {
  uint64_t off = 0;
  int worst = 0;
  for (uint32_t i = 0; i < THREADS_ALL; i++) {
    float exact = (float)(1.0 / sqrt((double)float_of(0x3f800000u + (i << 7))));
    uint32_t bits;
    memcpy(&bits, &exact, 4);
    int64_t wide = (int64_t)word_at(r->out, i) - bits;
    int ulps = wide > 1000 || wide < -1000 ? 1000 : (int)(wide < 0 ? -wide : wide);
    off += ulps == 1;
    worst = ulps > worst ? ulps : worst;
    count(f, ulps <= 1);
  }
  snprintf(f->detail, sizeof f->detail, "%llu of them 1 ulp off, the worst %d ulp", (unsigned long long)off, worst);
}

static void judge_xcd(const struct accept_result *r, struct accept_fact *f) {
  uint32_t distinct = 0;
  int used = 0;
  for (uint32_t i = 0; i < 256; i++) {
    bool apart = true;
    for (uint32_t k = 0; k < i && k < XCDS; k++) apart = apart && (k == i % XCDS) == (word_at(r->out, i) == word_at(r->out, k));
    for (uint32_t k = 0; k < i; k++) distinct += i < XCDS && word_at(r->out, i) == word_at(r->out, k);
    count(f, apart);
  }
  for (uint32_t i = 0; i < XCDS; i++)
    used += snprintf(f->detail + used, sizeof f->detail - (size_t)used, "%s%u", i ? " " : "workgroups 0 to 7 on XCC ", word_at(r->out, i));
  f->wrong += distinct;
}

static void judge_clock(const struct accept_result *r, struct accept_fact *f) {
  uint64_t begin, end, ticks = word_at(r->x, 0);
  memcpy(&begin, r->out, 8);
  memcpy(&end, r->out + 8, 8);
  count(f, end - begin >= ticks && end - begin < 2 * ticks);
  double mhz = (TICKS_LONG - TICKS_SHORT) / (r->seconds - r->seconds_short) * 1e-6;
  if (r->hardware) count(f, mhz > 0.98 * (double)CLOCK_MHZ && mhz < 1.02 * (double)CLOCK_MHZ);
  if (r->hardware)
    snprintf(f->detail, sizeof f->detail, "%.2f MHz by the host's clock, %d wanted", mhz, CLOCK_MHZ);
  else
    snprintf(f->detail, sizeof f->detail, "it goes on; model time has no rate of its own");
}

/* Threads' counts of wrong values, with a mark: one that was not there is wrong too. `threads` of each workgroup took part. */
static void judge_handoff(const struct accept_result *r, unsigned threads, struct accept_fact *f) {
  uint64_t groups = 0;
  for (uint32_t group = 0; group < 256; group++) {
    uint64_t wrong = 0;
    for (uint32_t t = 0; t < threads; t++) {
      uint32_t left = word_at(r->out + RESULTS_AT, group * 512 + t) ^ WAS_THERE;
      wrong += left < ROUNDS ? left : ROUNDS;
    }
    f->wrong += wrong;
    groups += wrong != 0;
    f->examined += ROUNDS * threads;
  }
  snprintf(f->detail, sizeof f->detail, "%d rounds between workgroups of other XCDs; %llu workgroups saw a wrong value", ROUNDS,
      (unsigned long long)groups);
}

void accept_judge(unsigned fact, const struct accept_result *result, struct accept_fact *found) {
  if (fact == 0) judge_mfma(result, found);
  if (fact == 1) judge_fp8(result, found);
  if (fact == 2) judge_rsq(result, found);
  if (fact == 3) judge_xcd(result, found);
  if (fact == 4) judge_clock(result, found);
  if (fact == 5) judge_handoff(result, 512, found);
  if (fact == 6) judge_handoff(result, LANES, found);
  found->good = found->examined > 0 && found->wrong == 0;
}
