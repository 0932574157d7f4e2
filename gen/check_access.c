/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on vector memory accesses one by one: each has its row in the issue order, and is what the row says. */
#include "check_gates.h"

#include <string.h>

static uint32_t rows_total(const struct check *c) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < c->rows; i++) total += c->row[i].count;
  return total;
}

static bool has(const struct check_inst *inst, enum text_mod mod) { return inst_text_has(&inst->text, mod); }

static const char *row_name(const struct check *c, uint16_t row) { return issue_event_name(c->row[row].event); }

/* Every access has a row, and every row its number of accesses. */
static void count_gate(struct check *c) {
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t count[ISSUE_ROWS_MAX] = {0}, examined = 0;
  for (uint32_t i = 0; i < c->code.insts; i++) {
    const struct check_inst *inst = &c->code.inst[i];
    if (!inst->access) continue;
    examined++;
    if (inst->row >= c->rows)
      check_note_fault(inst, wrong, "an access without a row in the issue order");
    else
      count[inst->row]++;
  }
  for (uint32_t i = 0; i < c->rows; i++)
    if (count[i] != c->row[i].count)
      check_note_fault(NULL, wrong, "row %u (%s %u): %u accesses, the plan has %u", i, row_name(c, (uint16_t)i), c->row[i].instance,
          count[i], c->row[i].count);
  check_gate(c, "every access has its row", "accesses", examined, rows_total(c), wrong);
}

static enum issue_kind kind_of(const char *name) {
  if (strstr(name, "_atomic")) return ISSUE_ATOMIC;
  return strstr(name, "_store") ? ISSUE_STORE : ISSUE_LOAD;
}

static void check_kind(const struct check *c, const struct check_inst *inst, char wrong[CHECK_MESSAGE_MAX]) {
  static const char *const names[] = {"load", "store", "atomic"};
  const struct issue_row *row = &c->row[inst->row];
  const char *prefix = row->global ? "global_" : "buffer_";
  const char *name = inst->text.name;
  if (strncmp(name, prefix, strlen(prefix)) != 0)
    check_note_fault(inst, wrong, "%s wants a %s access", row_name(c, inst->row), row->global ? "global" : "buffer");
  if (kind_of(name) != row->kind || (!strstr(name, "_load_") && !strstr(name, "_store_") && !strstr(name, "_atomic_")))
    check_note_fault(inst, wrong, "%s is to be a %s", row_name(c, inst->row), names[row->kind]);
}

static void check_cache(const struct check *c, const struct check_inst *inst, char wrong[CHECK_MESSAGE_MAX]) {
  const struct issue_row *row = &c->row[inst->row];
  bool atomic = row->kind == ISSUE_ATOMIC;
  if (has(inst, TEXT_MOD_NT) || has(inst, TEXT_MOD_GLC) || (has(inst, TEXT_MOD_SC0) && !atomic))
    check_note_fault(inst, wrong, "%s has a cache bit that no access of ours has", row_name(c, inst->row));
  if (has(inst, TEXT_MOD_SC1) != row->sc1)
    check_note_fault(inst, wrong, "%s is to be at %s scope (%s)", row_name(c, inst->row),
        row->sc1 ? "device"
        : atomic ? "device"
                 : "wave",
        row->sc1 ? "sc1" : "no sc1");
  if (has(inst, TEXT_MOD_LDS) || has(inst, TEXT_MOD_TFE))
    check_note_fault(inst, wrong, "%s goes to registers alone", row_name(c, inst->row));
}

/* Runs one test on each access that has a row. */
static void each_access(struct check *c, const char *name, void (*test)(const struct check *, const struct check_inst *, char *)) {
  char wrong[CHECK_MESSAGE_MAX] = "";
  uint32_t examined = 0;
  for (uint32_t i = 0; i < c->code.insts; i++) {
    const struct check_inst *inst = &c->code.inst[i];
    if (!inst->access || inst->row >= c->rows) continue;
    examined++;
    test(c, inst, wrong);
  }
  check_gate(c, name, "accesses", examined, rows_total(c), wrong);
}

void check_access_gates(struct check *c) {
  count_gate(c);
  each_access(c, "load, store, atomic; address", check_kind);
  each_access(c, "cache bits", check_cache);
}
