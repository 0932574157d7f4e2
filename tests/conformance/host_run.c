/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes in lockstep by repetition: a lane that reaches an operation between lanes whose result is not known yet says what it sends and
   starts again later. The first such operation in program order has all its lanes waiting: it is resolved, and all lanes run again. */
#include "host_model.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { WAVE = 64, ENDED = NODES_MAX };

static const struct program *program;
static jmp_buf restart;
static uint32_t lane_now;        /* the lane that runs */
static uint32_t waits_at[LANES]; /* the node, or ENDED */
static uint32_t sent_a[LANES], sent_b[LANES];
static bool resolved[NODES_MAX];
static uint32_t result[NODES_MAX][LANES];

uint32_t model_lanes(uint32_t site, uint32_t a, uint32_t b);

/* Compiled code calls this for each operation between lanes. */
uint32_t model_lanes(uint32_t site, uint32_t a, uint32_t b) {
  if (resolved[site]) return result[site][lane_now];
  waits_at[lane_now] = site;
  sent_a[lane_now] = a;
  sent_b[lane_now] = b;
  longjmp(restart, 1);
}

/* --- one operation, all lanes of a wave: a, b are what they sent, active which did ------------------------------------------- */

struct lanes {
  const struct node *node;
  const uint32_t *a, *b;
  bool active[WAVE];
  uint32_t first; /* of the wave in the workgroup */
};

static uint32_t field(const struct lanes *w, char letter) { return immediate_field(w->node, letter); }

static uint32_t from_lane(const struct lanes *w, int lane) { return lane >= 0 && w->active[lane] ? w->a[lane] : 0; }

static int dpp_source(uint32_t control, int l) {
  int row = l / 16 * 16, n = (int)(control & 15), in_row = l % 16;
  if (control < 0x100) return l / 4 * 4 + (int)(control >> (2 * (l % 4)) & 3);
  switch (control >> 4) {
  case 0x10:
    return in_row + n < 16 ? l + n : -1;
  case 0x11:
    return in_row >= n ? l - n : -1;
  case 0x12:
    return row + (in_row + 16 - n) % 16;
  case 0x15:
    return row + n;
  default:
    break;
  }
  switch (control) {
  case 0x130:
    return l < WAVE - 1 ? l + 1 : -1;
  case 0x134:
    return (l + 1) % WAVE;
  case 0x138:
    return l - 1;
  case 0x13C:
    return (l + WAVE - 1) % WAVE;
  case 0x140:
    return row + 15 - in_row;
  case 0x141:
    return l / 8 * 8 + 7 - l % 8;
  case 0x142:
    return row - 1;
  default: /* 0x143 */
    return l < 32 ? -1 : 31;
  }
}

static uint32_t dpp(const struct lanes *w, int l, uint32_t rows, uint32_t banks, bool zero) {
  int from = dpp_source(field(w, 'd'), l);
  if (!(rows >> (l / 16) & 1) || !(banks >> (l / 4 % 4) & 1)) return w->b[l];
  if (from >= 0 && w->active[from]) return w->a[from];
  return zero ? 0 : w->b[l];
}

static int swizzle_source(uint32_t pattern, int l) {
  int half = l / 32 * 32, i = l % 32, mask = (int)(pattern & 31), turn = (int)(pattern >> 5 & 31);
  if (pattern >= 0xC000) { /* rotation, the bits of `mask` stay */
    int to = pattern >> 10 & 1 ? i - turn : i + turn;
    return half + ((i & mask) | (to & 31 & ~mask));
  }
  if (pattern >= 0x8000) return l / 4 * 4 + (int)(pattern >> (2 * (l % 4)) & 3);
  return half + (((i & mask) | turn) ^ (int)(pattern >> 10 & 31));
}

static uint32_t ones_below(uint32_t mask, int below) {
  return below <= 0 ? 0 : (uint32_t)__builtin_popcount(below >= 32 ? mask : mask & ((1u << below) - 1));
}

static uint32_t ballot(const struct lanes *w, int first) {
  uint32_t bits = 0;
  for (int l = 0; l < 32; l++) bits |= (uint32_t)(w->active[first + l] && w->a[first + l] >> 31) << l;
  return bits;
}

static uint32_t first_active(const struct lanes *w) {
  int l = 0;
  while (!w->active[l]) l++;
  return w->a[l];
}

static uint32_t swapped(const struct lanes *w, int l, int width) {
  bool odd = l & width;
  uint32_t x = odd ? w->b[l - width] : w->a[l], y = odd ? w->b[l] : w->a[l + width];
  return x ^ y << 1;
}

static uint32_t wave_result(const struct lanes *w, enum lane_op op, int l) {
  switch (op) {
  case LANE_BPERMUTE:
    return from_lane(w, (int)(w->b[l] & 63));
  case LANE_PERMUTE:
    return from_lane(w, l ^ (int)field(w, 'f'));
  case LANE_SWIZZLE:
    return from_lane(w, swizzle_source(field(w, 's'), l));
  case LANE_DPP:
    return dpp(w, l, field(w, 'r'), field(w, 'q'), field(w, 'b'));
  case LANE_DPP_ZERO:
    return dpp(w, l, 15, 15, true);
  case LANE_READ:
    return w->a[field(w, 'f')];
  case LANE_READ_FIRST:
    return first_active(w);
  case LANE_WRITE:
    return l == (int)field(w, 'f') ? field(w, 'k') : w->a[l];
  case LANE_BALLOT_LO:
    return ballot(w, 0);
  case LANE_BALLOT_HI:
    return ballot(w, 32);
  case LANE_BELOW:
    return w->b[l] + ones_below(w->a[l], l) + ones_below(w->a[l], l - 32);
  case LANE_SWAP16:
    return swapped(w, l, 16);
  default: /* LANE_SWAP32 */
    return swapped(w, l, 32);
  }
}

/* Through LDS: slots are the workgroup's lanes. */
static uint32_t group_result(const struct node *n, enum lane_op op, uint32_t l) {
  uint32_t slot = immediate_field(n, 'x');
  if (op == LANE_LDS) return sent_a[sent_b[l] % LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    if (sent_b[i] % LANES != l) continue;
    if (op == LANE_LDS_ADD) slot += sent_a[i];
    if (op == LANE_LDS_XOR) slot ^= sent_a[i];
    if (op == LANE_LDS_MAX && sent_a[i] > slot) slot = sent_a[i];
  }
  return slot;
}

static void resolve(uint32_t site) {
  const struct node *n = &program->node[site];
  enum lane_op op = ops[n->op].lane_op;
  for (uint32_t first = 0; first < LANES; first += WAVE) {
    struct lanes w = {.node = n, .a = sent_a + first, .b = sent_b + first, .first = first};
    for (uint32_t l = 0; l < WAVE; l++) w.active[l] = waits_at[first + l] == site;
    for (uint32_t l = 0; l < WAVE; l++)
      if (w.active[l]) result[site][first + l] = op >= LANE_LDS ? group_result(n, op, first + l) : wave_result(&w, op, (int)l);
  }
  resolved[site] = true;
}

/* Every lane once, until its first operation without a result. */
static void run_lanes(host_function *f, const uint8_t *in, uint8_t *records, uint32_t uniform) {
  for (lane_now = 0; lane_now < LANES; lane_now++) {
    uint8_t *record = records + lane_now * RECORD_BYTES;
    memset(record, 0, RECORD_BYTES);
    waits_at[lane_now] = ENDED;
    if (!setjmp(restart)) f(in + lane_now * INPUT_BYTES, record, uniform);
  }
}

void host_run(const struct program *p, host_function *f, const uint8_t *in, uint8_t *records, uint32_t uniform) {
  program = p;
  memset(resolved, 0, sizeof resolved);
  for (;;) {
    uint32_t next = ENDED;
    run_lanes(f, in, records, uniform);
    for (uint32_t l = 0; l < LANES; l++)
      if (waits_at[l] < next) next = waits_at[l];
    if (next == ENDED) return;
    resolve(next);
  }
}
