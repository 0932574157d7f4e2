/* SPDX-License-Identifier: Apache-2.0 */
/* Strict mode: one launch executed by one host thread, with delayed stores, stale caches, a scoreboard of waits and a shadow that knows
   what was never written. docs/memory-model.md has the rules and their sources. Everything here lives for one launch. */
#ifndef EMULATOR_STRICT_H
#define EMULATOR_STRICT_H

#include "decode.h"
#include "finding.h"
#include "loader.h"
#include "memory.h"
#include "quantum.h"
#include "start.h"
#include "strict_lines.h"

/* --- an instruction, as strict mode sees it (strict_inst.c) ------------------------------------------------------------------- */

enum strict_kind {
  KIND_OTHER, /* only registers */
  KIND_LOAD,
  KIND_LOAD_LDS,
  KIND_STORE,
  KIND_ATOMIC,
  KIND_WBL2,
  KIND_INV,
  KIND_SCALAR_LOAD,
  KIND_CLOCK,
  KIND_SCALAR_INV,
  KIND_LDS_READ,
  KIND_LDS_WRITE,
  KIND_LDS_ATOMIC,
  KIND_LDS_LANES, /* through its crossbar, not its memory */
  KIND_WAIT,
  KIND_BARRIER,
  KIND_END
};

/* How results depend on what was never written. */
enum strict_flow {
  FLOW_ANY, /* any source taints the whole result */
  FLOW_NONE,
  FLOW_AND,
  FLOW_OR,
  FLOW_XOR,
  FLOW_MOVE,
  FLOW_SELECT,
  FLOW_SAVEEXEC,
  FLOW_COMPARE,
  FLOW_PERM,
  FLOW_READLANE,
  FLOW_WRITELANE,
  FLOW_SWAP,
  FLOW_SWAP16,
  FLOW_SWAP32,
  FLOW_MFMA,
  FLOW_LOW_WORD,  /* the result's low word depends on the sources' low words alone */
  FLOW_WORDS,     /* a word depends on the same word of the sources */
  FLOW_PAIRS,     /* ... on that which op_sel says */
  FLOW_PAIR_MOVE, /* ... of one source alone */
  FLOW_BRANCH_SCC,
  FLOW_BRANCH_VCC,
  FLOW_JUMP,
  FLOW_MEMORY
};

struct reg_range {
  uint16_t reg;
  uint8_t words;
  uint8_t source; /* index in inst.src */
};

enum { STRICT_READS = 5 };

struct strict_inst {
  uint8_t kind; /* enum strict_kind */
  uint8_t flow; /* enum strict_flow */
  uint8_t flip; /* FLOW_AND, FLOW_OR: 1: the second source is inverted, 2: the result is */
  uint8_t vreads, sreads;
  bool two;      /* LDS: two places, `offset` and `offset1` */
  uint8_t bytes; /* LDS: of one place */
  bool writes_scc;
  struct reg_range vread[STRICT_READS], sread[STRICT_READS];
};

/* NULL: host memory is short. Free with free(). */
struct strict_inst *strict_inst_table(const struct program *program);

/* --- a wave -------------------------------------------------------------------------------------------------------------------- */

enum pending_kind { PENDING_LOAD, PENDING_STORE, PENDING_LOAD_LDS, PENDING_LDS, PENDING_SCALAR };

struct pending {
  uint32_t inst, time;
  uint32_t lds; /* PENDING_LOAD_LDS: the first byte of 256 */
  uint16_t reg;
  uint8_t words; /* 0: no register is loaded */
  uint8_t kind;
};

enum { PENDING_MAX = 256 };

/* What a counter counts, in issue order. */
struct pending_queue {
  struct pending op[PENDING_MAX];
  uint32_t first, count;
};

struct strict_wave {
  struct strict_group *group;
  /* Lanes of a register, bits of a scalar that were never written, and the instruction that says so (plus 1; 0: no instruction). */
  uint64_t undef[2 * VGPRS];
  uint32_t origin[2 * VGPRS];
  uint32_t sundef[SREGS];
  uint32_t sorigin[SREGS];
  uint32_t scc_origin;
  bool scc_undef;
  /* Outstanding loads of a register. */
  uint8_t by_vm[2 * VGPRS], by_lgkm[2 * VGPRS], by_scalar[SREGS];
  uint32_t vector_pending, scalar_pending; /* their sums */
  struct pending_queue vm, lgkm;
  uint32_t scalar_loads;            /* in lgkm */
  uint32_t lds_loads;               /* loads to LDS, in vm */
  uint32_t first_store, last_store; /* delayed stores in issue order */
  uint32_t barrier_time;            /* group->lds_from, once the barrier is passed */
  uint32_t barrier_inst;
  uint32_t barrier_complete; /* its stores up to this time were complete when it came to the barrier, or ended */
  uint64_t start_exec;
};

/* A dword of LDS, or 16 bytes: the last write and the last read. */
struct lds_cell {
  uint32_t write_time, writer; /* time 0: never, LDS_SPLIT: see the dwords; cell_access() */
  uint32_t read_time, reader;
};

struct strict_group {
  struct strict *strict;
  struct slot *slot;
  uint32_t cu; /* on the device: XCD after XCD */
  uint32_t xcd;
  struct strict_wave *wave;           /* of each wave of the slot */
  struct lds_cell *quad;              /* of each 16 bytes of LDS, while its dwords are all alike ... */
  struct lds_cell *cell;              /* ... of each dword, once they are not */
  uint8_t *unset;                     /* by dword: which of its bytes were never written */
  uint32_t lds_from[GROUP_WAVES_MAX]; /* by wave: its LDS accesses from this time on are not ordered against other waves' */
  uint8_t lag[GROUP_WAVES_MAX];       /* rounds that a wave has yet to sit out */
  uint32_t run_in;                    /* rounds that the workgroup sits out */
};

/* --- a launch ------------------------------------------------------------------------------------------------------------------ */

struct strict {
  struct hsa_emu_strict options;
  const struct start *start;
  const struct strict_inst *inst; /* by index */
  struct strict_inst *table;
  struct findings findings;
  uint64_t random;
  uint32_t time;              /* memory instructions issued so far, from 1 */
  struct strict_group *group; /* by place */
  uint32_t groups;
  uint32_t *on_cu; /* workgroups on a CU */
  uint8_t *arena;
  uint64_t arena_bytes;
  struct lines lines;
  /* What is being executed. */
  struct wave *wave;
  const struct inst *in;
  uint32_t opened[LANES_A_WAVE], openeds; /* delayed stores of this instruction */
  uint32_t event;                         /* its entry in lines.event, 0: not yet made */
  struct line_mark *mark;                 /* the line that its last lane has read, in lines.region[mark_region]; NULL: none */
  uint64_t mark_number;
  uint32_t mark_region;
  uint32_t looked; /* the store whose order look_back() has last found good */
  bool short_of_memory;
  bool idle; /* nothing happened in the last round */
  /* How this seed behaves. */
  uint32_t longest_turn, skip, lag, drain, newest_first, evict;
};

/* NULL: host memory is short. The slots are the launch's places. */
struct strict *strict_create(const struct hsa_emu_strict *options, const struct start *start, const struct model *model,
    struct memory *memory, struct slot *slots, uint32_t count);
void strict_destroy(struct strict *st);

/* A workgroup takes the place over: nothing is written yet. After start_workgroup(). */
void strict_begin_group(struct strict *st, struct slot *slot);

/* It has ended: its CU has room. */
void strict_end_group(struct slot *slot);

/* As wave_run(). */
enum wave_stop strict_run(struct wave *w, uint64_t budget);

/* A round: every workgroup gets a turn, in random order and of random length. `idle`: rounds without progress. */
void strict_round(struct strict *st, struct quantum *q, uint64_t idle);

/* Everything that is delayed becomes visible, all caches are written back: the packet's release fence. */
void strict_end(struct strict *st);

uint64_t strict_random(struct strict *st);
/* 0 .. n - 1 */
uint32_t strict_below(struct strict *st, uint32_t n);

/* --- shadow (strict_undef.c), LDS (strict_lds.c), barriers (strict_barrier.c) ------------------------------------------------------ */

void strict_undef_begin(struct strict_wave *sw, struct wave *w, const struct start *start);
/* Before an instruction is executed: reports uses that matter; and what its results will be. */
void strict_undef_step(struct strict_wave *sw, struct wave *w, const struct inst *in, const struct strict_inst *si);
/* A load's result: `lanes` were loaded from what was never written. */
void strict_undef_loaded(struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t word, uint64_t lanes);

/* A lane's dword of the load that is executed, or a scalar load's, was never written in memory. */
void strict_undef_memory(struct strict_wave *sw, const struct wave *w, const struct inst *in, uint32_t word, uint32_t lane);

void strict_lds_begin(struct strict_group *g, uint32_t bytes);
void strict_lds_step(struct strict_wave *sw, struct wave *w, const struct inst *in, const struct strict_inst *si);
/* One lane's bytes of LDS are written (or read) other than by a DS instruction. */
void strict_lds_touch(
    struct strict_wave *sw, struct wave *w, const struct inst *in, uint32_t lane, uint64_t at, uint32_t bytes, bool write);

void strict_barrier(struct strict_wave *sw, struct wave *w, const struct inst *in);
/* All waves of the slot that have not ended are at a barrier and go on. */
void strict_barrier_passed(struct strict_group *g);

/* --- findings (strict_report.c) ----------------------------------------------------------------------------------------------------- */

/* Where this instruction of this wave stands. Lane LANE_NONE: the whole wave; an instruction of lanes names its first active one. */
struct hsa_emu_party strict_party(const struct strict *st, const struct wave *w, const struct inst *in, uint32_t lane);
struct hsa_emu_party strict_party_of(const struct strict *st, uint32_t group, uint32_t wave, uint32_t lane, uint32_t inst);

/* "what" follows the party's place, and `other`'s place (if it is not null) follows "what". */
__attribute__((format(printf, 6, 7))) void strict_found(struct strict *st, enum hsa_emu_finding_kind kind, struct hsa_emu_party at,
    uint64_t address, const struct hsa_emu_party *other, const char *what, ...);

#endif
