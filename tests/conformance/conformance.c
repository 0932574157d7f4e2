/* SPDX-License-Identifier: Apache-2.0 */
/* conformance GPU LEVEL SEED MODULES FUNCTIONS [calls]: random functions on the emulator and on this machine, bit for bit. GPU is gfx950
   or gfx942, LEVEL of optimisation 0..3. A function that differs is cut down and printed. Says how many ran and how many differ.
   conformance GPU LEVEL one SEED [calls]: the function of that seed alone. conformance GPU emit SEED FUNCTIONS [calls]: a module's IR.
   CONFORMANCE_LIST in the environment: failures are named only. */
#include <stdlib.h>
#include <string.h>

#include "reduce.h"
#include "support.h"

enum { LANES_ALL = GROUPS * LANES, REPORTED = 5, TRIES = 400, FUNCTIONS = 64 };

static struct target target;
static uint64_t seed;
static uint32_t modules = 1, functions = 50;
static uint8_t host[LANES_ALL * RECORD_BYTES], out[LANES_ALL * RECORD_BYTES];
static uint32_t differing, ran, uncompiled; /* uncompiled: a compiler crashed on the function, which says nothing of the emulator */
static char fault[600];                     /* of the last one */

static void print_record(const char *who, const struct program *p, uint32_t output, const uint8_t *record) {
  fprintf(stderr, "  %s:", who);
  for (uint32_t i = 0; i < p->output_type[output].lanes * elem_bits(p->output_type[output].elem) / 8 + (p->output_type[output].elem == I1);
       i++)
    fprintf(stderr, " %02x", record[MEMORY_BYTES + output * OUTPUT_BYTES + i]);
  fputc('\n', stderr);
}

/* For reduce(): a module of one function. What it fails by has to stay the same: a difference, a fault, or the compiler. */
enum failure { GOOD, DIFFERS, FAULTS, COMPILER };

static enum failure try_one(const struct program *p, char **error) {
  struct compiled *c = compile_programs(&p, 1, &target, error);
  uint32_t lane;
  if (!c) return COMPILER;
  enum failure what = !run_both(c, 0, p, host, out) ? FAULTS : first_difference(p, host, out, &lane) >= 0 ? DIFFERS : GOOD;
  compiled_free(c);
  if (what == FAULTS) {
    snprintf(fault, sizeof fault, "%s", device_report());
    device_close();
    device_open(target.gpu);
  }
  return what;
}

static bool fails_alike(const struct program *p, void *data) {
  char *error = NULL;
  enum failure what = try_one(p, &error);
  free(error);
  return what == *(enum failure *)data;
}

/* Cut down and shown. */
static void report(struct program *p) {
  char *error = NULL;
  uint32_t lane = 0;
  if (differing++ >= REPORTED || getenv("CONFORMANCE_LIST")) return;
  fprintf(stderr, "seed %llu:\n", (unsigned long long)p->seed);
  enum failure what = try_one(p, &error);
  if (what == GOOD) {
    fprintf(stderr, "  is good by itself, wrong in its module\n");
    return;
  }
  reduce(p, fails_alike, &what, TRIES);
  free(error);
  error = NULL;
  what = try_one(p, &error);
  fprintf(stderr, "; cut down to %u operations; conformance %s %d one %llu%s shows it whole\n", program_live(p),
      target.gpu == PRINT_GFX950 ? "gfx950" : "gfx942", target.level, (unsigned long long)p->seed, target.calls ? " calls" : "");
  const struct program *one = p;
  print_functions(stderr, &one, 1, target.gpu, target.calls);
  if (what == COMPILER) fprintf(stderr, "  the compiler failed: %.2000s\n", error ? error : "");
  if (what == FAULTS) fprintf(stderr, "  the emulator stopped: %s\n", fault);
  if (what == DIFFERS) {
    int output = first_difference(p, host, out, &lane);
    fprintf(stderr, "  output %d of lane %u\n", output, lane);
    print_record("this machine", p, (uint32_t)output, host + lane * RECORD_BYTES);
    print_record("the emulator", p, (uint32_t)output, out + lane * RECORD_BYTES);
  }
  free(error);
}

static void compare_module(uint64_t first_seed, uint32_t count) {
  static struct program programs[FUNCTIONS];
  const struct program *list[FUNCTIONS] = {NULL};
  bool bad[FUNCTIONS] = {false};
  char *error = NULL;
  for (uint32_t i = 0; i < count; i++) {
    program_random(&programs[i], first_seed + i, target.gpu == PRINT_GFX950);
    list[i] = &programs[i];
  }
  struct compiled *c = compile_programs(list, count, &target, &error);
  if (!c) { /* the functions one by one */
    free(error);
    for (uint32_t i = 0; i < count; i++) {
      error = NULL;
      enum failure what = try_one(&programs[i], &error);
      bad[i] = what == DIFFERS || what == FAULTS;
      uncompiled += what == COMPILER;
      free(error);
    }
  }
  for (uint32_t i = 0; i < count && c; i++) {
    uint32_t lane;
    bool good = run_both(c, i, &programs[i], host, out);
    bad[i] = !good || first_difference(&programs[i], host, out, &lane) >= 0;
    if (!good) {
      snprintf(fault, sizeof fault, "%s", device_report());
      if (getenv("CONFORMANCE_LIST")) fprintf(stderr, "%llu: %s\n", (unsigned long long)programs[i].seed, fault);
      compiled_reopen(c, count, target.gpu);
    }
  }
  if (c) compiled_free(c);
  ran += count;
  for (uint32_t i = 0; i < count; i++)
    if (bad[i]) report(&programs[i]);
}

static void the_emulator_computes_what_this_machine_computes(void **state) {
  (void)state;
  device_open(target.gpu);
  for (uint32_t m = 0; m < modules; m++) {
    uint64_t random = seed + m, first = modules == 1 && functions == 1 ? seed : random_next(&random) >> 8;
    compare_module(first, functions);
  }
  device_close();
  printf("%s -O%d%s: %u functions of %u lanes, %u differ, %u LLVM could not compile\n", target.gpu == PRINT_GFX950 ? "gfx950" : "gfx942",
      target.level, target.calls ? " with calls" : "", ran, LANES_ALL, differing, uncompiled);
  assert_int_equal(differing, 0);
  assert_true(uncompiled <= ran / 50); /* more would be IR of ours that is wrong */
}

static int emit(const char *first, const char *count) {
  static struct program programs[FUNCTIONS];
  const struct program *list[FUNCTIONS] = {NULL};
  uint64_t random = strtoull(first, NULL, 0);
  random = random_next(&random) >> 8;
  functions = (uint32_t)atoi(count);
  for (uint32_t i = 0; i < functions && i < FUNCTIONS; i++) {
    program_random(&programs[i], random + i, target.gpu == PRINT_GFX950);
    list[i] = &programs[i];
  }
  print_module(stdout, list, functions, target.gpu, target.gpu, target.calls);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr,
        "usage: conformance gfx950|gfx942 LEVEL SEED MODULES FUNCTIONS [calls]\n       conformance gfx950|gfx942 LEVEL one SEED [calls]\n");
    return 2;
  }
  bool one = !strcmp(argv[3], "one");
  target.gpu = strcmp(argv[1], "gfx942") ? PRINT_GFX950 : PRINT_GFX942;
  target.level = atoi(argv[2]);
  target.calls = !strcmp(argv[argc - 1], "calls");
  if (!strcmp(argv[2], "emit")) return emit(argv[3], argv[4]);
  seed = strtoull(argv[one ? 4 : 3], NULL, 0);
  modules = one ? 1 : (uint32_t)atoi(argv[4]);
  functions = one || argc < 6 ? 1 : (uint32_t)atoi(argv[5]);
  if (functions > FUNCTIONS) functions = FUNCTIONS;
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_emulator_computes_what_this_machine_computes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
