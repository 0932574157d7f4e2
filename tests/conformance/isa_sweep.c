/* SPDX-License-Identifier: Apache-2.0 */
/* Words that have each opcode of each format in turn, with operands that some instruction of the format takes, through the disassembler. */
#include "isa_sweep.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include "encoding.h"
#include "inst_text.h"

const struct left_out left_out[] = {
#define LEFT(prefix, reason) {#prefix, reason},
#include "isa_left.def"
};
const uint32_t left_out_count = sizeof left_out / sizeof left_out[0];

const char *reason_left_out(const char *name) {
  for (uint32_t i = 0; i < left_out_count; i++)
    if (strncmp(name, left_out[i].prefix, strlen(left_out[i].prefix)) == 0) return left_out[i].reason;
  return NULL;
}

struct words {
  struct sweep *found;
  LLVMDisasmContextRef disassembler;
};

static void add_name(struct sweep *s, const char *name) {
  for (uint32_t i = 0; i < s->count; i++)
    if (strcmp(s->name[i], name) == 0) return;
  if (s->count < SWEEP_NAMES) memcpy(s->name[s->count++], name, strnlen(name, SWEEP_NAME_MAX - 1) + 1);
}

static void try_words(struct words *t, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) {
  uint32_t w[4] = {w0, w1, w2, w3};
  uint8_t bytes[16];
  char line[256], error[TEXT_ERROR_MAX];
  struct inst_text text;
  memcpy(bytes, w, sizeof bytes);
  if (encoding_stops_llvm(bytes) || !LLVMDisasmInstruction(t->disassembler, bytes, sizeof bytes, 0, line, sizeof line)) return;
  if (inst_text_parse(line, &text, error)) add_name(t->found, text.name);
}

static void try_word(struct words *t, uint32_t w0) {
  try_words(t, w0, 0, 0, 0);
  try_words(t, w0, 5, 0, 0);
}

enum { V = 256 }; /* v0 as a source */

static void sweep_scalar(struct words *t) {
  for (uint32_t op = 0; op < 256; op++) {
    if (op < 128) try_word(t, 2u << 30 | op << 23 | 2 << 16 | 4 << 8 | 6);
    if (op < 32) try_word(t, 0xBu << 28 | op << 23 | 2 << 16 | 4), try_word(t, 0xBu << 28 | op << 23 | 2 << 16 | 1);
    try_word(t, 0x17Du << 23 | 2 << 16 | op << 8 | 4);
    if (op < 128) try_word(t, 0x17Eu << 23 | op << 16 | 2 << 8 | 4), try_word(t, 0x17Fu << 23 | op << 16);
    try_words(t, 0x30u << 26 | op << 18 | 1 << 17 | 4 << 6 | 2, 0, 0, 0);
    try_words(t, 0x30u << 26 | op << 18 | 1 << 17 | 8 << 6 | 4, 0, 0, 0);
    try_words(t, 0x30u << 26 | op << 18 | 1 << 17, 0, 0, 0);
    try_words(t, 0x30u << 26 | op << 18, 0, 0, 0);
  }
}

static void sweep_vector(struct words *t) {
  const uint32_t v2 = V + 2, v4 = V + 4, v6 = V + 6;
  for (uint32_t op = 0; op < 256; op++) {
    if (op < 0x3E) try_word(t, op << 25 | 2 << 17 | 2 << 9 | v2);
    try_word(t, 0x3Eu << 25 | op << 17 | 2 << 9 | v2);
    try_word(t, 0x3Fu << 25 | 2 << 17 | op << 9 | v2);
    try_word(t, 0x3Fu << 25 | 2 << 17 | op << 9 | 2);
    try_word(t, 0x3Fu << 25 | op << 9);
  }
  for (uint32_t op = 0; op < 1024; op++) {
    const uint32_t seconds[] = {v2 | v4 << 9 | v6 << 18, v2 | v4 << 9, v2, v2 | 4u << 9 | 4u << 18, v2 | v4 << 9 | 4u << 18};
    for (uint32_t i = 0; i < 5; i++) {
      try_words(t, 0x34u << 26 | op << 16 | 2, seconds[i], 0, 0);
      try_words(t, 0x34u << 26 | op << 16 | 4 << 8 | 2, seconds[i], 0, 0);
    }
  }
  for (uint32_t op = 0; op < 128; op++) {
    const uint32_t thirds[] = {V + 8, 0, 4};
    for (uint32_t i = 0; i < 3; i++) {
      uint32_t second = (V + 16) | (uint32_t)(V + 32) << 9 | thirds[i] << 18;
      try_words(t, 0x1A7u << 23 | op << 16 | 2 | 0x4000, second | 0x18000000, 0, 0);
      try_words(t, 0x1A7u << 23 | op << 16 | 2, second, 0, 0);
    }
    try_words(t, 0xD3AC0000, v4 | (uint32_t)(V + 5) << 9, 0x1A7u << 23 | op << 16 | 2,
        (V + 16) | (uint32_t)(V + 32) << 9 | (uint32_t)(V + 8) << 18);
  }
}

static void sweep_memory(struct words *t) {
  for (uint32_t op = 0; op < 256; op++) {
    try_words(t, 0x36u << 26 | op << 17, 2 | 2 << 8 | 4 << 16 | 6u << 24, 0, 0);
    try_words(t, 0x36u << 26 | op << 17, 2 | 6u << 24, 0, 0);
    try_words(t, 0x36u << 26 | op << 17, 2 | 2 << 8 | 6u << 24, 0, 0);
    try_words(t, 0x36u << 26 | op << 17, 2 | 2 << 8 | 4 << 16, 0, 0);
    try_words(t, 0x36u << 26 | op << 17, 6u << 24, 0, 0);
    for (uint32_t i = 0; i < 4; i++)
      try_words(t, 0x36u << 26 | op << 17 | 1 << 16, i == 0 ? 2 | 2 << 8 : i == 1 ? 2 : i == 2 ? 2 << 8 : 6u << 24, 0, 0);
    if (op >= 128) continue;
    for (uint32_t segment = 0; segment < 3; segment++)
      for (uint32_t flag = 0; flag < 3; flag++) {
        const uint32_t flags[] = {0, 1 << 16, 1 << 13};
        try_words(t, 0x37u << 26 | op << 18 | segment << 14 | flags[flag], 2 | 4 << 8 | 0x7F << 16 | 6u << 24, 0, 0);
        try_words(t, 0x37u << 26 | op << 18 | segment << 14 | flags[flag], 2 | 4 << 8 | 6u << 24, 0, 0);
        try_words(t, 0x37u << 26 | op << 18 | segment << 14 | flags[flag], 2 | 0x7F << 16, 0, 0);
      }
    for (uint32_t flag = 0; flag < 5; flag++) {
      const uint32_t flags[] = {0, 1 << 16, 1 << 14, 1 << 12, 1 << 13};
      try_words(t, 0x38u << 26 | op << 18 | flags[flag], 2 | 2 << 8 | 1 << 16 | 128u << 24, 0, 0);
    }
    if (op < 16) try_words(t, 0x3Au << 26 | op << 15 | 1 << 19, 2 | 2 << 8 | 1 << 16 | 128u << 24, 0, 0);
  }
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

bool sweep_gpu(const char *cpu, struct sweep *s) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  struct words t = {s, LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu, "", NULL, 0, NULL, NULL)};
  if (!t.disassembler) return false;
  s->count = 0;
  sweep_scalar(&t);
  sweep_vector(&t);
  sweep_memory(&t);
  LLVMDisasmDispose(t.disassembler);
  qsort(s->name, s->count, sizeof s->name[0], by_name);
  return true;
}
