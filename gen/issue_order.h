/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the kernel's vector memory accesses, as data. The emitter takes an access's row from here and puts it into the
   access's debug location (its line number is row index + 1); `check` finds every access in the disassembly by that line, and proves
   counts and order. Nothing here touches IR. */
#ifndef FRONT_ISSUE_ORDER_H
#define FRONT_ISSUE_ORDER_H

#include "plan.h"

enum issue_event {
  EV_EPOCH,        /* load, sc1: the first of all */
  EV_X_TILE,       /* S <= TILE: the bf16 rows */
  EV_XQ_X,         /* S > TILE: xq's bf16 values */
  EV_WQKV_WEIGHTS, /* low 16 B, high 16 B, code of each step */
  EV_XQ_STORE,     /* x8 and x8s, sc1 */
  EV_XRDY_PUT,
  EV_KT_LOAD,
  EV_KT_STORE,
  EV_POS,
  EV_WQB_WEIGHTS,
  EV_XRDY_POLL,
  EV_X8_ROWS,
  EV_QKVP_PUT,
  EV_QKV_LOAD, /* qkv's small loads: norm weights, pos, slot */
  EV_QKV_ROPE, /* its cos and sin: may follow the poll's first loads */
  EV_QKVP_POLL,
  EV_QR_STORE,  /* index: qr_out */
  EV_QX8_STORE, /* qx8 and qx8s, sc1 */
  EV_QRDY_PUT,
  EV_KV_STORE, /* the record, 64-bit addresses */
  EV_WQB_ROPE, /* the epilogue's cos and sin */
  EV_QRDY_POLL,
  EV_QX8_ROWS,
  EV_Q_STORE,
  EV_DONE,        /* atomic */
  EV_EPOCH_STORE, /* store, sc1 */
  EV_GUARD_LOOK,  /* guard, in a poll's loop: status and budget; instance: the poll */
  EV_GUARD_SCAN,  /* guard, a wave that gave up: looks for the missing pair */
  EV_GUARD_CLAIM, /* atomic: the status word */
  EV_GUARD_RECORD,
  ISSUE_EVENTS
};

enum issue_kind { ISSUE_LOAD, ISSUE_STORE, ISSUE_ATOMIC };

struct issue_row {
  enum issue_event event;
  enum issue_kind kind;
  uint16_t instance; /* tile, task or round the row is for; 0 where there is one */
  uint16_t count;    /* instructions of this row in the kernel, exactly */
  uint16_t group;    /* rows of one group have no order among each other; group numbers rise in issue order */
  bool sc1;          /* device scope: the cache bits must be exactly this (sc1 and nothing else, or nothing; an atomic may have sc0) */
  bool global;       /* a 64-bit address instead of a buffer */
  bool all;          /* executed by every wave of every workgroup: it dominates the kernel's end */
  bool poll;         /* stands in a loop of its own, with a sleep before it goes round */
  bool loop;         /* stands in a loop all the same */
};

enum { ISSUE_ROWS_MAX = 160 };

/* The rows of a plan in issue order. Returns their number (<= ISSUE_ROWS_MAX). */
uint32_t issue_rows(const struct plan *plan, struct issue_row rows[ISSUE_ROWS_MAX]);

/* The name of an event, for messages: "wqkv weights". */
const char *issue_event_name(enum issue_event event);

#endif
