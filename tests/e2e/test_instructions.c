/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator knows every instruction that llc makes of a kernel, also of the kernels that no test launches. Tokens at every edge
   of the tiles with one of the other fields' values; --benchmark: all of tokens, tp, tuned and a sample of ratio and window. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobject.h"
#include "decode.h"
#include "frontgen.h"
#include "support.h"

static bool exhaustive;

/* Decodes without running. Prints the first instruction that is not known, and returns how many there are. */
static uint32_t unknown_instructions(const char *key) {
  struct plan plan;
  struct code_object code;
  char error[FRONTGEN_ERROR_MAX], why[CODE_ERROR_MAX], decode_error[DECODE_ERROR_MAX];
  void *object;
  size_t bytes;
  if (frontgen_plan(key, "gfx950", &plan, error)) fail_msg("%s: %s", key, error);
  if (frontgen_build(&plan, NULL, &object, &bytes, error)) fail_msg("%s: %s", key, error);
  if (!code_object_open(object, bytes, &code, why)) fail_msg("%s: %s", key, why);
  const struct code_kernel *kernel = code_object_kernel(&code, NULL);
  assert_non_null(kernel);
  const uint8_t *text = code_object_at(&code, kernel->entry, kernel->code_bytes);
  assert_non_null(text);
  struct program *program = program_decode(text, kernel->code_bytes, kernel->entry, "gfx950", decode_error);
  if (!program) fail_msg("%s: %s", key, decode_error);
  assert_true(program->count > 1000);
  uint32_t unknown = program->unknown;
  if (unknown) print_error("%s: %u unknown, the first: %s\n", key, unknown, program->first_unknown);
  program_free(program);
  code_object_close(&code);
  free(object);
  return unknown;
}

static void the_emulator_knows_every_instruction_of_every_kernel(void **state) {
  (void)state;
  static const uint32_t ratios[] = {2, 0, 1, 3, 7, 128}, windows[] = {128, 1, 129, 4096, 1000};
  uint32_t unknown = 0;
  char key[96];
  for (uint32_t tokens = 1; tokens <= TOKENS_MAX; tokens++) {
    if (!exhaustive && tokens % 8 > 1 && tokens % 8 < 7) continue;
    for (uint32_t n = 0; n < 8; n++) { /* tp and tuned */
      if (!exhaustive && n != (tokens * 5 + tokens / 8) % 8) continue;
      uint32_t ratio = ratios[(tokens + n) % 6], window = windows[(tokens + n) % 5];
      snprintf(key, sizeof key, "tokens=%u,tp=%u,tuned=%u,ratio=%u,window=%u", tokens, 1u << n / 2, n % 2, ratio, window);
      unknown += unknown_instructions(key);
    }
  }
  assert_int_equal(unknown, 0);
}

int main(int argc, char **argv) {
  exhaustive = argc > 1 && strcmp(argv[1], "--benchmark") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_emulator_knows_every_instruction_of_every_kernel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
