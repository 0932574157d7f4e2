/* SPDX-License-Identifier: Apache-2.0 */
/* corpus_matrix GPU LEVEL: every dense matrix intrinsic, its operands loaded and its result stored lane by lane, as llc makes it (with
   AGPRs where it likes), against the published layouts. The f8f6f4 forms with every pair of formats, scaled and not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus_build.h"
#include "host_math.h"
#include "mfma_layout.h"

enum { LANES = 64, A_WORD = 0, B_WORD = 16, C_WORD = 32, LANE_WORDS = 64, MATRIX_MAX = 128 };

struct form {
  const char *intrinsic, *layout, *a, *b, *d; /* IR types */
  const char *gpu;                            /* null: both */
};

static const struct form forms[] = {
#define BOTH(intrinsic, layout, a, b, d)      {intrinsic, layout, a, b, d, NULL},
#define ONLY(gpu, intrinsic, layout, a, b, d) {intrinsic, layout, a, b, d, gpu},
#include "matrix.def"
#undef BOTH
#undef ONLY
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static struct matrix_kernel {
  char name[64];
  const struct form *form;
  const struct layout *layout;
  int cbsz, blgp;
  bool scaled;
} kernels[MATRIX_MAX];
static size_t count;
static u32 *device;
static bool fnuz;
static double side[2][16][32][128], c_side[16][32][32];

/* --- IR
 * ----------------------------------------------------------------------------------------------------------------------------------- */

static bool is_f8f6f4(const struct matrix_kernel *k) { return strstr(k->form->intrinsic, "f8f6f4") != NULL; }

static void print_kernel(FILE *f, const struct matrix_kernel *k) {
  const struct form *m = k->form;
  fprintf(f,
      "define amdgpu_kernel void @%s(ptr addrspace(1) %%p) #0 {\n%%l = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "%%a.p = getelementptr [64 x i32], ptr addrspace(1) %%p, i32 %%l\n%%b.p = getelementptr i32, ptr addrspace(1) %%a.p, i32 16\n"
      "%%c.p = getelementptr i32, ptr addrspace(1) %%a.p, i32 32\n%%a = load %s, ptr addrspace(1) %%a.p\n%%b = load %s, ptr addrspace(1) "
      "%%b.p\n"
      "%%c = load %s, ptr addrspace(1) %%c.p\n%%out = getelementptr i8, ptr addrspace(1) %%p, i32 16384\n"
      "%%d.p = getelementptr [32 x i32], ptr addrspace(1) %%out, i32 %%l\n"
      "%%scales = getelementptr i8, ptr addrspace(1) %%p, i32 24576\n%%s.p = getelementptr [2 x i32], ptr addrspace(1) %%scales, i32 %%l\n"
      "%%sa = load i32, ptr addrspace(1) %%s.p\n%%t.p = getelementptr i32, ptr addrspace(1) %%s.p, i32 1\n%%sb = load i32, ptr "
      "addrspace(1) %%t.p\n",
      k->name, m->a, m->b, m->d);
  if (is_f8f6f4(k))
    fprintf(f, "%%d = call %s @%s(%s %%a, %s %%b, %s %%c, i32 %d, i32 %d, i32 %d, i32 %s, i32 %d, i32 %s)\n", m->d, m->intrinsic, m->a,
        m->b, m->d, k->cbsz, k->blgp, k->scaled ? 1 : 0, k->scaled ? "%sa" : "0", k->scaled ? 2 : 0, k->scaled ? "%sb" : "0");
  else
    fprintf(f, "%%d = call %s @%s(%s %%a, %s %%b, %s %%c, i32 %d, i32 0, i32 0)\n", m->d, m->intrinsic, m->a, m->b, m->d, k->cbsz);
  fprintf(f, "store %s %%d, ptr addrspace(1) %%d.p\nret void\n}\n", m->d);
}

static char *module_text(void) {
  char *text = NULL;
  size_t bytes;
  FILE *f = open_memstream(&text, &bytes);
  assert_non_null(f);
  fprintf(f, "declare i32 @llvm.amdgcn.workitem.id.x()\nattributes #0 = {\"amdgpu-flat-work-group-size\"=\"64,64\"}\n");
  for (size_t i = 0; i < count; i++) print_kernel(f, &kernels[i]);
  fclose(f);
  return text;
}

static void add(const struct form *m, const char *suffix, int cbsz, int blgp, bool scaled) {
  struct matrix_kernel *k = &kernels[count++];
  assert_true(count <= MATRIX_MAX);
  snprintf(k->name, sizeof k->name, "%s%s", m->layout, suffix);
  k->form = m, k->layout = layout_named(m->layout), k->cbsz = cbsz, k->blgp = blgp, k->scaled = scaled;
  if (!k->layout) fail_msg("%s has no layout", m->layout);
}

static void list_kernels(void) {
  char suffix[16];
  for (size_t i = 0; i < FORMS; i++) {
    const struct form *m = &forms[i];
    if (m->gpu && strcmp(m->gpu, corpus_cpu) != 0) continue;
    if (!strstr(m->intrinsic, "f8f6f4")) {
      add(m, "", 0, 0, false);
      continue;
    }
    for (int pair = 0; pair < 25; pair++) {
      snprintf(suffix, sizeof suffix, "_%d_%d", pair / 5, pair % 5);
      add(m, suffix, pair / 5, pair % 5, pair % 2 == 0);
    }
  }
}

/* --- elements
 * --------------------------------------------------------------------------------------------------------------------------------- */

static const int widths[] = {8, 8, 6, 6, 4};

/* Codes of 0, 1, 2, 3, 4 in e4m3, e5m2, e2m3, e3m2, e2m1. */
static const u32 small_codes[5][5] = {
    {0, 0x38, 0x40, 0x44, 0x48}, {0, 0x3C, 0x40, 0x42, 0x44}, {0, 8, 16, 20, 24}, {0, 12, 16, 18, 20}, {0, 2, 4, 5, 6}};

static void put_bits(u32 *words, u32 at, u32 bits, u64 code) {
  for (u32 i = 0; i < bits; i++) words[(at + i) / 32] |= (u32)(code >> i & 1) << ((at + i) % 32);
}

/* Where element k of row i of an f8f6f4 operand lies: two runs of 16 K of 8 bits a lane, or one run of 32. */
static void put_f8f6f4(const struct layout *l, u32 *words, int s, int format, int i, int k, int v) {
  u32 width = (u32)widths[format], code = small_codes[format][abs(v)] | (v < 0 ? 1u << (width - 1) : 0);
  u32 bit = width == 8 ? (u32)(k / (l->k / 2) * 128 + k % 16 * 8) : (u32)(k % 32) * width;
  u32 lane = (u32)(width == 8 ? l->m * (k / 16 % (64 / l->m)) + i : l->m * (k / 32) + i);
  put_bits(words + lane * LANE_WORDS + (s ? B_WORD : A_WORD), bit, width, code);
}

static u64 mixed(u64 v) {
  v = (v ^ v >> 31) * UINT64_C(0x9E3779B97F4A7C15);
  return v ^ v >> 29;
}

static int scale_code(int s, int lane) { return 124 + (lane * (s ? 3 : 5)) % 7; }

static void fill_side(const struct matrix_kernel *k, int s) {
  const struct layout *l = k->layout;
  for (int block = 0; block < l->blocks; block++)
    for (int i = 0; i < (s ? l->n : l->m); i++)
      for (int kk = 0; kk < l->k; kk++) {
        int v = (int)(mixed((u64)(((s * 16 + block) * 32 + i) * 128 + kk) * 7919 + count) % 9) - 4;
        side[s][block][i][kk] = k->scaled ? ldexp(v, scale_code(s, l->m * (kk / 32) + i) - 127) : v;
        if (is_f8f6f4(k)) {
          put_f8f6f4(l, device, s, s ? k->blgp : k->cbsz, i, kk, v);
          continue;
        }
        struct place p = s ? place_of(l->b_gpr, l->b_lane, (struct formula){NULL, i, i, kk, block})
                           : place_of(l->a_gpr, l->a_lane, (struct formula){NULL, i, i, kk, block});
        put_bits(device + p.lane * LANE_WORDS + (s ? B_WORD : A_WORD), (u32)(32 * p.reg + p.bit), (u32)p.bits,
            small_code(layout_type(l, s), v, fnuz));
      }
}

static u64 result_code(const struct layout *l, double v) {
  return strncmp(l->name, "v_mfma_i32", 10) == 0 ? (u32)(i32)v : strncmp(l->name, "v_mfma_f64", 10) == 0 ? db(v) : fb((float)v);
}

static void fill_c(const struct layout *l) {
  for (int block = 0; block < l->blocks; block++)
    for (int i = 0; i < l->m; i++)
      for (int j = 0; j < l->n; j++) {
        struct place p = place_of(l->d_gpr, l->d_lane, (struct formula){NULL, i, j, 0, block});
        c_side[block][i][j] = (double)(mixed((u64)((block * 32 + i) * 32 + j)) % 1000);
        put_bits(device + p.lane * LANE_WORDS + C_WORD, (u32)(32 * p.reg), (u32)p.bits, result_code(l, c_side[block][i][j]));
      }
}

static void check(const struct layout *l) {
  for (int block = 0; block < l->blocks; block++)
    for (int i = 0; i < l->m; i++)
      for (int j = 0; j < l->n; j++) {
        struct place p = place_of(l->d_gpr, l->d_lane, (struct formula){NULL, i, j, 0, block});
        const u32 *at = device + 4096 + p.lane * 32 + p.reg;
        u64 got = at[0] | (p.bits == 64 ? (u64)at[1] << 32 : 0);
        double want = c_side[block][i][j];
        for (int k = 0; k < l->k; k++) want += side[0][block][i][k] * side[1][block][j][k];
        if (got != result_code(l, want))
          fail_msg("block %d row %d column %d: wanted %g, got %llx", block, i, j, want, (unsigned long long)got);
      }
}

static void a_matrix_product_is_laid_out_as_published(void **state) {
  const struct matrix_kernel *k = *state;
  struct emu_kernel kernel;
  void *args = device;
  memset(device, 0, 32768);
  for (int s = 0; s < 2; s++) fill_side(k, s);
  fill_c(k->layout);
  for (int l = 0; l < LANES; l++) {
    device[6144 + 2 * l] = (u32)scale_code(0, l) << 8 | 0xAB0000CD;      /* byte 1 is A's */
    device[6144 + 2 * l + 1] = (u32)scale_code(1, l) << 16 | 0xAB0000CD; /* byte 2 is B's */
  }
  if (!corpus_kernel_named(k->name, &kernel)) fail_msg("%s is not in its code object", k->name);
  if (gpu_launch(&gpu, &kernel, 1, LANES, &args, sizeof args)) fail_msg("%s", gpu_report());
  check(k->layout);
}

static int set_up(void **state) {
  (void)state;
  corpus_open();
  char *ir = module_text();
  corpus_load_ir("matrix", ir);
  free(ir);
  device = gpu_memory(&gpu, 32768);
  return 0;
}

int main(int argc, char **argv) {
  static struct CMUnitTest tests[MATRIX_MAX];
  if (!corpus_arguments(argc, argv, "corpus_matrix", "")) return 2;
  fnuz = strcmp(corpus_cpu, "gfx950") != 0;
  read_layouts("tests/oracles/mfma_cdna3.tsv");
  read_layouts("tests/oracles/mfma_cdna4.tsv");
  list_kernels();
  for (size_t i = 0; i < count; i++)
    tests[i] = (struct CMUnitTest){kernels[i].name, a_matrix_product_is_laid_out_as_published, NULL, NULL, &kernels[i]};
  return _cmocka_run_group_tests("matrix products are laid out as published", tests, count, set_up, corpus_tear_down);
}
