/* SPDX-License-Identifier: Apache-2.0 */
/* What strict mode costs: million wave-instructions a second of one host thread, functional and strict, for kernels of one kind each. */
#include "strict_rig.h"

#include <stdio.h>

#define LOOP(count, body)                                                                                                                  \
  STRICT_START "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15\nv_mov_b32 v2, 1\nv_mov_b32 v3, 2\nds_write_b32 v1, v3\ns_waitcnt "        \
               "lgkmcnt(0)\ns_movk_i32 s12, " count "\n1:\n" body                                                                          \
               "s_sub_u32 s12, s12, 1\ns_cmp_lg_u32 s12, 0\ns_cbranch_scc1 1b\ns_endpgm\n"
#define TWICE(x)  x x
#define TWENTY(x) TWICE(TWICE(x x x x x))

static const struct {
  const char *name;
  struct strict_case kernel;
} kinds[] = {
    {"vector arithmetic", {LOOP("4000", TWENTY("v_add_f32 v2, v2, v3\n")), 8, 64, 256, .hangs = false}},
    {"LDS reads", {LOOP("1000", TWENTY("ds_read_b32 v4, v1\n") "s_waitcnt lgkmcnt(0)\n"), 8, 64, 256, .hangs = false}},
    {"loads", {LOOP("400", TWENTY("global_load_dword v4, v1, s[4:5]\n") "s_waitcnt vmcnt(0)\n"), 8, 64, 256, .hangs = false}},
    {"stores", {LOOP("400", TWENTY("global_store_dword v1, v2, s[8:9]\n") "s_waitcnt vmcnt(0)\n"), 1, 64, 256, .hangs = false}},
};

static double rate(struct emu_kernel *k, const struct strict_case *c, bool strict) {
  struct hsa_emu_counters n;
  assert_int_equal(strict ? strict_launch(c, k, 1) : plain_launch(c, k), 0);
  hsa_emu_last_dispatch(&n);
  return (double)n.instructions * 1e3 / (double)n.host_ns;
}

static void measure(void **state) {
  (void)state;
  hsa_emu_set_threads(1);
  printf("%-20s %12s %12s %8s\n", "million a second", "functional", "strict", "times");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct emu_kernel k = strict_kernel(&kinds[i].kernel, false);
    double plain = rate(&k, &kinds[i].kernel, false), strict = rate(&k, &kinds[i].kernel, true);
    printf("%-20s %12.2f %12.2f %8.1f\n", kinds[i].name, plain, strict, plain / strict);
    kernel_free(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(measure)};
  return cmocka_run_group_tests(tests, strict_open, strict_close);
}
