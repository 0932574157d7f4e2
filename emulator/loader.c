/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a code object into device memory. */
#include "loader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOADER_OWNER = UINT16_MAX, PRELOAD_PROLOGUE = 256 };

/* A feature that the code fixes must be as the device has it: "gfx950:sramecc+:xnack-". */
static bool feature_fits(const char *isa, const char *name, enum code_feature wanted) {
  const char *at = strstr(isa, name);
  if (!at || wanted == CODE_ANY || wanted == CODE_UNSUPPORTED) return true;
  return at[strlen(name)] == (wanted == CODE_ON ? '+' : '-');
}

static enum load_status check_target(const struct model *model, const struct code_object *object, char error[LOAD_ERROR_MAX]) {
  if (!strcmp(object->arch, model->cpu) && feature_fits(model->isa, "sramecc", object->sramecc) &&
      feature_fits(model->isa, "xnack", object->xnack))
    return LOAD_GOOD;
  char target[CODE_TARGET_MAX];
  code_object_target(object, target);
  snprintf(error, LOAD_ERROR_MAX, "the code object is for %s, the device is %s", target, model->isa);
  return LOAD_WRONG_ISA;
}

/* Whether a store to the object is ever meant: it has a variable in a writable segment. */
static bool has_variables(const struct code_object *object) {
  for (uint32_t s = 0; s < object->segments; s++) {
    const struct code_segment *segment = &object->segment[s];
    for (uint32_t i = 0; segment->write && i < object->symbols; i++)
      if (object->symbol[i].object && object->symbol[i].vaddr - segment->vaddr < segment->memsz) return true;
  }
  return false;
}

static const struct code_segment *code_segment_of(const struct code_object *object) {
  for (uint32_t s = 0; s < object->segments; s++)
    if (object->segment[s].execute) return &object->segment[s];
  return NULL;
}

static enum load_status place(struct memory *memory, struct loaded_code *code, char error[LOAD_ERROR_MAX]) {
  const struct code_object *object = &code->object;
  code->base = memory_allocate(memory, object->span, 0, LOADER_OWNER);
  if (!code->base) {
    snprintf(error, LOAD_ERROR_MAX, "no memory for the code object's segments");
    return LOAD_NO_MEMORY;
  }
  uint8_t *to = (uint8_t *)(uintptr_t)code->base;
  for (uint32_t s = 0; s < object->segments; s++)
    memcpy(to + object->segment[s].vaddr, code->image + object->segment[s].offset, object->segment[s].filesz);
  for (uint32_t i = 0; i < object->relocs; i++) {
    uint64_t value = code->base + object->reloc[i].value;
    memcpy(to + object->reloc[i].vaddr, &value, sizeof value);
  }
  if (!has_variables(object)) memory_set_read_only(memory, code->base);
  return LOAD_GOOD;
}

static enum load_status decode(const struct model *model, struct loaded_code *code, char error[LOAD_ERROR_MAX]) {
  const struct code_segment *text = code_segment_of(&code->object);
  if (!text) {
    snprintf(error, LOAD_ERROR_MAX, "the code object has no code");
    return LOAD_BAD_OBJECT;
  }
  uint64_t address = code->base + text->vaddr;
  code->program = program_decode((const void *)(uintptr_t)address, text->filesz, address, model->cpu, error);
  return code->program ? LOAD_GOOD : LOAD_NO_MEMORY;
}

static void see(struct loaded_kernel *k, uint32_t kind, uint32_t reg, uint32_t words) {
  if (kind != OPERAND_VGPR) return;
  uint32_t end = reg + (words ? words : 1);
  if (reg >= VGPRS && end - VGPRS > k->agprs) k->agprs = end - VGPRS;
  if (reg < VGPRS && end > k->vgprs) k->vgprs = end;
}

static void count_registers(struct loaded_kernel *k) {
  const struct program *p = k->program;
  for (uint32_t i = k->pc; i < p->count; i++) {
    const struct inst *in = &p->inst[i];
    if (k->code->code_bytes && in->address >= k->entry + k->code->code_bytes) break;
    see(k, in->dst.kind, in->dst.reg, in->dst.words);
    for (uint32_t s = 0; s < in->sources; s++) see(k, in->src[s].kind, in->src[s].reg, in->src[s].words);
  }
}

static enum load_status find_kernels(struct loaded_code *code, char error[LOAD_ERROR_MAX]) {
  code->kernel = calloc(code->object.kernels ? code->object.kernels : 1, sizeof *code->kernel);
  if (!code->kernel) {
    snprintf(error, LOAD_ERROR_MAX, "no memory for the code object's kernels");
    return LOAD_NO_MEMORY;
  }
  for (uint32_t i = 0; i < code->object.kernels; i++) {
    const struct code_kernel *k = &code->object.kernel[i];
    uint64_t start = code->base + k->entry + (k->descriptor.preload_dwords ? PRELOAD_PROLOGUE : 0);
    struct loaded_kernel loaded = {.code = k,
        .program = code->program,
        .object = code->base + k->descriptor_vaddr,
        .entry = code->base + k->entry,
        .pc = program_at(code->program, start)};
    if (loaded.pc == UINT32_MAX) {
      snprintf(error, LOAD_ERROR_MAX, "kernel %s starts outside the code", k->name);
      return LOAD_BAD_OBJECT;
    }
    count_registers(&loaded);
    code->kernel[code->kernels++] = loaded;
  }
  return LOAD_GOOD;
}

enum load_status load_code(struct memory *memory, const struct model *model, const void *image, size_t bytes, struct loaded_code **code,
    char error[LOAD_ERROR_MAX]) {
  struct loaded_code *c = calloc(1, sizeof *c);
  if (c) c->image = malloc(bytes ? bytes : 1);
  if (!c || !c->image) {
    free(c);
    snprintf(error, LOAD_ERROR_MAX, "no memory for a copy of the code object");
    return LOAD_NO_MEMORY;
  }
  memcpy(c->image, image, bytes);
  if (!code_object_open(c->image, bytes, &c->object, error)) {
    free(c->image);
    free(c);
    return LOAD_BAD_OBJECT;
  }
  enum load_status status = check_target(model, &c->object, error);
  if (status == LOAD_GOOD) status = place(memory, c, error);
  if (status == LOAD_GOOD) status = decode(model, c, error);
  if (status == LOAD_GOOD) status = find_kernels(c, error);
  if (status == LOAD_GOOD)
    *code = c;
  else
    unload_code(memory, c);
  return status;
}

void unload_code(struct memory *memory, struct loaded_code *code) {
  if (!code) return;
  program_free(code->program);
  if (code->base) memory_free(memory, code->base);
  code_object_close(&code->object);
  free(code->kernel);
  free(code->image);
  free(code);
}

const struct loaded_kernel *loaded_kernel_at(const struct loaded_code *code, uint64_t object) {
  for (uint32_t i = 0; i < code->kernels; i++)
    if (code->kernel[i].object == object) return &code->kernel[i];
  return NULL;
}
