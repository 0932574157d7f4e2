/* SPDX-License-Identifier: Apache-2.0 */
/* corpus GPU LEVEL [KERNEL]: the corpus compiled by clang and llc at a level, run on the emulator, compared with this machine's. With
   CORPUS_KEEP=DIRECTORY the code objects stay there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coroutines.h"
#include "corpus_build.h"
#include "emu_support.h"
#include "lane_models.h"

#define KERNEL(name, tolerance) corpus_kernel name;
#define GFX950(name, tolerance) corpus_kernel name;
#include "corpus.def"
#undef KERNEL
#undef GFX950

struct row {
  const char *name;
  corpus_kernel *run;
  double tolerance;
  bool gfx950;
};

static struct row rows[] = {
#define KERNEL(name, tolerance) {#name, name, (tolerance)*1e-6, false},
#define GFX950(name, tolerance) {#name, name, (tolerance)*1e-6, true},
#include "corpus.def"
};
enum { ROWS = sizeof rows / sizeof rows[0], FILES = 3 };

static const char *const files[FILES] = {"kernels_common", "kernels_scalar", "kernels_lanes"};
static u32 in[CORPUS_WORDS], want[CORPUS_WORDS];
static u32 *device_in, *device_out;

static bool near(u32 a, u32 b, double tolerance) {
  double x = (double)as_float(a), y = (double)as_float(b);
  return a == b || (tolerance > 0 && fabs(x - y) <= tolerance * (fabs(y) + 1e-3));
}

static void the_kernel_computes_what_this_machine_computes(void **state) {
  const struct row *row = *state;
  struct emu_kernel k;
  struct {
    const void *in;
    void *out;
    u32 n;
  } args = {device_in, device_out, 5};
  if (!corpus_kernel_named(row->name, &k)) fail_msg("%s is not in its code object", row->name);
  memset(want, 0, sizeof want);
  memset(device_out, 0, sizeof want);
  run_on_host(row->run, in, want, args.n);
  if (gpu_launch(&gpu, &k, CORPUS_GROUPS, CORPUS_ITEMS, &args, sizeof args)) fail_msg("%s", gpu_report());
  for (u32 i = 0; i < CORPUS_WORDS; i++)
    if (!near(device_out[i], want[i], row->tolerance))
      fail_msg("word %u: this machine has %08x (%g), the emulator %08x (%g)", i, want[i], (double)as_float(want[i]), device_out[i],
          (double)as_float(device_out[i]));
}

static int set_up(void **state) {
  (void)state;
  model_fnuz = strcmp(corpus_cpu, "gfx950") != 0;
  corpus_open();
  for (size_t i = 0; i < FILES; i++) corpus_load_c(files[i]);
  device_in = gpu_memory(&gpu, sizeof in);
  device_out = gpu_memory(&gpu, sizeof want);
  u64 random = 1;
  for (u32 i = 0; i < CORPUS_WORDS; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    in[i] = (u32)(random >> 32);
  }
  memcpy(device_in, in, sizeof in);
  return 0;
}

int main(int argc, char **argv) {
  static struct CMUnitTest tests[ROWS];
  size_t count = 0;
  if (!corpus_arguments(argc, argv, "corpus", " [KERNEL]")) return 2;
  for (size_t i = 0; i < ROWS; i++)
    if ((!rows[i].gfx950 || !strcmp(corpus_cpu, "gfx950")) && (argc < 4 || !strcmp(argv[3], rows[i].name)))
      tests[count++] = (struct CMUnitTest){rows[i].name, the_kernel_computes_what_this_machine_computes, NULL, NULL, &rows[i]};
  return _cmocka_run_group_tests("kernels compute what this machine computes", tests, count, set_up, corpus_tear_down);
}
