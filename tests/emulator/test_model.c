/* SPDX-License-Identifier: Apache-2.0 */
/* What fits on a compute unit, against figures worked out by hand, and worker threads. */
#include "support.h"

#include <string.h>

#include "model.h"
#include "workers.h"

static struct model chosen(const char *device) {
  struct model m;
  char error[MODEL_ERROR_MAX];
  if (!model_select(device, &m, error)) fail_msg("%s", error);
  return m;
}

static void workgroups_share_a_unit_as_registers_and_lds_allow(void **state) {
  (void)state;
  const struct model mi355x = chosen("mi355x"), mi300x = chosen("mi300x"), *m = &mi355x;
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
  assert_int_equal(model_workgroups_a_cu(&mi300x, 8, 256, 65536), 1);
  assert_int_equal(model_workgroups_a_cu(&mi300x, 8, 256, 65537), 0);
}

/* From AMD's data sheets: name, agents, XCDs and units of an agent, GiB of an agent. */
static void devices_have_the_units_of_their_data_sheets(void **state) {
  (void)state;
  static const struct {
    const char *device, *cpu;
    uint32_t agents, xcds, cus, gib;
  } sheet[] = {
      {"", "gfx950", 1, 8, 256, 288},
      {"gfx950", "gfx950", 1, 8, 256, 288},
      {"mi355x", "gfx950", 1, 8, 256, 288},
      {"mi355x-spx", "gfx950", 1, 8, 256, 288},
      {"mi355x-dpx", "gfx950", 2, 4, 128, 144},
      {"mi355x-qpx", "gfx950", 4, 2, 64, 72},
      {"mi355x-cpx", "gfx950", 8, 1, 32, 36},
      {"mi350x", "gfx950", 1, 8, 256, 288},
      {"gfx942", "gfx942", 1, 8, 304, 192},
      {"mi300x", "gfx942", 1, 8, 304, 192},
      {"mi300x-dpx", "gfx942", 2, 4, 152, 96},
      {"mi300x-cpx", "gfx942", 8, 1, 38, 24},
      {"mi325x", "gfx942", 1, 8, 304, 256},
      {"mi300a", "gfx942", 1, 6, 228, 128},
      {"mi300a-tpx", "gfx942", 3, 2, 76, 42},
      {"mi308x", "gfx942", 1, 4, 80, 192},
      {"mi308x-cpx", "gfx942", 4, 1, 20, 48},
      {"mi355x:cus=228", "gfx950", 1, 8, 228, 288},
      {"mi300x-cpx:cus=20", "gfx942", 8, 1, 20, 24},
  };
  for (size_t i = 0; i < sizeof sheet / sizeof sheet[0]; i++) {
    struct model m = chosen(sheet[i].device);
    assert_string_equal(m.cpu, sheet[i].cpu);
    assert_int_equal(m.agents, sheet[i].agents);
    assert_int_equal(m.xcds, sheet[i].xcds);
    assert_int_equal(m.cus, sheet[i].cus);
    assert_int_equal(m.memory_bytes >> 30, sheet[i].gib);
  }
}

static void units_that_do_not_divide_by_the_chiplets_are_all_there(void **state) {
  (void)state;
  struct model m = chosen("mi355x:cus=228"); /* 4 chiplets with 29, 4 with 28 */
  uint32_t sum = 0;
  for (uint32_t x = 0; x < m.xcds; x++) sum += model_xcd_cus(&m, x);
  assert_int_equal(sum, 228);
  assert_int_equal(model_xcd_cus(&m, 3), 29);
  assert_int_equal(model_xcd_cus(&m, 4), 28);
}

static void an_unknown_device_is_an_error_that_lists_those_there_are(void **state) {
  (void)state;
  static const char *const wrong[] = {"gfx1100", "mi355", "MI355X", "mi355x-", "mi355x-npx", "mi355x-tpx", "mi308x-dpxx", "mi308x-qpx",
      "mi355x:cus=0", "mi355x:cus=321", "mi355x:cus=7", "mi355x:cus=12x", "mi355x:cu=3", "mi355x:cus=-1",
      "mi355x:cus=99999999999999999999"};
  static const char *const listed[] = {"mi355x[-dpx][-qpx][-cpx]", "mi350x", "mi300x", "mi325x", "mi300a[-tpx][-cpx]", "mi308x", ":cus=N"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct model m;
    char error[MODEL_ERROR_MAX] = "";
    if (model_select(wrong[i], &m, error)) fail_msg("%s is taken", wrong[i]);
    assert_non_null(strstr(error, wrong[i]));
    for (size_t k = 0; k < sizeof listed / sizeof listed[0]; k++)
      if (!strstr(error, listed[k])) fail_msg("%s: no %s in: %s", wrong[i], listed[k], error);
  }
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
      cmocka_unit_test(devices_have_the_units_of_their_data_sheets),
      cmocka_unit_test(units_that_do_not_divide_by_the_chiplets_are_all_there),
      cmocka_unit_test(an_unknown_device_is_an_error_that_lists_those_there_are),
      cmocka_unit_test(workers_do_every_index_once),
  };
  return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
