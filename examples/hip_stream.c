/* SPDX-License-Identifier: Apache-2.0 */
/* hip_stream FILE: a kernel on a HIP stream of ours: launched once, then captured into a graph that is replayed with another input. Needs
   HIP (libamdhip64) and a GPU. */
#include <front_hip.h>
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

/* The model's sizes: front.h, at struct front_args. */
enum { HIDDEN = 5120, Q_RANK = 1280, QKV_ROWS = 1792, KV_DIM = 512, ROPE = 64, TOPK = 512, KV_RECORD_BYTES = 584 };

static hipError_t error;
static void stop(const char *call, const char *why) {
  fprintf(stderr, "hip_stream: %s: %s\n", call, why);
  exit(1);
}
#define FRONT(call) ((call) == FRONT_OK ? (void)0 : stop(#call, front_error()))
#define HIP(call)   ((error = (call)) == hipSuccess ? (void)0 : stop(#call, hipGetErrorString(error)))

/* Device memory full of one byte. It lives as long as the program. */
static void *filled(size_t bytes, int value, hipStream_t stream) {
  void *address;
  HIP(hipMalloc(&address, bytes));
  HIP(hipMemsetAsync(address, value, bytes, stream));
  return address;
}

/* One request, every token at position 0 in slot 0, no key in the window; weights and inputs are 0, q_norm's weight about 1. */
static struct front_args arguments(const struct front_kernel_info *k, hipStream_t stream) {
  size_t s = k->tokens, q_rows = 32768 / k->tp, all = (k->ratio ? TOPK : 0) + k->window, keys = all < 640 ? 640 : (all + 127) / 128 * 128;
  struct front_args args = {.x_stride = HIDDEN, .bt_stride = 1, .swa_block = 64, .swa_stride = 64 * KV_RECORD_BYTES, .comp_block = 64};
  args.x = filled(s * HIDDEN * 2, 0, stream);
  args.wqkv = filled((size_t)QKV_ROWS * HIDDEN, 0, stream);
  args.wqkv_s = filled(QKV_ROWS / 32 * (HIDDEN / 32), 0x7f, stream); /* 2^0 */
  args.wqb = filled(q_rows * Q_RANK, 0, stream);
  args.wqb_s = filled(q_rows / 32 * (Q_RANK / 32), 0x7f, stream);
  args.pos = filled(s * 8, 0, stream);
  args.slot = filled(s * 8, 0, stream);
  args.swa_idx = filled(s * k->window * 4, 0, stream);
  args.swa_lens = filled(s * 4, 0, stream);
  args.topk = filled(s * TOPK * 4, 0xff, stream);
  args.t2r = filled(s * 4, 0, stream);
  args.comp_bt = filled(4, 0, stream);
  args.cos_sin = filled(ROPE * 4, 0, stream);
  args.qn_w = filled(Q_RANK * 2, 0x3f, stream);
  args.kvn_w = filled(KV_DIM * 2, 0x3f, stream);
  args.swa = filled(64 * KV_RECORD_BYTES, 0, stream);
  args.q = filled(s * q_rows * 2, 0xff, stream);
  args.kt = filled(s * keys * 4, 0, stream);
  args.klen = filled(s * 8, 0, stream);
  args.scratch = filled(k->scratch_bytes, 0, stream); /* zeroed once; the same holds for epoch and guard */
  args.epoch = filled(FRONT_HIP_EPOCH_BYTES, 0, stream);
  args.guard = filled(FRONT_HIP_GUARD_BYTES, 0, stream);
  return args;
}

int main(int argc, char **argv) {
  static const uint32_t budget = FRONT_HIP_GUARD_BUDGET, one = 1;
  front_hip hip;
  front_hip_kernel kernel;
  front_hip_binding binding;
  struct front_kernel_info info;
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t exec;
  uint32_t guard[32], klen[2][2] = {{0}};
  if (argc != 2) {
    fprintf(stderr, "usage: hip_stream FILE\n");
    return 2;
  }
  FRONT(front_hip_open(NULL, &hip));
  FRONT(front_hip_kernel_load_file(hip, argv[1], NULL, &kernel));
  FRONT(front_hip_kernel_describe(kernel, &info));
  HIP(hipStreamCreate(&stream));
  FRONT(front_hip_stream_check(kernel, stream));
  struct front_args args = arguments(&info, stream);
  HIP(hipMemcpyAsync((uint32_t *)args.guard + 8, &budget, sizeof budget, hipMemcpyHostToDevice, stream));
  FRONT(front_hip_binding_create(kernel, &args, &binding)); /* one a layer; all before a capture */
  FRONT(front_hip_launch(binding, stream));
  HIP(hipMemcpyAsync(klen[0], args.klen, sizeof klen[0], hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  FRONT(front_hip_launch(binding, stream)); /* a node of the graph; nothing runs yet */
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  HIP(hipMemcpyAsync((void *)args.swa_lens, &one, sizeof one, hipMemcpyHostToDevice, stream)); /* behind the captured pointer */
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipMemcpyAsync(klen[1], args.klen, sizeof klen[1], hipMemcpyDeviceToHost, stream));
  HIP(hipMemcpyAsync(guard, args.guard, sizeof guard, hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  FRONT(front_hip_guard_check(kernel, guard));
  FRONT(front_hip_binding_destroy(binding));
  HIP(hipGraphExecDestroy(exec)); /* before its kernel */
  HIP(hipGraphDestroy(graph));
  FRONT(front_hip_kernel_destroy(kernel));
  FRONT(front_hip_close(hip));
  HIP(hipStreamDestroy(stream));
  printf("%s: token 0 has %u keys, and %u in the replay\n", info.name, klen[0][0], klen[1][0]);
  return klen[0][0] == 0 && klen[1][0] == 1 ? 0 : 1;
}
