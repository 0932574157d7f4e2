/* SPDX-License-Identifier: Apache-2.0 */
/* What fits on a compute unit, against figures worked out by hand, and worker threads. */
#include "support.h"

#include "model.h"
#include "workers.h"

static void workgroups_share_a_unit_as_registers_and_lds_allow(void **state) {
  (void)state;
  const struct model *m = model_find("gfx950");
  assert_non_null(m);
  /* Eight waves of 256 registers: 512 / 256 = 2 waves a SIMD, 8 a CU: one workgroup. Of 128: two. */
  assert_int_equal(model_workgroups_a_cu(m, 8, 256, 0), 1);
  assert_int_equal(model_workgroups_a_cu(m, 8, 129, 0), 1);
  assert_int_equal(model_workgroups_a_cu(m, 8, 128, 0), 2);
  assert_int_equal(model_workgroups_a_cu(m, 8, 128, 86592), 1);
  assert_int_equal(model_workgroups_a_cu(m, 8, 128, 81920), 2);
  assert_int_equal(model_workgroups_a_cu(m, 8, 512, 0), 0);
  assert_int_equal(model_workgroups_a_cu(m, 4, 512, 0), 1);
  assert_int_equal(model_workgroups_a_cu(m, 1, 32, 0), 32);
  assert_int_equal(model_workgroups_a_cu(m, 2, 32, 0), 16);
  assert_int_equal(model_workgroups_a_cu(m, 1, 32, 163840), 1);
  assert_int_equal(model_workgroups_a_cu(m, 1, 32, 163841), 0);
  assert_int_equal(model_workgroups_a_cu(model_find("gfx942"), 8, 256, 65536), 1);
  assert_int_equal(model_workgroups_a_cu(model_find("gfx942"), 8, 256, 65537), 0);
}

static void models_have_the_units_of_their_data_sheets(void **state) {
  (void)state;
  assert_int_equal(model_find(NULL)->xcds * model_find(NULL)->cus_an_xcd, 256);
  assert_int_equal(model_find("gfx942")->xcds * model_find("gfx942")->cus_an_xcd, 304);
  assert_null(model_find("gfx1100"));
}

static void count(void *context, uint32_t i) {
  uint32_t *times = context;
  times[i]++;
}

static void workers_do_every_index_once(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  for (uint32_t threads = 1; threads <= 6; threads++) {
    uint32_t times[COUNT] = {0};
    struct workers *w = workers_create(threads);
    assert_non_null(w);
    for (uint32_t round = 0; round < 50; round++) workers_run(w, count, times, round % 3 ? COUNT : 1);
    for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(times[i], i ? 33 : 50);
    workers_destroy(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(workgroups_share_a_unit_as_registers_and_lds_allow),
      cmocka_unit_test(models_have_the_units_of_their_data_sheets),
      cmocka_unit_test(workers_do_every_index_once),
  };
  return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
