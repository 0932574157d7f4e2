/* SPDX-License-Identifier: Apache-2.0 */
/* isa_list: the instructions that the emulator knows, as docs/isa.md. isa_list FILE: exit code 1 if the file is not that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

static void print_table(FILE *f, const struct isa_table *t) {
  fprintf(f, "\n## %s: %u\n\n| instruction | fidelity |\n|---|---|\n", t->name, t->count);
  for (uint32_t i = 0; i < t->count; i++)
    fprintf(f, "| %s | %s |\n", t->rows[i].name, t->rows[i].fidelity == EXACT ? "exact" : "approximate");
}

static void print_list(FILE *f) {
  uint32_t rows = 0;
  for (uint32_t t = 0; t < isa_table_count; t++) rows += isa_tables[t]->count;
  fprintf(f,
      "# The instructions that the emulator knows\n\nMade by `tests/conformance/isa_list` from the tables `emulator/isa_*.def`: %u rows. "
      "Names are LLVM's without suffixes; \"clamp\" marks the saturating form.\nExact: every bit as the hardware's. Approximate: "
      "the last place may differ (v_rcp, v_rsq, v_sqrt, v_exp, v_log), or the order of a sum (MFMA: f64, in K order, rounded once).\n"
      "An instruction that is not here stops the wave that executes it with its name and address.\n",
      rows);
  for (uint32_t t = 0; t < isa_table_count; t++) print_table(f, isa_tables[t]);
}

int main(int argc, char **argv) {
  char *text = NULL, *old = NULL;
  size_t bytes = 0, old_bytes = 0;
  FILE *f = open_memstream(&text, &bytes);
  if (!f) return 3;
  print_list(f);
  fclose(f);
  if (argc < 2) return fwrite(text, 1, bytes, stdout) != bytes;
  f = fopen(argv[1], "r");
  if (f) {
    old = malloc(bytes + 1);
    old_bytes = old ? fread(old, 1, bytes + 1, f) : 0;
    fclose(f);
  }
  bool same = old && old_bytes == bytes && !memcmp(old, text, bytes);
  if (!same) fprintf(stderr, "isa_list: %s is not what the tables say: isa_list > %s\n", argv[1], argv[1]);
  free(text);
  free(old);
  return !same;
}
