/* SPDX-License-Identifier: Apache-2.0 */
#include "isa_rig.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "toolchain_config.h"

uint8_t *assemble(const char *cpu, const char *text, size_t *bytes) {
  const char *dir = temp_dir();
  char source[512], object[512], mcpu[64];
  snprintf(source, sizeof source, "%s/%s.s", dir, cpu);
  snprintf(object, sizeof object, "%s/%s.o", dir, cpu);
  snprintf(mcpu, sizeof mcpu, "-mcpu=%s", cpu);
  write_file(source, text, strlen(text));
  struct outcome o = run(LLVM_MC_PATH, "-triple=amdgcn-amd-amdhsa", mcpu, "-filetype=obj", source, "-o", object);
  assert_code(&o, 0);
  outcome_free(&o);
  size_t size;
  char *elf = read_file(object, &size);
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)elf;
  const Elf64_Shdr *s = (const Elf64_Shdr *)(const void *)(elf + h->e_shoff);
  uint8_t *code = NULL;
  for (uint32_t i = 0; i < h->e_shnum && !code; i++) {
    if (strcmp(elf + s[h->e_shstrndx].sh_offset + s[i].sh_name, ".text") != 0) continue;
    *bytes = s[i].sh_size;
    code = malloc(s[i].sh_size + 1);
    memcpy(code, elf + s[i].sh_offset, s[i].sh_size);
  }
  free(elf);
  assert_non_null(code);
  return code;
}

struct rig *rig_open(const char *cpu, const char *const *lines, size_t count) {
  size_t room = 1, bytes, used = 0;
  for (size_t i = 0; i < count; i++) room += strlen(lines[i]) + 1;
  char *text = malloc(room), error[DECODE_ERROR_MAX];
  for (size_t i = 0; i < count; i++) used += (size_t)sprintf(text + used, "%s\n", lines[i]);
  uint8_t *code = assemble(cpu, text, &bytes);
  struct rig *r = calloc(1, sizeof *r);
  r->program = program_decode(code, bytes, 0x10000, cpu, error);
  if (!r->program) fail_msg("%s", error);
  if (r->program->unknown) fail_msg("%s", r->program->first_unknown);
  assert_int_equal(r->program->count, count);
  free(text);
  free(code);
  r->wave = aligned_alloc(64, (sizeof *r->wave + 63) / 64 * 64);
  r->group = (struct workgroup){.view = &r->view, .lds = aligned_alloc(64, RIG_LDS_BYTES + 64), .lds_bytes = RIG_LDS_BYTES, .waves = 1};
  r->waves[0] = r->wave;
  r->group.wave = r->waves;
  r->memory = memory_create();
  assert_true(r->memory && view_init(&r->view, r->memory));
  r->buffer = memory_allocate(r->memory, RIG_MEMORY_BYTES, 4096, 0);
  assert_true(r->buffer);
  view_begin(&r->view, 0);
  memset(r->wave, 0, sizeof *r->wave);
  memset(r->group.lds, 0, RIG_LDS_BYTES);
  wave_init(r->wave, r->program, &r->group, 0, 0, MODE_DEFAULT);
  return r;
}

void rig_close(struct rig *r) {
  view_free(&r->view);
  memory_destroy(r->memory);
  program_free(r->program);
  free(r->group.lds);
  free(r->wave);
  free(r);
}

static const struct isa_row *executed[4096];
static size_t executed_count;

static bool was_executed(const struct isa_row *row) {
  for (size_t i = 0; i < executed_count; i++)
    if (executed[i] == row) return true;
  return false;
}

const char *rig_untested(const struct isa_table *table) {
  for (uint32_t i = 0; i < table->count; i++)
    if (!was_executed(&table->rows[i])) return table->rows[i].name;
  return NULL;
}

static void note(const struct isa_row *row) {
  if (!was_executed(row) && executed_count < sizeof executed / sizeof executed[0]) executed[executed_count++] = row;
}

const char *rig_fault(struct rig *r, size_t i) {
  note(r->program->inst[i].row);
  r->wave->pc = (uint32_t)i;
  assert_int_equal(wave_run(r->wave, 1), WAVE_FAULT);
  return r->wave->fault;
}

enum wave_stop rig_run(struct rig *r, size_t i) {
  note(r->program->inst[i].row);
  const struct atomic *bad = NULL;
  bool changed = false;
  r->wave->pc = (uint32_t)i;
  enum wave_stop stop = wave_run(r->wave, 1);
  if (stop == WAVE_FAULT) fail_msg("%s", r->wave->fault);
  assert_true(view_commit(&r->view, wave_atomic_done, &bad, &changed));
  view_begin_quantum(&r->view);
  return stop;
}

static const uint16_t edges16[] = {0, 0x8000, 0x3C00, 0xBC00, 1, 0x8001, 0x3FF, 0x400, 0x8400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00,
    0x7D01, 0x3555, 0x4248, 0x7FFF, 0xFFFF, 0x0101, 0x3C01, 0x5640};
static const uint32_t edges32[] = {0, 0x80000000, 0x3F800000, 0xBF800000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x40200000, 0xC0200000, 0x40600000, 0x4B800000, 0x4B800001, 0x4F000000,
    0x4F800000, 0xCF000001, 0x3EFFFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFF0000, 0x0000FFFF, 2, 31, 32, 33, 0x00010001, 0x43E00000, 0x43E80000,
    0x43E80001, 0x3F000000, 0xBF000000, 0x3B800000, 0x33800000};
static const uint64_t edges64[] = {0, UINT64_C(1) << 63, 0x3FF0000000000000, 0xBFF0000000000000, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000,
    0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0x4004000000000000,
    0x41DFFFFFFFC00000, 0x41F0000000000000, 0xC1E0000000200000, UINT64_MAX, INT64_MAX, 0xFFFFFFFF, UINT64_C(0xFFFFFFFF00000000),
    0x47EFFFFFF0000000, 0x36A0000000000000, 63, 64, 0x3FDFFFFFFFFFFFFF, 0x4330000000000001};

static uint64_t mix(uint64_t v) {
  v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
  return v ^ v >> 31;
}

uint64_t rig_value(enum isa_type type, uint32_t i) {
  uint64_t random = mix(UINT64_C(0x9E3779B97F4A7C15) * (i + 1));
  switch (type) {
  case T_u16:
  case T_i16:
  case T_f16:
    return (i < sizeof edges16 / 2 ? edges16[i] : (uint16_t)random) | (random & 0xFFFF0000u);
  case T_pk:
  case T_pkh:
    return rig_value(T_f16, i * 7 % 40) << 16 | (rig_value(T_f16, i) & 0xFFFF);
  case T_u64:
  case T_i64:
  case T_f64:
    return i < sizeof edges64 / 8 ? edges64[i] : i % 3 ? random : random >> 34;
  case T_pkf:
    return rig_value(T_f32, i * 5 % 60) << 32 | (uint32_t)rig_value(T_f32, i);
  case T_f32: /* half of the random ones of usual size, so that sums round */
    if (i >= sizeof edges32 / 4 && i % 2) return (random & 0x807FFFFF) | (120 + random % 16) << 23;
    return i < sizeof edges32 / 4 ? edges32[i] : (uint32_t)random;
  default:
    return i < sizeof edges32 / 4 ? edges32[i] : i % 3 ? (uint32_t)random : (uint32_t)random >> 27;
  }
}

bool rig_is_row(const struct isa_table *table, const char *name) {
  for (uint32_t i = 0; i < table->count; i++)
    if (strcmp(table->rows[i].name, name) == 0) return true;
  return false;
}
