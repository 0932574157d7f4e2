/* SPDX-License-Identifier: Apache-2.0 */
/* build_one KEY FILE: libfrontgen's whole path in one program: a key becomes a plan, the plan a code object in a file. */
#include <stdio.h>

#include "frontgen.h"

int main(int argc, char **argv) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX];
  if (argc != 3) {
    fprintf(stderr, "usage: build_one KEY FILE, for example build_one tokens=8,tp=4 kernel.hsaco\n");
    return 2;
  }
  enum frontgen_status status = frontgen_plan(argv[1], "gfx950", &plan, error);
  if (status == FRONTGEN_GOOD) status = frontgen_build_file(&plan, NULL, argv[2], error);
  if (status != FRONTGEN_GOOD) {
    fprintf(stderr, "build_one: %s\n", error);
    return (int)status;
  }
  printf("%s: %u tokens, %u query rows, %u bytes of LDS, %u bytes of scratch\n", plan.name, plan.tokens, plan.q_rows, plan.lds.bytes,
      plan.scratch.bytes);
  return 0;
}
