/* SPDX-License-Identifier: Apache-2.0 */
/* A code object's kernels: a kernel is a descriptor's symbol; the metadata then says what it needs. */
#include "code_parts.h"
#include "msgpack.h"

#include <stddef.h>
#include <string.h>

enum { DESCRIPTOR_BYTES = 64, ENTRY_ALIGN = 256, ARGS_MAX = 4096 };

static const char suffix[] = ".kd";

static bool is_descriptor(const struct code_symbol *s) {
  size_t length = strlen(s->name);
  return s->object && s->size == DESCRIPTOR_BYTES && length > 3 && strcmp(s->name + length - 3, suffix) == 0;
}

static char *copy_text(struct opening *o, const void *bytes, size_t length) {
  char *text = code_alloc(o, length + 1, 1);
  if (text) memcpy(text, bytes, length);
  return text;
}

static const struct code_segment *code_segment_of(const struct code_object *co, uint64_t vaddr, uint64_t bytes) {
  for (uint32_t i = 0; i < co->segments; i++) {
    const struct code_segment *s = &co->segment[i];
    if (s->execute && vaddr >= s->vaddr && vaddr - s->vaddr <= s->filesz && bytes <= s->filesz - (vaddr - s->vaddr)) return s;
  }
  return NULL;
}

static bool read_kernel(struct opening *o, const struct code_symbol *s) {
  struct code_object *co = o->co;
  struct code_kernel *k = &co->kernel[co->kernels++];
  const uint8_t *bytes = code_object_at(co, s->vaddr, DESCRIPTOR_BYTES);
  if (!bytes) return code_fail(o, "the descriptor %.80s is not in a loaded segment", s->name);
  k->symbol = s->name;
  k->name = copy_text(o, s->name, strlen(s->name) - 3);
  if (!k->name || !code_read_descriptor(o, k->name, bytes, &k->descriptor)) return false;
  const struct code_symbol *code = code_object_symbol(co, k->name);
  k->descriptor_vaddr = s->vaddr;
  k->entry = s->vaddr + (uint64_t)k->descriptor.entry_offset;
  if (k->entry % ENTRY_ALIGN)
    return code_fail(o, "kernel %.80s starts at 0x%llx, no multiple of 256", k->name, (unsigned long long)k->entry);
  if (!code || code->vaddr != k->entry)
    return code_fail(o, "kernel %.80s: no symbol of that name where its descriptor says the code is", k->name);
  k->code_bytes = code->size;
  if (k->code_bytes % 4 || k->code_bytes == 0 || !code_segment_of(co, k->entry, k->code_bytes))
    return code_fail(
        o, "kernel %.80s: its %llu bytes of code are not in an executable segment", k->name, (unsigned long long)k->code_bytes);
  k->kernarg_segment_size = k->descriptor.kernarg_bytes;
  k->group_segment_fixed_size = k->descriptor.group_segment_bytes;
  k->private_segment_fixed_size = k->descriptor.private_segment_bytes;
  k->uses_dynamic_stack = k->descriptor.uses_dynamic_stack;
  k->wavefront_size = k->descriptor.wave_size;
  k->agpr_count = k->vgpr_spill_count = k->sgpr_spill_count = CODE_UNKNOWN;
  return true;
}

bool code_read_kernels(struct opening *o) {
  struct code_object *co = o->co;
  uint32_t count = 0;
  for (uint32_t i = 0; i < co->symbols; i++) count += is_descriptor(&co->symbol[i]);
  if (count == 0) return code_fail(o, "no kernel: no descriptor symbol (NAME.kd of 64 bytes) is there");
  co->kernel = code_alloc(o, count, sizeof *co->kernel);
  if (!co->kernel) return false;
  for (uint32_t i = 0; i < co->symbols; i++)
    if (is_descriptor(&co->symbol[i]) && !read_kernel(o, &co->symbol[i])) return false;
  return true;
}

static bool bad_metadata(struct opening *o, const char *what) { return code_fail(o, "malformed metadata: %s", what); }

static bool read_number(struct opening *o, struct msgpack *m, const char *what, uint32_t *out) {
  struct msgpack_item item;
  if (!msgpack_expect(m, MSGPACK_UINT, &item) || item.number > UINT32_MAX) return bad_metadata(o, what);
  *out = (uint32_t)item.number;
  return true;
}

static bool read_text(struct opening *o, struct msgpack *m, const char *what, const char **out) {
  struct msgpack_item item;
  if (!msgpack_expect(m, MSGPACK_STRING, &item) || memchr(item.bytes, 0, item.number)) return bad_metadata(o, what);
  return (*out = copy_text(o, item.bytes, item.number)) != NULL;
}

static const struct {
  const char *key;
  size_t offset;
} numbers[] = {
    {".vgpr_count", offsetof(struct code_kernel, vgpr_count)},
    {".sgpr_count", offsetof(struct code_kernel, sgpr_count)},
    {".agpr_count", offsetof(struct code_kernel, agpr_count)},
    {".vgpr_spill_count", offsetof(struct code_kernel, vgpr_spill_count)},
    {".sgpr_spill_count", offsetof(struct code_kernel, sgpr_spill_count)},
    {".kernarg_segment_size", offsetof(struct code_kernel, kernarg_segment_size)},
    {".kernarg_segment_align", offsetof(struct code_kernel, kernarg_segment_align)},
    {".group_segment_fixed_size", offsetof(struct code_kernel, group_segment_fixed_size)},
    {".private_segment_fixed_size", offsetof(struct code_kernel, private_segment_fixed_size)},
    {".max_flat_workgroup_size", offsetof(struct code_kernel, max_flat_workgroup_size)},
    {".wavefront_size", offsetof(struct code_kernel, wavefront_size)},
};

static bool read_arg(struct opening *o, struct msgpack *m, struct code_arg *a) {
  struct msgpack_item map, key;
  a->name = a->value_kind = "";
  if (!msgpack_expect(m, MSGPACK_MAP, &map)) return bad_metadata(o, "an argument is no map");
  for (uint64_t i = 0; i < map.number; i++) {
    bool good;
    if (!msgpack_expect(m, MSGPACK_STRING, &key)) return bad_metadata(o, "an argument's key is no string");
    if (msgpack_is(&key, ".offset"))
      good = read_number(o, m, "an argument's .offset", &a->offset);
    else if (msgpack_is(&key, ".size"))
      good = read_number(o, m, "an argument's .size", &a->size);
    else if (msgpack_is(&key, ".value_kind"))
      good = read_text(o, m, "an argument's .value_kind", &a->value_kind);
    else if (msgpack_is(&key, ".name"))
      good = read_text(o, m, "an argument's .name", &a->name);
    else
      good = msgpack_skip(m) || bad_metadata(o, "an argument ends early");
    if (!good) return false;
  }
  a->hidden = strncmp(a->value_kind, "hidden_", 7) == 0;
  return true;
}

static bool read_args(struct opening *o, struct msgpack *m, struct code_kernel *k) {
  struct msgpack_item list;
  if (!msgpack_expect(m, MSGPACK_ARRAY, &list) || list.number > ARGS_MAX) return bad_metadata(o, ".args is no list, or one too long");
  k->args = k->hidden_args = 0;
  k->arg = code_alloc(o, list.number, sizeof *k->arg);
  if (!k->arg) return false;
  for (; k->args < list.number; k->args++) {
    if (!read_arg(o, m, &k->arg[k->args])) return false;
    k->hidden_args += k->arg[k->args].hidden;
  }
  return true;
}

static bool read_size3(struct opening *o, struct msgpack *m, uint32_t size[3]) {
  struct msgpack_item list;
  if (!msgpack_expect(m, MSGPACK_ARRAY, &list) || list.number != 3) return bad_metadata(o, ".reqd_workgroup_size is no list of 3");
  for (int i = 0; i < 3; i++)
    if (!read_number(o, m, ".reqd_workgroup_size", &size[i])) return false;
  return true;
}

/* One key of a kernel's map and its value. */
static bool read_field(struct opening *o, struct msgpack *m, const struct msgpack_item *key, struct code_kernel *k) {
  struct msgpack_item item;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (msgpack_is(key, numbers[i].key)) return read_number(o, m, numbers[i].key, (uint32_t *)(void *)((char *)k + numbers[i].offset));
  if (msgpack_is(key, ".args")) return read_args(o, m, k);
  if (msgpack_is(key, ".reqd_workgroup_size")) return read_size3(o, m, k->reqd_workgroup_size);
  if (msgpack_is(key, ".uses_dynamic_stack")) {
    if (!msgpack_expect(m, MSGPACK_BOOL, &item)) return bad_metadata(o, ".uses_dynamic_stack is neither true nor false");
    k->uses_dynamic_stack = item.number != 0;
    return true;
  }
  return msgpack_skip(m) || bad_metadata(o, "a kernel ends early");
}

/* The kernel that a map's .symbol names. The map is left where it is. */
static struct code_kernel *kernel_of_map(struct opening *o, struct msgpack m) {
  struct msgpack_item map, key, value;
  if (!msgpack_expect(&m, MSGPACK_MAP, &map)) return NULL;
  for (uint64_t i = 0; i < map.number && msgpack_expect(&m, MSGPACK_STRING, &key); i++) {
    if (!msgpack_is(&key, ".symbol")) {
      if (!msgpack_skip(&m)) return NULL;
      continue;
    }
    if (!msgpack_next(&m, &value)) return NULL;
    for (uint32_t k = 0; k < o->co->kernels; k++)
      if (msgpack_is(&value, o->co->kernel[k].symbol)) return &o->co->kernel[k];
    return NULL;
  }
  return NULL;
}

static bool read_kernel_map(struct opening *o, struct msgpack *m) {
  struct msgpack_item map, key;
  struct code_kernel *k = kernel_of_map(o, *m);
  if (!k) return bad_metadata(o, "a kernel without a .symbol that is in the object");
  if (k->has_metadata) return bad_metadata(o, "a kernel occurs twice");
  k->has_metadata = true;
  if (!msgpack_expect(m, MSGPACK_MAP, &map)) return bad_metadata(o, "a kernel is no map");
  for (uint64_t i = 0; i < map.number; i++)
    if (!msgpack_expect(m, MSGPACK_STRING, &key))
      return bad_metadata(o, "a kernel's key is no string");
    else if (!read_field(o, m, &key, k))
      return false;
  const struct code_descriptor *d = &k->descriptor;
  if (k->kernarg_segment_size != d->kernarg_bytes || k->group_segment_fixed_size != d->group_segment_bytes ||
      k->private_segment_fixed_size != d->private_segment_bytes)
    return code_fail(o, "kernel %.80s: metadata and descriptor differ (kernarg %u, %u; LDS %u, %u; scratch %u, %u bytes)", k->name,
        k->kernarg_segment_size, d->kernarg_bytes, k->group_segment_fixed_size, d->group_segment_bytes, k->private_segment_fixed_size,
        d->private_segment_bytes);
  return true;
}

static bool read_top(struct opening *o, struct msgpack *m, const struct msgpack_item *key) {
  struct msgpack_item list;
  if (msgpack_is(key, "amdhsa.target")) return read_text(o, m, "amdhsa.target", &o->co->target);
  if (msgpack_is(key, "amdhsa.version")) {
    if (!msgpack_expect(m, MSGPACK_ARRAY, &list) || list.number != 2) return bad_metadata(o, "amdhsa.version is no list of 2");
    return read_number(o, m, "amdhsa.version", &o->co->metadata_version[0]) &&
           read_number(o, m, "amdhsa.version", &o->co->metadata_version[1]);
  }
  if (!msgpack_is(key, "amdhsa.kernels")) return msgpack_skip(m) || bad_metadata(o, "it ends early");
  if (!msgpack_expect(m, MSGPACK_ARRAY, &list)) return bad_metadata(o, "amdhsa.kernels is no list");
  for (uint64_t i = 0; i < list.number; i++)
    if (!read_kernel_map(o, m)) return false;
  return true;
}

bool code_read_metadata(struct opening *o) {
  struct msgpack m = {o->metadata, o->metadata + o->metadata_bytes};
  struct msgpack_item map, key;
  if (!o->metadata) return true;
  if (!msgpack_expect(&m, MSGPACK_MAP, &map)) return bad_metadata(o, "no map");
  for (uint64_t i = 0; i < map.number; i++)
    if (!msgpack_expect(&m, MSGPACK_STRING, &key))
      return bad_metadata(o, "a key is no string");
    else if (!read_top(o, &m, &key))
      return false;
  return true;
}
