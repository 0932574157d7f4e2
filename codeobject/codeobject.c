/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a code object, and looking things up in one. */
#include "code_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
  struct block *next;
  max_align_t data[];
};

bool code_fail(struct opening *o, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(o->error, CODE_ERROR_MAX, format, args);
  va_end(args);
  return false;
}

void *code_alloc(struct opening *o, size_t count, size_t size) {
  struct block *b = calloc(1, sizeof *b + count * size);
  if (!b) {
    code_fail(o, "out of memory for the code object");
    return NULL;
  }
  b->next = o->co->storage;
  o->co->storage = b;
  return b->data;
}

void code_object_close(struct code_object *co) {
  for (struct block *b = co->storage, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  memset(co, 0, sizeof *co);
}

static bool starts_with(const uint8_t *image, size_t bytes, const char *magic) {
  size_t length = strlen(magic);
  return bytes >= length && memcmp(image, magic, length) == 0;
}

/* Says what a file is that is no bare ELF. */
static bool refuse_container(struct opening *o) {
  const uint8_t *image = o->co->image;
  size_t bytes = o->co->bytes;
  if (starts_with(image, bytes, "CCOB"))
    return code_fail(o, "a compressed offload bundle (CCOB), not a bare code object: extract it with clang-offload-bundler --unbundle "
                        "--type=o --targets=hipv4-amdgcn-amd-amdhsa--gfx950 --input=FILE --output=OUT");
  if (starts_with(image, bytes, "__CLANG_OFFLOAD_BUNDLE__"))
    return code_fail(o, "an offload bundle, not a bare code object: extract it with clang-offload-bundler --unbundle --type=o "
                        "--targets=hipv4-amdgcn-amd-amdhsa--gfx950 --input=FILE --output=OUT");
  if (starts_with(image, bytes, "FPIH") || starts_with(image, bytes, "HIPF"))
    return code_fail(o, "a HIP fat binary's wrapper, not a bare code object: extract the code object with clang-offload-bundler --unbundle "
                        "from the section .hip_fatbin");
  if (starts_with(image, bytes, "\x10\xff\x10\xad"))
    return code_fail(o, "an LLVM offload binary, not a bare code object: extract it with llvm-objdump --offloading or "
                        "clang-offload-packager");
  if (starts_with(image, bytes, "BC\xc0\xde"))
    return code_fail(o, "LLVM bitcode, not a code object: compile it with llc and link it with ld.lld -shared");
  if (starts_with(image, bytes, "!<arch>\n")) return code_fail(o, "an archive, not a code object: extract the member with llvm-ar x");
  return code_fail(o, "no ELF file (%zu bytes): give a linked AMDGPU code object", bytes);
}

bool code_object_open(const void *image, size_t bytes, struct code_object *co, char error[CODE_ERROR_MAX]) {
  struct opening o = {.co = co, .error = error};
  memset(co, 0, sizeof *co);
  co->image = image;
  co->bytes = bytes;
  co->target = "";
  error[0] = 0;
  bool good = starts_with(image, bytes,
                  "\x7f"
                  "ELF")
                  ? code_read_elf(&o) && code_read_kernels(&o) && code_read_metadata(&o)
                  : refuse_container(&o);
  if (!good) code_object_close(co);
  return good;
}

const uint8_t *code_object_at(const struct code_object *co, uint64_t vaddr, uint64_t bytes) {
  for (uint32_t i = 0; i < co->segments; i++) {
    const struct code_segment *s = &co->segment[i];
    if (vaddr < s->vaddr || vaddr - s->vaddr > s->filesz || bytes > s->filesz - (vaddr - s->vaddr)) continue;
    return co->image + s->offset + (vaddr - s->vaddr);
  }
  return NULL;
}

const struct code_symbol *code_object_symbol(const struct code_object *co, const char *name) {
  for (uint32_t i = 0; i < co->symbols; i++)
    if (strcmp(co->symbol[i].name, name) == 0) return &co->symbol[i];
  return NULL;
}

const struct code_kernel *code_object_kernel(const struct code_object *co, const char *name) {
  if (!name) return co->kernels == 1 ? &co->kernel[0] : NULL;
  for (uint32_t i = 0; i < co->kernels; i++)
    if (strcmp(co->kernel[i].name, name) == 0 || strcmp(co->kernel[i].symbol, name) == 0) return &co->kernel[i];
  return NULL;
}

void code_object_target(const struct code_object *co, char name[CODE_TARGET_MAX]) {
  static const char *const mark[] = {[CODE_OFF] = "-", [CODE_ON] = "+"};
  int n = snprintf(name, CODE_TARGET_MAX, "%s", co->arch);
  if (co->sramecc >= CODE_OFF) n += snprintf(name + n, CODE_TARGET_MAX - (size_t)n, ":sramecc%s", mark[co->sramecc]);
  if (co->xnack >= CODE_OFF) snprintf(name + n, CODE_TARGET_MAX - (size_t)n, ":xnack%s", mark[co->xnack]);
}
