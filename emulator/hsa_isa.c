/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction sets by name, and what they offer. */
#include <stdio.h>
#include <string.h>

#include "hsa_state.h"

enum { ISA_HANDLES = 0x1000, SETTINGS = 3, VARIANTS = SETTINGS * SETTINGS, WAVEFRONT_HANDLE = 0x60, GROUP_MAX = 1024 };

static const char isa_prefix[] = "amdgcn-amd-amdhsa--";
static const char *const processors[] = {"gfx950", "gfx942"};
enum { PROCESSORS = sizeof processors / sizeof processors[0], ISAS = PROCESSORS * VARIANTS };

/* An ISA's handle is its number: processor, then sramecc, then xnack, each of them any, on, off. */
static const char *const sramecc_texts[SETTINGS] = {"", ":sramecc+", ":sramecc-"}, *const xnack_texts[SETTINGS] = {
                                                                                       "", ":xnack+", ":xnack-"};

static void isa_name(uint32_t isa, char name[64]) {
  snprintf(
      name, 64, "%s%s%s%s", isa_prefix, processors[isa / VARIANTS], sramecc_texts[isa / SETTINGS % SETTINGS], xnack_texts[isa % SETTINGS]);
}

static bool isa_number(hsa_isa_t isa, uint32_t *number) {
  if (isa.handle - ISA_HANDLES >= ISAS) return false;
  *number = (uint32_t)(isa.handle - ISA_HANDLES);
  return true;
}

static bool find_isa(const char *name, hsa_isa_t *isa) {
  for (uint32_t i = 0; i < ISAS; i++) {
    char known[64];
    isa_name(i, known);
    if (strcmp(known, name)) continue;
    isa->handle = ISA_HANDLES + i;
    return true;
  }
  return false;
}

hsa_isa_t emu_gpu_isa(void) {
  hsa_isa_t isa = {0};
  find_isa(emu.model.isa, &isa);
  return isa;
}

hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *isa) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!name || !isa) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return find_isa(name, isa) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ISA_NAME;
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!emu_is_agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return emu_is_gpu(agent) ? callback(emu_gpu_isa(), data) : HSA_STATUS_SUCCESS;
}

/* Code that leaves a feature open runs with either setting of it. */
hsa_status_t hsa_isa_compatible(hsa_isa_t code_object_isa, hsa_isa_t agent_isa, bool *result) {
  uint32_t code, agent;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!isa_number(code_object_isa, &code) || !isa_number(agent_isa, &agent)) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  uint32_t sramecc = code / SETTINGS % SETTINGS, xnack = code % SETTINGS;
  *result =
      code / VARIANTS == agent / VARIANTS && (!sramecc || sramecc == agent / SETTINGS % SETTINGS) && (!xnack || xnack == agent % SETTINGS);
  return HSA_STATUS_SUCCESS;
}

static void put_limits(hsa_isa_info_t attribute, void *value) {
  static const uint16_t group_dim[3] = {GROUP_MAX, GROUP_MAX, GROUP_MAX};
  static const hsa_dim3_t grid_dim = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  if (attribute == HSA_ISA_INFO_WORKGROUP_MAX_DIM) memcpy(value, group_dim, sizeof group_dim);
  if (attribute == HSA_ISA_INFO_GRID_MAX_DIM) memcpy(value, &grid_dim, sizeof grid_dim);
  if (attribute == HSA_ISA_INFO_WORKGROUP_MAX_SIZE) *(uint32_t *)value = GROUP_MAX;
  if (attribute == HSA_ISA_INFO_GRID_MAX_SIZE) *(uint64_t *)value = UINT64_MAX;
  if (attribute == HSA_ISA_INFO_FBARRIER_MAX_SIZE) *(uint32_t *)value = 32;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  uint32_t number;
  char name[64];
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!isa_number(isa, &number)) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  isa_name(number, name);
  switch (attribute) {
  case HSA_ISA_INFO_NAME_LENGTH:
    *(uint32_t *)value = (uint32_t)strlen(name) + 1;
    break;
  case HSA_ISA_INFO_NAME:
    memcpy(value, name, strlen(name) + 1);
    break;
  case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
    *(uint32_t *)value = 1;
    break;
  case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
    *(uint32_t *)value = LANES_A_WAVE;
    break;
  case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
    *(uint32_t *)value = emu.model.simds_a_cu * emu.model.waves_a_simd;
    break;
  case HSA_ISA_INFO_MACHINE_MODELS:
    memcpy(value, (bool[]){false, true}, 2);
    break;
  case HSA_ISA_INFO_PROFILES:
    memcpy(value, (bool[]){true, false}, 2);
    break;
  case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
  case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
    memcpy(value, (bool[]){false, false, true}, 3);
    break;
  case HSA_ISA_INFO_FAST_F16_OPERATION:
    *(bool *)value = true;
    break;
  case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
  case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
  case HSA_ISA_INFO_GRID_MAX_DIM:
  case HSA_ISA_INFO_GRID_MAX_SIZE:
  case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
    put_limits(attribute, value);
    break;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

/* There is one call convention: its index is 0. */
hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void *value) {
  uint32_t number;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!isa_number(isa, &number)) return HSA_STATUS_ERROR_INVALID_ISA;
  bool by_convention = attribute == HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE ||
                       attribute == HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT;
  if (by_convention && index) return HSA_STATUS_ERROR_INVALID_INDEX;
  return hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t profile, uint16_t *mask) {
  uint32_t number;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!isa_number(isa, &number)) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!mask || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t fp_type, hsa_flush_mode_t flush_mode, hsa_round_method_t *round_method) {
  uint32_t number;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!isa_number(isa, &number)) return HSA_STATUS_ERROR_INVALID_ISA;
  bool type = fp_type == HSA_FP_TYPE_16 || fp_type == HSA_FP_TYPE_32 || fp_type == HSA_FP_TYPE_64;
  bool mode = flush_mode == HSA_FLUSH_MODE_FTZ || flush_mode == HSA_FLUSH_MODE_NON_FTZ;
  if (!round_method || !type || !mode) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *round_method = HSA_ROUND_METHOD_SINGLE;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa, hsa_status_t (*callback)(hsa_wavefront_t wavefront, void *data), void *data) {
  uint32_t number;
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!isa_number(isa, &number)) return HSA_STATUS_ERROR_INVALID_ISA;
  return callback ? callback((hsa_wavefront_t){WAVEFRONT_HANDLE}, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void *value) {
  if (!emu_running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (wavefront.handle != WAVEFRONT_HANDLE) return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
  if (!value || attribute != HSA_WAVEFRONT_INFO_SIZE) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *(uint32_t *)value = LANES_A_WAVE;
  return HSA_STATUS_SUCCESS;
}
