/* SPDX-License-Identifier: Apache-2.0 */
/* Instances and bindings. */
#include "instance.h"

#include <stdlib.h>
#include <string.h>

#include "device_memory.h"
#include "extensible.h"
#include "instance_guard.h"
#include "kernarg.h"
#include "queue.h"
#include "status.h"

static enum front_status fill(const struct device *device, void *to, uint32_t value, uint64_t bytes) {
  hsa_status_t code = device->hsa->hsa_amd_memory_fill(to, value, bytes / 4);
  return code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(device->hsa, FRONT_ERR_HSA, "hsa_amd_memory_fill", code);
}

static enum front_status make_epoch(struct instance *instance, const struct front_instance_options *options) {
  struct device *device = instance->kernel->device;
  if (options->epoch) {
    if ((uintptr_t)options->epoch % 4) return status_fail(FRONT_ERR_ARGUMENT, "front_instance_create: epoch is not 4-byte aligned");
    instance->epoch = options->epoch;
    return FRONT_OK;
  }
  enum front_status status = memory_allocate(device, device->local, 4, "the epoch", &instance->epoch);
  if (status != FRONT_OK) return status;
  instance->owns_epoch = true;
  return fill(device, instance->epoch, options->first_epoch, 4);
}

static void release(struct instance *instance) {
  (void)memory_free(instance->kernel->device, instance->scratch);
  (void)memory_free(instance->kernel->device, instance->guard);
  if (instance->owns_epoch) (void)memory_free(instance->kernel->device, instance->epoch);
  free(instance);
}

enum front_status front_instance_create(front_kernel kernel, const struct front_instance_options *options, front_instance *instance) {
  if (!kernel.impl || !instance) return status_fail(FRONT_ERR_ARGUMENT, "front_instance_create: null argument");
  struct front_instance_options o;
  enum front_status status = options_take(&o, sizeof o, options, "front_instance_create");
  if (status != FRONT_OK) return status;
  if (!device_is_here(kernel.impl->device)) return process_forked("front_instance_create");
  struct instance *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_instance_create: no host memory");
  made->kernel = kernel.impl;
  made->debug = o.debug != 0;
  struct device *device = kernel.impl->device;
  status = memory_allocate(device, device->local, kernel.impl->info.scratch_bytes, "the scratch", &made->scratch);
  if (status == FRONT_OK) status = fill(device, made->scratch, 0, kernel.impl->info.scratch_bytes);
  if (status == FRONT_OK) status = make_epoch(made, &o);
  if (status == FRONT_OK && kernel.impl->layer.guard) status = instance_guard_create(made, o.guard_us);
  if (status != FRONT_OK) {
    release(made);
    return status;
  }
  kernel.impl->users++;
  instance->impl = made;
  return FRONT_OK;
}

enum front_status front_instance_destroy(front_instance instance) {
  if (!instance.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_instance_destroy: the instance is null");
  if (!device_is_here(instance.impl->kernel->device)) return process_forked("front_instance_destroy");
  if (instance.impl->users)
    return status_fail(FRONT_ERR_BUSY, "front_instance_destroy: %u bindings are left: destroy them first", instance.impl->users);
  instance.impl->kernel->users--;
  release(instance.impl);
  return FRONT_OK;
}

enum front_status front_instance_describe(front_instance instance, struct front_instance_info *info) {
  if (!instance.impl || !info) return status_fail(FRONT_ERR_ARGUMENT, "front_instance_describe: null argument");
  *info = (struct front_instance_info){.scratch = instance.impl->scratch, .epoch = instance.impl->epoch};
  return FRONT_OK;
}

static enum front_status refuse_in_flight(const char *call, const struct instance *instance, const uint32_t *in_flight) {
  if (*in_flight) queue_retire(instance->queue);
  if (*in_flight) return status_fail(FRONT_ERR_BUSY, "%s: %u launches are in flight: wait for them", call, *in_flight);
  return FRONT_OK;
}

enum front_status front_instance_reset(front_instance instance) {
  if (!instance.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_instance_reset: the instance is null");
  if (!device_is_here(instance.impl->kernel->device)) return process_forked("front_instance_reset");
  enum front_status status = refuse_in_flight("front_instance_reset", instance.impl, &instance.impl->in_flight);
  if (status != FRONT_OK) return status;
  struct kernel *kernel = instance.impl->kernel;
  status = fill(kernel->device, instance.impl->scratch, 0, kernel->info.scratch_bytes);
  if (status == FRONT_OK) status = instance_guard_clear(instance.impl);
  if (status == FRONT_OK) instance.impl->unfinished = false;
  return status;
}

/* The block is host memory: it is written in place. */
static void write_block(struct binding *binding, const struct front_args *args) {
  *binding->block = *args;
  binding->block->scratch = binding->instance->scratch;
  binding->block->epoch = binding->instance->epoch;
  binding->block->guard = binding->instance->guard;
}

static enum front_status check_args(const struct kernel *kernel, const struct front_args *args) {
  enum front_status status = kernarg_check(&kernel->layer, args);
  return status == FRONT_OK ? kernarg_check_sizes(&kernel->layer, args, memory_behind, kernel->device) : status;
}

enum front_status front_binding_create(front_instance instance, const struct front_args *args, front_binding *binding) {
  if (!instance.impl || !args || !binding) return status_fail(FRONT_ERR_ARGUMENT, "front_binding_create: null argument");
  struct kernel *kernel = instance.impl->kernel;
  if (!device_is_here(kernel->device)) return process_forked("front_binding_create");
  enum front_status status = check_args(kernel, args);
  if (status != FRONT_OK) return status;
  struct binding *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_binding_create: no host memory");
  made->instance = instance.impl;
  void *block = NULL;
  status = memory_allocate(kernel->device, kernel->device->kernarg, sizeof *args, "a kernarg block", &block);
  if (status != FRONT_OK) {
    free(made);
    return status;
  }
  made->block = block;
  write_block(made, args);
  instance.impl->users++;
  binding->impl = made;
  return FRONT_OK;
}

enum front_status front_binding_update(front_binding binding, const struct front_args *args) {
  if (!binding.impl || !args) return status_fail(FRONT_ERR_ARGUMENT, "front_binding_update: null argument");
  struct instance *instance = binding.impl->instance;
  if (!device_is_here(instance->kernel->device)) return process_forked("front_binding_update");
  enum front_status status = refuse_in_flight("front_binding_update", instance, &binding.impl->in_flight);
  if (status == FRONT_OK) status = check_args(instance->kernel, args);
  if (status == FRONT_OK) write_block(binding.impl, args);
  return status;
}

enum front_status front_binding_destroy(front_binding binding) {
  if (!binding.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_binding_destroy: the binding is null");
  struct instance *instance = binding.impl->instance;
  if (!device_is_here(instance->kernel->device)) return process_forked("front_binding_destroy");
  enum front_status status = refuse_in_flight("front_binding_destroy", instance, &binding.impl->in_flight);
  if (status != FRONT_OK) return status;
  status = memory_free(instance->kernel->device, binding.impl->block);
  if (status != FRONT_OK) return status;
  instance->users--;
  free(binding.impl);
  return FRONT_OK;
}
