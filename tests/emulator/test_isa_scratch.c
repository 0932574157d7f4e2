/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch memory: every row in every address form against a byte array a lane; a row that was not executed fails. */
#include <stdio.h>
#include <stdlib.h>

#include "isa_rig.h"

enum { SCRATCH_BYTES = 256, FORMS = 4, OFFSET = 24, SCALAR = 40, LANE_STEP = 16, ADDRESS_REG = 8, DATA_REG = 10 };

static const struct access_case {
  const char *name;
  uint32_t bytes;
  bool sign, low, high, store;
} cases[] = {{"load_ubyte", 1, 0, 0, 0, 0}, {"load_sbyte", 1, 1, 0, 0, 0}, {"load_ushort", 2, 0, 0, 0, 0}, {"load_sshort", 2, 1, 0, 0, 0},
    {"load_ubyte_d16", 1, 0, 1, 0, 0}, {"load_ubyte_d16_hi", 1, 0, 0, 1, 0}, {"load_sbyte_d16", 1, 1, 1, 0, 0},
    {"load_sbyte_d16_hi", 1, 1, 0, 1, 0}, {"load_short_d16", 2, 0, 1, 0, 0}, {"load_short_d16_hi", 2, 0, 0, 1, 0},
    {"load_dword", 4, 0, 0, 0, 0}, {"load_dwordx2", 8, 0, 0, 0, 0}, {"load_dwordx3", 12, 0, 0, 0, 0}, {"load_dwordx4", 16, 0, 0, 0, 0},
    {"store_byte", 1, 0, 0, 0, 1}, {"store_byte_d16_hi", 1, 0, 0, 1, 1}, {"store_short", 2, 0, 0, 0, 1},
    {"store_short_d16_hi", 2, 0, 0, 1, 1}, {"store_dword", 4, 0, 0, 0, 1}, {"store_dwordx2", 8, 0, 0, 0, 1},
    {"store_dwordx3", 12, 0, 0, 0, 1}, {"store_dwordx4", 16, 0, 0, 0, 1}};
enum { CASES = sizeof cases / sizeof cases[0] };

/* Address forms: a VGPR, a scalar, both, neither. */
static bool has_vector(uint32_t form) { return form == 0 || form == 2; }
static bool has_scalar(uint32_t form) { return form == 1 || form == 2; }

static struct rig *rig;
static uint8_t model[64][SCRATCH_BYTES];

static void line_of(const struct access_case *c, uint32_t form, char *line) {
  uint32_t words = c->bytes < 4 ? 1 : c->bytes / 4;
  char data[32];
  snprintf(data, sizeof data, words == 1 ? "v%u" : "v[%u:%u]", DATA_REG, DATA_REG + words - 1);
  const char *address = has_vector(form) ? "v8" : "off", *base = has_scalar(form) ? "s6" : "off";
  if (c->store)
    sprintf(line, "scratch_%s %s, %s, %s offset:%d", c->name, address, data, base, OFFSET);
  else
    sprintf(line, "scratch_%s %s, %s, %s offset:%d", c->name, data, address, base, OFFSET);
}

static uint32_t address_of(uint32_t form, uint32_t lane) {
  return OFFSET + (has_vector(form) ? LANE_STEP * (lane % 8) : 0) + (has_scalar(form) ? SCALAR : 0);
}

static void fill(uint32_t seed) {
  for (uint32_t l = 0; l < 64; l++)
    for (uint32_t i = 0; i < SCRATCH_BYTES; i++) model[l][i] = (uint8_t)(rig_value(T_u64, seed + l * SCRATCH_BYTES + i + 100) >> 13);
  memcpy(rig->group.scratch, model, sizeof model);
  for (uint32_t l = 0; l < 64; l++) {
    rig->wave->v[ADDRESS_REG].w[l] = LANE_STEP * (l % 8);
    for (uint32_t k = 0; k < 4; k++) rig->wave->v[DATA_REG + k].w[l] = (uint32_t)(rig_value(T_u64, seed + 64 * k + l + 900) >> 9);
  }
  rig->wave->sreg[6] = SCALAR;
}

/* What a load leaves in its first register. */
static uint32_t loaded(const struct access_case *c, uint32_t old, const uint8_t *from) {
  uint32_t x = 0;
  memcpy(&x, from, c->bytes < 4 ? c->bytes : 4);
  if (c->sign && x >> (8 * c->bytes - 1)) x |= UINT32_MAX << (8 * c->bytes);
  if (c->low) return (old & 0xFFFF0000u) | (x & 0xFFFF);
  return c->high ? (old & 0xFFFF) | x << 16 : x;
}

static void check(uint32_t i, uint32_t form, uint64_t exec) {
  const struct access_case *c = &cases[i];
  static vgpr old[4];
  fill(7 * i + form);
  memcpy(old, &rig->wave->v[DATA_REG], sizeof old);
  wave_set_exec(rig->wave, exec);
  rig_run(rig, i * FORMS + form);
  for (uint32_t l = 0; l < 64; l++) {
    uint8_t *at = model[l] + address_of(form, l);
    bool active = exec >> l & 1;
    for (uint32_t k = 0; k < 4; k++) {
      uint32_t want = old[k].w[l];
      if (active && !c->store && k == 0) want = loaded(c, want, at);
      if (active && !c->store && k > 0 && 4 * k < c->bytes) memcpy(&want, at + 4 * k, 4);
      if (rig->wave->v[DATA_REG + k].w[l] != want) fail_msg("scratch_%s: lane %u word %u is wrong", c->name, l, k);
    }
    for (uint32_t b = 0; active && c->store && b < c->bytes; b++) at[b] = (uint8_t)(old[b / 4].w[l] >> (8 * (b % 4) + (c->high ? 16 : 0)));
  }
  if (memcmp(rig->group.scratch, model, sizeof model) != 0) fail_msg("scratch_%s: other bytes than its own are changed", c->name);
}

static void every_row_moves_its_lanes_own_bytes(void **state) {
  (void)state;
  for (uint32_t i = 0; i < CASES; i++)
    for (uint32_t form = 0; form < FORMS; form++) {
      check(i, form, UINT64_MAX);
      check(i, form, 0x8421F00F12345678u);
    }
  const char *left = rig_untested(&isa_scratch);
  if (left) fail_msg("%s has no test", left);
}

static void outside_of_its_memory_a_lane_reads_nothing_and_stores_nothing(void **state) {
  (void)state;
  for (uint32_t i = 0; i < CASES; i++) {
    fill(i);
    wave_set_exec(rig->wave, UINT64_MAX);
    for (uint32_t l = 0; l < 64; l++) rig->wave->v[ADDRESS_REG].w[l] = SCRATCH_BYTES - OFFSET - cases[i].bytes + 1;
    rig_run(rig, i * FORMS);
    if (memcmp(rig->group.scratch, model, sizeof model) != 0) fail_msg("scratch_%s stores behind the lane's memory", cases[i].name);
  }
}

int main(void) {
  static char text[CASES * FORMS][80];
  static const char *lines[CASES * FORMS];
  for (uint32_t i = 0; i < CASES * FORMS; i++) {
    line_of(&cases[i / FORMS], i % FORMS, text[i]);
    lines[i] = text[i];
  }
  rig = rig_open("gfx950", lines, CASES * FORMS);
  rig->group.scratch_bytes = SCRATCH_BYTES;
  rig->group.scratch = malloc(sizeof model);
  assert_non_null(rig->group.scratch);
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_moves_its_lanes_own_bytes),
      cmocka_unit_test(outside_of_its_memory_a_lane_reads_nothing_and_stores_nothing)};
  int failed = cmocka_run_group_tests_name("scratch memory moves the right bytes", tests, NULL, NULL);
  free(rig->group.scratch);
  rig_close(rig);
  return failed;
}
