/* SPDX-License-Identifier: Apache-2.0 */
/* Strict mode's tests: a kernel with a fault that must be found, by name, within some seeds, and the same kernel without it, which must be
   clean under all of them. One thread. */
#ifndef TESTS_STRICT_RIG_H
#define TESTS_STRICT_RIG_H

#include "emu_support.h"

enum { STRICT_SEEDS = 12, STRICT_MEMORY = 4096, STRICT_TEXTS = 6 };

struct strict_case {
  const char *body; /* assembly; "FAULT" lines are in the faulty kernel only, "RIGHT" ones in the right one only (rest of the line) */
  uint32_t groups, size, lds_bytes;
  enum hsa_emu_l2 l2;
  enum hsa_emu_finding_kind kind;
  bool hangs;                     /* the faulty kernel may also end as a deadlock */
  const char *text[STRICT_TEXTS]; /* all of them are in the finding's text */
};

/* Pointers in s[4:5] (data), s[6:7] (flags), s[8:9] (results), each of STRICT_MEMORY bytes; v1 = 4 times the work-item id. */
#define STRICT_START                                                                                                                       \
  "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dwordx2 s[8:9], s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v1, 2, v0\n"               \
  "v_mov_b32 v20, 0\nv_mov_b32 v21, 1\n"
/* Until the flag at v20 in s[6:7] is 1, looked at with these modifiers. */
#define STRICT_POLL(mods)                                                                                                                  \
  "1:\nglobal_load_dword v22, v20, s[6:7] " mods "\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s10, v22\ns_cmp_eq_u32 s10, 1\n"               \
  "s_cbranch_scc1 2f\ns_sleep 1\ns_branch 1b\n2:\n"

int strict_open(void **state);
int strict_close(void **state);

/* Both kernels of a case, as its comment says. */
void strict_check(const struct strict_case *c);

/* The kernel of a case. The caller frees it. */
struct emu_kernel strict_kernel(const struct strict_case *c, bool faulty);
/* One launch of it under a seed; 0, or the queue's error. Findings are those of this launch. */
int strict_launch(const struct strict_case *c, struct emu_kernel *k, uint64_t seed);
int plain_launch(const struct strict_case *c, struct emu_kernel *k); /* ... in functional mode */
/* Text of the first finding of a kind, or null. Static storage. */
const char *strict_finding(enum hsa_emu_finding_kind kind, struct hsa_emu_finding *finding);

#endif
