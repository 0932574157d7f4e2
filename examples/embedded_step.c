/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_step: one decode step with kernels that are part of the program: its build made kernels.c of them, by `frontgen bundle --embed`.
   cmake/ and meson-subproject/ are two such builds. Without a GPU: FRONT_HSA_LIBRARY=.../libhsa-emu.so ./embedded_step */
#include <front.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct front_embedded kernels[];
extern const size_t kernels_count;

enum { HIDDEN = 5120, BLOCK = 64, BLOCK_BYTES = 584 * BLOCK, UNSAID = 1 << 16 /* bytes for what a key does not say: more than enough */ };

/* Ends the program with libfront's own words. */
static void must(enum front_status status) {
  if (status == FRONT_OK) return;
  fprintf(stderr, "embedded_step: %s: %s\n", front_status_name(status), front_error());
  exit(1);
}

/* Zeros for every argument, and one key in the window. The memory lives as long as the process. */
static struct front_args arguments(front_device device, front_kernel kernel) {
  struct front_args args = {.x_stride = HIDDEN, .bt_stride = 1, .swa_stride = BLOCK_BYTES, .swa_block = BLOCK, .comp_block = 64};
  struct front_argument_info a;
  for (uint32_t i = 0; front_kernel_argument(kernel, i, &a) == FRONT_OK; i++) {
    if (!a.needed || a.use == FRONT_ARGUMENT_INSTANCE || a.use == FRONT_ARGUMENT_SCALAR) continue;
    void *address;
    uint64_t bytes = a.bytes ? a.bytes : UNSAID;
    must(front_memory_allocate(device, bytes, &address));
    must(front_memory_fill(device, address, !strcmp(a.name, "swa_lens") ? 1 : a.use == FRONT_ARGUMENT_OUT ? 0xffffffff : 0, bytes / 4));
    memcpy((char *)&args + a.offset, &address, sizeof address);
  }
  return args;
}

int main(void) {
  front_runtime runtime;
  front_device device;
  front_bundle bundle;
  front_kernel kernel;
  front_instance instance;
  front_binding binding;
  front_queue queue;
  front_ticket ticket;
  struct front_device_info info;
  struct front_pick pick;
  uint32_t klen, q;
  must(front_bundle_open_embedded(kernels, kernels_count, &bundle));
  must(front_open(NULL, &runtime));
  must(front_device_describe(runtime, 0, &info));
  must(front_device_open(runtime, NULL, &device));
  must(front_pick(bundle, info.name, "tp=8,ratio=2,window=128", 1, &pick));
  must(front_kernel_load_bundle(device, bundle, pick.name, &kernel));
  must(front_instance_create(kernel, NULL, &instance));
  must(front_queue_create(device, NULL, &queue));
  struct front_args args = arguments(device, kernel);
  must(front_binding_create(instance, &args, &binding));
  must(front_launch(queue, binding, &ticket));
  must(front_wait(ticket, UINT64_C(60000000000)));
  must(front_memory_copy(device, &klen, args.klen, sizeof klen));
  must(front_memory_copy(device, &q, args.q, sizeof q));
  printf(
      "%s, 1 of %zu kernels in this program, ran: token 0 has %u key, and its query starts with %08x\n", pick.name, kernels_count, klen, q);
  return klen == 1 && q == 0 ? 0 : 1;
}
