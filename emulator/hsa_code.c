/* SPDX-License-Identifier: Apache-2.0 */
/* Code object readers, executables and their symbols. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsa_state.h"

struct reader {
  const void *image;
  size_t bytes;
  void *owned; /* a file's contents */
};

/* --- readers ------------------------------------------------------------------------------------------------------------------ */

static hsa_status_t new_reader(struct reader r, hsa_code_object_reader_t *out) {
  struct reader *kept = malloc(sizeof *kept);
  if (!kept) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *kept = r;
  out->handle = (uint64_t)(uintptr_t)kept;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_memory(const void *code_object, size_t size, hsa_code_object_reader_t *reader) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!code_object || !size || !reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return new_reader((struct reader){.image = code_object, .bytes = size}, reader);
}

static bool read_all(hsa_file_t file, uint8_t *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = pread(file, to + done, bytes - done, (off_t)done);
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t *reader) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct stat st;
  if (fstat(file, &st) || st.st_size <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
  struct reader r = {.bytes = (size_t)st.st_size, .owned = malloc((size_t)st.st_size)};
  if (!r.owned) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  r.image = r.owned;
  hsa_status_t status = read_all(file, r.owned, r.bytes) ? new_reader(r, reader) : HSA_STATUS_ERROR_INVALID_FILE;
  if (status != HSA_STATUS_SUCCESS) free(r.owned);
  return status;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  struct reader *r = (struct reader *)(uintptr_t)reader.handle;
  if (!r) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  free(r->owned);
  free(r);
  return HSA_STATUS_SUCCESS;
}

/* --- executables -------------------------------------------------------------------------------------------------------------- */

/* The caller holds emu.lock. */
static struct executable *executable_of(hsa_executable_t handle) {
  struct executable *e = emu.executables;
  while (e && (uint64_t)(uintptr_t)e != handle.handle) e = e->next;
  return e;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t default_float_rounding_mode,
    const char *options, hsa_executable_t *executable) {
  (void)default_float_rounding_mode, (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!executable || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  struct executable *e = calloc(1, sizeof *e);
  if (!e) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  pthread_mutex_lock(&emu.lock);
  e->next = emu.executables;
  emu.executables = e;
  pthread_mutex_unlock(&emu.lock);
  executable->handle = (uint64_t)(uintptr_t)e;
  return HSA_STATUS_SUCCESS;
}

void executable_delete(struct executable *e) {
  for (uint32_t i = 0; i < e->codes; i++) unload_code(emu.device.memory, e->code[i]);
  while (e->symbols) {
    struct executable_symbol *next = e->symbols->next;
    free(e->symbols);
    e->symbols = next;
  }
  free(e->code);
  free(e);
}

/* Its launches must have ended; the one that runs is waited for. */
hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&emu.device.run_lock);
  pthread_mutex_lock(&emu.lock);
  struct executable **at = &emu.executables;
  while (*at && (uint64_t)(uintptr_t)*at != executable.handle) at = &(*at)->next;
  struct executable *e = *at;
  if (e) {
    *at = e->next;
    executable_delete(e);
  }
  pthread_mutex_unlock(&emu.lock);
  pthread_mutex_unlock(&emu.device.run_lock);
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

static hsa_status_t add_code(struct executable *e, struct loaded_code *code) {
  struct loaded_code **grown = realloc(e->code, (e->codes + 1) * sizeof(struct loaded_code *));
  if (!grown) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  e->code = grown;
  e->code[e->codes++] = code;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
    hsa_code_object_reader_t code_object_reader, const char *options, hsa_loaded_code_object_t *loaded_code_object) {
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (agent.handle != emu_gpu_agent.handle) return HSA_STATUS_ERROR_INVALID_AGENT;
  const struct reader *r = (const struct reader *)(uintptr_t)code_object_reader.handle;
  if (!r) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  char error[LOAD_ERROR_MAX];
  struct loaded_code *code = NULL;
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  hsa_status_t status = !e ? HSA_STATUS_ERROR_INVALID_EXECUTABLE : e->frozen ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE : HSA_STATUS_SUCCESS;
  if (status == HSA_STATUS_SUCCESS) {
    enum load_status loaded = load_code(emu.device.memory, emu.device.model, r->image, r->bytes, &code, error);
    status = loaded == LOAD_GOOD ? add_code(e, code) : load_failed(loaded, error);
    if (status != HSA_STATUS_SUCCESS) unload_code(emu.device.memory, code);
  }
  pthread_mutex_unlock(&emu.lock);
  if (status == HSA_STATUS_SUCCESS && loaded_code_object) loaded_code_object->handle = (uint64_t)(uintptr_t)code;
  return status;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *options) {
  (void)options;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  hsa_status_t status = !e ? HSA_STATUS_ERROR_INVALID_EXECUTABLE : e->frozen ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE : HSA_STATUS_SUCCESS;
  if (e) e->frozen = true;
  pthread_mutex_unlock(&emu.lock);
  return status;
}

const struct loaded_kernel *executable_kernel(uint64_t object) {
  const struct loaded_kernel *kernel = NULL;
  pthread_mutex_lock(&emu.lock);
  for (struct executable *e = emu.executables; e && !kernel; e = e->next)
    for (uint32_t i = 0; i < e->codes && e->frozen && !kernel; i++) kernel = loaded_kernel_at(e->code[i], object);
  pthread_mutex_unlock(&emu.lock);
  return kernel;
}

const struct loaded_kernel *executable_kernel_named(const char *name) {
  const struct loaded_kernel *kernel = NULL;
  pthread_mutex_lock(&emu.lock);
  for (struct executable *e = emu.executables; e && !kernel; e = e->next)
    for (uint32_t i = 0; i < e->codes && e->frozen && !kernel; i++)
      for (uint32_t k = 0; k < e->code[i]->kernels && !kernel; k++)
        if (!strcmp(e->code[i]->kernel[k].code->name, name) || !strcmp(e->code[i]->kernel[k].code->symbol, name))
          kernel = &e->code[i]->kernel[k];
  pthread_mutex_unlock(&emu.lock);
  return kernel;
}

/* --- symbols ------------------------------------------------------------------------------------------------------------------ */

/* A kernel by its descriptor's name ("front.kd"), as HSA has it, or a variable. */
static bool look_up(const struct loaded_code *code, const char *name, struct executable_symbol *out) {
  for (uint32_t i = 0; i < code->kernels; i++)
    if (!strcmp(code->kernel[i].code->symbol, name)) {
      *out = (struct executable_symbol){.code = code, .kernel = &code->kernel[i]};
      return true;
    }
  const struct code_symbol *s = code_object_symbol(&code->object, name);
  if (!s || !s->object) return false;
  *out = (struct executable_symbol){.code = code, .variable = s};
  return true;
}

hsa_status_t hsa_executable_get_symbol_by_name(
    hsa_executable_t executable, const char *symbol_name, const hsa_agent_t *agent, hsa_executable_symbol_t *symbol) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!symbol_name || !symbol) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (agent && agent->handle != emu_gpu_agent.handle) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  struct executable_symbol found = {0};
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  hsa_status_t status = e ? HSA_STATUS_ERROR_INVALID_SYMBOL_NAME : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  for (uint32_t i = 0; e && i < e->codes && status != HSA_STATUS_SUCCESS; i++)
    if (look_up(e->code[i], symbol_name, &found)) status = HSA_STATUS_SUCCESS;
  struct executable_symbol *kept = status == HSA_STATUS_SUCCESS ? malloc(sizeof *kept) : NULL;
  if (kept) {
    *kept = found;
    kept->next = e->symbols;
    e->symbols = kept;
    symbol->handle = (uint64_t)(uintptr_t)kept;
  } else if (status == HSA_STATUS_SUCCESS) {
    status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  pthread_mutex_unlock(&emu.lock);
  return status;
}

static hsa_status_t kernel_info(const struct loaded_kernel *k, int attribute, void *value) {
  const struct code_descriptor *d = &k->code->descriptor;
  switch (attribute) {
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
    *(uint64_t *)value = k->object;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
    *(uint32_t *)value = k->code->kernarg_segment_size;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
    *(uint32_t *)value = k->code->kernarg_segment_align;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
    *(uint32_t *)value = d->group_segment_bytes;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
    *(uint32_t *)value = d->private_segment_bytes;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
    *(bool *)value = d->uses_dynamic_stack;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
    *(uint32_t *)value = 0;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t variable_info(const struct executable_symbol *s, int attribute, void *value) {
  switch (attribute) {
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
    *(uint64_t *)value = s->code->base + s->variable->vaddr;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
    *(uint32_t *)value = (uint32_t)s->variable->size;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
    *(hsa_variable_allocation_t *)value = HSA_VARIABLE_ALLOCATION_AGENT;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
    *(hsa_variable_segment_t *)value = HSA_VARIABLE_SEGMENT_GLOBAL;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
    *(uint32_t *)value = 1;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
    *(bool *)value = false;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_symbol_get_info(
    hsa_executable_symbol_t executable_symbol, hsa_executable_symbol_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const struct executable_symbol *s = (const struct executable_symbol *)(uintptr_t)executable_symbol.handle;
  if (!s) return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const char *name = s->kernel ? s->kernel->code->symbol : s->variable->name;
  switch ((int)attribute) {
  case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
    *(hsa_symbol_kind_t *)value = s->kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
    *(uint32_t *)value = (uint32_t)strlen(name);
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
    memcpy(value, name, strlen(name));
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
    *(uint32_t *)value = 0;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
    *(hsa_agent_t *)value = emu_gpu_agent;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
    *(hsa_symbol_linkage_t *)value = HSA_SYMBOL_LINKAGE_PROGRAM;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
    *(bool *)value = true;
    break;
  default:
    return s->kernel ? kernel_info(s->kernel, (int)attribute, value) : variable_info(s, (int)attribute, value);
  }
  return HSA_STATUS_SUCCESS;
}
