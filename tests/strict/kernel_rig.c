/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_rig.h"

#include <stdlib.h>
#include <string.h>

#include "frontgen.h"
#include "support.h"

enum { GUARD_US = 1000 };

void rig_plan(const char *key, struct plan *plan) {
  char error[FRONTGEN_ERROR_MAX];
  if (frontgen_plan(key, "gfx950", plan, error)) fail_msg("%s", error);
}

char *rig_ir(const char *key) {
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX], *text;
  size_t bytes;
  rig_plan(key, &plan);
  if (frontgen_emit(&plan, &text, &bytes, error)) fail_msg("%s", error);
  return text;
}

void *rig_compile(const char *key, const char *ir, size_t *bytes) {
  const struct frontgen_options options = {.no_gates = true};
  struct plan plan;
  char error[FRONTGEN_ERROR_MAX];
  void *object;
  rig_plan(key, &plan);
  if (frontgen_compile_ir(ir, strlen(ir), &plan, &options, &object, bytes, error)) fail_msg("%s: %s", key, error);
  return object;
}

void rig_open(struct rig *r, const char *key, const void *object, size_t bytes) { rig_open_within(r, key, object, bytes, GUARD_US); }

void rig_open_within(struct rig *r, const char *key, const void *object, size_t bytes, uint32_t guard_us) {
  char error[RUN_ERROR_MAX];
  const struct session_options options = {
      .device = DEVICE_EMULATOR, .arch = "gfx950", .object = object, .object_bytes = bytes, .first_epoch = RIG_EPOCH, .guard_us = guard_us};
  *r = (struct rig){0};
  rig_plan(key, &r->plan);
  setenv("FRONT_EMU_THREADS", "1", 1); /* meson runs tests side by side */
  setenv("FRONT_EMU_LIBRARY", built_path("emulator/libhsa-emu.so"), 0);
  for (uint32_t i = 0; i < RIG_INPUTS; i++) {
    const struct input_options inputs = {.seed = 1 + i};
    if (!inputs_make(&r->plan, &inputs, &r->in[i], error)) fail_msg("%s", error);
  }
  if (session_open(&options, &r->session, error)) fail_msg("%s: %s", key, error);
}

void rig_close(struct rig *r) {
  session_close(&r->session);
  for (uint32_t i = 0; i < RIG_INPUTS; i++) inputs_free(&r->in[i]);
  *r = (struct rig){0};
}

void rig_launch(struct rig *r, uint64_t schedule, struct shown *shown) {
  const struct launch_options options = {.timeout_ns = UINT64_C(3600000000000)};
  struct inputs *in = &r->in[r->launches++ % RIG_INPUTS];
  struct launch launch;
  *shown = (struct shown){0};
  assert_false(r->broken);
  if (!strict_start(&r->session.emulator, HSA_EMU_L2_NONCOHERENT, schedule)) fail_msg("no strict mode");
  shown->code = session_launch(&r->session, &r->plan, in, &options, &launch, shown->error);
  launch_free(&launch);
  if (!strict_take(&r->session.emulator, r->plan.lds.stop, &shown->findings)) fail_msg("no memory");
  r->broken = shown->code != RUN_GOOD;
}

void shown_free(struct shown *shown) { strict_free(&shown->findings); }
