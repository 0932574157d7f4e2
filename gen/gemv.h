/* SPDX-License-Identifier: Apache-2.0 */
/* The inner product of a target: 16 weight rows times a tile of token rows in LDS, one wave's steps of K. */
#ifndef FRONT_GEMV_H
#define FRONT_GEMV_H

#include "ir.h"
#include "plan.h"

struct emit;

enum { WAVE_STEPS_MAX = 3 };

/* One task's operands in registers: a wave takes steps wave, wave + 8, … of the window. */
struct weights {
  val low[WAVE_STEPS_MAX], high[WAVE_STEPS_MAX], code[WAVE_STEPS_MAX];
  uint32_t window; /* steps of all waves together */
};

struct gemv_rows {
  val weights, codes; /* buffers */
  val first_row;      /* of the 16; a multiple of 16 */
  val first_step;     /* of the window, in steps from the row's start */
  uint32_t row_bytes; /* of the weight matrix */
  uint32_t window;
};

struct gemv_tile {
  uint32_t rows, codes;                      /* LDS bytes where the token rows and codes start */
  uint32_t row_bytes, code_row_bytes, count; /* count: tokens */
};

struct gemv {
  uint32_t loads_a_step; /* memory instructions */
  uint32_t mfmas_a_step;
  /* Issues the loads by step: low 16 B, high 16 B, code. */
  void (*load)(struct emit *e, const struct gemv_rows *rows, uint32_t line, struct weights *w);
  /* The wave's partial sums of `tasks` tasks, stored to LDS task by task from byte `red`. */
  void (*run)(struct emit *e, const struct weights *w, uint32_t tasks, const struct gemv_tile *tile, uint32_t red);
};

extern const struct gemv gemv_gfx950;

static inline uint32_t gemv_wave_steps(uint32_t window) { return (window + WAVES - 1) / WAVES; }

#endif
