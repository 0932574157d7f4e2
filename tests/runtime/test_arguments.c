/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that cannot be right are refused by name before a launch; in debug mode the step's inputs too. */
#include "stub_setup.h"

#include <stdio.h>
#include <string.h>

/* Every pointer is in memory of exactly the size that front_kernel_argument() says. */
struct exact {
  struct setup s;
  void *at[40];
  struct front_argument_info info[40];
  uint32_t count;
  struct front_args args;
};

/* What a key does not say: x for 8 rows, a block of the cache, positions, the block table. */
static uint64_t bytes_of(const struct front_argument_info *a) {
  static const struct {
    const char *name;
    uint64_t bytes;
  } unsaid[] = {{"x", (7 * 6144 + 5120) * 2}, {"swa", 3 * 584 * 64}, {"cos_sin", 100 * 256}, {"comp_bt", 2 * 16 * 4}};
  for (int i = 0; i < 4; i++)
    if (!strcmp(a->name, unsaid[i].name)) return unsaid[i].bytes;
  return a->bytes;
}

static void *pointer_at(const struct front_args *args, uint32_t offset) {
  void *p;
  memcpy(&p, (const char *)args + offset, sizeof p);
  return p;
}

static void set_pointer(struct front_args *args, uint32_t offset, const void *p) { memcpy((char *)args + offset, &p, sizeof p); }

static struct exact set_up_exact(void) {
  struct exact e = {.s = set_up(4)};
  e.args = e.s.args;
  e.args.x_stride = 6144;
  while (front_kernel_argument(e.s.kernel, e.count, &e.info[e.count]) == FRONT_OK) {
    const struct front_argument_info *a = &e.info[e.count];
    if (a->needed && a->use != FRONT_ARGUMENT_SCALAR && a->use != FRONT_ARGUMENT_INSTANCE) {
      assert_int_equal(front_memory_allocate(e.s.device, bytes_of(a), &e.at[e.count]), FRONT_OK);
      memset(e.at[e.count], 0, bytes_of(a));
      set_pointer(&e.args, a->offset, e.at[e.count]);
    }
    e.count++;
  }
  assert_int_equal(e.count, 29);
  return e;
}

static void take_down_exact(struct exact *e) {
  for (uint32_t i = 0; i < e->count; i++) assert_int_equal(front_memory_free(e->s.device, e->at[i]), FRONT_OK);
  take_down(&e->s);
}

static void expect_refused(struct exact *e, const struct front_args *args, const char *name, const char *says) {
  front_binding binding;
  char begin[40];
  snprintf(begin, sizeof begin, "%s ", name);
  if (front_binding_create(e->s.instance, args, &binding) != FRONT_ERR_ARGUMENT) fail_msg("%s: %s: taken", name, says);
  if (strncmp(front_error(), begin, strlen(begin)) != 0 || !strstr(front_error(), says)) fail_msg("%s: %s: %s", name, says, front_error());
  if (front_binding_update(e->s.binding, args) != FRONT_ERR_ARGUMENT) fail_msg("%s: %s: taken by update", name, says);
}

static void every_pointer_that_is_null_misaligned_or_too_short_is_refused_by_name(void **context) {
  (void)context;
  struct exact e = set_up_exact();
  front_binding binding;
  unsigned pointers = 0;
  assert_int_equal(front_binding_create(e.s.instance, &e.args, &binding), FRONT_OK);
  assert_int_equal(front_binding_destroy(binding), FRONT_OK);
  for (uint32_t i = 0; i < e.count; i++) {
    const struct front_argument_info *a = &e.info[i];
    struct front_args bad = e.args;
    if (a->use == FRONT_ARGUMENT_SCALAR) continue;
    if (a->use == FRONT_ARGUMENT_INSTANCE) {
      set_pointer(&bad, a->offset, e.s.memory);
      expect_refused(&e, &bad, a->name, "is the instance's");
      continue;
    }
    set_pointer(&bad, a->offset, NULL);
    if (!a->needed) {
      assert_int_equal(front_binding_create(e.s.instance, &bad, &binding), FRONT_OK);
      assert_int_equal(front_binding_destroy(binding), FRONT_OK);
      continue;
    }
    expect_refused(&e, &bad, a->name, "is null");
    set_pointer(&bad, a->offset, (char *)e.s.memory + a->align / 2);
    expect_refused(&e, &bad, a->name, "must be aligned to");
    if (strcmp(a->name, "comp_bt") != 0) { /* whose size only a step's t2r says */
      bool sized = a->bytes || !strcmp(a->name, "x");
      set_pointer(&bad, a->offset, (char *)pointer_at(&e.args, a->offset) + (sized ? a->align : bytes_of(a) - a->align));
      expect_refused(&e, &bad, a->name, "this kernel needs");
    }
    pointers++;
  }
  assert_int_equal(pointers, 19);
  take_down_exact(&e);
}

static void strides_and_blocks_that_cannot_be_are_refused_by_name(void **context) {
  (void)context;
  static const struct {
    const char *name;
    int64_t value;
  } cases[] = {{"x_stride", 5112}, {"x_stride", 5124}, {"x_stride", -5120}, {"x_stride", 0}, {"bt_stride", -1}, {"swa_block", 0},
      {"swa_block", -64}, {"swa_stride", 584 * 64 - 8}, {"swa_stride", 584 * 64 + 4}, {"swa_stride", -584 * 64}, {"swa_stride", 0},
      {"comp_block", 0}, {"comp_block", -1}};
  struct exact e = set_up_exact();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct front_args bad = e.args;
    for (uint32_t k = 0; k < e.count; k++) {
      if (strcmp(e.info[k].name, cases[i].name) != 0) continue;
      assert_int_equal(e.info[k].use, FRONT_ARGUMENT_SCALAR);
      memcpy((char *)&bad + e.info[k].offset, &cases[i].value, strcmp(cases[i].name, "swa_stride") ? 4 : 8);
    }
    expect_refused(&e, &bad, cases[i].name, "it must");
  }
  struct front_args far = e.args;
  far.x_stride = 8192; /* 8 rows of it are longer than x's memory */
  expect_refused(&e, &far, "x", "this kernel needs");
  take_down_exact(&e);
}

static void memory_that_hsa_does_not_know_is_believed(void **context) {
  (void)context;
  struct exact e = set_up_exact();
  front_binding binding;
  static _Alignas(16) char host[16];
  struct front_args args = e.args;
  args.wqkv = host;
  assert_int_equal(front_binding_create(e.s.instance, &args, &binding), FRONT_OK);
  assert_int_equal(front_binding_destroy(binding), FRONT_OK);
  take_down_exact(&e);
}

/* ---- debug mode ---- */

struct step {
  int64_t pos[8], slot[8];
  int32_t swa_lens[8], t2r[8];
};

static struct step good_step(void) {
  struct step step;
  for (int i = 0; i < 8; i++) {
    step.pos[i] = 99 - i;
    step.slot[i] = i < 6 ? 191 - i : -1; /* the last of three blocks of 64; two pad rows */
    step.swa_lens[i] = i < 6 ? 128 : 1000;
    step.t2r[i] = i < 6 ? i % 2 : 7;
  }
  return step;
}

static const struct {
  const char *input, *says;
  int row;
  int64_t value;
} bad_steps[] = {
    {"pos", "2^24", 0, -1},
    {"pos", "2^24", 7, 1 << 24}, /* a pad row's too */
    {"pos", "cos_sin ends", 3, 100},
    {"slot", "2^31", 1, (int64_t)1 << 31},
    {"slot", "below -2^31", 6, INT32_MIN - (int64_t)1}, /* the kernel reads 2^31 - 1 */
    {"slot", "below -2^31", 7, INT64_MIN},              /* slot 0, to the kernel */
    {"slot", "the cache ends", 2, 192},
    {"slot", "another row", 5, 191},
    {"swa_lens", "the key's window", 0, 129},
    {"swa_lens", "the key's window", 5, -1},
    {"t2r", "negative", 4, -1},
    {"t2r", "comp_bt ends", 4, 2},
};

static void spoil(struct step *step, size_t i) {
  int row = bad_steps[i].row;
  if (!strcmp(bad_steps[i].input, "pos")) step->pos[row] = bad_steps[i].value;
  if (!strcmp(bad_steps[i].input, "slot")) step->slot[row] = bad_steps[i].value;
  if (!strcmp(bad_steps[i].input, "swa_lens")) step->swa_lens[row] = (int32_t)bad_steps[i].value;
  if (!strcmp(bad_steps[i].input, "t2r")) step->t2r[row] = (int32_t)bad_steps[i].value;
}

static enum front_status launch_step(struct exact *e, front_binding binding, const struct step *step, bool host) {
  front_ticket ticket;
  const struct front_launch_options options = {
      .size = sizeof options, .pos = step->pos, .slot = step->slot, .swa_lens = step->swa_lens, .t2r = step->t2r};
  memcpy((void *)(uintptr_t)e->args.pos, step->pos, sizeof step->pos);
  memcpy((void *)(uintptr_t)e->args.slot, step->slot, sizeof step->slot);
  memcpy((void *)(uintptr_t)e->args.swa_lens, step->swa_lens, sizeof step->swa_lens);
  memcpy((void *)(uintptr_t)e->args.t2r, step->t2r, sizeof step->t2r);
  if (host) memset((void *)(uintptr_t)e->args.pos, 0xff, sizeof step->pos); /* the host's copy is what counts */
  enum front_status status = host ? front_launch_with(e->s.queue, binding, &options, &ticket) : front_launch(e->s.queue, binding, &ticket);
  return status == FRONT_OK ? front_wait(ticket, 0) : status;
}

static void debug_mode_refuses_a_bad_step_by_input_and_row(void **context) {
  (void)context;
  struct exact e = set_up_exact();
  front_instance instance;
  front_binding binding;
  const struct front_instance_options options = {.size = sizeof options, .debug = 1};
  assert_int_equal(front_instance_create(e.s.kernel, &options, &instance), FRONT_OK);
  assert_int_equal(front_binding_create(instance, &e.args, &binding), FRONT_OK);
  for (int host = 0; host < 2; host++) {
    struct step step = good_step();
    if (launch_step(&e, binding, &step, host) != FRONT_OK) fail_msg("%s", front_error());
    for (size_t i = 0; i < sizeof bad_steps / sizeof *bad_steps; i++) {
      char begin[40];
      uint32_t before = stub->packets;
      step = good_step();
      spoil(&step, i);
      snprintf(begin, sizeof begin, "%s[%d] is %lld: ", bad_steps[i].input, bad_steps[i].row, (long long)bad_steps[i].value);
      assert_int_equal(launch_step(&e, binding, &step, host), FRONT_ERR_ARGUMENT);
      if (strncmp(front_error(), begin, strlen(begin)) != 0 || !strstr(front_error(), bad_steps[i].says))
        fail_msg("%s: %s", begin, front_error());
      assert_int_equal(stub->packets, before); /* nothing was launched */
    }
  }
  assert_int_equal(front_binding_destroy(binding), FRONT_OK);
  assert_int_equal(front_instance_destroy(instance), FRONT_OK);
  take_down_exact(&e);
}

static void without_debug_mode_a_step_is_not_looked_at(void **context) {
  (void)context;
  struct exact e = set_up_exact();
  struct step step = good_step();
  assert_int_equal(front_binding_update(e.s.binding, &e.args), FRONT_OK);
  spoil(&step, 0);
  assert_int_equal(launch_step(&e, e.s.binding, &step, false), FRONT_OK);
  take_down_exact(&e);
}

static void a_copy_or_fill_beyond_an_allocation_and_a_second_free_are_refused(void **context) {
  (void)context;
  struct setup s = set_up(4);
  static char host[8192];
  char *memory;
  assert_int_equal(front_memory_allocate(s.device, 64, (void **)&memory), FRONT_OK);
  assert_int_equal(front_memory_copy(s.device, memory + 32, host, 32), FRONT_OK);
  assert_int_equal(front_memory_copy(s.device, memory + 32, host, 33), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "its target has 32 bytes"));
  assert_int_equal(front_memory_copy(s.device, host, memory, 65), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "its source has 64 bytes"));
  assert_int_equal(front_memory_fill(s.device, memory, 1, 16), FRONT_OK);
  assert_int_equal(front_memory_fill(s.device, memory, 1, 17), FRONT_ERR_ARGUMENT);
  assert_int_equal(front_memory_fill(s.device, memory, 1, UINT64_MAX / 2), FRONT_ERR_ARGUMENT); /* 4 times it wraps */
  assert_int_equal(front_memory_free(s.device, memory), FRONT_OK);
  assert_int_equal(front_memory_free(s.device, memory), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "freed already"));
  take_down(&s); /* the device has not lost count: it closes */
}

static void keep_line(void *user, const char *line) { snprintf(user, 1024, "%s", line); }

static void what_a_message_quotes_cannot_command_a_terminal(void **context) {
  (void)context;
  struct setup s = set_up(4);
  front_bundle bundle;
  char logged[1024] = "";
  assert_int_equal(front_bundle_open("no\x1b[2J\r\n\x7f such \xc3\xa9", &bundle), FRONT_ERR_NOT_FOUND);
  assert_non_null(strstr(front_error(), "no?[2J? ? such \xc3\xa9: "));
  front_log(keep_line, logged);
  const struct front_embedded odd = {"no\x1b", "", 1, ""};
  assert_int_equal(front_bundle_open_embedded(&odd, 1, &bundle), FRONT_ERR_CODE_OBJECT);
  assert_null(strchr(front_error(), 0x1b));
  front_log(NULL, NULL);
  assert_null(strchr(logged, 0x1b));
  take_down(&s);
}

int main(void) {
  if (!stub_load()) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(every_pointer_that_is_null_misaligned_or_too_short_is_refused_by_name, stub_before_each),
      cmocka_unit_test_setup(strides_and_blocks_that_cannot_be_are_refused_by_name, stub_before_each),
      cmocka_unit_test_setup(memory_that_hsa_does_not_know_is_believed, stub_before_each),
      cmocka_unit_test_setup(debug_mode_refuses_a_bad_step_by_input_and_row, stub_before_each),
      cmocka_unit_test_setup(without_debug_mode_a_step_is_not_looked_at, stub_before_each),
      cmocka_unit_test_setup(a_copy_or_fill_beyond_an_allocation_and_a_second_free_are_refused, stub_before_each),
      cmocka_unit_test_setup(what_a_message_quotes_cannot_command_a_terminal, stub_before_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
