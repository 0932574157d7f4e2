/* SPDX-License-Identifier: Apache-2.0 */
/* serving_loop BUNDLE [STEPS [HSA-LIBRARY]]: a server's decode loop, with libfront's headers alone. Four layers share one instance; a step
   is one token, at another position and slot each time. All weights are ones, so that q is known: 1280, turned by the position. */
#include <front.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 4, POSITIONS = 4096, BLOCK = 64, BLOCKS = 16, BLOCK_BYTES = 584 * BLOCK, HIDDEN = 5120, ROWS_MAX = 48, MEMORY = 128 << 20 };
static front_device device;
static void *memory;                         /* of the device, given out from its start */
static void must(enum front_status status) { /* or the program ends with libfront's own words */
  if (status == FRONT_OK) return;
  fprintf(stderr, "serving_loop: %s: %s\n", front_status_name(status), front_error());
  exit(1);
}

static void *filled(uint64_t bytes, uint32_t value) {
  static uint64_t used;
  void *address = (char *)memory + used;
  used += (bytes + 255) / 256 * 256;
  must(front_memory_fill(device, address, value, (bytes + 3) / 4));
  return address;
}

/* Every argument of the size that the key says; then those that it does not say. */
static struct front_args layer_arguments(front_kernel kernel, uint32_t rows, const void *cos_sin) {
  struct front_args args = {.cos_sin = cos_sin, .x_stride = HIDDEN, .swa_stride = BLOCK_BYTES, .swa_block = BLOCK, .comp_block = 64};
  struct front_argument_info a;
  for (uint32_t i = 0; front_kernel_argument(kernel, i, &a) == FRONT_OK; i++) {
    if (!a.needed || !a.bytes || a.use == FRONT_ARGUMENT_INSTANCE || a.use == FRONT_ARGUMENT_SCALAR) continue;
    uint32_t ones = strstr(a.name, "_w") ? 0x3f803f80 : strstr(a.name, "_s") ? 0x7f7f7f7f : 0x38383838; /* bf16, E8M0, e4m3 */
    void *address = filled(a.bytes, a.use == FRONT_ARGUMENT_IN && (a.name[0] == 'w' || strstr(a.name, "n_w")) ? ones : 0);
    memcpy((char *)&args + a.offset, &address, sizeof address);
  }
  args.x = filled((uint64_t)rows * HIDDEN * 2, 0x3f803f80);
  args.comp_bt = filled(4096, 0);
  args.swa = filled((uint64_t)BLOCKS * BLOCK_BYTES, 0);
  return args;
}

int main(int argc, char **argv) {
  front_runtime runtime;
  front_bundle bundle;
  front_kernel kernel;
  front_instance instance;
  front_binding binding[LAYERS];
  front_queue queue;
  front_ticket ticket;
  struct front_args args[LAYERS];
  static float rotations[POSITIONS * 64], q[2];
  struct front_device_info info;
  struct front_pick pick;
  struct front_options options = {.size = sizeof options, .hsa_library = argc > 3 ? argv[3] : NULL};
  long steps = argc > 2 ? atol(argv[2]) : 1000, wrong = 0;
  if (argc < 2) return fputs("usage: serving_loop BUNDLE [STEPS [HSA-LIBRARY]]\n", stderr), 2;
  must(front_open(&options, &runtime));
  must(front_device_describe(runtime, 0, &info));
  must(front_device_open(runtime, NULL, &device));
  must(front_memory_allocate(device, MEMORY, &memory));
  must(front_bundle_open(argv[1], &bundle));
  must(front_pick(bundle, info.name, "tp=8,ratio=2,window=128", 1, &pick)); /* one token: the smallest kernel that holds it */
  must(front_kernel_load_bundle(device, bundle, pick.name, &kernel));
  must(front_instance_create(kernel, NULL, &instance));
  must(front_queue_create(device, NULL, &queue));
  for (int k = 0; k < POSITIONS * 64; k++) /* 32 cos, then 32 sin, a position */
    rotations[k] = (k & 32 ? sinf : cosf)((float)(k / 64) * powf(10000, -(float)(k % 32) / 32));
  void *cos_sin = filled(sizeof rotations, 0);
  must(front_memory_copy(device, cos_sin, rotations, sizeof rotations));
  for (int l = 0; l < LAYERS; l++) {
    args[l] = layer_arguments(kernel, pick.tokens, cos_sin);
    must(front_binding_create(instance, &args[l], &binding[l]));
  }
  for (long step = 0; step < steps; step++) {
    int64_t pos[ROWS_MAX] = {step % POSITIONS}, slot[ROWS_MAX] = {step % (BLOCKS * BLOCK)};
    for (uint32_t row = pick.first_pad; row < pick.tokens; row++) slot[row] = -1;
    for (int l = 0; l < LAYERS; l++) {
      must(front_memory_copy(device, (void *)args[l].pos, pos, pick.tokens * sizeof *pos));
      must(front_memory_copy(device, (void *)args[l].slot, slot, pick.tokens * sizeof *slot));
      must(front_launch(queue, binding[l], &ticket)); /* behind the layer before */
    }
    must(front_wait(ticket, UINT64_C(60000000000)));
    for (int l = 0; l < LAYERS; l++) {
      for (int k = 0; k < 2; k++) /* q of token 0, dims 0 and 448; a bf16 is a float's upper half */
        must(front_memory_copy(device, (char *)&q[k] + 2, (char *)args[l].q + 896 * k, 2));
      wrong += q[0] != 1280 || fabsf(q[1] - 1280 * (cosf((float)pos[0]) - sinf((float)pos[0]))) > 8;
    }
  }
  printf("%s: %ld steps of %d layers, q of the last: %g, %g\n", pick.name, steps, LAYERS, q[0], q[1]);
  must(front_queue_destroy(queue)); /* children before parents */
  for (int l = 0; l < LAYERS; l++) must(front_binding_destroy(binding[l]));
  must(front_instance_destroy(instance));
  must(front_kernel_destroy(kernel));
  must(front_bundle_close(bundle));
  must(front_memory_free(device, memory));
  must(front_device_close(device));
  must(front_close(runtime));
  return wrong != 0;
}
