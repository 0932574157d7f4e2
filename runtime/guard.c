/* SPDX-License-Identifier: Apache-2.0 */
/* A guard record in words. The record's layout is DESIGN section 7's; a pair's place in its region is section 4's. */
#include "guard.h"

#include <stdio.h>

#include "scratch.h"
#include "status.h"

enum record_word { WORD_STATUS, WORD_STAGE, WORD_WORKGROUP, WORD_WAVE, WORD_PAIR, WORD_SEEN, WORD_TAG };
enum guard_stage { STAGE_XRDY = 1, STAGE_QKVP, STAGE_QRDY };

/* A flag's index within its copy; `*copy` is -1 where there is one only. */
static uint32_t within_copy(const struct front_kernel_info *kernel, uint32_t pair, uint32_t flags, int *copy) {
  *copy = kernel->tuned ? (int)(pair / flag_copy_stride(flags)) : -1;
  return kernel->tuned ? pair % flag_copy_stride(flags) : pair;
}

static void describe_pair(const struct front_kernel_info *kernel, uint32_t stage, uint32_t pair, char *text, size_t bytes) {
  int copy = -1;
  if (stage == STAGE_QKVP) {
    uint32_t row = pair / QKV_ROWS;
    snprintf(text, bytes, "qkvp (token %u, K half %u, row %u)", row % kernel->tokens, row / kernel->tokens, pair % QKV_ROWS);
    return;
  }
  if (stage != STAGE_XRDY && stage != STAGE_QRDY) {
    snprintf(text, bytes, "%u, which this library does not know", stage);
    return;
  }
  uint32_t flags = (stage == STAGE_XRDY ? K_HALVES : 1) * kernel->tokens;
  uint32_t flag = within_copy(kernel, pair, flags, &copy);
  int used = stage == STAGE_XRDY ? snprintf(text, bytes, "xrdy (token %u, K half %u", flag / K_HALVES, flag % K_HALVES)
                                 : snprintf(text, bytes, "qrdy (token %u", flag);
  if (copy >= 0) used += snprintf(text + used, bytes - (size_t)used, ", copy %d", copy);
  snprintf(text + used, bytes - (size_t)used, ")");
}

enum front_status guard_read(const struct front_kernel_info *kernel, const uint32_t words[GUARD_RECORD_WORDS]) {
  if (!words[WORD_STATUS]) return FRONT_OK;
  char stage[96];
  describe_pair(kernel, words[WORD_STAGE], words[WORD_PAIR], stage, sizeof stage);
  return status_fail(FRONT_ERR_TIMEOUT,
      "%s: workgroup %u, wave %u waited longer than the budget in stage %s: pair %u has tag %u, tag %u was wanted: outputs are incomplete",
      kernel->name, words[WORD_WORKGROUP], words[WORD_WAVE], stage, words[WORD_PAIR], words[WORD_SEEN], words[WORD_TAG]);
}
