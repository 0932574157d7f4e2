/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a launch: input rows, norms, weights. They look like a trained layer's, and no two neighbours (groups, rows, blocks,
   heads, ranks) are alike, so that a kernel that takes a neighbour's gives a wrong result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "inputs.h"
#include "numeric.h"

enum {
  BF16_MINUS_ZERO = 0x8000,
  BF16_LARGEST = 0x7f7f,
  BF16_NAN = 0x7fc1,
  BF16_INFINITY = 0x7f80,
  E4M3_LARGEST = 0x7e,
  E4M3_NAN = 0x7f,
  E4M3_SIGN = 0x80,
  CODE_LOWEST = 112,      /* weights of about 2^-13 times up to 448 */
  CODE_LARGEST_CASE = 96, /* keeps 5120 products of the largest values below the largest float */
  WEIGHT_TABLE = 1 << 14,
};

/* ---- input rows ---- */

/* A group's largest magnitude: its exponent differs from that of the groups beside, above and below. Sometimes on the edge of a code. */
static double draw_group_amax(struct draw *d, int t, int group) {
  int exponent = 2 * (int)draw_below(d, 3) + ((t + group) & 1);
  double mantissa = draw_once(d, 16) ? 1.75 : 1.02 + 0.68 * draw_unit(d);
  return ldexp(mantissa, exponent - 4);
}

static void draw_group(struct draw *d, int t, int group, uint16_t *values) {
  double amax = draw_group_amax(d, t, group);
  uint64_t peak = draw_below(d, MX_GROUP);
  for (uint64_t i = 0; i < MX_GROUP; i++) {
    double part = draw_normal(d) / 4;
    if (i == peak) part = part < 0 ? -1 : 1;
    values[i] = ref_bf16((float)(amax * part));
    if (i != peak && draw_once(d, 64)) values[i] = draw_once(d, 2) ? BF16_MINUS_ZERO : 0;
  }
}

/* What an extreme case makes of a value. */
static uint16_t extreme_value(enum input_case which, struct draw *d, uint16_t value) {
  uint16_t sign = draw_once(d, 2) ? BF16_MINUS_ZERO : 0;
  switch (which) {
  case CASE_ZERO:
    return sign;
  case CASE_LARGEST:
    return (uint16_t)(sign | BF16_LARGEST);
  case CASE_DENORMAL:
    return (uint16_t)(sign | (1 + draw_below(d, 127)));
  case CASE_NAN:
    return draw_once(d, 3000) ? (uint16_t)(sign | BF16_NAN) : value;
  case CASE_INF:
    return draw_once(d, 3000) ? (uint16_t)(sign | BF16_INFINITY) : value;
  default:
    return value;
  }
}

static void draw_row(const struct inputs *in, int t, uint16_t *row) {
  struct draw d = draw_stream(in->seed, ARG_x, (uint64_t)t);
  for (int group = 0; group < HIDDEN / MX_GROUP; group++) draw_group(&d, t, group, row + group * MX_GROUP);
  bool spared = (in->which == CASE_NAN || in->which == CASE_INF) && in->key.tokens > 1 && t % 2; /* shows that nothing leaks */
  for (int i = 0; i < HIDDEN && !spared; i++) row[i] = extreme_value(in->which, &d, row[i]);
}

static bool draw_norm(struct inputs *in, enum front_arg arg, int count) {
  if (in->given[arg]) return true;
  if (!inputs_allocate(in, arg, in->bytes[arg])) return false;
  uint16_t *weight = in->data[arg];
  struct draw d = draw_stream(in->seed, arg, 0);
  for (int i = 0; i < count; i++) weight[i] = ref_bf16((float)(1 + draw_normal(&d) / 5));
  if (in->which == CASE_NAN) weight[count / 3] = BF16_NAN;
  if (in->which == CASE_INF) weight[count / 3] = BF16_INFINITY;
  if (in->which == CASE_ZERO) weight[count / 3] = BF16_MINUS_ZERO;
  return true;
}

bool draw_rows(struct inputs *in) {
  if (!draw_norm(in, ARG_qn_w, Q_RANK) || !draw_norm(in, ARG_kvn_w, KV_DIM)) return false;
  if (in->given[ARG_x]) return true;
  uint64_t values = (uint64_t)in->key.tokens * (uint64_t)in->x_stride;
  if (!inputs_allocate(in, ARG_x, values * 2)) return false;
  in->bytes[ARG_x] = inputs_x_bytes(in);
  uint16_t *x = in->data[ARG_x];
  for (uint64_t i = 0; i < values; i++) x[i] = BF16_NAN; /* what lies between the rows */
  for (int t = 0; t < in->key.tokens; t++) draw_row(in, t, x + (int64_t)t * in->x_stride);
  return true;
}

/* ---- weights ---- */

/* e4m3 bytes in the proportions of a normal distribution whose groups reach the largest value. */
static void fill_weight_table(uint8_t *table) {
  for (int i = 0; i < WEIGHT_TABLE; i++) {
    double value = 120 * draw_normal_quantile((i + 0.5) / (double)WEIGHT_TABLE);
    table[i] = ref_e4m3(ref_clamp((float)value, ref_fp8_ocp.max), &ref_fp8_ocp);
  }
  for (int i = 0; i < WEIGHT_TABLE; i += 100) table[i] = i % 200 ? 0 : E4M3_SIGN;
}

static uint8_t extreme_weight(enum input_case which, struct draw *d, uint8_t weight) {
  uint8_t sign = weight & E4M3_SIGN;
  switch (which) {
  case CASE_ZERO:
    return sign;
  case CASE_LARGEST:
    return sign | E4M3_LARGEST;
  case CASE_DENORMAL:
    return (uint8_t)(sign | (1 + draw_below(d, 7)));
  case CASE_NAN:
    return draw_once(d, 40000) ? sign | E4M3_NAN : weight;
  default:
    return weight;
  }
}

/* A row is named by its number among all ranks' rows. */
static void draw_weight_row(
    const struct inputs *in, enum front_arg arg, uint64_t row, const uint8_t *table, uint32_t columns, uint8_t *to) {
  struct draw d = draw_stream(in->seed, arg, row);
  for (uint32_t i = 0; i < columns; i += 4) {
    uint64_t bits = draw_u64(&d);
    for (uint32_t part = 0; part < 4; part++) to[i + part] = table[bits >> (16 * part) & (WEIGHT_TABLE - 1)];
  }
  for (uint32_t group = 0; group < columns / MX_GROUP; group++)
    if (draw_once(&d, 128))
      for (uint32_t i = 0; i < MX_GROUP; i++) to[group * MX_GROUP + i] &= E4M3_SIGN;
  if (in->which == CASE_DEFAULT) return;
  for (uint32_t i = 0; i < columns; i++) to[i] = extreme_weight(in->which, &d, to[i]);
}

/* Codes of which no two neighbours are equal: even and odd ones, as on a chess board. */
static uint8_t draw_code(const struct inputs *in, struct draw *d, uint64_t row, uint32_t column) {
  uint32_t step = 2 * (uint32_t)draw_below(d, 4) + ((uint32_t)row + column) % 2;
  uint32_t lowest = in->which == CASE_LARGEST ? CODE_LARGEST_CASE : in->which == CASE_DENORMAL ? 100 : CODE_LOWEST;
  return (uint8_t)(lowest + step);
}

static bool draw_matrix(struct inputs *in, enum front_arg arg, enum front_arg scales, const uint8_t *table, uint32_t rows, uint32_t columns,
    uint64_t first_row) {
  if (!in->given[arg]) {
    if (!inputs_allocate(in, arg, in->bytes[arg])) return false;
    for (uint32_t r = 0; r < rows; r++)
      draw_weight_row(in, arg, first_row + r, table, columns, (uint8_t *)in->data[arg] + (uint64_t)r * columns);
  }
  if (in->given[scales]) return true;
  if (!inputs_allocate(in, scales, in->bytes[scales])) return false;
  uint8_t *code = in->data[scales];
  for (uint32_t r = 0; r < rows / 32; r++) {
    struct draw d = draw_stream(in->seed, scales, first_row / 32 + r);
    for (uint32_t c = 0; c < columns / 32; c++) code[r * (columns / 32) + c] = draw_code(in, &d, first_row / 32 + r, c);
  }
  return true;
}

bool draw_weights(struct inputs *in) {
  uint8_t *table = malloc(WEIGHT_TABLE);
  if (!table) return false;
  fill_weight_table(table);
  uint32_t q_rows = geometry_q_rows((uint32_t)in->key.tp);
  bool good = draw_matrix(in, ARG_wqkv, ARG_wqkv_s, table, QKV_ROWS, HIDDEN, 0) &&
              draw_matrix(in, ARG_wqb, ARG_wqb_s, table, q_rows, Q_RANK, (uint64_t)in->rank * q_rows);
  free(table);
  return good;
}

/* ---- what lies in the outputs before a launch ---- */

bool draw_outputs(struct inputs *in) {
  static const enum front_arg outputs[] = {ARG_q, ARG_kt, ARG_klen, ARG_qr_out, ARG_tl};
  for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
    enum front_arg arg = outputs[i];
    bool used = arg == ARG_qr_out ? in->key.index : arg == ARG_tl ? in->key.timeline : arg == ARG_q || !in->key.index;
    uint64_t bytes = used ? in->bytes[arg] : 0;
    in->bytes[arg] = bytes;
    if (!used) continue;
    if (!inputs_allocate(in, arg, bytes)) return false;
    in->left[arg] = calloc(1, bytes);
    if (!in->left[arg]) return false;
    memset(in->data[arg], 0xa7, bytes);
  }
  return true;
}
