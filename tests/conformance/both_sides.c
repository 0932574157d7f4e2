/* SPDX-License-Identifier: Apache-2.0 */
/* Through opt, llc and lld twice: a code object for the emulator, a shared library for dlopen(). */
#include "both_sides.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "emu_support.h"
#include "toolchain_config.h"

enum { FUNCTIONS_MAX = 256, LANES_ALL = GROUPS * LANES };

struct compiled {
  hsa_executable_t executable;
  struct emu_kernel kernel[FUNCTIONS_MAX];
  host_function *host[FUNCTIONS_MAX];
  void *library;
};

static uint8_t *gpu_in, *gpu_out;
static const char *dir; /* for the tools' files */
static bool fnuz;

void device_open(enum print_target target) {
  setenv("FRONT_EMU_DEVICE", target == PRINT_GFX950 ? "gfx950" : "gfx942", 1);
  if (!dir) dir = temp_dir();
  gpu_open(&gpu);
  gpu_in = gpu_memory(&gpu, LANES_ALL * INPUT_BYTES);
  gpu_out = gpu_memory(&gpu, LANES_ALL * RECORD_BYTES);
  fnuz = target == PRINT_GFX942;
}

void device_close(void) { gpu_close(&gpu); }

const char *device_report(void) { return gpu_report(); }

/* --- compiling ---------------------------------------------------------------------------------------------------------------- */

static void write_module(const char *path, const struct program *const program[], uint32_t count, const struct target *t, bool host) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *f = open_memstream(&text, &bytes);
  assert_non_null(f);
  print_module(f, program, count, host ? PRINT_HOST : t->gpu, t->gpu, t->calls);
  fclose(f);
  write_file(path, text, bytes);
  free(text);
}

/* opt and llc at the level, lld. False: *error has what the failing tool said. Without machine-sink, as gen/ does: it takes loads past
   barriers, into blocks behind them. */
static bool compile(const char *source, const char *result, const char *triple, const char *cpu, int level, char **error) {
  const char *middle = path_in(dir, "middle.bc"), *object = path_in(dir, "module.o");
  char level_flag[8], triple_flag[64], cpu_flag[64];
  snprintf(level_flag, sizeof level_flag, "-O%d", level);
  snprintf(triple_flag, sizeof triple_flag, "-mtriple=%s", triple);
  snprintf(cpu_flag, sizeof cpu_flag, "-mcpu=%s", cpu);
  const char *const steps[][12] = {{OPT_PATH, level_flag, triple_flag, cpu_flag, source, "-o", middle, NULL},
      {LLC_PATH, level_flag, triple_flag, cpu_flag, "-relocation-model=pic", "-filetype=obj", "-disable-machine-sink", middle, "-o", object,
          NULL},
      {LLD_PATH, "-shared", object, "-o", result, NULL}};
  for (int i = 0; i < 3; i++) {
    struct outcome o = run_argv(steps[i], NULL);
    int code = o.code;
    if (code) *error = strdup(o.err);
    outcome_free(&o);
    if (code) return false;
  }
  return true;
}

static const char *host_cpu(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") ? "x86-64-v3" : "x86-64";
}

static void load_gpu(struct compiled *c, const char *path, uint32_t count) {
  size_t bytes;
  char *image = read_file(path, &bytes);
  hsa_code_object_reader_t reader;
  assert_int_equal(hsa_code_object_reader_create_from_memory(image, bytes, &reader), HSA_STATUS_SUCCESS);
  assert_int_equal(
      hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &c->executable), HSA_STATUS_SUCCESS);
  if (hsa_executable_load_agent_code_object(c->executable, gpu.agent, reader, NULL, NULL)) fail_msg("%s", gpu_report());
  assert_int_equal(hsa_executable_freeze(c->executable, NULL), HSA_STATUS_SUCCESS);
  hsa_code_object_reader_destroy(reader);
  free(image);
  for (uint32_t i = 0; i < count; i++) {
    char name[16];
    hsa_executable_symbol_t symbol;
    struct emu_kernel *k = &c->kernel[i];
    snprintf(name, sizeof name, "k%u.kd", i);
    assert_int_equal(hsa_executable_get_symbol_by_name(c->executable, name, &gpu.agent, &symbol), HSA_STATUS_SUCCESS);
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k->object);
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &k->kernarg_bytes);
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &k->lds_bytes);
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k->private_bytes);
  }
}

static void load_host(struct compiled *c, const char *path, uint32_t count) {
  c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!c->library) fail_msg("%s", dlerror());
  for (uint32_t i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "f%u", i);
    void *symbol = dlsym(c->library, name);
    assert_non_null(symbol);
    memcpy(&c->host[i], &symbol, sizeof symbol);
  }
}

struct compiled *compile_programs(const struct program *const program[], uint32_t count, const struct target *t, char **error) {
  static unsigned number; /* a library that is loaded keeps its name */
  const char *gpu_source = path_in(dir, "gpu.ll"), *object = path_in(dir, "gpu.hsaco");
  char name[32];
  snprintf(name, sizeof name, "host%u.so", number++);
  const char *host_source = path_in(dir, "host.ll"), *library = path_in(dir, name);
  assert_true(count <= FUNCTIONS_MAX);
  write_module(gpu_source, program, count, t, false);
  write_module(host_source, program, count, t, true);
  if (!compile(gpu_source, object, "amdgcn-amd-amdhsa", t->gpu == PRINT_GFX950 ? "gfx950" : "gfx942", t->level, error)) return NULL;
  if (!compile(host_source, library, "x86_64-unknown-linux-gnu", host_cpu(), t->level, error)) fail_msg("%s", *error);
  struct compiled *c = calloc(1, sizeof *c);
  assert_non_null(c);
  load_gpu(c, object, count);
  load_host(c, library, count);
  return c;
}

void compiled_reopen(struct compiled *c, uint32_t count, enum print_target target) {
  hsa_executable_destroy(c->executable);
  device_close();
  device_open(target);
  load_gpu(c, path_in(dir, "gpu.hsaco"), count);
}

void compiled_free(struct compiled *c) {
  hsa_executable_destroy(c->executable);
  dlclose(c->library);
  free(c);
}

/* --- running ------------------------------------------------------------------------------------------------------------------- */

bool run_both(struct compiled *c, uint32_t index, const struct program *p, uint8_t *host, uint8_t *out) {
  uint32_t uniform = (uint32_t)(p->seed >> 7);
  struct {
    void *in, *out;
    uint32_t uniform;
  } args = {gpu_in, gpu_out, uniform};
  for (uint32_t l = 0; l < LANES_ALL; l++) program_inputs(p->seed, l, gpu_in + l * INPUT_BYTES);
  memset(gpu_out, 0, LANES_ALL * RECORD_BYTES);
  model_fnuz = fnuz;
  for (uint32_t g = 0; g < GROUPS; g++)
    host_run(p, c->host[index], gpu_in + g * LANES * INPUT_BYTES, host + g * LANES * RECORD_BYTES, uniform);
  int failed = gpu_launch(&gpu, &c->kernel[index], GROUPS, LANES, &args, sizeof args);
  memcpy(out, gpu_out, LANES_ALL * RECORD_BYTES);
  return !failed;
}

static bool is_nan(uint8_t elem, uint64_t bits) {
  static const uint64_t infinity[ELEMS] = {[F16] = 0x7C00, [F32] = 0x7F800000, [F64] = 0x7FF0000000000000};
  return is_float(elem) && (bits & (UINT64_MAX >> (65 - elem_bits(elem)))) > infinity[elem];
}

static bool same(struct value_type t, const uint8_t *a, const uint8_t *b) {
  uint32_t bytes = t.elem == I1 ? 1 : elem_bits(t.elem) / 8;
  for (uint32_t i = 0; i < t.lanes; i++) {
    uint64_t x = 0, y = 0;
    memcpy(&x, a + i * bytes, bytes);
    memcpy(&y, b + i * bytes, bytes);
    if (x != y && !(is_nan(t.elem, x) && is_nan(t.elem, y))) return false;
  }
  return true;
}

int first_difference(const struct program *p, const uint8_t *host, const uint8_t *out, uint32_t *lane) {
  for (uint32_t i = 0; i < p->outputs; i++)
    for (uint32_t l = 0; l < LANES_ALL; l++) {
      uint32_t at = l * RECORD_BYTES + MEMORY_BYTES + i * OUTPUT_BYTES;
      if (same(p->output_type[i], host + at, out + at)) continue;
      *lane = l;
      return (int)i;
    }
  return -1;
}
