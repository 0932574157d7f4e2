/* SPDX-License-Identifier: Apache-2.0 */
/* Published register layouts of matrix instructions (tests/oracles/mfma_cdna3.tsv, mfma_cdna4.tsv): which register and lane an element is
 * in. */
#ifndef FRONT_TESTS_MFMA_LAYOUT_H
#define FRONT_TESTS_MFMA_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

enum { LAYOUTS_MAX = 80, FIELD_MAX = 80 };

struct layout {
  char name[48];
  int m, n, k, blocks;
  char a_gpr[FIELD_MAX], a_lane[FIELD_MAX], b_gpr[FIELD_MAX], b_lane[FIELD_MAX], d_gpr[FIELD_MAX], d_lane[FIELD_MAX];
};

extern struct layout layouts[LAYOUTS_MAX];
extern size_t layout_count;

/* Adds a table's rows to layouts. A field that is not understood fails the running test. */
void read_layouts(const char *file);
const struct layout *layout_named(const char *name);
/* Of A or of B: the last word of a name is the type of both; fp8_bf8 has one each. */
const char *layout_type(const struct layout *l, bool b);

/* What a formula may name; `at` is where it is being read. */
struct formula {
  const char *at;
  int i, j, k, block;
};

/* The first register, and the bits of the lane there: 64 are a pair of registers. */
struct place {
  int reg, lane, bit, bits;
};

struct place place_of(const char *gpr, const char *lane, struct formula at);

#endif
