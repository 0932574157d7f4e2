/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and a workgroup's view of it, against plain byte arrays. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"

static struct memory *memory;
static struct view view;

static int set_up(void **state) {
  (void)state;
  memory = memory_create();
  assert_non_null(memory);
  assert_true(view_init(&view, memory));
  view_begin(&view, 3);
  view_begin_quantum(&view);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  view_free(&view);
  memory_destroy(memory);
  return 0;
}

static uint32_t random_state = 12345;

static uint32_t draw(uint32_t below) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)random_state * below >> 32);
}

static const struct atomic *answered;
static void answer(struct wave *w, const struct atomic *a) {
  (void)w;
  answered = a;
}

static void commit(bool *changed) {
  const struct atomic *bad = NULL;
  *changed = false;
  assert_true(view_commit(&view, answer, &bad, changed));
  view_begin_quantum(&view);
}

static void loads_see_own_stores_and_memory_sees_them_after_the_commit(void **state) {
  (void)state;
  enum { BYTES = 5000, ROUNDS = 40, STEPS = 600 };
  uint8_t committed[BYTES] = {0}, own[BYTES] = {0}, data[64], temp[64];
  uint64_t base = memory_allocate(memory, BYTES, 0, 0);
  assert_true(base);
  for (int round = 0; round < ROUNDS; round++) {
    for (int step = 0; step < STEPS; step++) {
      uint32_t bytes = draw(64) + 1, at = draw(BYTES - bytes + 1);
      if (draw(2)) {
        for (uint32_t i = 0; i < bytes; i++) own[at + i] = data[i] = (uint8_t)draw(256);
        assert_true(view_write(&view, base + at, data, bytes));
      } else {
        const void *seen = view_read(&view, base + at, bytes, temp);
        assert_non_null(seen);
        assert_memory_equal(seen, own + at, bytes);
      }
      assert_memory_equal((void *)(uintptr_t)base, committed, BYTES);
    }
    bool changed;
    commit(&changed);
    assert_true(changed);
    memcpy(committed, own, BYTES);
    assert_memory_equal((void *)(uintptr_t)base, committed, BYTES);
  }
}

static void many_lines_in_one_quantum_are_all_kept(void **state) {
  (void)state;
  enum { LINES = 20000 };
  uint64_t base = memory_allocate(memory, (uint64_t)LINES * 256, 0, 0), value, temp;
  for (uint64_t i = 0; i < LINES; i++) assert_true(view_write(&view, base + 256 * i + i % 200, &i, 8));
  for (uint64_t i = 0; i < LINES; i++) {
    memcpy(&value, view_read(&view, base + 256 * i + i % 200, 8, &temp), 8);
    assert_int_equal(value, i);
  }
  bool changed;
  commit(&changed);
  for (uint64_t i = 0; i < LINES; i++) {
    memcpy(&value, (void *)(uintptr_t)(base + 256 * i + i % 200), 8);
    assert_int_equal(value, i);
  }
}

static void a_store_of_what_is_there_is_no_change(void **state) {
  (void)state;
  uint64_t base = memory_allocate(memory, 256, 0, 0);
  uint8_t zeros[64] = {0};
  bool changed;
  assert_true(view_write(&view, base, zeros, 64));
  assert_true(view_write(&view, base + 100, zeros, 7));
  commit(&changed);
  assert_false(changed);
  zeros[3] = 1;
  assert_true(view_write(&view, base + 100, zeros, 7));
  commit(&changed);
  assert_true(changed);
}

static uint64_t add(uint64_t old, uint64_t data, uint64_t compare) {
  (void)compare;
  return old + data;
}

static void atomics_follow_the_stores_of_their_quantum_lane_by_lane(void **state) {
  (void)state;
  uint64_t base = memory_allocate(memory, 256, 0, 0);
  uint32_t ten = 10, now;
  assert_true(view_write(&view, base + 8, &ten, 4));
  struct atomic *a = view_atomic(&view);
  a->fn = add;
  a->bytes = 4;
  a->returns = true;
  a->lanes = 0xB;
  for (uint64_t l = 0; l < 64; l++) {
    a->addr[l] = base + 8;
    a->data[l] = l + 1;
    a->compare[l] = 0;
  }
  bool changed;
  commit(&changed);
  assert_non_null(answered);
  assert_int_equal(answered->old[0], 10);
  assert_int_equal(answered->old[1], 11);
  assert_int_equal(answered->old[3], 13);
  memcpy(&now, (void *)(uintptr_t)(base + 8), 4);
  assert_int_equal(now, 17);
}

static void assert_fault(enum mem_fault_kind kind, uint64_t addr, const char *text) {
  char said[256];
  assert_int_equal(view.fault.kind, kind);
  assert_int_equal(view.fault.addr, addr);
  view_fault_text(&view, said, sizeof said);
  if (!strstr(said, text)) fail_msg("\"%s\" lacks \"%s\"", said, text);
}

static void every_access_outside_an_allocation_is_a_fault(void **state) {
  (void)state;
  uint64_t base = memory_allocate(memory, 1001, 0, 0), other = memory_allocate(memory, 64, 0, 0);
  uint8_t temp[64] = {0};
  assert_non_null(view_read(&view, base + 1000, 1, temp));
  assert_null(view_read(&view, base + 1000, 2, temp));
  assert_fault(MEM_UNMAPPED, base + 1000, "past the end");
  assert_null(view_read(&view, base - 1, 1, temp));
  assert_fault(MEM_UNMAPPED, base - 1, "which no allocation holds");
  assert_false(view_write(&view, base + 1001, temp, 1));
  assert_fault(MEM_UNMAPPED, base + 1001, "stores 1 bytes");
  assert_null(view_read(&view, 0, 4, temp));
  assert_null(view_read(&view, UINT64_MAX - 2, 4, temp));
  assert_true(view_write(&view, other + 60, temp, 4));
  assert_true(memory_set_read_only(memory, base));
  view_begin_quantum(&view);
  assert_non_null(view_read(&view, base, 64, temp));
  assert_false(view_write(&view, base + 8, temp, 4));
  assert_fault(MEM_READ_ONLY, base + 8, "which is read-only");
  assert_true(memory_free(memory, other));
  assert_false(memory_free(memory, other));
  assert_false(memory_free(memory, base + 8));
  view_begin_quantum(&view);
  assert_null(view_read(&view, other, 4, temp));
}

static void a_bad_atomic_is_found_at_the_commit(void **state) {
  (void)state;
  uint64_t base = memory_allocate(memory, 256, 0, 0);
  struct atomic *a = view_atomic(&view);
  const struct atomic *bad = NULL;
  bool changed = false;
  a->fn = add;
  a->bytes = 8;
  a->lanes = 1;
  a->addr[0] = base + 4;
  a->data[0] = a->compare[0] = 0;
  assert_false(view_commit(&view, answer, &bad, &changed));
  assert_ptr_equal(bad, a);
  assert_fault(MEM_UNALIGNED, base + 4, "atomic of 8 bytes");
}

static void allocations_are_found_by_any_of_their_addresses(void **state) {
  (void)state;
  enum { COUNT = 300 };
  uint64_t base[COUNT];
  struct allocation a;
  for (uint32_t i = 0; i < COUNT; i++) {
    base[i] = memory_allocate(memory, 1 + 37 * i, i % 3 ? 0 : 65536, i);
    assert_true(base[i] && base[i] % 4096 == 0);
    if (i % 3 == 0) assert_int_equal(base[i] % 65536, 0);
  }
  for (uint32_t i = 0; i < COUNT; i += 2) assert_true(memory_free(memory, base[i]));
  for (uint32_t i = 0; i < COUNT; i++) {
    bool found = memory_find(memory, base[i] + 37 * i, &a);
    assert_int_equal(found, i % 2);
    if (found) assert_int_equal(a.owner, i);
    assert_false(memory_find(memory, base[i] + 37 * i + 1, &a));
  }
  assert_int_equal(memory_allocate(memory, 0, 0, 0), 0);
  assert_int_equal(memory_allocate(memory, UINT64_MAX - 5, 0, 0), 0);
  assert_int_equal(memory_allocate(memory, 4096, 12288, 0), 0);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(loads_see_own_stores_and_memory_sees_them_after_the_commit),
      TEST(many_lines_in_one_quantum_are_all_kept),
      TEST(a_store_of_what_is_there_is_no_change),
      TEST(atomics_follow_the_stores_of_their_quantum_lane_by_lane),
      TEST(every_access_outside_an_allocation_is_a_fault),
      TEST(a_bad_atomic_is_found_at_the_commit),
      TEST(allocations_are_found_by_any_of_their_addresses),
  };
  return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
