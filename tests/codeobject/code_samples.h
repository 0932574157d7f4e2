/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly that tests of code objects share: a kernel "k" with a value of its own in every field. */
#ifndef FRONT_TESTS_CODE_SAMPLES_H
#define FRONT_TESTS_CODE_SAMPLES_H

#define SAMPLE_CODE                                                                                                                        \
  "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n  .amdhsa_code_object_version 5\n"                                                      \
  "  .text\n  .globl k\n  .p2align 8\n  .type k,@function\nk:\n  s_nop 0\n  s_endpgm\n.Lend:\n  .size k, .Lend-k\n"

#define SAMPLE_DESCRIPTOR                                                                                                                  \
  "  .section .rodata,\"a\",@progbits\n  .p2align 6\n  .amdhsa_kernel k\n"                                                                 \
  "  .amdhsa_next_free_vgpr 100\n  .amdhsa_next_free_sgpr 40\n  .amdhsa_accum_offset 52\n"                                                 \
  "  .amdhsa_group_segment_fixed_size 4096\n  .amdhsa_private_segment_fixed_size 32\n  .amdhsa_kernarg_size 24\n"                          \
  "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n  .amdhsa_user_sgpr_dispatch_ptr 1\n"                                                        \
  "  .amdhsa_user_sgpr_kernarg_preload_length 3\n  .amdhsa_user_sgpr_kernarg_preload_offset 2\n"                                           \
  "  .amdhsa_system_sgpr_workgroup_id_y 1\n  .amdhsa_system_vgpr_workitem_id 2\n"                                                          \
  "  .amdhsa_float_denorm_mode_32 2\n  .amdhsa_float_round_mode_32 1\n  .amdhsa_float_round_mode_16_64 3\n"                                \
  "  .amdhsa_float_denorm_mode_16_64 1\n  .amdhsa_ieee_mode 0\n  .amdhsa_dx10_clamp 0\n  .amdhsa_tg_split 1\n"                             \
  "  .amdhsa_enable_private_segment 1\n  .amdhsa_uses_dynamic_stack 1\n  .end_amdhsa_kernel\n"

#define SAMPLE_METADATA                                                                                                                    \
  "  .amdgpu_metadata\n---\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n    .vgpr_count: 97\n    .sgpr_count: 41\n"                  \
  "    .agpr_count: 45\n    .vgpr_spill_count: 3\n    .sgpr_spill_count: 2\n    .kernarg_segment_size: 24\n"                               \
  "    .kernarg_segment_align: 16\n    .group_segment_fixed_size: 4096\n    .private_segment_fixed_size: 32\n"                             \
  "    .max_flat_workgroup_size: 256\n    .reqd_workgroup_size: [64, 2, 2]\n    .wavefront_size: 64\n    .uses_dynamic_stack: true\n"      \
  "    .args:\n      - .name: p\n        .offset: 0\n        .size: 8\n        .value_kind: global_buffer\n"                               \
  "        .address_space: global\n      - .offset: 8\n        .size: 4\n        .value_kind: by_value\n"                                  \
  "      - .offset: 16\n        .size: 8\n        .value_kind: hidden_heap_v1\n"                                                           \
  "amdhsa.target: amdgcn-amd-amdhsa--gfx950\namdhsa.version:\n  - 1\n  - 2\n...\n  .end_amdgpu_metadata\n"

#define SAMPLE SAMPLE_CODE SAMPLE_DESCRIPTOR SAMPLE_METADATA

#endif
