/* SPDX-License-Identifier: Apache-2.0 */
#include "stub_setup.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct stub_state *stub;
void (*finish_stub)(void), (*raise_memory_fault)(void);
static void *library;
static void (*reset_stub)(void);

static bool look_up(const char *name, void *function) {
  void *address = dlsym(library, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

bool stub_load(void) {
  library = dlopen(built_path("tests/runtime/libstub_hsa.so"), RTLD_NOW | RTLD_LOCAL);
  struct stub_state *(*get)(void);
  if (library && look_up("stub_state", &get) && look_up("stub_reset", &reset_stub) && look_up("stub_finish", &finish_stub) &&
      look_up("stub_memory_fault", &raise_memory_fault)) {
    stub = get();
    return true;
  }
  fprintf(stderr, "%s\n", dlerror());
  return false;
}

void stub_function(const char *name, void *function) { assert_true(look_up(name, function)); }

int stub_before_each(void **context) {
  (void)context;
  reset_stub();
  return 0;
}

static void *assemble(const char *cpu, unsigned kernarg, unsigned private_bytes, unsigned threads, size_t *bytes) {
  static const char text[] =
      ".text\n.globl front_s8_tp4_r2_w128_t0\n.p2align 8\n.type front_s8_tp4_r2_w128_t0,@function\nfront_s8_tp4_r2_w128_t0:\n  s_endpgm\n"
      ".Lend:\n.size front_s8_tp4_r2_w128_t0, .Lend-front_s8_tp4_r2_w128_t0\n"
      ".rodata\n.p2align 6\n.amdhsa_kernel front_s8_tp4_r2_w128_t0\n  .amdhsa_next_free_vgpr 200\n  .amdhsa_next_free_sgpr 32\n"
      "  .amdhsa_accum_offset 200\n  .amdhsa_group_segment_fixed_size 86592\n  .amdhsa_kernarg_size %u\n"
      "  .amdhsa_private_segment_fixed_size %u\n.end_amdhsa_kernel\n"
      ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n"
      "  - .name: front_s8_tp4_r2_w128_t0\n    .symbol: front_s8_tp4_r2_w128_t0.kd\n    .kernarg_segment_size: %u\n"
      "    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 86592\n    .private_segment_fixed_size: %u\n    .wavefront_size: 64\n"
      "    .sgpr_count: 32\n    .vgpr_count: 200\n    .agpr_count: 0\n    .max_flat_workgroup_size: %u\n    .vgpr_spill_count: 0\n"
      "    .sgpr_spill_count: 0\n    .args: []\n...\n.end_amdgpu_metadata\n";
  char filled[4096], target[64];
  snprintf(target, sizeof target, "%s", cpu);
  snprintf(filled, sizeof filled, text, kernarg, private_bytes, target, kernarg, private_bytes, threads);
  return assembly_to_code_object(filled, cpu, bytes);
}

/* Assembling costs two processes. */
const void *make_object(const char *cpu, unsigned kernarg, unsigned private_bytes, unsigned threads, size_t *bytes) {
  enum { KINDS = 16 };
  static struct {
    const char *cpu;
    unsigned kernarg, private_bytes, threads;
    void *image;
    size_t bytes;
  } made[KINDS];
  size_t i = 0;
  while (
      i < KINDS && made[i].image &&
      (strcmp(made[i].cpu, cpu) != 0 || made[i].kernarg != kernarg || made[i].private_bytes != private_bytes || made[i].threads != threads))
    i++;
  assert_true(i < KINDS);
  if (!made[i].image) {
    made[i].image = assemble(cpu, kernarg, private_bytes, threads, &made[i].bytes);
    made[i].cpu = cpu;
    made[i].kernarg = kernarg;
    made[i].private_bytes = private_bytes;
    made[i].threads = threads;
  }
  *bytes = made[i].bytes;
  return made[i].image;
}

const char stub_key[] = "tokens=8,tp=4,ratio=2,window=128,guard=1";

front_device open_stub(front_runtime *runtime) {
  const struct front_options options = {sizeof options, built_path("tests/runtime/libstub_hsa.so")};
  front_device device;
  assert_int_equal(front_open(&options, runtime), FRONT_OK);
  assert_int_equal(front_device_open(*runtime, NULL, &device), FRONT_OK);
  return device;
}

void close_stub(front_runtime runtime, front_device device) {
  assert_int_equal(front_device_close(device), FRONT_OK);
  assert_int_equal(front_close(runtime), FRONT_OK);
  assert_int_equal(stub->inits, 0);
  assert_int_equal(stub->allocations, 0);
  assert_int_equal(stub->queues, 0);
  assert_int_equal(stub->signals, 0);
  assert_int_equal(stub->executables, 0);
  assert_int_equal(stub->readers, 0);
}

struct front_args good_args(void *m) {
  struct front_args args = {.x_stride = 5120, .bt_stride = 16, .swa_stride = 584 * 64, .swa_block = 64, .comp_block = 64};
#define POINTER_IN(name)     args.name = m;
#define POINTER_OUT(name)    args.name = m;
#define POINTER_INOUT(name)  args.name = m;
#define POINTER_DEVICE(name) /* the instance's */
#define POINTER_SCALAR(name)
#define ARG(name, type, align, dtype, use, bytes_of) POINTER_##use(name)
#include "front_args.def"
#undef ARG
  args.qr_out = args.tl = NULL; /* which may be left out */
  return args;
}

struct setup set_up(uint32_t launches) {
  struct setup s;
  size_t bytes;
  s.device = open_stub(&s.runtime);
  const void *image = make_object("gfx950", 216, 0, 512, &bytes);
  assert_int_equal(front_kernel_load(s.device, image, bytes, stub_key, &s.kernel), FRONT_OK);
  const struct front_instance_options options = {.size = sizeof options, .first_epoch = 77};
  assert_int_equal(front_instance_create(s.kernel, &options, &s.instance), FRONT_OK);
  assert_int_equal(front_memory_allocate(s.device, STUB_MEMORY_BYTES, &s.memory), FRONT_OK);
  s.args = good_args(s.memory);
  assert_int_equal(front_binding_create(s.instance, &s.args, &s.binding), FRONT_OK);
  assert_int_equal(
      front_queue_create(s.device, &(struct front_queue_options){sizeof(struct front_queue_options), .launches = launches}, &s.queue),
      FRONT_OK);
  return s;
}

void take_down(struct setup *s) {
  assert_int_equal(front_queue_destroy(s->queue), FRONT_OK);
  assert_int_equal(front_binding_destroy(s->binding), FRONT_OK);
  assert_int_equal(front_instance_destroy(s->instance), FRONT_OK);
  assert_int_equal(front_memory_free(s->device, s->memory), FRONT_OK);
  assert_int_equal(front_kernel_destroy(s->kernel), FRONT_OK);
  close_stub(s->runtime, s->device);
}
