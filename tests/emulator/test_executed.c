/* SPDX-License-Identifier: Apache-2.0 */
/* FRONT_EMU_EXECUTED: a row counts when an instruction of it has been executed, not when it stands in the code. */
#include <stdio.h>
#include <stdlib.h>

#include "isa_rig.h"

static void what_only_stands_in_the_code_does_not_count(void **state) {
  (void)state;
  static const char *const lines[] = {"v_mov_b32 v0, v1", "s_branch 1", "v_add_u32 v0, v0, v1", "s_nop 0", "ds_write_b32 v0, v1",
      "s_set_gpr_idx_on s0, gpr_idx(SRC0)", "v_mov_b32 v0, v1", "v_add_u32 v0, v0, v1"};
  const char *path = path_in(temp_dir(), "executed");
  setenv("FRONT_EMU_EXECUTED", path, 1);
  for (int twice = 0; twice < 2; twice++) {
    struct rig *rig = rig_open("gfx950", lines, 8);
    rig_run(rig, 0), rig_run(rig, 1), rig_run(rig, 0);
    rig->wave->sreg[0] = 2;
    rig_run(rig, 5), rig_run(rig, 6); /* its instruction is a copy then */
    rig_close(rig);
  }
  unsetenv("FRONT_EMU_EXECUTED");
  char *text = read_file(path, NULL);
  assert_string_equal(text, "valu v_mov_b32\nwait s_branch\nwait s_set_gpr_idx_on\nvalu v_mov_b32\nwait s_branch\nwait s_set_gpr_idx_on\n");
  free(text);
}

/* Without the option rows run as they are. */
static void nobody_counts_unless_asked(void **state) {
  (void)state;
  static const char *const lines[] = {"v_mov_b32 v0, v1"};
  struct rig *rig = rig_open("gfx950", lines, 1);
  assert_null(rig->program->executed);
  assert_ptr_equal(rig->program->inst[0].run, rig->program->inst[0].row->run);
  rig_close(rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_only_stands_in_the_code_does_not_count), cmocka_unit_test(nobody_counts_unless_asked)};
  return cmocka_run_group_tests_name("executed instructions are those that were executed", tests, NULL, NULL);
}
