/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of code objects, for a reviewer: what their metadata and disassembly count. */
#ifndef FRONT_CHECK_FIGURES_H
#define FRONT_CHECK_FIGURES_H

#include "check.h"

/* One row a figure: FIGURE(member, what people read). */
#define CHECK_FIGURES(FIGURE)                                                                                                              \
  FIGURE(vgprs, "VGPRs")                                                                                                                   \
  FIGURE(sgprs, "SGPRs")                                                                                                                   \
  FIGURE(lds_bytes, "LDS bytes")                                                                                                           \
  FIGURE(code_bytes, "code bytes")                                                                                                         \
  FIGURE(instructions, "instructions")                                                                                                     \
  FIGURE(loads, "loads")                                                                                                                   \
  FIGURE(stores, "stores")                                                                                                                 \
  FIGURE(waits, "waits")                                                                                                                   \
  FIGURE(barriers, "barriers")

enum check_figure_name {
#define FIGURE(member, label) FIGURE_##member,
  CHECK_FIGURES(FIGURE)
#undef FIGURE
      FIGURES
};

struct check_figures {
  uint32_t value[FIGURES];
};

/* "VGPRs" */
const char *check_figure_label(enum check_figure_name figure);

/* The figures of up to CHECK_IMAGES_MAX images, of one kernel each (vector memory loads and stores; waits are s_waitcnt of any kind).
   FRONTGEN_USAGE: one is no code object with one kernel; its number in *bad. FRONTGEN_ENVIRONMENT: llvm-objdump fails. */
enum frontgen_status check_measure(const struct check_image *image, size_t count, const struct frontgen_options *options,
    struct check_figures *figures, size_t *bad, char error[FRONTGEN_ERROR_MAX]);

#endif
