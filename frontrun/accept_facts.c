/* SPDX-License-Identifier: Apache-2.0 */
/* A micro-kernel's launches, through libfront like any other kernel's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accept.h"

enum { REST_BYTES = 32 << 20, X_ROOM = 1 << 18, ROUNDS_HARDWARE = 8, TIMEOUT_GPU = 10, TIMEOUT_EMULATOR = 600 };

static const struct {
  const char *name, *question;
} facts[ACCEPT_FACTS] = {
    {"scaled MFMA", "which lane and byte of the scale operands belongs to which K block"},
    {"fp8 conversion", "ties, denormals and what lies beyond 448 in v_cvt_pk_fp8_f32"},
    {"rsq", "is v_rsq_f32 within 1 ulp"},
    {"XCD of a workgroup", "does workgroup i run on XCD i mod 8"},
    {"clock", "does s_memrealtime count at 100 MHz"},
    {"published data", "are device-scope stores visible to plain loads behind their flag"},
    {"pairs", "is an 8-byte store of value and tag seen whole"},
};

/* Everything that a key of 1 to 7 tokens may point to; only x and wqkv are used. */
struct memory {
  void *x, *out, *rest;
};

static enum front_status allocate(front_device device, struct memory *m) {
  enum front_status status = front_memory_allocate(device, X_ROOM, &m->x);
  if (status == FRONT_OK) status = front_memory_allocate(device, ACCEPT_OUT_BYTES, &m->out);
  if (status == FRONT_OK) status = front_memory_allocate(device, REST_BYTES, &m->rest);
  if (status == FRONT_OK) status = front_memory_fill(device, m->x, 0, X_ROOM / 4);
  if (status == FRONT_OK) status = front_memory_fill(device, m->rest, 0, REST_BYTES / 4);
  return status;
}

/* Every pointer at the rest's memory, but for the two that the micro-tests use. */
static struct front_args arguments(const struct memory *m) {
  struct front_args args = {.x_stride = 5120, .bt_stride = 1, .swa_stride = 584, .swa_block = 1, .comp_block = 1};
#define POINTER_IN(name)     args.name = m->rest;
#define POINTER_OUT(name)    args.name = m->rest;
#define POINTER_INOUT(name)  args.name = m->rest;
#define POINTER_DEVICE(name) /* the instance's */
#define POINTER_SCALAR(name)
#define ARG(name, type, align, dtype, use, bytes_of) POINTER_##use(name)
#include "front_args.def"
#undef ARG
  args.x = m->x;
  args.wqkv = m->out;
  return args;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum front_status launch(struct session *s, front_binding binding, const struct memory *m, struct accept_result *r) {
  front_ticket ticket;
  uint64_t limit = (uint64_t)(r->hardware ? TIMEOUT_GPU : TIMEOUT_EMULATOR) * 1000000000u;
  enum front_status status = front_memory_copy(s->device, m->x, r->x, sizeof r->x);
  if (status == FRONT_OK) status = front_memory_fill(s->device, m->out, 0, ACCEPT_OUT_BYTES / 4);
  double began = now();
  if (status == FRONT_OK) status = front_launch(s->queue, binding, &ticket);
  if (status == FRONT_OK) status = front_wait(ticket, limit);
  r->seconds_short = r->seconds;
  r->seconds = now() - began;
  return status == FRONT_OK ? front_memory_copy(s->device, r->out, m->out, ACCEPT_OUT_BYTES) : status;
}

static enum run_code launches(struct session *s, unsigned fact, struct accept_result *r, struct accept_fact *found, char *error) {
  struct memory m = {0};
  front_binding binding = {0};
  enum front_status status = allocate(s->device, &m);
  const struct front_args args = arguments(&m);
  if (status == FRONT_OK) status = front_binding_create(s->instance, &args, &binding);
  uint32_t rounds = !r->hardware ? 1 : fact == 4 ? 2 : ROUNDS_HARDWARE;
  for (uint32_t i = 0; i < rounds && status == FRONT_OK; i++) {
    accept_fill(fact, i, r->hardware, r->x);
    status = launch(s, binding, &m, r);
    bool warm = r->hardware && fact == 4 && i == 0; /* the first of the clock's two is only measured */
    if (status == FRONT_OK && !warm) accept_judge(fact, r, found);
  }
  if (status != FRONT_OK) snprintf(error, RUN_ERROR_MAX, "%.2000s", front_error()); /* before what follows has its own to say */
  if (binding.impl) (void)front_binding_destroy(binding);
  if (m.x) (void)front_memory_free(s->device, m.x);
  if (m.out) (void)front_memory_free(s->device, m.out);
  if (m.rest) (void)front_memory_free(s->device, m.rest);
  return session_code(status);
}

enum run_code accept_fact_run(const struct run_options *options, const void *object, size_t bytes, unsigned fact, struct accept_fact *found,
    bool *hardware, struct front_device_info *device, char error[RUN_ERROR_MAX]) {
  char key[64];
  struct session session;
  *found = (struct accept_fact){.name = facts[fact].name, .question = facts[fact].question};
  snprintf(key, sizeof key, "tokens=%u,tp=8,ratio=0,window=1", fact + 1);
  const struct session_options how = {.device = options->device, .arch = "gfx950", .object = object, .object_bytes = bytes, .key = key};
  enum run_code code = session_open(&how, &session, error);
  if (code != RUN_GOOD) return code;
  struct accept_result *r = calloc(1, sizeof *r);
  if (r) r->out = calloc(1, ACCEPT_OUT_BYTES);
  if (r && r->out) {
    *hardware = r->hardware = !session.emulator.there;
    *device = session.device_info;
    code = launches(&session, fact, r, found, error);
  } else {
    snprintf(error, RUN_ERROR_MAX, "no memory for the micro-tests");
    code = RUN_ENVIRONMENT;
  }
  if (r) free(r->out);
  free(r);
  if (code != RUN_FAULT) session_close(&session);
  return code;
}
