/* SPDX-License-Identifier: Apache-2.0 */
/* Which stage an instruction belongs to: from the note's event table and the issue order. */
#include <stdio.h>

#include "codeobject.h"
#include "issue_order.h"
#include "note.h"
#include "timing.h"

const char *const timing_stage_name[TIMING_STAGES] = {"start", "xq", "kt", "wqkv", "qkv", "wqb", "end"};

static const uint8_t stage_of_event[ISSUE_EVENTS] = {[EV_EPOCH] = TIMING_START,
    [EV_X_TILE] = TIMING_XQ,
    [EV_XQ_X] = TIMING_XQ,
    [EV_WQKV_WEIGHTS] = TIMING_WQKV,
    [EV_XQ_STORE] = TIMING_XQ,
    [EV_XRDY_PUT] = TIMING_XQ,
    [EV_KT_LOAD] = TIMING_KT,
    [EV_KT_STORE] = TIMING_KT,
    [EV_POS] = TIMING_WQB,
    [EV_WQB_WEIGHTS] = TIMING_WQB,
    [EV_XRDY_POLL] = TIMING_WQKV,
    [EV_X8_ROWS] = TIMING_WQKV,
    [EV_QKVP_PUT] = TIMING_WQKV,
    [EV_QKV_LOAD] = TIMING_QKV,
    [EV_QKV_ROPE] = TIMING_QKV,
    [EV_QKVP_POLL] = TIMING_QKV,
    [EV_QR_STORE] = TIMING_QKV,
    [EV_QX8_STORE] = TIMING_QKV,
    [EV_QRDY_PUT] = TIMING_QKV,
    [EV_KV_STORE] = TIMING_QKV,
    [EV_WQB_ROPE] = TIMING_WQB,
    [EV_QRDY_POLL] = TIMING_WQB,
    [EV_QX8_ROWS] = TIMING_WQB,
    [EV_Q_STORE] = TIMING_WQB,
    [EV_DONE] = TIMING_END,
    [EV_EPOCH_STORE] = TIMING_END,
    [EV_GUARD_LOOK] = TIMING_END, /* in a loop: its poll's, which is the row before it */
    [EV_GUARD_SCAN] = TIMING_END,
    [EV_GUARD_CLAIM] = TIMING_END,
    [EV_GUARD_RECORD] = TIMING_END};

static uint8_t stage_of_access(const struct issue_row *row) {
  return stage_of_event[row->event == EV_GUARD_LOOK ? row[-1].event : row->event];
}

/* Of code that is no access of vector memory, by the access behind it. */
static uint8_t stage_before(const struct plan *plan, const struct issue_row *row) {
  if (row->event == EV_WQB_WEIGHTS && row->instance == 0) return plan->quantise_in_workgroup ? TIMING_XQ : TIMING_WQKV;
  return stage_of_access(row);
}

static void assign(
    const struct plan *plan, const struct front_note *note, const struct hsa_emu_instruction *instruction, size_t count, uint8_t *stage) {
  struct issue_row rows[ISSUE_ROWS_MAX];
  uint32_t known = issue_rows(plan, rows);
  uint8_t code = TIMING_END;
  for (size_t i = count; i-- > 0;) {
    int64_t offset = instruction[i].offset;
    uint16_t row = FRONT_EVENT_NONE;
    if (instruction[i].kind == HSA_EMU_VMEM && offset >= 0 && offset <= UINT32_MAX) row = front_note_row(note, (uint32_t)offset);
    stage[i] = row < known ? stage_of_access(&rows[row]) : code;
    if (row < known) code = stage_before(plan, &rows[row]);
  }
}

bool timing_stages(const struct plan *plan, const void *object, size_t bytes, const struct hsa_emu_instruction *instruction, size_t count,
    uint8_t *stage, char error[RUN_ERROR_MAX]) {
  struct code_object co;
  struct front_note note;
  char why[CODE_ERROR_MAX];
  if (!code_object_open(object, bytes, &co, why)) {
    snprintf(error, RUN_ERROR_MAX, "no stages: %s", why);
    return false;
  }
  bool noted = co.front_note && front_note_read(&co, &note, why);
  if (noted) {
    assign(plan, &note, instruction, count, stage);
    front_note_free(&note);
  } else {
    snprintf(error, RUN_ERROR_MAX, "the code object's note, which says where the stages are, is missing or bad: run a KEY, or leave %s out",
        "--timing and --trace");
  }
  code_object_close(&co);
  return noted;
}
