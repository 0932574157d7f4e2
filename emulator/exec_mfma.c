/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix instructions: the rows of isa_mfma.def. D = A B + C, a block at a time: registers to f64 matrices, one sum in f64 in K order per
   element starting from C, one rounding to the result's type. For elements of 16 bits or fewer each product is exact in f64, so that
   multiply and add is what fma would be. EXEC does not matter. */
#include <math.h>

#include "operand.h"

enum element { F32, XF32, F16, BF16, I8, F64, FP8, BF8, F8F6F4, I32 };

struct mfma_shape {
  uint8_t rows, columns, k, blocks;
  uint8_t a, b, d; /* enum element */
  bool scaled;
};

static const struct mfma_shape shapes[] = {
#define MFMA(name, rows, columns, k, blocks, a, b, d)       {rows, columns, k, blocks, a, b, d, false},
#define MFMA_SCALE(name, rows, columns, k, blocks, a, b, d) {rows, columns, k, blocks, a, b, d, true},
#include "isa_mfma.def"
#undef MFMA
#undef MFMA_SCALE
};

enum { SCALE_BLOCK = 32, SIDE_MAX = 2048, RESULT_MAX = 2048 };

/* One operand's elements as f64: element (k, row or column i) of block n at [(n * K + k) * side + i]. */
struct side {
  double v[SIDE_MAX];
} __attribute__((aligned(64)));

/* Elements (i, j) of block n at [(n * rows + i) * columns + j]. */
struct result {
  double v[RESULT_MAX];
} __attribute__((aligned(64)));

static uint32_t element_bits(uint8_t e) { return e == F64 ? 64 : e == F32 || e == XF32 || e == I32 ? 32 : e == F16 || e == BF16 ? 16 : 8; }

/* --- shape ---------------------------------------------------------------------------------------------------------------- */

/* C: registers or an inline constant for all elements. */
static void take_c(struct reading *r, const struct mfma_shape *m, uint32_t words) {
  const struct text_operand *op = &r->text->operand[r->next];
  if (r->next >= r->text->operands || op->kind == TEXT_VGPR || op->kind == TEXT_AGPR) {
    r->in->src[2] = take_vgprs(r, words);
    return;
  }
  r->in->sources = 2;
  take_scalar_source(r, m->d == F64 ? T_f64 : m->d == I32 ? T_i32 : T_f32);
  if (r->in->src[2].kind != OPERAND_CONST) reading_error(r, "operand %u should be VGPRs or a constant", r->next);
}

/* Which byte of the scale register: op_sel is its low bit, op_sel_hi its high one. */
static void take_scales(struct reading *r) {
  const struct inst_text *t = r->text;
  r->in->src[3] = take_vgprs(r, 1);
  r->in->src[4] = take_vgprs(r, 1);
  for (uint8_t i = 0; i < 2; i++) {
    bool low = i < t->list_count[TEXT_MOD_OP_SEL] && t->list[TEXT_MOD_OP_SEL][i];
    bool high = i < t->list_count[TEXT_MOD_OP_SEL_HI] ? t->list[TEXT_MOD_OP_SEL_HI][i] : true;
    r->in->src[3 + i].select = (uint8_t)(low + 2 * high);
  }
  take_mod(r, TEXT_MOD_OP_SEL);
  take_mod(r, TEXT_MOD_OP_SEL_HI);
}

/* Bits of an element of the f8f6f4 forms, by cbsz or blgp. */
static uint32_t format_bits(uint32_t format) { return format < 2 ? 8 : format < 4 ? 6 : 4; }

static uint32_t side_words(const struct mfma_shape *m, uint32_t side, uint8_t type, uint32_t format) {
  return side * m->k * m->blocks / 64 * (type == F8F6F4 ? format_bits(format) : element_bits(type)) / 32;
}

static void read_mfma(struct reading *r) {
  const struct mfma_shape *m = &shapes[r->row->extra];
  struct inst *in = r->in;
  uint32_t d_words = (uint32_t)m->rows * m->columns * m->blocks / 64 * element_bits(m->d) / 32;
  in->cbsz = (uint8_t)take_mod(r, TEXT_MOD_CBSZ);
  in->abid = (uint8_t)take_mod(r, TEXT_MOD_ABID);
  in->blgp = (uint8_t)take_mod(r, TEXT_MOD_BLGP);
  take_vgpr_result(r, d_words);
  in->src[0] = take_vgprs(r, side_words(m, m->rows, m->a, in->cbsz));
  in->src[1] = take_vgprs(r, side_words(m, m->columns, m->b, in->blgp));
  take_c(r, m, d_words);
  if (m->scaled) take_scales(r);
  in->sources = 0; /* none goes through operand() */
  for (uint32_t i = 0; i < 3 && inst_text_has(r->text, TEXT_MOD_NEG); i++) in->imm |= (uint32_t)(r->text->list[TEXT_MOD_NEG][i] & 1) << i;
  take_mod(r, TEXT_MOD_NEG);
  if (in->imm && m->a != F64) reading_error(r, "neg is f64's alone");
  if (m->a == F8F6F4 && (in->cbsz > 4 || in->blgp > 4)) reading_error(r, "a format that does not exist");
  if (m->a != F8F6F4 && ((1u << in->cbsz) > m->blocks || in->abid >= 1u << in->cbsz))
    reading_error(r, "a broadcast of blocks that are not there");
  if (m->a == F64 && in->blgp) reading_error(r, "blgp of f64 is not modelled");
}

/* --- registers to matrices --------------------------------------------------------------------------------------------------- */

/* The lane that B's lane l is taken from (blgp). */
static uint32_t b_lane(uint32_t l, uint32_t blgp) {
  switch (blgp) {
  case 1:
    return l & 31;
  case 2:
    return l | 32;
  case 3:
    return (l + 16) & 63;
  case 0:
    return l;
  default:
    return (l & 15) + 16 * (blgp - 4);
  }
}

/* f32 rounded to 10 bits of fraction, to nearest even, as AMD's libraries convert. */
static float xf32_of(uint32_t bits) {
  if ((bits & 0x7F800000) != 0x7F800000) bits = (bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu;
  return f32_of(bits);
}

static double element(const vgpr *v, uint8_t type, uint32_t lane, uint32_t index, const double *fp8) {
  switch (type) {
  case F64:
    return f64_of(v[2 * index].w[lane] | (uint64_t)v[2 * index + 1].w[lane] << 32);
  case F32:
    return (double)f32_of(v[index].w[lane]);
  case XF32:
    return (double)xf32_of(v[index].w[lane]);
  case F16:
    return (double)f16_to_f32(v[index / 2].w[lane] >> (index % 2 * 16) & 0xFFFF);
  case BF16:
    return (double)bf16_to_f32(v[index / 2].w[lane] >> (index % 2 * 16) & 0xFFFF);
  case I8:
    return (double)(int8_t)(uint8_t)(v[index / 4].w[lane] >> (index % 4 * 8));
  default:
    return fp8[v[index / 4].w[lane] >> (index % 4 * 8) & 0xFF];
  }
}

/* Consecutive K of a lane, lanes of a block side by side, K groups of lanes behind blocks. */
static void load_side(
    struct side *s, const struct mfma_shape *m, const vgpr *v, uint32_t side, uint8_t type, uint32_t blgp, const double *fp8) {
  uint32_t per_lane = side * m->k * m->blocks / 64;
  for (uint32_t n = 0; n < m->blocks; n++)
    for (uint32_t k = 0; k < m->k; k++)
      for (uint32_t i = 0; i < side; i++) {
        uint32_t lane = i + side * (n + m->blocks * (k / per_lane));
        s->v[(n * m->k + k) * side + i] = element(v, type, b_lane(lane, blgp), k % per_lane, fp8);
      }
}

/* A code of fp8 (OCP) or bf8: arithmetic that vectorises, where a look-up in a table does not. */
ALWAYS_INLINE double f8_value(uint32_t code, bool bf8) {
  uint32_t size = code & 0x7F, sign = (code & 0x80) << 24;
  uint32_t normal = (size << (bf8 ? 21 : 20)) + ((bf8 ? 112u : 120u) << 23);
  uint32_t small = f32_bits((float)(int32_t)size * (bf8 ? 0x1p-16f : 0x1p-9f));
  uint32_t bits = choose(0u - (uint32_t)((int32_t)size < (bf8 ? 4 : 8)), small, normal) | sign;
  if (bf8) bits = choose(0u - (uint32_t)(size == 0x7C), sign | 0x7F800000u, bits);
  return (double)f32_of(choose(0u - (uint32_t)((int32_t)size > (bf8 ? 0x7C : 0x7E)), 0x7FC00000u, bits));
}

/* A register of `side` lanes: rows of four K, one behind the other. */
ALWAYS_INLINE void load_f8_word(double *restrict to, const uint32_t *restrict words, const double *restrict factor, size_t side, bool bf8) {
  for (uint32_t shift = 0; shift < 32; shift += 8, to += side)
    for (size_t i = 0; i < side; i++) to[i] = f8_value(words[i] >> shift, bf8) * factor[i];
}

/* The 8-bit operands of the f8f6f4 forms: a lane's 32 bytes are two runs of 16 K; codes are one a 32 of K. */
LANES static void load_f8_side(
    struct side *s, const struct mfma_shape *m, const vgpr *v, uint32_t side, bool bf8, const vgpr *codes, uint32_t select) {
  uint32_t groups = 64 / side, half = m->k / 2;
  double scale[4][32];
  for (uint32_t b = 0; b < groups; b++)
    for (uint32_t i = 0; i < side; i++) scale[b][i] = codes ? e8m0_to_f64(codes->w[b * side + i] >> (8 * select) & 0xFF) : 1.0;
  for (uint32_t g = 0; g < groups; g++)
    for (uint32_t word = 0; word < 8; word++) {
      uint32_t k = (word / 4) * half + 16 * g + 4 * (word % 4);
      const uint32_t *words = &v[word].w[g * side];
      if (bf8)
        load_f8_word(&s->v[k * side], words, scale[k / SCALE_BLOCK], side, true);
      else
        load_f8_word(&s->v[k * side], words, scale[k / SCALE_BLOCK], side, false);
    }
}

/* The operands of 6 and 4 bits: a lane's 32 elements are one run of K, and its own code is theirs. */
static void load_mx_side(
    struct side *s, const struct mfma_shape *m, const vgpr *v, uint32_t side, uint32_t format, const vgpr *codes, uint32_t select) {
  const double *values = mx_table(format);
  uint32_t width = format_bits(format);
  for (uint32_t k = 0; k < m->k; k++)
    for (uint32_t i = 0; i < side; i++) {
      uint32_t lane = k / SCALE_BLOCK * side + i, bit = k % SCALE_BLOCK * width, word = bit / 32;
      uint64_t both = v[word].w[lane];
      if (bit % 32 + width > 32) both |= (uint64_t)v[word + 1].w[lane] << 32;
      double scale = codes ? e8m0_to_f64(codes->w[lane] >> (8 * select) & 0xFF) : 1.0;
      s->v[k * side + i] = values[both >> (bit % 32) & ((1u << width) - 1)] * scale;
    }
}

static void load_f8f6f4_side(
    struct side *s, const struct mfma_shape *m, const vgpr *v, uint32_t side, uint32_t format, const vgpr *codes, uint32_t select) {
  if (format < 2)
    load_f8_side(s, m, v, side, format == 1, codes, select);
  else
    load_mx_side(s, m, v, side, format, codes, select);
}

/* Register (in elements) and lane of element (i, 0) of block n; the lanes of the row follow. */
static void row_place(const struct mfma_shape *m, uint32_t n, uint32_t i, uint32_t *reg, uint32_t *lane) {
  if (m->d == F64) {
    *reg = i / 4;
    *lane = 16 * (i % 4) + m->columns * n;
    return;
  }
  uint32_t across = 64 / m->columns, group = n * (m->rows / 4) + i / 4;
  *reg = 4 * (group / across) + i % 4;
  *lane = m->columns * (group % across);
}

#define FOR_ROWS(m, n, i)                                                                                                                  \
  for (uint32_t n = 0; n < (m)->blocks; n++)                                                                                               \
    for (uint32_t i = 0; i < (m)->rows; i++)
#define FOR_COLUMNS(m, j) for (size_t j = 0; j < (m)->columns; j++)

static double constant_c(const struct mfma_shape *m, const struct source *s) {
  if (m->d == F64) return f64_of(s->value[0] | (uint64_t)s->value[1] << 32);
  return m->d == I32 ? (double)(int32_t)s->value[0] : (double)f32_of(s->value[0]);
}

LANES static void load_c(
    struct result *restrict c, const struct mfma_shape *restrict m, const struct wave *restrict w, const struct inst *in) {
  bool constant = in->src[2].kind == OPERAND_CONST;
  double value = constant ? constant_c(m, &in->src[2]) : 0;
  FOR_ROWS(m, n, i) {
    uint32_t reg, lane;
    double *to = &c->v[(n * m->rows + i) * m->columns];
    row_place(m, n, i, &reg, &lane);
    const vgpr *v = &w->v[in->src[2].reg + (m->d == F64 ? 2 * reg : reg)];
    const uint32_t *words = &v[0].w[lane];
    if (constant)
      FOR_COLUMNS(m, j) to[j] = value;
    else if (m->d == F64)
      FOR_COLUMNS(m, j) to[j] = f64_of(words[j] | (uint64_t)v[1].w[lane + j] << 32);
    else if (m->d == I32)
      FOR_COLUMNS(m, j) to[j] = (double)(int32_t)words[j];
    else
      FOR_COLUMNS(m, j) to[j] = (double)f32_of(words[j]);
  }
}

LANES static void store_result(
    struct wave *restrict w, const struct inst *in, const struct mfma_shape *restrict m, const struct result *restrict d) {
  FOR_ROWS(m, n, i) {
    uint32_t reg, lane;
    const double *from = &d->v[(n * m->rows + i) * m->columns];
    row_place(m, n, i, &reg, &lane);
    vgpr *v = &w->v[in->dst.reg + (m->d == F64 ? 2 * reg : reg)];
    uint32_t *words = &v[0].w[lane];
    if (m->d == F64) FOR_COLUMNS(m, j) {
        words[j] = (uint32_t)f64_bits(from[j]);
        v[1].w[lane + j] = (uint32_t)(f64_bits(from[j]) >> 32);
      }
    else if (m->d == I32)
      FOR_COLUMNS(m, j) words[j] = (uint32_t)(int64_t)from[j];
    else
      FOR_COLUMNS(m, j) words[j] = f32_bits((float)from[j]);
  }
}

/* --- the product ------------------------------------------------------------------------------------------------------------- */

/* Four of them, anywhere in an array of double. */
typedef double double4 __attribute__((vector_size(32), aligned(8), may_alias));

/* Where products are exact, fma is what multiply and add are, and half the work. */
#ifdef __clang__
#define CONTRACTED
#define CONTRACT _Pragma("STDC FP_CONTRACT ON")
#else
#define CONTRACTED __attribute__((optimize("fp-contract=fast")))
#define CONTRACT
#endif

/* 16 columns of two rows at a time: eight vectors of sums stay in registers. Rows of D and B are `columns` apart in memory. */
LANES CONTRACTED static void multiply_16(double *d, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t k_count) {
  CONTRACT
  for (uint32_t i = 0; i < rows; i += 2) {
    double4 *top = (double4 *)(d + (size_t)i * columns), *low = (double4 *)(d + (size_t)(i + 1) * columns);
    const double *x = a + i, *row = b;
    double4 p0 = top[0], p1 = top[1], p2 = top[2], p3 = top[3], q0 = low[0], q1 = low[1], q2 = low[2], q3 = low[3];
    for (uint32_t k = 0; k < k_count; k++, x += rows, row += columns) {
      const double4 *y = (const double4 *)row;
      p0 += y[0] * x[0], p1 += y[1] * x[0], p2 += y[2] * x[0], p3 += y[3] * x[0];
      q0 += y[0] * x[1], q1 += y[1] * x[1], q2 += y[2] * x[1], q3 += y[3] * x[1];
    }
    top[0] = p0, top[1] = p1, top[2] = p2, top[3] = p3;
    low[0] = q0, low[1] = q1, low[2] = q2, low[3] = q3;
  }
}

/* f64 products are rounded: fma, as the hardware's sum of products is. */
static void multiply_f64(double *d, const double *a, const double *b, const struct mfma_shape *m) {
  for (uint32_t i = 0; i < m->rows; i++)
    for (uint32_t j = 0; j < m->columns; j++)
      for (uint32_t k = 0; k < m->k; k++) d[i * m->columns + j] = fma(a[k * m->rows + i], b[k * m->columns + j], d[i * m->columns + j]);
}

static void multiply(struct result *d, const struct side *a, const struct side *b, const struct mfma_shape *m, const struct inst *in) {
  for (uint32_t n = 0; n < m->blocks; n++) {
    uint32_t a_block = m->a == F8F6F4 ? n : (n & ~((1u << in->cbsz) - 1)) + in->abid;
    const double *x = &a->v[a_block * m->k * m->rows], *y = &b->v[n * m->k * m->columns];
    double *to = &d->v[n * m->rows * m->columns];
    if (m->d == F64 || m->columns < 16) {
      multiply_f64(to, x, y, m);
      continue;
    }
    for (uint32_t j = 0; j < m->columns; j += 16) multiply_16(to + j, x, y + j, m->rows, m->columns, m->k);
  }
}

/* f64: the signs of A, B, C. */
static void negate(struct side *a, struct side *b, struct result *c, const struct mfma_shape *m, uint32_t which) {
  uint32_t blocks = m->blocks, a_count = blocks * m->rows * m->k, b_count = blocks * m->columns * m->k,
           c_count = blocks * m->rows * m->columns;
  for (uint32_t i = 0; which & 1 && i < a_count; i++) a->v[i] = -a->v[i];
  for (uint32_t i = 0; which & 2 && i < b_count; i++) b->v[i] = -b->v[i];
  for (uint32_t i = 0; which & 4 && i < c_count; i++) c->v[i] = -c->v[i];
}

static void run_mfma(struct wave *w, const struct inst *in) {
  const struct mfma_shape *m = &shapes[in->row->extra];
  struct side a, b;
  struct result d;
  const vgpr *va = &w->v[in->src[0].reg], *vb = &w->v[in->src[1].reg];
  bool fnuz = w->program->fnuz;
  if (m->a == F8F6F4) {
    load_f8f6f4_side(&a, m, va, m->rows, in->cbsz, m->scaled ? &w->v[in->src[3].reg] : NULL, in->src[3].select);
    load_f8f6f4_side(&b, m, vb, m->columns, in->blgp, m->scaled ? &w->v[in->src[4].reg] : NULL, in->src[4].select);
  } else {
    load_side(&a, m, va, m->rows, m->a, 0, fp8_table(fnuz, m->a == BF8));
    load_side(&b, m, vb, m->columns, m->b, in->blgp, fp8_table(fnuz, m->b == BF8));
  }
  load_c(&d, m, w, in);
  if (in->imm) negate(&a, &b, &d, m, in->imm);
  multiply(&d, &a, &b, m, in);
  store_result(w, in, m, &d);
}

enum mfma_index {
#define MFMA(name, ...)       INDEX_##name,
#define MFMA_SCALE(name, ...) INDEX_##name,
#include "isa_mfma.def"
#undef MFMA
#undef MFMA_SCALE
};

#define MFMA(name, ...)       {#name, read_mfma, run_mfma, CLASS_MFMA, APPROXIMATE, {T_NONE}, INDEX_##name},
#define MFMA_SCALE(name, ...) MFMA(name)
static const struct isa_row rows[] = {
#include "isa_mfma.def"
};

const struct isa_table isa_mfma = {"mfma", rows, sizeof rows / sizeof rows[0]};
