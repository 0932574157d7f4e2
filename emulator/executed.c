/* SPDX-License-Identifier: Apache-2.0 */
#include "executed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

/* `in` may be a copy, where registers are named by index. */
static void run_marked(struct wave *w, const struct inst *in) {
  __atomic_store_n(&w->program->executed[w->pc - 1], 1, __ATOMIC_RELAXED);
  in->row->run(w, in);
}

void executed_watch(struct program *p) {
  if (!getenv("FRONT_EMU_EXECUTED")) return;
  p->executed = calloc(p->count + 1, 1);
  for (uint32_t i = 0; p->executed && i < p->count; i++)
    if (!p->inst[i].refusal) p->inst[i].run = run_marked;
}

/* One write, so that processes may share the file. */
void executed_report(const struct program *p) {
  const char *path = getenv("FRONT_EMU_EXECUTED");
  char *text = NULL;
  size_t bytes = 0;
  FILE *list = p->executed && path ? open_memstream(&text, &bytes) : NULL, *file;
  if (!list) return;
  for (uint32_t t = 0; t < isa_table_count; t++) {
    const struct isa_row *rows = isa_tables[t]->rows;
    bool *seen = calloc(isa_tables[t]->count, sizeof *seen);
    for (uint32_t i = 0; seen && i < p->count; i++)
      if (p->executed[i] && p->inst[i].row >= rows && p->inst[i].row < rows + isa_tables[t]->count) seen[p->inst[i].row - rows] = true;
    for (uint32_t i = 0; seen && i < isa_tables[t]->count; i++)
      if (seen[i]) fprintf(list, "%s %s\n", isa_tables[t]->name, rows[i].name);
    free(seen);
  }
  fclose(list);
  file = fopen(path, "a");
  if (file) setvbuf(file, NULL, _IONBF, 0);
  if (!file || fwrite(text, 1, bytes, file) != bytes)
    fprintf(stderr, "libhsa-emu: FRONT_EMU_EXECUTED=%s: %s: the list lacks this program's rows\n", path, strerror(errno));
  if (file) fclose(file);
  free(text);
}
