/* SPDX-License-Identifier: Apache-2.0 */
/* The list of instruction tables. */
#include "row.h"

const struct isa_table *const isa_tables[] = {&isa_salu, &isa_valu, &isa_cvt, &isa_scale, &isa_cmp, &isa_packed, &isa_lane, &isa_smem,
    &isa_lds, &isa_vmem, &isa_scratch, &isa_mfma, &isa_wait};
const uint32_t isa_table_count = sizeof isa_tables / sizeof isa_tables[0];
