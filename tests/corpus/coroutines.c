/* SPDX-License-Identifier: Apache-2.0 */
/* A workgroup on this machine: its work-items are coroutines that run from one barrier to the next, in order. */
#include "coroutines.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK_BYTES = 64 << 10, WAVES = CORPUS_ITEMS / CORPUS_WAVE };

struct meeting {
  u32 arrived, passed, wanted;
};

static ucontext_t scheduler, context[CORPUS_ITEMS];
static bool ended[CORPUS_ITEMS];
static u32 now, now_group, left;
static struct meeting everybody, wave_meeting[WAVES];
static u32 left_behind[2][CORPUS_ITEMS], exchanges[WAVES];
static corpus_kernel *kernel;
static const u32 *kernel_in;
static u32 *kernel_out, kernel_n;

u32 item(void) { return now; }
u32 group(void) { return now_group; }

static void meet(struct meeting *m) {
  u32 before = m->passed, me = now;
  if (++m->arrived == m->wanted) m->arrived = 0, m->passed++;
  while (m->passed == before) swapcontext(&context[me], &scheduler);
}

void barrier(void) { meet(&everybody); }

const u32 *exchange(u32 v) {
  u32 wave = now / CORPUS_WAVE, turn = exchanges[wave] & 1;
  left_behind[turn][now] = v;
  if (wave_meeting[wave].arrived + 1 == CORPUS_WAVE) exchanges[wave]++;
  meet(&wave_meeting[wave]);
  return left_behind[turn] + wave * CORPUS_WAVE;
}

static void start(void) {
  kernel(kernel_in, kernel_out, kernel_n);
  ended[now] = true;
}

void run_on_host(corpus_kernel *f, const u32 *in, u32 *out, u32 n) {
  char *stacks = malloc((size_t)CORPUS_ITEMS * STACK_BYTES);
  if (!stacks) abort();
  kernel = f, kernel_in = in, kernel_out = out, kernel_n = n;
  for (now_group = 0; now_group < CORPUS_GROUPS; now_group++) {
    left = CORPUS_ITEMS;
    everybody = (struct meeting){.wanted = CORPUS_ITEMS};
    for (u32 w = 0; w < WAVES; w++) wave_meeting[w] = (struct meeting){.wanted = CORPUS_WAVE};
    memset(ended, 0, sizeof ended);
    for (u32 i = 0; i < CORPUS_ITEMS; i++) {
      getcontext(&context[i]);
      context[i].uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
      context[i].uc_stack.ss_size = STACK_BYTES;
      context[i].uc_link = &scheduler;
      makecontext(&context[i], start, 0);
    }
    while (left)
      for (now = 0; now < CORPUS_ITEMS; now++) {
        if (ended[now]) continue;
        swapcontext(&scheduler, &context[now]);
        left -= ended[now];
      }
  }
  free(stacks);
}
