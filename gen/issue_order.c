/* SPDX-License-Identifier: Apache-2.0 */
/* Section 5 of the design as a list: one call a group, in issue order. */
#include "issue_order.h"

#include "gemv.h"

struct list {
  struct issue_row *row;
  uint32_t rows, group, polls;
};

static struct issue_row *add(struct list *l, enum issue_event event, enum issue_kind kind, uint32_t instance, uint32_t count) {
  struct issue_row *r = &l->row[l->rows++];
  *r = (struct issue_row){
      .event = event, .kind = kind, .instance = (uint16_t)instance, .count = (uint16_t)count, .group = (uint16_t)l->group};
  return r;
}

/* One row that is a group by itself. */
static struct issue_row *step(struct list *l, enum issue_event event, enum issue_kind kind, uint32_t instance, uint32_t count) {
  l->group++;
  return add(l, event, kind, instance, count);
}

static uint32_t loads_of(uint32_t items) { return (items + THREADS - 1) / THREADS; }

static uint32_t row_loads(struct token_tile tile, uint32_t row_bytes) {
  return loads_of(tile.count * row_bytes / 16) + loads_of(tile.count * row_bytes / MX_GROUP * 4 / 16);
}

static void poll_row(struct list *l, const struct plan *p, enum issue_event event, uint32_t instance, uint32_t count) {
  struct issue_row *r = step(l, event, ISSUE_LOAD, instance, count);
  r->sc1 = r->poll = true;
  if (!p->guard) return;
  r = add(l, EV_GUARD_LOOK, ISSUE_LOAD, l->polls++, 1);
  r->sc1 = r->loop = true;
}

/* A wave that gave up. */
static void guard_rows(struct list *l) {
  struct issue_row *scan = step(l, EV_GUARD_SCAN, ISSUE_LOAD, 0, 1);
  scan->sc1 = scan->loop = true;
  step(l, EV_GUARD_CLAIM, ISSUE_ATOMIC, 0, 1);
  step(l, EV_GUARD_RECORD, ISSUE_STORE, 0, 2)->sc1 = true;
}

static void kt_rows(struct list *l, const struct plan *p) {
  uint32_t reach = ((p->key.ratio > 0 ? (uint32_t)TOPK : 0u) + (uint32_t)p->key.window + THREADS - 1) / THREADS;
  uint32_t small = p->key.ratio > 0 ? 4 : 2, topk = p->key.ratio > 0 ? 2 : 0;
  for (uint32_t i = 0; i < p->kt_rounds; i++) {
    l->group++;
    add(l, EV_KT_LOAD, ISSUE_LOAD, i, small + reach + topk);
    add(l, EV_KT_STORE, ISSUE_STORE, i, loads_of(p->keys) + 2);
  }
}

static void wqb_weights(struct list *l, const struct plan *p, uint32_t round) {
  uint32_t count = p->round_tasks * gemv_wave_steps(WQB_STEPS) * p->target->gemv->loads_a_step;
  step(l, EV_WQB_WEIGHTS, ISSUE_LOAD, round, count)->all = true;
}

/* S > TILE, or rows that another stage published. */
static void wqkv_tiles(struct list *l, const struct plan *p) {
  poll_row(l, p, EV_XRDY_POLL, 0, 1);
  step(l, EV_X8_ROWS, ISSUE_LOAD, 0, row_loads(p->tile[0], K_HALF))->all = !p->tuned;
  if (!p->tuned && p->tiles == 1) wqb_weights(l, p, 0);
  for (uint32_t i = 0; i < p->tiles; i++) {
    if (i + 1 < p->tiles) step(l, EV_X8_ROWS, ISSUE_LOAD, i + 1, row_loads(p->tile[i + 1], K_HALF))->all = !p->tuned;
    if (!p->tuned && i + 2 == p->tiles) wqb_weights(l, p, 0);
    step(l, EV_QKVP_PUT, ISSUE_STORE, i, 1)->sc1 = true;
  }
  if (p->tuned) wqb_weights(l, p, 0);
}

static void qkv_rows(struct list *l, const struct plan *p) {
  step(l, EV_QKV_LOAD, ISSUE_LOAD, 0, 12);
  step(l, EV_QKV_ROPE, ISSUE_LOAD, 0, 2);
  if (p->tuned) {
    poll_row(l, p, EV_QKVP_POLL, 0, 10);
  } else {
    poll_row(l, p, EV_QKVP_POLL, 0, 12);
    poll_row(l, p, EV_QKVP_POLL, 1, 8);
  }
  step(l, EV_QX8_STORE, ISSUE_STORE, 0, 2)->sc1 = true;
  if (p->tuned) step(l, EV_QRDY_PUT, ISSUE_STORE, 0, 1)->sc1 = true;
  step(l, EV_KV_STORE, ISSUE_STORE, 0, 2)->global = true;
  if (!p->tuned) step(l, EV_QRDY_PUT, ISSUE_STORE, 0, 1)->sc1 = true;
}

static void qx8_rows(struct list *l, const struct plan *p, uint32_t round, uint32_t tile) {
  step(l, EV_QX8_ROWS, ISSUE_LOAD, round * p->tiles + tile, row_loads(p->tile[tile], Q_RANK))->all = true;
}

static void wqb_rows(struct list *l, const struct plan *p) {
  for (uint32_t i = 0; i < p->tiles; i++) step(l, EV_WQB_ROPE, ISSUE_LOAD, i, 2)->all = true;
  poll_row(l, p, EV_QRDY_POLL, 0, 1);
  qx8_rows(l, p, 0, 0);
  for (uint32_t round = 0; round < p->rounds; round++)
    for (uint32_t i = 0; i < p->tiles; i++) {
      if (i + 1 < p->tiles) qx8_rows(l, p, round, i + 1);
      if (i + 1 == p->tiles && round + 1 < p->rounds) {
        wqb_weights(l, p, round + 1);
        qx8_rows(l, p, round + 1, 0);
      }
      step(l, EV_Q_STORE, ISSUE_STORE, round * p->tiles + i, 1);
    }
}

uint32_t issue_rows(const struct plan *p, struct issue_row rows[ISSUE_ROWS_MAX]) {
  struct list l = {.row = rows};
  struct issue_row *epoch = step(&l, EV_EPOCH, ISSUE_LOAD, 0, 1);
  epoch->sc1 = epoch->all = true;
  if (p->quantise_in_workgroup) step(&l, EV_X_TILE, ISSUE_LOAD, 0, loads_of(p->tile[0].count * (K_HALF / 8)))->all = true;
  if (p->xq) step(&l, EV_XQ_X, ISSUE_LOAD, 0, p->xq_rounds)->all = true;
  step(&l, EV_WQKV_WEIGHTS, ISSUE_LOAD, 0, gemv_wave_steps(WQKV_STEPS) * p->target->gemv->loads_a_step)->all = true;
  if (p->xq) {
    step(&l, EV_XQ_STORE, ISSUE_STORE, 0, 2 * p->xq_rounds)->sc1 = true;
    step(&l, EV_XRDY_PUT, ISSUE_STORE, 0, 1)->sc1 = true;
  }
  kt_rows(&l, p);
  for (uint32_t i = 0; i < p->tiles; i++) step(&l, EV_POS, ISSUE_LOAD, i, 1)->all = true;
  if (p->quantise_in_workgroup) {
    wqb_weights(&l, p, 0);
    step(&l, EV_QKVP_PUT, ISSUE_STORE, 0, 1)->sc1 = true;
  } else {
    wqkv_tiles(&l, p);
  }
  qkv_rows(&l, p);
  wqb_rows(&l, p);
  if (p->guard) guard_rows(&l);
  step(&l, EV_DONE, ISSUE_ATOMIC, 0, 1);
  step(&l, EV_EPOCH_STORE, ISSUE_STORE, 0, 1)->sc1 = true;
  return l.rows;
}

const char *issue_event_name(enum issue_event event) {
  static const char *const names[ISSUE_EVENTS] = {[EV_EPOCH] = "epoch",
      [EV_X_TILE] = "x tile",
      [EV_XQ_X] = "xq's x",
      [EV_WQKV_WEIGHTS] = "wqkv weights",
      [EV_XQ_STORE] = "x8 store",
      [EV_XRDY_PUT] = "xrdy put",
      [EV_KT_LOAD] = "kt load",
      [EV_KT_STORE] = "kt store",
      [EV_POS] = "pos",
      [EV_WQB_WEIGHTS] = "wq_b weights",
      [EV_XRDY_POLL] = "xrdy poll",
      [EV_X8_ROWS] = "x8 rows",
      [EV_QKVP_PUT] = "qkvp put",
      [EV_QKV_LOAD] = "qkv load",
      [EV_QKV_ROPE] = "qkv cos and sin",
      [EV_QKVP_POLL] = "qkvp poll",
      [EV_QR_STORE] = "qr_out store",
      [EV_QX8_STORE] = "qx8 store",
      [EV_QRDY_PUT] = "qrdy put",
      [EV_KV_STORE] = "KV record store",
      [EV_WQB_ROPE] = "wq_b cos and sin",
      [EV_QRDY_POLL] = "qrdy poll",
      [EV_QX8_ROWS] = "qx8 rows",
      [EV_Q_STORE] = "q store",
      [EV_DONE] = "done",
      [EV_EPOCH_STORE] = "epoch store",
      [EV_GUARD_LOOK] = "guard look",
      [EV_GUARD_SCAN] = "guard scan",
      [EV_GUARD_CLAIM] = "guard claim",
      [EV_GUARD_RECORD] = "guard record"};
  return event < ISSUE_EVENTS ? names[event] : "no event";
}
