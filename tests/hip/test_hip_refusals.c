/* SPDX-License-Identifier: Apache-2.0 */
/* What libfront refuses on the HIP route, and what it says: test_hip_refusals FILE. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_hip.h"
#include "front_hip.h"
#include "support.h"

static const char *object;
static front_hip hip;

#define GOOD(call) assert_int_equal(call, FRONT_OK)

static void says(const char *words) {
  if (!strstr(front_error(), words)) fail_msg("\"%s\" is not in \"%s\"", words, front_error());
  assert_null(strchr(front_error(), '\n'));
}

static int set_up(void **context) {
  (void)context;
  fake_hip_reset();
  GOOD(front_hip_open(NULL, &hip));
  return 0;
}

/* Also: nothing is left in HIP, neither a module nor an error. */
static int take_down(void **context) {
  (void)context;
  assert_int_equal(front_hip_close(hip), FRONT_OK);
  assert_int_equal(fake_hip()->modules, 0);
  assert_int_equal(hipPeekAtLastError(), hipSuccess);
  return 0;
}

/* ---- devices and what runs on them */

static void no_device_is_an_error_of_its_own(void **context) {
  (void)context;
  front_hip other;
  fake_hip()->devices = 0;
  assert_int_equal(front_hip_open(NULL, &other), FRONT_ERR_NO_DEVICE);
  says("finds no GPU");
  says("/dev/kfd");
}

static void a_device_is_described_with_features_and_usable_compute_units(void **context) {
  (void)context;
  struct front_hip_device_info info;
  const char *path;
  GOOD(front_hip_device_describe(hip, -1, &info));
  assert_int_equal(info.ordinal, 0);
  assert_string_equal(info.isa, "gfx950:sramecc+:xnack-");
  assert_string_equal(info.product, "a pretended GPU");
  assert_int_equal(info.compute_units, 256);
  fake_hip()->global_mask[0] = 0xffff0000;
  GOOD(front_hip_device_describe(hip, 0, &info));
  assert_int_equal(info.compute_units, 240);
  fake_hip()->fail_mask = hipErrorInvalidValue; /* a HIP that has no answer */
  GOOD(front_hip_device_describe(hip, 0, &info));
  assert_int_equal(info.compute_units, 256);
  assert_int_equal(front_hip_device_describe(hip, 1, &info), FRONT_ERR_NO_DEVICE);
  says("there is no HIP device 1: there are 1");
  GOOD(front_hip_library_path(hip, &path));
  assert_non_null(strstr(path, "libamdhip64.so.7"));
}

static void a_kernel_comes_from_a_bundle_for_the_devices_gpu(void **context) {
  (void)context;
  front_bundle bundle;
  front_hip_kernel kernel;
  struct front_bundle_entry entry;
  struct front_kernel_info info;
  GOOD(front_bundle_open(object, &bundle));
  GOOD(front_bundle_describe(bundle, 0, &entry));
  GOOD(front_hip_kernel_load_bundle(hip, bundle, entry.name, &kernel));
  GOOD(front_hip_kernel_describe(kernel, &info));
  assert_string_equal(info.name, entry.name);
  GOOD(front_hip_kernel_destroy(kernel));
  assert_int_equal(front_hip_kernel_load_bundle(hip, bundle, "tokens=9,tp=8", &kernel), FRONT_ERR_NOT_FOUND);
  says(entry.name);
  fake_hip()->isa = "gfx942:sramecc+:xnack-";
  assert_int_equal(front_hip_kernel_load_bundle(hip, bundle, entry.name, &kernel), FRONT_ERR_NOT_FOUND);
  says("for gfx942");
  says(" for gfx942: there is none for it; 1 code objects for another GPU");
  GOOD(front_bundle_close(bundle));
}

static void a_kernel_for_another_isa_is_refused_with_both_sides(void **context) {
  (void)context;
  static const char *const others[] = {"gfx942:sramecc+:xnack-", "gfx90a", "gfx9500:sramecc+", "gfx95", ""};
  front_hip_kernel kernel;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    fake_hip()->isa = others[i];
    assert_int_equal(front_hip_kernel_load_file(hip, object, NULL, &kernel), FRONT_ERR_ISA);
    says(object);
    says("is for gfx950");
    says(others[i]);
  }
}

/* The least kernel with libfront's ABI: 27 x 8 bytes of arguments, workgroups of 512. */
static void *featured(const char *attribute, size_t *bytes) {
  static const char ir[] =
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "define amdgpu_kernel void @k([27 x i64] %all) #0 {\n  ret void\n}\n"
      "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"512,512\" \"amdgpu-no-implicitarg-ptr\" \"amdgpu-no-hostcall-ptr\" "
      "\"amdgpu-no-multigrid-sync-arg\" \"amdgpu-no-heap-ptr\" \"amdgpu-no-default-queue\" \"amdgpu-no-completion-action\" "
      "\"amdgpu-no-queue-ptr\" }\n"
      "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n";
  const char *const flags[] = {attribute, NULL};
  return ir_to_code_object(ir, "gfx950", false, *attribute ? flags : NULL, bytes);
}

static void features_of_the_target_are_held_against_the_devices(void **context) {
  (void)context;
  static const struct {
    const char *attribute, *target, *device;
    bool fits;
  } cases[] = {{"", "gfx950", "gfx950:sramecc+:xnack-", true}, {"", "gfx950", "gfx950:sramecc-:xnack+", true},
      {"-mattr=-xnack", "gfx950:xnack-", "gfx950:sramecc+:xnack-", true},
      {"-mattr=-xnack", "gfx950:xnack-", "gfx950:sramecc+:xnack+", false},
      {"-mattr=+xnack", "gfx950:xnack+", "gfx950:sramecc+:xnack-", false},
      {"-mattr=+sramecc", "gfx950:sramecc+", "gfx950:sramecc-:xnack-", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    front_hip_kernel kernel;
    size_t bytes;
    void *image = featured(cases[i].attribute, &bytes);
    fake_hip()->isa = cases[i].device;
    enum front_status status = front_hip_kernel_load(hip, image, bytes, "tokens=8", &kernel);
    free(image); /* it was copied */
    if (status != (cases[i].fits ? FRONT_OK : FRONT_ERR_ISA)) fail_msg("%s on %s: %s", cases[i].target, cases[i].device, front_error());
    if (status == FRONT_OK) {
      GOOD(front_hip_kernel_destroy(kernel));
      continue;
    }
    says(cases[i].target);
    says(cases[i].device);
  }
}

static void a_device_that_cannot_hold_the_grid_is_refused_with_the_numbers(void **context) {
  (void)context;
  static const struct {
    int units, workgroups;
    const char *says; /* null: good */
  } cases[] = {{304, 1, NULL}, {256, 1, NULL}, {228, 1, "228 compute units x 1 workgroups = 228, and 256"},
      {80, 1, "80 compute units x 1 workgroups = 80"}, {38, 1, "38 compute units x 1"}, {20, 1, "20 compute units x 1"}, {128, 2, NULL},
      {256, 0, "256 compute units x 0 workgroups = 0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    front_hip_kernel kernel;
    fake_hip()->compute_units = cases[i].units;
    fake_hip()->workgroups_a_unit = cases[i].workgroups;
    assert_int_equal(front_hip_kernel_load_file(hip, object, NULL, &kernel), cases[i].says ? FRONT_ERR_RESIDENCY : FRONT_OK);
    if (cases[i].says)
      says(cases[i].says);
    else
      GOOD(front_hip_kernel_destroy(kernel));
  }
}

static void masks_of_the_process_and_of_a_stream_are_counted(void **context) {
  (void)context;
  front_hip_kernel kernel;
  hipStream_t whole, part;
  const uint32_t mask[8] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x7fffffff};
  fake_hip()->global_mask[3] = 0;
  assert_int_equal(front_hip_kernel_load_file(hip, object, NULL, &kernel), FRONT_ERR_RESIDENCY);
  says("224 compute units");
  fake_hip()->global_mask[3] = ~0u;
  GOOD(front_hip_kernel_load_file(hip, object, NULL, &kernel));
  assert_int_equal(hipStreamCreate(&whole), hipSuccess);
  assert_int_equal(hipExtStreamCreateWithCUMask(&part, 8, mask), hipSuccess);
  GOOD(front_hip_stream_check(kernel, whole));
  GOOD(front_hip_stream_check(kernel, NULL));
  assert_int_equal(front_hip_stream_check(kernel, part), FRONT_ERR_RESIDENCY);
  says("255 compute units x 1 workgroups = 255, and 256");
  fake_hip()->stream_device = 3;
  assert_int_equal(front_hip_stream_check(kernel, whole), FRONT_ERR_ARGUMENT);
  says("HIP device 3");
  GOOD(front_hip_kernel_destroy(kernel));
  assert_int_equal(hipStreamDestroy(part), hipSuccess);
  assert_int_equal(hipStreamDestroy(whole), hipSuccess);
}

/* ---- code objects */

static void a_file_that_is_no_kernel_is_refused_before_hip_sees_it(void **context) {
  (void)context;
  front_hip_kernel kernel;
  size_t bytes;
  const char *cut = path_in(temp_dir(), "cut.hsaco");
  char *image = read_file(object, &bytes);
  write_file(cut, image, bytes / 2);
  free(image);
  assert_int_equal(front_hip_kernel_load_file(hip, cut, NULL, &kernel), FRONT_ERR_CODE_OBJECT);
  says(cut);
  assert_int_equal(front_hip_kernel_load_file(hip, "no-such-file.hsaco", NULL, &kernel), FRONT_ERR_NOT_FOUND);
  says("no-such-file.hsaco");
  assert_int_equal(front_hip_kernel_load(hip, "", 0, NULL, &kernel), FRONT_ERR_CODE_OBJECT);
  assert_int_equal(front_hip_kernel_load_file(hip, object, "tokens=9,tp=8", &kernel), FRONT_ERR_NOT_FOUND);
  says("front_s9_tp8_r2_w128_t0 was asked for");
}

static void what_hip_refuses_to_load_is_an_error_in_its_words_and_leaves_nothing(void **context) {
  (void)context;
  front_hip_kernel kernel;
  fake_hip()->fail_load = hipErrorNoBinaryForGpu;
  assert_int_equal(front_hip_kernel_load_file(hip, object, NULL, &kernel), FRONT_ERR_HIP);
  says("hipModuleLoadData failed with hipErrorNoBinaryForGpu (209): no kernel image");
  fake_hip()->fail_load = hipErrorOutOfMemory;
  assert_int_equal(front_hip_kernel_load_file(hip, object, NULL, &kernel), FRONT_ERR_MEMORY);
  fake_hip()->fail_function = hipErrorNotFound;
  assert_int_equal(front_hip_kernel_load_file(hip, object, NULL, &kernel), FRONT_ERR_HIP);
  says("hipModuleGetFunction failed with hipErrorNotFound (500)");
}

/* ---- bindings */

/* Addresses that are never followed. */
static struct front_args pretended(void) {
  char *at = (char *)(uintptr_t)0x7f0000000000;
  struct front_args args = {.x_stride = 5120, .bt_stride = 4, .swa_stride = 64 * 584, .swa_block = 64, .comp_block = 64};
  args.x = args.wqkv = args.wqkv_s = args.wqb = args.wqb_s = args.pos = args.slot = args.swa_idx = args.swa_lens = args.topk = args.t2r =
      args.comp_bt = args.cos_sin = args.qn_w = args.kvn_w = at;
  args.swa = args.q = args.kt = args.klen = at;
  args.scratch = at + 4096;
  args.epoch = at + 64;
  args.guard = at + 128;
  return args;
}

static void an_allocation_that_is_too_short_is_refused_by_name(void **context) {
  (void)context;
  front_hip_kernel kernel;
  front_hip_binding binding;
  void *small;
  struct front_args args = pretended();
  GOOD(front_hip_kernel_load_file(hip, object, NULL, &kernel));
  assert_int_equal(hipMalloc(&small, 65536 - 256), hipSuccess); /* q is 8 x 4096 bf16 */
  args.q = small;
  assert_int_equal(front_hip_binding_create(kernel, &args, &binding), FRONT_ERR_ARGUMENT);
  says("q has 65280 bytes");
  says("needs 65536");
  args = pretended();
  args.scratch = small;
  assert_int_equal(front_hip_binding_create(kernel, &args, &binding), FRONT_ERR_ARGUMENT);
  says("scratch has 65280 bytes");
  args = pretended();
  args.klen = small;
  GOOD(front_hip_binding_create(kernel, &args, &binding));
  args.x = small;
  assert_int_equal(front_hip_binding_update(binding, &args), FRONT_ERR_ARGUMENT);
  says("x has 65280 bytes");
  GOOD(front_hip_binding_destroy(binding));
  assert_int_equal(hipFree(small), hipSuccess);
  GOOD(front_hip_kernel_destroy(kernel));
}

static void a_wrong_argument_is_refused_by_name(void **context) {
  (void)context;
  front_hip_kernel kernel;
  front_hip_binding binding;
  struct front_kernel_info info;
  GOOD(front_hip_kernel_load_file(hip, object, NULL, &kernel));
  GOOD(front_hip_kernel_describe(kernel, &info));
  struct front_args args = pretended();
#define REFUSED(change, name)                                                                                                              \
  args = pretended();                                                                                                                      \
  change;                                                                                                                                  \
  assert_int_equal(front_hip_binding_create(kernel, &args, &binding), FRONT_ERR_ARGUMENT);                                                 \
  says(name)
  REFUSED(args.scratch = NULL, "scratch is null");
  says("the caller's");
  REFUSED(args.epoch = NULL, "epoch is null");
  REFUSED(args.scratch = (char *)args.scratch + 128, "scratch is at");
  REFUSED(args.epoch = (char *)args.epoch + 2, "epoch is at");
  REFUSED(args.q = NULL, "q is null");
  REFUSED(args.x = (const char *)args.x + 8, "x is at");
  REFUSED(args.swa_stride = 8, "swa_stride is 8");
  if (info.guard) {
    REFUSED(args.guard = NULL, "guard is null");
    REFUSED(args.guard = (char *)args.guard + 64, "guard is at");
  }
#undef REFUSED
  args = pretended();
  if (!info.guard) args.guard = NULL;
  GOOD(front_hip_binding_create(kernel, &args, &binding));
  args.kt = NULL;
  assert_int_equal(front_hip_binding_update(binding, &args), FRONT_ERR_ARGUMENT);
  says("kt is null");
  GOOD(front_hip_binding_destroy(binding));
  GOOD(front_hip_kernel_destroy(kernel));
}

enum { ROWS = 8 };

/* A step that is right: eight rows, the last of which is a pad row. Two cache blocks, 2000 positions. */
struct host_step {
  int64_t pos[ROWS], slot[ROWS];
  int32_t swa_lens[ROWS], t2r[ROWS];
};

static struct host_step right_step(void) {
  struct host_step s;
  for (int i = 0; i < ROWS; i++) {
    s.pos[i] = 100 * i;
    s.slot[i] = i == ROWS - 1 ? -1 : 127 - i;
    s.swa_lens[i] = 128;
    s.t2r[i] = i % 3;
  }
  return s;
}

static void a_steps_host_copies_are_refused_by_input_and_row(void **context) {
  (void)context;
  front_hip_kernel kernel;
  front_hip_binding binding;
  void *cache, *table, *blocks;
  struct front_args args = pretended();
  assert_int_equal(hipMalloc(&cache, 2 * 64 * 584), hipSuccess);
  assert_int_equal(hipMalloc(&table, 2000 * 256), hipSuccess);
  assert_int_equal(hipMalloc(&blocks, 3 * 4 * 4), hipSuccess);
  args.swa = cache;
  args.cos_sin = table;
  args.comp_bt = blocks;
  GOOD(front_hip_kernel_load_file(hip, object, NULL, &kernel));
  GOOD(front_hip_binding_create(kernel, &args, &binding));
  struct host_step s = right_step();
  GOOD(front_hip_step_check(binding, s.pos, s.slot, s.swa_lens, s.t2r));
#define REFUSED(change, words)                                                                                                             \
  s = right_step();                                                                                                                        \
  change;                                                                                                                                  \
  assert_int_equal(front_hip_step_check(binding, s.pos, s.slot, s.swa_lens, s.t2r), FRONT_ERR_ARGUMENT);                                   \
  says(words)
  REFUSED(s.pos[2] = -1, "pos[2] is -1");
  REFUSED(s.pos[7] = 1 << 24, "pos[7] is 16777216"); /* pad rows too */
  REFUSED(s.pos[3] = 2000, "pos[3] is 2000: cos_sin ends before it");
  REFUSED(s.slot[1] = 128, "slot[1] is 128: the cache ends before its block");
  REFUSED(s.slot[4] = s.slot[0], "slot[4] is 127: another row");
  REFUSED(s.slot[7] = -((int64_t)1 << 32), "slot[7] is -4294967296: it must not be below -2^31"); /* its low 32 bits: slot 0 */
  REFUSED(s.swa_lens[0] = 129, "swa_lens[0] is 129");
  REFUSED(s.t2r[6] = 3, "t2r[6] is 3: comp_bt ends before its row");
  REFUSED(s.t2r[1] = -1, "t2r[1] is -1");
#undef REFUSED
  s = right_step();
  s.t2r[0] = -7; /* its position has no compressed key yet */
  s.swa_lens[7] = -7;
  GOOD(front_hip_step_check(binding, s.pos, s.slot, s.swa_lens, s.t2r));
  assert_int_equal(front_hip_step_check(binding, s.pos, s.slot, s.swa_lens, NULL), FRONT_ERR_ARGUMENT);
  says("t2r is null");
  GOOD(front_hip_binding_destroy(binding));
  GOOD(front_hip_kernel_destroy(kernel));
  assert_int_equal(hipFree(cache), hipSuccess);
  assert_int_equal(hipFree(table), hipSuccess);
  assert_int_equal(hipFree(blocks), hipSuccess);
}

static void destroying_in_the_wrong_order_is_refused(void **context) {
  (void)context;
  front_hip_kernel kernel;
  front_hip_binding binding;
  struct front_args args = pretended();
  GOOD(front_hip_kernel_load_file(hip, object, NULL, &kernel));
  GOOD(front_hip_binding_create(kernel, &args, &binding));
  assert_int_equal(front_hip_close(hip), FRONT_ERR_BUSY);
  says("1 kernels are left");
  assert_int_equal(front_hip_kernel_destroy(kernel), FRONT_ERR_BUSY);
  says("1 bindings are left");
  GOOD(front_hip_binding_destroy(binding));
  GOOD(front_hip_kernel_destroy(kernel));
}

static void options_of_a_newer_program_are_not_passed_over(void **context) {
  (void)context;
  struct {
    struct front_hip_options known;
    uint64_t later;
  } newer = {.known = {.size = sizeof newer}, .later = 1};
  front_hip other;
  assert_int_equal(front_hip_open(&newer.known, &other), FRONT_ERR_ARGUMENT);
  says("older than the program");
  newer.known.size = offsetof(struct front_hip_options, hip_library) + 4; /* half a pointer */
  assert_int_equal(front_hip_open(&newer.known, &other), FRONT_ERR_ARGUMENT);
  says("sizeof");
}

static void a_null_handle_is_refused_everywhere(void **context) {
  (void)context;
  const front_hip no_hip = {NULL};
  const front_hip_kernel no_kernel = {NULL};
  const front_hip_binding no_binding = {NULL};
  struct front_hip_options old = {.size = 1};
  struct front_args args = pretended();
  front_hip other;
  front_hip_kernel kernel;
  front_hip_binding binding;
  struct front_hip_device_info device;
  struct front_kernel_info info;
  const char *path;
  const uint32_t words[32] = {0};
  const enum front_status all[] = {front_hip_open(NULL, NULL), front_hip_open(&old, &other), front_hip_close(no_hip),
      front_hip_library_path(no_hip, &path), front_hip_device_describe(no_hip, -1, &device),
      front_hip_kernel_load(no_hip, "", 1, NULL, &kernel), front_hip_kernel_load_file(hip, NULL, NULL, &kernel),
      front_hip_kernel_destroy(no_kernel), front_hip_kernel_describe(no_kernel, &info), front_hip_stream_check(no_kernel, NULL),
      front_hip_binding_create(no_kernel, &args, &binding), front_hip_binding_update(no_binding, &args),
      front_hip_binding_destroy(no_binding), front_hip_launch(no_binding, NULL), front_hip_step_check(no_binding, NULL, NULL, NULL, NULL),
      front_hip_guard_check(no_kernel, words)};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) assert_int_equal(all[i], FRONT_ERR_ARGUMENT);
}

/* ---- the guard's record */

static void a_guard_record_is_told_in_words(void **context) {
  (void)context;
  /* Hand-worked for 8 tokens, one copy: xrdy pair 2 * 5 + 1; qkvp pair (1 * 8 + 3) * 1792 + 1000; qrdy pair 6. */
  static const struct {
    uint32_t stage, pair;
    const char *says;
  } cases[] = {{1, 11, "stage xrdy (token 5, K half 1): pair 11"}, {2, 20712, "stage qkvp (token 3, K half 1, row 1000): pair 20712"},
      {3, 6, "stage qrdy (token 6): pair 6"}, {9, 1, "stage 9, which"}};
  front_hip_kernel kernel;
  uint32_t words[32] = {0};
  words[8] = FRONT_HIP_GUARD_BUDGET;
  GOOD(front_hip_kernel_load_file(hip, object, NULL, &kernel));
  GOOD(front_hip_guard_check(kernel, words));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint32_t record[8] = {1, cases[i].stage, 231, 5, cases[i].pair, 17, 19, 0};
    memcpy(words, record, sizeof record);
    assert_int_equal(front_hip_guard_check(kernel, words), FRONT_ERR_TIMEOUT);
    says("front_s8_tp8_r2_w128_t0: workgroup 231, wave 5 ");
    says(cases[i].says);
    says("has tag 17, tag 19 was wanted");
  }
  GOOD(front_hip_kernel_destroy(kernel));
}

int main(int argc, char **argv) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, take_down)
  const struct CMUnitTest tests[] = {
      TEST(no_device_is_an_error_of_its_own),
      TEST(a_device_is_described_with_features_and_usable_compute_units),
      TEST(a_kernel_comes_from_a_bundle_for_the_devices_gpu),
      TEST(a_kernel_for_another_isa_is_refused_with_both_sides),
      TEST(features_of_the_target_are_held_against_the_devices),
      TEST(a_device_that_cannot_hold_the_grid_is_refused_with_the_numbers),
      TEST(masks_of_the_process_and_of_a_stream_are_counted),
      TEST(a_file_that_is_no_kernel_is_refused_before_hip_sees_it),
      TEST(what_hip_refuses_to_load_is_an_error_in_its_words_and_leaves_nothing),
      TEST(an_allocation_that_is_too_short_is_refused_by_name),
      TEST(a_wrong_argument_is_refused_by_name),
      TEST(a_steps_host_copies_are_refused_by_input_and_row),
      TEST(destroying_in_the_wrong_order_is_refused),
      TEST(a_null_handle_is_refused_everywhere),
      TEST(options_of_a_newer_program_are_not_passed_over),
      TEST(a_guard_record_is_told_in_words),
  };
  if (argc != 2) return 2;
  object = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
