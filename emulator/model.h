/* SPDX-License-Identifier: Apache-2.0 */
/* What a device is made of: one row a product, and the partitions that it can be split into. */
#ifndef EMULATOR_MODEL_H
#define EMULATOR_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_XCDS_MAX = 8, MODEL_TEXT_MAX = 64, MODEL_ERROR_MAX = 512 };

/* One agent of a device: all partitions of a device are alike. */
struct model {
  char device[MODEL_TEXT_MAX]; /* as it was selected: "mi355x-cpx" */
  char product[MODEL_TEXT_MAX];
  const char *cpu; /* LLVM's name of the ISA: "gfx950" */
  const char *isa; /* HSA's name, with target features */
  uint32_t chip_id;
  uint32_t agents;    /* that the device shows: its partitions */
  uint32_t xcds, cus; /* of an agent */
  uint32_t simds_a_cu, waves_a_simd;
  uint32_t vgprs_a_simd; /* a lane's, VGPRs and AGPRs together */
  uint32_t vgpr_granule;
  uint32_t lds_a_cu, lds_granule; /* bytes */
  uint32_t clock_mhz;
  uint64_t memory_bytes;
  uint32_t elf_mach; /* e_flags, the low byte */
};

/* The device of this name: a product, "-" and a partition mode (spx, the whole device, if there is none), ":cus=" and the compute units of
   an agent if they are to be others than the product's. A GPU's ISA ("gfx950") is the first product with it; null or "": the first of
   all. False: `error` says what is wrong and which names there are. */
bool model_select(const char *device, struct model *model, char error[MODEL_ERROR_MAX]);

/* Compute units of XCD `x` of an agent; the first XCDs have one more if they cannot all have the same. */
uint32_t model_xcd_cus(const struct model *m, uint32_t x);

/* Workgroups of `waves` waves that fit on one CU together; 0: not even one. */
uint32_t model_workgroups_a_cu(const struct model *m, uint32_t waves, uint32_t vgprs, uint32_t lds_bytes);

#endif
