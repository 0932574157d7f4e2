/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator's own functions, looked up in the HSA library that is loaded. frontrun is never linked with it. */
#ifndef FRONT_EMULATOR_LINK_H
#define FRONT_EMULATOR_LINK_H

#include <limits.h>
#include <stdbool.h>

#include "hsa_emu.h"

/* Null functions: the library is not the emulator. */
struct emulator_link {
  bool there;
  __typeof__(hsa_emu_last_dispatch) *last_dispatch;
  __typeof__(hsa_emu_range_add) *range_add;
  __typeof__(hsa_emu_ranges_clear) *ranges_clear;
  __typeof__(hsa_emu_range_traffic) *range_traffic;
  __typeof__(hsa_emu_report) *report;
  __typeof__(hsa_emu_remarks) *remarks;
  __typeof__(hsa_emu_code) *code;
  __typeof__(hsa_emu_set_strict) *set_strict;
  __typeof__(hsa_emu_findings) *findings;
  __typeof__(hsa_emu_finding) *finding;
  __typeof__(hsa_emu_findings_clear) *findings_clear;
  __typeof__(hsa_emu_profile) *profile;
  __typeof__(hsa_emu_profile_workgroup) *profile_workgroup;
};

/* Looks at the library at `path`, which must be loaded already. */
struct emulator_link emulator_link(const char *path);

/* Where libhsa-emu.so is: $FRONT_EMU_LIBRARY; else beside this program's folder, in ../emulator (a build) or ../lib (an installation).
   False, with every place that was looked at in `path`, if there is none. */
bool emulator_find(char path[PATH_MAX]);

/* Can the library at `path` be loaded at all? If not, why: for what libfront has refused as an HSA library. */
bool emulator_loads(const char *path, char *error, size_t room);

#endif
