/* SPDX-License-Identifier: Apache-2.0 */
/* The HIP functions that libfront calls, found at run time, and the few numbers of HIP's ABI that they take. */
#ifndef FRONT_HIP_TABLE_H
#define FRONT_HIP_TABLE_H

#include <stdbool.h>

#include "front_hip.h"

struct ihipModule_t;       /* hipModule_t is a pointer to it */
struct ihipModuleSymbol_t; /* hipFunction_t, likewise */

enum { HIP_GOOD = 0, HIP_OUT_OF_MEMORY = 2, HIP_NO_DEVICE = 100, HIP_INVALID_DEVICE = 101 };
enum { HIP_ATTRIBUTE_COMPUTE_UNITS = 63 };                     /* hipDeviceAttributeMultiprocessorCount */
enum { HIP_PARAM_POINTER = 1, HIP_PARAM_SIZE, HIP_PARAM_END }; /* HIP_LAUNCH_PARAM_BUFFER_POINTER, ... */
enum { HIP_MASK_WORDS = 32, HIP_NAME_BYTES = 256, HIP_PROPERTIES_BYTES = 1472, HIP_PROPERTIES_ISA = 1160 };

/* What libfront reads of hipDeviceProp_tR0600, with room for what a later HIP may add behind. */
struct hip_properties {
  char name[HIP_NAME_BYTES];
  char between[HIP_PROPERTIES_ISA - HIP_NAME_BYTES];
  char isa[HIP_NAME_BYTES]; /* gcnArchName */
  char behind[4096 - HIP_PROPERTIES_ISA - HIP_NAME_BYTES];
} __attribute__((aligned(16)));

struct hip_table {
#define X(result, name, parameters) result(*name) parameters;
#include "hip_api.def"
#undef X
};

/* Finds the library and fills the table; does not call it. `library` null: FRONT_HIP_LIBRARY, else the copy that is loaded, else the
   system's. Errors: LIBRARY, with every try. */
enum front_status hip_table_load(const char *library, struct hip_table *table, char *path, size_t path_bytes);

/* status_fail() with what could not be done, the failed call's name and HIP's words, which are taken out of HIP's last error of the thread.
   Out of memory is MEMORY, anything else HIP. */
enum front_status hip_fail(const struct hip_table *hip, const char *what, const char *call, unsigned error);

#endif
