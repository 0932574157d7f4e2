/* SPDX-License-Identifier: Apache-2.0 */
/* corpus_atomics GPU LEVEL: an atomic of each kind, type and address space, scopes and orders in turn; 64 lanes on 8 places. The emulator
   serves the lanes of a wave in order, so that every old value is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus_build.h"
#include "host_math.h"

enum place { GLOBAL_PLACE, LDS_PLACE, FLAT_GLOBAL, FLAT_LDS, PLACES };
enum { LANES = 64, SLOTS = 8, TEXT_BYTES = 1 << 20 };

struct type {
  const char *ir, *bits; /* bits: the integer of its size */
  char kind;             /* i integer, f float, d double, h two halves, b two bf16 */
  u32 width;
};

static const struct type types[] = {{"i32", "i32", 'i', 32}, {"i64", "i64", 'i', 64}, {"i16", "i16", 'i', 16}, {"i8", "i8", 'i', 8},
    {"float", "i32", 'f', 32}, {"double", "i64", 'd', 64}, {"<2 x half>", "i32", 'h', 32}, {"<2 x bfloat>", "i32", 'b', 32}};
static const char *const integer_ops[] = {"xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin", "uinc_wrap",
    "udec_wrap", "usub_cond", "usub_sat", "cmpxchg"};
static const char *const float_ops[] = {"xchg", "fadd", "fsub", "fmin", "fmax"};
static const char *const scopes[] = {"", "syncscope(\"agent\")", "syncscope(\"workgroup\")", "syncscope(\"wavefront\")",
    "syncscope(\"singlethread\")", "syncscope(\"agent-one-as\")", "syncscope(\"one-as\")"};
static const char *const orders[] = {"monotonic", "acquire", "release", "acq_rel", "seq_cst"};

static struct atomic_kernel {
  char name[64];
  const char *op;
  const struct type *type;
  enum place place;
} kernels[512];
static size_t count;
static uint8_t *device;

/* --- IR
 * ----------------------------------------------------------------------------------------------------------------------------------- */

static void print_kernel(FILE *f, const struct atomic_kernel *k, size_t i) {
  static const char *const spaces[PLACES] = {"ptr addrspace(1)", "ptr addrspace(3)", "ptr", "ptr"};
  const char *space = spaces[k->place], *scope = scopes[i % 7], *order = orders[i % 5], *t = k->type->ir, *b = k->type->bits;
  bool lds = k->place == LDS_PLACE || k->place == FLAT_LDS;
  fprintf(f,
      "define amdgpu_kernel void @%s(ptr addrspace(1) %s %%p) #0 {\n%%l = call i32 @llvm.amdgcn.workitem.id.x()\n%%slot = and i32 %%l, 7\n"
      "%%own = getelementptr [2 x i64], ptr addrspace(1) %%p, i32 %%l\n%%data = load %s, ptr addrspace(1) %%own\n"
      "%%own2 = getelementptr i64, ptr addrspace(1) %%own, i32 1\n%%other = load %s, ptr addrspace(1) %%own2\n"
      "%%slots = getelementptr i8, ptr addrspace(1) %%p, i32 2048\n%%g = getelementptr i64, ptr addrspace(1) %%slots, i32 %%slot\n"
      "%%s = getelementptr [8 x i64], ptr addrspace(3) @slots, i32 0, i32 %%slot\n",
      k->name, i % 2 ? "inreg" : "" /* preloaded */, t, b);
  if (lds)
    fprintf(f, "%%first = load i64, ptr addrspace(1) %%g\nstore i64 %%first, ptr addrspace(3) %%s\ncall void @llvm.amdgcn.s.barrier()\n");
  if (k->place <
      FLAT_GLOBAL) /* a 0 that LLVM does not know: of a part of a word at a known place LLVM 22 makes a loop that never looks again */
    fprintf(f,
        "%%zeros = getelementptr i8, ptr addrspace(1) %%p, i32 8184\n%%zero = load i32, ptr addrspace(1) %%zeros\n%%at = getelementptr i8, "
        "%s %s, i32 "
        "%%zero\n",
        space, lds ? "%s" : "%g");
  else
    fprintf(f, "%%at = addrspacecast ptr addrspace(%d) %s to ptr\n", lds ? 3 : 1, lds ? "%s" : "%g");
  if (strcmp(k->op, "cmpxchg") == 0)
    fprintf(f, "%%pair = cmpxchg %s %%at, %s %%other, %s %%data %s %s monotonic\n%%old = extractvalue {%s, i1} %%pair, 0\n", space, t, t,
        scope, order, t);
  else
    fprintf(f, "%%old = atomicrmw %s %s %%at, %s %%data %s %s, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0\n", k->op,
        space, t, scope, order);
  fprintf(f,
      "%%out = getelementptr i8, ptr addrspace(1) %%p, i32 4096\n%%to = getelementptr i64, ptr addrspace(1) %%out, i32 %%l\n"
      "store %s %%old, ptr addrspace(1) %%to\n",
      t);
  if (lds)
    fprintf(f, "call void @llvm.amdgcn.s.barrier()\n%%last = load i64, ptr addrspace(3) %%s\nstore i64 %%last, ptr addrspace(1) %%g\n");
  fprintf(f, "ret void\n}\n");
}

static char *module_text(void) {
  char *text = NULL;
  size_t bytes;
  FILE *f = open_memstream(&text, &bytes);
  assert_non_null(f);
  fprintf(f, "@slots = internal addrspace(3) global [8 x i64] poison\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n"
             "declare void @llvm.amdgcn.s.barrier()\nattributes #0 = {\"amdgpu-flat-work-group-size\"=\"64,64\"}\n!0 = !{}\n");
  for (size_t i = 0; i < count; i++) print_kernel(f, &kernels[i], i);
  fclose(f);
  return text;
}

static void list_kernels(void) {
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
    bool integer = types[t].kind == 'i';
    size_t ops = integer ? sizeof integer_ops / sizeof *integer_ops : sizeof float_ops / sizeof *float_ops;
    for (size_t o = types[t].ir[0] == '<' ? 1 : 0; o < ops; o++) /* no exchange of vectors */
      for (int p = 0; p < PLACES; p++) {
        struct atomic_kernel *k = &kernels[count++];
        const char *op = integer ? integer_ops[o] : float_ops[o];
        static const char *const places[PLACES] = {"global", "lds", "flat", "flat_lds"};
        snprintf(k->name, sizeof k->name, "%s_%c%u_%s", op, types[t].kind, types[t].width, places[p]);
        k->op = op, k->type = &types[t], k->place = (enum place)p;
      }
  }
}

/* --- model
 * --------------------------------------------------------------------------------------------------------------------------------- */

static u64 integer_next(const char *op, u64 o, u64 v, u64 other, u32 width) {
  u64 mask = UINT64_MAX >> (64 - width);
  i64 so = (i64)(o << (64 - width)) >> (64 - width), sv = (i64)(v << (64 - width)) >> (64 - width);
  if (!strcmp(op, "xchg")) return v;
  if (!strcmp(op, "cmpxchg")) return o == other ? v : o;
  if (!strcmp(op, "add")) return (o + v) & mask;
  if (!strcmp(op, "sub")) return (o - v) & mask;
  if (!strcmp(op, "and")) return o & v;
  if (!strcmp(op, "nand")) return ~(o & v) & mask;
  if (!strcmp(op, "or")) return o | v;
  if (!strcmp(op, "xor")) return o ^ v;
  if (!strcmp(op, "max")) return so > sv ? o : v;
  if (!strcmp(op, "min")) return so < sv ? o : v;
  if (!strcmp(op, "umax")) return o > v ? o : v;
  if (!strcmp(op, "umin")) return o < v ? o : v;
  if (!strcmp(op, "uinc_wrap")) return o >= v ? 0 : o + 1;
  if (!strcmp(op, "udec_wrap")) return o == 0 || o > v ? v : o - 1;
  if (!strcmp(op, "usub_cond")) return o >= v ? o - v : o;
  return o >= v ? o - v : 0; /* usub_sat */
}

static double float_next(const char *op, double o, double v) {
  if (!strcmp(op, "xchg")) return v;
  if (!strcmp(op, "fadd")) return o + v;
  if (!strcmp(op, "fsub")) return o - v;
  return !strcmp(op, "fmin") ? fmin(o, v) : fmax(o, v);
}

static u64 next(const struct atomic_kernel *k, u64 o, u64 v, u64 other) {
  switch (k->type->kind) {
  case 'i':
    return integer_next(k->op, o, v, other, k->type->width);
  case 'f':
    return fb((float)float_next(k->op, (double)f(o), (double)f(v)));
  case 'd':
    return db(float_next(k->op, d64(o), d64(v)));
  case 'h':
    return halves(hb(float_next(k->op, h(o), h(v))), hb(float_next(k->op, h(hi(o)), h(hi(v)))));
  default:
    return halves(bf16_code((float)float_next(k->op, (double)f(o << 16), (double)f(v << 16))),
        bf16_code((float)float_next(k->op, (double)f(hi(o) << 16), (double)f(hi(v) << 16))));
  }
}

static u64 mixed(u64 v) {
  v = (v ^ v >> 31) * UINT64_C(0x9E3779B97F4A7C15);
  return v ^ v >> 29;
}

/* A small number of the type; integers now and then near to each other. */
static u64 value(const struct type *t, u64 seed) {
  u64 random = mixed(seed + 1);
  double x = (double)((i64)(random % 41) - 20), y = (double)((i64)(random >> 8) % 31 - 15);
  switch (t->kind) {
  case 'i':
    return (random & 64 ? random >> 20 : random % 4) & (UINT64_MAX >> (64 - t->width));
  case 'f':
    return fb((float)x);
  case 'd':
    return db(x);
  case 'h':
    return halves(hb(x), hb(y));
  default:
    return halves(bf16_code((float)x), bf16_code((float)y));
  }
}

static void an_atomic_changes_memory_lane_by_lane(void **state) {
  const struct atomic_kernel *k = *state;
  struct emu_kernel kernel;
  u64 slots[SLOTS], old[LANES];
  u64 seed = (u64)(k - kernels) * 1000;
  void *args = device;
  memset(device, 0, 8192);
  for (u32 s = 0; s < SLOTS; s++) slots[s] = value(k->type, seed + s), memcpy(device + 2048 + 8 * s, &slots[s], 8);
  for (u32 l = 0; l < LANES; l++) {
    u64 data = value(k->type, seed + 100 + l), other = l & 1 ? slots[l % SLOTS] : value(k->type, seed + 300 + l);
    memcpy(device + 16 * l, &data, 8), memcpy(device + 16 * l + 8, &other, 8);
    old[l] = slots[l % SLOTS];
    slots[l % SLOTS] = next(k, old[l], data, other);
  }
  if (!corpus_kernel_named(k->name, &kernel)) fail_msg("%s is not in its code object", k->name);
  if (gpu_launch(&gpu, &kernel, 1, LANES, &args, sizeof args)) fail_msg("%s", gpu_report());
  u64 mask = UINT64_MAX >> (64 - k->type->width), got;
  for (u32 l = 0; l < LANES; l++) {
    memcpy(&got, device + 4096 + 8 * l, 8);
    if ((got ^ old[l]) & mask)
      fail_msg("lane %u: the old value is %llx, wanted %llx", l, (unsigned long long)got, (unsigned long long)old[l]);
  }
  for (u32 s = 0; s < SLOTS; s++) {
    memcpy(&got, device + 2048 + 8 * s, 8);
    if ((got ^ slots[s]) & mask) fail_msg("place %u: %llx, wanted %llx", s, (unsigned long long)got, (unsigned long long)slots[s]);
  }
}

static int set_up(void **state) {
  (void)state;
  corpus_open();
  char *ir = module_text();
  corpus_load_ir("atomics", ir);
  free(ir);
  device = gpu_memory(&gpu, 8192);
  return 0;
}

int main(int argc, char **argv) {
  static struct CMUnitTest tests[sizeof kernels / sizeof kernels[0]];
  if (!corpus_arguments(argc, argv, "corpus_atomics", "")) return 2;
  list_kernels();
  for (size_t i = 0; i < count; i++)
    tests[i] = (struct CMUnitTest){kernels[i].name, an_atomic_changes_memory_lane_by_lane, NULL, NULL, &kernels[i]};
  return _cmocka_run_group_tests("atomics of every kind, type and place do what they say", tests, count, set_up, corpus_tear_down);
}
