/* SPDX-License-Identifier: Apache-2.0 */
/* The device models, by product and partition mode, and what fits on a CU. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all products of an ISA have in common. */
static const struct model gfx950 = {
    .cpu = "gfx950",
    .isa = "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-",
    .simds_a_cu = 4,
    .waves_a_simd = 8,
    .vgprs_a_simd = 512,
    .vgpr_granule = 8,
    .lds_a_cu = 163840,
    .lds_granule = 1280,
    .elf_mach = 0x4f,
};

static const struct model gfx942 = {
    .cpu = "gfx942",
    .isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
    .simds_a_cu = 4,
    .waves_a_simd = 8,
    .vgprs_a_simd = 512,
    .vgpr_granule = 8,
    .lds_a_cu = 65536,
    .lds_granule = 512,
    .elf_mach = 0x4c,
};

/* Whole devices. An MI300A has the six chiplets that leave room for its CPU cores, an MI308X four with 20 units each. */
static const struct product {
  const char *name, *says;
  const struct model *isa;
  uint32_t chip_id, xcds, cus_an_xcd, clock_mhz, memory_gib;
} products[] = {
    {"mi355x", "MI355X", &gfx950, 0x75a3, 8, 32, 2400, 288},
    {"mi350x", "MI350X", &gfx950, 0x75a0, 8, 32, 2200, 288},
    {"mi300x", "MI300X", &gfx942, 0x74a1, 8, 38, 2100, 192},
    {"mi325x", "MI325X", &gfx942, 0x74a5, 8, 38, 2100, 256},
    {"mi300a", "MI300A", &gfx942, 0x74a0, 6, 38, 2100, 128},
    {"mi308x", "MI308X", &gfx942, 0x74a2, 4, 20, 2100, 192},
};
enum { PRODUCTS = sizeof products / sizeof products[0], NO_MODE = 0 };

/* How many partitions a mode makes of so many XCDs, as the amdgpu driver allows it. */
static uint32_t partitions(const char *mode, size_t length, uint32_t xcds) {
  if (length != 3) return NO_MODE;
  if (!memcmp(mode, "spx", 3)) return 1;
  if (!memcmp(mode, "dpx", 3)) return xcds % 4 == 0 ? 2 : NO_MODE;
  if (!memcmp(mode, "tpx", 3)) return xcds % 3 == 0 ? 3 : NO_MODE;
  if (!memcmp(mode, "qpx", 3)) return xcds % 4 == 0 && xcds > 4 ? 4 : NO_MODE;
  if (!memcmp(mode, "cpx", 3)) return xcds;
  return NO_MODE;
}

static bool refuse(const char *device, const char *what, char error[MODEL_ERROR_MAX]) {
  int at = snprintf(error, MODEL_ERROR_MAX, "FRONT_EMU_DEVICE=%.80s: %s: there are", device, what);
  for (int i = 0; i < PRODUCTS; i++) {
    static const char modes[][4] = {"dpx", "tpx", "qpx", "cpx"};
    at += snprintf(error + at, (size_t)(MODEL_ERROR_MAX - at), "%s %s", i ? "," : "", products[i].name);
    for (int k = 0; k < 4; k++)
      if (partitions(modes[k], 3, products[i].xcds)) at += snprintf(error + at, (size_t)(MODEL_ERROR_MAX - at), "[-%s]", modes[k]);
  }
  snprintf(error + at, (size_t)(MODEL_ERROR_MAX - at), ", each also with :cus=N");
  return false;
}

static const struct product *product_of(const char *name, size_t length) {
  for (int i = 0; i < PRODUCTS; i++) {
    const struct product *p = &products[i];
    if (strlen(p->name) == length && !memcmp(p->name, name, length)) return p;
    if (strlen(p->isa->cpu) == length && !memcmp(p->isa->cpu, name, length)) return p;
  }
  return NULL;
}

/* ":cus=228", or nothing. */
static bool parse_cus(const char *text, uint32_t xcds, uint32_t *cus) {
  enum { CUS_AN_XCD_MAX = 40 };
  if (!*text) return true;
  char *end;
  if (strncmp(text, ":cus=", 5) || text[5] < '1' || text[5] > '9') return false;
  unsigned long n = strtoul(text + 5, &end, 10);
  *cus = (uint32_t)n;
  return !*end && n >= xcds && n <= xcds * CUS_AN_XCD_MAX;
}

bool model_select(const char *device, struct model *model, char error[MODEL_ERROR_MAX]) {
  if (!device || !*device) device = products[0].name;
  size_t name = strcspn(device, "-:"), mode = device[name] == '-' ? strcspn(device + name + 1, ":") : 0;
  const char *rest = device + name + (device[name] == '-' ? mode + 1 : 0);
  const struct product *p = product_of(device, name);
  if (!p || strlen(device) >= MODEL_TEXT_MAX) return refuse(device, "no such device", error);
  uint32_t agents = device[name] == '-' ? partitions(device + name + 1, mode, p->xcds) : 1;
  if (!agents) return refuse(device, "no such partition mode of this device", error);
  struct model m = *p->isa;
  snprintf(m.device, sizeof m.device, "%s", device);
  snprintf(m.product, sizeof m.product, "AMD Instinct %s (emulated)", p->says);
  m.chip_id = p->chip_id;
  m.agents = agents;
  m.xcds = p->xcds / agents;
  m.cus = m.xcds * p->cus_an_xcd;
  m.clock_mhz = p->clock_mhz;
  m.memory_bytes = ((uint64_t)p->memory_gib << 30) / agents;
  if (!parse_cus(rest, m.xcds, &m.cus)) return refuse(device, "no number of compute units that it can have", error);
  *model = m;
  return true;
}

uint32_t model_xcd_cus(const struct model *m, uint32_t x) { return m->cus / m->xcds + (x < m->cus % m->xcds); }

static uint32_t round_up(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

uint32_t model_workgroups_a_cu(const struct model *m, uint32_t waves, uint32_t vgprs, uint32_t lds_bytes) {
  uint32_t a_wave = round_up(vgprs ? vgprs : 1, m->vgpr_granule);
  uint32_t waves_a_simd = m->vgprs_a_simd / a_wave;
  if (waves_a_simd > m->waves_a_simd) waves_a_simd = m->waves_a_simd;
  uint32_t fit = waves_a_simd * m->simds_a_cu / waves;
  /* One-wave workgroups need no barrier slot; of the others a CU has 16. */
  if (waves > 1 && fit > 16) fit = 16;
  if (lds_bytes) {
    uint32_t by_lds = m->lds_a_cu / round_up(lds_bytes, m->lds_granule);
    if (fit > by_lds) fit = by_lds;
  }
  return fit;
}
