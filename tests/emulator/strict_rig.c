/* SPDX-License-Identifier: Apache-2.0 */
#include "strict_rig.h"

#include <stdio.h>
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

/* "workgroup 3 wave 1 lane 5, "s_nop 0" at k+0x40 (0x7f...)": the party's numbers, its instruction and where that is. A lane, unless the
   instruction is the whole wave's, or it is the other party. Returns what follows. */
static const char *assert_party(const char *text, const struct hsa_emu_party *p, bool other, const char *whole) {
  uint32_t group, wave, lane = UINT32_MAX;
  int used = 0;
  unsigned long long offset = 0, address = 0;
  if (sscanf(text, "workgroup %u wave %u%n", &group, &wave, &used) != 2) fail_msg("no workgroup and wave at \"%s\" of: %s", text, whole);
  text += used;
  if (sscanf(text, " lane %u%n", &lane, &used) == 1) text += used;
  if (strncmp(text, ", \"", 3) != 0) fail_msg("no instruction at \"%s\" of: %s", text, whole);
  bool whole_wave = strncmp(text + 3, "s_", 2) == 0;
  text = strchr(text + 3, '"');
  assert_non_null(text);
  if (sscanf(text, "\" at k+0x%llx (0x%llx)%n", &offset, &address, &used) != 2 || !address)
    fail_msg("no place at \"%s\" of: %s", text, whole);
  if (group != p->group || wave != p->wave || lane != p->lane || offset != (unsigned long long)p->offset)
    fail_msg("the text's party is not the finding's: %s", whole);
  if (!whole_wave && !other && lane == UINT32_MAX) fail_msg("no lane is named: %s", whole);
  return text + used;
}

static bool is_of_memory(enum hsa_emu_finding_kind kind) {
  return kind != HSA_EMU_UNWAITED && kind != HSA_EMU_UNINITIALISED && kind != HSA_EMU_BARRIER;
}

/* What every report names: kernel, workgroup, wave, lane, instruction and its address; what it is about, an address or a register; and the
   other party, but where there is none. */
static void assert_complete(const struct hsa_emu_finding *f, const char *text) {
  const char *kernel = strstr(text, ": k: workgroup ");
  char address[32];
  if (!kernel) fail_msg("no kernel in: %s", text);
  const char *what = assert_party(kernel + 5, &f->at, false, text), *other = strstr(what, "workgroup ");
  bool local = strstr(what, " LDS") || strstr(what, " scratch");
  snprintf(address, sizeof address, local ? " %llu" : " 0x%llx", (unsigned long long)f->address);
  if (is_of_memory(f->kind) && (!strstr(what, address) || (!local && !f->address))) fail_msg("no address%s in: %s", address, text);
  bool names_register = strpbrk(what, "0123456789") || strstr(what, "SCC") || strstr(what, "EXEC");
  if (!is_of_memory(f->kind) && f->kind != HSA_EMU_BARRIER && !names_register) fail_msg("no register in: %s", text);
  bool alone = f->kind == HSA_EMU_OUT_OF_RANGE || f->kind == HSA_EMU_ATOMIC_SCOPE || strstr(what, "this lane is switched off") ||
               strstr(what, "which was never written");
  if (alone == (f->has_other != 0) || alone == (other != NULL)) fail_msg("%s other party in: %s", alone ? "an" : "no", text);
  if (other) (void)assert_party(other, &f->other, true, text);
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
    struct hsa_emu_finding finding;
    const char *text = strict_finding(c->kind, &finding);
    if (text) assert_complete(&finding, text);
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
