/* SPDX-License-Identifier: Apache-2.0 */
/* One launch: device buffers, the launch itself, the way back. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session.h"

/* What the scratch holds before a prefilled launch. */
enum { STALE_BYTE = 0x7f, STALE_VALUE = 0x7fc00123 };

struct buffers {
  void *at[FRONT_ARGS];
  bool ranged[FRONT_ARGS];
  uint32_t range[FRONT_ARGS]; /* of the emulator's traffic counters */
  front_binding binding;
};

static const size_t block_offset[FRONT_ARGS] = {
#define ARG(name, type, align, dtype, use, bytes) [ARG_##name] = offsetof(struct front_args, name),
#include "front_args.def"
#undef ARG
};

static bool is_owned_by_instance(int arg) { return arg == ARG_scratch || arg == ARG_epoch || arg == ARG_guard; }

/* The window cache's buffer is far larger than its blocks that are copied. */
static enum front_status copy_blocks(struct session *session, struct inputs *in, char *to, bool back) {
  enum front_status status = FRONT_OK;
  for (size_t i = 0; i < in->blocks && status == FRONT_OK; i++) {
    char *device = to + in->block[i].number * in->swa_stride;
    status = back ? front_memory_copy(session->device, in->block[i].after, device, (uint64_t)in->swa_stride)
                  : front_memory_copy(session->device, device, in->block[i].before, (uint64_t)in->swa_stride);
  }
  return status;
}

static enum front_status copy_there(struct session *session, struct inputs *in, int arg, char *to) {
  if (arg == ARG_swa) return copy_blocks(session, in, to, false);
  const char *from = in->data[arg];
  if (arg != ARG_cos_sin || !in->filled) return front_memory_copy(session->device, to, from, in->bytes[arg]);
  enum front_status status = FRONT_OK;
  for (size_t i = 0; i < in->filled_count && status == FRONT_OK; i++)
    status = front_memory_copy(session->device, to + in->filled[i].offset, from + in->filled[i].offset, in->filled[i].bytes);
  return status;
}

static enum front_status make_buffers(struct session *session, struct inputs *in, struct buffers *buffers) {
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    bool there = arg == ARG_swa || in->data[arg];
    if (!there || is_owned_by_instance(arg) || !in->bytes[arg]) continue;
    enum front_status status = front_memory_allocate(session->device, in->bytes[arg], &buffers->at[arg]);
    if (status == FRONT_OK) status = copy_there(session, in, arg, buffers->at[arg]);
    if (status != FRONT_OK) return status;
  }
  return FRONT_OK;
}

static enum front_status bind(struct session *session, const struct inputs *in, struct buffers *buffers) {
  struct front_args args = {0};
  for (int arg = 0; arg < FRONT_ARGS; arg++)
    if (buffers->at[arg]) memcpy((char *)&args + block_offset[arg], &buffers->at[arg], sizeof(void *));
  args.x_stride = in->x_stride;
  args.bt_stride = in->bt_stride;
  args.swa_stride = in->swa_stride;
  args.swa_block = in->swa_block;
  args.comp_block = in->comp_block;
  return front_binding_create(session->instance, &args, &buffers->binding);
}

/* Frees what there is, unless the launch may still use it. */
static void release(struct session *session, struct buffers *buffers) {
  if (buffers->binding.impl && front_binding_destroy(buffers->binding) != FRONT_OK) return;
  for (int arg = 0; arg < FRONT_ARGS; arg++) (void)front_memory_free(session->device, buffers->at[arg]);
}

static bool is_pair_region(int region) { return region == SCRATCH_xrdy || region == SCRATCH_qkvp || region == SCRATCH_qrdy; }

/* Every pair has the tag of the launch before, and a value that spoils whoever takes it; every other byte is stale too. */
static enum front_status prefill(struct session *session, const struct plan *plan, uint32_t epoch, uint8_t *scratch) {
  const struct scratch_layout *layout = &plan->scratch;
  memset(scratch, STALE_BYTE, layout->bytes);
  const uint32_t pair[2] = {STALE_VALUE, 2 * epoch - 1};
  for (int region = 0; region < SCRATCH_REGIONS; region++)
    for (uint32_t at = 0; is_pair_region(region) && at < layout->region[region].bytes; at += PAIR_BYTES)
      memcpy(scratch + layout->region[region].offset + at, pair, PAIR_BYTES);
  memset(scratch + layout->region[SCRATCH_done].offset, 0, layout->region[SCRATCH_done].bytes);
  return front_memory_copy(session->device, session->instance_info.scratch, scratch, layout->bytes);
}

static enum front_status before_launch(
    struct session *session, const struct plan *plan, const struct launch_options *options, struct launch *launch) {
  uint32_t bytes = plan->scratch.bytes;
  enum front_status status = front_memory_copy(session->device, &launch->epoch_before, session->instance_info.epoch, 4);
  if (status == FRONT_OK && options->prefill_tag) status = prefill(session, plan, launch->epoch_before, launch->scratch_before);
  if (status == FRONT_OK) status = front_memory_copy(session->device, launch->scratch_before, session->instance_info.scratch, bytes);
  return status;
}

/* The window cache is only written: counting its gigabytes would cost as many. */
static void watch_traffic(struct session *session, const struct inputs *in, struct buffers *buffers) {
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    const void *at = arg == ARG_scratch ? session->instance_info.scratch
                     : arg == ARG_epoch ? session->instance_info.epoch
                                        : buffers->at[arg];
    uint64_t bytes = in->bytes[arg];
    if (!at || !bytes || arg == ARG_swa) continue;
    buffers->ranged[arg] = session->emulator.range_add(at, bytes, &buffers->range[arg]) == HSA_STATUS_SUCCESS;
  }
}

static void take_figures(struct session *session, const struct inputs *in, const struct buffers *buffers, struct launch *launch) {
  launch->counted = session->emulator.last_dispatch(&launch->counters) == HSA_STATUS_SUCCESS;
  for (int arg = 0; arg < FRONT_ARGS; arg++) {
    struct hsa_emu_traffic found;
    if (!buffers->ranged[arg] || session->emulator.range_traffic(buffers->range[arg], &found) != HSA_STATUS_SUCCESS) continue;
    launch->traffic[arg] = (struct launch_traffic){true, found.bytes, found.unique_bytes, found.fetched_bytes,
        traffic_minimum(in, (enum front_arg)arg), found.min_fetches, found.max_fetches};
  }
  (void)session->emulator.ranges_clear();
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum front_status launch_and_wait(
    struct session *session, const struct buffers *buffers, const struct launch_options *options, struct launch *launch) {
  front_ticket ticket;
  double start = now();
  enum front_status status = front_launch(session->queue, buffers->binding, &ticket);
  if (status == FRONT_OK) status = front_wait(ticket, options->timeout_ns);
  launch->seconds = now() - start;
  return status;
}

static enum front_status copy_back(
    struct session *session, const struct plan *plan, struct inputs *in, const struct buffers *buffers, struct launch *launch) {
  enum front_status status = front_memory_copy(session->device, &launch->epoch_after, session->instance_info.epoch, 4);
  if (status == FRONT_OK) status = front_memory_copy(session->device, launch->scratch, session->instance_info.scratch, plan->scratch.bytes);
  for (int arg = 0; arg < FRONT_ARGS && status == FRONT_OK; arg++)
    if (in->left[arg]) status = front_memory_copy(session->device, in->left[arg], buffers->at[arg], in->bytes[arg]);
  return status == FRONT_OK ? copy_blocks(session, in, buffers->at[ARG_swa], true) : status;
}

static enum front_status run_launch(struct session *session, const struct plan *plan, struct inputs *in,
    const struct launch_options *options, struct buffers *buffers, struct launch *launch) {
  enum front_status status = make_buffers(session, in, buffers);
  if (status == FRONT_OK) status = bind(session, in, buffers);
  if (status == FRONT_OK) status = before_launch(session, plan, options, launch);
  if (status != FRONT_OK) return status;
  if (options->traffic && session->emulator.there) watch_traffic(session, in, buffers);
  status = launch_and_wait(session, buffers, options, launch);
  if (session->emulator.there) take_figures(session, in, buffers, launch);
  if (status == FRONT_ERR_TIMEOUT) (void)copy_back(session, plan, in, buffers, launch); /* what there is, for whoever looks into it */
  return status == FRONT_OK ? copy_back(session, plan, in, buffers, launch) : status;
}

enum run_code session_launch(struct session *session, const struct plan *plan, struct inputs *in, const struct launch_options *options,
    struct launch *launch, char error[RUN_ERROR_MAX]) {
  *launch = (struct launch){0};
  launch->scratch_before = calloc(1, plan->scratch.bytes);
  launch->scratch = calloc(1, plan->scratch.bytes);
  if (!launch->scratch_before || !launch->scratch) {
    snprintf(error, RUN_ERROR_MAX, "no memory for the scratch's copies");
    return RUN_ENVIRONMENT;
  }
  struct buffers buffers = {0};
  enum front_status status = run_launch(session, plan, in, options, &buffers, launch);
  if (status != FRONT_OK) snprintf(error, RUN_ERROR_MAX, "%s", front_error());
  release(session, &buffers);
  return session_code(status);
}

void launch_free(struct launch *launch) {
  free(launch->scratch_before);
  free(launch->scratch);
  *launch = (struct launch){0};
}
