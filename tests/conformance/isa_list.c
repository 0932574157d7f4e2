/* SPDX-License-Identifier: Apache-2.0 */
/* isa_list: the instructions that the emulator knows and those that it leaves out, as docs/isa.md. isa_list FILE: exit code 1 if the file
   is not that, or if LLVM's disassembler has an instruction that is neither. isa_list cover OBJECT...: the rows that these code objects'
   instructions are, a name a line behind its table's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobject.h"
#include "isa_executed.h"
#include "isa_sweep.h"
#include "row.h"

/* `first`: its first row's number through all tables. */
static void print_table(FILE *f, const struct isa_table *t, uint32_t first) {
  fprintf(f, "\n## %s: %u\n\n| instruction | fidelity | executed by |\n|---|---|---|\n", t->name, t->count);
  for (uint32_t i = 0; i < t->count; i++) {
    fprintf(f, "| %s | %s | ", t->rows[i].name, t->rows[i].fidelity == EXACT ? "exact" : "approximate");
    for (uint8_t k = 0; k < EXECUTED_BY; k++)
      if (executed_by[first + i] >> k & 1) fprintf(f, "%s, ", executed_names[k]);
    fprintf(f, "its test |\n");
  }
}

static bool is_row(const char *name) {
  for (uint32_t t = 0; t < isa_table_count; t++)
    for (uint32_t i = 0; i < isa_tables[t]->count; i++)
      if (strcmp(isa_tables[t]->rows[i].name, name) == 0) return true;
  return false;
}

static const char *const gpus[] = {"gfx950", "gfx942"};
static struct sweep gpu_names[2];

/* Those of both GPUs that are no row. False, and said: one without a reason, or a reason for nothing. */
static bool print_left_out(FILE *f) {
  bool good = true;
  uint32_t used[512] = {0};
  fprintf(f, "\n## left out\n\n| instructions | why |\n|---|---|\n");
  for (uint32_t g = 0; g < 2; g++) {
    if (!sweep_gpu(gpus[g], &gpu_names[g])) return false;
    for (uint32_t i = 0; i < gpu_names[g].count; i++) {
      const char *name = gpu_names[g].name[i];
      if (is_row(name)) continue;
      if (!reason_left_out(name)) fprintf(stderr, "isa_list: %s has %s, which is neither a row nor left out for a reason\n", gpus[g], name);
      good &= reason_left_out(name) != NULL;
      for (uint32_t k = 0; k < left_out_count; k++) used[k] += strncmp(name, left_out[k].prefix, strlen(left_out[k].prefix)) == 0;
    }
  }
  for (uint32_t k = 0; k < left_out_count; k++) {
    size_t n = strlen(left_out[k].prefix);
    if (!used[k]) fprintf(stderr, "isa_list: no instruction begins with %s\n", left_out[k].prefix);
    good &= used[k] != 0;
    fprintf(f, "| %s%s | %s |\n", left_out[k].prefix, left_out[k].prefix[n - 1] == '_' || used[k] > 2 ? "..." : "", left_out[k].reason);
  }
  return good;
}

static bool print_list(FILE *f) {
  uint32_t rows = 0;
  for (uint32_t t = 0; t < isa_table_count; t++) rows += isa_tables[t]->count;
  fprintf(f,
      "# The instructions that the emulator knows\n\nMade by `tests/conformance/isa_list` from the tables `emulator/isa_*.def`: %u rows. "
      "Names are LLVM's without suffixes; \"clamp\" marks the saturating form.\nExact: every bit as the hardware's. Approximate: "
      "the last place may differ (v_rcp, v_rsq, v_sqrt, v_exp, v_log, v_sin, v_cos), the order of a sum (MFMA: f64, in K order, rounded "
      "once; dot2), "
      "or random rounding (as AMD's host library does it).\nThe last table has what LLVM's disassembler knows beyond them: such an "
      "instruction "
      "stops the wave that executes it with its name and address.\n",
      rows);
  for (uint32_t t = 0, first = 0; t < isa_table_count; first += isa_tables[t++]->count) print_table(f, isa_tables[t], first);
  return print_left_out(f);
}

static uint8_t *read_all(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  *bytes = (size_t)ftell(f);
  rewind(f);
  uint8_t *data = malloc(*bytes + 1);
  if (data && fread(data, 1, *bytes, f) != *bytes) *bytes = 0;
  fclose(f);
  return data;
}

/* Of every kernel of a code object: marks the rows of its instructions, prints what has none. */
static bool cover_object(const char *path, bool *seen) {
  size_t bytes = 0;
  char why[CODE_ERROR_MAX], error[DECODE_ERROR_MAX];
  struct code_object code;
  uint8_t *image = read_all(path, &bytes);
  if (!image || !code_object_open(image, bytes, &code, why)) {
    fprintf(stderr, "isa_list: %s is not a code object\n", path);
    free(image);
    return false;
  }
  for (uint32_t k = 0; k < code.kernels; k++) {
    const struct code_kernel *kernel = &code.kernel[k];
    const void *text = code_object_at(&code, kernel->entry, kernel->code_bytes);
    struct program *p = text ? program_decode(text, kernel->code_bytes, kernel->entry, code.arch, error) : NULL;
    for (uint32_t i = 0; p && i < p->count; i++) {
      uint32_t at = 0;
      for (uint32_t t = 0; p->inst[i].row && t < isa_table_count; at += isa_tables[t++]->count)
        if (p->inst[i].row >= isa_tables[t]->rows && p->inst[i].row < isa_tables[t]->rows + isa_tables[t]->count)
          seen[at + (uint32_t)(p->inst[i].row - isa_tables[t]->rows)] = true;
      if (p->inst[i].refusal) printf("missing %s: %s\n", p->inst[i].text, p->inst[i].refusal);
    }
    program_free(p);
  }
  code_object_close(&code);
  free(image);
  return true;
}

static int cover(char **paths) {
  static bool seen[4096];
  bool good = true;
  for (; *paths; paths++) good &= cover_object(*paths, seen);
  for (uint32_t t = 0, at = 0; t < isa_table_count; at += isa_tables[t++]->count)
    for (uint32_t i = 0; i < isa_tables[t]->count; i++)
      if (seen[at + i]) printf("%s %s\n", isa_tables[t]->name, isa_tables[t]->rows[i].name);
  return good ? 0 : 2;
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "cover") == 0) return cover(argv + 2);
  if (argc == 5 && strcmp(argv[1], "record") == 0) return executed_record(argv + 2) ? 0 : 2;
  if (argc < 2 || !executed_read(argv[argc == 3 && strcmp(argv[1], "counts") == 0 ? 2 : 1])) return 2;
  if (strcmp(argv[1], "counts") == 0) {
    executed_print(stdout);
    return 0;
  }
  char *text = NULL, *old = NULL;
  size_t bytes = 0, old_bytes = 0;
  FILE *f = open_memstream(&text, &bytes);
  if (!f) return 3;
  bool complete = print_list(f);
  fclose(f);
  if (argc < 3) return fwrite(text, 1, bytes, stdout) != bytes;
  f = fopen(argv[2], "r");
  if (f) {
    old = malloc(bytes + 1);
    old_bytes = old ? fread(old, 1, bytes + 1, f) : 0;
    fclose(f);
  }
  bool same = old && old_bytes == bytes && !memcmp(old, text, bytes);
  if (!same) fprintf(stderr, "isa_list: %s is not what the tables say: isa_list %s > %s\n", argv[2], argv[1], argv[2]);
  free(text);
  free(old);
  return !same || !complete;
}
