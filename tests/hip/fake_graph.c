/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's captures and graphs: a graph is a list of work in a right order. */
#include <stdlib.h>

#include "fake_parts.h"

struct hipGraphExec {
  struct work_list work;
};

hipError_t fake_forbid_capture(void) {
  hipError_t error = hipSuccess;
  for (struct ihipStream_t *s = fake_streams(); s; s = s->next) {
    if (!s->capture) continue;
    s->capture->spoiled = true;
    error = hipErrorStreamCaptureUnsupported;
  }
  return error;
}

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  struct ihipStream_t *stream = fake_stream(handle);
  (void)mode;
  if (!handle || stream->capture) return fake_return(hipErrorStreamCaptureUnsupported);
  stream->capture = calloc(1, sizeof *stream->capture);
  stream->capture_origin = true;
  return fake_return(stream->capture ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t *graph) {
  struct ihipStream_t *stream = fake_stream(handle);
  if (!stream->capture || !stream->capture_origin) return fake_return(hipErrorStreamCaptureUnmatched);
  struct ihipGraph *made = stream->capture;
  for (struct ihipStream_t *s = fake_streams(); s; s = s->next)
    if (s->capture == made) s->capture = NULL;
  stream->capture_origin = false;
  *graph = NULL;
  if (made->spoiled) {
    (void)hipGraphDestroy(made);
    return fake_return(hipErrorStreamCaptureInvalidated);
  }
  *graph = made;
  return fake_return(hipSuccess);
}

hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus *status) {
  const struct ihipGraph *capture = fake_stream(handle)->capture;
  *status = !capture ? hipStreamCaptureStatusNone : capture->spoiled ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive;
  return fake_return(hipSuccess);
}

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *bad_node, char *log, size_t log_bytes) {
  (void)bad_node;
  (void)log;
  (void)log_bytes;
  struct hipGraphExec *made = calloc(1, sizeof *made);
  bool good = made != NULL;
  for (size_t i = 0; good && i < graph->work.count; i++) good = work_append(&made->work, &graph->work.item[i]);
  if (!good) return fake_return(hipErrorOutOfMemory);
  *exec = made;
  return fake_return(hipSuccess);
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  hipError_t error = hipSuccess;
  for (size_t i = 0; error == hipSuccess && i < exec->work.count; i++) error = fake_submit(fake_stream(stream), &exec->work.item[i]);
  return fake_return(error);
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  work_free(&graph->work);
  free(graph);
  return fake_return(hipSuccess);
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  work_free(&exec->work);
  free(exec);
  return fake_return(hipSuccess);
}
