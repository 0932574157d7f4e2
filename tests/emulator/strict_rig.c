/* SPDX-License-Identifier: Apache-2.0 */
#include "strict_rig.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *memory[3];

int strict_open(void **state) {
  (void)state;
  gpu_open(&gpu);
  for (int i = 0; i < 3; i++) memory[i] = gpu_memory(&gpu, STRICT_MEMORY);
  return 0;
}

int strict_close(void **state) {
  (void)state;
  hsa_emu_set_strict(NULL);
  gpu_close(&gpu);
  return 0;
}

/* The body of the faulty or of the right kernel. */
static const char *pick_lines(const char *body, bool faulty) {
  static char text[6144];
  char *to = text;
  for (const char *line = body; *line;) {
    size_t n = strcspn(line, "\n") + 1;
    bool fault = strncmp(line, "FAULT ", 6) == 0, right = strncmp(line, "RIGHT ", 6) == 0;
    if (!line[n - 1]) n--;
    assert_true((size_t)(to - text) + n + 1 < sizeof text);
    if (!(fault && !faulty) && !(right && faulty)) {
      size_t skip = fault || right ? 6 : 0;
      memcpy(to, line + skip, n - skip);
      to += n - skip;
    }
    line += n;
  }
  *to = 0;
  return text;
}

struct emu_kernel strict_kernel(const struct strict_case *c, bool faulty) {
  struct emu_kernel k = kernel_of_assembly(&gpu, assembly_of(pick_lines(c->body, faulty)));
  k.lds_bytes = c->lds_bytes;
  return k;
}

static int launch(const struct strict_case *c, struct emu_kernel *k, const struct hsa_emu_strict *options) {
  for (int i = 0; i < 3; i++)
    for (uint32_t j = 0; j < STRICT_MEMORY / 4; j++) memory[i][j] = i == 0 ? 5 : 0;
  hsa_emu_findings_clear();
  assert_int_equal(hsa_emu_set_strict(options), HSA_STATUS_SUCCESS);
  return gpu_launch(&gpu, k, c->groups, c->size, memory, sizeof memory);
}

int strict_launch(const struct strict_case *c, struct emu_kernel *k, uint64_t seed) {
  return launch(c, k, &(struct hsa_emu_strict){.on = 1, .l2 = c->l2, .seed = seed});
}

int plain_launch(const struct strict_case *c, struct emu_kernel *k) { return launch(c, k, &(struct hsa_emu_strict){.on = 0}); }

const char *strict_finding(enum hsa_emu_finding_kind kind, struct hsa_emu_finding *finding) {
  static char text[2048];
  for (size_t i = 0; i < hsa_emu_findings(); i++) {
    struct hsa_emu_finding f;
    hsa_emu_finding(i, &f, text, sizeof text);
    if (f.kind != kind) continue;
    if (finding) *finding = f;
    return text;
  }
  return NULL;
}

static void assert_clean(const struct strict_case *c, struct emu_kernel *k, uint64_t seed) {
  char text[2048];
  int error = strict_launch(c, k, seed);
  if (error) fail_msg("seed %llu: the right kernel ended with error %d: %s", (unsigned long long)seed, error, gpu_report());
  if (!hsa_emu_finding(0, NULL, text, sizeof text)) return;
  fail_msg("seed %llu: the right kernel has a finding: %s", (unsigned long long)seed, text);
}

void strict_check(const struct strict_case *c) {
  bool found = false;
  struct emu_kernel k = strict_kernel(c, true);
  for (uint64_t seed = 0; seed < STRICT_SEEDS && !found; seed++) {
    int error = strict_launch(c, &k, seed);
    const char *text = strict_finding(c->kind, NULL);
    if (error && !c->hangs) fail_msg("seed %llu: the faulty kernel ended with error %d", (unsigned long long)seed, error);
    for (int i = 0; text && i < STRICT_TEXTS && c->text[i]; i++)
      if (!strstr(text, c->text[i])) fail_msg("\"%s\" is not in: %s", c->text[i], text);
    found = text != NULL;
    if (error) break; /* the queue is dead */
  }
  if (!found) {
    char other[2048] = "none at all";
    hsa_emu_finding(0, NULL, other, sizeof other);
    fail_msg("no finding of kind %d; the last seed's first: %s", (int)c->kind, other);
  }
  kernel_free(&k);
  if (c->hangs) {
    gpu_close(&gpu);
    strict_open(NULL);
  }
  k = strict_kernel(c, false);
  for (uint64_t seed = 0; seed < STRICT_SEEDS; seed++) assert_clean(c, &k, seed);
  kernel_free(&k);
}
