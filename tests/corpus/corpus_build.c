/* SPDX-License-Identifier: Apache-2.0 */
#include "corpus_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain_config.h"

enum { LOADED_MAX = 8 };

const char *corpus_cpu, *corpus_level;
static hsa_executable_t executable[LOADED_MAX];
static size_t loaded;
static const char *dir;
static char mcpu[32], level_flag[8];

static void tool(const char *const argv[]) {
  struct outcome o = run_argv(argv, NULL);
  if (o.code) fail_msg("%s: %.2000s", argv[0], o.err);
  outcome_free(&o);
}

bool corpus_arguments(int argc, char **argv, const char *program, const char *more) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s gfx950|gfx942 LEVEL%s\n", program, more);
    return false;
  }
  corpus_cpu = argv[1], corpus_level = argv[2];
  return true;
}

void corpus_open(void) {
  dir = temp_dir();
  snprintf(mcpu, sizeof mcpu, "-mcpu=%s", corpus_cpu);
  snprintf(level_flag, sizeof level_flag, "-O%s", corpus_level);
  setenv("FRONT_EMU_DEVICE", corpus_cpu, 1);
  gpu_open(&gpu);
}

int corpus_tear_down(void **state) {
  (void)state;
  while (loaded) hsa_executable_destroy(executable[--loaded]);
  gpu_close(&gpu);
  return 0;
}

static void load(const char *path) {
  size_t bytes;
  char *image = read_file(path, &bytes);
  hsa_code_object_reader_t reader;
  hsa_executable_t *e = &executable[loaded++];
  assert_true(loaded <= LOADED_MAX);
  assert_int_equal(hsa_code_object_reader_create_from_memory(image, bytes, &reader), HSA_STATUS_SUCCESS);
  assert_int_equal(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, e), HSA_STATUS_SUCCESS);
  if (hsa_executable_load_agent_code_object(*e, gpu.agent, reader, NULL, NULL)) fail_msg("%s", gpu_report());
  assert_int_equal(hsa_executable_freeze(*e, NULL), HSA_STATUS_SUCCESS);
  hsa_code_object_reader_destroy(reader);
  free(image);
}

static void build(const char *name, const char *ir) {
  char path[512];
  const char *keep = getenv("CORPUS_KEEP"), *object = path_in(dir, "kernels.o");
  snprintf(path, sizeof path, "%s/%s.%s.O%s.hsaco", keep ? keep : dir, name, corpus_cpu, corpus_level);
  const char *const back[] = {
      LLC_PATH, "-mtriple=amdgcn-amd-amdhsa", level_flag, mcpu, "-filetype=obj", "-relocation-model=pic", ir, "-o", object, NULL};
  const char *const link[] = {LLD_PATH, "-shared", object, "-o", path, NULL};
  tool(back);
  tool(link);
  load(path);
}

void corpus_load_c(const char *file) {
  char source[128];
  const char *ir = path_in(dir, "kernels.bc");
  snprintf(source, sizeof source, "tests/corpus/%s.c", file);
  const char *const front[] = {CLANG_PATH, "-target", "amdgcn-amd-amdhsa", mcpu, "-std=gnu11", level_flag, "-ffreestanding", "-nogpulib",
      "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-mcode-object-version=5", "-c", "-emit-llvm", source_path(source), "-o", ir,
      NULL};
  tool(front);
  build(file, ir);
}

void corpus_load_ir(const char *name, const char *ir) {
  const char *path = path_in(dir, "kernels.ll");
  write_file(path, ir, strlen(ir));
  build(name, path);
}

bool corpus_kernel_named(const char *name, struct emu_kernel *k) {
  char symbol_name[64];
  hsa_executable_symbol_t symbol;
  snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
  for (size_t i = 0; i < loaded; i++) {
    if (hsa_executable_get_symbol_by_name(executable[i], symbol_name, &gpu.agent, &symbol) != HSA_STATUS_SUCCESS) continue;
    k->executable = executable[i];
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k->object);
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &k->lds_bytes);
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k->private_bytes);
    return true;
  }
  return false;
}
