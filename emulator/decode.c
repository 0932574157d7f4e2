/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes -> LLVM's disassembler -> inst_text -> a row of the tables -> struct inst. One disassembler and one row index a code object. */
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>

#include "encoding.h"
#include "executed.h"
#include "row.h"

enum { ROW_SLOTS = 4096, TEXT_MAX = 256 };

struct decoder {
  struct program *program;
  const uint8_t *text;
  LLVMDisasmContextRef disassembler;
  const struct isa_row *slot[ROW_SLOTS]; /* open hash of the rows by name */
  char *texts;                           /* grows: texts and refusals, as offsets until the end */
  size_t texts_bytes, texts_room;
  size_t *text_at, *refusal_at; /* by instruction; refusal 0: none (texts starts with a 0 byte) */
};

static uint32_t name_hash(const char *name) {
  uint32_t h = 2166136261u;
  for (; *name; name++) h = (h ^ (uint8_t)*name) * 16777619u;
  return h % ROW_SLOTS;
}

static void index_rows(struct decoder *d) {
  for (uint32_t t = 0; t < isa_table_count; t++)
    for (uint32_t i = 0; i < isa_tables[t]->count; i++) {
      uint32_t h = name_hash(isa_tables[t]->rows[i].name);
      while (d->slot[h]) h = (h + 1) % ROW_SLOTS;
      d->slot[h] = &isa_tables[t]->rows[i];
    }
}

static const struct isa_row *find_row(const struct decoder *d, const char *name) {
  for (uint32_t h = name_hash(name); d->slot[h]; h = (h + 1) % ROW_SLOTS)
    if (strcmp(d->slot[h]->name, name) == 0) return d->slot[h];
  return NULL;
}

/* Keeps a string; its offset in d->texts, 0 if memory is short. */
static size_t keep_text(struct decoder *d, const char *text) {
  size_t n = strlen(text) + 1;
  if (d->texts_bytes + n > d->texts_room) {
    size_t room = 2 * (d->texts_bytes + n);
    char *more = realloc(d->texts, room);
    if (!more) return 0;
    d->texts = more;
    d->texts_room = room;
  }
  size_t at = d->texts_bytes;
  memcpy(d->texts + at, text, n);
  d->texts_bytes += n;
  return at;
}

static void run_refused(struct wave *w, const struct inst *in) {
  snprintf(w->fault, sizeof w->fault, "%s at 0x%llx: %s", in->text, (unsigned long long)in->address, in->refusal);
  w->stop = WAVE_FAULT;
  w->pc = (uint32_t)(in - w->program->inst);
}

/* Names the modifiers that no one took. */
static void leftover_error(struct reading *r) {
  char mods[TEXT_LINE_MAX] = "";
  struct inst_text rest = *r->text;
  rest.name[0] = '\0';
  rest.suffix = TEXT_PLAIN;
  rest.operands = 0;
  rest.mods = r->mods_left;
  rest.wait_vm = rest.wait_exp = rest.wait_lgkm = -1;
  inst_text_print(&rest, mods, sizeof mods);
  reading_error(r, "the emulator does not know its modifier%.100s", mods);
}

static bool is_uniform(const struct source *s) {
  bool scalar = s->kind != OPERAND_NONE && s->kind != OPERAND_VGPR, whole = s->select == SELECT_ALL && !s->lo && s->hi;
  return scalar && whole && s->words == 1 && !s->sign_extend && s->keep[0] == UINT32_MAX && !s->flip[0];
}

/* Instruction text -> *in. False, and a sentence. */
static bool read_inst(struct decoder *d, const uint8_t *code, const char *line, struct inst *in, char error[DECODE_ERROR_MAX]) {
  struct inst_text text;
  char name[TEXT_NAME_MAX + 8], text_error[TEXT_ERROR_MAX];
  if (!inst_text_parse(line, &text, text_error)) {
    snprintf(error, DECODE_ERROR_MAX, "%s", text_error);
    return false;
  }
  struct reading r = {.text = &text, .program = d->program, .in = in, .mods_left = text.mods, .error = error, .code = code};
  if (inst_text_has(&text, TEXT_MOD_CLAMP)) {
    snprintf(name, sizeof name, "%s clamp", text.name);
    r.row = find_row(d, name);
    if (r.row) take_mod(&r, TEXT_MOD_CLAMP);
  }
  if (!r.row) r.row = find_row(d, text.name);
  if (!r.row) {
    snprintf(error, DECODE_ERROR_MAX, "the emulator does not know this instruction");
    return false;
  }
  in->row = r.row;
  in->run = r.row->run;
  in->class = r.row->class;
  in->wait_vm = text.wait_vm;
  in->wait_lgkm = text.wait_lgkm;
  in->wait_exp = text.wait_exp;
  r.row->read(&r);
  for (uint32_t i = 0; i < in->sources; i++) in->src[i].uniform = is_uniform(&in->src[i]);
  if (r.next < text.operands) reading_error(&r, "the emulator does not know its operand %u", r.next + 1);
  if (r.mods_left) leftover_error(&r);
  const char *lost = encoding_loses(code, &text);
  if (lost) reading_error(&r, "%s", lost);
  return !r.failed;
}

/* One instruction at byte offset `at`. False: memory is short. */
static bool decode_one(struct decoder *d, uint64_t at) {
  struct program *p = d->program;
  struct inst *in = &p->inst[p->count];
  char line[TEXT_MAX], error[DECODE_ERROR_MAX] = "";
  uint8_t bytes[16] = {0};
  size_t left = p->bytes - at < sizeof bytes ? p->bytes - at : sizeof bytes, size = 0;
  memcpy(bytes, d->text + at, left);
  /* All 16: LLVM reads a literal also where the code ends in front of it. */
  if (!encoding_stops_llvm(bytes)) size = LLVMDisasmInstruction(d->disassembler, bytes, sizeof bytes, p->address + at, line, sizeof line);
  if (size > left) size = 0;
  memset(in, 0, sizeof *in);
  in->address = p->address + at;
  in->bytes = size ? (uint32_t)size : 4;
  in->target = NO_INST;
  if (!size) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    snprintf(line, sizeof line, "0x%08x", word);
    snprintf(error, sizeof error, "not an instruction of this GPU");
  }
  if (!size || !read_inst(d, bytes, line, in, error)) {
    in->run = run_refused;
    in->class = CLASS_CONTROL;
    d->refusal_at[p->count] = keep_text(d, error);
    if (!d->refusal_at[p->count]) return false;
    if (!p->unknown++)
      snprintf(p->first_unknown, sizeof p->first_unknown, "%.130s at 0x%llx: %.90s", line + strspn(line, " \t"),
          (unsigned long long)in->address, error);
  }
  p->index[at / 4] = p->count;
  d->text_at[p->count] = keep_text(d, line + strspn(line, " \t"));
  return d->text_at[p->count++] != 0;
}

/* What stands behind the last instruction: running into it is a fault. */
static bool add_end(struct decoder *d) {
  struct program *p = d->program;
  struct inst *in = &p->inst[p->count];
  memset(in, 0, sizeof *in);
  in->run = run_refused;
  in->class = CLASS_CONTROL;
  in->address = p->address + p->bytes;
  in->target = NO_INST;
  d->text_at[p->count] = keep_text(d, "(end of the code)");
  d->refusal_at[p->count] = keep_text(d, "execution ran past the last instruction");
  return d->text_at[p->count] && d->refusal_at[p->count];
}

static void resolve(struct decoder *d) {
  struct program *p = d->program;
  p->texts = d->texts;
  for (uint32_t i = 0; i <= p->count; i++) {
    p->inst[i].text = p->texts + d->text_at[i];
    if (d->refusal_at[i]) p->inst[i].refusal = p->texts + d->refusal_at[i];
    if (p->inst[i].branch) p->inst[i].target = program_at(p, p->inst[i].address + 4 + (uint64_t)(int64_t)p->inst[i].offset);
  }
}

static bool decode_all(struct decoder *d) {
  struct program *p = d->program;
  memset(p->index, 0xFF, (p->bytes / 4 + 1) * sizeof *p->index);
  keep_text(d, "");
  for (uint64_t at = 0; at + 4 <= p->bytes; at += p->inst[p->count - 1].bytes)
    if (!decode_one(d, at)) return false;
  if (!add_end(d)) return false;
  resolve(d);
  return true;
}

static void start_llvm(void) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
}

static bool open_disassembler(struct decoder *d, const char *cpu, char error[DECODE_ERROR_MAX]) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start_llvm);
  d->disassembler = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu, "", NULL, 0, NULL, NULL);
  if (!d->disassembler)
    snprintf(error, DECODE_ERROR_MAX, "LLVM has no disassembler for amdgcn %s: link an LLVM 22 with the AMDGPU target", cpu);
  return d->disassembler != NULL;
}

struct program *program_decode(const void *text, uint64_t bytes, uint64_t address, const char *cpu, char error[DECODE_ERROR_MAX]) {
  struct decoder *d = calloc(1, sizeof *d);
  struct program *p = calloc(1, sizeof *p);
  uint64_t most = bytes / 4 + 1;
  bool good = false;
  snprintf(error, DECODE_ERROR_MAX, "out of memory while decoding %llu bytes of code", (unsigned long long)bytes);
  if (!d || !p) goto done;
  d->program = p;
  d->text = text;
  p->address = address;
  p->bytes = bytes;
  p->gfx950 = strcmp(cpu, "gfx950") == 0;
  p->fnuz = !p->gfx950;
  p->inst = calloc(most, sizeof *p->inst);
  p->index = calloc(most, sizeof *p->index);
  d->text_at = calloc(most, sizeof *d->text_at);
  d->refusal_at = calloc(most, sizeof *d->refusal_at);
  if (!p->inst || !p->index || !d->text_at || !d->refusal_at || !open_disassembler(d, cpu, error)) goto done;
  index_rows(d);
  good = decode_all(d);
  if (good) executed_watch(p);
done:
  if (d) {
    if (d->disassembler) LLVMDisasmDispose(d->disassembler);
    if (!good) free(d->texts);
    free(d->text_at);
    free(d->refusal_at);
  }
  free(d);
  if (good) return p;
  if (p) p->texts = NULL;
  program_free(p);
  return NULL;
}

void program_free(struct program *program) {
  if (!program) return;
  if (program->executed) executed_report(program);
  free(program->executed);
  free(program->inst);
  free(program->index);
  free(program->texts);
  free(program);
}

uint32_t program_at(const struct program *program, uint64_t address) {
  uint64_t offset = address - program->address;
  return offset < program->bytes && offset % 4 == 0 ? program->index[offset / 4] : NO_INST;
}
