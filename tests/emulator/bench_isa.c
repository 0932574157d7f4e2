/* SPDX-License-Identifier: Apache-2.0 */
/* How fast instructions execute on one core: plain vector arithmetic, a typical mixture, scaled MFMA. It prints, and judges nothing. */
#include <stdio.h>
#include <time.h>

#include "isa_rig.h"

static const char *const lines[] = {"v_add_f32 v0, v1, v2", "v_mul_f32 v3, v4, v5", "v_and_b32 v6, v7, v8",
    "v_lshl_add_u32 v9, v10, v11, v12", "v_fma_f32 v13, v14, v15, v16", "v_max_f32 v17, v18, v19", "v_cndmask_b32 v20, v21, v22, vcc",
    "v_add_u32 v23, v24, v25", "v_add_f32 v0, s0, v2", "v_cmp_lt_f32 vcc, v4, v5",
    "v_mov_b32_dpp v6, v7 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", "ds_read_b32 v9, v10", "v_mul_f32_e64 v13, |v14|, -v15",
    "s_add_u32 s4, s5, s6", "v_cvt_pk_fp8_f32 v17, v18, v19", "v_maximum3_f32 v20, v21, v22, v23",
    "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21 op_sel_hi:[0,0,0]"};

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* `length` instructions from `first` on, again and again. */
static void measure(struct rig *r, const char *what, uint32_t first, uint32_t length, uint32_t times) {
  double start = seconds();
  for (uint32_t i = 0; i < times; i++) {
    r->wave->pc = first;
    if (wave_run(r->wave, length) == WAVE_FAULT) fail_msg("%s", r->wave->fault);
  }
  printf("%-20s %8.2f million a second\n", what, 1e-6 * length * times / (seconds() - start));
}

int main(void) {
  struct rig *r = rig_open("gfx950", lines, sizeof lines / sizeof lines[0]);
  for (uint32_t i = 0; i < 26; i++)
    for (int l = 0; l < 64; l++)
      r->wave->v[i].w[l] = i == 20 || i == 21 ? 127 : i == 10 ? 4 * (uint32_t)l : 0x3F800000 + i * 64 + (uint32_t)l;
  measure(r, "vector arithmetic", 0, 8, 4000000);
  measure(r, "a mixture", 8, 8, 2000000);
  measure(r, "scaled MFMA", 16, 1, 200000);
  rig_close(r);
  return 0;
}
