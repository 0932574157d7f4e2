/* SPDX-License-Identifier: Apache-2.0 */
/* The HSA library as a table of functions, found at run time. */
#ifndef FRONT_HSA_TABLE_H
#define FRONT_HSA_TABLE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "front.h"

/* A test may fill it with functions of its own. */
struct hsa_table {
#define X(function) __typeof__(function) *function;
#define Y(function) __typeof__(function) *function; /* or null */
#include "hsa_api.def"
#undef X
#undef Y
};

struct runtime {
  struct hsa_table hsa;
  char path[512];         /* where the library was found */
  _Atomic uint32_t users; /* open devices */
  uint32_t forks;         /* process_forks when it was opened */
};

/* Finds the library and fills the table; does not call it. `library` null: FRONT_HSA_LIBRARY, else the system's. A named library is
   the only one that is tried. Errors: LIBRARY, with every try. */
enum front_status hsa_table_load(const char *library, struct hsa_table *table, char *path, size_t path_bytes);

/* status_fail() with a failed call's name and HSA's words; out of memory is MEMORY, anything else `status`. */
enum front_status hsa_fail(const struct hsa_table *hsa, enum front_status status, const char *call, hsa_status_t code);

#endif
