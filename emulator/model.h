/* SPDX-License-Identifier: Apache-2.0 */
/* What a device is made of: one struct a model. */
#ifndef EMULATOR_MODEL_H
#define EMULATOR_MODEL_H

#include <stdint.h>

struct model {
  const char *device; /* name to select it by: FRONT_EMU_DEVICE */
  const char *cpu;    /* LLVM's name of the ISA: "gfx950" */
  const char *isa;    /* HSA's name, with target features */
  const char *product;
  uint32_t chip_id;
  uint32_t xcds, cus_an_xcd, simds_a_cu, waves_a_simd;
  uint32_t vgprs_a_simd; /* a lane's, VGPRs and AGPRs together */
  uint32_t vgpr_granule;
  uint32_t lds_a_cu, lds_granule; /* bytes */
  uint32_t clock_mhz;
  uint64_t memory_bytes;
  uint32_t elf_mach; /* e_flags, the low byte */
};

/* Null-terminated list. */
extern const struct model *const models[];

/* By its device name; null: the first. NULL: there is none. */
const struct model *model_find(const char *device);

/* Workgroups of `waves` waves that fit on one CU together; 0: not even one. */
uint32_t model_workgroups_a_cu(const struct model *m, uint32_t waves, uint32_t vgprs, uint32_t lds_bytes);

#endif
