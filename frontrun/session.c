/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a device and loads the kernel on it. */
#include "session.h"

#include <stdio.h>
#include <string.h>

enum run_code session_code(enum front_status status) {
  switch (status) {
  case FRONT_OK:
    return RUN_GOOD;
  case FRONT_ERR_ARGUMENT:
  case FRONT_ERR_CODE_OBJECT:
  case FRONT_ERR_NOT_FOUND:
    return RUN_USAGE;
  case FRONT_ERR_TIMEOUT:
  case FRONT_ERR_FAULT:
    return RUN_FAULT;
  default:
    return RUN_ENVIRONMENT;
  }
}

static enum run_code failed(enum front_status status, char *error) {
  snprintf(error, RUN_ERROR_MAX, "%s", front_error());
  return session_code(status);
}

/* Opens a library's first device. */
static enum run_code open_device(struct session *session, const char *library, char *error) {
  struct front_options options = {.size = sizeof options, .hsa_library = library};
  enum front_status status = front_open(&options, &session->runtime);
  if (status != FRONT_OK) return failed(status, error);
  status = front_library_path(session->runtime, &session->library);
  if (status == FRONT_OK) status = front_device_open(session->runtime, NULL, &session->device);
  if (status == FRONT_OK) status = front_device_describe(session->runtime, 0, &session->device_info);
  if (status != FRONT_OK) return failed(status, error);
  session->emulator = emulator_link(session->library);
  return RUN_GOOD;
}

static enum run_code open_emulator(struct session *session, char *error) {
  char path[PATH_MAX];
  if (!emulator_find(path)) {
    snprintf(error, RUN_ERROR_MAX, "no emulator beside this program (%.1500s): name libhsa-emu.so in FRONT_EMU_LIBRARY", path);
    return RUN_ENVIRONMENT;
  }
  enum run_code code = open_device(session, path, error);
  if (code != RUN_GOOD && !session->runtime.impl) (void)emulator_loads(path, error, RUN_ERROR_MAX);
  if (code != RUN_GOOD || session->emulator.there) return code;
  snprintf(error, RUN_ERROR_MAX, "%.1500s is not the emulator: name libhsa-emu.so in FRONT_EMU_LIBRARY", session->library);
  return RUN_ENVIRONMENT;
}

/* A GPU, and one that can run the kernel. An HSA library that turns out to be the emulator is fine for `auto` only. */
static enum run_code open_gpu(struct session *session, const char *arch, bool emulator_too, char *error) {
  enum run_code code = open_device(session, NULL, error);
  if (code != RUN_GOOD) return code;
  const struct front_device_info *info = &session->device_info;
  if (session->emulator.there && emulator_too) return RUN_GOOD;
  if (session->emulator.there) {
    snprintf(error, RUN_ERROR_MAX, "the HSA library %.1500s is the emulator, not a GPU: unset FRONT_HSA_LIBRARY", session->library);
    return RUN_ENVIRONMENT;
  }
  if (!strcmp(info->name, arch)) return RUN_GOOD;
  snprintf(error, RUN_ERROR_MAX, "the GPU is %s, the kernel is for %s: use --device emulator, or --arch", info->name, arch);
  return RUN_ENVIRONMENT;
}

static enum run_code choose_device(struct session *session, const struct session_options *options, char *error) {
  if (options->device == DEVICE_EMULATOR) return open_emulator(session, error);
  enum run_code code = open_gpu(session, options->arch, options->device == DEVICE_AUTO, error);
  if (code == RUN_GOOD || options->device == DEVICE_GPU) return code;
  session_close(session);
  char why[RUN_ERROR_MAX];
  memcpy(why, error, sizeof why);
  code = open_emulator(session, error);
  memcpy(session->note, why, sizeof why);
  if (code == RUN_GOOD) return code;
  memcpy(session->note, error, sizeof session->note); /* both reasons */
  snprintf(error, RUN_ERROR_MAX, "no GPU (%.900s), and %.1300s", why, session->note);
  return code;
}

static enum front_status load_kernel(struct session *session, const struct session_options *options) {
  struct front_instance_options instance = {.size = sizeof instance, .first_epoch = options->first_epoch, .guard_us = options->guard_us};
  enum front_status status = front_kernel_load(session->device, options->object, options->object_bytes, options->key, &session->kernel);
  if (status == FRONT_OK) status = front_kernel_describe(session->kernel, &session->kernel_info);
  if (status == FRONT_OK) status = front_instance_create(session->kernel, &instance, &session->instance);
  if (status == FRONT_OK) status = front_instance_describe(session->instance, &session->instance_info);
  if (status == FRONT_OK) status = front_queue_create(session->device, NULL, &session->queue);
  return status;
}

enum run_code session_open(const struct session_options *options, struct session *session, char error[RUN_ERROR_MAX]) {
  *session = (struct session){0};
  enum run_code code = choose_device(session, options, error);
  if (code == RUN_GOOD) {
    enum front_status status = load_kernel(session, options);
    if (status != FRONT_OK) code = failed(status, error);
  }
  if (code != RUN_GOOD) session_close(session);
  return code;
}

void session_close(struct session *session) {
  if (session->queue.impl) (void)front_queue_destroy(session->queue);
  if (session->instance.impl) (void)front_instance_destroy(session->instance);
  if (session->kernel.impl) (void)front_kernel_destroy(session->kernel);
  if (session->device.impl) (void)front_device_close(session->device);
  if (session->runtime.impl) (void)front_close(session->runtime);
  *session = (struct session){0};
}
