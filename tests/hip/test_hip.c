/* SPDX-License-Identifier: Apache-2.0 */
/* Launches on HIP streams and in graphs, against launches of the same kernel through HSA: test_hip FILE. */
#include <hip/hip_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "fake_hip.h"
#include "front_hip.h"
#include "hip_layer.h"
#include "support.h"

#define HIP(call)   assert_int_equal(call, hipSuccess)
#define FRONT(call) good(call, #call)

static const char *object;
static struct front_kernel_info info;
static struct front_args args; /* the layer of all tests */
static front_hip hip;
static front_hip_kernel kernel;
static front_hip_binding binding;
static hipStream_t stream;
static struct layer_step step[2];
static struct layer_result direct[2]; /* what HSA launches left for them */
static struct layer_result result;

static void good(enum front_status status, const char *call) {
  if (status != FRONT_OK) fail_msg("%s: %s: %s", call, front_status_name(status), front_error());
}

static void assert_result(const struct layer_result *got, const struct layer_result *wanted) {
  assert_memory_equal(got->klen, wanted->klen, sizeof got->klen);
  assert_memory_equal(got->kt, wanted->kt, sizeof got->kt);
  assert_memory_equal(got->swa, wanted->swa, sizeof got->swa);
  assert_memory_equal(got->q, wanted->q, sizeof got->q);
}

/* ---- the oracle: the same arguments through HSA, with an instance of libfront's */

static void launch_directly(void) {
  const struct front_options options = {sizeof options, built_path("emulator/libhsa-emu.so")};
  front_runtime runtime;
  front_device device;
  front_kernel k;
  front_instance instance;
  front_binding b;
  front_queue queue;
  front_ticket ticket;
  struct front_args a = args;
  a.scratch = a.epoch = a.guard = NULL;
  FRONT(front_open(&options, &runtime));
  FRONT(front_device_open(runtime, NULL, &device));
  FRONT(front_kernel_load_file(device, object, NULL, &k));
  FRONT(front_instance_create(k, NULL, &instance));
  FRONT(front_binding_create(instance, &a, &b));
  FRONT(front_queue_create(device, NULL, &queue));
  for (int i = 0; i < 2; i++) {
    layer_clear(&args, &info, NULL);
    layer_set(&args, &info, &step[i], NULL);
    HIP(hipDeviceSynchronize());
    FRONT(front_launch(queue, b, &ticket));
    FRONT(front_wait(ticket, UINT64_C(60000000000)));
    layer_read(&args, &info, &direct[i]);
  }
  FRONT(front_queue_destroy(queue));
  FRONT(front_binding_destroy(b));
  FRONT(front_instance_destroy(instance));
  FRONT(front_kernel_destroy(k));
  FRONT(front_device_close(device));
  FRONT(front_close(runtime));
  assert_memory_not_equal(direct[0].q, direct[1].q, sizeof direct[0].q);
  assert_memory_not_equal(direct[0].swa, direct[1].swa, sizeof direct[0].swa);
  assert_memory_not_equal(direct[0].klen, direct[1].klen, sizeof direct[0].klen);
}

static int set_up_all(void **context) {
  (void)context;
  FRONT(front_hip_open(NULL, &hip));
  FRONT(front_hip_kernel_load_file(hip, object, NULL, &kernel));
  FRONT(front_hip_kernel_describe(kernel, &info));
  args = layer_make(&info, 1);
  for (uint32_t i = 0; i < 2; i++) layer_draw(&step[i], &info, 100 + i);
  launch_directly();
  return 0;
}

static int take_down_all(void **context) {
  (void)context;
  FRONT(front_hip_kernel_destroy(kernel));
  FRONT(front_hip_close(hip));
  layer_free(&args);
  assert_int_equal(fake_hip()->modules, 0);
  return 0;
}

static int set_up(void **context) {
  (void)context;
  fake_hip_reset();
  HIP(hipStreamCreate(&stream));
  FRONT(front_hip_binding_create(kernel, &args, &binding));
  layer_clear(&args, &info, NULL);
  HIP(hipDeviceSynchronize());
  return 0;
}

static int take_down(void **context) {
  (void)context;
  FRONT(front_hip_binding_destroy(binding));
  HIP(hipStreamDestroy(stream));
  return 0;
}

/* ---- streams */

static void a_launch_gives_the_bits_of_an_hsa_launch(void **context) {
  (void)context;
  layer_set(&args, &info, &step[0], stream);
  FRONT(front_hip_launch(binding, stream));
  layer_read(&args, &info, &result);
  assert_result(&result, &direct[0]);
  assert_int_equal(fake_hip()->launches, 1);
}

static void the_null_stream_is_a_stream_too(void **context) {
  (void)context;
  layer_set(&args, &info, &step[1], NULL);
  FRONT(front_hip_launch(binding, NULL));
  layer_read(&args, &info, &result);
  assert_result(&result, &direct[1]);
}

static void launches_keep_their_place_among_the_streams_other_work(void **context) {
  (void)context;
  void *between;
  static uint16_t q[48 * 4096];
  size_t bytes = info.tokens * 4096u * 2;
  HIP(hipMalloc(&between, bytes));
  layer_set(&args, &info, &step[0], stream);
  FRONT(front_hip_launch(binding, stream));
  HIP(hipMemcpyAsync(between, args.q, bytes, hipMemcpyDeviceToDevice, stream));
  layer_clear(&args, &info, stream);
  layer_set(&args, &info, &step[1], stream);
  FRONT(front_hip_launch(binding, stream));
  assert_int_equal(fake_hip()->ran, 0); /* it returned before anything ran */
  layer_read(&args, &info, &result);
  assert_int_equal(fake_hip()->ran, 2);
  HIP(hipMemcpy(q, between, bytes, hipMemcpyDeviceToHost));
  assert_memory_equal(q, direct[0].q, bytes);
  assert_result(&result, &direct[1]);
  HIP(hipFree(between));
}

static void two_streams_are_ordered_by_an_event(void **context) {
  (void)context;
  hipStream_t second; /* newer: without the event it runs first */
  hipEvent_t ready;
  HIP(hipStreamCreate(&second));
  HIP(hipEventCreateWithFlags(&ready, hipEventDisableTiming));
  layer_set(&args, &info, &step[0], stream);
  FRONT(front_hip_launch(binding, stream)); /* the same scratch on two streams */
  layer_clear(&args, &info, stream);
  layer_set(&args, &info, &step[1], stream);
  HIP(hipEventRecord(ready, stream));
  HIP(hipStreamWaitEvent(second, ready, 0));
  FRONT(front_hip_launch(binding, second));
  HIP(hipStreamSynchronize(second));
  assert_int_equal(fake_hip()->ran, 2);
  layer_read(&args, &info, &result);
  assert_result(&result, &direct[1]);
  HIP(hipEventDestroy(ready));
  HIP(hipStreamDestroy(second));
}

static void an_update_is_for_later_launches_only(void **context) {
  (void)context;
  struct front_args others = args;
  HIP(hipMalloc(&others.q, info.tokens * 4096u * 2));
  layer_set(&args, &info, &step[0], stream);
  FRONT(front_hip_launch(binding, stream)); /* not yet run when the binding changes */
  FRONT(front_hip_binding_update(binding, &others));
  layer_read(&args, &info, &result);
  assert_result(&result, &direct[0]);
  layer_set(&args, &info, &step[1], stream);
  FRONT(front_hip_launch(binding, stream));
  layer_read(&others, &info, &result);
  assert_memory_equal(result.q, direct[1].q, sizeof result.q);
  layer_read(&args, &info, &result);
  assert_memory_equal(result.q, direct[0].q, sizeof result.q);
  HIP(hipFree(others.q));
}

/* ---- graphs */

static uint32_t read_epoch(void) {
  uint32_t epoch;
  HIP(hipMemcpy(&epoch, args.epoch, sizeof epoch, hipMemcpyDeviceToHost));
  return epoch;
}

static void a_captured_launch_replays_with_the_inputs_of_the_moment(void **context) {
  (void)context;
  hipGraph_t graph;
  hipGraphExec_t exec;
  layer_set(&args, &info, &step[1], stream);
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  FRONT(front_hip_launch(binding, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  HIP(hipGraphDestroy(graph));
  HIP(hipDeviceSynchronize());
  assert_int_equal(fake_hip()->captured, 1);
  assert_int_equal(fake_hip()->ran, 0);
  uint32_t epoch = read_epoch();
  for (int i = 0; i < 4; i++) {
    layer_clear(&args, &info, stream);
    layer_set(&args, &info, &step[i & 1], stream);
    HIP(hipGraphLaunch(exec, stream));
    layer_read(&args, &info, &result);
    assert_result(&result, &direct[i & 1]);
  }
  assert_int_equal(fake_hip()->ran, 4);
  assert_int_equal(read_epoch(), epoch + 4); /* each replay has a tag of its own */
  assert_int_equal(fake_hip()->launches, 1);
  HIP(hipGraphExecDestroy(exec));
}

static void copies_and_several_launches_replay_in_their_order(void **context) {
  (void)context;
  hipGraph_t graph;
  hipGraphExec_t exec;
  front_hip_binding second;
  struct front_args others = args; /* another layer of the kernel: the same scratch, its own query */
  HIP(hipMalloc(&others.q, info.tokens * 4096u * 2));
  FRONT(front_hip_binding_create(kernel, &others, &second));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  layer_set(&args, &info, &step[0], stream);
  FRONT(front_hip_launch(binding, stream));
  layer_clear(&others, &info, stream);
  layer_set(&args, &info, &step[1], stream);
  FRONT(front_hip_launch(second, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  FRONT(front_hip_binding_destroy(second)); /* the graph has its own copy of the block */
  for (int i = 0; i < 2; i++) HIP(hipGraphLaunch(exec, stream));
  layer_read(&others, &info, &result);
  assert_result(&result, &direct[1]);
  layer_read(&args, &info, &result);
  assert_memory_equal(result.q, direct[0].q, sizeof result.q);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipFree(others.q));
}

static void a_capture_may_fork_to_another_stream_and_join(void **context) {
  (void)context;
  hipStream_t side;
  hipEvent_t fork, join;
  hipGraph_t graph;
  hipGraphExec_t exec;
  HIP(hipStreamCreate(&side));
  HIP(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
  HIP(hipEventCreateWithFlags(&join, hipEventDisableTiming));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP(hipEventRecord(fork, stream));
  HIP(hipStreamWaitEvent(side, fork, 0));
  FRONT(front_hip_launch(binding, side));
  HIP(hipEventRecord(join, side));
  HIP(hipStreamWaitEvent(stream, join, 0));
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  assert_int_equal(fake_hip()->captured, 1);
  layer_set(&args, &info, &step[0], stream);
  HIP(hipGraphLaunch(exec, stream));
  layer_read(&args, &info, &result);
  assert_result(&result, &direct[0]);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipEventDestroy(fork));
  HIP(hipEventDestroy(join));
  HIP(hipStreamDestroy(side));
}

/* ---- failures */

static void a_launch_that_hip_refuses_is_an_error_in_hips_words_and_no_longer_hips_last_one(void **context) {
  (void)context;
  fake_hip()->fail_launch = hipErrorLaunchOutOfResources;
  assert_int_equal(front_hip_launch(binding, stream), FRONT_ERR_HIP);
  assert_string_equal(front_error(), "front_s8_tp8_r2_w128_t0: hipModuleLaunchKernel failed with hipErrorLaunchOutOfResources (701): too "
                                     "many resources requested for launch");
  assert_int_equal(hipPeekAtLastError(), hipSuccess);
  layer_set(&args, &info, &step[0], stream);
  FRONT(front_hip_launch(binding, stream)); /* and the next one is good */
  layer_read(&args, &info, &result);
  assert_result(&result, &direct[0]);
}

static void a_launch_that_fails_in_a_capture_says_so(void **context) {
  (void)context;
  hipGraph_t graph;
  front_hip_kernel another;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  fake_hip()->fail_launch = hipErrorOutOfMemory;
  assert_int_equal(front_hip_launch(binding, stream), FRONT_ERR_MEMORY);
  assert_non_null(strstr(front_error(), "on a stream that is being captured"));
  assert_int_equal(
      front_hip_kernel_load_file(hip, object, NULL, &another), FRONT_ERR_HIP); /* HIP loads no code now, and spoils the capture */
  assert_non_null(strstr(front_error(), "hipModuleLoadData failed with hipErrorStreamCaptureUnsupported"));
  assert_int_equal(front_hip_launch(binding, stream), FRONT_ERR_HIP);
  assert_non_null(strstr(front_error(), "hipErrorStreamCaptureInvalidated"));
  assert_int_equal(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
}

int launch_words_match(void);

static void the_words_of_a_launch_are_those_of_hips_header(void **context) {
  (void)context;
  assert_true(launch_words_match());
}

int main(int argc, char **argv) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, take_down)
  const struct CMUnitTest tests[] = {
      TEST(a_launch_gives_the_bits_of_an_hsa_launch),
      TEST(the_null_stream_is_a_stream_too),
      TEST(launches_keep_their_place_among_the_streams_other_work),
      TEST(two_streams_are_ordered_by_an_event),
      TEST(an_update_is_for_later_launches_only),
      TEST(a_captured_launch_replays_with_the_inputs_of_the_moment),
      TEST(copies_and_several_launches_replay_in_their_order),
      TEST(a_capture_may_fork_to_another_stream_and_join),
      TEST(a_launch_that_hip_refuses_is_an_error_in_hips_words_and_no_longer_hips_last_one),
      TEST(a_launch_that_fails_in_a_capture_says_so),
      cmocka_unit_test(the_words_of_a_launch_are_those_of_hips_header),
  };
  if (argc != 2) return 2;
  object = argv[1];
  return cmocka_run_group_tests(tests, set_up_all, take_down_all);
}
