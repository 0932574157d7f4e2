/* SPDX-License-Identifier: Apache-2.0 */
/* Executables: code objects on agents, and variables of the program. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

struct executable *executable_of(hsa_executable_t handle) {
  struct executable *e = emu.executables;
  while (e && (uint64_t)(uintptr_t)e != handle.handle) e = e->next;
  return e;
}

static bool is_rounding(hsa_default_float_rounding_mode_t mode) {
  return mode == HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT || mode == HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO ||
         mode == HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t default_float_rounding_mode,
    const char *options, hsa_executable_t *executable) {
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!executable || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!is_rounding(default_float_rounding_mode)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct executable *e = calloc(1, sizeof *e);
  if (!e) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  e->profile = profile;
  e->rounding = default_float_rounding_mode;
  pthread_mutex_lock(&emu.lock);
  e->next = emu.executables;
  emu.executables = e;
  pthread_mutex_unlock(&emu.lock);
  executable->handle = (uint64_t)(uintptr_t)e;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(
    hsa_profile_t profile, hsa_executable_state_t executable_state, const char *options, hsa_executable_t *executable) {
  bool known = executable_state == HSA_EXECUTABLE_STATE_UNFROZEN || executable_state == HSA_EXECUTABLE_STATE_FROZEN;
  if (emu_running() && !known) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, executable);
  if (status == HSA_STATUS_SUCCESS && executable_state == HSA_EXECUTABLE_STATE_FROZEN) status = hsa_executable_freeze(*executable, NULL);
  return status;
}

void executable_delete(struct executable *e) {
  while (e->code) {
    struct executable_code *next = e->code->next;
    unload_code(emu.device.memory, e->code->loaded);
    free(e->code);
    e->code = next;
  }
  while (e->symbols) {
    struct executable_symbol *next = e->symbols->next;
    free(e->symbols);
    e->symbols = next;
  }
  while (e->defined) {
    struct defined_variable *next = e->defined->next;
    free(e->defined->name);
    free(e->defined);
    e->defined = next;
  }
  free(e);
}

/* Its launches must have ended; the one that runs is waited for. */
hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  turns_take_alone(&emu.device.turns);
  pthread_mutex_lock(&emu.lock);
  struct executable **at = &emu.executables;
  while (*at && (uint64_t)(uintptr_t)*at != executable.handle) at = &(*at)->next;
  struct executable *e = *at;
  if (e) {
    *at = e->next;
    executable_delete(e);
  }
  pthread_mutex_unlock(&emu.lock);
  turns_give(&emu.device.turns);
  return e ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

static hsa_status_t load_failed(enum load_status status, const char *error) {
  pthread_mutex_lock(&emu.device.report_lock);
  report_clear(&emu.device.report);
  report_add(&emu.device.report, "code object not loaded: %s\n", error);
  pthread_mutex_unlock(&emu.device.report_lock);
  if (status == LOAD_WRONG_ISA) return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  return status == LOAD_NO_MEMORY ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

/* Puts the code object on the agent. The caller holds emu.lock. */
static hsa_status_t load(struct executable *e, uint32_t agent, const struct reader *r, struct executable_code **out) {
  char error[LOAD_ERROR_MAX] = "no memory";
  struct executable_code *code = malloc(sizeof *code);
  if (!code) return load_failed(LOAD_NO_MEMORY, error);
  *code = (struct executable_code){.executable = e, .agent = agent, .file = r->file, .image = r->image, .image_bytes = r->bytes};
  enum load_status status = load_code(emu.device.memory, &emu.model, r->image, r->bytes, &code->loaded, error);
  if (status != LOAD_GOOD) {
    free(code);
    return load_failed(status, error);
  }
  struct executable_code **end = &e->code;
  while (*end) end = &(*end)->next;
  *end = *out = code;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t writable(const struct executable *e) {
  return !e ? HSA_STATUS_ERROR_INVALID_EXECUTABLE : e->frozen ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
    hsa_code_object_reader_t code_object_reader, const char *options, hsa_loaded_code_object_t *loaded_code_object) {
  uint32_t index;
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_gpu_index(agent, &index)) return HSA_STATUS_ERROR_INVALID_AGENT;
  struct executable_code *code = NULL;
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  const struct reader *r = reader_of(code_object_reader.handle, false);
  hsa_status_t status = writable(e);
  if (status == HSA_STATUS_SUCCESS && !r) status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  if (status == HSA_STATUS_SUCCESS) status = load(e, index, r, &code);
  pthread_mutex_unlock(&emu.lock);
  if (status == HSA_STATUS_SUCCESS && loaded_code_object) loaded_code_object->handle = (uint64_t)(uintptr_t)code;
  return status;
}

hsa_status_t hsa_executable_load_code_object(
    hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_t code_object, const char *options) {
  uint32_t index;
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_gpu_index(agent, &index)) return HSA_STATUS_ERROR_INVALID_AGENT;
  struct executable_code *code = NULL;
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  const struct reader *r = reader_of(code_object.handle, true);
  hsa_status_t status = writable(e);
  if (status == HSA_STATUS_SUCCESS && !r) status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (status == HSA_STATUS_SUCCESS) status = load(e, index, r, &code);
  pthread_mutex_unlock(&emu.lock);
  return status;
}

/* Code objects of the whole program exist in HSA's text only: AMD's are an agent's. */
hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t executable, hsa_code_object_reader_t code_object_reader,
    const char *options, hsa_loaded_code_object_t *loaded_code_object) {
  (void)options, (void)loaded_code_object;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&emu.lock);
  hsa_status_t status = writable(executable_of(executable));
  if (status == HSA_STATUS_SUCCESS)
    status =
        reader_of(code_object_reader.handle, false) ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT : HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  pthread_mutex_unlock(&emu.lock);
  return status;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *options) {
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  hsa_status_t status = writable(e);
  if (e) e->frozen = true;
  pthread_mutex_unlock(&emu.lock);
  return status;
}

static hsa_status_t executable_info(const struct executable *e, hsa_executable_info_t attribute, void *value) {
  switch (attribute) {
  case HSA_EXECUTABLE_INFO_PROFILE:
    *(hsa_profile_t *)value = e->profile;
    break;
  case HSA_EXECUTABLE_INFO_STATE:
    *(hsa_executable_state_t *)value = e->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN;
    break;
  case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    *(hsa_default_float_rounding_mode_t *)value = e->rounding;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&emu.lock);
  const struct executable *e = executable_of(executable);
  hsa_status_t status = !e       ? HSA_STATUS_ERROR_INVALID_EXECUTABLE
                        : !value ? HSA_STATUS_ERROR_INVALID_ARGUMENT
                                 : executable_info(e, attribute, value);
  pthread_mutex_unlock(&emu.lock);
  return status;
}

/* What could be wrong is refused when it is loaded. */
hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char *options, uint32_t *result) {
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&emu.lock);
  bool known = executable_of(executable) != NULL;
  pthread_mutex_unlock(&emu.lock);
  if (!known) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t *result) {
  return hsa_executable_validate_alt(executable, NULL, result);
}

/* --- variables of the program ------------------------------------------------------------------------------------------------------ */

static bool defined_already(const struct executable *e, const struct defined_variable *wanted, const char *name) {
  for (const struct defined_variable *d = e->defined; d; d = d->next)
    if (!strcmp(d->name, name) && (d->program || wanted->program || d->agent == wanted->agent)) return true;
  for (const struct executable_code *c = e->code; c; c = c->next)
    if ((wanted->program || c->agent == wanted->agent) && code_object_symbol(&c->loaded->object, name)) return true;
  return false;
}

static hsa_status_t define(hsa_executable_t executable, struct defined_variable variable, const char *name) {
  if (!name || !variable.address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct defined_variable *kept = malloc(sizeof *kept);
  variable.name = strdup(name);
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  hsa_status_t status = writable(e);
  if (status == HSA_STATUS_SUCCESS && (!kept || !variable.name)) status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  if (status == HSA_STATUS_SUCCESS && defined_already(e, &variable, name)) status = HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
  if (status == HSA_STATUS_SUCCESS) {
    variable.next = e->defined;
    *kept = variable;
    e->defined = kept;
  }
  pthread_mutex_unlock(&emu.lock);
  if (status != HSA_STATUS_SUCCESS) {
    free(variable.name);
    free(kept);
  }
  return status;
}

hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable, const char *variable_name, void *address) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return define(executable, (struct defined_variable){.program = true, .address = address}, variable_name);
}

hsa_status_t hsa_executable_agent_global_variable_define(
    hsa_executable_t executable, hsa_agent_t agent, const char *variable_name, void *address) {
  struct defined_variable variable = {.address = address};
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_gpu_index(agent, &variable.agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  return define(executable, variable, variable_name);
}

hsa_status_t hsa_executable_readonly_variable_define(
    hsa_executable_t executable, hsa_agent_t agent, const char *variable_name, void *address) {
  struct defined_variable variable = {.address = address, .constant = true};
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_gpu_index(agent, &variable.agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  return define(executable, variable, variable_name);
}

/* --- for the packet processor ------------------------------------------------------------------------------------------------------ */

static const struct loaded_kernel *find_kernel(uint64_t object, bool anywhere, uint32_t agent) {
  const struct loaded_kernel *kernel = NULL;
  pthread_mutex_lock(&emu.lock);
  for (struct executable *e = emu.executables; e && !kernel; e = e->next)
    for (struct executable_code *c = e->code; c && e->frozen && !kernel; c = c->next)
      if (anywhere || c->agent == agent) kernel = loaded_kernel_at(c->loaded, object);
  pthread_mutex_unlock(&emu.lock);
  return kernel;
}

const struct loaded_kernel *executable_kernel(uint64_t object) { return find_kernel(object, true, 0); }
const struct loaded_kernel *executable_kernel_on(uint32_t agent, uint64_t object) { return find_kernel(object, false, agent); }

static const struct loaded_kernel *named(const struct loaded_code *code, const char *name) {
  for (uint32_t k = 0; k < code->kernels; k++)
    if (!strcmp(code->kernel[k].code->name, name) || !strcmp(code->kernel[k].code->symbol, name)) return &code->kernel[k];
  return NULL;
}

const struct loaded_kernel *executable_kernel_named(const char *name) {
  const struct loaded_kernel *kernel = NULL;
  pthread_mutex_lock(&emu.lock);
  for (struct executable *e = emu.executables; e && !kernel; e = e->next)
    for (struct executable_code *c = e->code; c && e->frozen && !kernel; c = c->next) kernel = named(c->loaded, name);
  pthread_mutex_unlock(&emu.lock);
  return kernel;
}
