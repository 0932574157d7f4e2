/* SPDX-License-Identifier: Apache-2.0 */
/* Twenty launches on the emulator, disturbed in every way that there is, and by its own faults: each is reported, and the next one is good.
 */
#include "stub_setup.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faulty_hsa.h"

enum { LONG_NS = 2000000000, ROUNDS = 2 };

static void *shim;
static struct faulty *faulty;
static char *noted; /* a real kernel, front_s1_tp8_r0_w1_t0; the other launches are of one that only ends */
static size_t noted_bytes;

static struct front_options library(void) {
  return (struct front_options){sizeof(struct front_options), built_path("tests/runtime/libfaulty_hsa.so")};
}

static void must(enum front_status status) {
  if (status != FRONT_OK) fail_msg("%s: %s", front_status_name(status), front_error());
}

static void look_up(const char *name, void *function) {
  void *address = dlsym(shim, name);
  memcpy(function, &address, sizeof address);
  assert_non_null(address);
}

/* An instance of it, with zeros in all inputs. */
static void bind(struct setup *b) {
  struct front_argument_info a;
  must(front_instance_create(b->kernel, NULL, &b->instance));
  must(front_memory_allocate(b->device, 64 << 20, &b->memory));
  must(front_memory_fill(b->device, b->memory, 0, 16 << 20));
  b->args = (struct front_args){.x_stride = 5120, .bt_stride = 1, .swa_stride = 584 * 64, .swa_block = 64, .comp_block = 64};
  uint64_t used = 0; /* a part of the memory each: outputs must not be inputs */
  for (uint32_t i = 0; front_kernel_argument(b->kernel, i, &a) == FRONT_OK; i++) {
    char *address = (char *)b->memory + used;
    if (!a.needed || a.use == FRONT_ARGUMENT_SCALAR || a.use == FRONT_ARGUMENT_INSTANCE) continue;
    memcpy((char *)&b->args + a.offset, &address, sizeof address);
    used += ((a.bytes ? a.bytes : 1 << 16) + 4095) / 4096 * 4096;
  }
  must(front_binding_create(b->instance, &b->args, &b->binding));
}

static struct setup bench_open(void) {
  struct setup b = {0};
  const struct front_options options = library();
  size_t bytes;
  const void *image = make_object("gfx950", 216, 0, 512, &bytes);
  must(front_open(&options, &b.runtime));
  must(front_device_open(b.runtime, NULL, &b.device));
  must(front_kernel_load(b.device, image, bytes, stub_key, &b.kernel));
  bind(&b);
  must(front_queue_create(b.device, NULL, &b.queue));
  return b;
}

static void unbind(struct setup *b) {
  must(front_binding_destroy(b->binding));
  must(front_instance_destroy(b->instance));
  must(front_memory_free(b->device, b->memory));
  must(front_kernel_destroy(b->kernel));
}

static void bench_close(struct setup *b) {
  must(front_queue_destroy(b->queue));
  unbind(b);
  must(front_device_close(b->device));
  must(front_close(b->runtime));
}

static void new_queue(struct setup *b) {
  must(front_queue_destroy(b->queue));
  must(front_queue_create(b->device, NULL, &b->queue));
}

static void launch_good(struct setup *b) {
  front_ticket ticket;
  must(front_launch(b->queue, b->binding, &ticket));
  must(front_wait(ticket, UINT64_MAX));
}

static void slow_and_early(struct setup *b) {
  front_ticket ticket;
  faulty->early = true;
  faulty->hide_looks = 1000;
  launch_good(b);
  faulty->early = false;
  faulty->hide_looks = 50;
  must(front_launch(b->queue, b->binding, &ticket));
  assert_int_equal(front_wait(ticket, 0), FRONT_ERR_TIMEOUT);
  faulty->hide_looks = 0;
  must(front_wait(ticket, UINT64_MAX));
}

static void lost(struct setup *b) {
  front_ticket ticket;
  launch_good(b);
  faulty->hide_looks = UINT32_MAX;
  must(front_launch(b->queue, b->binding, &ticket));
  assert_int_equal(front_wait(ticket, LONG_NS / 100), FRONT_ERR_TIMEOUT);
  assert_int_equal(front_queue_destroy(b->queue), FRONT_ERR_BUSY);
  must(front_queue_stop(b->queue));
  assert_int_equal(front_wait(ticket, LONG_NS), FRONT_ERR_FAULT);
  new_queue(b);
  faulty->hide_looks = 0;
}

static void queue_error(struct setup *b) {
  front_ticket ticket;
  faulty->queue_error = true;
  must(front_launch(b->queue, b->binding, &ticket));
  assert_int_equal(front_wait(ticket, UINT64_MAX), FRONT_ERR_FAULT);
  assert_non_null(strstr(front_error(), "it is dead"));
  new_queue(b);
}

static void no_memory(struct setup *b) {
  for (uint32_t n = 1; n <= 3; n++) {
    front_instance instance;
    faulty->fail_allocation = n; /* scratch, epoch, guard */
    assert_int_equal(front_instance_create(b->kernel, NULL, &instance), FRONT_ERR_MEMORY);
  }
}

static void wrong_isa_and_truncated_image(struct setup *b) {
  front_kernel kernel;
  front_device device;
  for (size_t keep = 0; keep < noted_bytes; keep += noted_bytes / 9)
    assert_int_equal(front_kernel_load(b->device, noted, keep ? keep : 1, NULL, &kernel), FRONT_ERR_CODE_OBJECT);
  faulty->isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  must(front_device_open(b->runtime, NULL, &device));
  assert_int_equal(front_kernel_load(device, noted, noted_bytes, NULL, &kernel), FRONT_ERR_ISA);
  assert_non_null(strstr(front_error(), "gfx950"));
  assert_non_null(strstr(front_error(), "gfx942:sramecc+:xnack-"));
  must(front_device_close(device));
  faulty->isa = NULL;
}

struct call {
  _Atomic int calls;
  enum front_status status;
};

static void on_ended(void *user, enum front_status status) {
  struct call *call = user;
  call->status = status;
  call->calls++;
}

/* A real kernel reads weights where nothing is; then, with another instance of its, where they are. */
static void memory_fault(struct setup *b, bool and_good) {
  struct setup real = {.runtime = b->runtime, .device = b->device};
  struct call call = {0};
  const struct front_launch_options options = {.size = sizeof options, .ended = on_ended, .user = &call};
  front_binding binding;
  front_ticket ticket;
  must(front_kernel_load(real.device, noted, noted_bytes, NULL, &real.kernel));
  bind(&real);
  struct front_args bad = real.args;
  bad.wqkv = (void *)(uintptr_t)0x1000;
  must(front_binding_create(real.instance, &bad, &binding));
  must(front_launch_with(b->queue, binding, &options, &ticket));
  assert_int_equal(front_wait(ticket, UINT64_MAX), FRONT_ERR_FAULT);
  if (!strstr(front_error(), "memory fault on gfx950 at address 0x1") || !strstr(front_error(), "page not present"))
    fail_msg("%s", front_error());
  assert_int_equal(front_launch(b->queue, b->binding, NULL), FRONT_ERR_FAULT);
  new_queue(b);
  assert_int_equal(call.calls, 1);
  assert_int_equal(call.status, FRONT_ERR_FAULT);
  must(front_binding_destroy(binding));
  if (and_good) must(front_launch(b->queue, real.binding, &ticket));
  if (and_good) must(front_wait(ticket, UINT64_MAX));
  unbind(&real);
}

static void a_callback(struct setup *b) {
  struct call call = {0};
  const struct front_launch_options options = {.size = sizeof options, .ended = on_ended, .user = &call};
  front_ticket ticket;
  must(front_launch_with(b->queue, b->binding, &options, &ticket));
  must(front_wait(ticket, UINT64_MAX));
  assert_int_equal(call.calls, 1);
  assert_int_equal(call.status, FRONT_OK);
}

static void twenty_launches_with_faults_on_the_emulator_are_each_reported(void **context) {
  (void)context;
  for (int round = 0; round < ROUNDS; round++) {
    struct setup b = bench_open();
    slow_and_early(&b);
    lost(&b);
    queue_error(&b);
    launch_good(&b);
    no_memory(&b);
    wrong_isa_and_truncated_image(&b);
    memory_fault(&b, round == 0);
    launch_good(&b);
    a_callback(&b);
    bench_close(&b);
  }
}

static void a_launch_waits_for_a_signal_and_counts_down_another(void **context) {
  (void)context;
  struct setup b = bench_open();
  __typeof__(hsa_signal_create) *create;
  __typeof__(hsa_signal_destroy) *destroy;
  __typeof__(hsa_signal_load_scacquire) *load;
  __typeof__(hsa_signal_store_screlease) *store;
  hsa_signal_t after, completion;
  front_ticket ticket;
  look_up("hsa_signal_create", &create);
  look_up("hsa_signal_destroy", &destroy);
  look_up("hsa_signal_load_scacquire", &load);
  look_up("hsa_signal_store_screlease", &store);
  assert_int_equal(create(1, 0, NULL, &after), HSA_STATUS_SUCCESS);
  assert_int_equal(create(3, 0, NULL, &completion), HSA_STATUS_SUCCESS);
  const struct front_launch_options options = {.size = sizeof options, .after = after.handle, .completion = completion.handle};
  for (int i = 0; i < 2; i++) must(front_launch_with(b.queue, b.binding, &options, &ticket));
  assert_int_equal(front_wait(ticket, 20000000), FRONT_ERR_TIMEOUT);
  assert_int_equal(load(completion), 3);
  store(after, 0);
  must(front_wait(ticket, UINT64_MAX));
  must(front_launch(b.queue, b.binding, &ticket)); /* behind the packet that counts down */
  must(front_wait(ticket, UINT64_MAX));
  assert_int_equal(load(completion), 1);
  assert_int_equal(destroy(after), HSA_STATUS_SUCCESS);
  assert_int_equal(destroy(completion), HSA_STATUS_SUCCESS);
  bench_close(&b);
}

static void the_grid_is_accepted_on_the_models_that_hold_it(void **context) {
  (void)context;
  static const struct {
    const char *model, *cpu;
    uint32_t units;
  } models[] = {{"mi300x", "gfx942", 304}, {"mi355x", "gfx950", 256}, {"mi300a", "gfx942", 228}, {"mi308x", "gfx942", 80},
      {"mi300x-cpx", "gfx942", 38}, {"mi308x-cpx", "gfx942", 20}};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    const struct front_options options = library();
    struct front_device_info info;
    front_runtime runtime;
    front_device device;
    front_kernel kernel;
    char says[40];
    size_t bytes;
    const void *image = make_object(models[i].cpu, 216, 0, 512, &bytes);
    setenv("FRONT_EMU_DEVICE", models[i].model, 1);
    must(front_open(&options, &runtime));
    must(front_device_open(runtime, NULL, &device));
    must(front_device_describe(runtime, 0, &info));
    assert_int_equal(info.compute_units, models[i].units);
    snprintf(says, sizeof says, "has %u compute units", models[i].units);
    enum front_status status = front_kernel_load(device, image, bytes, stub_key, &kernel);
    if (status != (i < 2 ? FRONT_OK : FRONT_ERR_RESIDENCY)) fail_msg("%s: %s", models[i].model, front_error());
    if (status == FRONT_OK) must(front_kernel_destroy(kernel));
    if (status != FRONT_OK && !strstr(front_error(), says)) fail_msg("%s: %s", models[i].model, front_error());
    must(front_device_close(device));
    must(front_close(runtime));
  }
  unsetenv("FRONT_EMU_DEVICE");
}

int main(int argc, char **argv) {
  shim = dlopen(built_path("tests/runtime/libfaulty_hsa.so"), RTLD_NOW | RTLD_LOCAL);
  struct faulty *(*get)(void);
  void *address = shim ? dlsym(shim, "faulty_state") : NULL;
  if (argc != 2 || !address) return fprintf(stderr, "%s\n", dlerror()), 1;
  memcpy(&get, &address, sizeof get);
  faulty = get();
  noted = read_file(argv[1], &noted_bytes);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twenty_launches_with_faults_on_the_emulator_are_each_reported),
      cmocka_unit_test(a_launch_waits_for_a_signal_and_counts_down_another),
      cmocka_unit_test(the_grid_is_accepted_on_the_models_that_hold_it),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(noted);
  return failed;
}
