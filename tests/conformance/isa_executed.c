/* SPDX-License-Identifier: Apache-2.0 */
#include "isa_executed.h"

#include <stdlib.h>
#include <string.h>

#include "row.h"

uint8_t executed_by[EXECUTED_ROWS];
const char *const executed_names[EXECUTED_BY] = {"functions", "kernels", "corpus"};

/* A row's number through all tables, or EXECUTED_ROWS. */
static uint32_t row_number(const char *table, const char *row) {
  for (uint32_t t = 0, at = 0; t < isa_table_count; at += isa_tables[t++]->count)
    for (uint32_t i = 0; strcmp(isa_tables[t]->name, table) == 0 && i < isa_tables[t]->count; i++)
      if (strcmp(isa_tables[t]->rows[i].name, row) == 0) return at + i;
  return EXECUTED_ROWS;
}

/* "table<between>row[<tab>who]" a line; without who: `bit`. */
static bool read_list(const char *path, char between, uint8_t bit) {
  char line[160];
  bool good = true;
  FILE *f = fopen(path, "r");
  if (!f) {
    fprintf(stderr, "isa_list: %s cannot be read\n", path);
    return false;
  }
  while (fgets(line, sizeof line, f)) {
    if (*line == '#') continue;
    line[strcspn(line, "\n")] = '\0';
    char *row = strchr(line, between), *who = bit || !row ? NULL : strchr(row + 1, '\t');
    if (row) *row++ = '\0';
    if (who) *who++ = '\0';
    uint32_t n = row ? row_number(line, row) : EXECUTED_ROWS;
    if (n == EXECUTED_ROWS) {
      fprintf(
          stderr, "isa_list: %s: \"%s\" is no row of table %s: record the list again (docs/conformance.md)\n", path, row ? row : "", line);
      good = false;
      continue;
    }
    executed_by[n] |= bit;
    for (uint8_t i = 0; who && i < EXECUTED_BY; i++)
      if (strstr(who, executed_names[i])) executed_by[n] |= (uint8_t)(1 << i);
  }
  fclose(f);
  return good;
}

bool executed_read(const char *path) { return read_list(path, '\t', 0); }

bool executed_record(char **lists) {
  for (uint8_t i = 0; i < EXECUTED_BY; i++)
    if (!lists[i] || !read_list(lists[i], ' ', (uint8_t)(1 << i))) return false;
  puts("# Rows of the emulator's instruction tables, and what has executed them: random functions (tests/conformance), this project's "
       "kernels,\n"
       "# the corpus (tests/corpus). Made by isa_list record, as docs/conformance.md says. Tab-separated.");
  for (uint32_t t = 0, at = 0; t < isa_table_count; at += isa_tables[t++]->count)
    for (uint32_t i = 0; i < isa_tables[t]->count; i++) {
      if (!executed_by[at + i]) continue;
      printf("%s\t%s\t", isa_tables[t]->name, isa_tables[t]->rows[i].name);
      const char *comma = "";
      for (uint8_t k = 0; k < EXECUTED_BY; k++)
        if (executed_by[at + i] >> k & 1) printf("%s%s", comma, executed_names[k]), comma = ",";
      putchar('\n');
    }
  return true;
}

static void print_counts(FILE *f, const char *name, uint32_t first, uint32_t count) {
  uint32_t by[EXECUTED_BY] = {0}, none = 0;
  for (uint32_t i = first; i < first + count; i++) {
    for (uint8_t k = 0; k < EXECUTED_BY; k++) by[k] += executed_by[i] >> k & 1;
    none += executed_by[i] == 0;
  }
  fprintf(f, "| %s | %u | %u | %u | %u | %u |\n", name, count, by[0], by[1], by[2], none);
}

void executed_print(FILE *f) {
  uint32_t at = 0;
  fprintf(f, "| table | rows | random functions | our kernels | corpus | row tests alone |\n|---|---|---|---|---|---|\n");
  for (uint32_t t = 0; t < isa_table_count; at += isa_tables[t++]->count) print_counts(f, isa_tables[t]->name, at, isa_tables[t]->count);
  print_counts(f, "all", 0, at);
}
