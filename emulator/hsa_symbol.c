/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols: of executables and of the older code objects. What both can tell has the same numbers in HSA. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

/* The two lists of attributes agree. */
#define SAME(name) _Static_assert((int)HSA_EXECUTABLE_SYMBOL_INFO_##name == (int)HSA_CODE_SYMBOL_INFO_##name, #name)
SAME(TYPE);
SAME(NAME_LENGTH);
SAME(NAME);
SAME(MODULE_NAME_LENGTH);
SAME(MODULE_NAME);
SAME(LINKAGE);
SAME(IS_DEFINITION);
SAME(VARIABLE_ALLOCATION);
SAME(VARIABLE_SEGMENT);
SAME(VARIABLE_ALIGNMENT);
SAME(VARIABLE_SIZE);
SAME(VARIABLE_IS_CONST);
SAME(KERNEL_KERNARG_SEGMENT_SIZE);
SAME(KERNEL_KERNARG_SEGMENT_ALIGNMENT);
SAME(KERNEL_GROUP_SEGMENT_SIZE);
SAME(KERNEL_PRIVATE_SEGMENT_SIZE);
SAME(KERNEL_DYNAMIC_CALLSTACK);
SAME(KERNEL_CALL_CONVENTION);

/* A kernel, a variable of the code object, or one that the program has defined. */
struct subject {
  const struct code_object *object;
  const struct code_kernel *kernel;
  const struct code_symbol *variable;
  const struct defined_variable *defined;
};

static const char *subject_name(const struct subject *s) {
  return s->kernel ? s->kernel->symbol : s->variable ? s->variable->name : s->defined->name;
}

static hsa_status_t kernel_info(const struct code_kernel *k, int attribute, void *value) {
  switch (attribute) {
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
    *(uint32_t *)value = k->kernarg_segment_size;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
    *(uint32_t *)value = k->kernarg_segment_align;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
    *(uint32_t *)value = k->descriptor.group_segment_bytes;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
    *(uint32_t *)value = k->descriptor.private_segment_bytes;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
    *(bool *)value = k->descriptor.uses_dynamic_stack;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
    *(uint32_t *)value = 0;
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

static bool is_constant(const struct subject *s) {
  if (s->defined) return s->defined->constant;
  for (uint32_t i = 0; i < s->object->segments; i++) {
    const struct code_segment *segment = &s->object->segment[i];
    if (s->variable->vaddr - segment->vaddr < segment->memsz) return !segment->write;
  }
  return false;
}

static hsa_status_t variable_info(const struct subject *s, int attribute, void *value) {
  enum { ALIGN_MAX = 4096 };
  uint64_t vaddr = s->variable ? s->variable->vaddr | ALIGN_MAX : 1;
  switch (attribute) {
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
    *(uint32_t *)value = s->variable ? (uint32_t)s->variable->size : 0;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
    *(hsa_variable_allocation_t *)value =
        s->defined && s->defined->program ? HSA_VARIABLE_ALLOCATION_PROGRAM : HSA_VARIABLE_ALLOCATION_AGENT;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
    *(hsa_variable_segment_t *)value = is_constant(s) ? HSA_VARIABLE_SEGMENT_READONLY : HSA_VARIABLE_SEGMENT_GLOBAL;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
    *(uint32_t *)value = (uint32_t)(vaddr & -vaddr);
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
    *(bool *)value = is_constant(s);
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t subject_info(const struct subject *s, int attribute, void *value) {
  const char *name = subject_name(s);
  switch (attribute) {
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
  case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
    *(hsa_symbol_linkage_t *)value = HSA_SYMBOL_LINKAGE_PROGRAM;
    break;
  case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
    *(bool *)value = true;
    break;
  default:
    return s->kernel ? kernel_info(s->kernel, attribute, value) : variable_info(s, attribute, value);
  }
  return HSA_STATUS_SUCCESS;
}

/* --- of executables -------------------------------------------------------------------------------------------------------------- */

static uint32_t agent_of(const struct executable_symbol *s) { return s->code ? s->code->agent : s->defined->agent; }

static bool is_program_symbol(const struct executable_symbol *s) { return s->defined && s->defined->program; }

/* The handle of this symbol: the same whenever it is asked for. The caller holds emu.lock. NULL: no memory. */
static struct executable_symbol *keep(struct executable *e, struct executable_symbol wanted) {
  struct executable_symbol *s = e->symbols;
  while (s && (s->kernel != wanted.kernel || s->variable != wanted.variable || s->defined != wanted.defined)) s = s->next;
  if (s) return s;
  s = malloc(sizeof *s);
  if (!s) return NULL;
  *s = wanted;
  s->next = e->symbols;
  e->symbols = s;
  return s;
}

static bool is_descriptor(const struct loaded_code *code, const char *name) {
  for (uint32_t i = 0; i < code->kernels; i++)
    if (!strcmp(code->kernel[i].code->symbol, name)) return true;
  return false;
}

/* All of the executable, by number; false: there are not so many. */
static bool nth(const struct executable *e, uint32_t n, struct executable_symbol *out) {
  for (const struct executable_code *c = e->code; c; c = c->next) {
    if (n < c->loaded->kernels) {
      *out = (struct executable_symbol){.code = c, .kernel = &c->loaded->kernel[n]};
      return true;
    }
    n -= c->loaded->kernels;
    for (uint32_t i = 0; i < c->loaded->object.symbols; i++) {
      const struct code_symbol *s = &c->loaded->object.symbol[i];
      if (!s->object || is_descriptor(c->loaded, s->name) || n--) continue;
      *out = (struct executable_symbol){.code = c, .variable = s};
      return true;
    }
  }
  for (const struct defined_variable *d = e->defined; d; d = d->next) {
    if (n--) continue;
    *out = (struct executable_symbol){.defined = d};
    return true;
  }
  return false;
}

static struct subject subject_of(const struct executable_symbol *s) {
  return (struct subject){.object = s->code ? &s->code->loaded->object : NULL,
      .kernel = s->kernel ? s->kernel->code : NULL,
      .variable = s->variable,
      .defined = s->defined};
}

/* A symbol of this name that is this agent's, or the whole program's. The caller holds emu.lock. */
static bool look_up(const struct executable *e, const char *name, uint32_t agent, bool program, struct executable_symbol *out) {
  for (uint32_t n = 0; nth(e, n, out); n++) {
    struct subject s = subject_of(out);
    bool there = program ? is_program_symbol(out) : !is_program_symbol(out) && agent_of(out) == agent;
    if (there && !strcmp(subject_name(&s), name)) return true;
  }
  return false;
}

/* A kernel by its descriptor's name ("front.kd"), as HSA has it, or a variable. */
hsa_status_t hsa_executable_get_symbol_by_name(
    hsa_executable_t executable, const char *symbol_name, const hsa_agent_t *agent, hsa_executable_symbol_t *symbol) {
  uint32_t index = 0;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!symbol_name || !symbol) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool nowhere = agent && !emu_gpu_index(*agent, &index);
  struct executable_symbol found;
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  hsa_status_t status = e ? HSA_STATUS_ERROR_INVALID_SYMBOL_NAME : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (e && !nowhere && look_up(e, symbol_name, index, !agent, &found)) {
    symbol->handle = (uint64_t)(uintptr_t)keep(e, found);
    status = symbol->handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  pthread_mutex_unlock(&emu.lock);
  return status;
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char *module_name, const char *symbol_name, hsa_agent_t agent,
    int32_t call_convention, hsa_executable_symbol_t *symbol) {
  (void)call_convention;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (module_name && *module_name) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  return hsa_executable_get_symbol_by_name(executable, symbol_name, &agent, symbol);
}

static hsa_status_t info_of(const struct executable_symbol *s, int attribute, void *value) {
  struct subject subject = subject_of(s);
  switch (attribute) {
  case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
    *(hsa_agent_t *)value = is_program_symbol(s) ? (hsa_agent_t){0} : emu_gpu_agent(agent_of(s));
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
    if (!s->kernel) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint64_t *)value = s->kernel->object;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
    if (s->kernel) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint64_t *)value = s->defined ? (uint64_t)(uintptr_t)s->defined->address : s->code->loaded->base + s->variable->vaddr;
    return HSA_STATUS_SUCCESS;
  default:
    return subject_info(&subject, attribute, value);
  }
}

hsa_status_t hsa_executable_symbol_get_info(
    hsa_executable_symbol_t executable_symbol, hsa_executable_symbol_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status = HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  pthread_mutex_lock(&emu.lock);
  for (const struct executable *e = emu.executables; e; e = e->next)
    for (const struct executable_symbol *s = e->symbols; s; s = s->next)
      if ((uint64_t)(uintptr_t)s == executable_symbol.handle)
        status = value ? info_of(s, (int)attribute, value) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_unlock(&emu.lock);
  return status;
}

/* The executable's symbol n, kept. HSA_STATUS_INFO_BREAK: there are not so many. */
static hsa_status_t take_nth(hsa_executable_t executable, uint32_t n, struct executable_symbol *found, hsa_executable_symbol_t *symbol) {
  pthread_mutex_lock(&emu.lock);
  struct executable *e = executable_of(executable);
  hsa_status_t status = !e ? HSA_STATUS_ERROR_INVALID_EXECUTABLE : nth(e, n, found) ? HSA_STATUS_SUCCESS : HSA_STATUS_INFO_BREAK;
  if (status == HSA_STATUS_SUCCESS) {
    symbol->handle = (uint64_t)(uintptr_t)keep(e, *found);
    if (!symbol->handle) status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  pthread_mutex_unlock(&emu.lock);
  return status;
}

/* Which symbols a traversal takes, and its callback: one of the two. */
struct traversal {
  bool all, program;
  uint32_t agent;
  hsa_status_t (*call)(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data);
  hsa_status_t (*agent_call)(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol, void *data);
  void *data;
};

static hsa_status_t traverse(hsa_executable_t executable, const struct traversal *t) {
  if (!t->call && !t->agent_call) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t n = 0;; n++) {
    struct executable_symbol found;
    hsa_executable_symbol_t symbol;
    hsa_status_t status = take_nth(executable, n, &found, &symbol);
    if (status == HSA_STATUS_INFO_BREAK) return HSA_STATUS_SUCCESS;
    if (status != HSA_STATUS_SUCCESS) return status;
    bool meant = t->all || (t->program ? is_program_symbol(&found) : !is_program_symbol(&found) && agent_of(&found) == t->agent);
    if (!meant) continue;
    status = t->call ? t->call(executable, symbol, t->data) : t->agent_call(executable, emu_gpu_agent(t->agent), symbol, t->data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
}

hsa_status_t hsa_executable_iterate_symbols(
    hsa_executable_t executable, hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return traverse(executable, &(struct traversal){.all = true, .call = callback, .data = data});
}

hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t executable, hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return traverse(executable, &(struct traversal){.program = true, .call = callback, .data = data});
}

hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t executable, hsa_agent_t agent,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_agent_t agent, hsa_executable_symbol_t symbol, void *data), void *data) {
  struct traversal t = {.agent_call = callback, .data = data};
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!emu_gpu_index(agent, &t.agent)) t.agent = UINT32_MAX; /* the CPU has no symbols */
  return traverse(executable, &t);
}

/* --- of older code objects --------------------------------------------------------------------------------------------------------- */

/* Symbol n: the kernels, then the variables. */
static bool old_nth(const struct code_object *object, uint32_t n, struct subject *out) {
  if (n < object->kernels) {
    *out = (struct subject){.object = object, .kernel = &object->kernel[n]};
    return true;
  }
  n -= object->kernels;
  for (uint32_t i = 0; i < object->symbols; i++) {
    const struct code_symbol *s = &object->symbol[i];
    if (!s->object || code_object_kernel(object, s->name) || n--) continue;
    *out = (struct subject){.object = object, .variable = s};
    return true;
  }
  return false;
}

/* What the symbol's handle points to. */
static uint64_t old_handle(const struct subject *s) { return (uint64_t)(uintptr_t)(s->kernel ? (const void *)s->kernel : s->variable); }

/* Symbol n of the code object. INFO_BREAK: there are not so many. */
static hsa_status_t old_take(hsa_code_object_t code_object, uint32_t n, struct subject *out) {
  pthread_mutex_lock(&emu.lock);
  const struct reader *r = reader_of(code_object.handle, true);
  pthread_mutex_unlock(&emu.lock);
  return !r ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT : old_nth(&r->object, n, out) ? HSA_STATUS_SUCCESS : HSA_STATUS_INFO_BREAK;
}

hsa_status_t hsa_code_object_get_symbol(hsa_code_object_t code_object, const char *symbol_name, hsa_code_symbol_t *symbol) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!symbol_name || !symbol) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t n = 0;; n++) {
    struct subject s;
    hsa_status_t status = old_take(code_object, n, &s);
    if (status == HSA_STATUS_INFO_BREAK) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    if (status != HSA_STATUS_SUCCESS) return status;
    if (strcmp(subject_name(&s), symbol_name)) continue;
    symbol->handle = old_handle(&s);
    return HSA_STATUS_SUCCESS;
  }
}

hsa_status_t hsa_code_object_get_symbol_from_name(
    hsa_code_object_t code_object, const char *module_name, const char *symbol_name, hsa_code_symbol_t *symbol) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (module_name && *module_name) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  return hsa_code_object_get_symbol(code_object, symbol_name, symbol);
}

hsa_status_t hsa_code_object_iterate_symbols(hsa_code_object_t code_object,
    hsa_status_t (*callback)(hsa_code_object_t code_object, hsa_code_symbol_t symbol, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t n = 0;; n++) {
    struct subject s;
    hsa_status_t status = old_take(code_object, n, &s);
    if (status == HSA_STATUS_INFO_BREAK) return HSA_STATUS_SUCCESS;
    if (status == HSA_STATUS_SUCCESS) status = callback(code_object, (hsa_code_symbol_t){old_handle(&s)}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
}

hsa_status_t hsa_code_symbol_get_info(hsa_code_symbol_t code_symbol, hsa_code_symbol_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status = HSA_STATUS_ERROR_INVALID_CODE_SYMBOL;
  pthread_mutex_lock(&emu.lock);
  for (const struct reader *r = emu.readers; r; r = r->next) {
    struct subject s;
    for (uint32_t n = 0; r->old && old_nth(&r->object, n, &s); n++)
      if (old_handle(&s) == code_symbol.handle)
        status = value ? subject_info(&s, (int)attribute, value) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  pthread_mutex_unlock(&emu.lock);
  return status;
}
