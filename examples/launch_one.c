/* SPDX-License-Identifier: Apache-2.0 */
/* launch_one FILE [HSA-LIBRARY]: libfront's whole path in one program: opens a code object, binds buffers of zeros, launches it once and
   waits. With a GPU no library need be named; the emulator is used by naming libhsa-emu.so. */
#include <stdio.h>
#include <stdlib.h>

#include "front.h"
#include "geometry.h"

/* Ends the program with libfront's own words. */
static void must(enum front_status status) {
  if (status == FRONT_OK) return;
  fprintf(stderr, "launch_one: %s: %s\n", front_status_name(status), front_error());
  exit(1);
}

static void *allocated[32]; /* to give back at the end */
static unsigned allocations;

/* Device memory full of a 32-bit value. */
static void *filled(front_device device, uint64_t bytes, uint32_t value) {
  void *address;
  uint64_t words = (bytes + 3) / 4;
  must(front_memory_allocate(device, words * 4, &address));
  must(front_memory_fill(device, address, value, words));
  allocated[allocations++] = address;
  return address;
}

/* One request, every token at position 0 in slot 0, one key in the window. */
static struct front_args arguments(front_device device, const struct front_kernel_info *k) {
  uint64_t s = k->tokens, q_rows = geometry_q_rows(k->tp);
  return (struct front_args){
      .x = filled(device, s * HIDDEN * 2, 0x3f803f80), /* 1.0 */
      .wqkv = filled(device, (uint64_t)QKV_ROWS * HIDDEN, 0),
      .wqkv_s = filled(device, QKV_ROWS / 32 * (HIDDEN / 32), 0x7f7f7f7f), /* 2^0 */
      .wqb = filled(device, q_rows * Q_RANK, 0),
      .wqb_s = filled(device, q_rows / 32 * (Q_RANK / 32), 0x7f7f7f7f),
      .x_stride = HIDDEN,
      .bt_stride = 1,
      .pos = filled(device, s * 8, 0),
      .slot = filled(device, s * 8, 0),
      .swa_idx = filled(device, s * k->window * 4, 0),
      .swa_lens = filled(device, s * 4, 1),
      .topk = filled(device, s * TOPK * 4, 0xffffffff),
      .t2r = filled(device, s * 4, 0),
      .comp_bt = filled(device, 4, 0),
      .cos_sin = filled(device, ROPE * 4, 0),
      .qn_w = filled(device, Q_RANK * 2, 0x3f803f80),
      .kvn_w = filled(device, KV_DIM * 2, 0x3f803f80),
      .swa = filled(device, 64 * KV_RECORD_BYTES, 0),
      .swa_stride = 64 * KV_RECORD_BYTES,
      .swa_block = 64,
      .comp_block = 64,
      .q = filled(device, s * q_rows * 2, 0xffffffff),
      .kt = filled(device, s * geometry_keys(k->ratio, k->window) * 4, 0),
      .klen = filled(device, s * 8, 0),
  };
}

int main(int argc, char **argv) {
  front_runtime runtime;
  front_device device;
  front_kernel kernel;
  front_instance instance;
  front_binding binding;
  front_queue queue;
  front_ticket ticket;
  struct front_kernel_info info;
  uint32_t klen, q;
  struct front_options options = {.size = sizeof options, .hsa_library = argc > 2 ? argv[2] : NULL};
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: launch_one FILE [HSA-LIBRARY]\n");
    return 2;
  }
  must(front_open(&options, &runtime));
  must(front_device_open(runtime, NULL, &device));
  must(front_kernel_load_file(device, argv[1], NULL, &kernel));
  must(front_kernel_describe(kernel, &info));
  must(front_instance_create(kernel, NULL, &instance));
  struct front_args args = arguments(device, &info);
  must(front_binding_create(instance, &args, &binding));
  must(front_queue_create(device, NULL, &queue));
  must(front_launch(queue, binding, &ticket));
  must(front_wait(ticket, UINT64_C(10000000000)));
  must(front_memory_copy(device, &klen, args.klen, sizeof klen));
  must(front_memory_copy(device, &q, args.q, sizeof q));
  printf("%s ran: token 0 has %u key, and its query starts with %08x\n", info.name, klen, q);
  /* Children before parents. */
  must(front_queue_destroy(queue));
  must(front_binding_destroy(binding));
  must(front_instance_destroy(instance));
  must(front_kernel_destroy(kernel));
  while (allocations) must(front_memory_free(device, allocated[--allocations]));
  must(front_device_close(device));
  must(front_close(runtime));
  return klen == 1 && q == 0 ? 0 : 1;
}
