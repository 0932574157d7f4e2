/* SPDX-License-Identifier: Apache-2.0 */
/* The device models: MI355X and MI300X, and what fits on a CU. */
#include "model.h"

#include <stddef.h>
#include <string.h>

static const struct model mi355x = {
    .device = "gfx950",
    .cpu = "gfx950",
    .isa = "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-",
    .product = "AMD Instinct MI355X (emulated)",
    .chip_id = 0x75a3,
    .xcds = 8,
    .cus_an_xcd = 32,
    .simds_a_cu = 4,
    .waves_a_simd = 8,
    .vgprs_a_simd = 512,
    .vgpr_granule = 8,
    .lds_a_cu = 163840,
    .lds_granule = 1280,
    .clock_mhz = 2400,
    .memory_bytes = (uint64_t)288 << 30,
    .elf_mach = 0x4f,
};

static const struct model mi300x = {
    .device = "gfx942",
    .cpu = "gfx942",
    .isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
    .product = "AMD Instinct MI300X (emulated)",
    .chip_id = 0x74a1,
    .xcds = 8,
    .cus_an_xcd = 38,
    .simds_a_cu = 4,
    .waves_a_simd = 8,
    .vgprs_a_simd = 512,
    .vgpr_granule = 8,
    .lds_a_cu = 65536,
    .lds_granule = 512,
    .clock_mhz = 2100,
    .memory_bytes = (uint64_t)192 << 30,
    .elf_mach = 0x4c,
};

const struct model *const models[] = {&mi355x, &mi300x, NULL};

const struct model *model_find(const char *device) {
  if (!device || !*device) return models[0];
  for (int i = 0; models[i]; i++)
    if (!strcmp(models[i]->device, device)) return models[i];
  return NULL;
}

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
