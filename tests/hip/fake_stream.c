/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's streams and events: lists of work, done when someone waits. */
#include <stdlib.h>
#include <string.h>

#include "fake_parts.h"

struct ihipEvent_t {
  struct ihipStream_t *stream; /* null: never recorded */
  size_t position;
  struct ihipGraph *capture; /* it was recorded in that capture */
};

static struct ihipStream_t null_stream, *newest = &null_stream;

struct ihipStream_t *fake_stream(hipStream_t handle) {
  return handle ? handle : &null_stream;
}
struct ihipStream_t *fake_streams(void) {
  return newest;
}

/* ---- work */

bool work_append(struct work_list *list, const struct work *work) {
  struct work *grown = realloc(list->item, (list->count + 1) * sizeof *grown);
  if (!grown) return false;
  list->item = grown;
  struct work *copy = &grown[list->count];
  *copy = *work;
  if (work->kind == WORK_LAUNCH) {
    copy->launch.kernarg = malloc(work->launch.kernarg_bytes);
    if (!copy->launch.kernarg) return false;
    memcpy(copy->launch.kernarg, work->launch.kernarg, work->launch.kernarg_bytes);
  }
  list->count++;
  return true;
}

void work_free(struct work_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->item[i].launch.kernarg);
  free(list->item);
  *list = (struct work_list){0};
}

hipError_t fake_submit(struct ihipStream_t *stream, const struct work *work) {
  if (stream->capture && stream->capture->spoiled) return hipErrorStreamCaptureInvalidated;
  return work_append(stream->capture ? &stream->capture->work : &stream->work, work) ? hipSuccess : hipErrorOutOfMemory;
}

static hipError_t perform(const struct work *work) {
  hsa_status_t status = HSA_STATUS_SUCCESS;
  switch (work->kind) {
  case WORK_LAUNCH:
    return fake_run(&work->launch);
  case WORK_COPY:
    status = hsa_memory_copy(work->to, work->from, work->bytes);
    break;
  case WORK_FILL:
    status = hsa_amd_memory_fill(work->to, (uint32_t)(work->value & 0xff) * 0x01010101u, work->bytes / 4);
    break;
  case WORK_WAIT:
    return fake_run_stream(work->stream, work->position);
  }
  return status == HSA_STATUS_SUCCESS ? hipSuccess : hipErrorInvalidValue;
}

hipError_t fake_run_stream(struct ihipStream_t *stream, size_t count) {
  hipError_t error = hipSuccess;
  while (error == hipSuccess && stream->done < count) error = perform(&stream->work.item[stream->done++]);
  return error;
}

hipError_t fake_run_all(void) {
  hipError_t error = hipSuccess;
  for (struct ihipStream_t *s = newest; s && error == hipSuccess; s = s->next) error = fake_run_stream(s, s->work.count);
  return error;
}

hipError_t hipDeviceSynchronize(void) {
  hipError_t error = fake_forbid_capture();
  return fake_return(error == hipSuccess ? fake_run_all() : error);
}

/* ---- streams */

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags) {
  (void)flags;
  struct ihipStream_t *made = calloc(1, sizeof *made);
  if (!made) return fake_return(hipErrorOutOfMemory);
  made->next = newest;
  newest = *stream = made;
  return fake_return(hipSuccess);
}

hipError_t hipStreamCreate(hipStream_t *stream) { return hipStreamCreateWithFlags(stream, 0); }

hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t words, const uint32_t *mask) {
  if (words > FAKE_WORDS) return fake_return(hipErrorInvalidValue);
  hipError_t error = hipStreamCreateWithFlags(stream, 0);
  if (error != hipSuccess) return error;
  (*stream)->masked = true;
  memcpy((*stream)->mask, mask, words * sizeof *mask);
  return fake_return(hipSuccess);
}

/* Bits beyond the device's compute units are 0. */
hipError_t hipExtStreamGetCUMask(hipStream_t handle, uint32_t words, uint32_t *mask) {
  struct ihipStream_t *stream = fake_stream(handle);
  if (fake.fail_mask != hipSuccess) return fake_return(fake.fail_mask);
  if (words < FAKE_WORDS) return fake_return(hipErrorInvalidValue);
  const struct fake_gpu *gpu = fake_gpu();
  const uint32_t *from = stream->masked ? stream->mask : fake.global_mask, all = FAKE_WORDS * 32;
  uint32_t units = (uint32_t)(fake.compute_units ? fake.compute_units : gpu ? gpu->compute_units : 0);
  memset(mask, 0, words * sizeof *mask);
  for (uint32_t i = 0; i < units && i < all; i++) mask[i / 32] |= from[i / 32] & 1u << i % 32;
  return fake_return(hipSuccess);
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
  struct ihipStream_t *stream = fake_stream(handle);
  hipError_t error = fake_forbid_capture();
  return fake_return(error == hipSuccess ? fake_run_stream(stream, stream->work.count) : error);
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  hipError_t error = fake_run_all(); /* others may wait for it */
  struct ihipStream_t **at = &newest;
  while (*at && *at != stream) at = &(*at)->next;
  if (!stream || !*at) return fake_return(hipErrorInvalidHandle);
  *at = stream->next;
  work_free(&stream->work);
  free(stream);
  return fake_return(error);
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device) {
  (void)stream;
  *device = fake.stream_device;
  return fake_return(hipSuccess);
}

/* ---- events */

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return fake_return(*event ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t handle) {
  struct ihipStream_t *stream = fake_stream(handle);
  *event = (struct ihipEvent_t){stream, stream->work.count, stream->capture};
  return fake_return(hipSuccess);
}

/* A stream that waits for an event of a capture joins the capture. Its nodes are kept in the order of the calls, which is a right one. */
hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event, unsigned int flags) {
  struct ihipStream_t *stream = fake_stream(handle);
  (void)flags;
  if (!event->stream) return fake_return(hipSuccess);
  if (event->capture) {
    stream->capture = event->capture;
    return fake_return(hipSuccess);
  }
  return fake_return(fake_submit(stream, &(struct work){.kind = WORK_WAIT, .stream = event->stream, .position = event->position}));
}

hipError_t hipEventDestroy(hipEvent_t event) {
  free(event);
  return fake_return(hipSuccess);
}
