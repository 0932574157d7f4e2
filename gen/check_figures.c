/* SPDX-License-Identifier: Apache-2.0 */
#include "check_figures.h"
#include "check_gates.h"

#include <stdlib.h>
#include <string.h>

const char *check_figure_label(enum check_figure_name figure) {
  static const char *const labels[FIGURES] = {
#define FIGURE(member, label) label,
      CHECK_FIGURES(FIGURE)
#undef FIGURE
  };
  return labels[figure];
}

static void count(const struct check *c, struct check_figures *f) {
  const struct code_kernel *k = c->kernel;
  f->value[FIGURE_vgprs] = k->vgpr_count;
  f->value[FIGURE_sgprs] = k->sgpr_count;
  f->value[FIGURE_lds_bytes] = k->group_segment_fixed_size;
  f->value[FIGURE_code_bytes] = (uint32_t)k->code_bytes;
  f->value[FIGURE_instructions] = c->code.insts;
  for (uint32_t i = 0; i < c->code.insts; i++) {
    const struct check_inst *inst = &c->code.inst[i];
    const char *name = inst->text.name;
    f->value[FIGURE_loads] += inst->access && strstr(name, "_load") != NULL;
    f->value[FIGURE_stores] += inst->access && strstr(name, "_store") != NULL;
    f->value[FIGURE_waits] += strncmp(name, "s_waitcnt", 9) == 0;
    f->value[FIGURE_barriers] += strcmp(name, "s_barrier") == 0;
  }
}

static enum frontgen_status measure_one(
    const struct check_image *image, const char *text, struct check_figures *f, char error[FRONTGEN_ERROR_MAX]) {
  char why[CODE_ERROR_MAX];
  enum frontgen_status status = FRONTGEN_USAGE;
  struct check *c = calloc(1, sizeof *c);
  memset(f, 0, sizeof *f);
  if (!c) {
    snprintf(error, FRONTGEN_ERROR_MAX, "no memory to measure the code object");
    return FRONTGEN_ENVIRONMENT;
  }
  if (!code_object_open(image->bytes, image->size, &c->co, why)) {
    snprintf(error, FRONTGEN_ERROR_MAX, "%s", why);
    free(c);
    return FRONTGEN_USAGE;
  }
  c->kernel = code_object_kernel(&c->co, NULL);
  if (!c->kernel)
    snprintf(error, FRONTGEN_ERROR_MAX, "%u kernels: an object of ours has one", c->co.kernels);
  else
    status = check_read_code(c, text, error);
  if (!status) count(c, f);
  check_free_code(&c->code);
  code_object_close(&c->co);
  free(c);
  return status;
}

enum frontgen_status check_measure(const struct check_image *image, size_t images, const struct frontgen_options *options,
    struct check_figures *figures, size_t *bad, char error[FRONTGEN_ERROR_MAX]) {
  char *text[CHECK_IMAGES_MAX];
  *bad = images;
  enum frontgen_status status = check_disassemble(image, images, options, text, error);
  if (status) return status;
  for (size_t i = 0; i < images; i++) {
    if (!status) {
      status = measure_one(&image[i], text[i], &figures[i], error);
      if (status) *bad = i;
    }
    free(text[i]);
  }
  return status;
}
